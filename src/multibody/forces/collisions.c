/* Collisions: the shapes of all bodies and of the ground push each other apart, with friction (solid.h says where they touch).
 * With the depth s of a touch, its rate s', its weight w and the restitution e,
 *
 *     N = w k s ((1 + e^2)/2 + (1 - e^2)/2 tanh(s'/v_r)),    friction  -mu N tanh(|v_t|/v_s) v_t/|v_t|,
 *
 * at the place that halves s, on both bodies alike: momentum and angular momentum are kept. Bodies that come nearer meet the spring k, those
 * that part are pushed by e^2 k only: what hits with the speed v leaves with e v, whatever k, the masses and v are (for v well
 * above v_r; [Walton and Braun, J. Rheology 30 (1986) 949] without the smoothing). The force grows from zero, so that corners
 * come and go without jumps, and slow motions are damped: things come to rest.
 *
 * Bodies that a joint connects do not collide. Broad phase: spheres around the solids, sorted by where they begin along x; only
 * pairs that overlap there and in space are looked at. One switch per body: where it begins to touch anything and where it ends, so that no touch
 * inside of a long step is missed. */
#include "multibody/build.h"
#include "multibody/dual.h"
#include "multibody/field.h"
#include "multibody/forces/friction.h"
#include "multibody/solid.h"

#include <string.h>

typedef struct collisions {
    double k, restitution, mu, v_s, v_r;
    /* made by build: */
    mbs_solid *solid;
    int nsolid, nfree;     /* those before nfree are on bodies, the others on the ground or half spaces */
    int *first, *neighbor; /* of body b, first[b] .. first[b+1]-1: bodies that it does not collide with */
} collisions;

static const mbs_field fields[] = {
    MBS_REQUIRED(collisions, k, "N/m", MBS_POSITIVE, "stiffness of every touch"),
    MBS_OPTIONAL(collisions, restitution, "", 0.5, MBS_NOT_NEGATIVE, "speed after over speed before, 0 .. 1"),
    MBS_OPTIONAL(collisions, mu, "", 0, MBS_NOT_NEGATIVE, "coefficient of dry friction"),
    MBS_OPTIONAL(collisions, v_s, "m/s", 1e-3, MBS_POSITIVE, "speed at which friction is full"),
    MBS_OPTIONAL(collisions, v_r, "m/s", 1e-2, MBS_POSITIVE, "slower ones do not rebound"),
    {.name = NULL},
};

static const collisions *own_of(const mbs_force_data *f)
{
    return f->own;
}

/* ---- Building ----------------------------------------------------------------------------------------------- */

static int is_free(const mbs_shape *s)
{
    return s->body > 0 && strcmp(s->kind, "plane") != 0;
}

static int set_neighbors(const mbs_mechanism *m, collisions *own)
{
    own->first = dae_arena_ints(m->arena, (size_t)m->nbody + 2);
    own->neighbor = dae_arena_ints(m->arena, 2 * (size_t)m->njoint + 1);
    if (dae_arena_failed(m->arena)) return 1;
    int n = 0;
    for (int b = 0; b <= m->nbody; b++) {
        own->first[b] = n;
        for (int k = 0; k < m->njoint; k++) {
            int i = m->joint[k].i.body, j = m->joint[k].j.body;
            if (i == j) continue; /* a gear */
            if (i == b) own->neighbor[n++] = j;
            else if (j == b) own->neighbor[n++] = i;
        }
    }
    own->first[m->nbody + 1] = n;
    return 0;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    mbs_mechanism *m = b->m;
    const mbs_model *model = m->model;
    collisions *own = (collisions *)f->own; /* filled in the arena of the mechanism just now */
    own->solid = dae_arena_take(m->arena, (size_t)model->nshape + 1, sizeof *own->solid);
    if (!own->solid || set_neighbors(m, own)) return dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int pass = 0; pass < 2; pass++) { /* those that move first */
        for (int k = 0; k < model->nshape; k++) {
            const mbs_shape *s = &model->shape[k];
            dae_error why = {0};
            if (!mbs_solid_kind(s->kind, m->planar) || is_free(s) == pass) continue;
            if (mbs_solid_create(s, m->planar, m->arena, &own->solid[own->nsolid++], &why))
                return mbs_wrong(b, "shape %d of \"%s\": %s", k,
                                 s->body ? model->body[s->body - 1].name : "ground", why.text);
        }
        if (pass == 0) own->nfree = own->nsolid;
    }
    if (own->restitution > 1) return mbs_wrong(b, "restitution: expected 0 .. 1");
    if (!own->nfree)
        return mbs_wrong(b, "no body has a shape that can touch: %s",
                         m->planar ? "sphere, box, capsule or cylinder" : "sphere, box, capsule or mesh");
    size_t room = 3 * (size_t)own->nsolid + 2 * (size_t)own->nfree;
    if (m->scratch < room) m->scratch = room;
    return DAE_OK;
}

