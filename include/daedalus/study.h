/* Studies: many runs of a problem, and what they say together. As in experiment.h nothing here prints or opens
 * files: text goes to a callback, and the caller keeps the records. */
#ifndef DAEDALUS_STUDY_H
#define DAEDALUS_STUDY_H

#include <daedalus/experiment.h>

DAE_BEGIN_DECLS

/* ---- Tolerance ladders ------------------------------------------------------------------------- */

/* rtol = 10^-e for e = from, from + step, ..., to. A fixed value that is > 0 goes before its factor. */
typedef struct dae_ladder {
    double from, to, step;
    double atol_factor, atol_fixed; /* atol = atol_factor * rtol, or atol_fixed */
    double h0_factor, h0_fixed;     /* first step, for the methods that are given one */
} dae_ladder;

/* Of the test set where it has one for the problem; else 3 to 10 by 1/2 with the problem's ratio of atol to rtol and
 * its first step. */
DAE_API dae_ladder dae_ladder_default(const dae_problem *p);
DAE_API int dae_ladder_count(const dae_ladder *ladder);
/* Sets rtol, atol and h0 of rung i (from 0); returns e. The test set gives a first step to bimd, gamd, mebdfdae,
 * mebdfi, radau and radau5, and methods for mechanical systems need one; all others choose their own. */
DAE_API double dae_ladder_rung(const dae_ladder *ladder, int i, const dae_method_info *method,
                               dae_options *opt);

/* ---- Measurements ------------------------------------------------------------------------------ */

/* What a work-precision study keeps of a run. One line of JSON in files. */
typedef struct dae_measurement {
    char problem[32];
    char settings[160];   /* "mu=500 index=2": parameters that are not the default */
    char solver[64];      /* as it was asked for: "radau5", "dop853/index1+project" */
    char formulation[24]; /* mechanical systems, else "" */
    double rtol, atol, h0;
    double max_seconds; /* limit on the run */
    dae_status status;
    char message[256]; /* "" if status is DAE_OK */
    double t;          /* how far it came */
    double scd, mescd; /* NAN: none */
    long steps, accepted, f, f_jac, jac, lu, solves;
    double cpu_seconds;
    int repeat;
} dae_measurement;

/* problem, formulation and numbers of a run; settings and solver are the caller's to fill. */
DAE_API dae_measurement dae_measurement_of(const dae_run_result *r);
/* One line with its end. Numbers read back exactly. */
DAE_API dae_status dae_measurement_json(const dae_measurement *m, dae_write_fn *write, void *user);
/* DAE_ERR_INPUT: the line is no measurement; *err says what is wrong. */
DAE_API dae_status dae_measurement_parse(const char *line, size_t length, dae_measurement *m, dae_error *err);
/* Of the same run: problem, settings, solver, tolerances, first step. */
DAE_API int dae_measurement_same(const dae_measurement *a, const dae_measurement *b);

/* ---- Work-precision ---------------------------------------------------------------------------- */

typedef enum dae_work { DAE_WORK_SECONDS = 1, DAE_WORK_F = 2, DAE_WORK_BOTH = 3 } dae_work;

/* Digits of a measurement (scd, or mescd), NAN if the run failed. */
DAE_API double dae_measurement_digits(const dae_measurement *m, int mescd);
/* CPU seconds or evaluations of f. */
DAE_API double dae_measurement_work(const dae_measurement *m, dae_work work);
/* Least work with which the solver gave so many digits: of its runs, and of points between neighboring runs of the
 * ladder (log work is linear in digits). NAN: it never did. */
DAE_API double dae_workprec_cost(const dae_measurement *m, int count, const char *solver, double digits,
                                 int mescd, dae_work work);

typedef struct dae_workprec_plot_options {
    const char *title;
    const char *terminal;    /* "svg", "png", "pdf" */
    dae_work work;           /* one diagram, or both side by side */
    int mescd;               /* digits: 0 scd, 1 mescd */
    double reference_digits; /* > 0: marked; digits beyond mean nothing */
    int most_lines; /* > 0: of more solvers only those are drawn that need least; the others are named */
} dae_workprec_plot_options;

/* All runs of a study, one after another. */
typedef struct dae_workprec_options {
    const dae_ladder *ladder; /* NULL: dae_ladder_default */
    double max_seconds;       /* limit on a run; 0: none */
    int repeat;               /* as in dae_run_options */
    /* Called after each run; other values than 0 end the study. NULL: nothing. */
    int (*done)(const dae_measurement *m, void *user);
    void *user;
    const volatile int
        *cancel; /* another value than 0 there ends the study after the present step; NULL: nothing does */
} dae_workprec_options;
/* DAE_OK; DAE_CANCELLED: it was ended; or what is wrong with a name. Failed runs are measurements too. */
DAE_API dae_status dae_workprec_run(const dae_problem *p, const char *const *solver, int nsolver,
                                    const dae_workprec_options *opt, dae_error *err);

/* How much more work than the best one a solver needs: the mean over 2, 3, ... digits (as many as any of them gave) of
 * log10(its work/least work), 3 where it never gave so many. */
