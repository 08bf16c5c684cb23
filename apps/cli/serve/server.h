/* The server: one thread, one loop. It answers HTTP (http.c), reads requests (request.c), keeps a queue of jobs and the
 * processes that do them (jobs.c, worker.c), and the results on disk (store.c). */
#ifndef DAEDALUS_SERVE_SERVER_H
#define DAEDALUS_SERVE_SERVER_H

#include "serve.h"

#include <linux/filter.h>
#include <microhttpd.h>
#include <poll.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define NOBODY 65534
#define LARGEST_FILE (64l << 20)
#define ID_LENGTH 32 /* hexadecimal digits of a job's number: 128 random bits, so that it cannot be guessed */

typedef enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } job_state;

typedef struct job job;
typedef struct listener listener;

struct job {
    char id[ID_LENGTH + 1];
    job_state state;
    char client[64]; /* address, for the fair share */
    char **argv;     /* of the program, ended by NULL; owned */
    int argc;
    char *text, name[128]; /* the model and its file name, or NULL */
    size_t text_length;
    int code;                      /* the text is C or Fortran: compiled and run inside bubblewrap */
    int report;                    /* a page with pictures: other programs draw them, inside bubblewrap */
    int study;                     /* many runs: those that ended are kept when the time is over */
    int lines;                     /* the program prints one line of JSON per run */
    int csv, scene, log;           /* what the answer shall have besides the JSON */
    const char *h5;                /* the file of it that holds HDF5, or NULL */
    pid_t pid;                     /* while it runs */
    int errors;                    /* its standard error */
    int slow, stopped;             /* 1: no longer in the fast lane; 1: waits for its slice */
    double queued, started, slice; /* times of the monotonic clock */
    char *said;                    /* its standard error, bounded */
    size_t nsaid, line;            /* length; where the last line begins */
    char progress[256];            /* the newest line of progress, or "" */
    long event;                    /* counts changes, for listeners */
    int exit_status;
    char message[400]; /* why it failed */
    listener *listeners;
    job *next;
};

typedef struct site_file {
    char name[64];
    const char *type;
    char *data;
    size_t length;
} site_file;

#define SITE_FILES 32
#define BUCKETS 4096

typedef struct server {
    const serve_options *o;
    struct MHD_Daemon *daemon;
    char store[4096]; /* folder of results; running jobs have folders below jobs/ */
    char token[80];   /* "": none */
    int loopback;
    int port;
    site_file file[SITE_FILES];
    int nfile;
    job *jobs;
    size_t queued_bytes;
    int draining;
    char last_client[64]; /* whom the last job was started for */
    struct {
        double tokens, time;
    } bucket[BUCKETS]; /* rate of an address, by a hash of it */
    struct sock_fprog *filter;
    int hdf5, reports; /* 1: such results can be had here */
} server;

double server_now(void);

/* request.c: the body of POST runs. 0, or an HTTP status with a message. */
int request_read(const server *s, const char *body, size_t length, job *j, char *message, size_t size);

/* jobs.c */
job *jobs_find(const server *s, const char *id);
int jobs_add(server *s, job *j); /* 0, or an HTTP status: too many */
void jobs_cancel(server *s, job *j);
void jobs_free(job *j);
int jobs_position(const server *s, const job *j); /* in the queue, from 1; 0: not in it */
int jobs_active(const server *s);                 /* queued or running */
void jobs_tend(server *s);                        /* starts, ends, gives slices; called often */
int jobs_poll(const server *s, struct pollfd *list, int most);
void jobs_read(server *s); /* what running jobs have said */
const char *job_state_word(job_state s);
char *job_state_json(const server *s, const job *j); /* to be freed */

/* worker.c */
int worker_prepare(server *s, char *message, size_t size); /* tries the jail once */
pid_t worker_start(const server *s, job *j, int *errors);

void worker_limit(unsigned what, rlim_t value);
int worker_become_nobody(void); /* where this process is root; 0: done */

/* filter.c: the filter of system calls for a process that goes on as it is, and as a file for one that starts a program */
struct sock_fprog *filter_program(void); /* to be freed, or NULL */
int filter_file(int starts_program);     /* -1: failed */

/* code.c: goes on as the keeper of an uploaded program; standard files and folder are set */
void code_run(const server *s, const job *j) __attribute__((noreturn));
/* The same for a report: the program with gnuplot; its page comes out. */
void code_report(const server *s, const job *j) __attribute__((noreturn));
#define CODE_CSV "/dev/fd/5" /* where the program is to write its table: the keeper reads it */
enum { CODE_NOT_COMPILED = 72, CODE_TOO_LONG = 75 }; /* its exit status besides that of the program */

/* store.c */
int store_open(server *s, char *message, size_t size);
int store_job_folder(const server *s, const job *j, char *path, size_t size);
void store_remove_folder(const char *path);
int store_finish(server *s, job *j);                               /* writes the result of an ended job */
char *store_read(const server *s, const char *id, size_t *length); /* to be freed, or NULL */
int store_part(const server *s, const char *id, const char *ending,
               size_t *length); /* a file to read, or -1 */
char *store_file(const char *folder, const char *name, size_t most, size_t *length);

/* http.c */
int http_start(server *s, char *message, size_t size);
void http_wake(job *j); /* tells its listeners that something changed */
void http_beat(job *j); /* tells those that have heard nothing for long that the server is alive */

#endif
