/* Growth of cost with the size of a problem. */
#ifndef DAEDALUS_SCALE_H
#define DAEDALUS_SCALE_H

#include <daedalus/table.h>
#include <daedalus/workprec.h>

DAE_BEGIN_DECLS

/* cost = factor * size^exponent, by least squares in the logarithms. */
typedef struct dae_growth {
    int count; /* of points used: both positive and finite */
    double exponent, factor;
    double error; /* standard error of the exponent, NAN with fewer than three points */
    double last;  /* exponent between the two largest sizes */
} dae_growth;
/* DAE_ERR_INPUT: fewer than two different sizes. */
DAE_API dae_status dae_growth_fit(const double *size, const double *cost, int n, dae_growth *out);

typedef struct dae_growth_line {
    const char *label;
    const double *size, *cost; /* n each; NAN: the run failed */
    int n;
} dae_growth_line;
/* A gnuplot script: both axes logarithmic, points, fitted lines, exponents in the key. DAE_ERR_INPUT: nothing to draw. */
DAE_API dae_status dae_growth_plot(const dae_growth_line *line, int count, const char *title,
                                   const char *size_label, const char *terminal, dae_write_fn *write,
                                   void *user);

/* One solver with one storage over all sizes, with what the fits of its time and of the time of a step say. */
typedef struct dae_scale_line {
    const char *solver, *linear_algebra;
    const double *size, *cost; /* count each; cost NAN: the run failed */
    const long *n, *steps;     /* equations, steps */
    int count;
    dae_growth fit, step;
} dae_scale_line;
/* One JSON object, with where the times come from. */
DAE_API dae_status dae_scale_json(const char *problem, const char *parameter, const dae_scale_line *line,
                                  int count, dae_write_fn *write, void *user);
/* One row per size of a line. NULL: see *err. */
DAE_API dae_table *dae_scale_table(const char *parameter, const dae_scale_line *line, int count,
                                   dae_error *err);

/* ---- The study ----------------------------------------------------------------------------------- */

typedef struct dae_scale_options {
    const char *parameter;    /* "N" */
    const char *const *value; /* nvalue of them: "8", "16": positive numbers */
    int nvalue;
    const char *const *mode; /* nmode values of the option linear_algebra; 0: "auto" */
    int nmode;
    const char *solvers; /* "radau5,vode", or "all" (NULL) */
    /* The problem of a size, which the study destroys; its rtol and atol are those of the runs. settings: what they depend on, as in
     * dae_workprec_options. NULL: see *err. */
    dae_problem *(*open)(const char *value, const char *mode, char *settings, size_t size, void *user,
                         dae_error *err);
    void *user; /* of open */
    /* Repetitions, limits, known runs, callbacks, options besides linear_algebra; ladder, settings and all are the study's. */
    dae_workprec_options runs;
} dae_scale_options;

typedef struct dae_scale dae_scale; /* opaque */

/* NULL: see *err. *status (or NULL): DAE_OK, or DAE_CANCELLED: it holds what was finished. */
DAE_API dae_scale *dae_scale_run(const dae_scale_options *opt, dae_status *status, dae_error *err);
DAE_API void dae_scale_destroy(dae_scale *s);                                  /* NULL allowed */
DAE_API const dae_scale_line *dae_scale_lines(const dae_scale *s, int *count); /* live as long as it */
/* As text: seconds by size, exponents, what failed. */
DAE_API dae_status dae_scale_text(const dae_scale *s, const char *problem, dae_write_fn *write, void *user);
/* dae_growth_plot of its lines; title may be NULL. */
DAE_API dae_status dae_scale_plot(const dae_scale *s, const char *problem, const char *title,
                                  const char *terminal, dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
