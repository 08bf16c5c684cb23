/* Relatives of a problem: opened with p + d and p - d. */
#include "sensitivity/family.h"

#include "core/number.h"
#include "core/vector.h"
#include "language/expression.h"
#include "method/driver.h"
#include "problem/problem.h"
#include "sensitivity/masses.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* Differences of eighth order at the tolerances where those of second order (about 1e-10, and 1e-8 where p changes f by little) would
 * be seen. d = 2^-8 |p|: where f has no singularity nearer than r |p|, the error of the formula is below 576 (d/(r p))^8, 3e-17 for
 * r = 1 and 5e-13 for r = 0.3; that of rounding is 1e-13. */
#define TIGHT 1e-8
#define WIDE (1.0 / 256)
#define SMOOTH \
    1e-10 /* ours: what the formula of sixth order may be off by; that of eighth is then better by about 100 */
#define NEAR 1e-6    /* ours: by how much differences may be off */
enum { NEARER = 2 }; /* widths that are tried, each a quarter of the last */
const double dae_family_weight[DAE_WIDE] = {1.0 / 280, -4.0 / 105, 1.0 / 5,   -4.0 / 5,
                                            4.0 / 5,   -1.0 / 5,   4.0 / 105, -1.0 / 280};
const int dae_family_place[DAE_WIDE] = {-4, -3, -2, -1, 1, 2, 3, 4};

/* ---- Names ---------------------------------------------------------------------------------------- */

static dae_status unknown_name(const dae_problem *p, const char *name, dae_error *err)
{
    char all[300] = "", buffer[24];
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    for (int i = 0; q && q[i].name; i++) {
        if (strlen(all) + strlen(q[i].name) + 3 > sizeof all) break;
        if (all[0]) strcat(all, ", ");
        strcat(all, q[i].name);
    }
    return dae_fail(
        err, DAE_ERR_INPUT, NAN,
        "there is no parameter and no component \"%s\"; parameters: %s; initial values: %s(0), ...", name,
        all[0] ? all : "none", dae_component_name(p, 0, buffer, sizeof buffer));
}

static dae_status find_name(dae_family *f, dae_direction_of *d, const char *name, dae_error *err)
{
    const dae_problem *p = f->p;
    size_t length = name ? strlen(name) : 0;
    if (!length) return dae_fail(err, DAE_ERR_INPUT, NAN, "the name of a parameter is empty");
    char *own = dae_arena_copy(f->arena, name, length + 1, 1);
    if (!own) return no_memory(err);
    d->name = own;
    int k;
    if (!dae_problem_variable(p, name, &k, &d->component)) return unknown_name(p, name, err);
    d->parameter = k;
    if (k >= 0) {
        const dae_parameter *q = &p->info->parameter[k];
        d->value = p->parameter[k];
        if (!q->choices && !q->integer) return DAE_OK;
        return dae_fail(err, DAE_ERR_INPUT, NAN, "parameter %s takes %s only; it has no derivative", name,
                        q->choices ? "words" : "whole numbers");
    }
    d->value = p->y0[d->component];
    return DAE_OK;
}

/* ---- Relatives ------------------------------------------------------------------------------------- */

void dae_parameter_text(const dae_problem *p, int k, double value, char *out, size_t size)
{
    int units = p->source && !strcmp(p->source, "equations");
    dae_si_text(value, units ? p->info->parameter[k].unit : NULL, out, size);
}

/* The problem with parameter j at value. */
static dae_status open_variant(const dae_family *f, const dae_direction_of *d, double value, dae_relative *r,
                               dae_error *err)
{
    char text[100];
    dae_parameter_text(f->p, dae_parameter_find(f->p, d->name), value, text, sizeof text);
    r->variant = dae_problem_variant(f->p, &(dae_setting){d->name, text}, 1, err);
    if (!r->variant) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    int k = dae_parameter_find(r->variant, d->name);
    if (dae_system_size(&r->variant->system) != f->n)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "parameter %s changes the number of components; it has no derivative", d->name);
    if (k < 0 || fabs(r->variant->parameter[k] - value) > 4 * DBL_EPSILON * fabs(value))
        return dae_fail(err, DAE_ERR_INTERNAL, NAN, "parameter %s could not be set to %s", d->name, text);
    return DAE_OK;
}