static int switches_of(const mbs_mechanism *m, const mbs_force_data *f)
{
    (void)f;
    return m->nbody;
}

/* ---- Pairs ---------------------------------------------------------------------------------------------------- */

static mbs_stand stand_of(const mbs_context *x, const mbs_solid *s)
{
    return (mbs_stand){x->pose[s->body].r, x->pose[s->body].A};
}

static void center_of(const mbs_context *x, const mbs_solid *s, double *c)
{
    const mbs_pose *p = &x->pose[s->body];
    mbs_rotate(p->A, s->center, c);
    for (int i = 0; i < 3; i++) c[i] += p->r[i];
}

static int may_meet(const collisions *own, const mbs_solid *a, const mbs_solid *b)
{
    if (a->body == b->body) return 0;
    for (int k = own->first[a->body]; k < own->first[a->body + 1]; k++) {
        if (own->neighbor[k] == b->body) return 0;
    }
    return 1;
}

/* Distance of the spheres around two solids; a half space has none, but its plane. */
static double rough_gap(const mbs_context *x, const mbs_solid *a, const mbs_solid *b)
{
    double c[3], d[3], n[3];
    center_of(x, a, c);
    if (b->half_space) {
        mbs_axis(x, b->body, b->normal, n);
        return mbs_dot(n, c) - mbs_dot(n, x->pose[b->body].r) - b->offset[0] - a->reach;
    }
    center_of(x, b, d);
    for (int i = 0; i < 3; i++) d[i] -= c[i];
    return mbs_norm(d) - a->reach - b->reach;
}

typedef void visit_fn(mbs_context *x, const mbs_force_data *f, const mbs_touch *t, void *to);

static void visit_pair(mbs_context *x, const mbs_force_data *f, const mbs_solid *a, const mbs_solid *b,
                       visit_fn *visit, void *to)
{
    mbs_touch touch[MBS_TOUCHES];
    double least;
    /* The sides say that one of them touches nothing in this step. */
    if (mbs_frozen(x, a->body ? f->side + a->body - 1 : -1) == -1 ||
        mbs_frozen(x, b->body ? f->side + b->body - 1 : -1) == -1)
        return;
    if (!may_meet(own_of(f), a, b) || rough_gap(x, a, b) >= 0) return;
    int n = mbs_solid_touches(a, stand_of(x, a), b, stand_of(x, b), touch, &least);
    for (int k = 0; k < n; k++) visit(x, f, &touch[k], to);
}

/* key[order[i]] ascending: heap sort, in place. */
static void sort(int n, const double *key, double *order)
{
    for (int start = n / 2 - 1, end = n; end > 1;) {
        int root;
        if (start >= 0) root = start--;
        else {
            double swap = order[--end];
            order[end] = order[0], order[0] = swap;
            root = 0;
        }
        for (int child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && key[(int)order[child + 1]] > key[(int)order[child]]) child++;
            if (key[(int)order[root]] >= key[(int)order[child]]) break;
            double swap = order[root];
            order[root] = order[child], order[child] = swap;
        }
    }
}

static void visit_all(mbs_context *x, const mbs_force_data *f, visit_fn *visit, void *to)
{
    const collisions *own = own_of(f);
    double *low = x->scratch, *order = low + own->nfree, c[3];
    for (int i = 0; i < own->nfree; i++) {
        center_of(x, &own->solid[i], c);
        low[i] = c[0] - own->solid[i].reach;
        order[i] = i;
    }
    sort(own->nfree, low, order);
    for (int i = 0; i < own->nfree; i++) {
        const mbs_solid *a = &own->solid[(int)order[i]];
        double end = low[(int)order[i]] + 2 * a->reach;
        for (int k = i + 1; k < own->nfree && low[(int)order[k]] < end; k++)
            visit_pair(x, f, a, &own->solid[(int)order[k]], visit, to);
        for (int k = own->nfree; k < own->nsolid; k++) visit_pair(x, f, a, &own->solid[k], visit, to);
    }
}

