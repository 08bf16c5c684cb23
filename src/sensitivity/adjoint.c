/* Gradients of functionals by the discrete adjoint: the run is recorded, step by step, and gone through backwards. Where the record would
 * need more memory than is allowed, checkpoints are kept and the stretches between them are run again, bit for bit. */
#include "sensitivity/adjoint.h"

#include <daedalus/quadrature.h>

#include "core/matrix.h"
#include "sensitivity/forward.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define STEP \
    1e-6 /* relative increments of parameters: third derivatives of projections are large (forward.c has 3e-6) */
#define MOVE 6e-6 /* the cube root of the rounding unit */
#define MOVE_MAP \
    1e-5 /* of maps, by differences of eighth order: loops that turn fast bend much, 5e-7 on rssp by those of second */
#define MEMORY 1e9 /* bytes, unless told */
enum { MOST_STAGES = 7 };

typedef struct node {
    double t, h;
    int stages; /* radau: of the step; 0: the method can make them again */
    int event;  /* >= 0: a jump at this event, no step */
    int rising;
    int at;   /* >= 0: what is measured at the end of this step */
    size_t z; /* where its vectors begin in the record */
} node;

typedef struct gradient_run {
    dae_adjoint a;
    dae_jumps jumps;
    dae_engine engine; /* for the jumps: z alone */
    dae_integrator *it;
    dae_system sys; /* with the integral where there is one */
    const dae_functional *G;
    double *start, *end;
    node *node; /* grows */
    int nnode, node_room;
    double *record; /* grows: vectors of n */
    size_t used, room, most;
    int keep;     /* 1: vectors are recorded */
    int full;     /* 1: the record came to its limit */
    int failed;   /* out of memory */
    int measured; /* the number of what is measured at the end of this piece, or -1 */
    double value;
    double *lambda;
} gradient_run;

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

dae_gradient_options dae_gradient_options_default(const dae_problem *p)
{
    return (dae_gradient_options){.simulation = dae_simulation_options_default(p), .mode = "auto"};
}

/* ---- The functional in the variables of the form ------------------------------------------------------- */

typedef int part_fn(const dae_functional *G, int k, double t, const double *y, double *value, double *dy);

static int end_part(const dae_functional *G, int k, double t, const double *y, double *value, double *dy)
{
    (void)k;
    return G->end(t, y, value, dy, G->user);
}

static int at_part(const dae_functional *G, int k, double t, const double *y, double *value, double *dy)
{
    return G->at(k, t, y, value, dy, G->user);
}

static int running_part(const dae_functional *G, int k, double t, const double *y, double *value, double *dy)
{
    (void)k;
    return G->running(t, y, value, dy, G->user);
}

static int is_plain(const dae_simulation *m)
{
    return !m->form && !m->own && !m->as_mechanism;
}

/* Value of a part at z of a member; dz (nz, or NULL): its derivative, through lower() by differences. */
static int part_of(dae_adjoint *a, part_fn *part, int k, dae_simulation *m, double t, const double *z,
                   double *value, double *dz)
{
    const dae_functional *G = a->G;
    if (is_plain(m)) return part(G, k, t, z, value, dz ? dz : a->lowdy);
    dae_simulation_lower(m, t, z, a->low, NULL, NULL);
    int r = part(G, k, t, a->low, value, a->lowdy);
    if (r || !dz) return r;
    double *x = a->lift, *dy = a->lifted; /* nz; n */
    dae_copy(a->f->n, a->lowdy, dy);
    dae_copy(a->nz, z, x);
    for (int i = 0; i < a->nz; i++) {
        double d = MOVE * fmax(fabs(z[i]), a->floor[i]), sum = 0;
        x[i] = z[i] + d;
        dae_simulation_lower(m, t, x, a->low, NULL, NULL);
        for (int q = 0; q < a->f->n; q++) sum += dy[q] != 0 ? dy[q] * a->low[q] : 0;
        x[i] = z[i] - d;
        dae_simulation_lower(m, t, x, a->low, NULL, NULL);
        for (int q = 0; q < a->f->n; q++) sum -= dy[q] != 0 ? dy[q] * a->low[q] : 0;
        x[i] = z[i];
        dz[i] = sum / (2 * d);
    }
    return 0;
}

/* ---- The system ------------------------------------------------------------------------------------------ */

static dae_simulation *member(const dae_adjoint *a, int j, int side)
{
    return j < 0 ? a->f->sim : dae_family_side(a->f, j, side);
}

int dae_adjoint_f(dae_adjoint *a, int j, int side, double t, const double *z, double *f)
{
    return dae_adjoint_f_of(a, member(a, j, side), t, z, f);
}

int dae_adjoint_f_of(dae_adjoint *a, dae_simulation *m, double t, const double *z, double *f)
{
    const dae_system *s = &m->it->sys;
    int r = s->kind == DAE_KIND_ODE ? s->ode.f(t, z, f, s->ode.user) : s->dae.f(t, z, f, s->dae.user);
    if (!r && a->n > a->nz) r = part_of(a, running_part, 0, m, t, z, &f[a->nz], NULL);
    return r;
}

/* Central differences where the system has no Jacobian. */
static int differences(const dae_adjoint *a, const dae_system *s, double t, const double *z, double *J)
{
    int nz = a->nz, r = 0;
    double *x = a->lift;
    dae_copy(nz, z, x);
    for (int i = 0; i < nz && !r; i++) {
        double d = MOVE * fmax(fabs(z[i]), a->floor[i]), *column = J + (size_t)i * (size_t)a->n;
        for (int side = 0; side < 2 && !r; side++) {
            double *f = side ? a->fh1 : a->fl1;
            x[i] = z[i] + (side ? d : -d);
            r = s->kind == DAE_KIND_ODE ? s->ode.f(t, x, f, s->ode.user) : s->dae.f(t, x, f, s->dae.user);
        }
        x[i] = z[i];
        for (int q = 0; q < nz; q++) column[q] = (a->fh1[q] - a->fl1[q]) / (2 * d);
    }
    return r;
}

