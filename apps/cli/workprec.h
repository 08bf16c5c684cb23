/* Studies of one problem: solvers over a ladder of tolerances, with records that are not repeated. Used by workprec
 * and report. */
#ifndef DAEDALUS_CLI_WORKPREC_H
#define DAEDALUS_CLI_WORKPREC_H

#include "cli.h"

typedef struct cli_study {
    /* What is wanted; 0 and NULL: the defaults. Options of the command line go before reps to range. */
    cli_args *args;
    const char *name; /* problem or model file, then the name of the problem */
    long reps;
    double max_seconds, budget;
    const char *range;
    int records_only; /* 1: nothing runs, what the records have is taken */
    int quiet;

    dae_problem *problem;
    dae_reference *reference; /* computed or from the cache, or NULL */
    dae_path *path;           /* --along: digits along it; or NULL */
    dae_ladder ladder;
    dae_solver solver[DAE_MAX_SOLVERS];
    int nsolver;
    char settings[160];
    dae_work work;
    int mescd, most_lines;
    cli_records records;
    dae_measurement *m; /* of this study, by solver, loose to tight */
    int count, capacity;
    dae_measurement *old; /* what the records held */
    int nold;
    int all;    /* solvers that do not take the problem are left out */
    int status; /* of what a callback could not do, told already */
    int failed, skipped;
    double begin;
} cli_study;

/* Opens the problem, runs what the records do not have; 0, EXIT_USAGE after a message, or EXIT_INTERRUPTED. out may be
 * NULL; plot, too: it is only checked. */
int cli_study_run(cli_study *s, const char *out, const char *plot);
void cli_study_free(cli_study *s);
/* The diagram; a dae_script_fn. */
dae_status cli_study_script(const void *study, const char *terminal, dae_write_fn *write, void *user);
double cli_wall(void); /* seconds */
/* Parts of it, for studies of other kinds. What the records depend on besides the problem; keep: to the file of records; the line of
 * progress before a run, and its end. */
void cli_study_settings(const cli_args *args, const dae_problem *p, char *out, size_t size);
int cli_study_record(cli_study *s, const dae_measurement *m, int keep);
int cli_study_begin(const dae_measurement *m, int done, int count, void *study);
void cli_study_progress_end(const cli_study *s);
/* The measurements of a file, from its text; 0 or EXIT_USAGE after a message. Free *m in both cases. */
int cli_measurements(const cli_args *args, const char *path, const char *text, dae_measurement **m,
                     int *count);

/* Many problems at a time, each in a process of its own: work(name, user) is called in it and gives its exit status. */
typedef int cli_work_fn(const char *name, void *user);
/* The worst exit status; EXIT_USAGE of one problem stops the rest where stop_at_usage is set. */
int cli_each(const cli_args *args, const char *const *name, int count, int jobs, int stop_at_usage,
             cli_work_fn *work, void *user);

#endif