/* ---- Margins -------------------------------------------------------------------------------------------------- */

/* Distances between solids i and k, i < k, where they can be the nearest of their bodies; bodies far from each other are told by the
 * spheres around them. */
static void compare(mbs_context *x, const collisions *own, const double *center, int i, int k,
                    double *nearest)
{
    const mbs_solid *a = &own->solid[i], *b = &own->solid[k];
    const double *c = center + 3 * i, *o = center + 3 * k;
    double reach = a->reach + b->reach + fmax(nearest[a->body], b->body ? nearest[b->body] : -INFINITY);
    double d2 = (c[0] - o[0]) * (c[0] - o[0]) + (c[1] - o[1]) * (c[1] - o[1]) + (c[2] - o[2]) * (c[2] - o[2]);
    if (reach > 0 && d2 > reach * reach) return;
    double gap = rough_gap(x, a, b);
    if (gap >= nearest[a->body] && (b->body == 0 || gap >= nearest[b->body])) return;
    if (!may_meet(own, a, b)) return;
    if (gap < fmin(a->reach, b->reach)) mbs_solid_touches(a, stand_of(x, a), b, stand_of(x, b), NULL, &gap);
    nearest[a->body] = fmin(nearest[a->body], gap);
    nearest[b->body] = fmin(nearest[b->body], gap);
}

/* Of every body the distance to the nearest thing it can touch, or minus the depth. Each solid that moves looks at the others in the order
 * of x, to both sides, until not even the largest could be nearer. */
static void note_margins(mbs_context *x, const mbs_force_data *f)
{
    const collisions *own = own_of(f);
    const mbs_mechanism *m = x->m;
    double *nearest = m->note_nearest, *center = x->scratch, *at = center + 3 * own->nsolid,
           *order = at + own->nfree, largest = 0;
    for (int b = 0; b <= m->nbody; b++) nearest[b] = INFINITY;
    for (int i = 0; i < own->nsolid; i++) center_of(x, &own->solid[i], center + 3 * i);
    for (int i = 0; i < own->nfree; i++) {
        at[i] = center[3 * i];
        order[i] = i;
        largest = fmax(largest, own->solid[i].reach);
    }
    sort(own->nfree, at, order);
    for (int r = 0; r < own->nfree; r++) {
        int i = (int)order[r];
        const mbs_solid *a = &own->solid[i];
        double spheres = a->reach + largest;
        for (int k = own->nfree; k < own->nsolid; k++) compare(x, own, center, i, k, nearest);
        for (int side = -1; side <= 1; side += 2) {
            for (int s = r + side; s >= 0 && s < own->nfree; s += side) {
                int k = (int)order[s];
                if (fabs(at[k] - at[i]) - spheres >= nearest[a->body]) break;
                compare(x, own, center, i < k ? i : k, i < k ? k : i, nearest);
            }
        }
    }
    for (int b = 1; b <= m->nbody; b++) {
        if (nearest[b] < INFINITY) mbs_branch(x, f->side + b - 1, -nearest[b]);
    }
}

/* ---- Forces ----------------------------------------------------------------------------------------------------- */

