/* Every solver on every problem of the test set that it takes, over the tolerances of the report. */
#ifndef DAEDALUS_MATRIX_H
#define DAEDALUS_MATRIX_H

#include <daedalus/results.h>

DAE_BEGIN_DECLS

/* Which runs; zero: all. */
typedef struct dae_matrix_choice {
    const char *const *problem, *const *solver; /* these; NULL: all */
    int nproblem, nsolver;
    int every;                           /* every so many tolerances; 0: 1 */
    const struct dae_method *const *own; /* methods of the caller, or NULL */
} dae_matrix_choice;

typedef struct dae_matrix_runs {
    dae_matrix_choice choice; /* borrowed */
    dae_result_row *row;      /* all that are wanted; those of one solver and problem stand together */
    char *finished;           /* count flags */
    int count;
} dae_matrix_runs;

DAE_API dae_status dae_matrix_plan(const dae_matrix_choice *choice, dae_matrix_runs *out, dae_error *err);
DAE_API void dae_matrix_free(dae_matrix_runs *x);
/* A line of dae_result_json from before: a run of this version is finished then; retry: not if it failed. */
DAE_API void dae_matrix_take(dae_matrix_runs *x, const char *line, size_t length, int retry);
/* Runs what is not finished, in an order whose mean time is that of all from the beginning. As dae_results_run. */
DAE_API dae_status dae_matrix_run(dae_matrix_runs *x, const dae_results_options *opt, dae_error *err);

/* How many of them are finished, have failed, and their CPU time. */
typedef struct dae_matrix_sum {
    int done, failed;
    double cpu_seconds;
} dae_matrix_sum;
DAE_API dae_matrix_sum dae_matrix_total(const dae_matrix_runs *x);

/* For people: number of tolerances per solver and problem, or why there are none. */
DAE_API dae_status dae_matrix_eligible(const dae_matrix_runs *x, dae_write_fn *write, void *user);
/* For people: runs, failures, digits and time per solver and problem, and each failure with the command that shows it. */
DAE_API dae_status dae_matrix_summary(const dae_matrix_runs *x, dae_write_fn *write, void *user);
/* A page of Markdown: problems down, solvers across. */
DAE_API dae_status dae_matrix_page(const dae_matrix_runs *x, dae_write_fn *write, void *user);
/* The finished runs. NULL: see *err. */
DAE_API dae_table *dae_matrix_table(const dae_matrix_runs *x, dae_error *err);

DAE_END_DECLS

#endif
