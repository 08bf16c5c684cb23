/* Work-precision studies: tolerance ladders, and what the measurements of runs over them say together. Nothing here prints or opens files: text
 * goes to a callback, and the caller keeps the records. */
#ifndef DAEDALUS_WORKPREC_H
#define DAEDALUS_WORKPREC_H

#include <daedalus/measurement.h>

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
/* "4:10:0.25" for from, to, step; an empty part is left as it is. */
DAE_API dae_status dae_ladder_parse(const char *text, dae_ladder *ladder, dae_error *err);
/* Sets rtol, atol and h0 of rung i (from 0); returns e. The test set gives a first step to bimd, gamd, mebdfdae,
 * mebdfi, radau and radau5, and methods for mechanical systems need one; all others choose their own. */
DAE_API double dae_ladder_rung(const dae_ladder *ladder, int i, const dae_method_info *method,
                               dae_options *opt);

/* ---- Work-precision ---------------------------------------------------------------------------- */

/* All of them as a table, one row each. NULL: see *err. */
DAE_API dae_table *dae_workprec_table(const dae_measurement *m, int count, dae_error *err);
/* Least work with which the solver gave so many digits: of its runs, and of points between neighboring runs of the
 * ladder (log work is linear in digits). NAN: it never did. */
DAE_API double dae_workprec_cost(const dae_measurement *m, int count, const char *solver, double digits,
                                 int mescd, dae_work work);

typedef struct dae_workprec_plot_options {
    const char *title; /* NULL: of the problem and the settings, as in dae_workprec_options */
    const dae_problem *problem;
    const char *settings;
    const char *terminal;    /* "svg", "png", "pdf" */
    dae_work work;           /* one diagram, or both side by side */
    int mescd;               /* digits: 0 scd, 1 mescd */
    double reference_digits; /* > 0: marked; digits beyond mean nothing */
    int most_lines; /* > 0: of more solvers only those are drawn that need least; the others are named */
} dae_workprec_plot_options;

/* All runs of a study, one after another. */
typedef struct dae_workprec_options {
    const dae_ladder *ladder; /* NULL: dae_ladder_default */
    /* limit on a run and on its repetitions; 0: none. After two such ends in a row a solver's tighter tolerances are left out */
    double max_seconds;
    double budget; /* CPU seconds per solver, after which they are left out too; 0: no limit */
    int repeat;    /* as in dae_run_options */
    /* what the runs depend on besides the name of the problem, in words, for their measurements; or NULL */
    const char *settings;
    const dae_setting *option; /* of all runs, as for dae_options_set: {"jacobian", "difference"} */
    int noption;
    const struct dae_path *path;         /* digits along it; NULL: at the end */
    const struct dae_method *const *own; /* methods of the caller, as in dae_options */
    int all; /* 1: solvers that turn out not to take the problem are left out; 0: they are an error */
    /* Finished runs, for instance of a file: what is among them (dae_measurement_find) is not run again. */
    const dae_measurement *known;
    int nknown;
    /* Called before each run (with names, tolerances; `run` of `count` are behind), after each run, and instead of both for a known
     * one; other values than 0 end the study. NULL: nothing. */
    int (*begin)(const dae_measurement *planned, int run, int count, void *user);
    int (*done)(const dae_measurement *m, void *user);
    int (*taken)(const dae_measurement *m, void *user);
    void (*running)(dae_integrator *it, void *user); /* as in dae_run_options; NULL: nothing */
    dae_progress_fn
        *progress; /* called after accepted steps, other values than 0 end the study; NULL: nothing */
    void *user;    /* of all of these */
    /* another value than 0 there ends the study after the present step; NULL: nothing does */
    const volatile int *cancel;
} dae_workprec_options;
/* Solvers are named as in daedalus/solver.h. DAE_OK; DAE_CANCELLED: it was ended; or what is wrong with a name. Failed runs are
 * measurements too. */
DAE_API dae_status dae_workprec_run(const dae_problem *p, const char *const *solver, int nsolver,
                                    const dae_workprec_options *opt, dae_error *err);
/* The last one of the list that is the finished run m: no lower limit on its time ended it, and memory did not run out. NULL: none. */
DAE_API const dae_measurement *dae_measurement_find(const dae_measurement *m, const dae_measurement *list,
                                                    int count);
/* Those of a problem and settings in such a list, by solver, loose to tight, the last of those of one run. out has room for count.
 * Their number. */
DAE_API int dae_workprec_select(const dae_measurement *list, int count, const char *problem,
                                const char *settings, dae_measurement *out);

/* For people, as text: the CPU time for 2, 3, ... digits of every solver, a star at the least; full: all runs before it. */
DAE_API dae_status dae_workprec_text(const dae_measurement *m, int count, int mescd, int full,
                                     dae_write_fn *write, void *user);

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

/* The page of a gallery, Markdown: dae_workprec_places at 4 and 7 digits, then the picture folder/NAME.svg of every problem that
 * `drawn` says has one. */
DAE_API dae_status dae_workprec_gallery(const dae_measurement *m, int count, const char *folder,
                                        int (*drawn)(const char *problem, void *user), void *drawn_user,
                                        dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