int dae_adjoint_jacobian(dae_adjoint *a, int j, int side, double t, const double *z, double *J)
{
    dae_simulation *m = member(a, j, side);
    const dae_system *s = &m->it->sys;
    const dae_pattern *p = &s->structure.jacobian;
    int n = a->n, nz = a->nz, r;
    dae_jac *own = s->kind == DAE_KIND_ODE ? s->ode.jac : s->dae.jac;
    memset(J, 0, (size_t)a->count * sizeof *J);
    if (a->pattern.storage != DAE_DENSE) {
        r = own(t, z, J, s->kind == DAE_KIND_ODE ? s->ode.user : s->dae.user);
        dae_engine_complete(&s->structure, nz, J);
        return r;
    }
    if (!own) {
        r = differences(a, s, t, z, J);
    } else if (p->storage == DAE_DENSE && n == nz) {
        r = own(t, z, J, s->kind == DAE_KIND_ODE ? s->ode.user : s->dae.user);
    } else {
        memset(a->values, 0, (size_t)dae_pattern_count(p, nz) * sizeof *a->values);
        r = own(t, z, a->values, s->kind == DAE_KIND_ODE ? s->ode.user : s->dae.user);
        for (int c = 0; c < nz; c++) {
            double *column = J + (size_t)c * (size_t)n;
            if (p->storage == DAE_SPARSE) {
                for (int k = p->colptr[c]; k < p->colptr[c + 1]; k++) column[p->rowind[k]] = a->values[k];
            } else if (p->storage == DAE_BANDED) {
                int ld = p->lower + 1 + p->upper;
                for (int i = c > p->upper ? c - p->upper : 0; i < nz && i - c <= p->lower; i++)
                    column[i] = a->values[p->upper + i - c + c * ld];
            } else {
                dae_copy(nz, a->values + (size_t)c * (size_t)nz, column);
            }
        }
    }
    for (int i = 0, half = s->structure.second_order; own && i < half;
         i++) { /* rows that need not be filled */
        for (int c = 0; c < nz; c++) J[(size_t)c * (size_t)n + (size_t)i] = c == half + i;
    }
    if (r || n == nz) return r;
    double value;
    r = part_of(a, running_part, 0, m, t, z, &value, a->rowz);
    for (int c = 0; c < nz; c++) J[(size_t)c * (size_t)n + (size_t)nz] = a->rowz[c];
    return r;
}

/* The system that is run: that of the problem, or with the integral beside it. */
static int run_f(double t, const double *z, double *f, void *user)
{
    return dae_adjoint_f(user, -1, 0, t, z, f);
}

static int run_jac(double t, const double *z, double *J, void *user)
{
    return dae_adjoint_jacobian(user, -1, 0, t, z, J);
}

/* ---- Recording ------------------------------------------------------------------------------------------------ */

static node *add_node(gradient_run *g, int vectors)
{
    size_t n = (size_t)g->a.n, need = g->used + (g->keep ? (size_t)vectors * n : 0);
    if (g->keep && need * sizeof(double) > g->most) {
        g->full = 1;
        g->keep = 0;
    }
    if (g->nnode == g->node_room) {
        int room = g->node_room ? 2 * g->node_room : 256;
        node *more = realloc(g->node, (size_t)room * sizeof *more);
        if (!more) return NULL;
        g->node = more;
        g->node_room = room;
    }
    if (g->keep && need > g->room) {
        size_t room = need * 2;
        double *more = realloc(g->record, room * sizeof *more);
        if (!more) return NULL;
        g->record = more;
        g->room = room;
    }
    node *k = &g->node[g->nnode++];
    *k = (node){.event = -1, .at = -1, .z = g->used};
    if (g->keep) g->used = need;
    return k;
}

static int on_piece(dae_integrator *it, double from, double to, int degree, void *user)
{
    gradient_run *g = user;
    dae_adjoint *a = &g->a;
    int stages = a->erk || a->rodas ? 0 : it->ivp.order == 9 ? 5 : it->ivp.order == 13 ? 7 : 3;
    (void)degree;
    if (from == to) return 0;
    node *k = add_node(g, 1 + stages);
    if (!k) {
        g->failed = 1;
        return -1;
    }
    k->t = from;
    k->h = to - from;
    k->stages = stages;
    k->at = g->measured;
    if (!g->keep) return 0;
    /* At its ends and stages a whole step is what the method made; nothing is to be refined there. */
    int coarse = it->ivp.coarse;
    if (from == it->ivp.t_old && to == it->ivp.t) it->ivp.coarse = 1;
    double *z = g->record + k->z;
    dae_integrator_interpolate(it, from, z, NULL);
    const double *c = stages ? dae_adjoint_radau_nodes(stages) : NULL;
    for (int i = 0; i < stages; i++)
        dae_integrator_interpolate(it, i == stages - 1 ? to : from + c[i] * k->h,
                                   z + (size_t)(1 + i) * (size_t)a->n, NULL);
    it->ivp.coarse = coarse;
    return 0;
}

static int on_switching(double t, const double *z, const double *zp, double *phi, void *user)
{
    gradient_run *g = user;
    const dae_events *e = &g->a.f->sim->events;
    return e->phi(t, z, zp, phi, e->user);
}

