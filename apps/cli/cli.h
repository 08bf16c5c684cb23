/* The command line program: what its files share. It uses the installed headers only, like any user.
 *
 * A command is one file with one cli_command and one line in commands.def. Its option table serves parsing, help,
 * shell completion and the check that the manual names every option. */
#ifndef DAEDALUS_CLI_H
#define DAEDALUS_CLI_H

#include <daedalus/daedalus.h>

#include <stdio.h>

#if defined(__GNUC__)
#define CLI_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define CLI_PRINTF(a, b)
#endif

/* Exit status: scripts depend on it. */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INCONSISTENT = 3,
    EXIT_LIMIT = 4,
    EXIT_INTERRUPTED = 130
};

typedef struct cli_option {
    const char *name;  /* without the dashes */
    const char *value; /* what is expected, "R"; NULL: a flag */
    const char
        *values; /* for completion: problems, solvers, formulations, file, or words a|b|c; NULL: none */
    const char *help;
} cli_option;

typedef struct cli_args cli_args;

typedef struct cli_command {
    const char *name, *summary;
    const char *arguments;       /* after the name: "PROBLEM" */
    const char *values;          /* completion of the arguments, as in cli_option */
    int least, most;             /* number of arguments */
    const cli_option *options;   /* ended by name NULL */
    const char *const *examples; /* pairs: command line without the program's name, comment; ended by NULL */
    const char *notes;           /* more text for the help page, or NULL */
    int (*run)(cli_args *args);  /* the exit status */
} cli_command;

#define COMMAND(name) extern const cli_command cli_##name;
#include "commands.def"
#undef COMMAND
const cli_command *cli_command_at(int i); /* NULL past the end */
const cli_command *cli_command_find(const char *name);
void cli_print_help(const cli_command *command, FILE *out); /* NULL: of the program */

/* ---- args.c ------------------------------------------------------------------------------------- */

typedef struct cli_given {
    const cli_option *option;
    const char *value; /* NULL for a flag */
} cli_given;

struct cli_args {
    const cli_command *command;
    const char **argument; /* those that are no options */
    int count;
    cli_given *given;
    int ngiven;
    int json;
    mbs_problem *model; /* where the problem is a model file */
    int status;         /* exit status of a problem that could not be opened */
};

/* 0, or EXIT_USAGE after a message. Free with cli_args_free in both cases. */
int cli_parse(cli_args *args, const cli_command *command, int argc, char *const *argv);
void cli_args_free(cli_args *args);
const char *cli_value(const cli_args *args, const char *name); /* the last one given, or NULL */
int cli_has(const cli_args *args, const char *name);
/* Value number k (from 0) of an option that can be given more than once, or NULL. */
const char *cli_value_at(const cli_args *args, const char *name, int k);
/* As if the option had been given; 0, or EXIT_USAGE if memory ran out. */
int cli_add(cli_args *args, const char *name, const char *value);

/* A message about wrong usage or input on standard error (with --json also as an object); returns EXIT_USAGE.
 */
int cli_wrong(const cli_args *args, const char *format, ...) CLI_PRINTF(2, 3);
/* "name=value": splits a copy, kept until the program ends with the args. 0 or EXIT_USAGE. */
int cli_settings(cli_args *args, const char *option, dae_setting **list, int *count);
/* The times of --at, each between t0 and t_end; the caller frees them. Without --at count is 0. */
int cli_times(const cli_args *args, double t0, double t_end, double **times, int *count);
/* A finite number, with a message naming the option. */
int cli_number(const cli_args *args, const char *option, const char *text, double *out);

/* Names near to a word, "a, b, c", or "" */
typedef const char *cli_name_fn(int i); /* NULL past the end */
void cli_nearest(const char *word, cli_name_fn *name, char *out, size_t size);
const char *cli_problem_name(int i);
const char *cli_solver_name(int i);
const char *cli_formulation_name(int i);

/* ---- Shared by commands -------------------------------------------------------------------------- */

/* The problem or model file named by the first argument with its --set values; NULL after a message (args->status). */
dae_problem *cli_open_problem(cli_args *args);
void cli_close_problem(cli_args *args, dae_problem *p);
int cli_is_model(const char *name); /* 1: the name of a model file */
/* The model file, with a message if it is wrong (args->status). */
mbs_model *cli_load_model(cli_args *args);
char *cli_read_all(FILE *file, size_t *length); /* the whole of it, to be freed; NULL with errno set */
int cli_write_file(const char *text, size_t length, void *file); /* a dae_write_fn for FILE * */

/* gnuplot.c: 0 or EXIT_USAGE after a message. */
const char *cli_plot_terminal(const char *path); /* "svg", "png", "pdf" by the ending, or NULL */
int cli_plot_check(const cli_args *args, const char *path);
int cli_plot(const cli_args *args, const dae_run_result *r, const char *path);

/* progress.c */
typedef struct cli_progress {
    int enabled, json, shown;
    double begin, last; /* seconds */
    double t0;
} cli_progress;
void cli_progress_start(cli_progress *p, const char *mode, double t0); /* auto, json, none */
int cli_progress_step(const dae_integrator *it, double t, double t_end, void *progress);
void cli_progress_end(cli_progress *p);

/* jobs.c: runs of tables, each in a process of its own, so that a crash is one failed run. */
typedef struct cli_jobs {
    int jobs;           /* processes at a time */
    double max_seconds; /* CPU time of a run; 0: no limit */
    int repeat;
    const char *label; /* of the progress line, NULL: none */
    /* Called for each finished run, in the order in which they end; < 0: stop. NULL: nothing. */
    int (*done)(const dae_table_row *row, void *user);
    void *user;
} cli_jobs;
/* Runs row[order[0]], row[order[1]], ... (order NULL: as they are). 0, EXIT_INTERRUPTED, or EXIT_USAGE after a
 * message; the rows that did not run keep their status. */
int cli_jobs_run(const cli_args *args, dae_table_row *row, const int *order, int count, const cli_jobs *jobs);
/* Words separated by commas, checked against the names; 0 or EXIT_USAGE. *list is one block: free it. */
int cli_names(const cli_args *args, const char *option, cli_name_fn *name, const char *what, const char ***list,
              int *count);
/* A whole number option; *out keeps its value if it is not given. */
int cli_whole(const cli_args *args, const char *name, long least, long most, long *out);

/* reference.c: the cache of reference solutions. */
int cli_reference_path(const dae_problem *p, char *path, size_t size); /* 0, or -1: no folder is known */
dae_reference *cli_reference_find(const dae_problem *p);               /* NULL: the cache has none */
int cli_reference_keep(const cli_args *args, const dae_reference *r, const dae_problem *p, char *path, size_t size);
/* --reference auto|none: a problem without a reference gets that of the cache. Destroy *r after the problem. */
int cli_reference_use(const cli_args *args, dae_problem *p, dae_reference **r);

/* checkpoint.c */
int cli_checkpoint_write(cli_args *args, const dae_run_result *r, const char *path);
/* Takes the options kept in the file over into args. *block (the caller frees it, after args) holds the file,
 * *bytes the integrator's part of it. */
int cli_checkpoint_read(cli_args *args, const char *path, void **block, const void **bytes, size_t *size);

#endif
