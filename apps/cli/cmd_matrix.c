/* daedalus matrix: every solver on every problem that it takes, over the tolerances of the test set report.
 *
 * Each finished run is one JSON line at the end of a file, written before the next one is waited for: whatever ends
 * the program, the next call goes on from there. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char default_file[] = "out/matrix.jsonl";

typedef struct matrix {
    cli_args *args;
    const char *path;
    FILE *file;
    const char **problem, **solver;
    dae_matrix_choice choice;
    dae_matrix_runs runs;
} matrix;

/* ---- The file of results ------------------------------------------------------------------------------- */

/* Opens the file for appending after the runs in it are known; a line that was cut off is ended. */
static int open_file(matrix *x)
{
    int cut = 0, retry = cli_has(x->args, "retry");
    char *slash = strrchr(x->path, '/');
    if (slash && slash != x->path) { /* one folder is made */
        char folder[1024];
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - x->path), x->path);
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return cli_wrong(x->args, "--out %s: folder %s: %s", x->path, folder, strerror(errno));
    }
    struct stat info;
    int readable = stat(x->path, &info) == 0 && S_ISREG(info.st_mode) && !cli_has(x->args, "fresh");
    FILE *old = readable ? fopen(x->path, "r") : NULL;
    if (old) {
        char *line = NULL;
        size_t size = 0;
        for (ssize_t n; (n = getline(&line, &size, old)) > 0;) {
            dae_matrix_take(&x->runs, line, (size_t)n, retry);
            cut = line[n - 1] != '\n';
        }
        free(line);
        fclose(old);
    }
    x->file = fopen(x->path, cli_has(x->args, "fresh") ? "w" : "a");
    if (!x->file) return cli_wrong(x->args, "--out %s: %s", x->path, strerror(errno));
    if (cut) fputc('\n', x->file);
    return 0;
}

static int on_done(const dae_result_row *row, void *user)
{
    matrix *x = user;
    int bad = dae_result_json(row, cli_write_file, x->file) < 0;
    bad |= fputc('\n', x->file) == EOF || fflush(x->file) != 0;
    if (bad) {
        cli_wrong(x->args, "--out %s: could not be written: %s; the runs before are kept", x->path,
                  strerror(errno));
        return -1;
    }
    return 0;
}

/* The tables of --out and the page of --condensed. */
static int write_files(const matrix *x)
{
    const char *path = cli_value(x->args, "condensed");
    cli_draft d;
    if (cli_tables_wanted(x->args) && cli_tables_write(x->args, dae_matrix_table(&x->runs, NULL)))
        return EXIT_USAGE;
    if (!path) return 0;
    if (cli_draft_begin(x->args, &d, "--condensed", path)) return EXIT_USAGE;
    return cli_draft_end(x->args, &d, dae_matrix_page(&x->runs, cli_write_file, d.file) < 0);
}