static dae_status shift_start(const dae_family *f, const dae_direction_of *d, double value, dae_relative *r,
                              dae_error *err)
{
    double *y0 = dae_arena_copy(f->arena, f->p->y0, (size_t)f->n, sizeof *y0);
    if (!y0) return no_memory(err);
    y0[d->component] = value;
    r->shifted = *f->p;
    r->shifted.y0 = y0;
    return DAE_OK;
}

/* One whose projections can be differentiated. */
static dae_simulation *open_simulation(const dae_problem *p, const dae_simulation_options *o, dae_error *err)
{
    dae_simulation *s = dae_simulation_open(p, o, err);
    if (s && s->form) s->form->d.smooth = 1;
    return s;
}

static dae_status open_relative(dae_family *f, const dae_direction_of *d, dae_relative *r, double step,
                                dae_error *err)
{
    double value = d->value + step;
    dae_status s = d->component >= 0 ? shift_start(f, d, value, r, err) : open_variant(f, d, value, r, err);
    if (s < 0) return s;
    const dae_problem *p = r->variant ? r->variant : &r->shifted;
    dae_simulation_options o = f->options;
    if (o.events == f->p->events) o.events = p->events;
    if (o.options.discontinuity == f->p->discontinuity) {
        o.options.discontinuity = p->discontinuity;
        o.options.ndiscontinuity = p->ndiscontinuity;
    }
    r->sim = open_simulation(p, &o, err);
    if (!r->sim) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    r->step = value - d->value;
    int moved = r->sim->options.ndiscontinuity != f->sim->options.ndiscontinuity;
    for (int k = 0; !moved && k < f->sim->options.ndiscontinuity; k++)
        moved = r->sim->options.discontinuity[k] != f->sim->options.discontinuity[k];
    if (moved)
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "parameter %s moves a discontinuity of the system in time; make it an event (when ...) instead",
            d->name);
    if (r->sim->nz != f->nz)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "parameter %s changes the structure of the system",
                        d->name);
    return dae_family_take_over(f, r->sim) ? no_memory(err) : DAE_OK;
}

static void close_relative(dae_relative *r)
{
    dae_simulation_close(r->sim);
    dae_problem_destroy(r->variant);
    *r = (dae_relative){0};
}

/* Both sides, or one where the other does not exist (a border of the range of the parameter). */
static dae_status open_direction(dae_family *f, dae_direction_of *d, double step, dae_error *err)
{
    double h = step * (d->value != 0 ? fabs(d->value) : 1);
    dae_error first = {0};
    int missing = 0;
    for (int side = 0; side < 2; side++) {
        dae_error e = {0};
        if (open_relative(f, d, &d->side[side], side ? h : -h, &e) >= 0) continue;
        close_relative(&d->side[side]);
        if (!missing || e.status == DAE_ERR_MEMORY) first = e;
        if (e.status == DAE_ERR_MEMORY || missing++) {
            *err = first;
            return first.status;
        }
    }
    return DAE_OK;
}

static double tightest(const dae_family *f)
{
    const dae_options *o = &f->sim->options;
    double least = o->rtol;
    for (int i = 0; o->rtol_vec && i < f->nz; i++) least = i ? fmin(least, o->rtol_vec[i]) : o->rtol_vec[0];
    return least;
}

/* Largest difference between the formulas of orders 8 and 6 for n numbers, against the largest derivative. row: DAE_WIDE*n. */
static double disagreement(int n, const double *row)
{
    static const double sixth[DAE_WIDE] = {0, -1.0 / 60, 3.0 / 20, -3.0 / 4, 3.0 / 4, -3.0 / 20, 1.0 / 60, 0};
    double most = 0, apart = 0;
    for (int i = 0; i < n; i++) {
        double high = 0, low = 0;
        for (int k = 0; k < DAE_WIDE; k++) {
            high += dae_family_weight[k] * row[k * n + i];
            low += sixth[k] * row[k * n + i];
        }
        if (!isfinite(high)) continue;
        most = fmax(most, fabs(high));
        apart = fmax(apart, fabs(high - low));
    }
    return most > 0 ? apart / most : 0;
}

