/* Switches of a mechanism: where its forces and motions are not smooth (daedalus/system.h).
 *
 * They are numbered once: those of forces (stop, contact, tire), of joints with friction (the sign of the only multiplier,
 * and whether friction is full), of the expressions of forces and drivers. Margins are noted by the same code that
 * applies the forces, so that a branch and its border cannot disagree. A run gets a copy of the mechanism that has sides and
 * work space of its own and shares the rest. */
#include "multibody/external.h"
#include "multibody/joint_coordinates.h"

#include "language/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINT_SWITCHES = 2 };

/* ---- Where branches are taken -------------------------------------------------------------------------- */

int mbs_branch(mbs_context *x, int i, double phi)
{
    int side = mbs_frozen(x, i), natural = phi > 0 ? 1 : -1;
    if (x->note && i >= 0) {
        x->note->margin[i] = side == DAE_SIDE_FREE ? 0 : side * phi;
        x->note->next[i] = side == DAE_SIDE_FREE ? natural : -side;
    }
    return side == DAE_SIDE_FREE ? natural : side;
}

int mbs_layer(mbs_context *x, int i, double value, double width)
{
    int side = mbs_frozen(x, i), natural = value > width ? 1 : value < -width ? -1 : 0;
    if (x->note && i >= 0) {
        x->note->margin[i] = side == DAE_SIDE_FREE ? 0 : side ? side * value - width : width - fabs(value);
        x->note->next[i] = side == DAE_SIDE_FREE ? natural : side ? 0 : value > 0 ? 1 : -1;
    }
    return side == DAE_SIDE_FREE ? natural : side;
}

const int *mbs_expression_sides(const mbs_context *x, int expression)
{
    int first = x->m->expression_side[expression];
    return x->m->side && first >= 0 ? x->m->side + first : NULL;
}

void mbs_note_expression(const mbs_context *x, int expression, const double *values)
{
    int first = x->m->expression_side[expression];
    if (first < 0) return;
    dae_expression_margins(x->m->expression[expression], mbs_expression_sides(x, expression), values,
                           x->note->margin + first, x->note->next + first, x->work);
}

/* ---- Numbers ------------------------------------------------------------------------------------------- */

/* Names of switches first .. first+count-1: what and whose. */
static void name(mbs_mechanism *m, int first, int count, const char *what, const char *whose)
{
    size_t length = strlen(what) + strlen(whose) + 4;
    char *text = dae_arena_take(m->arena, length, 1);
    if (text) snprintf(text, length, "%s \"%s\"", what, whose);
    for (int i = first; i < first + count; i++) m->side_name[i] = text;
}

/* Whose expression k is. */
static void name_expression(mbs_mechanism *m, int k, int first, int count)
{
    for (int i = 0; i < m->nforce; i++) {
        for (int c = 0; c < 3; c++) {
            if (m->force[i].value[c] == k)
                name(m, first, count, "the value of force", m->force[i].model->name);
        }
    }
    for (int i = 0; i < m->nrows; i++) {
        if (m->row[i].motion == k && m->row[i].driver >= 0)
            name(m, first, count, "the motion of driver", m->model->driver[m->row[i].driver].name);
    }
}

static int switches_of(const mbs_mechanism *m, const mbs_force_data *f)
{
    return f->type->count_switches ? f->type->count_switches(m, f) : f->type->switches;
}

