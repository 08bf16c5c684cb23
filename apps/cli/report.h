/* Report pages: what is stored of a problem, and the page that is made of it. */
#ifndef DAEDALUS_CLI_REPORT_H
#define DAEDALUS_CLI_REPORT_H

#include "workprec.h"

#include <jansson.h>

typedef struct cli_page {
    cli_args *args;
    const char *folder; /* pages; what they are made of is in folder/data */
    char name[64];      /* of the problem or model */
    cli_study study;    /* with the problem; its measurements may be none */
    json_t *about; /* version, hash of a model, the run as `run --json` writes it, figures for the index */
    json_t *model; /* the model file, or NULL */
    char *report;  /* the run in the layout of the test set */
    double *t, *y; /* trajectory: npoint, and n each */
    int npoint;
    dae_result_row *row; /* run characteristics beside those printed */
    int nrow;
} cli_page;

/* folder/data/NAME.ending */
void cli_page_path(const cli_page *p, const char *ending, char *path, size_t size);
/* Pictures and the page folder/NAME.html; 0 or EXIT_USAGE after a message. */
int cli_page_write(cli_page *p);
/* folder/index.html, of all pages that data knows. */
int cli_page_index(const cli_args *args, const char *folder);

#endif
