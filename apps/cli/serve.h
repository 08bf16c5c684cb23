/* daedalus serve: what the command (cmd_serve.c) hands to the server (serve/). */
#ifndef DAEDALUS_CLI_SERVE_H
#define DAEDALUS_CLI_SERVE_H

#include "cli.h"

typedef struct serve_options {
    const char *host, *token, *site, *store; /* site: folder of the page, NULL: found; store: of results */
    long port, jobs, max_seconds, max_memory, store_size; /* s, MiB, MiB */
    long max_body, rate;                                  /* bytes; requests per second of one address */
    long drain;                                           /* s that SIGTERM waits for runs */
    int allow_code;                                       /* C and Fortran may be uploaded */
} serve_options;

/* The server, in the program daedalus-serve; daedalus itself starts that one. */
int cli_serve(cli_args *args, const serve_options *o);

#endif