/* 1: the start, and f there, are smooth enough over the width of direction d. < 0: no memory. */
static int is_smooth(const dae_family *f, const dae_direction_of *d)
{
    int n = f->nz, r = 0;
    const dae_system *own = &f->sim->it->sys;
    double *row = calloc((size_t)DAE_WIDE * (size_t)n + 1, sizeof *row), apart;
    if (!row) return -1;
    for (int k = 0; k < DAE_WIDE; k++) dae_copy(n, d->wide[k].sim->z0, row + k * n);
    apart = disagreement(n, row);
    for (int k = 0; k < DAE_WIDE && !r && own->kind == DAE_KIND_ODE; k++) {
        const dae_system *s = &d->wide[k].sim->it->sys;
        r = s->ode.f(f->p->t0, f->sim->z0, row + k * n, s->ode.user);
    }
    if (!r && own->kind == DAE_KIND_ODE) apart = fmax(apart, disagreement(n, row));
    free(row);
    return apart < SMOOTH;
}

static void close_wide(dae_direction_of *d)
{
    for (int k = 0; k < DAE_WIDE; k++) close_relative(&d->wide[k]);
    d->width = 0;
}

/* Relatives for differences of eighth order, nearer ones where something is not smooth; none where they do not exist. */
static dae_status open_wide(dae_family *f, dae_direction_of *d, dae_error *err)
{
    double h = WIDE * fabs(d->value);
    /* in coordinates that a constraint ties to p, a larger step leaves it */
    int tied = f->sim->own && !strcmp(f->form, "statespace");
    if (d->component >= 0 || d->exact || d->inside || d->value == 0 || tied || tightest(f) > TIGHT)
        return DAE_OK;
    for (int round = 0; round < NEARER; round++, h /= 4) {
        dae_error e = {0};
        d->width = h;
        for (int k = 0; k < DAE_WIDE && e.status >= 0; k++)
            (void)open_relative(f, d, &d->wide[k], dae_family_place[k] * h, &e);
        int good = e.status >= 0 ? is_smooth(f, d) : 0;
        if (good > 0 || (e.status >= 0 && !good && round == NEARER - 1)) break;
        close_wide(d);
        if (e.status == DAE_ERR_MEMORY || good < 0) return no_memory(err);
    }
    return DAE_OK;
}

/* ---- Life ------------------------------------------------------------------------------------------- */