static int on_event(int i, double t, int rising, double *z, double *zp, void *user)
{
    gradient_run *g = user;
    const dae_events *e = &g->a.f->sim->events;
    if (!e->action) return DAE_EVENT_GO_ON;
    dae_copy(g->a.n, z, g->a.x);
    int r = e->action(i, t, rising, z, zp, e->user);
    if (r != DAE_EVENT_RESTART) return r;
    node *k = add_node(g, 1);
    if (!k) return -1;
    k->t = t;
    k->event = i;
    k->rising = rising;
    if (g->keep) dae_copy(g->a.n, g->a.x, g->record + k->z);
    return r;
}

/* ---- Backwards ---------------------------------------------------------------------------------------------------- */

/* lambda += d(part)/dz; gradient += d(part)/dp at fixed z, through lower(). */
static int measure(gradient_run *g, part_fn *part, int k, double t, const double *z)
{
    dae_adjoint *a = &g->a;
    double value, side[2];
    int r = part_of(a, part, k, a->f->sim, t, z, &value, a->rowz);
    if (r) return r;
    g->value += value;
    dae_axpy(a->nz, 1, a->rowz, g->lambda);
    for (int j = 0; j < a->f->count && !is_plain(a->f->sim); j++) {
        for (int s = 0; s < 2 && !r; s++) r = part_of(a, part, k, member(a, j, s), t, z, &side[s], NULL);
        if (r) return r;
        a->gradient[j] += (side[1] - side[0]) / dae_family_width(a->f, j);
    }
    return 0;
}

/* A map z -> out of a member: a projection, a jump; of the integral too, which nothing but a jump changes. */
typedef int map_fn(gradient_run *g, int j, int side, const node *k, const double *z, double *out);

/* r(t*, z) - r(t*, after): what the integral gains for every second that the event comes later. 0 where there is no integral. */
static int running_jump(gradient_run *g, dae_simulation *m, double t, const double *z, const double *after,
                        double *jump)
{
    dae_adjoint *a = &g->a;
    double r[2];
    *jump = 0;
    if (a->n == a->nz) return 0;
    if (part_of(a, running_part, 0, m, t, z, &r[0], NULL) ||
        part_of(a, running_part, 0, m, t, after, &r[1], NULL))
        return -1;
    *jump = r[0] - r[1];
    return 0;
}

/* The same for a jump whose derivatives are known. > 0: they are not. */
static int through_exact(gradient_run *g, const node *k, const double *z)
{
    dae_adjoint *a = &g->a;
    const dae_family *f = a->f;
    const dae_events *e = &f->sim->events;
    int nz = a->nz;
    double *s = a->y, *after = a->v[0], *out = a->v[1], *next = a->v[2], shift, gain, weight;
    dae_copy(nz, z, after);
    dae_zero(nz, out);
    if (e->action(k->event, k->t, k->rising, after, out, e->user) < 0) return -1;
    if (running_jump(g, f->sim, k->t, z, after, &gain)) return -1;
    weight = a->n > nz ? g->lambda[nz] * gain : 0; /* of dt* */
    dae_zero(nz, s);
    for (int c = 0; c < nz; c++) {
        s[c] = 1;
        int r = dae_jumps_exact(&g->jumps, NULL, k->event, k->t, z, after, s, out, &shift);
        s[c] = 0;
        if (r) return r;
        next[c] = weight * shift;
        for (int i = 0; i < nz; i++) next[c] += g->lambda[i] * out[i];
    }
    for (int j = 0; j < f->count; j++) { /* nothing may have been added where one is not known */
        if (!f->direction[j].exact) return 1;
    }
    for (int j = 0; j < f->count; j++) {
        if (f->direction[j].component >= 0) continue;
        int r = dae_jumps_exact(&g->jumps, &f->direction[j], k->event, k->t, z, after, s, out, &shift);
        if (r) return -1;
        a->gradient[j] += weight * shift;
        for (int i = 0; i < nz; i++) a->gradient[j] += g->lambda[i] * out[i];
    }
    dae_copy(nz, next, g->lambda);
    return 0;
}

/* lambda := (d map/dz)^T lambda, gradient += lambda^T d map/dp, by differences. */
static int through(gradient_run *g, map_fn *map, const node *k, const double *z)
{
    dae_adjoint *a = &g->a;
    int nz = a->nz, n = a->n, r = 0;
    double *x = a->y, *low = a->v[0], *high = a->v[1], *next = a->v[2];
    for (int j = 0; j < a->f->count && !r; j++) {
        r = map(g, j, 0, k, z, low);
        if (!r) r = map(g, j, 1, k, z, high);
        for (int i = 0; i < n && !r; i++)
            a->gradient[j] += g->lambda[i] * (high[i] - low[i]) / dae_family_width(a->f, j);
    }
    dae_copy(n, z, x);
    for (int c = 0; c < nz && !r; c++) {
        double d = MOVE_MAP * fmax(fabs(z[c]), fmin(a->floor[c], 1)), sum = 0;
        for (int q = 0; q < DAE_WIDE && !r; q++) {
            x[c] = z[c] + dae_family_place[q] * d;
            r = map(g, -1, 0, k, x, low);
            for (int i = 0; i < n; i++) sum += g->lambda[i] * dae_family_weight[q] * (low[i] - z[i]);
        }
        x[c] = z[c];
        next[c] = sum / d;
    }
    if (!r) dae_copy(nz, next, g->lambda);
    return r;
}

static int projected(gradient_run *g, int j, int side, const node *k, const double *z, double *out)
{
    const dae_integrator *it = member(&g->a, j, side)->it;
    dae_copy(g->a.n, z, out);
    return it->ivp.project(k->t + k->h, out, it->ivp.project_user);
}

static int jumped(gradient_run *g, int j, int side, const node *k, const double *z, double *out)
{
    dae_simulation *m = member(&g->a, j, side);
    double shift, gain;
    dae_copy(g->a.n, z, out);
    int r = dae_jumps_map(&g->jumps, m, k->event, k->t, k->rising, g->record + k->z, out, &shift);
    if (!r) r = running_jump(g, m, k->t, z, out, &gain);
    if (!r && g->a.n > g->a.nz) out[g->a.nz] += shift * gain;
    return r;
}

