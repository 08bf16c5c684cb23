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
    EXIT_INTERRUPTED = 130,
    EXIT_TERMINATED = 143
};

typedef struct cli_option {
    const char *name;  /* without the dashes */
    const char *value; /* what is expected, "R"; NULL: a flag */
    /* for completion: problems, solvers, formulations, file, or words a|b|c; NULL: none */
    const char *values;
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
int cli_dispatch(int argc, char **argv); /* what main does: finds the command and runs it; the exit status */
/* Goes on as another program that lies beside this one, with the same arguments; comes back with errno if it cannot. */
int cli_hand_over(const cli_args *args, const char *program);

/* ---- args.c ------------------------------------------------------------------------------------- */

typedef struct cli_given {
    const cli_option *option;
    const char *value; /* NULL for a flag */
} cli_given;

struct cli_args {
    const cli_command *command;
    char *const *argv;     /* what follows the name of the command, ended by NULL */
    const char **argument; /* those that are no options */
    int count;
    cli_given *given;
    int ngiven;
    int json;
    int status;  /* exit status of a problem that could not be opened */
    char *input; /* what "-" stands for: standard input, read once */
    size_t input_length;
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

/* A message about wrong usage or input on standard error (with --json also as an object); returns
 * EXIT_USAGE. */
int cli_wrong(const cli_args *args, const char *format, ...) CLI_PRINTF(2, 3);
/* Memory ran out, so that the program ends with EXIT_FAILED: 1, a message told it; 2, nobody did. 0 only asks. */
int cli_starved(int now);
/* The exit status: where memory ran out that of a failed run, whatever the message was about, and never that of success. Says so if
 * nobody has. */
int cli_with_memory(int status);
/* What a function of the library that writes a text returned: that memory ran out is noticed, what else went wrong the stream knows. */
void cli_wrote(dae_status s);
/* "name=value": splits a copy, kept until the program ends with the args. 0 or EXIT_USAGE. */
int cli_settings(cli_args *args, const char *option, dae_setting **list, int *count);
/* The times of --at, each between t0 and t_end; the caller frees them. Without --at count is 0. */
int cli_times(const cli_args *args, double t0, double t_end, double **times, int *count);
/* The last value of an option as a number in a range, with a message; nothing changes where it was not given. */
int cli_whole(const cli_args *args, const char *option, long least, long most, long *out);
int cli_real(const cli_args *args, const char *option, double least, double most, double *out);
/* Names separated by commas, at most `most` of them, taken apart in *text (to be freed). *count 0: the option was not given. */
int cli_split(const cli_args *args, const char *option, const char **list, int most, int *count, char **text);
/* A finite number, with a message naming the option. */
int cli_number(const cli_args *args, const char *option, const char *text, double *out);
/* --rtol and --atol, each a number, a list or NAME=VALUE, become those of the problem; cli_open does it. */
int cli_tolerate(const cli_args *args, dae_problem *p);
/* Where they are given they count, instead of the defaults of a study. */
void cli_tolerances_given(const cli_args *args, const dae_problem *p, dae_options *o);
/* 0, or EXIT_USAGE after a message where one tolerance for all was given: for commands that try many. */
int cli_ratios_only(const cli_args *args);

/* Names near to a word, "a, b, c", or "" */
typedef const char *cli_name_fn(int i); /* NULL past the end */
void cli_nearest(const char *word, cli_name_fn *name, char *out, size_t size);
const char *cli_problem_name(int i);
const char *cli_solver_name(int i);
const char *cli_formulation_name(int i);
const dae_formulation_info *cli_formulation(
    const char *name); /* of mechanisms or equations; NULL: there is none */

/* ---- plugin.c: own methods, --plugin FILE.so ------------------------------------------------------ */

int cli_plugins_open(const cli_args *args); /* 0 or EXIT_USAGE after a message */
void cli_plugins_close(void);
const dae_method *const *cli_own(void);              /* for dae_options.own */
const dae_method_info *cli_method_at(int i);         /* registry and own; NULL past the end */
const dae_method_info *cli_method(const char *name); /* NULL: none of both */
#define CLI_PLUGIN                                                                               \
    {                                                                                            \
        "plugin", "FILE.so", "file",                                                             \
            "own methods from a shared object (docs/own-solver.md); may be given more than once" \
    }

/* Options of commands that take a problem; cli_open reads them. */
#define CLI_START                                                                                       \
    {"init", "NAME=VALUE", NULL,                                                                        \
     "an initial value of a component (models: BODY.QUANTITY, as crank.omega=3); NAME~VALUE: a guess "  \
     "(equation files, models); can be given more than once"},                                          \
    {                                                                                                   \
        "t0", "T", NULL, "another start of the interval, with the same values (there is no score then)" \
    }
#define CLI_TOLERANCES                                                                                  \
    {"rtol", "R", NULL,                                                                                 \
     "relative tolerance, one for all, R1,R2,... or NAME=R; atol keeps its ratio to it unless given"},  \
    {                                                                                                   \
        "atol", "A", NULL,                                                                              \
            "absolute tolerance: one for all, A1,A2,... for each component, or NAME=A for one; can be " \
            "repeated"                                                                                  \
    }
#define CLI_RATIOS                                                                                           \
    {"rtol", "NAME=R", NULL,                                                                                 \
     "a component's relative tolerance beside that of the problem; or R1,R2,... for all; the "               \
     "ratios are kept"},                                                                                     \
    {                                                                                                        \
        "atol", "NAME=A", NULL,                                                                              \
            "a component's absolute tolerance beside that of the problem; or A1,A2,... for all; the ratios " \
            "are kept"                                                                                       \
    }

/* ---- Shared by commands -------------------------------------------------------------------------- */

/* The problem or file named by the first argument with its --set values; NULL after a message (args->status). */
dae_problem *cli_open_problem(cli_args *args);
/* The values of --set, and those of --init as "=2" or "~2" (to be freed). 0 or EXIT_USAGE. */
int cli_all_settings(cli_args *args, dae_setting **list, int *count);
/* Standard input as text, kept with the args; NULL after a message. */
const char *cli_input(cli_args *args, size_t *length);
/* The model file, with a message if it is wrong (args->status). */
mbs_model *cli_load_model(cli_args *args);
/* The same for a problem or model file of that name, and for a problem. */
dae_problem *cli_open(cli_args *args, const char *name);
dae_problem *cli_open_named(cli_args *args, const char *name);
/* What --event, --record and --components of a model named and no sensor declares (spring.force), as settings; how many, at most `most`. */
int cli_shown_signals(const dae_problem *p, dae_setting *list, int most);
/* 0, or EXIT_USAGE after a message that names those that are near. */
int cli_check_solver(const cli_args *args, const char *name);
int cli_check_formulation(const cli_args *args, const char *name);
int cli_write_file(const char *text, size_t length, void *file); /* a dae_write_fn for FILE * */

/* cmd_export.c: the equation file of the first argument with its settings as C, to path or standard output (NULL); option: for
 * messages. cmd_build.c: a source as a shared object. The exit status. */
int cli_export_c(cli_args *args, const char *option, const char *path);
int cli_compile(const cli_args *args, const char *source, const char *out);

/* gnuplot.c: 0 or EXIT_USAGE after a message. */
const char *cli_plot_terminal(const char *path); /* "svg", "png", "pdf" by the ending, or NULL */
int cli_plot_check(const cli_args *args, const char *option,
                   const char *path); /* option: "--plot" for messages */
/* Draws what a script says that is written by the function (DAE_ERR_INPUT: there is too little to draw). */
int cli_plot(const cli_args *args, const char *option, const char *path, dae_script_fn *script,
             const void *what);

/* svg.c: the same picture in fewer bytes; 0 or errno. */
int cli_svg_shorten(const char *path);

/* interrupt.c */
void cli_catch_signals(void);
void cli_catch_time_limit(void); /* SIGXCPU is an interruption too: what was finished is kept */
void cli_running(dae_integrator *it, void *user); /* for dae_run_options.running */
int cli_interrupted(void);
int cli_stop(void *user);         /* the same, for dae_options.stop */
void cli_note_signal(int number); /* for handlers of others */
int cli_ended_by(int status);     /* EXIT_TERMINATED instead of EXIT_INTERRUPTED where it was SIGTERM */

/* records.c: a file of lines that only grows; one write per line, so that a kill leaves whole lines. */
typedef struct cli_records {
    int fd;           /* -1: closed */
    const char *path; /* borrowed */
    char *text;       /* what was there when it was opened, whole lines, ended by 0 */
    size_t length;
    long long size; /* of the whole lines in the file */
} cli_records;
int cli_records_open(const cli_args *args, const char *path,
                     cli_records *r); /* 0 or EXIT_USAGE after a message */
int cli_records_append(const cli_args *args, cli_records *r, const char *line, size_t length);
int cli_records_close(const cli_args *args, cli_records *r); /* 0 or EXIT_USAGE after a message */

/* text.c: text in memory */
typedef struct cli_text {
    char *text; /* ended by 0, or NULL; free it */
    size_t length, capacity;
} cli_text;
int cli_write_text(const char *text, size_t length, void *cli_text); /* a dae_write_fn */
/* Makes a folder and those above it; 0 or errno. */
int cli_make_folder(const char *path);

/* file.c: the whole of a file without a byte order mark, or NULL with errno set. Devices and pipes: at most 1 GB (EFBIG). */
char *cli_read_file(const char *path, size_t *length);
char *cli_read_open(FILE *file, size_t *length);
/* dae_table_read, for files of others: one that the HDF5 library crashes on is refused. NULL: see *err. */
dae_table *cli_read_table(const char *text, size_t length, dae_error *err);
/* A file that takes the place of an old one when it is whole; all that writes files goes through it. Devices and pipes are
 * written to directly. begin and end: 0, or EXIT_USAGE after a message; drop leaves the old file. */
typedef struct cli_draft {
    FILE *file;                    /* NULL: not begun, or ended */
    char path[4096], target[4096]; /* as it was given, and where it will be: links are followed */
    char part[4096 + 32];          /* where it is written */
    int direct;                    /* 1: a device; part is the path */
    const char *option;            /* "--out" for messages, or NULL */
} cli_draft;
int cli_draft_begin(const cli_args *args, cli_draft *d, const char *option, const char *path);
int cli_draft_end(const cli_args *args, cli_draft *d,
                  int bad);                  /* bad: something went wrong before, errno may tell */
int cli_draft_finish(cli_draft *d, int bad); /* the same without a message: 0 or errno */
void cli_draft_drop(cli_draft *d);

/* output.c: tables in files. --out can be given more than once; the ending tells the format: .csv, .json, .h5, .gp, or pictures
 * .svg, .png, .pdf. "-": CSV on standard output. All other names (FILE.jsonl) are records, to which runs are appended. */
int cli_has_ending(const char *path, const char *ending);
int cli_is_hdf5(const char *path);
int cli_is_records(const char *path);
dae_status cli_hdf5_check(dae_error *err);    /* < 0: HDF5 files cannot be written here, and why */
char *cli_command_line(const cli_args *args); /* as a shell takes it; free it. NULL: out of memory */
/* Before anything runs: 0, or EXIT_USAGE after a message if such a file cannot be written. */
int cli_table_check(const cli_args *args, const char *path);
int cli_tables_check(const cli_args *args, int records); /* records: they are allowed */
void cli_table_describe(const cli_args *args,
                        dae_table *t); /* the command, the machine and the day as attributes */
dae_status cli_table_put(const char *path, const dae_table *t, dae_write_fn *write, void *user,
                         dae_error *err);
int cli_table_write(const cli_args *args, const char *path,
                    dae_table *t); /* 0 or EXIT_USAGE after a message */
/* To all files of --out that are tables, and destroys it; NULL: out of memory is told. */
int cli_tables_write(const cli_args *args, dae_table *t);
int cli_tables_wanted(const cli_args *args);
const char *cli_records_path(const cli_args *args); /* the last --out that is no table, or NULL */

/* progress.c */
typedef struct cli_progress {
    int enabled, json, shown;
    double begin, last; /* seconds */
    double t0;
} cli_progress;
void cli_progress_start(cli_progress *p, const char *mode, double t0); /* auto, json, none */
int cli_progress_step(const dae_integrator *it, double t, double t_end, void *progress);
void cli_progress_search(int k, double off, void *progress); /* for mbs_watch */
void cli_progress_end(cli_progress *p);
const char *cli_progress_mode(
    const cli_args *args); /* --progress, --quiet: auto, json, none; NULL after a message */
/* Of many runs: a line of JSON on standard error where --progress json asks for it, at most ten times a second. at: what
 * runs now. */
void cli_progress_runs(const cli_args *args, long done, long of, long failed, const char *at);
#define CLI_PROGRESS                                                 \
    {                                                                \
        "progress", "MODE", "auto|json|none",                        \
            "auto: a line on a terminal; json: objects on standard " \
            "error; none"                                            \
    }

/* jobs.c: rows of tables and of the matrix, with a line of progress. */
typedef struct cli_jobs {
    int jobs;           /* processes at a time */
    double max_seconds; /* CPU time of a run; 0: no limit */
    int repeat;
    const char *label; /* of the progress line, NULL: none */
    /* Called for each finished run, in the order in which they end; < 0: stop. NULL: nothing. */
    int (*done)(const dae_result_row *row, void *user);
    void *user;
} cli_jobs;
/* Runs row[order[0]], row[order[1]], ... (order NULL: as they are). 0, EXIT_INTERRUPTED, or EXIT_USAGE after a
 * message; the rows that did not run keep their status. */
int cli_jobs_run(const cli_args *args, dae_result_row *row, const int *order, int count,
                 const cli_jobs *jobs);
int cli_jobs_matrix(const cli_args *args, dae_matrix_runs *runs,
                    const cli_jobs *jobs); /* what is not finished */
/* Words separated by commas, checked against the names; 0 or EXIT_USAGE. *list is one block: free it. */
int cli_names(const cli_args *args, const char *option, cli_name_fn *name, const char *what,
              const char ***list, int *count);

/* reference.c: the cache of reference solutions. What it cannot keep is told. */
dae_store cli_cache(cli_args *args);
int cli_cache_path(const char *name, char *path, size_t size);           /* 0, or -1: no folder is known */
dae_reference *cli_reference_find(cli_args *args, const dae_problem *p); /* NULL: the cache has none */
/* --reference auto|none: a problem without a reference gets that of the cache. Destroy *r after the problem. */
int cli_reference_use(cli_args *args, dae_problem *p, dae_reference **r);

/* checkpoint.c */
int cli_checkpoint_check(cli_args *args, const char *path, const char *method); /* before the run */
int cli_checkpoint_write(cli_args *args, const dae_run_result *r, const char *path);
/* Takes the options kept in the file over into args. *block (the caller frees it, after args) holds the file,
 * *bytes the integrator's part of it. */
int cli_checkpoint_read(cli_args *args, const char *path, void **block, const void **bytes, size_t *size);

/* ---- cmd_build.c ------------------------------------------------------------------------------------- */

enum { CLI_COMPILER_WORDS = 14 };
/* The command that makes the shared object `out` of C or Fortran, by the ending of source; the Debian package of the compiler. */
const char *cli_compiler(const char *source, const char *out, const char *argv[CLI_COMPILER_WORDS]);
int cli_is_source(const char *file); /* 1: C or Fortran, by its ending */

/* ---- free.c ------------------------------------------------------------------------------------------ */

enum { CLI_MAX_FREE = 64 };
typedef struct cli_free {
    dae_fit_free list[CLI_MAX_FREE];
    int count;
    char *text; /* holds the names */
} cli_free;
/* The parameters of --free: "k1,k2=1,k3[0..5],x(0)=0.3[0..1]". 0 or EXIT_USAGE after a message; drop it in both cases. */
int cli_free_read(const cli_args *args, cli_free *f);
void cli_free_drop(cli_free *f);

#endif