/* Normal n (from b to a), gap and place of a touch. */
static mbs_dual locate(mbs_context *x, const mbs_touch *t, mbs_dual3 *n, mbs_dual3 *place)
{
    mbs_frame P = {.body = t->a}, Q = {.body = t->b};
    mbs_set(P.s, t->P);
    mbs_set(Q.s, t->Q);
    mbs_dual3 p = mbs_position3(x, &P), d = mbs_sum3(x, 1, p, -1, mbs_position3(x, &Q));
    mbs_dual gap;
    if (t->kind == MBS_TOUCH_FACE) {
        *n = mbs_axis3(x, t->b, t->e);
        gap = mbs_dot3(x, *n, d);
    } else if (t->kind == MBS_TOUCH_CROSS) {
        mbs_dual3 e = mbs_axis3(x, t->a, t->d), g = mbs_axis3(x, t->b, t->e), c = mbs_cross3(x, e, g);
        mbs_dual size2 = mbs_dot3(x, c, c), size = mbs_norm3(x, c);
        mbs_dual share =
            mbs_product(x, mbs_dot3(x, mbs_cross3(x, d, g), c),
                        mbs_chain(x, size2, -1 / size2.x, 1 / (size2.x * size2.x))); /* (q - p) = -d */
        *n = mbs_scale3(x, mbs_chain(x, size, t->toward / size.x, -t->toward / (size.x * size.x)), c);
        gap = mbs_dot3(x, *n, d);
        p = mbs_sum3(x, 1, p, 1, mbs_scale3(x, share, e));
    } else {
        if (t->kind == MBS_TOUCH_LINE) { /* d less its part along the line */
            double e[3], size = mbs_norm(t->e);
            for (int i = 0; i < 3; i++) e[i] = t->e[i] / size;
            mbs_dual3 along = mbs_axis3(x, t->b, e);
            d = mbs_sum3(x, 1, d, -1, mbs_scale3(x, mbs_dot3(x, along, d), along));
        }
        gap = mbs_norm3(x, d);
        *n = mbs_scale3(x, mbs_chain(x, gap, 1 / gap.x, -1 / (gap.x * gap.x)), d);
    }
    gap.x -= t->radius;
    mbs_dual back = mbs_sum(x, -0.5, gap, 0, gap); /* s/2 */
    back.x -= t->of_a;
    *place = mbs_sum3(x, 1, p, 1, mbs_scale3(x, back, *n));
    return gap;
}

/* Velocity of body b at a place in space, and what turns it about its center. */
static mbs_dual3 velocity_at(mbs_context *x, int body, mbs_dual3 place, mbs_dual3 *lever)
{
    mbs_frame center = {.body = body};
    static const double zero[3];
    mbs_set(center.s, zero);
    *lever = mbs_sum3(x, 1, place, -1, mbs_position3(x, &center));
    return mbs_sum3(x, 1, mbs_velocity3(x, &center), 1, mbs_cross3(x, mbs_omega3(x, body), *lever));
}

static void push(mbs_context *x, const mbs_force_data *f, const mbs_touch *t, void *to)
{
    const collisions *m = f->own;
    size_t mark = x->used;
    mbs_dual3 n, place, lever_a, lever_b;
    (void)to;
    mbs_dual gap = locate(x, t, &n, &place);
    mbs_dual3 v = velocity_at(x, t->a, place, &lever_a);
    v = mbs_sum3(x, 1, v, -1, velocity_at(x, t->b, place, &lever_b));
    mbs_dual away = mbs_dot3(x, n, v);
    double e2 = m->restitution * m->restitution, th = tanh(-away.x / m->v_r);
    mbs_dual share =
        mbs_chain(x, away, (1 + e2) / 2 + (1 - e2) / 2 * th, -(1 - e2) / 2 * (1 - th * th) / m->v_r);
    mbs_dual N = mbs_product(x, mbs_sum(x, -t->weight * m->k, gap, 0, gap), share);
    mbs_dual3 F = mbs_scale3(x, N, n);
    if (m->mu > 0) {
        mbs_dual3 slip = mbs_sum3(x, 1, v, -1, mbs_scale3(x, away, n));
        mbs_dual3 direction = mbs_slip_direction(x, -1, slip, m->v_s);
        F = mbs_sum3(x, 1, F, 1, mbs_scale3(x, mbs_sum(x, -m->mu, N, 0, N), direction));
    }
    mbs_frame on_a = {.body = t->a}, on_b = {.body = t->b};
    static const double zero[3];
    mbs_set(on_a.s, zero);
    mbs_set(on_b.s, zero);
    mbs_apply_force(x, &on_a, F, 1);
    mbs_apply_torque(x, t->a, mbs_cross3(x, lever_a, F), 1);
    mbs_apply_force(x, &on_b, F, -1);
    mbs_apply_torque(x, t->b, mbs_cross3(x, lever_b, F), -1);
    x->used = mark;
}

/* ---- The same in numbers, where no derivatives are wanted: six times as fast --------------------------------------- */

static void velocity_here(const mbs_context *x, int body, const double *place, double *lever, double *v)
{
    const mbs_pose *b = &x->pose[body];
    double w[3], turn[3];
    mbs_rotate(b->A, b->w, w);
    for (int i = 0; i < 3; i++) lever[i] = place[i] - b->r[i];
    mbs_cross(w, lever, turn);
    for (int i = 0; i < 3; i++) v[i] = b->v[i] + turn[i];
}

