/* An analyzed model, see forms.h. */
#include "equations/forms.h"

#include "core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dae_equation_system_destroy(dae_equation_system *s)
{
    if (!s) return;
    dae_reduction_destroy(s->reduction);
    dae_smooth_destroy(s->smooth);
    dae_mechanical_destroy(s->mechanical);
    pthread_mutex_destroy(&s->lock);
    dae_arena_destroy(s->arena);
    free(s);
}

/* 1 if states can be chosen at the start; else a note says which equations depend on each other there. */
static int has_states(const dae_equation_system *s, dae_messages *messages)
{
    int bad = 0;
    dae_reduced *d = dae_reduced_create(s->reduction, s->parameter, s->discrete);
    int r = d ? dae_reduced_start(d, s->model->t0, s->initial.X, &bad) : -1;
    if (r < 0) dae_graph_starve(s->model->graph);
    if (r > 0) {
        char text[220];
        dae_reduced_dependent(d, bad, text, sizeof text);
        dae_messages_note(messages, s->analysis.place_of[bad], "at the start %s", text);
    }
    dae_reduced_destroy(d);
    return r == 0;
}

dae_equation_system *dae_equation_system_create(dae_model *m, int n, int ncontinuous, const int *variable,
                                                const int *order, dae_messages *messages)
{
    dae_equation_system *s = calloc(1, sizeof *s);
    if (!s || !(s->arena = dae_arena_create())) {
        free(s);
        return NULL;
    }
    if (pthread_mutex_init(&s->lock, NULL) != 0) {
        dae_arena_destroy(s->arena);
        free(s);
        return NULL;
    }
    s->model = m;
    s->n = n;
    s->ncontinuous = ncontinuous;
    s->variable = dae_arena_copy(s->arena, variable, (size_t)n + 1, sizeof(int));
    s->order = dae_arena_copy(s->arena, order, (size_t)n + 1, sizeof(int));
    s->parameter = dae_arena_reals(s->arena, (size_t)m->nparameter + 1);
    s->discrete = dae_arena_reals(s->arena, (size_t)m->ndiscrete + 1);
    if (dae_arena_failed(s->arena)) goto fail;
    for (int i = 0; i < m->nparameter; i++) s->parameter[i] = m->parameter[i].value;
    for (int i = 0; i < m->ndiscrete; i++) s->discrete[i] = m->discrete[i].start;
    if (dae_analyze(m, s->arena, &s->analysis, messages) < 0) goto fail;
    if (dae_initial_find(&s->analysis, s->parameter, s->discrete, s->arena, &s->initial, messages) < 0)
        goto fail;
    s->smooth = dae_smooth_create(&s->analysis, s->arena, m->t0, s->initial.X, s->parameter, s->discrete,
                                  &s->discrete);
    if (s->smooth) s->reduction = dae_reduction_create(&s->smooth->analysis, &s->lock);
    if (s->reduction && s->analysis.sigma.index == 3)
        s->mechanical = dae_mechanical_find(s, has_states(s, messages));
    if (s->reduction && dae_graph_failed(m->graph) != DAE_GRAPH_STARVED) return s;
fail:
    dae_equation_system_destroy(s);
    return NULL;
}

void dae_equation_system_components(const dae_equation_system *s, const double *X, double *y)
{
    for (int i = 0; i < s->ncontinuous; i++) y[i] = X[s->analysis.place[s->variable[i]] + s->order[i]];
}

void dae_equation_system_rates(const dae_equation_system *s, const double *X, double *yp)
{
    for (int i = 0; i < s->ncontinuous; i++) {
        int j = s->variable[i];
        yp[i] = s->order[i] < s->analysis.sigma.d[j] ? X[s->analysis.place[j] + s->order[i] + 1] : NAN;
    }
}

int dae_equation_system_label(const dae_equation_system *s, int i)
{
    const dae_sigma *g = &s->analysis.sigma;
    if (i >= s->ncontinuous) return 1;
    int j = s->variable[i], label = 1 + g->depth[j] - (g->d[j] - s->order[i]);
    return label < 1 ? 1 : label;
}

int dae_equation_system_restart(dae_equation_system *s, double t, const double *y,
                                const unsigned char *changed, const double *discrete, const double *before,
                                double *X)
{
    const dae_analysis *a = &s->analysis;
    size_t total = (size_t)a->total + 1;
    unsigned char *bound = calloc(total, 1);
    double *inertia = calloc(total, sizeof *inertia);
    dae_initial_result r = {0};
    int good = bound && inertia;
    for (int i = 0; good && i < a->total; i++) inertia[i] = 1;
    if (before) memcpy(X, before, (size_t)a->total * sizeof *X);
    for (int i = 0; good && i < s->ncontinuous; i++) {
        int j = s->variable[i], x = a->place[j] + s->order[i];
        X[x] = y[i];
        if (s->order[i] < a->sigma.d[j]) inertia[x] = 1e3; /* states stay where they can */
        bound[x] = changed && changed[i];
    }
    dae_initial_task task = {a, t, s->parameter, discrete, bound, inertia, 0, NULL};
    pthread_mutex_lock(&s->lock);
    if (good) good = dae_initial_solve(&task, X, &r);
    pthread_mutex_unlock(&s->lock);
    free(bound);
    free(inertia);
    return good ? !r.converged : -1;
}

dae_status dae_equation_system_restarted(int r, double t, dae_error *err)
{
    if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for consistent values");
    if (r > 0)
        return dae_fail(err, DAE_ERR_INCONSISTENT, t, "t = %.10g: the values contradict the equations", t);
    return DAE_OK;
}