/* The nodes from last to first; after: z at the end of the last one. */
static dae_status backwards(gradient_run *g, int first, int last, const double *after, dae_error *err)
{
    dae_adjoint *a = &g->a;
    int r = 0;
    for (int i = last; i >= first && !r; i--) {
        const node *k = &g->node[i];
        const double *z = g->record + k->z, *end = i < last ? g->record + g->node[i + 1].z : after;
        if (k->event >= 0) {
            r = through_exact(g, k, z);
            if (r > 0) r = through(g, jumped, k, z);
            continue;
        }
        if (k->at >= 0) r = measure(g, at_part, k->at, k->t + k->h, end);
        if (!r && a->f->sim->it->ivp.project) r = through(g, projected, k, end);
        if (r) continue;
        r = a->erk     ? dae_adjoint_erk(a, k->t, k->h, z, g->lambda)
            : a->rodas ? dae_adjoint_rodas(a, k->t, k->h, z, g->lambda)
                       : dae_adjoint_radau(a, k->t, k->h, k->stages, z + a->n, g->lambda);
        if (r)
            return dae_fail(err, DAE_ERR_SINGULAR, k->t, "t = %.10g: the step cannot be differentiated",
                            k->t);
    }
    if (r)
        return dae_fail(err, DAE_ERR_CALLBACK, NAN,
                        "the functional, a projection or a jump cannot be evaluated");
    return DAE_OK;
}

/* ---- Running ------------------------------------------------------------------------------------------------------- */

static dae_status start(gradient_run *g, dae_error *err)
{
    g->nnode = 0;
    g->used = 0;
    return dae_integrator_start(g->it, g->a.f->p->t0, g->a.f->options.t_end, g->start, NULL, err);
}

/* On to the end, or up to `nodes` nodes. */
static dae_status forward(gradient_run *g, int measured, dae_error *err)
{
    const dae_functional *G = g->G;
    dae_status r = DAE_OK;
    double t_end = g->a.f->options.t_end;
    for (int k = measured; k < G->ntimes && r == DAE_OK; k++) {
        double last = dae_integrator_time(g->it);
        g->measured = -1;
        /* all pieces but the last before the time are measured at nothing: the last is told after it */
        int before = g->nnode;
        r = dae_integrator_advance(g->it, G->times[k], err);
        if (r == DAE_OK && g->nnode > before && G->times[k] != last) g->node[g->nnode - 1].at = k;
    }
    if (r == DAE_OK) r = dae_integrator_advance(g->it, t_end, err);
    if (g->failed) return no_memory(err);
    if (r == DAE_EVENT)
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, err->t,
            "a terminal event ended the run; the adjoint needs a fixed end: take mode \"forward\"");
    if (r == DAE_OK && dae_integrator_stats(g->it)->switches)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "the run passed switches of the system; take mode \"forward\"");
    if (r == DAE_OK && dae_integrator_stats(g->it)->charts)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "the run changed its coordinates; take mode \"forward\"");
    return r;
}

/* Once more, with checkpoints every `stretch` nodes, then from the last checkpoint to the first: each stretch is run again with its
 * states recorded and gone through backwards. */
typedef struct checkpoint {
    void *bytes;
    size_t size;
    int nodes; /* that came before it */
} checkpoint;

static dae_status stretches(gradient_run *g, dae_gradient_stats *stats, dae_error *err)
{
    if (g->G->ntimes)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "with values at times the states must fit into the memory that is allowed");
    int total = g->nnode;
    node *all = malloc((size_t)total * sizeof *all);
    if (!all) return no_memory(err);
    memcpy(all, g->node, (size_t)total * sizeof *all);
    g->keep = 0;
    dae_status r = start(g, err);
    size_t bytes = r >= 0 ? dae_integrator_save(g->it, NULL, 0) : 1, vectors = 1;
    for (int i = 0; i < total; i++)
        vectors = vectors > 1 + (size_t)all[i].stages ? vectors : 1 + (size_t)all[i].stages;
    double state = (double)(vectors * (size_t)g->a.n * sizeof(double));
    int count = (int)fmax(1, sqrt((double)total * state / (double)bytes)), stretch = total / count + 2,
        saved = 0;
    checkpoint *c = calloc((size_t)(total / stretch) + 3, sizeof *c);
    if (bytes == 0) r = dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "%s", dae_integrator_why_not_saved(g->it));
    if ((double)count * (double)bytes + stretch * state > (double)g->most && r >= 0)
        r = dae_fail(err, DAE_ERR_MEMORY, NAN, "the adjoint needs %.3g MB; %.3g MB are allowed",
                     1e-6 * ((double)count * (double)bytes + stretch * state), 1e-6 * (double)g->most);
    if (!c) r = no_memory(err);
    double t_end = g->a.f->options.t_end, d = t_end > g->a.f->p->t0 ? 1 : -1;
    while (r >= 0 && r != DAE_CANCELLED && d * (t_end - dae_integrator_time(g->it)) > 0) {
        if (g->nnode >= saved * stretch && c) {
            c[saved] = (checkpoint){malloc(bytes + bytes / 4), bytes + bytes / 4, g->nnode};
            if (!c[saved].bytes) r = no_memory(err);
            else c[saved].size = dae_integrator_save(g->it, c[saved].bytes, c[saved].size);
            if (r >= 0) saved++;
        }
        if (r >= 0) r = dae_integrator_step(g->it, err);
    }
    if (r >= 0 && r != DAE_CANCELLED && g->nnode != total)
        r = dae_fail(err, DAE_ERR_INTERNAL, NAN, "the repeated run took other steps");
    if (r >= 0) dae_copy(g->a.n, dae_integrator_state(g->it), g->end);
    double *after = malloc((size_t)g->a.n * sizeof *after);
    if (!after) r = no_memory(err);
    if (r >= 0) dae_copy(g->a.n, g->end, after);
    for (int s = saved - 1; s >= 0 && r >= 0 && r != DAE_CANCELLED; s--) {
        int last = s + 1 < saved ? c[s + 1].nodes : total;
        r = dae_integrator_load(g->it, c[s].bytes, c[s].size, err);
        g->nnode = 0;
        g->used = 0;
        g->keep = 1;
        g->full = 0;
        while (r >= 0 && r != DAE_CANCELLED && g->nnode < last - c[s].nodes)
            r = dae_integrator_step(g->it, err);
        if (r == DAE_CANCELLED) break;
        if (g->full && r >= 0)
            r = dae_fail(err, DAE_ERR_MEMORY, NAN, "the memory that is allowed does not suffice");
        if (r >= 0) r = backwards(g, 0, g->nnode - 1, after, err);
        if (r >= 0) dae_copy(g->a.n, g->record + g->node[0].z, after);
    }
    if (stats)
        stats->memory = (size_t)saved * bytes + (size_t)stretch * vectors * (size_t)g->a.n * sizeof(double);
    for (int s = 0; s < saved; s++) free(c[s].bytes);
    free(c);
    free(after);
    free(all);
    return r < 0 || r == DAE_CANCELLED ? r : DAE_OK;
}