static int run_matrix(matrix *x)
{
    cli_args *args = x->args;
    const char *seconds = cli_value(args, "max-seconds"), *path = cli_records_path(args);
    cli_jobs jobs = {.max_seconds = 300, .repeat = 1, .label = cli_has(args, "quiet") ? NULL : "matrix"};
    long njobs = 2, every = 1;
    if (cli_whole(args, "jobs", 1, 256, &njobs) || cli_whole(args, "every", 1, 1000, &every))
        return EXIT_USAGE;
    if (seconds && cli_number(args, "max-seconds", seconds, &jobs.max_seconds)) return EXIT_USAGE;
    if (jobs.max_seconds < 0)
        return cli_wrong(args, "--max-seconds %s: expected 0 (no limit) or more", seconds);
    dae_matrix_choice *c = &x->choice;
    if (cli_names(args, "problems", cli_problem_name, "problem", &x->problem, &c->nproblem) ||
        cli_names(args, "solvers", cli_solver_name, "solver", &x->solver, &c->nsolver))
        return EXIT_USAGE;
    c->problem = x->problem;
    c->solver = x->solver;
    c->every = (int)every;
    c->own = cli_own();
    if (dae_matrix_plan(c, &x->runs, NULL) < 0) return cli_wrong(args, "out of memory");
    if (cli_has(args, "eligible")) {
        dae_matrix_eligible(&x->runs, cli_write_file, stdout);
        return EXIT_DONE;
    }
    if (!x->runs.count) return cli_wrong(args, "no run is left; --eligible tells why");
    if (cli_tables_check(args, 1)) return EXIT_USAGE;
    x->path = path ? path : default_file;
    if (open_file(x)) return EXIT_USAGE;
    if (!cli_has(args, "quiet"))
        fprintf(stderr, "matrix: %d runs, %d of them are in %s\n", x->runs.count,
                dae_matrix_total(&x->runs).done, x->path);
    jobs.jobs = (int)njobs;
    jobs.done = on_done;
    jobs.user = x;
    int status = cli_jobs_matrix(args, &x->runs, &jobs);
    if (fclose(x->file) != 0 && !status) status = cli_wrong(args, "--out %s: %s", x->path, strerror(errno));
    x->file = NULL;
    dae_matrix_summary(&x->runs, cli_write_file, stdout);
    printf("; %s\n", x->path);
    int result = dae_matrix_total(&x->runs).failed ? EXIT_FAILED : EXIT_DONE;
    if (write_files(x) && !status) status = EXIT_USAGE;
    if (status == EXIT_INTERRUPTED && !cli_has(args, "quiet"))
        fprintf(stderr, "matrix: interrupted; the same command goes on where it stopped\n");
    return status ? status : result;
}

static int run(cli_args *args)
{
    matrix x = {.args = args};
    cli_catch_signals();
    int status = run_matrix(&x);
    if (x.file) fclose(x.file);
    free(x.problem);
    free(x.solver);
    dae_matrix_free(&x.runs);
    return status;
}

static const cli_option options[] = {
    {"problems", "A,B,...", NULL, "these problems; default: all of the test set report"},
    {"solvers", "A,B,...", NULL, "these solvers; default: all"},
    {"every", "K", NULL, "every K-th tolerance only"},
    {"max-seconds", "S", NULL,
     "limit on the CPU time of a run, beyond it the run has failed; default 300, 0: none"},
    {"jobs", "N", NULL, "N runs at a time, each in a process of its own; default 2"},
    {"out", "FILE", "file",
     "FILE.jsonl: where the results are kept (out/matrix.jsonl); .csv, .json, .h5: the table of all runs; "
     "can be given "
     "more than once"},
    {"condensed", "FILE", "file", "write runs, failures and digits per solver and problem as Markdown"},
    {"fresh", NULL, NULL, "forget the runs in the file"},
    {"retry", NULL, NULL, "run again what failed"},
    {"eligible", NULL, NULL, "show which solvers run on which problems and why others do not, run nothing"},
    {"quiet", NULL, NULL, "no progress on standard error"},
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char notes_text[] =
    "A solver runs on a problem if it takes its kind of equations and its "
    "index, and if it is not an explicit one on\n"
    "a stiff problem; `daedalus matrix --eligible` shows it. Left out for its cost is wnys2 on ringmod below "
    "1e-9.\n"
    "Each finished run is one JSON line in the file, which the\n"
    "same command reads first: what is there is not run again, unless the "
    "version of the library differs. The exit\n"
    "status is 1 if a run failed.\n";
static const char *const examples[] = {
    "matrix --eligible", "which solver on which problem",
    "matrix --problems hires,rober --solvers radau5,dassl --every 8 --out m.jsonl",
    "a few runs of two problems", NULL};
const cli_command cli_matrix = {"matrix",   "every solver on every problem over the report's tolerances",
                                "",         NULL,
                                0,          0,
                                options,    examples,
                                notes_text, run};
