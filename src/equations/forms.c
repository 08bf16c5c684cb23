/* Which forms a system of equations has, and which one is taken. */
#include "equations/forms.h"

#include "linalg/eigenvalues.h"

#include <daedalus/equations.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STIFF_DECAY 2e3 /* time constants of decay in the interval; ours, as the next */
#define STIFF_RATE 1e5  /* of any motion, oscillation too */
#define REST_RATE \
    100 /* of motions at rest: a network in which nothing flows yet has no friction to see (water: 750) */
#define AT_REST 1e-9 /* changes over the interval, of values and of 1 */
enum {
    LARGEST_SPECTRUM = 200,
    LARGEST_MECHANISM = 40, /* degrees of freedom: the form is dense */
    LARGEST_STATIC =
        200 /* values of X whose states of the start are trusted for the run (index1 without charts) */
};

static const dae_form_type *const types[] = {&dae_form_descriptor, &dae_form_statespace, &dae_form_index1,
                                             &dae_form_projected,  &dae_form_residual,   NULL};

/* ---- Names ------------------------------------------------------------------------------------------------ */

/* The system itself, by what it is. */
static const dae_formulation_info written[] = {
    {.name = "explicit", .title = "y' = f", .summary = "the ODE as it stands", .kind = DAE_KIND_ODE},
    {.name = "mass",
     .title = "M y' = f",
     .summary = "as it stands: derivatives occur linearly with constant coefficients, index 0 or 1",
     .kind = DAE_KIND_DAE,
     .index = 1},
    {.name = "labels",
     .title = "M y' = f with hidden constraints",
     .summary = "as it stands, with the index of each variable for methods that take it",
     .kind = DAE_KIND_DAE,
     .index = 3},
};
enum { WRITTEN = sizeof written / sizeof *written, FORMS = sizeof types / sizeof *types - 1 };

int dae_equations_form_count(void)
{
    return WRITTEN + FORMS;
}

const dae_formulation_info *dae_equations_form(int i)
{
    if (i < 0 || i >= WRITTEN + FORMS) return NULL;
    return i < WRITTEN ? &written[i] : &types[i - WRITTEN]->info;
}

/* ---- The choice -------------------------------------------------------------------------------------------- */

/* d(rates)/d(states) at the start by differences, column-major; 0: cannot be had. *rest: nothing moves there. */
static int reduced_jacobian(const dae_equation_system *s, dae_reduced *d, double T, double *A, int *rest)
{
    int n = s->analysis.sigma.dof, good = 1, bad;
    double *y = calloc(3 * (size_t)n + 1, sizeof *y), *f0 = y + n, *f = f0 + n;
    int r = y ? dae_reduced_start(d, s->model->t0, s->initial.X, &bad) : -1;
    if (r < 0) dae_graph_starve(s->model->graph);
    good = r == 0;
    for (int k = 0; k < n && good; k++) y[k] = s->initial.X[dae_reduced_states(d)[k]];
    good = good && dae_reduced_rates(d, s->model->t0, y, f0) == 0;
    *rest = 1;
    for (int k = 0; k < n && good; k++) *rest &= fabs(f0[k]) * T <= AT_REST * (1 + fabs(y[k]));
    for (int j = 0; j < n && good; j++) {
        double keep = y[j], h = sqrt(DBL_EPSILON) * fmax(fabs(keep), 1e-5);
        y[j] = keep + h;
        good = dae_reduced_rates(d, s->model->t0, y, f) == 0;
        for (int i = 0; i < n && good; i++) A[i + (long)j * n] = (f[i] - f0[i]) / h;
        y[j] = keep;
    }
    free(y);
    return good;
}

/* 1: decay that is much faster than the interval, or rates that no explicit method should follow. Where the rates cannot be evaluated
 * around the start, 1 too: all equations at once is the form that can be. */