static void put_here(mbs_context *x, int body, const double *F, const double *lever, double sign)
{
    double n[3], own[3];
    if (body == 0) return;
    mbs_cross(lever, F, n);
    mbs_rotate_back(x->pose[body].A, n, own);
    for (int i = 0; i < 3; i++) {
        int v = mbs_slot_of(x->m, body, i), w = mbs_slot_of(x->m, body, 3 + i);
        if (v >= 0) x->f[v] += sign * F[i];
        if (w >= 0) x->f[w] += sign * own[i];
    }
}

/* Normal (from b to a) and place; 0: there is none. */
static void locate_here(const mbs_context *x, const mbs_touch *t, double *n, double *place)
{
    mbs_frame P = {.body = t->a}, Q = {.body = t->b};
    double p[3], d[3], e[3];
    mbs_set(P.s, t->P);
    mbs_set(Q.s, t->Q);
    mbs_point_position(x, &P, p);
    mbs_separation(x, &Q, &P, d);
    mbs_axis(x, t->b, t->e, e);
    if (t->kind == MBS_TOUCH_FACE) {
        mbs_set(n, e);
    } else if (t->kind == MBS_TOUCH_CROSS) {
        double along[3], c[3];
        mbs_axis(x, t->a, t->d, along);
        mbs_cross(along, e, n);
        mbs_cross(d, e, c);
        double size = mbs_norm(n), share = -mbs_dot(c, n) / (size * size);
        for (int i = 0; i < 3; i++) n[i] *= t->toward / size, p[i] += share * along[i];
    } else {
        double part = t->kind == MBS_TOUCH_LINE ? mbs_dot(e, d) / mbs_dot(e, e) : 0;
        for (int i = 0; i < 3; i++) n[i] = d[i] - part * e[i];
        double size = mbs_norm(n);
        for (int i = 0; i < 3; i++) n[i] /= size;
    }
    for (int i = 0; i < 3; i++) place[i] = p[i] - (t->of_a + 0.5 * t->gap) * n[i];
}

static void push_here(mbs_context *x, const mbs_force_data *f, const mbs_touch *t, void *to)
{
    const collisions *m = f->own;
    double n[3], place[3], lever_a[3], lever_b[3], v[3], other[3], F[3], e2 = m->restitution * m->restitution;
    (void)to;
    locate_here(x, t, n, place);
    velocity_here(x, t->a, place, lever_a, v);
    velocity_here(x, t->b, place, lever_b, other);
    for (int i = 0; i < 3; i++) v[i] -= other[i];
    double away = mbs_dot(n, v),
           N = -t->weight * m->k * t->gap * ((1 + e2) / 2 + (1 - e2) / 2 * tanh(-away / m->v_r));
    for (int i = 0; i < 3; i++) v[i] -= away * n[i];
    double slip = mbs_norm(v), r = slip / m->v_s, grip = r < 1e-3 ? (1 - r * r / 3) / m->v_s : tanh(r) / slip;
    for (int i = 0; i < 3; i++) F[i] = N * n[i] - m->mu * N * grip * v[i];
    put_here(x, t->a, F, lever_a, 1);
    put_here(x, t->b, F, lever_b, -1);
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    if (x->note) note_margins(x, f);
    else visit_all(x, f, x->nz || x->probe ? push : push_here, NULL);
}

static void add_potential(mbs_context *x, const mbs_force_data *f, const mbs_touch *t, void *to)
{
    (void)x;
    double e = own_of(f)->restitution;
    *(double *)to += 0.25 * (1 + e * e) * t->weight * own_of(f)->k * t->gap * t->gap;
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double sum = 0;
    visit_all(x, f, add_potential, &sum);
    return sum;
}

static void deepest(mbs_context *x, const mbs_force_data *f, const mbs_touch *t, void *to)
{
    (void)x, (void)f;
    *(double *)to = fmax(*(double *)to, -t->gap);
}

static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    visit_all(x, f, deepest, &out->deflection.x);
}

const mbs_force_type mbs_force_collisions = {
    .name = "collisions",
    .doc = "shapes of bodies and ground push each other apart, with `restitution` and friction",
    .acts = MBS_ACTS_ALL,
    .field = fields,
    .size = sizeof(collisions),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
    .count_switches = switches_of,
};