/* ---- Life ------------------------------------------------------------------------------------------------------------ */

static dae_status pick_method(gradient_run *g, dae_error *err)
{
    dae_adjoint *a = &g->a;
    const char *m = a->f->method;
    static const struct {
        const char *name;
        const dae_erk_table *erk;
        const dae_rodas_table *rodas;
    } table[] = {{"dopri5", &dae_dopri5_table, NULL},
                 {"dop853", &dae_dop853_table, NULL},
                 {"bs23", &dae_bs23_table, NULL},
                 {"vern8", &dae_vern8_table, NULL},
                 {"vern9", &dae_vern9_table, NULL},
                 {"rodas4p2", NULL, &dae_rodas4p2_table},
                 {"rodas5", NULL, &dae_rodas5_table},
                 {"rodas5p", NULL, &dae_rodas5p_table},
                 {"radau5", NULL, NULL},
                 {"radau", NULL, NULL}};
    const dae_system *s = &a->f->sim->it->sys;
    if (s->kind != DAE_KIND_ODE && s->kind != DAE_KIND_DAE)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "the adjoint takes ODEs and M y' = f; mechanisms in joint or "
                        "state-space form");
    for (int j = 0; j < a->f->count; j++) {
        if (a->f->direction[j].mass.count < 0)
            return dae_fail(
                err, DAE_ERR_UNSUPPORTED, NAN,
                "parameter %s changes which derivatives the mass matrix combines, which the adjoint does "
                "not follow; take the mode \"forward\"",
                a->f->direction[j].name);
    }
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (strcmp(m, table[k].name) != 0) continue;
        a->erk = table[k].erk;
        a->rodas = table[k].rodas;
        return DAE_OK;
    }
    return dae_fail(
        err, DAE_ERR_UNSUPPORTED, NAN,
        "method %s has no adjoint here; take dopri5, dop853, bs23, vern8, vern9, rodas4p2, rodas5, "
        "rodas5p, radau5 or "
        "radau, or mode \"forward\"",
        m);
}

/* Sparse Jacobians stay sparse; all others are dense. */
static void choose_pattern(dae_adjoint *a)
{
    const dae_system *s = &a->f->sim->it->sys;
    const dae_pattern *p = &s->structure.jacobian;
    dae_jac *own = s->kind == DAE_KIND_ODE ? s->ode.jac : s->dae.jac;
    int n = a->n;
    a->count = (long)n * n;
    if (!own || !a->rodas || n != a->nz || p->storage != DAE_SPARSE ||
        !dae_engine_complete(&s->structure, n, NULL))
        return;
    int count = p->colptr[n], *colptr = dae_arena_ints(a->arena, (size_t)n + 2),
        *rowind = dae_arena_ints(a->arena, (size_t)count + 1);
    a->turn = dae_arena_ints(a->arena, (size_t)count + 1);
    if (!colptr || !rowind || !a->turn) return;
    for (int k = 0; k < count; k++) colptr[p->rowind[k] + 2]++;
    for (int i = 0; i < n; i++) colptr[i + 2] += colptr[i + 1]; /* colptr[i+1]: where column i goes on */
    for (int j = 0; j < n; j++) {
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
            int at = colptr[p->rowind[k] + 1]++;
            rowind[at] = j;
            a->turn[at] = k;
        }
    }
    a->pattern = *p;
    a->turned = (dae_pattern){.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
    a->count = count;
}