static int is_stiff(const dae_equation_system *s)
{
    int n = s->analysis.sigma.dof, stiff = 1, rest = 0;
    double T = fabs(s->model->t1 - s->model->t0), decay = 0, fastest = 0;
    if (n == 0) return 0;
    if (n > LARGEST_SPECTRUM) return 0;
    dae_reduced *d = dae_reduced_create(s->reduction, s->parameter, s->discrete);
    double *A = calloc((size_t)n * (size_t)n + 2 * (size_t)n, sizeof *A), *re = A ? A + (long)n * n : NULL,
           *im = re ? re + n : NULL;
    int bad = d && A ? !reduced_jacobian(s, d, T, A, &rest) : DAE_EIGENVALUES_NO_MEMORY;
    if (!bad) bad = dae_eigenvalues(n, A, re, im);
    if (bad <= DAE_EIGENVALUES_NO_MEMORY)
        dae_graph_starve(s->model->graph); /* the form that is made next says so */
    if (!bad) {
        for (int k = 0; k < n; k++) {
            decay = fmax(decay, -re[k] * T);
            fastest = fmax(fastest, hypot(re[k], im[k]) * T);
        }
        stiff = decay > STIFF_DECAY || fastest > (rest && !s->mechanical ? REST_RATE : STIFF_RATE);
    }
    free(A);
    dae_reduced_destroy(d);
    return stiff;
}

/* Index 0 and 1 as written; above: stiff systems and implicit methods for DAEs get index 1, all others states. */
static const dae_form_type *choose(const dae_forms *forms, const dae_method_info *m, const char **method,
                                   const char **reason)
{
    const dae_equation_system *s = forms->model;
    *method = NULL;
    int implicit_dae = m && m->implicit && m->kinds & 1u << DAE_KIND_DAE;
    *reason = "";
    if (!strcmp(forms->as_written, "mass") && (!m || implicit_dae)) return NULL;
    if (!strcmp(forms->as_written, "residual") && m && m->kinds & 1u << DAE_KIND_IDE) return NULL;
    if (implicit_dae || (!m && is_stiff(s))) {
        if (!strcmp(forms->as_written, "labels") && s->analysis.sigma.index <= 2 &&
            (!m || m->max_index >= 2) && s->analysis.total > LARGEST_STATIC &&
            dae_reduction_varies(s->reduction)) {
            *reason = "stiff, with hidden constraints, too large for states that change: as written, with "
                      "the index of each variable";
            return NULL;
        }
        *reason = "stiff, with hidden constraints: all equations with their derivatives, index 1";
        return &dae_form_index1;
    }
    if (s->mechanical && !m && dae_mechanical_explicit(s->mechanical)) {
        *method = "vern9"; /* as for mechanisms whose accelerations are evaluated (method/choose.c) */
        *reason = "mechanical form with accelerations found: the underlying ODE, projected after each step";
        return &dae_form_projected;
    }
    if (s->mechanical && s->analysis.sigma.dof <= LARGEST_MECHANISM &&
        (!m || m->kinds & 1u << DAE_KIND_MECH)) {
        *reason = dae_mechanical_friction(s->mechanical) ? "mechanical form with friction in joints found"
                  : dae_mechanical_redundant(s->mechanical)
                      ? "mechanical form found, with constraints that follow from others"
                      : "mechanical form found";
        return &dae_form_descriptor;
    }
    if (s->analysis.sigma.dof == 0 && s->analysis.sigma.index > 1 && dae_reduction_varies(s->reduction) &&
        !(m &&
          m->implicit)) { /* states would have no error to bound the step by, and another branch may be near */
        *reason = "nothing is free: the underlying ODE, projected onto all equations";
        return &dae_form_projected;
    }
    *reason = "not stiff: an ODE in chosen states";
    return &dae_form_statespace;
}

dae_forms *dae_equation_forms_create(dae_equation_system *s, const char *as_written)
{
    dae_forms *f = dae_arena_take(s->arena, 1, sizeof *f);
    if (f) *f = (dae_forms){s, types, as_written, choose};
    return f;
}