DAE_API double dae_workprec_excess(const dae_measurement *m, int count, const char *solver, int mescd,
                                   dae_work work);
/* A gnuplot script that draws digits against work, one line per solver, in the style of Hairer and Wanner; runs
 * without a result stand in a strip at the left margin. DAE_ERR_INPUT: there is nothing to draw. */
DAE_API dae_status dae_workprec_plot(const dae_measurement *m, int count,
                                     const dae_workprec_plot_options *opt, dae_write_fn *write, void *user);

/* Two Markdown tables from the runs of many problems (those of one stand together): for each solver how often it is the
 * fastest, and its median time relative to the fastest; for each problem the three fastest. At two numbers of digits. */
DAE_API dae_status dae_workprec_places(const dae_measurement *m, int count, const double digits[2],
                                       dae_write_fn *write, void *user);

/* ---- Designs: which parameters a sweep runs over ----------------------------------------------- */

/* Grid axes, all combined with each other, and one set of points (random, Sobol or listed) that every grid point gets.
 * Run k is a function of the design and k alone. */
typedef struct dae_design dae_design; /* opaque */

/* For the parameters of a problem (borrowed). NULL: out of memory. */
DAE_API dae_design *dae_design_create(const dae_problem_info *info, unsigned long long seed);
DAE_API void dae_design_destroy(dae_design *d); /* NULL allowed */
/* "mu=0:1:11" (11 values from 0 to 1), "mu=1:100:5:log", or "mu=0.1,0.2,0.5" (also words). */
DAE_API dae_status dae_design_vary(dae_design *d, const char *text, dae_error *err);
/* "mu~uniform(a,b):200", also loguniform(a,b), normal(mean,sd), lognormal(mean,sd) of the logarithm. */
DAE_API dae_status dae_design_sample(dae_design *d, const char *text, dae_error *err);
/* "mu=0:1:256": a coordinate of a Sobol sequence with a random shift, uniform on the interval. */
DAE_API dae_status dae_design_sobol(dae_design *d, const char *text, dae_error *err);
/* Comma-separated values: a line of names, then one line per run. */
DAE_API dae_status dae_design_list(dae_design *d, const char *text, size_t length, dae_error *err);
DAE_API long dae_design_count(const dae_design *d);              /* runs */
DAE_API int dae_design_width(const dae_design *d);               /* parameters */
DAE_API const char *dae_design_name(const dae_design *d, int k); /* of parameter k */
DAE_API const char *dae_design_unit(const dae_design *d, int k); /* "" if there is none */
DAE_API int dae_design_axes(const dae_design *d); /* the first so many parameters are grid axes */
DAE_API long dae_design_axis_length(const dae_design *d, int axis);
/* The value of parameter k in a run as text that reads back exactly; 64 bytes are enough for numbers. */
DAE_API dae_status dae_design_value(const dae_design *d, long run, int k, char *out, size_t size);
/* Point k of coordinate `dimension` (from 0, below 16) of the Sobol sequence with direction numbers of Joe and Kuo. */
DAE_API double dae_sobol(int dimension, unsigned long k);

/* ---- Sweeps ------------------------------------------------------------------------------------ */

typedef struct dae_sweep_options {
    const char *problem; /* of the test set, or a name for the model */
    const char *model; /* text of a model file (JSON), or NULL; its design has the parameters of the model */
    const dae_setting *setting; /* parameters that are the same in all runs */
    int nsetting;
    const dae_setting *option; /* of the runs, as for dae_options_set: {"method", "radau5"} */
    int noption;
    const char *record; /* components, "a,b,c"; NULL: all of 20 or fewer, else those worth plotting */
    double t_end;       /* 0: the problem's */
    int points;         /* > 1: recorded components also at so many equidistant times */
} dae_sweep_options;
typedef struct dae_sweep dae_sweep; /* opaque; copies the options, borrows the design */

/* Checks names and values. NULL: see *err. */
DAE_API dae_sweep *dae_sweep_create(const dae_sweep_options *opt, const dae_design *d, dae_error *err);
DAE_API void dae_sweep_destroy(dae_sweep *s); /* NULL allowed */
/* Two lines of CSV: names, and "# units". */
DAE_API dae_status dae_sweep_header(const dae_sweep *s, dae_write_fn *write, void *user);
/* Runs, and writes its line (run, parameters, status, reason, end of the run, counts). *status: of the run; a failed
 * one has a line too, a cancelled one has none. running: as in dae_run_options, with user, or NULL. */
DAE_API dae_status dae_sweep_run(const dae_sweep *s, long run,
                                 void (*running)(dae_integrator *it, void *user), dae_write_fn *write,
                                 void *user, dae_status *status);
/* The line of a run that ended its process. */
DAE_API dae_status dae_sweep_lost(const dae_sweep *s, long run, const char *reason, dae_write_fn *write,
                                  void *user);

/* ---- Tables ------------------------------------------------------------------------------------ */

