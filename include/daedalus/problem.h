/* Test-set problems: a system with initial values, interval, tolerances, reference solution and documentation. */
#ifndef DAEDALUS_PROBLEM_H
#define DAEDALUS_PROBLEM_H

#include <daedalus/integrator.h>

DAE_BEGIN_DECLS

/* A parameter that can be set: a number, or a word from a list. */
typedef struct dae_parameter {
    const char *name;
    double value;        /* default; for words the position in choices, from 0 */
    double min, max;     /* inclusive; min > max: any */
    const char *choices; /* NULL: a number; else words separated by '|' */
    int integer;         /* 1: whole numbers only */
    const char *unit, *help;
} dae_parameter;

/* What the registry knows without creating anything. */
typedef struct dae_problem_info {
    const char *name, *title;
    const char *aliases; /* separated by spaces, or NULL */
    dae_kind kind;       /* of the default formulation */
    int n, index;        /* with default parameters; index 0 for ODEs */
    int stiff;
    const char *origin;             /* one line: field and source */
    const dae_parameter *parameter; /* ended by name NULL; NULL: none */
} dae_problem_info;

typedef struct dae_problem_data dae_problem_data; /* what the problem's functions need; opaque */

/* An instance. All pointers live as long as it does. */
typedef struct dae_problem {
    const dae_problem_info *info;
    double parameter[16]; /* values, in the order of info->parameter */
    dae_system system;
    double t0, t_end;
    const double *y0, *yp0; /* yp0 NULL: not given */
    const double *discontinuity;
    int ndiscontinuity;

    double rtol, atol, h0;     /* what `run` takes when nothing is said */
    const double *atol_factor; /* atol_vec[i] = atol * atol_factor[i], or NULL */
    const double *rtol_factor; /* rtol_vec[i] = rtol * rtol_factor[i], or NULL */

    const double *reference;      /* at t_end, or NULL (parameters differ from the default) */
    double reference_digits;      /* how many can be trusted */
    const char *reference_source; /* in words */
    const double
        *published; /* the vector printed in the test set where `reference` is a better one, or NULL */
    const unsigned char *scored; /* n flags: components that count for scd; NULL: all */
    int absolute_scd;            /* scd measures absolute errors (medakzo) */
    int no_scd;                  /* scd means nothing here (e5) */

    const char *const *component; /* names of the components, n of them, or NULL: y1, y2, ... */
    const char *const *unit;      /* their units, or NULL */
    const char *time_unit;        /* of t, or NULL */
    const int *plot;              /* components worth plotting, nplot of them */
    int nplot;
    int plot_log_t; /* logarithmic time axis */
    const char *const
        *event; /* switching functions that `run` watches (dae_switching_create), ended by NULL; or NULL */

    /* DAEs that are a mechanism with accelerations and multipliers, y = (p, v, a, lambda): the same as a mechanical
     * system, which "auto" and the methods for mechanical systems take; NULL: there is none. */
    const dae_system *mechanism;
    /* Mechanisms: the independent coordinates that minimal coordinates start with unless others are named, "3,6"; NULL:
     * chosen by pivoting. */
    const char *independent;

    dae_problem_data *data; /* owned */
} dae_problem;

DAE_API int dae_problem_count(void);
DAE_API const dae_problem_info *dae_problem_get(int i);
DAE_API const dae_problem_info *dae_problem_find(const char *name_or_alias);
/* The documentation page (Markdown), or NULL. */
DAE_API const char *dae_problem_doc(const char *name);

/* An instance with the given parameter settings ({"mu", "500"}). NULL: see *err. */
DAE_API dae_problem *dae_problem_create(const char *name, const dae_setting *setting, int nsetting,
                                        dae_error *err);
DAE_API void dae_problem_destroy(dae_problem *p);

/* Significant correct digits and mixed-error digits of y at t_end, [TESTSET] II.4; NAN
 * without a reference. atol/rtol may be vectors (as in dae_options); opt NULL: the tolerances of the
 * problem. reference NULL: that of the problem. */
typedef struct dae_score {
    double scd, mescd;
} dae_score;
DAE_API dae_score dae_problem_score(const dae_problem *p, const dae_options *opt, const double *reference,
                                    const double *y);

DAE_END_DECLS

#endif
