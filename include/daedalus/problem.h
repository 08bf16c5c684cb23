/* Problems: a system with initial values, interval, tolerances, events, names, reference solution and documentation. It
 * makes no difference where one comes from: the test set, a model file, equations. */
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
    int no_velocities;              /* 1: y'' = f(t,y) */
    const char *origin;             /* one line: field and source */
    const dae_parameter *parameter; /* ended by name NULL; NULL: none */
} dae_problem_info;

typedef struct dae_problem_data dae_problem_data; /* what the problem's functions need; opaque */
typedef struct dae_problem dae_problem;

typedef struct dae_energy {
    double kinetic, potential; /* gravity, springs */
    double power;              /* of all that is in neither: motors, dampers, friction, drivers */
    double total;              /* power of everything that changes the kinetic energy */
} dae_energy;

/* The balance of energy along a trajectory. */
typedef struct dae_balance {
    double start, end; /* kinetic and potential energy */
    double work;       /* of all other forces and of drivers, between */
    double largest;    /* |energy - start - work| along the trajectory */
    double scale;      /* the largest energy or work that took part */
    double allowed;    /* what the tolerances of a run explain; more is an alarm. 0: not known */
    double t;          /* near which most of it came about */
    char element[64];  /* an alarm: whose work does not fit there, "" if that is not known */
} dae_balance;

/* What a problem can tell of its states beyond them, at count points (t, y), y one after another. Both return 0 or < 0
 * (DAE_ERR_MEMORY: for want of memory). */
typedef struct dae_derived {
    int ncolumn;                             /* sensors, reactions */
    const char *const *column, *const *unit; /* ncolumn each; unit "" where there is none */
    /* ncolumn values per point, NAN where there are none. a and lambda (nv and nlambda per point) as the method knows
     * them, or NULL: they are solved for. NULL: there are no columns. */
    int (*columns)(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                   const double *lambda, double *value);
    int (*energy)(const dae_problem *p, int count, const double *t, const double *y,
                  dae_energy *out); /* NULL: no energy is known */
    /* The element whose power is least smooth along the points of one step, or does most where all are smooth: its name. NULL: not known. */
    int (*blame)(const dae_problem *p, int count, const double *t, const double *y, char *name, size_t size);
} dae_derived;

/* An instance. All pointers live as long as it does. */
struct dae_problem {
    const dae_problem_info *info;
    const char *source; /* where it comes from: "testset", "model" */
    unsigned long long
        hash; /* of the text, its settings and the files that it names; 0: of the test set, told by name and parameters */
    const char *doc;   /* a page of documentation (Markdown), or NULL */
    double *parameter; /* values, in the order of info->parameter */
    dae_system system;
    double t0, t_end;
    const double *y0, *yp0; /* yp0 NULL: not given */
    const double *discontinuity;
    int ndiscontinuity;

    double rtol, atol, h0; /* what a run takes when nothing is said */
    double h_max;          /* largest step; 0: any */
    double fastest;        /* rate (1/s) of the fastest decay that contacts can bring; 0: none */
    double every;          /* interval of output; 0: the steps */
    const char *method, *formulation; /* what the text asks for; NULL: chosen */
    const double *atol_factor;        /* atol_vec[i] = atol * atol_factor[i], or NULL */
    const double *rtol_factor;        /* rtol_vec[i] = rtol * rtol_factor[i], or NULL */

    const double
        *reference; /* at t_end, NAN where it is not known; or NULL (parameters differ from the default) */
    double reference_digits;      /* how many can be trusted */
    const char *reference_source; /* in words */
    /* the vector printed in the test set where `reference` is a better one, or NULL */
    const double *published;
    const unsigned char *scored; /* n flags: components that count for scd; NULL: all */
    int absolute_scd;            /* scd measures absolute errors (medakzo) */
    int no_scd;                  /* scd means nothing here (e5) */

    const char *const *component; /* names of the components, n of them, or NULL: y1, y2, ... */
    const char *const *unit;      /* their units, or NULL */
    const char *time_unit;        /* of t, or NULL */
    /* mechanisms: what the multipliers belong to (joints, drivers), nlambda of them, or NULL */
    const char *const *constraint;
    const int *plot; /* components worth plotting, nplot of them */
    int nplot;
    int plot_log_t;   /* logarithmic time axis */
    int plot_against; /* 1: the first of them over the second, instead of over time */
    /* what a picture of a run shows, ndrawn of them, n + k: column k of derived; NULL: plot */
    const int *drawn;
    int ndrawn;
    const dae_events *events;   /* impacts, stops, what is watched; NULL: none */
    dae_derived derived;        /* sensors, reactions, energy */
    const char *const *warning; /* what is allowed but looks like a mistake, ended by NULL; or NULL */
    const char *const
        *note; /* what was guessed or left out of a robot of another program; ended by NULL, or NULL */

    /* DAEs that are a mechanism, y = (p, v, ...) with accelerations, multipliers and variables that are 0 behind: the same as
     * a mechanical system, which "auto" and the methods for mechanical systems take; NULL: there is none. */
    const dae_system *mechanism;
    /* the first component of a and of lambda in y; 0: they are not in y */
    int acceleration_at, multiplier_at;
    /* Mechanisms: the independent coordinates that minimal coordinates start with unless others are named, "3,6"; NULL:
     * chosen by pivoting. */
    const char *independent;
    /* Forms of the system that the problem brings along (equation files: statespace, index1); opaque; NULL: none. */
    const struct dae_forms *forms;
    /* Exact derivatives by parameters (equation files); opaque; NULL: differences are taken. */
    const struct dae_tangents *tangents;