static dae_status take_memory(gradient_run *g, dae_error *err)
{
    dae_adjoint *a = &g->a;
    dae_arena *m = a->arena;
    const dae_options *o = &a->f->sim->options;
    size_t n = (size_t)a->n, nz = (size_t)a->nz, np = (size_t)a->f->n;
    int radau = !a->erk && !a->rodas, stages = a->erk ? a->erk->fsal + 1 : a->rodas ? a->rodas->stages : 3;
    for (int i = 0; i < stages; i++) {
        a->stage[i] = dae_arena_reals(m, n);
        a->u[i] = dae_arena_reals(m, n);
        a->v[i] = dae_arena_reals(m, n);
        a->p[i] = dae_arena_reals(m, n);
    }
    double **vector[] = {&a->x,   &a->w,    &a->fl,   &a->fh,  &a->y,      &a->dy,    &a->fl1,
                         &a->fh1, &a->rowz, &a->lift, &a->now, &g->lambda, &g->start, &g->end};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) *vector[k] = dae_arena_reals(m, n);
    a->low = dae_arena_reals(m, np);
    a->lowdy = dae_arena_reals(m, np > n ? np : n);
    a->lifted = dae_arena_reals(m, np);
    choose_pattern(a);
    a->J = dae_arena_reals(m, (size_t)a->count);
    a->K = dae_arena_reals(m, (size_t)a->count);
    a->L = dae_arena_reals(m, (size_t)a->count);
    a->values =
        dae_arena_reals(m, (size_t)dae_pattern_count(&a->f->sim->it->sys.structure.jacobian, a->nz) + 1);
    double *floor = dae_arena_reals(m, nz);
    for (int i = 0; floor && i < a->nz; i++) {
        double rtol = o->rtol_vec ? o->rtol_vec[i] : o->rtol, atol = o->atol_vec ? o->atol_vec[i] : o->atol;
        floor[i] = fmax(rtol > 0 ? atol / rtol : atol, 1e-30);
    }
    a->floor = floor;
    if (radau) {
        a->big = dae_arena_reals(m, MOST_STAGES * MOST_STAGES * n * n);
        a->mu = dae_arena_reals(m, MOST_STAGES * n);
    }
    if (a->f->sim->it->sys.kind == DAE_KIND_DAE && a->f->sim->it->sys.dae.mass.n) {
        const dae_matrix *M = &a->f->sim->it->sys.dae.mass;
        a->M = dae_arena_reals(m, n * n);
        for (int j = 0; a->M && j < a->nz; j++) {
            for (int i = 0; i < a->nz; i++) a->M[i + j * a->n] = dae_matrix_get(M, i, j);
        }
        if (a->M && a->n > a->nz) a->M[(size_t)a->n * (size_t)a->n - 1] = 1;
    }
    return dae_arena_failed(m) ? no_memory(err) : DAE_OK;
}

static dae_status make_solvers(gradient_run *g, dae_error *err)
{
    dae_adjoint *a = &g->a;
    int n = a->n;
    dae_shifted_spec spec = {.n = n, .jacobian = a->pattern};
    if (a->M) spec.mass = dae_dense(n, a->M);
    if (a->rodas) {
        a->solver = dae_shifted_create(&spec, a->arena, err);
        if (a->M) {
            double *T = dae_arena_reals(a->arena, (size_t)n * (size_t)n);
            if (!T) return no_memory(err);
            for (int k = 0; k < n * n; k++) T[k % n * n + k / n] = a->M[k];
            spec.mass = dae_dense(n, T);
        }
        spec.jacobian = a->turned;
        a->transposed = dae_shifted_create(&spec, a->arena, err);
        if (!a->solver || !a->transposed) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    } else if (!a->erk) {
        int several = !strcmp(a->f->method, "radau");
        for (int s = 3; s <= (several ? 7 : 3); s += 2) {
            dae_shifted_spec all = {.n = s * n};
            a->stages[s] = dae_shifted_create(&all, a->arena, err);
            if (!a->stages[s]) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
        }
    }
    return DAE_OK;
}

/* The integrator, of the system with the integral where there is one. */
static dae_status make_integrator(gradient_run *g, dae_error *err)
{
    dae_adjoint *a = &g->a;
    const dae_integrator *own = a->f->sim->it;
    dae_options o = a->f->sim->options;
    g->sys = own->sys;
    g->sys.switches = (dae_switches){0};
    if (own->sys.switches.count) g->sys.switches = own->sys.switches, g->sys.switches.bind = NULL;
    o.method = a->f->method;
    o.formulation = NULL;
    if (a->n > a->nz) {
        double *rtol = dae_arena_reals(a->arena, (size_t)a->n),
               *atol = dae_arena_reals(a->arena, (size_t)a->n);
        if (!rtol || !atol) return no_memory(err);
        for (int i = 0; i < a->nz; i++) {
            rtol[i] = o.rtol_vec ? o.rtol_vec[i] : o.rtol;
            atol[i] = o.atol_vec ? o.atol_vec[i] : o.atol;
        }
        rtol[a->nz] = rtol[0];
        atol[a->nz] = atol[0];
        o.rtol_vec = rtol;
        o.atol_vec = atol;
        int jac = own->sys.kind == DAE_KIND_ODE ? own->sys.ode.jac != NULL : own->sys.dae.jac != NULL;
        g->sys.structure = (dae_structure){.autonomous = 0};
        if (own->sys.kind == DAE_KIND_ODE) {
            g->sys.ode = (dae_ode){.n = a->n, .f = run_f, .jac = jac ? run_jac : NULL, .user = a};
        } else {
            g->sys.dae = (dae_dae){.n = a->n, .f = run_f, .jac = jac ? run_jac : NULL, .user = a};
            if (a->M) g->sys.dae.mass = dae_dense(a->n, a->M);
        }
    }
    a->autonomous = g->sys.structure.autonomous;
    g->it = dae_integrator_create(&g->sys, &o, err);
    if (!g->it) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    dae_status r = DAE_OK;
    if (own->ivp.project)
        r = dae_integrator_set_projection(g->it, own->ivp.project, own->ivp.project_user, err);
    if (own->chart) dae_integrator_set_chart(g->it, own->chart, own->chart_user);
    dae_integrator_set_memory(g->it, &own->memory);
    if (r >= 0 && a->f->sim->events.count) {
        dae_events e = a->f->sim->events;
        e.no_state = 0;
        e.phi = on_switching;
        e.action = on_event;
        e.instant = NULL;
        e.user = g;
        r = dae_integrator_set_events(g->it, &e, err);
    }
    dae_integrator_set_pieces(g->it, on_piece, g);
    g->it->piece_ends = 1;
    return r;
}

