/* Report pages: HTML that needs nothing but itself, made of results that are stored. Who calls it draws the pictures and keeps the
 * files. */
#ifndef DAEDALUS_REPORT_H
#define DAEDALUS_REPORT_H

#include <daedalus/results.h>
#include <daedalus/workprec.h>

DAE_BEGIN_DECLS

/* A gnuplot script of what is to be drawn; terminal: "svg", "png", "pdf". */
typedef dae_status dae_script_fn(const void *what, const char *terminal, dae_write_fn *write, void *user);

/* What the page of a problem or model is made of. Zero means "not given". */
typedef struct dae_report {
    const char *name; /* of the page, which is NAME.html */
    const dae_problem *problem;
    const char *run;     /* as dae_run_json writes it */
    const char *layout;  /* as dae_run_report writes it */
    const char *model;   /* text of the model file */
    const double *t, *y; /* trajectory: npoint, and n each */
    int npoint;
    const double *s; /* derivatives as in dae_run_result.point_s, of the names that run tells; NULL: none */
    const dae_measurement *m; /* of a work-precision study, by solver */
    int count, mescd, most_lines;
    const char *settings;      /* as in dae_workprec_options */
    const dae_result_row *row; /* run characteristics beside those printed */
    int nrow;
    const struct dae_method *const *own;
    /* Hands the script, drawn as SVG, to write(.., to); what: "solution.svg", "energy.svg", ...; < 0 ends the page. */
    dae_status (*draw)(const char *what, dae_script_fn *script, const void *data, dae_write_fn *write,
                       void *to, void *user);
    void *user;
} dae_report;

/* The page. failed: how many runs on it have failed, or NULL. */
DAE_API dae_status dae_report_page(const dae_report *r, dae_write_fn *write, void *user, int *failed);
/* What is kept beside a page as JSON: name, version, hash of a model, run, layout, and with failed >= 0 what the index shows. */
DAE_API dae_status dae_report_about(const dae_report *r, int failed, dae_write_fn *write, void *user);
/* What stands in such a text: the run as dae_run_json writes it and its layout (NULL: none), to be freed. 0: there is none, or with `any` 0
 * it is of another version of the library or of another text of the model. damaged (or NULL): 1: it cannot be read. */
DAE_API int dae_report_kept(const char *about, size_t length, const dae_problem *p, int any, char **run,
                            char **layout, int *damaged);
/* What `report --json` tells of a page: name, where it is, its run. One line. */
DAE_API dae_status dae_report_json(const dae_report *r, const char *page, dae_write_fn *write, void *user);
/* The index of all pages that these are about; those whose page was not finished are left out. */
DAE_API dae_status dae_report_index(const char *const *about, int count, dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
