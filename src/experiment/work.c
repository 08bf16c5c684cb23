/* T(t) - T(t0) - W(t), T the kinetic energy and W the work of everything: dW = P dt over every piece of the dense output by
 * Gauss's five points, exact for polynomials of degree 9 as the solution is one; a jump of T at an event is the work of an
 * impact. The work of what has no potential V is W + V(t) - V(t0): V itself needs not be smooth where its force has ended.
 *
 * What the tolerances explain: every step may be off by tol in each component, relative and absolute, which changes the
 * energy by about tol times the largest energy that took part; steps add. */
#include "experiment/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_START, AT_JUMP, INSIDE, AT_END };
enum { ROOM = 64 * DAE_WORK_POINTS };
#define MARGIN 50 /* steps that a short run may count besides its own; ours */

/* [AS] table 25.4 */
static const double node[] = {0.04691007703066800, 0.23076534494715845, 0.5, 0.76923465505284155,
                              0.95308992296933200};
static const double weight[] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                0.23931433524968324, 0.11846344252809454};

int dae_work_begin(dae_energy_sum *w, const dae_problem *p, int n)
{
    *w = (dae_energy_sum){.p = p, .n = n};
    w->t = calloc(ROOM, sizeof *w->t);
    w->weight = calloc(ROOM, sizeof *w->weight);
    w->y = calloc((size_t)ROOM * (size_t)n, sizeof *w->y);
    w->at = calloc(ROOM, sizeof *w->at);
    w->kind = calloc(ROOM, 1);
    w->worst_t = calloc(DAE_WORK_POINTS, sizeof *w->worst_t);
    w->worst = calloc(DAE_WORK_POINTS * (size_t)n, sizeof *w->worst);
    if (w->worst_t && w->worst && w->t && w->weight && w->y && w->at && w->kind) return 0;
    dae_work_end(w);
    return 1;
}

void dae_work_end(dae_energy_sum *w)
{
    free(w->t);
    free(w->weight);
    free(w->y);
    free(w->at);
    free(w->kind);
    free(w->worst_t);
    free(w->worst);
    *w = (dae_energy_sum){0};
}

static void take(dae_energy_sum *w, int i)
{
    dae_balance *b = &w->balance;
    double T = w->at[i].kinetic, V = w->at[i].potential;
    if (!w->begun) {
        b->start = T + V;
        w->kinetic = w->last = T;
        w->potential = V;
        w->begun = 1;
    }
    b->scale = fmax(b->scale, fmax(w->at[i].kinetic, fabs(V - w->potential)));
    if (w->kind[i] == AT_JUMP) w->total += T - w->last;
    if (w->kind[i] == INSIDE) w->total += w->weight[i] * w->at[i].total;
    if (w->kind[i] != AT_END) return;
    double off = T - w->kinetic - w->total, grown = fabs(off - w->off);
    b->end = T + V;
    b->work = w->total + V - w->potential;
    w->last = T;
    b->scale = fmax(b->scale, fabs(b->work));
    b->largest = fmax(b->largest, fabs(off));
    if (grown > w->growth) {
        int first = i - (DAE_WORK_POINTS - 1);
        w->growth = grown;
        b->t = w->t[i];
        memcpy(w->worst_t, w->t + first, DAE_WORK_POINTS * sizeof *w->worst_t);
        memcpy(w->worst, w->y + (size_t)first * (size_t)w->n,
               DAE_WORK_POINTS * (size_t)w->n * sizeof *w->worst);
    }
    w->off = off;
}

static void flush(dae_energy_sum *w)
{
    if (w->rows && !w->failed) {
        int r = w->p->derived.energy(w->p, w->rows, w->t, w->y, w->at);
        w->failed = r < 0;
        w->out_of_memory = r == DAE_ERR_MEMORY;
    }
    for (int i = 0; i < w->rows && !w->failed; i++) take(w, i);
    w->rows = 0;
}

double *dae_work_point(dae_energy_sum *w, double from, double to, int k, long events, double *t)
{
    if (w->rows + DAE_WORK_POINTS > ROOM && k == 0) flush(w);
    int i = w->rows++, last = DAE_WORK_POINTS - 1;
    w->kind[i] = k == 0 ? (events != w->events ? AT_JUMP : AT_START) : k == last ? AT_END : INSIDE;
    w->events = events;
    if (k > 0 && k < last) w->weight[i] = weight[k - 1] * (to - from);
    *t = w->t[i] = k == 0 ? from : k == last ? to : from + (to - from) * node[k - 1];
    return w->y + (size_t)i * (size_t)w->n;
}

const dae_balance *dae_work_balance(dae_energy_sum *w, long steps, double tol)
{
    flush(w);
    if (!w->begun || w->failed) return NULL;
    w->balance.allowed = (double)(MARGIN + steps) * tol * w->balance.scale;
    dae_balance *b = &w->balance;
    b->element[0] = 0;
    if (b->largest > b->allowed && w->growth > 0 && w->p->derived.blame &&
        w->p->derived.blame(w->p, DAE_WORK_POINTS, w->worst_t, w->worst, b->element, sizeof b->element) < 0)
        b->element[0] = 0;
    return &w->balance;
}