/* What "auto" takes is known after a start; the relatives get it by name. */
static dae_status choose(dae_family *f, dae_error *err)
{
    dae_simulation *s = dae_simulation_open(f->p, &f->options, err);
    dae_status status = s ? dae_simulation_start(s, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (status >= 0) {
        dae_choice c = dae_simulation_choice(s);
        snprintf(f->method, sizeof f->method, "%s", c.method);
        snprintf(f->form, sizeof f->form, "%s", c.formulation);
        f->options.options.method = f->method;
        if (f->form[0]) f->options.options.formulation = f->form;
    }
    dae_simulation_close(s);
    return status;
}

/* Exact derivatives, where the system is integrated as it stands and knows them. */
static dae_status find_tangents(dae_family *f, dae_error *err)
{
    const dae_tangents *t = f->p->tangents;
    if (!t || f->sim->form || f->sim->as_mechanism) return DAE_OK;
    if (!t->prepare(f->p)) return no_memory(err);
    if (f->sim->own) {
        int starved;
        f->inside = t->inside(f->p, f->sim->own, f->arena, &starved);
        if (!f->inside) return starved ? no_memory(err) : DAE_OK;
        f->values = dae_arena_reals(f->arena, (size_t)t->inside_count(f->inside) + 1);
        if (!f->values) return no_memory(err);
    } else f->tangents = t;
    for (int j = 0; j < f->count; j++) {
        int known = t->knows(f->p, f->direction[j].parameter);
        if (known < 0) return no_memory(err);
        if (f->inside) f->direction[j].inside = known;
        else f->direction[j].exact = known;
    }
    return f->inside ? DAE_OK : dae_masses_find(f, err);
}

static dae_status build(dae_family *f, const char *const *name, const dae_parameter_products *products,
                        dae_error *err)
{
    dae_status s = choose(f, err);
    if (s < 0) return s;
    f->sim = open_simulation(f->p, &f->options, err);
    if (!f->sim) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    f->nz = f->sim->nz;
    f->direction = dae_arena_take(f->arena, (size_t)f->count + 1, sizeof *f->direction);
    if (!f->direction) return no_memory(err);
    for (int j = 0; j < f->count && s >= 0; j++) {
        f->direction[j] = (dae_direction_of){.name = name[j], .component = -1, .parameter = -1};
        f->direction[j].value = products && products->value ? products->value[j] : 1;
        if (products) continue;
        s = find_name(f, &f->direction[j], name[j], err);
        for (int k = 0; k < j && s >= 0; k++) {
            if (!strcmp(f->direction[k].name, name[j]))
                s = dae_fail(err, DAE_ERR_INPUT, NAN, "%s is named twice", name[j]);
        }
    }
    return s < 0 || products ? s : find_tangents(f, err);
}

/* The derivative of the start inside of the form, where it is the one that the differences s are near. */
static int start_inside(const dae_family *f, const dae_direction_of *d, double *s)
{
    const dae_tangents *t = f->p->tangents;
    double size = 0, apart = 0, *exact = malloc((size_t)f->nz * sizeof *exact);
    if (!exact) return -1;
    int r = t->inside_start(f->inside, d->parameter, f->values);
    if (!r) t->inside_pick(f->inside, f->values, exact, NULL, NULL);
    for (int i = 0; i < f->nz && !r; i++) {
        size = fmax(size, fabs(s[i]));
        apart = fmax(apart, fabs(exact[i] - s[i]));
    }
    if (!r && apart <= NEAR * size) dae_copy(f->nz, exact, s);
    free(exact);
    return r < 0 ? -1 : 0;
}

int dae_family_start(const dae_family *f, int j, double *s)
{
    const dae_direction_of *d = &f->direction[j];
    const double *low = dae_family_side(f, j, 0)->z0, *high = dae_family_side(f, j, 1)->z0;
    double width = dae_family_width(f, j);
    int known = f->tangents && d->exact;
    for (int i = 0; known && d->component >= 0 && i < f->nz; i++) s[i] = i == d->component;
    if (known && d->component < 0 && f->tangents->start(f->p, d->parameter, s)) return -1;
    for (int i = 0; i < f->nz; i++) {
        if (known && isfinite(s[i])) continue;
        s[i] = width != 0 ? (high[i] - low[i]) / width : NAN;
        if (!(d->width > 0)) continue;
        s[i] = 0;
        for (int k = 0; k < DAE_WIDE; k++)
            s[i] += dae_family_weight[k] * (d->wide[k].sim->z0[i] - low[i]) / d->width;
    }
    return d->inside && d->component < 0 ? start_inside(f, d, s) : 0;
}

int dae_family_exact(const dae_family *f, double *work)
{
    int exact = f->tangents && !f->options.events && !f->sim->options.ndiscontinuity;
    for (int j = 0; j < f->count && exact; j++) {
        exact = f->direction[j].exact && !dae_family_start(f, j, work);
        for (int i = 0; i < f->nz && exact; i++) exact = isfinite(work[i]);
    }
    return exact;
}

dae_status dae_family_relatives(dae_family *f, double step, dae_error *err)
{
    dae_status s = DAE_OK;
    for (int j = 0; j < f->count && s >= 0; j++) s = open_direction(f, &f->direction[j], step, err);
    for (int j = 0; j < f->count && s >= 0; j++) s = open_wide(f, &f->direction[j], err);
    return s < 0 ? s : dae_masses_find(f, err);
}

dae_family *dae_family_open(const dae_problem *p, const dae_simulation_options *opt, const char *const *name,
                            int count, const dae_parameter_products *products, dae_error *err)
{
    dae_family *f = calloc(1, sizeof *f);
    if (!f || !(f->arena = dae_arena_create())) {
        free(f);
        no_memory(err);
        return NULL;
    }
    f->p = p;
    f->options = *opt;
    f->n = dae_system_size(&p->system);
    f->count = count;
    if (build(f, name, products, err) >= 0) return f;
    dae_family_close(f);
    return NULL;
}

void dae_family_close(dae_family *f)
{
    if (!f) return;
    dae_family_alone(f);
    if (f->inside) f->p->tangents->leave(f->inside);
    dae_simulation_close(f->sim);
    dae_arena_destroy(f->arena);
    free(f);
}

void dae_family_alone(dae_family *f)
{
    for (int j = 0; f->direction && j < f->count; j++) {
        close_relative(&f->direction[j].side[0]);
        close_relative(&f->direction[j].side[1]);
        close_wide(&f->direction[j]);
    }
}
