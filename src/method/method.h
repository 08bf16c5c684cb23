/* What the methods of the library have beside the public interface, <daedalus/plugin.h>: the registry, the driver's side,
 * evaluations without checks, timing. */
#ifndef DAE_METHOD_METHOD_H
#define DAE_METHOD_METHOD_H

#include <daedalus/plugin.h>

#include "core/arena.h"
#include "core/error.h"

#include <float.h>
#include <math.h>

const dae_method *dae_method_at(int i); /* the registry, NULL past its end */
/* An own method of the options or one of the registry by its name; NULL: there is none. opt may be NULL. */
const dae_method *dae_method_lookup(const dae_options *opt, const char *name);

/* ---- The driver's side ------------------------------------------------------------------------- */

size_t dae_difference_size(void); /* bytes of what ivp->difference points to */
/* Chooses the storage of the Jacobian (options, given pattern, probing at (t,y)) and takes the memory
 * that differences need. */
dae_status dae_ivp_prepare(dae_ivp *ivp, double t, const double *y, const double *yp, dae_error *err);
/* Values of a Jacobian were outside the pattern that was found: it holds them from now on; the method has to be made anew. */
dae_status dae_ivp_extend_pattern(dae_ivp *ivp, dae_error *err);
/* IDEs: y' (and the algebraic components of y) such that F(t,y,y') = 0, from the values given as a guess; delta != 0: the y' of algebraic
 * components too, with a difference over delta. */
dae_status dae_ivp_consistent(dae_ivp *ivp, double t, double *y, double *yp, double delta, dae_error *err);

/* ---- Evaluations: 0 fine, > 0 cannot be evaluated here, < 0 stop ------------------------------- */

/* As dae_ivp_f_stages at one point, without a call where nothing special is asked for: for the loops of small systems. */
static inline int dae_ivp_f_unchecked(dae_ivp *ivp, double t, const double *y, double *f);
/* t, moved into the present segment by one rounding unit if it is a discontinuity. */
static inline double dae_ivp_one_sided(const dae_ivp *ivp, double t)
{
    if (t == ivp->left) return nextafter(t, ivp->direction * INFINITY);
    if (t == ivp->right) return nextafter(t, -ivp->direction * INFINITY);
    return t;
}

/* f at s points, vectors at distance ld; not checked to be finite: for a caller that sees it by itself. */
int dae_ivp_f_stages(dae_ivp *ivp, int s, int ld, const double *t, const double *y, double *f);
/* Notes that a function of the system returned r != 0; returns r < 0, or 1. */
int dae_ivp_refused(dae_ivp *ivp, int r);
/* Notes that one of n values is not finite; returns 1. */
int dae_ivp_not_finite(dae_ivp *ivp, int n, const double *value);
enum { DAE_IVP_NO_MEMORY = -9999 }; /* what dae_ivp_derivative returns when there is no room for M */

/* dae_ivp_solves_with for kernels of the size of the system. */
void dae_ivp_solves_fixed(dae_ivp *ivp);

/* What a first step has at least, ours: 100 rounding units of t. */
static inline double dae_first_step_least(double t)
{
    return 100 * DBL_EPSILON * fabs(t);
}

/* ---- A system with sensitivities beside it (dae_pattern.columns) ---------------------------------- */

typedef struct dae_lead {
    int n;          /* of the system, which is the first block */
    int only;       /* 1: f and its Jacobian fill the first block alone */
    int unweighted; /* 1: the other blocks have no tolerances */
} dae_lead;

/* The parts in which an implicit equation is solved: all at once (simultaneous corrector), or (staggered) first the system,
 * then, where that passes its error test, all sensitivities [FTB97]. */
typedef enum dae_part { DAE_PART_ALL, DAE_PART_LEAD, DAE_PART_REST } dae_part;

/* 1: evaluations of the first block alone can be had, and there are others. */
static inline int dae_ivp_can_stagger(const dae_ivp *ivp)
{
    return ivp->lead && ivp->lead->n < ivp->n;
}
/* What a part divides sums of squares by: as the tolerances were given for it (sensitivity/forward.c). */
static inline double dae_part_count(const dae_ivp *ivp, dae_part part)
{
    int all = part == DAE_PART_ALL || ivp->lead->unweighted, n = ivp->n;
    return all ? n : part == DAE_PART_LEAD ? ivp->lead->n : n - ivp->lead->n;
}
#define DAE_STAGGER_CHOICES "auto|simultaneous|staggered"

/* ---- Timing (only with options.profile) -------------------------------------------------------- */

unsigned long long dae_clock_ticks(void); /* nanoseconds */

/* A clock as cheap as the machine has; the driver turns ticks into seconds. */
static inline unsigned long long dae_ticks(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return dae_clock_ticks();
#endif
}
#define DAE_LINALG(ivp, call)                            \
    do {                                                 \
        if ((ivp)->opt->profile) {                       \
            unsigned long long begin_ = dae_ticks();     \
            call;                                        \
            (ivp)->linalg_ticks += dae_ticks() - begin_; \
            (ivp)->linalg_timed++;                       \
        } else {                                         \
            call;                                        \
        }                                                \
    } while (0)

/* dae_ivp_f_stages at times that are one-sided already. */
static inline int dae_ivp_f_placed(dae_ivp *ivp, int s, int ld, const double *t, const double *y, double *f)
{
    if (ivp->opt->profile) return dae_ivp_f_stages(ivp, s, ld, t, y, f);
    int r = 0, k = 0;
    while (k < s && !r) {
        r = ivp->f(t[k++], y, f, ivp->user);
        y += ld;
        f += ld;
    }
    ivp->stats->f += k;
    return r ? dae_ivp_refused(ivp, r) : 0;
}

static inline int dae_ivp_f_unchecked(dae_ivp *ivp, double t, const double *y, double *f)
{
    if (ivp->opt->profile || t == ivp->left || t == ivp->right) return dae_ivp_f_stages(ivp, 1, 0, &t, y, f);
    int r = ivp->f(t, y, f, ivp->user);
    ivp->stats->f++;
    return r ? dae_ivp_refused(ivp, r) : 0;
}

/* "Did you mean": the method whose name is nearest, "" where none is near. */
void dae_method_nearest(const char *name, char *out, size_t size);

#endif