/* dG/dp += lambda^T dz0/dp. 0, or < 0: no memory. */
static int at_start(gradient_run *g)
{
    dae_adjoint *a = &g->a;
    for (int j = 0; j < a->f->count; j++) {
        if (dae_family_start(a->f, j, a->x)) return -1;
        for (int i = 0; i < a->nz; i++) a->gradient[j] += g->lambda[i] * a->x[i];
    }
    return 0;
}

static dae_status run(gradient_run *g, dae_gradient_stats *stats, dae_error *err)
{
    dae_adjoint *a = &g->a;
    double begin = seconds();
    g->keep = 1;
    g->measured = -1;
    dae_copy(a->nz, a->f->sim->z0, g->start);
    dae_status r = start(g, err);
    if (r >= 0) r = forward(g, 0, err);
    if (r < 0 || r == DAE_CANCELLED) return r;
    dae_copy(a->n, dae_integrator_state(g->it), g->end);
    stats->steps = dae_integrator_stats(g->it)->accepted;
    stats->forward_seconds = seconds() - begin;
    begin = seconds();
    if (a->n > a->nz) {
        g->value += g->end[a->nz];
        g->lambda[a->nz] = 1;
    }
    if (g->G->end && measure(g, end_part, 0, a->f->options.t_end, g->end))
        return dae_fail(err, DAE_ERR_CALLBACK, NAN, "the functional cannot be evaluated at the end");
    stats->back = g->nnode;
    stats->memory = g->used * sizeof(double);
    stats->repeated = g->full;
    r = g->full ? stretches(g, stats, err) : backwards(g, 0, g->nnode - 1, g->end, err);
    if (r >= 0 && r != DAE_CANCELLED && at_start(g)) r = no_memory(err);
    stats->back_seconds = seconds() - begin;
    return r;
}

static dae_status adjoint(dae_family *f, const dae_gradient_options *opt, const dae_functional *G,
                          double *value, double *gradient, dae_gradient_stats *stats, dae_error *err)
{
    gradient_run *g = calloc(1, sizeof *g);
    dae_arena *arena = dae_arena_create();
    if (!g || !arena) {
        free(g);
        dae_arena_destroy(arena);
        return no_memory(err);
    }
    dae_adjoint *a = &g->a;
    *a = (dae_adjoint){
        .f = f, .G = G, .arena = arena, .nz = f->nz, .n = f->nz + (G->running != NULL), .gradient = gradient};
    g->G = G;
    g->most = opt->memory ? opt->memory : (size_t)MEMORY;
    dae_status r = pick_method(g, err);
    if (r >= 0) r = take_memory(g, err);
    if (r >= 0) r = make_solvers(g, err);
    if (r >= 0) r = make_integrator(g, err);
    if (r >= 0) {
        g->engine =
            (dae_engine){.f = f, .arena = arena, .layout = dae_layout_of(f->nz, 1, 0, 0), .size = f->nz};
        r = dae_jumps_create(&g->jumps, &g->engine, err);
        g->jumps.it = g->it;
    }
    for (int j = 0; j < f->count; j++) gradient[j] = 0;
    if (r >= 0) r = run(g, stats, err);
    *value = g->value;
    dae_integrator_destroy(g->it);
    dae_jumps_destroy(&g->jumps);
    dae_shifted_destroy(a->solver);
    dae_shifted_destroy(a->transposed);
    for (int s = 0; s < 8; s++) dae_shifted_destroy(a->stages[s]);
    free(g->node);
    free(g->record);
    dae_arena_destroy(arena);
    free(g);
    return r < 0 || r == DAE_CANCELLED ? r : DAE_OK;
}

/* ---- Forward --------------------------------------------------------------------------------------------------------- */

typedef struct sums {
    const dae_functional *G;
    double *y, *s, *dy, *rate; /* n, n*count, n, n */
    int n, count;
    double *value, *gradient;
} sums;

static int add_part(const sums *x, part_fn *part, int k, double t)
{
    double value = 0;
    for (int i = 0; i < x->n; i++) x->dy[i] = 0;
    if (part(x->G, k, t, x->y, &value, x->dy)) return -1;
    *x->value += value;
    for (int j = 0; j < x->count; j++) {
        for (int i = 0; i < x->n; i++) {
            if (x->dy[i] != 0) x->gradient[j] += x->dy[i] * x->s[i + j * x->n];
        }
    }
    return 0;
}

/* The running part as an integrand of dae_quadrature. */
typedef struct integrand {
    const dae_functional *G;
    double *dy; /* n: not wanted */
} integrand;

static int running_value(double t, const double *y, double *value, void *user)
{
    const integrand *x = user;
    return running_part(x->G, 0, t, y, value, x->dy);
}

static int running_slope(double t, const double *y, double *dy, void *user)
{
    const integrand *x = user;
    double value;
    return running_part(x->G, 0, t, y, &value, dy);
}

/* The end has moved with the event that ended the run: (end_t + end_y y') dt* /dp, along y' by a difference. */
static int move_end(dae_sensitivity *s, const sums *x)
{
    const double *dt;
    int count;
    double t = dae_sensitivity_time(s), d = MOVE * fmax(fabs(t), 1), value[2];
    dae_sensitivity_events(s, &dt, &count);
    if (count < 1 || dae_sensitivity_rate(s, x->rate)) return -1;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < x->n; i++) x->s[i] = x->y[i] + (k ? d : -d) * x->rate[i];
        if (end_part(x->G, 0, t + (k ? d : -d), x->s, &value[k], x->dy)) return -1;
    }
    for (int j = 0; j < x->count; j++)
        x->gradient[j] += (value[1] - value[0]) / (2 * d) * dt[x->count * (count - 1) + j];
    return 0;
}

