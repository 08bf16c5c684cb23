/* The entry that libFuzzer calls, for equation files (those that they name lie in tests/equations/models): read, make a problem,
 * evaluate once. `make fuzz-equations` runs it guided by
 * coverage for FUZZ_SECONDS (600). */
#include <daedalus/daedalus.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dae_error err = {0};
    dae_problem *p =
        dae_equations_problem((const char *)data, size, "tests/equations/models/fuzz.deq", NULL, 0, &err);
    if (!p) {
        if (err.status >= 0 || !err.text[0]) abort();
        return 0;
    }
    int n = dae_system_size(&p->system);
    double *f = calloc((size_t)n + 1, sizeof *f);
    if (f && p->system.kind == DAE_KIND_ODE) p->system.ode.f(p->t0, p->y0, f, p->system.ode.user);
    if (f && p->system.kind == DAE_KIND_DAE) p->system.dae.f(p->t0, p->y0, f, p->system.dae.user);
    if (f && p->system.kind == DAE_KIND_MECH) {
        const dae_mech *m = &p->system.mech;
        dae_mech_point x = {.t = p->t0, .p = p->y0, .v = p->y0 + m->np, .u = p->y0 + m->np + m->nv};
        m->force(&x, f, m->user);
        if (m->dynamics) m->dynamics(&x, f, m->user);
    }
    free(f);
    dae_problem_destroy(p);
    return 0;
}