dae_status mbs_number_switches(mbs_mechanism *m)
{
    int n = 0;
    for (int k = 0; k < m->nforce; k++) {
        int own = switches_of(m, &m->force[k]);
        m->force[k].side = own ? n : -1;
        n += own;
    }
    for (int k = 0; k < m->njoint; k++) {
        int slips = m->joint[k].model->friction.mu > 0;
        m->joint[k].side = slips ? n : -1;
        n += slips ? JOINT_SWITCHES : 0;
    }
    for (int k = 0; k < m->nexpression; k++) {
        int own = m->expression_side[k] >= 0 ? dae_expression_switches(m->expression[k]) : 0;
        m->expression_side[k] = own ? n : -1;
        n += own;
    }
    m->external_side = n;
    if (m->external) n += m->external->nswitch;
    m->nside = n;
    m->side_name = dae_arena_take(m->arena, (size_t)n + 1, sizeof *m->side_name);
    if (!m->side_name) return DAE_ERR_MEMORY;
    for (int k = 0; k < m->nforce; k++)
        name(m, m->force[k].side, switches_of(m, &m->force[k]), m->force[k].type->name,
             m->force[k].model->name);
    for (int k = 0; k < m->njoint; k++) {
        if (m->joint[k].side >= 0)
            name(m, m->joint[k].side, JOINT_SWITCHES, "friction in joint", m->joint[k].model->name);
    }
    for (int k = 0; k < m->nexpression; k++) {
        if (m->expression_side[k] >= 0)
            name_expression(m, k, m->expression_side[k], dae_expression_switches(m->expression[k]));
    }
    for (int i = 0; m->external && i < m->external->nswitch; i++)
        m->side_name[m->external_side + i] = m->external->switch_name(m->external, i);
    return dae_arena_failed(m->arena) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Drivers that jump ------------------------------------------------------------------------------------- */

enum { LOOK = 4000 }; /* times between t0 and t1 at which a motion is looked at; ours */
#define JUMP 1e-9     /* relative to the largest position and speed of the motion; ours */

/* Sides of expression e (of t alone) at t. */
static void sides_at(const dae_expression *e, double t, double *margin, int *side, double *work)
{
    int n = dae_expression_switches(e);
    for (int i = 0; i < n; i++) side[i] = DAE_SIDE_FREE;
    dae_expression_margins(e, NULL, &t, margin, side, work);
}

/* c and c' of a motion at t, on given sides. */
static void motion_on(const dae_expression *e, const int *side, double t, double c[3], double *work)
{
    double one = 1, zero = 0;
    c[0] = dae_expression_curve_on(e, side, &t, &one, &zero, c + 1, work);
}

/* The sides change between a and b: compares both where they do. 0: no jump; else 1 + the derivative that jumps. */
static int jump_between(const dae_expression *e, double a, double b, const double scale[2], double *work,
                        double *t, double *size)
{
    enum { most = 64 };
    double margin[most], c[2][3];
    int side[3][most], n = dae_expression_switches(e);
    if (n > most) return 0;
    sides_at(e, a, margin, side[0], work);
    sides_at(e, b, margin, side[1], work);
    if (!memcmp(side[0], side[1], (size_t)n * sizeof(int))) return 0;
    for (double middle; (middle = a + (b - a) / 2) > a && middle < b;) {
        sides_at(e, middle, margin, side[2], work);
        if (memcmp(side[0], side[2], (size_t)n * sizeof(int)) != 0)
            b = middle, memcpy(side[1], side[2], sizeof side[1]);
        else a = middle;
    }
    motion_on(e, side[0], b, c[0], work);
    motion_on(e, side[1], b, c[1], work);
    for (int k = 0; k < 2; k++) {
        *t = b;
        *size = c[1][k] - c[0][k];
        if (fabs(*size) > JUMP * scale[k]) return 1 + k;
    }
    return 0;
}

dae_status mbs_check_motions(const mbs_mechanism *m, double t0, double t1, dae_error *err)
{
    double *work = calloc(m->work_size + 1, sizeof *work), h = (t1 - t0) / LOOK;
    dae_status s = work ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int k = 0; k < m->nrows && !s; k++) {
        const mbs_row *r = &m->row[k];
        if (r->motion < 0 || m->expression_side[r->motion] < 0) continue;
        const dae_expression *e = m->expression[r->motion];
        double scale[2] = {1e-3, 1e-3}, c[3], t, size;
        for (int i = 0; i <= LOOK; i++) {
            motion_on(e, NULL, t0 + i * h, c, work);
            for (int d = 0; d < 2; d++) scale[d] = fmax(scale[d], fabs(c[d]));
        }
        for (int i = 0; i < LOOK && !s; i++) {
            double from = t0 + (i ? i : 1e-9) * h; /* what was before the start does not count */
            int what = jump_between(e, from, t0 + (i + 1) * h, scale, work, &t, &size);
            if (what)
                s = dae_fail(err, DAE_ERR_INPUT, t,
                             "driver \"%s\" jumps in %s by %.6g at t = %.10g: a motion must be smooth; join "
                             "its parts with "
                             "smoothstep(t, a, b) or give it as a spline",
                             m->model->driver[r->driver].name, what == 1 ? "position" : "speed", size, t);
        }
    }
    free(work);
    return s;
}

