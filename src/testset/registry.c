/* The problems, in the order in which they are listed. A problem file defines dae_problem_<name>, with
 * '_' for '-' in the name. */
#include "testset/testset.h"

#define PROBLEMS(X) \
    X(hires)        \
    X(pollu)        \
    X(ringmod)      \
    X(medakzo)      \
    X(emep)         \
    X(plei)         \
    X(beam)         \
    X(vdpol_mu)     \
    X(vdpol_eps)    \
    X(orego)        \
    X(rober)        \
    X(e5)           \
    X(chemakzo)     \
    X(andrews)      \
    X(transamp)     \
    X(pump)         \
    X(tba)          \
    X(caraxis)      \
    X(fekete)       \
    X(crank)        \
    X(water)        \
    X(nand)         \
    X(wheel)        \
    X(cable_drum)   \
    X(seven_body)   \
    X(insulator_chain)

#define X(name) extern const dae_problem_entry dae_problem_##name;
PROBLEMS(X)
#undef X

const dae_problem_entry *dae_problem_entry_at(int i)
{
    static const dae_problem_entry *const entry[] = {
#define X(name) &dae_problem_##name,
        PROBLEMS(X)
#undef X
    };
    return i >= 0 && i < (int)(sizeof entry / sizeof entry[0]) ? entry[i] : NULL;
}
