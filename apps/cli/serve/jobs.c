/* The queue and the processes of the runs.
 *
 * Two lanes: a run starts in the fast one, where at most `jobs` runs are; after FAST seconds it goes to the slow one at the
 * lowest priority, where also `jobs` run at a time and the others are stopped, in turns of SLICE seconds. So short runs
 * never wait for long ones. Who is started next: of the clients that wait, the one with the fewest runs going on; among
 * equals not the one that was served last. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAST 0.5  /* s; ours, as the next ones */
#define SLICE 0.5 /* s */
#define MOST_QUEUED 2000
#define MOST_ACTIVE 64         /* processes, stopped ones too */
#define MOST_BYTES (64u << 20) /* of texts that wait */
#define MOST_SAID (16u << 20)  /* of standard error that is kept */

const char *job_state_word(job_state s)
{
    static const char *const word[] = {"queued", "running", "done", "failed", "cancelled"};
    return word[s];
}

job *jobs_find(const server *s, const char *id)
{
    for (job *j = s->jobs; j; j = j->next) {
        if (!strcmp(j->id, id)) return j;
    }
    return NULL;
}

void jobs_free(job *j)
{
    if (!j) return;
    for (int i = 0; j->argv && i < j->argc; i++) free(j->argv[i]);
    free(j->argv);
    free(j->text);
    free(j->said);
    free(j);
}

static int count_state(const server *s, job_state state)
{
    int n = 0;
    for (const job *j = s->jobs; j; j = j->next) n += j->state == state;
    return n;
}

int jobs_active(const server *s)
{
    return count_state(s, JOB_QUEUED) + count_state(s, JOB_RUNNING);
}

int jobs_position(const server *s, const job *wanted)
{
    int n = 0;
    for (const job *j = s->jobs; j; j = j->next) {
        if (j->state == JOB_QUEUED && j->queued <= wanted->queued) n++;
    }
    return wanted->state == JOB_QUEUED ? n : 0;
}

int jobs_add(server *s, job *j)
{
    unsigned char random[ID_LENGTH / 2];
    if (s->draining || count_state(s, JOB_QUEUED) >= MOST_QUEUED ||
        s->queued_bytes + j->text_length > MOST_BYTES)
        return 503;
    if (getrandom(random, sizeof random, 0) != sizeof random) return 503;
    for (int i = 0; i < ID_LENGTH / 2; i++) snprintf(j->id + 2 * i, 3, "%02x", random[i]);
    j->state = JOB_QUEUED;
    j->queued = server_now();
    j->errors = -1;
    s->queued_bytes += j->text_length;
    job **end = &s->jobs;
    while (*end) end = &(*end)->next;
    *end = j;
    return 0;
}

static int running_of(const server *s, const char *client)
{
    int n = 0;
    for (const job *j = s->jobs; j; j = j->next) n += j->state == JOB_RUNNING && !strcmp(j->client, client);
    return n;
}

static job *choose(const server *s)
{
    job *best = NULL;
    int fewest = 0;
    for (job *j = s->jobs; j; j = j->next) {
        if (j->state != JOB_QUEUED) continue;
        int n = 2 * running_of(s, j->client) + !strcmp(j->client, s->last_client);
        if (!best || n < fewest) best = j, fewest = n;
    }
    return best;
}

static void finish(server *s, job *j, job_state state, const char *why)
{
    if (j->state == JOB_QUEUED) s->queued_bytes -= j->text_length;
    j->state = state;
    if (why) snprintf(j->message, sizeof j->message, "%s", why);
    if (j->errors >= 0) close(j->errors);
    j->errors = -1;
    j->pid = 0;
    if (store_finish(s, j) && state == JOB_DONE) {
        j->state = JOB_FAILED;
        snprintf(j->message, sizeof j->message, "the result could not be stored: %s", strerror(errno));
    }
    j->event++;
    http_wake(j);
}

static void start(server *s, job *j)
{
    s->queued_bytes -= j->text_length;
    j->started = j->slice = server_now();
    j->state = JOB_RUNNING;
    snprintf(s->last_client, sizeof s->last_client, "%s", j->client);
    j->pid = worker_start(s, j, &j->errors);
    free(j->text);
    j->text = NULL;
    if (j->pid < 0) {
        j->pid = 0;
        finish(s, j, JOB_FAILED, "no process could be started for the run");
        return;
    }
    j->event++;
    http_wake(j);
}

/* Keeps what was said; lines of progress are only remembered. */
static void keep(job *j, const char *text, size_t length)
{
    if (j->nsaid + length > MOST_SAID) return;
    char *more = realloc(j->said, j->nsaid + length + 1);
    if (!more) return;
    j->said = more;
    memcpy(j->said + j->nsaid, text, length);
    j->nsaid += length;
    for (size_t i = j->line; i < j->nsaid; i++) {
        if (j->said[i] != '\n') continue;
        size_t n = i + 1 - j->line;
        if (j->said[j->line] == '{' && n <= sizeof j->progress) {
            memcpy(j->progress, j->said + j->line, n - 1);
            j->progress[n - 1] = 0;
            memmove(j->said + j->line, j->said + i + 1, j->nsaid - i - 1);
            j->nsaid -= n;
            i = j->line - 1;
            j->event++;
        } else {
            j->line = i + 1;
        }
    }
}

void jobs_read(server *s)
{
    char text[16384];
    for (job *j = s->jobs; j; j = j->next) {
        if (j->state != JOB_RUNNING || j->errors < 0) continue;
        long before = j->event;
        ssize_t n;
        for (int k = 0; k < 64 && (n = read(j->errors, text, sizeof text)) > 0; k++) keep(j, text, (size_t)n);
        if (j->event != before) http_wake(j);
    }
}