/* ---- The system's switches ------------------------------------------------------------------------------- */

static int values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    const mbs_mechanism *m = user;
    mbs_note note = {margin, next};
    if (!m->note_f) return 1; /* only copies of a run have room for it */
    for (int i = 0; i < m->nside; i++) {
        margin[i] = 1; /* what is not asked in this state does not switch */
        next[i] = side[i] == DAE_SIDE_FREE ? 1 : side[i];
    }
    if (m->note_lambda && mbs_mechanism_acceleration(m, t, y, NULL, m->note_lambda, NULL)) return 1;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    x.lambda = m->note_lambda;
    x.f = m->note_f;
    x.note = &note;
    mbs_apply_forces(&x);
    for (int k = 0; k < m->nrows; k++) {
        if (m->row[k].motion >= 0) mbs_note_expression(&x, m->row[k].motion, &t);
    }
    mbs_external_margins(&x, margin, next);
    mbs_end(&x);
    return 0;
}

static const char *side_name(int i, void *user)
{
    const char *text = ((const mbs_mechanism *)user)->side_name[i];
    return text ? text : "an expression";
}

static void release(dae_system *own)
{
    mbs_mechanism *m = own->switches.user;
    mbs_shelf_destroy(m->shelf);
    dae_arena_destroy(m->arena);
    free(m);
}

static dae_status bind(const dae_system *sys, dae_system *own, dae_error *err)
{
    const mbs_mechanism *m = sys->switches.user;
    mbs_mechanism *v = calloc(1, sizeof *v);
    dae_arena *arena = dae_arena_create();
    if (!v || !arena) goto memory;
    memcpy(v, m, sizeof *v);
    v->shelf = NULL;
    v->owned = NULL;
    v->arena = arena;
    v->side = dae_arena_ints(arena, (size_t)m->nside);
    v->note_f = dae_arena_reals(arena, (size_t)m->nv);
    v->note_nearest = dae_arena_reals(arena, (size_t)m->nbody + 1);
    if (m->friction) v->note_lambda = dae_arena_reals(arena, (size_t)m->nlambda + 1);
    if (mbs_shelf_create(v) || dae_arena_failed(arena)) goto memory;
    for (int i = 0; i < m->nside; i++) v->side[i] = DAE_SIDE_FREE;
    if (m->tree && !(v->tree = mbs_tree_copy(m->tree, v, arena))) goto memory;
    v->system.mech.user = v;
    if (v->system.mech.joint) v->system.mech.joint = &v->tree->form;
    v->system.switches.user = v;
    v->system.switches.side = v->side;
    v->system.switches.bind = NULL;
    *own = v->system;
    return DAE_OK;
memory:
    if (v) mbs_shelf_destroy(v->shelf);
    dae_arena_destroy(arena);
    free(v);
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the switches of a run");
}

void mbs_set_switches(mbs_mechanism *m)
{
    if (!m->nside) return;
    m->system.switches = (dae_switches){
        .count = m->nside, .values = values, .name = side_name, .bind = bind, .release = release, .user = m};
}
