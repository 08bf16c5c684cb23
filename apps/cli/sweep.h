/* What the files of `daedalus sweep` share: the job, the runs that are still to do, and the logs. */
#ifndef DAEDALUS_CLI_SWEEP_H
#define DAEDALUS_CLI_SWEEP_H

#include "cli.h"

typedef struct sweep_job {
    cli_args *args;
    char folder[1000];
    const char *file;     /* --out FILE.h5 or FILE.csv: the results, also there; NULL: a folder was given */
    char *settings;       /* all that decides the numbers, as in DIR/sweep.json */
    char *model;          /* text of the model file; NULL: a problem of the test set */
    dae_problem *problem; /* with its parameters */
    long seed;
    dae_design *design;
    dae_sweep *sweep;
    long shard, nshard;   /* this process does runs k with k % nshard == shard */
    dae_sweep_logs *logs; /* what is finished, what is to do */
    long before;          /* finished when it began */
    int jobs, quiet;
} sweep_job;

/* Appends the line of a run to a log. */
int cli_sweep_append(sweep_job *s, cli_records *log, const char *line, size_t length);
int cli_sweep_open_log(sweep_job *s, const char *name, cli_records *log); /* DIR/log.NAME; 0 or EXIT_USAGE */
/* Reads all logs; counts, and lists what is pending. */
int cli_sweep_read_logs(sweep_job *s);
void cli_sweep_progress(const sweep_job *s, long done, long failed, double seconds, int last);
double cli_sweep_clock(void);

/* Under mpirun: sweep_hand_over.c in the program daedalus, which becomes daedalus-mpi; mpi/sweep_mpi.c in that. */
typedef enum sweep_role { SWEEP_LOCAL, SWEEP_MANAGER, SWEEP_WORKER } sweep_role;
int cli_sweep_enter(cli_args *args, sweep_role *role); /* 0 or an exit status after a message */
int cli_sweep_agree(sweep_job *s, int status); /* the manager's, or EXIT_USAGE if another is not ready */
int cli_sweep_manage(sweep_job *s);            /* as cli_sweep_local */
int cli_sweep_serve(sweep_job *s);             /* a worker: until the manager leaves */
void cli_sweep_leave(void);

/* sweep_local.c: the pending runs on the cores of this machine; 0, EXIT_USAGE, EXIT_INTERRUPTED. */
int cli_sweep_local(sweep_job *s);

#endif
