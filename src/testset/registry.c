/* The registry of problems; problems.def lists them. */
#include "testset/testset.h"

#define PROBLEM(name) extern const dae_problem_entry dae_problem_##name;
#include "testset/problems.def"
#undef PROBLEM

const dae_problem_entry *dae_problem_entry_at(int i)
{
    static const dae_problem_entry *const entry[] = {
#define PROBLEM(name) &dae_problem_##name,
#include "testset/problems.def"
#undef PROBLEM
    };
    return i >= 0 && i < (int)(sizeof entry / sizeof entry[0]) ? entry[i] : NULL;
}
