/* The functions of a problem at a given point, from JSON to JSON. */
#include "core/escape.h"
#include "core/matrix.h"
#include "core/text.h"
#include "table/json_value.h"

#include <daedalus/experiment.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is read and what comes out; arrays from the arena. */
typedef struct eval {
    const dae_problem *p;
    dae_arena *arena;
    json_t *state, *answer;
    dae_error *err;
    double t;
    double *y, *yp, *lambda; /* mechanical: y = (p, v, u) */
    int bad;                 /* worst answer of a callback */
} eval;

static json_t *rows_of(const dae_matrix *m, int n)
{
    json_t *rows = json_array();
    for (int i = 0; i < n; i++) {
        json_t *row = json_array();
        for (int j = 0; j < n; j++)
            json_array_append_new(row, dae_json_real(m->n ? dae_matrix_get(m, i, j) : i == j));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void put(eval *e, const char *key, json_t *value)
{
    json_object_set_new(e->answer, key, value);
}

/* ---- Reading ------------------------------------------------------------------------------------- */

static dae_status read_array(eval *e, const char *key, int n, int required, double *out)
{
    json_t *list = json_object_get(e->state, key);
    if (!list && !required) return DAE_OK;
    if (!list)
        return dae_fail(e->err, DAE_ERR_INPUT, NAN,
                        "the key \"%s\" is missing; expected a list of %d numbers", key, n);
    if (!json_is_array(list))
        return dae_fail(e->err, DAE_ERR_INPUT, NAN, "\"%s\" must be a list of %d numbers", key, n);
    if (json_array_size(list) != (size_t)n) {
        return dae_fail(e->err, DAE_ERR_INPUT, NAN, "\"%s\" has %zu numbers, expected %d", key,
                        json_array_size(list), n);
    }
    for (int i = 0; i < n; i++) {
        json_t *v = json_array_get(list, (size_t)i);
        if (!json_is_number(v))
            return dae_fail(e->err, DAE_ERR_INPUT, NAN, "element %d of \"%s\" is not a number", i + 1, key);
        out[i] = json_number_value(v);
    }
    return DAE_OK;
}

static dae_status check_keys(eval *e, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(e->state, key, value)
    {
        int found = 0;
        char all[128] = "";
        for (int i = 0; known[i]; i++) {
            found |= !strcmp(known[i], key);
            strcat(all, i ? ", " : "");
            strcat(all, known[i]);
        }
        if (!found)
            return dae_fail(e->err, DAE_ERR_INPUT, NAN, "unknown key \"%.40s\"; expected %s", key, all);
    }
    return DAE_OK;
}

static dae_status read_state(eval *e)
{
    static const char *const plain[] = {"t", "y", "yprime", NULL}, *const mech[] = {"t", "p",      "v",
                                                                                    "u", "lambda", NULL};
    const dae_system *sys = &e->p->system;
    dae_kind kind = sys->kind;
    dae_status s = check_keys(e, kind == DAE_KIND_MECH ? mech : plain);
    if (s < 0) return s;
    json_t *t = json_object_get(e->state, "t");
    if (t && !json_is_number(t)) return dae_fail(e->err, DAE_ERR_INPUT, NAN, "\"t\" is not a number");
    e->t = t ? json_number_value(t) : e->p->t0;
    int n = dae_system_size(sys);
    e->y = dae_arena_reals(e->arena, (size_t)n + 1);
    e->yp = dae_arena_reals(e->arena, (size_t)n + 1);
    e->lambda = dae_arena_reals(e->arena, kind == DAE_KIND_MECH ? (size_t)sys->mech.nlambda + 1 : 1);
    if (dae_arena_failed(e->arena)) return dae_fail(e->err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (kind == DAE_KIND_MECH) {
        const dae_mech *m = &sys->mech;
        s = read_array(e, "p", m->np, 1, e->y);
        if (s >= 0) s = read_array(e, "v", m->nv, 1, e->y + m->np);
        if (s >= 0) s = read_array(e, "u", m->nu, m->nu > 0, e->y + m->np + m->nv);
        if (s >= 0) s = read_array(e, "lambda", m->nlambda, 0, e->lambda);
        return s;
    }
    s = read_array(e, "y", n, 1, e->y);
    if (s >= 0) s = read_array(e, "yprime", n, kind == DAE_KIND_IDE, e->yp);
    return s;
}

/* ---- Evaluating ---------------------------------------------------------------------------------- */

/* Remembers the answer of a callback and whether its values are finite. */
static int fine(eval *e, int answer, const double *x, int n)
{
    for (int i = 0; answer == 0 && i < n; i++) {
        if (!isfinite(x[i])) answer = 1;
    }
    if (answer != 0 && e->bad >= 0) e->bad = answer;
    return answer == 0;
}

static dae_status eval_jacobian(eval *e, const char *key, dae_jac *jac, dae_residual_jac *rjac, void *user)
{
    int n = dae_system_size(&e->p->system);
    const dae_pattern *pattern = &e->p->system.structure.jacobian;
    long count = dae_pattern_count(pattern, n);
    if (!jac && !rjac) {
        put(e, key, json_null());
        return DAE_OK;
    }
    double *a = dae_arena_reals(e->arena, (size_t)count + 1);
    if (!a) return dae_fail(e->err, DAE_ERR_MEMORY, NAN, "out of memory");
    int answer = jac ? jac(e->t, e->y, a, user) : rjac(e->t, e->y, e->yp, a, user);
    if (fine(e, answer, a, (int)count)) {
        dae_matrix m = {.n = n, .pattern = *pattern, .a = a};
        put(e, key, rows_of(&m, n));
    }
    return DAE_OK;
}

static dae_status eval_plain(eval *e, int with_jacobian)
{
    const dae_system *sys = &e->p->system;
    int n = dae_system_size(sys), answer;
    double *f = dae_arena_reals(e->arena, (size_t)n + 1);
    if (!f) return dae_fail(e->err, DAE_ERR_MEMORY, NAN, "out of memory");
    switch (sys->kind) {
    case DAE_KIND_ODE: answer = sys->ode.f(e->t, e->y, f, sys->ode.user); break;
    case DAE_KIND_DAE: answer = sys->dae.f(e->t, e->y, f, sys->dae.user); break;
    default: answer = sys->ide.residual(e->t, e->y, e->yp, f, sys->ide.user); break;
    }
    if (!fine(e, answer, f, n)) return DAE_OK;
    put(e, "f", dae_json_reals(f, n));
    if (sys->kind == DAE_KIND_DAE) put(e, "mass", rows_of(&sys->dae.mass, n));
    if (!with_jacobian) return DAE_OK;
    if (sys->kind == DAE_KIND_ODE) return eval_jacobian(e, "jac", sys->ode.jac, NULL, sys->ode.user);
    if (sys->kind == DAE_KIND_DAE) return eval_jacobian(e, "jac", sys->dae.jac, NULL, sys->dae.user);
    dae_status s = eval_jacobian(e, "jac", NULL, sys->ide.dfdy, sys->ide.user);
    return s < 0 ? s : eval_jacobian(e, "jac_yprime", NULL, sys->ide.dfdyp, sys->ide.user);
}

static json_t *columns_to_rows(const double *a, int m, int n)
{
    json_t *rows = json_array();
    for (int i = 0; i < m; i++) {
        json_t *row = json_array();
        for (int j = 0; j < n; j++) json_array_append_new(row, dae_json_real(a[i + j * m]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static dae_status eval_mech(eval *e)
{
    const dae_mech *m = &e->p->system.mech;
    dae_mech_point x = {.t = e->t,
                        .p = e->y,
                        .v = e->y + m->np,
                        .u = e->y + m->np + m->nv,
                        .lambda = e->lambda},
                   position = {.t = e->t, .p = e->y};
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda;
    double *f = dae_arena_reals(e->arena, nv + 1), *mass = dae_arena_reals(e->arena, nv * nv + 1);
    double *g = dae_arena_reals(e->arena, nl + 1), *G = dae_arena_reals(e->arena, nl * nv + 1);
    double *pdot = dae_arena_reals(e->arena, (size_t)m->np + 1),
           *u = dae_arena_reals(e->arena, (size_t)m->nu + 1);
    if (dae_arena_failed(e->arena)) return dae_fail(e->err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (fine(e, m->force(&x, f, m->user), f, m->nv)) put(e, "f", dae_json_reals(f, m->nv));
    if (!m->mass_fn) {
        put(e, "mass", rows_of(&m->mass, m->nv));
    } else if (fine(e, m->mass_fn(&position, mass, m->user), mass, m->nv * m->nv)) {
        put(e, "mass", columns_to_rows(mass, m->nv, m->nv));
    }
    if (m->constraint && fine(e, m->constraint(&position, g, G, m->user), g, m->ng) &&
        fine(e, 0, G, m->nlambda * m->nv)) {
        put(e, "g", dae_json_reals(g, m->ng));
        put(e, "G", columns_to_rows(G, m->nlambda, m->nv));
    }
    dae_mech_point moving = {.t = e->t, .p = x.p, .v = x.v};
    if (m->kinematics && fine(e, m->kinematics(&moving, pdot, m->user), pdot, m->np))
        put(e, "pdot", dae_json_reals(pdot, m->np));
    if (m->nu > 0 && m->dynamics && fine(e, m->dynamics(&x, u, m->user), u, m->nu))
        put(e, "udot", dae_json_reals(u, m->nu));
    return DAE_OK;
}

static int hand_over(const char *buffer, size_t size, void *user)
{
    const dae_text *x = user;
    return x->write(buffer, size, x->user);
}

static dae_status answer(eval *e, int with_jacobian, dae_write_fn *write, void *user)
{
    dae_status s = read_state(e);
    if (s < 0) return s;
    put(e, "problem", json_string(e->p->info ? e->p->info->name : "system"));
    put(e, "status", json_string("ok"));
    put(e, "kind", json_string(dae_kind_name(e->p->system.kind)));
    put(e, "t", dae_json_real(e->t));
    s = e->p->system.kind == DAE_KIND_MECH ? eval_mech(e) : eval_plain(e, with_jacobian);
    if (s < 0) return s;
    if (e->bad < 0)
        return dae_fail(e->err, DAE_ERR_CALLBACK, e->t,
                        "a function of the problem asked to stop (it answered %d)", e->bad);
    if (e->bad > 0) {
        json_object_clear(e->answer);
        put(e, "status", json_string("undefined"));
    }
    dae_text x = {.write = write, .user = user};
    int failed = json_dump_callback(e->answer, hand_over, &x, JSON_REAL_PRECISION(17) | JSON_COMPACT) < 0;
    if (failed || write("\n", 1, user) < 0)
        return dae_fail(e->err, DAE_ERR_FILE, NAN, "the answer could not be written");
    return DAE_OK;
}

dae_status dae_eval_json(const dae_problem *p, const char *state, size_t length, int with_jacobian,
                         dae_write_fn *write, void *user, dae_error *err)
{
    json_error_t where;
    eval e = {.p = p, .err = err};
    size_t mark = dae_utf8_mark(state, length);
    e.state =
        dae_json_read(state + mark, length - mark, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &where);
    if (!e.state && dae_json_starved(&where)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!e.state)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "line %d, column %d: %s", where.line, where.column,
                        where.text);
    if (!json_is_object(e.state)) {
        json_decref(e.state);
        return dae_fail(err, DAE_ERR_INPUT, NAN, "expected one JSON object like {\"t\":0,\"y\":[1,2]}");
    }
    e.arena = dae_arena_create();
    e.answer = json_object();
    dae_status s = e.arena && e.answer ? answer(&e, with_jacobian, write, user)
                                       : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    json_decref(e.answer);
    json_decref(e.state);
    dae_arena_destroy(e.arena);
    return s;
}
