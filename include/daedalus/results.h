/* Tables of run characteristics: our figures beside the published ones. */
#ifndef DAEDALUS_RESULTS_H
#define DAEDALUS_RESULTS_H

#include <daedalus/published.h>
#include <daedalus/table.h>
#include <daedalus/workprec.h>

DAE_BEGIN_DECLS

/* What of a row is worse than the report's figure by more than the allowance. */
enum { DAE_MARK_FAILED = 1, DAE_MARK_MESCD = 2, DAE_MARK_SCD = 4, DAE_MARK_STEPS = 8, DAE_MARK_F = 16 };

/* One run, and the published row it stands beside. Fill all above run, and of run problem, solver (registry names, or those of
 * what is given here), rtol, atol and h0 (0: the method chooses); then dae_result_run. */
typedef struct dae_result_row {
    const dae_problem *given;            /* NULL: the problem of the registry */
    const struct dae_method *const *own; /* methods of the caller, as in dae_options */
    const struct dae_path *path;         /* scd and mescd along it; NULL: at the end */
    const dae_published_row *published;  /* NULL: none */
    int m;                               /* number of the tolerance in the problem's range, -1: none */
    dae_measurement run;
} dae_result_row;

typedef enum dae_results_rows {
    DAE_RESULTS_PUBLISHED = 0, /* the rows of the report, each with its counterparts here */
    DAE_RESULTS_RANGE          /* the tolerances of the work-precision diagram */
} dae_results_rows;

/* For whom; all may be NULL. */
typedef struct dae_results_choice {
    const char *const
        *solver; /* these; NULL: all that have counterparts, or for a range all that take the problem */
    int nsolver;
    const struct dae_method *const *own; /* methods of the caller that solver may name */
    /* Instead of one of the registry: the report's solvers at the report's three tolerances, 1e-4, 1e-7 and 1e-10, or for a
     * range those of dae_ladder_default. It has to live as long as the rows. */
    const dae_problem *given;
} dae_results_choice;

/* The rows of one problem (its name is not looked at where choice->given is). *row is allocated: free it. Their number, or
 * < 0: out of memory. choice NULL: nothing is said. */
DAE_API int dae_results_plan(const char *problem, dae_results_rows what, const dae_results_choice *choice,
                             dae_result_row **row);
/* Runs a row. max_seconds 0: no limit; repeat as in dae_run_options. A failed run is a result too. */
DAE_API void dae_result_run(dae_result_row *row, double max_seconds, int repeat);
/* Many rows at a time, each in a process of its own, so that a run that crashes or never ends is one failed run. */
typedef struct dae_results_options {
    int jobs;           /* processes at a time; less than 1: one */
    double max_seconds; /* CPU time of a run; 0: no limit */
    int repeat;         /* as in dae_run_options */
    /* Called for each finished row, in the order in which they end, and about ten times a second; other values than 0 end it. NULL:
     * nothing. */
    int (*done)(const dae_result_row *row, void *user);
    int (*look)(int done, int failed, int count, void *user);
    void *user;
} dae_results_options;
/* row[order[0]], row[order[1]], ... (order NULL: as they are). DAE_OK; DAE_CANCELLED: it was ended, and the rows that did not run keep
 * their status; or an error, see *err. */
DAE_API dae_status dae_results_run(dae_result_row *row, const int *order, int count,
                                   const dae_results_options *opt, dae_error *err);
/* Marks: 0.7 digits below for radau5, radau, ida and cvode, 0.5 for others; 1.6 and 1.3 times the steps or f. */
DAE_API int dae_result_marks(const dae_result_row *row);
/* format: "md", "csv", "json", "latex", "html" (a table without a page around it). Rows of one problem stand together. */
DAE_API dae_status dae_results_write(const dae_result_row *row, int count, const char *format,
                                     dae_write_fn *write, void *user);
/* A page of Markdown: what it shows and was computed with, the tables, and with list_marked every marked row in one line. command: what
 * made it, "table --all". */
DAE_API dae_status dae_results_page(const dae_result_row *row, int count, const char *command,
                                    int list_marked, dae_write_fn *write, void *user);
/* The same as a table: numbers, and those of the published rows behind them. NULL: see *err. */
DAE_API dae_table *dae_results_table(const dae_result_row *row, int count, dae_error *err);
/* One row as one JSON object, without an end of line; version tells with what it was computed. */
DAE_API dae_status dae_result_json(const dae_result_row *row, dae_write_fn *write, void *user);
/* Takes the results over from such an object, read by dae_measurement_parse, if it is of this row, which is planned; 1: it is. */
DAE_API int dae_result_take(dae_result_row *row, const dae_measurement *m);

DAE_END_DECLS

#endif
