/* daedalus serve: the loop. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_POLLED 80
#define TURN 25 /* ms between looks at the processes while there are any */

static volatile sig_atomic_t ending; /* how often we were asked to end */
static int wake[2] = {-1, -1};       /* signals write here, so that the loop looks */

double server_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_signal(int number)
{
    int kept = errno;
    if (number != SIGCHLD) ending++;
    if (write(wake[1], "", 1) < 0) errno = kept;
    errno = kept;
}

static int catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal};
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    sigemptyset(&a.sa_mask);
    signal(SIGPIPE, SIG_IGN);
    return sigaction(SIGTERM, &a, NULL) || sigaction(SIGINT, &a, NULL) || sigaction(SIGCHLD, &a, NULL);
}

static void turn(server *s)
{
    struct pollfd list[MOST_POLLED];
    char noise[64];
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    MHD_UNSIGNED_LONG_LONG wanted;
    int wait = jobs_active(s) ? TURN : 1000;
    if (MHD_get_timeout(s->daemon, &wanted) == MHD_YES && wanted < (unsigned)wait) wait = (int)wanted;
    list[0] = (struct pollfd){.fd = info ? info->epoll_fd : -1, .events = POLLIN};
    list[1] = (struct pollfd){.fd = wake[0], .events = POLLIN};
    int n = 2 + jobs_poll(s, list + 2, MOST_POLLED - 2);
    if (poll(list, (nfds_t)n, wait) < 0 && errno != EINTR) return;
    while (read(wake[0], noise, sizeof noise) > 0) continue;
    jobs_read(s);
    jobs_tend(s);
    MHD_run(s->daemon);
    for (job *j = s->jobs; j; j = j->next) { /* silent streams are told that they are alive */
        if (j->listeners) http_beat(j);
    }
}

/* No new runs; those that are there may end. */
static void drain(server *s)
{
    double until = server_now() + (double)s->o->drain;
    s->draining = 1;
    if (jobs_active(s))
        fprintf(stderr, "daedalus serve: %d runs are going on; waiting at most %ld s\n", jobs_active(s),
                s->o->drain);
    while (jobs_active(s) && server_now() < until && ending < 2) turn(s);
    for (job *j = s->jobs; j; j = j->next) jobs_cancel(s, j);
    for (int i = 0; i < 20; i++) { /* streams get their last event */
        jobs_tend(s);
        MHD_run(s->daemon);
    }
}

static void announce(const server *s)
{
    int six = strchr(s->o->host, ':') != NULL;
    printf("daedalus %s serves http://%s%s%s:%d/\n", dae_version(), six ? "[" : "", s->o->host,
           six ? "]" : "", s->port);
    printf("  runs      %ld at a time, %ld s and %ld MiB each, each in a process without network and files\n",
           s->o->jobs, s->o->max_seconds, s->o->max_memory);
    printf("  results   %s, at most %ld MiB\n", s->store, s->o->store_size);
    if (s->token[0] && !s->o->token) printf("  token     %s\n", s->token);
    if (!s->nfile)
        printf("  the page is missing: `make web` makes it, --site names its folder; the API works\n");
    fflush(stdout);
}

int cli_serve(cli_args *args, const serve_options *given)
{
    serve_options o = *given;
    server *s = calloc(1, sizeof *s);
    char message[400] = "out of memory";
    int status = EXIT_DONE;
    if (!s) return cli_wrong(args, "%s", message);
    if (!o.jobs) o.jobs = sysconf(_SC_NPROCESSORS_ONLN) > 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 2;
    s->o = &o;
    if (store_open(s, message, sizeof message) || worker_prepare(s, message, sizeof message) ||
        catch_signals() || http_start(s, message, sizeof message)) {
        status = cli_wrong(args, "%s", message);
    } else {
        announce(s);
        while (!ending) turn(s);
        drain(s);
        MHD_stop_daemon(s->daemon);
        fprintf(stderr, "daedalus serve: ended\n");
    }
    for (int i = 0; i < s->nfile; i++) free(s->file[i].data);
    while (s->jobs) {
        job *j = s->jobs;
        s->jobs = j->next;
        jobs_free(j);
    }
    free(s->filter);
    free(s);
    return status;
}