int jobs_poll(const server *s, struct pollfd *list, int most)
{
    int n = 0;
    for (const job *j = s->jobs; j && n < most; j = j->next) {
        if (j->state == JOB_RUNNING && j->errors >= 0)
            list[n++] = (struct pollfd){.fd = j->errors, .events = POLLIN};
    }
    return n;
}

/* Why a process ended, in words. */
static void explain(server *s, job *j, int status)
{
    char why[300] = "";
    if (WIFEXITED(status)) {
        j->exit_status = WEXITSTATUS(status);
        if (j->exit_status == 71) snprintf(why, sizeof why, "the run could not be confined");
        if (j->code && j->exit_status == CODE_NOT_COMPILED)
            snprintf(why, sizeof why, "%s could not be compiled; the log has what the compiler says",
                     j->name);
        if (j->code && j->exit_status == CODE_TOO_LONG)
            snprintf(why, sizeof why, "stopped: it took far longer than the %ld seconds that a run may have",
                     s->o->max_seconds);
        if (j->study && j->exit_status == EXIT_INTERRUPTED)
            snprintf(
                why, sizeof why,
                "stopped: it needed more than the %ld seconds of processor time that a run may have; what "
                "was finished is kept",
                s->o->max_seconds);
        finish(s, j, why[0] ? JOB_FAILED : JOB_DONE, why[0] ? why : NULL);
        return;
    }
    int number = WTERMSIG(status);
    j->exit_status = 128 + number;
    if (number == SIGXCPU)
        snprintf(why, sizeof why,
                 "stopped: it needed more than the %ld seconds of processor time that a run may have",
                 s->o->max_seconds);
    else if (number == SIGSYS)
        snprintf(why, sizeof why, "stopped: it wanted something of the system that a run may not have");
    else if (number == SIGKILL) snprintf(why, sizeof why, "killed from outside, or for want of memory");
    else
        snprintf(why, sizeof why, "the program crashed (%s); memory was limited to %ld MiB",
                 strsignal(number), s->o->max_memory);
    finish(s, j, JOB_FAILED, why);
}

static void reap(server *s)
{
    for (job *j = s->jobs; j; j = j->next) {
        int status;
        if (j->state != JOB_RUNNING || j->pid <= 0 || waitpid(j->pid, &status, WNOHANG) != j->pid) continue;
        jobs_read(s);
        explain(s, j, status);
    }
}

void jobs_cancel(server *s, job *j)
{
    if (j->state == JOB_RUNNING) {
        kill(-j->pid, SIGKILL);
        waitpid(j->pid, NULL, 0);
    }
    if (j->state == JOB_QUEUED || j->state == JOB_RUNNING) finish(s, j, JOB_CANCELLED, "cancelled");
}

/* Moves runs to the slow lane and gives those there their turns. */
static void slices(server *s, double now)
{
    int going = 0;
    for (job *j = s->jobs; j; j = j->next) {
        if (j->state != JOB_RUNNING) continue;
        if (!j->slow && now - j->started > FAST) {
            j->slow = 1;
            setpriority(PRIO_PGRP, (id_t)j->pid, 19);
            j->slice = now;
        }
        if (j->slow && !j->stopped) going++;
    }
    for (job *j = s->jobs; j; j = j->next) { /* turns that are over, where somebody waits */
        if (j->state != JOB_RUNNING || !j->slow || j->stopped) continue;
        if (going > s->o->jobs || now - j->slice > SLICE) {
            int waiting = 0;
            for (const job *k = s->jobs; k; k = k->next) waiting |= k->state == JOB_RUNNING && k->stopped;
            if (going <= s->o->jobs && !waiting) continue;
            kill(-j->pid, SIGSTOP);
            j->stopped = 1;
            j->slice = now;
            going--;
        }
    }
    while (going < s->o->jobs) {
        job *next = NULL;
        for (job *j = s->jobs; j; j = j->next) {
            if (j->state == JOB_RUNNING && j->stopped && (!next || j->slice < next->slice)) next = j;
        }
        if (!next) break;
        kill(-next->pid, SIGCONT);
        next->stopped = 0;
        next->slice = now;
        going++;
    }
}

/* Ended jobs leave memory when nobody listens: their results are in the store. */
static void forget(server *s)
{
    for (job **at = &s->jobs; *at;) {
        job *j = *at;
        if (j->state < JOB_DONE || j->listeners) {
            at = &j->next;
            continue;
        }
        *at = j->next;
        jobs_free(j);
    }
}

void jobs_tend(server *s)
{
    double now = server_now();
    reap(s);
    slices(s, now);
    int fast = 0, active = 0;
    for (const job *j = s->jobs; j; j = j->next) {
        if (j->state != JOB_RUNNING) continue;
        active++;
        fast += !j->slow;
    }
    while (fast < s->o->jobs && active < MOST_ACTIVE) {
        job *j = choose(s);
        if (!j) break;
        start(s, j);
        fast++;
        active++;
    }
    forget(s);
}

char *job_state_json(const server *s, const job *j)
{
    json_t *o = json_object(), *progress = j->progress[0] ? json_loads(j->progress, 0, NULL) : NULL;
    json_object_set_new(o, "id", json_string(j->id));
    json_object_set_new(o, "state", json_string(job_state_word(j->state)));
    json_object_set_new(o, "position", json_integer(jobs_position(s, j)));
    json_object_set_new(o, "progress", progress ? progress : json_null());
    json_object_set_new(o, "message", json_string(j->message));
    json_object_set_new(o, "seconds", j->started > 0 ? json_real(server_now() - j->started) : json_null());
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    return text;
}