    dae_problem_data *data; /* owned */
};

DAE_API int dae_problem_count(void);
DAE_API const dae_problem_info *dae_problem_get(int i);
DAE_API const dae_problem_info *dae_problem_find(const char *name_or_alias);
/* The documentation page (Markdown), or NULL. */
DAE_API const char *dae_problem_doc(const char *name);

/* The problem that is meant, with parameters set ({"mu", "500"}): the name of one of the test set; the path of a file (it
 * has a '/' in it or a known ending: .json); or the text of such a file (it has an end of line or an opening brace in
 * it). Texts are told apart by what they are. NULL: *err says what is wrong, and where in which file. */
DAE_API dae_problem *dae_problem_open(const char *what, const dae_setting *setting, int nsetting,
                                      dae_error *err);
/* The same from text; file: its name for messages and to tell what it is by its ending, or NULL. */
DAE_API dae_problem *dae_problem_open_text(const char *text, size_t length, const char *file,
                                           const dae_setting *setting, int nsetting, dae_error *err);
/* 1: dae_problem_open takes it for a file. */
DAE_API int dae_problem_is_file(const char *what);
/* The same for names of the test set only. */
DAE_API dae_problem *dae_problem_create(const char *name, const dae_setting *setting, int nsetting,
                                        dae_error *err);
/* Another start of a problem that is given by its functions: the time, and values of components by name ({"y2", "0.5"}).
 * Nothing is made to fit to them, and the reference no longer holds; y' is forgotten unless the problem is implicit. */
DAE_API dae_status dae_problem_start(dae_problem *p, double t0, const dae_setting *init, int ninit,
                                     dae_error *err);
/* Other tolerances, by the names "rtol" and "atol": a number for all components ({"rtol", "1e-8"}; atol keeps its ratio to rtol
 * unless it is given too), one for each ({"atol", "1e-8,1e-12,1e-8"}), or one of a component ({"atol", "y2=1e-12"}), in this order. Runs
 * with other tolerances keep the ratios between the components. */
DAE_API dae_status dae_problem_tolerate(dae_problem *p, const dae_setting *tolerance, int count,
                                        dae_error *err);
/* The same problem opened again from what it was opened from, with these parameters set besides, and started where p was told
 * to start. NULL: see *err; problems that are given by functions have no variants. */
DAE_API dae_problem *dae_problem_variant(const dae_problem *p, const dae_setting *setting, int nsetting,
                                         dae_error *err);
/* The number of a parameter by name; -1: there is none of it. */
DAE_API int dae_parameter_find(const dae_problem *p, const char *name);
DAE_API void dae_problem_destroy(dae_problem *p); /* NULL allowed */

/* Name and unit of component i; buffer (16 or more) is used for y1, y2, ... */
DAE_API const char *dae_component_name(const dae_problem *p, int i, char *buffer, size_t size);
DAE_API const char *dae_component_unit(const dae_problem *p, int i); /* "" if there is none */
/* Its number by name (or y1, y2, ...); -1: there is none of it. */
DAE_API int dae_component_find(const dae_problem *p, const char *name);
/* 1: events of the problem change its state or end the run; 0: they are only told. */
DAE_API int dae_problem_switches(const dae_problem *p);
/* The balance of energy along a trajectory; a time that stands twice is a jump. DAE_ERR_UNSUPPORTED: the problem knows no
 * energy. */
DAE_API dae_status dae_problem_balance(const dae_problem *p, int count, const double *t, const double *y,
                                       dae_balance *out, dae_error *err);

/* Significant correct digits and mixed-error digits of y at t_end, [TESTSET] II.4; NAN
 * without a reference. atol/rtol may be vectors (as in dae_options); opt NULL: the tolerances of the
 * problem. reference NULL: that of the problem. */
typedef struct dae_score {
    double scd, mescd;
} dae_score;
DAE_API dae_score dae_problem_score(const dae_problem *p, const dae_options *opt, const double *reference,
                                    const double *y);

/* ---- Events in words -------------------------------------------------------------------------- */

/* Switching functions of one value each: "NAME[=VALUE][:stop][:rising|:falling]", where NAME is a component of the
 * problem (or y1, y2, ...), NAME' its derivative, a column that the problem derives (a sensor, a reaction), and p1, v1, a1, ... stand for positions, velocities and accelerations of a
 * mechanical system. Values within 1e-6 (or atol, where that is less) of VALUE have no sign. */
typedef struct dae_switching dae_switching; /* opaque */

/* count functions after those of given (those of the problem; NULL: none), which must live as long. NULL: see *err. */
DAE_API dae_switching *dae_switching_create(const dae_problem *p, double atol, const char *const *text,
                                            int count, const dae_events *given, dae_error *err);
DAE_API const dae_events *dae_switching_events(
    const dae_switching *s);                          /* for dae_run_options; lives as long as s */
DAE_API void dae_switching_destroy(dae_switching *s); /* NULL allowed */

DAE_END_DECLS

#endif