/* Parts at times and at the end. */
static dae_status forward_points(const dae_problem *p, const dae_gradient_options *opt,
                                 const char *const *name, const sums *x, dae_gradient_stats *stats,
                                 dae_error *err)
{
    dae_sensitivity_options o = {.simulation = opt->simulation, .mode = "auto"};
    const dae_functional *G = x->G;
    int bad = 0;
    dae_sensitivity *s = dae_sensitivity_open(p, &o, name, x->count, err);
    dae_status r = s ? dae_sensitivity_start(s, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    for (int k = 0; k <= G->ntimes && r == DAE_OK && !bad; k++) {
        int last = k == G->ntimes;
        r = dae_sensitivity_advance(s, last ? opt->simulation.t_end : G->times[k], err);
        if (r < 0 || r == DAE_CANCELLED) break;
        if (r == DAE_EVENT && !last)
            r = dae_fail(err, DAE_ERR_EVENT, dae_sensitivity_time(s),
                         "an event ended the run at t = %.10g, before t = %.10g, where a value is wanted",
                         dae_sensitivity_time(s), G->times[k]);
        if (r < 0 || (last && !G->end)) break;
        memcpy(x->y, dae_sensitivity_state(s), (size_t)x->n * sizeof *x->y);
        memcpy(x->s, dae_sensitivity_values(s), (size_t)x->n * (size_t)x->count * sizeof *x->s);
        bad = add_part(x, last ? end_part : at_part, k, dae_sensitivity_time(s));
        if (!bad && r == DAE_EVENT) bad = move_end(s, x);
    }
    if (s) stats->steps = dae_sensitivity_stats(s).accepted;
    dae_sensitivity_close(s);
    if (r >= 0 && bad) return dae_fail(err, DAE_ERR_CALLBACK, NAN, "the functional cannot be evaluated");
    return r;
}

/* The integral by dae_quadrature, through events and to a moving end; the other parts by a run of their own. */
static dae_status forward_gradient(const dae_problem *p, const dae_gradient_options *opt,
                                   const dae_functional *G, const char *const *name, int count, double *value,
                                   double *gradient, dae_gradient_stats *stats, dae_error *err)
{
    size_t n = (size_t)dae_system_size(&p->system);
    double *room = calloc(n * (size_t)(count + 3) + (size_t)count, sizeof *room), begin = seconds(),
           *part = room ? room + n * (size_t)(count + 3) : NULL, all = 0;
    if (!room) return no_memory(err);
    sums x = {.G = G,
              .y = room,
              .dy = room + n,
              .rate = room + 2 * n,
              .s = room + 3 * n,
              .n = (int)n,
              .count = count,
              .value = value,
              .gradient = gradient};
    dae_status r = DAE_OK;
    *value = 0;
    for (int j = 0; j < count; j++) gradient[j] = 0;
    if (G->end || G->ntimes) r = forward_points(p, opt, name, &x, stats, err);
    if (G->running && r >= 0 && r != DAE_CANCELLED) {
        integrand one = {G, x.dy};
        dae_quadrature_options o = dae_quadrature_options_default(p);
        o.simulation = opt->simulation;
        o.by = name;
        o.nby = count;
        o.mode = "forward";
        o.g = running_value;
        o.dgdy = running_slope;
        o.user = &one;
        r = dae_quadrature(p, &o, NULL, 1, NULL, 0, &all, NULL, part, err);
        *value += all;
        dae_axpy(count, 1, part, gradient);
    }
    stats->forward_seconds = seconds() - begin;
    free(room);
    return r < 0 || r == DAE_CANCELLED ? r : DAE_OK;
}

/* Names of initial values cost nothing backwards, parameters as much as they cost forwards in evaluations of f but no solves. */
#define FEW 8 /* ours: from so many names on the adjoint is tried first */

dae_status dae_gradient(const dae_problem *p, const dae_gradient_options *opt, const dae_functional *G,
                        const char *const *name, int count, double *value, double *gradient,
                        dae_gradient_stats *stats, dae_error *err)
{
    dae_error own = {0};
    dae_gradient_stats spare = {0};
    if (!err) err = &own;
    if (!stats) stats = &spare;
    *stats = spare;
    err->status = DAE_OK;
    if (dae_need(p, "the problem", err) || dae_need(G, "the functional", err) ||
        dae_need(name, "the names", err) || dae_need(value, "the value", err) ||
        dae_need(gradient, "the gradient", err))
        return err->status;
    dae_gradient_options standard = dae_gradient_options_default(p);
    if (!opt) opt = &standard;
    const char *mode = opt->mode ? opt->mode : "auto";
    int automatic = !strcmp(mode, "auto"), back = !strcmp(mode, "adjoint") || (automatic && count >= FEW);
    if (!automatic && !back && strcmp(mode, "forward") != 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "mode \"%s\" is not one of auto, adjoint, forward", mode);
    if (back) {
        dae_family *f = dae_family_open(p, &opt->simulation, name, count, NULL, err);
        dae_status r = f ? DAE_OK : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
        double *work = f ? dae_arena_reals(f->arena, (size_t)f->nz) : NULL;
        if (f && !work) r = no_memory(err);
        if (r >= 0 && !dae_family_exact(f, work)) r = dae_family_relatives(f, STEP, err);
        *value = 0;
        if (r >= 0) r = adjoint(f, opt, G, value, gradient, stats, err);
        dae_family_close(f);
        stats->mode = "adjoint";
        if (r >= 0 || !automatic || r != DAE_ERR_UNSUPPORTED) return r;
    }
    stats->mode = "forward";
    return forward_gradient(p, opt, G, name, count, value, gradient, stats, err);
}
