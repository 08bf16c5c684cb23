/* Sweeps: runs of a problem over many parameters. */
#ifndef DAEDALUS_SWEEP_H
#define DAEDALUS_SWEEP_H

#include <daedalus/run.h>
#include <daedalus/workers.h>

DAE_BEGIN_DECLS

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
/* "mu=0:1:256": for variance-based indices; with d such parameters (8 at most, and no grid) 256 (d + 2) runs: for each of 256 points those of
 * two independent rows A and B of a Sobol sequence, and A with one column of B for each parameter. */
DAE_API dae_status dae_design_saltelli(dae_design *d, const char *text, dae_error *err);
/* 1 and the interval, where parameter k was given to dae_design_saltelli. */
DAE_API int dae_design_interval(const dae_design *d, int k, double *a, double *b);
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
    const char *problem; /* of the test set, or a name for the model; NULL: its own */
    const char *model; /* text of a model file (JSON), or NULL; its design has the parameters of the model */
    const dae_setting *setting; /* parameters that are the same in all runs */
    int nsetting;
    const dae_setting *option; /* of the runs, as for dae_options_set: {"method", "radau5"} */
    int noption;
    /* runs start and tolerate as this one was told to (dae_problem_start, dae_problem_tolerate); it must live as long; or NULL */
    const dae_problem *like;
    const char *record; /* components, "a,b,c"; NULL: all of 20 or fewer, else those worth plotting */
    double t_end;       /* 0: the problem's */
    int points;         /* > 1: recorded components also at so many equidistant times */
    const char *file; /* where the text of the model comes from, for the files that it names; NULL: nowhere */
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

/* ---- Logs: a sweep that was ended goes on ------------------------------------------------------- */

/* The line of a run behind its check sum: what is appended to a log. */
DAE_API dae_status dae_sweep_log_line(const char *line, size_t length, dae_write_fn *write, void *user);

/* What the logs of a sweep hold. */
typedef struct dae_sweep_logs {
    long count;              /* runs of the whole design */
    long shard, nshard;      /* runs k with k % nshard == shard are meant */
    const char *const *line; /* count: of each finished run, up to its newline; NULL: it is to be done */
    const long *pending;     /* npending of them */
    long npending, done, failed;
} dae_sweep_logs;
DAE_API dae_sweep_logs *dae_sweep_logs_create(const dae_sweep *s, const dae_design *d, long shard,
                                              long nshard); /* NULL: out of memory */
DAE_API void dae_sweep_logs_destroy(dae_sweep_logs *l);     /* NULL allowed */
DAE_API void dae_sweep_logs_clear(dae_sweep_logs *l);
/* Takes the text of a log over (it is freed): lines that are torn or damaged are left out. */
DAE_API dae_status dae_sweep_logs_take(dae_sweep_logs *l, char *text);
/* After all texts: fills pending, npending, done and failed. */
DAE_API void dae_sweep_logs_count(dae_sweep_logs *l, const dae_design *d);
/* The finished runs in their order, behind dae_sweep_header. */
DAE_API dae_status dae_sweep_logs_csv(const dae_sweep_logs *l, dae_write_fn *write, void *user);
DAE_API int dae_sweep_has_failed(const dae_design *d, const char *line); /* 1: the line of a run says so */

/* All that decides the numbers of a sweep, as JSON to be kept beside its logs: free() it. several: values of one name are a list. */
typedef struct dae_sweep_setting {
    const char *name, *value;
    int several;
} dae_sweep_setting;
DAE_API char *dae_sweep_settings(const dae_sweep_setting *list, int count); /* NULL: out of memory */
/* 1: two such texts are of different sweeps, name: in what ("": one of them is no such text). "version" does not count. */
DAE_API int dae_sweep_settings_differ(const char *old, const char *now, char *name, size_t size);

/* Who does the pending runs. Zero means "not given". */
typedef struct dae_sweep_work {
    int jobs; /* worker processes; 0: none, the caller's does all */
    /* In a worker, and for runs that were lost in the caller: its log (NAME differs between workers), what is appended to it, its end.
     * 0, or an exit status that ends all. */
    int (*open)(const char *name, void *user);
    int (*append)(const char *line, size_t length, void *user);
    int (*close)(void *user);
    /* In a worker, which ends with the status that it gives: what is wrong; "": append has told; NULL: its run was cancelled. */
    int (*trouble)(const char *text, void *user);
    void (*running)(dae_integrator *it, void *user); /* as in dae_run_options; NULL: nothing */
    int (*look)(long done, long failed,
                void *user); /* in the caller, some times a second; not 0: end; NULL: nothing */
    void *user;
} dae_sweep_work;
/* As dae_workers_run, with its *status. DAE_ERR_FILE: open, append or close failed in the caller. */
DAE_API dae_status dae_sweep_do(const dae_sweep *s, const dae_sweep_logs *l, const dae_sweep_work *w,
                                int *status, dae_error *err);

/* All runs, one after another in this process. */
typedef struct dae_sweep_all {
    /* Called after each run; other values than 0 end the sweep. NULL: nothing. */
    int (*done)(long run, long count, dae_status status, void *user);
    void (*running)(dae_integrator *it, void *user); /* as in dae_run_options; NULL: nothing */
    void *user;
} dae_sweep_all;
/* The table of the runs that were finished, with the columns of dae_sweep_header. opt NULL: nothing is called. NULL: see *err. */
DAE_API dae_table *dae_sweep_table(const dae_sweep *s, const dae_sweep_all *opt, dae_error *err);

/* A small sweep in one call: nvary texts of dae_design_vary, all combined. */
DAE_API dae_table *dae_sweep_over(const dae_sweep_options *opt, const char *const *vary, int nvary,
                                  const dae_sweep_all *all, dae_error *err);

/* What the runs of such a table (its first `width` columns behind the number of the run are parameters) say together: how many ended
 * how, and for every column count, mean, sd, min, percentiles, max; indices as dae_sweep_indices gives them, or NULL. One JSON
 * object. */
DAE_API dae_status dae_sweep_summary_json(const dae_table *t, int width, const dae_table *indices,
                                          dae_write_fn *write, void *user);

/* How much of the variance of each recorded component at the end each parameter of a design by dae_design_saltelli makes, from the table of
 * its runs: columns quantity, parameter, first (alone), total (with all interactions), and local, the part that the derivatives in the middle
 * of the intervals say (NAN where p is NULL or they fail; t_end as in the sweep). Runs that failed are left out with their point. NULL: see
 * *err. */
DAE_API dae_table *dae_sweep_indices(const dae_table *runs, const dae_design *d, const dae_problem *p,
                                     double t_end, dae_error *err);

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

DAE_END_DECLS

#endif