/* What a file says about itself: a text, or a number where text is NULL. */
typedef struct dae_attribute {
    const char *name, *text;
    double value;
} dae_attribute;

/* Comma-separated values with a line of names and perhaps one of "# units", or an HDF5 file, as this library writes
 * them. */
typedef struct dae_table {
    int ncol;
    long nrow;
    const char *const *name;        /* ncol */
    const char *const *unit;        /* ncol, "" where there is none */
    const double *value;            /* column after column; NAN where the text is no number */
    const char *const *text;        /* column after column */
    const dae_attribute *attribute; /* of an HDF5 file */
    int nattribute;
} dae_table;

/* The bytes of a CSV or HDF5 file: it sees by itself which. NULL: see *err, which names the line. */
DAE_API dae_table *dae_table_read(const char *text, size_t length, dae_error *err);
DAE_API void dae_table_destroy(dae_table *t);                     /* NULL allowed */
DAE_API int dae_table_find(const dae_table *t, const char *name); /* column, or -1 */

typedef struct dae_hdf5_options {
    const dae_attribute *attribute; /* of the file: command, version, settings */
    int nattribute;
    const char *words; /* "status,reason": columns of words also where no cell shows it */
} dae_hdf5_options;
/* As an HDF5 file (its bytes): one dataset per column with the attribute "unit", in the order of the attribute
 * "columns" of the root; columns NAME@TIME at the end of the table as rows of /series/NAME, with /series/t.
 * opt NULL: no attributes. DAE_ERR_UNSUPPORTED: there is no HDF5 library, see *err. */
DAE_API dae_status dae_table_hdf5(const dae_table *t, const dae_hdf5_options *opt, dae_write_fn *write,
                                  void *user, dae_error *err);

/* The trajectory of a run with what the problem derives of it; its text is NULL: all are numbers. NULL: see *err. */
DAE_API dae_table *dae_run_table(const dae_run_result *r, dae_error *err);
/* That table as an HDF5 file. */
DAE_API dae_status dae_run_hdf5(const dae_run_result *r, const dae_hdf5_options *opt, dae_write_fn *write,
                                void *user, dae_error *err);

/* Of the finite ones of n numbers. */
typedef struct dae_statistics {
    long count;
    double mean, sd, min, max;
    double percentile[5]; /* 5, 25, 50, 75, 95 */
} dae_statistics;
/* DAE_ERR_MEMORY, or DAE_OK; all NAN where there is no number. */
DAE_API dae_status dae_statistics_of(const double *x, long n, dae_statistics *out);

/* ---- Pictures of sweeps ------------------------------------------------------------------------ */

typedef enum dae_sweep_picture {
    DAE_SWEEP_SCATTER = 1, /* components at the end against parameters */
    DAE_SWEEP_BANDS,       /* percentiles of components over time */
    DAE_SWEEP_HEAT         /* means of components over a grid of two parameters */
} dae_sweep_picture;

typedef struct dae_sweep_plot_options {
    dae_sweep_picture picture;
    int width; /* parameters: columns 1 to width of the table */
    const char *title, *terminal;
} dae_sweep_plot_options;

/* Of a table with the columns of dae_sweep_header. 1: the table has what the picture needs. */
DAE_API int dae_sweep_can_plot(const dae_table *t, const dae_sweep_plot_options *opt);
/* A gnuplot script. DAE_ERR_INPUT: the table does not have what the picture needs. */
DAE_API dae_status dae_sweep_plot(const dae_table *t, const dae_sweep_plot_options *opt, dae_write_fn *write,
                                  void *user);

/* ---- Ways to integrate a mechanism ------------------------------------------------------------- */

/* One solver on one formulation. NAN: not known. */
typedef struct dae_compared {
    char label[64];
    dae_status status;
    char message[512]; /* of a failed run */
    double t_end;      /* how far it came */
    double cpu_seconds;
    long steps, f, jac, lu;            /* f: with those for Jacobians */
    double position_max, velocity_max; /* largest residuals of the constraints at the accepted points */
    double energy;                     /* models: largest |energy - energy at the start - work| */
    double scd, mescd;
    int npoint; /* residuals over time */
    double *t, *position, *velocity;
} dae_compared;

/* *out: the problem as a mechanical one (it borrows all of p). 0: it is none, *out is a copy. */
DAE_API int dae_compare_mechanism(const dae_problem *p, dae_problem *out);
/* Runs it. A failed run is a result too. Free with dae_compared_free. */
DAE_API dae_status dae_compare_run(const dae_problem *p, const dae_run_options *opt, const char *label,
                                   dae_compared *c, dae_error *err);
DAE_API void dae_compared_free(dae_compared *c);
/* format: "text", "md", "csv", "json". */
DAE_API dae_status dae_compare_write(const dae_compared *c, int count, const char *format,
                                     dae_write_fn *write, void *user);
/* A gnuplot script: residuals over time. DAE_ERR_INPUT: there are none. */
DAE_API dae_status dae_compare_plot(const dae_compared *c, int count, const char *title, const char *terminal,
                                    dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
