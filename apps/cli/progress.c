/* The progress line: on a terminal, after a third of a second, at most ten times a second. */
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double delay = 0.33, interval = 0.1; /* seconds; ours */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress_start(cli_progress *p, const char *mode, double t0)
{
    *p = (cli_progress){.begin = now(), .t0 = t0};
    p->json = !strcmp(mode, "json");
    p->enabled = p->json || (strcmp(mode, "none") != 0 && isatty(STDERR_FILENO));
    p->last = p->begin + delay - interval;
}

static void draw(const dae_stats *s, double t, double t_end, double part, double eta)
{
    char bar[11] = "..........";
    for (int i = 0; i < (int)(10 * part) && i < 10; i++) bar[i] = '#';
    fprintf(stderr, "\rt %.4g/%.4g [%s] %3.0f%%  h %.1e  order %d  steps %ld (rej %ld)  ETA %.1f s\033[K", t,
            t_end, bar, 100 * part, fabs(s->h_last), s->order_last, s->steps, s->steps - s->accepted, eta);
}

int cli_progress_step(const dae_integrator *it, double t, double t_end, void *progress)
{
    cli_progress *p = progress;
    double time = now();
    if (time - p->last < interval) return 0;
    const dae_stats *s = dae_integrator_stats(it);
    double part = t_end != p->t0 ? (t - p->t0) / (t_end - p->t0) : 0;
    if (!(part >= 0)) part = 0;
    if (part > 1) part = 1;
    double eta = part > 0 ? (time - p->begin) * (1 - part) / part : INFINITY;
    if (p->json) {
        fprintf(stderr,
                "{\"t\":%.17g,\"t1\":%.17g,\"h\":%.6g,\"order\":%d,\"steps\":%ld,\"rejected\":%ld,\"eta\":%."
                "3g}\n",
                t, t_end, s->h_last, s->order_last, s->steps, s->steps - s->accepted,
                isfinite(eta) ? eta : 0);
    } else {
        draw(s, t, t_end, part, eta);
    }
    fflush(stderr);
    p->last = time;
    p->shown = 1;
    return 0;
}

void cli_progress_search(int k, double off, void *progress)
{
    cli_progress *p = progress;
    double time = now();
    if (!p->enabled || time - p->last < interval) return;
    if (p->json) fprintf(stderr, "{\"steps\":%d,\"off\":%.6g}\n", k, off);
    else fprintf(stderr, "\requilibrium: step %d, forces out of balance by %.1e of their size\033[K", k, off);
    fflush(stderr);
    p->last = time;
    p->shown = 1;
}

const char *cli_progress_mode(const cli_args *args)
{
    const char *mode = cli_value(args, "progress");
    if (!mode) mode = "auto";
    if (strcmp(mode, "auto") != 0 && strcmp(mode, "json") != 0 && strcmp(mode, "none") != 0) {
        cli_wrong(args, "--progress %s: expected auto, json or none", mode);
        return NULL;
    }
    return cli_has(args, "quiet") ? "none" : mode;
}

void cli_progress_runs(const cli_args *args, long done, long of, long failed, const char *at)
{
    static double last;
    const char *mode = cli_value(args, "progress");
    double time = now();
    if (!mode || strcmp(mode, "json") != 0 || (done < of && time - last < interval)) return;
    last = time;
    json_t *o = json_pack("{s:I, s:I, s:I, s:s}", "done", (json_int_t)done, "of", (json_int_t)of, "failed",
                          (json_int_t)failed, "at", at);
    if (o && json_dumpf(o, stderr, JSON_COMPACT) == 0) fputc('\n', stderr);
    fflush(stderr);
    json_decref(o);
}

void cli_progress_end(cli_progress *p)
{
    if (p->shown && !p->json) fputs("\r\033[K", stderr);
    p->shown = 0;
}
