/* The runs of a sweep on the processes of mpirun: process 0 hands out numbers of runs and writes the log, all others
 * compute and send the line of each run as soon as it is finished. A process has a few hundredths of a second of work
 * in hand, so that it never waits; towards the end the shares become smaller. If a process dies, mpirun ends all, and
 * --resume goes on. */
#include "../sweep.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_RUNS = 1, TAG_LINE = 2, most_in_hand = 256 };
static const double in_hand_seconds = 0.02;                 /* of work that a process has at least; ours */
static const long pause_least = 50000, pause_most = 500000; /* ns between looks for messages; ours */

typedef struct helper {
    int outstanding; /* runs handed out and not answered */
    double seconds;  /* of a run, on the average */
    double last;     /* when the last line came */
} helper;

static int rank, ranks, serving; /* serving: the others wait for work */

static void rest(long *pause)
{
    nanosleep(&(struct timespec){.tv_nsec = *pause}, NULL);
    *pause = 2 * *pause < pause_most ? 2 * *pause : pause_most;
}

int cli_sweep_enter(cli_args *args, sweep_role *role)
{
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return cli_wrong(args, "MPI did not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *role = ranks < 2 ? SWEEP_LOCAL : rank == 0 ? SWEEP_MANAGER : SWEEP_WORKER;
    if (*role == SWEEP_WORKER) { /* one of them tells what is wrong with the command */
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return EXIT_USAGE;
    }
    return 0;
}

int cli_sweep_agree(sweep_job *s, int status)
{
    int mine[2] = {status, status ? rank : 0}, first = status, all[2];
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    serving = !first && !all[0];
    if (first || serving) return first;
    if (rank == 0)
        cli_wrong(s->args, "process %d could not prepare the sweep; are all files there on its machine?",
                  all[1]);
    return EXIT_USAGE;
}

/* Tells all to stop, and takes what they still send: an interrupted sweep leaves lines behind. Their last is empty. */
static void dismiss(void)
{
    for (int r = 1; r < ranks; r++) MPI_Send(NULL, 0, MPI_LONG, r, TAG_RUNS, MPI_COMM_WORLD);
    for (int left = ranks - 1; left > 0;) {
        MPI_Status what;
        int length;
        MPI_Probe(MPI_ANY_SOURCE, TAG_LINE, MPI_COMM_WORLD, &what);
        MPI_Get_count(&what, MPI_CHAR, &length);
        char *line = malloc((size_t)length + 1);
        if (!line) MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE);
        MPI_Recv(line, length, MPI_CHAR, what.MPI_SOURCE, TAG_LINE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(line);
        left -= length == 0;
    }
}

void cli_sweep_leave(void)
{
    int started = 0;
    MPI_Initialized(&started);
    if (!started) return;
    if (rank == 0 && serving) dismiss();
    MPI_Finalize();
}

/* ---- A worker -------------------------------------------------------------------------------------- */

/* Takes what was sent, behind the n runs in hand; -1: there is nothing more to do. */
static int take_runs(long *run, int n)
{
    MPI_Status what;
    int count, there = 0;
    long pause = pause_least;
    for (;;) {
        MPI_Iprobe(0, TAG_RUNS, MPI_COMM_WORLD, &there, &what);
        if (there || n > 0) break;
        rest(&pause);
    }
    if (!there) return n;
    MPI_Get_count(&what, MPI_LONG, &count);
    MPI_Recv(run + n, count, MPI_LONG, 0, TAG_RUNS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return count ? n + count : -1;
}

int cli_sweep_serve(sweep_job *s)
{
    long run[2 * most_in_hand];
    cli_text line = {0};
    int n = 0, status = 0;
    while ((n = take_runs(run, n)) >= 0) {
        dae_status got;
        long k = run[0];
        memmove(run, run + 1, (size_t)--n * sizeof *run);
        line.length = 0;
        if (cli_interrupted()) continue; /* until the manager says so */
        if (dae_sweep_run(s->sweep, k, cli_running, cli_write_text, &line, &got) < 0) {
            status = EXIT_USAGE;
            break;
        }
        if (got != DAE_CANCELLED)
            MPI_Send(line.text, (int)line.length, MPI_CHAR, 0, TAG_LINE, MPI_COMM_WORLD);
    }
    free(line.text);
    if (status) MPI_Abort(MPI_COMM_WORLD, EXIT_USAGE); /* out of memory */
    MPI_Send(NULL, 0, MPI_CHAR, 0, TAG_LINE, MPI_COMM_WORLD);
    return status;
}

/* ---- The manager ----------------------------------------------------------------------------------- */

typedef struct manager {
    sweep_job *s;
    helper *helper; /* by rank */
    cli_records log;
    char *line; /* received */
    int room;
    long next, done, failed;
} manager;

/* How many runs a process should have in hand. */
static int share(const manager *m, const helper *h)
{
    double n = h->seconds > 0 ? 1 + in_hand_seconds / h->seconds : 2;
    double fair = 1 + (double)(m->s->logs->npending - m->next) / (2 * (ranks - 1));
    if (n > fair) n = fair;
    return n > most_in_hand ? most_in_hand : (int)n;
}

static void hand_out(manager *m, int r)
{
    helper *h = &m->helper[r];
    int want = share(m, h), n = 0;
    long run[most_in_hand];
    if (h->outstanding > want / 2) return;
    while (h->outstanding + n < want && m->next < m->s->logs->npending)
        run[n++] = m->s->logs->pending[m->next++];
    if (n == 0) return;
    if (h->outstanding == 0) h->last = cli_sweep_clock();
    MPI_Send(run, n, MPI_LONG, r, TAG_RUNS, MPI_COMM_WORLD);
    h->outstanding += n;
}

/* Records the line of a run that waits to be received. 0 or an exit status. */
static int take_line(manager *m, const MPI_Status *what)
{
    int length;
    MPI_Get_count(what, MPI_CHAR, &length);
    if (length >= m->room) {
        char *longer = realloc(m->line, (size_t)length + 1);
        if (!longer) return cli_wrong(m->s->args, "out of memory");
        m->line = longer;
        m->room = length + 1;
    }
    MPI_Recv(m->line, length, MPI_CHAR, what->MPI_SOURCE, TAG_LINE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    m->line[length] = 0;
    helper *h = &m->helper[what->MPI_SOURCE];
    double now = cli_sweep_clock(), seconds = now - h->last;
    h->seconds = h->seconds > 0 ? 0.8 * h->seconds + 0.2 * seconds : seconds;
    h->last = now;
    h->outstanding--;
    m->done++;
    m->failed += dae_sweep_has_failed(m->s->design, m->line);
    return cli_sweep_append(m->s, &m->log, m->line, (size_t)length);
}

static int outstanding(const manager *m)
{
    int n = 0;
    for (int r = 1; r < ranks; r++) n += m->helper[r].outstanding;
    return n;
}

static int watch(manager *m)
{
    double begin = cli_sweep_clock(), drawn = begin;
    long pause = pause_least;
    int status = 0;
    while (!status && !cli_interrupted() && (m->next < m->s->logs->npending || outstanding(m) > 0)) {
        int there;
        MPI_Status what;
        for (int r = 1; r < ranks; r++) hand_out(m, r);
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_LINE, MPI_COMM_WORLD, &there, &what);
        if (there) {
            pause = pause_least;
            status = take_line(m, &what);
        } else {
            rest(&pause);
        }
        if (!there || m->done % 256 == 0) {
            double now = cli_sweep_clock();
            if (now - drawn < 0.2) continue;
            cli_sweep_progress(m->s, m->done, m->s->logs->failed + m->failed, now - begin, 0);
            drawn = now;
        }
    }
    cli_sweep_progress(m->s, 0, 0, 0, 1);
    return status ? status : cli_interrupted() ? EXIT_INTERRUPTED : 0;
}

int cli_sweep_manage(sweep_job *s)
{
    if (ranks < 2) return cli_sweep_local(s);
    manager m = {.s = s, .log = {.fd = -1}, .helper = calloc((size_t)ranks, sizeof *m.helper)};
    char name[64] = "mpi";
    if (s->nshard > 1) snprintf(name, sizeof name, "s%ldof%ld.mpi", s->shard + 1, s->nshard);
    int status = m.helper ? cli_sweep_open_log(s, name, &m.log) : cli_wrong(s->args, "out of memory");
    if (!status) status = watch(&m);
    if (m.log.fd >= 0 && cli_records_close(s->args, &m.log) && !status) status = EXIT_USAGE;
    free(m.helper);
    free(m.line);
    return status;
}
