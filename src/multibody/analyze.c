/* What a model does without integrating it: equilibrium, small motions, kinematics, forces of drivers.
 *
 * An analysis gives an object whose arrays are tables: lists of flat objects with the same keys. JSON shows it as it
 * is; text, CSV and tables are made from it. */
#include <daedalus/analysis.h>

#include "core/error.h"
#include "core/number.h"
#include "core/text.h"
#include "table/json_value.h"

#include "multibody/analyses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { usual_points = 11 };
#define TURN 0.05  /* how far a body goes between two poses when a motion is followed, m or rad; ours */
#define NOISE 1e-8 /* of an eigenvalue: parts below are those of the differences; ours */
#define SHOWN 1e-9 /* of the largest number of a table: smaller ones are 0 in text; ours */
#define PI 3.14159265358979323846

typedef struct analysis {
    const mbs_mechanism *c;
    const dae_mech *s;
    int spatial, about_start, about_turning;
    double t0, t_end;
    const double *y0, *time;
    int count, given; /* given: 1: the times are the caller's */
    double *y, *rate, *a, *lambda, *re, *im, *force, *sensor;
    const mbs_watch *watch;
    dae_error err;
} analysis;

/* ---- Tables ---------------------------------------------------------------------------------------- */

static void put(json_t *row, const char *key, double value)
{
    json_object_set_new(row, key, dae_json_real(value));
}

static json_t *add_row(json_t *table, double t, const char *key, const char *name)
{
    json_t *row = json_object();
    put(row, "t", t);
    if (key) json_object_set_new(row, key, json_string(name));
    json_array_append_new(table, row);
    return row;
}

/* n numbers of each body, from those of all. */
static void add_bodies(const analysis *x, json_t *table, double t, const char *const *key,
                       const double *value)
{
    for (int b = 1; b <= mbs_mechanism_body_count(x->c); b++) {
        json_t *row = add_row(table, t, "body", mbs_mechanism_body_name(x->c, b));
        for (int k = 0; key[k]; k++) put(row, key[k], *value++);
    }
}

static const char *const plane_pose[] = {"x", "y", "angle", NULL},
                         *const plane_speed[] = {"vx", "vy", "omega", NULL},
                         *const plane_acceleration[] = {"ax", "ay", "alpha", NULL},
                         *const space_pose[] = {"x", "y", "z", "q0", "q1", "q2", "q3", NULL},
                         *const space_speed[] = {"vx", "vy", "vz", "omega_x", "omega_y", "omega_z", NULL},
                         *const space_acceleration[] = {"ax",      "ay",      "az", "alpha_x",
                                                        "alpha_y", "alpha_z", NULL};

static const char *unit_of(const char *key)
{
    static const char *const unit[][2] = {
        {"t", "s"},   {"x", "m"},         {"y", "m"},           {"z", "m"},          {"angle", "rad"},
        {"v", "m/s"}, {"omega", "rad/s"}, {"alpha", "rad/s^2"}, {"a", "m/s^2"},      {"f", "N"},
        {"m", "N m"}, {"re", "1/s"},      {"im", "1/s"},        {"frequency", "Hz"}, {"force", "N, N m"},
    };
    char stem[16];
    size_t n = strlen(key);
    if (n == 2 && strchr("xyz", key[1])) n = 1;
    else n = strcspn(key, "_");
    snprintf(stem, sizeof stem, "%.*s", (int)n, key);
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++) {
        if (!strcmp(unit[i][0], stem)) return unit[i][1];
    }
    return "";
}

/* In text, numbers below `least` are 0. */
static void cell(const json_t *v, double least, char *out, size_t size)
{
    if (json_is_string(v)) snprintf(out, size, "%s", json_string_value(v));
    else if (!json_is_real(v)) snprintf(out, size, "%s", least > 0 ? "-" : "nan");
    else if (least > 0)
        dae_snprintf(out, size, "%.6g", fabs(json_real_value(v)) < least ? 0 : json_real_value(v));
    else dae_snprintf(out, size, "%.17g", json_real_value(v));
}

/* Rows of objects with the same keys as a table. NULL: out of memory. */
static dae_table *table_of(const json_t *rows)
{
    json_t *row, *v, *first = json_array_get(rows, 0);
    const char *key;
    size_t i;
    int k = 0;
    dae_table *t = dae_table_create((int)json_object_size(first), (long)json_array_size(rows));
    if (!t) return NULL;
    json_object_foreach(first, key, v) dae_table_column(t, k++, key, unit_of(key));
    json_array_foreach(rows, i, row)
    {
        k = 0;
        json_object_foreach(row, key, v)
        {
            if (k == t->ncol) break;
            if (json_is_string(v)) dae_table_set_text(t, (long)i, k, json_string_value(v));
            else if (json_is_number(v)) dae_table_set(t, (long)i, k, json_number_value(v));
            k++;
        }
    }
    return t;
}

static void put_csv(dae_text *out, const json_t *rows)
{
    dae_table *t = table_of(rows);
    if (!t || dae_table_csv(t, dae_text_write, out) < 0) out->failed = 1;
    dae_table_destroy(t);
}

static double largest_of(const json_t *table)
{
    const char *key;
    json_t *row, *v;
    size_t i;
    double largest = 0;
    json_array_foreach(table, i, row)
    {
        json_object_foreach(row, key, v)
        {
            if (strcmp(key, "t") != 0) largest = fmax(largest, fabs(json_real_value(v)));
        }
    }
    return largest;
}

/* Columns as wide as their widest cell. Line 0 is the head. */
static void put_table(dae_text *out, const json_t *table)
{
    enum { columns = 16 };
    const char *key;
    json_t *v, *first = json_array_get(table, 0);
    int width[columns] = {0}, lines = (int)json_array_size(table);
    double least = fmax(SHOWN * largest_of(table), 1e-300);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i <= lines; i++) {
            int k = 0;
            json_object_foreach(i ? json_array_get(table, (size_t)i - 1) : first, key, v)
            {
                char text[128];
                const char *unit = unit_of(key);
                if (i) cell(v, least, text, sizeof text);
                else snprintf(text, sizeof text, unit[0] ? "%s [%s]" : "%s", key, unit);
                if (pass) dae_text_print(out, json_is_string(v) ? "  %-*s" : "  %*s", width[k], text);
                else if ((int)strlen(text) > width[k]) width[k] = (int)strlen(text);
                if (++k == columns) break;
            }
            if (pass) dae_text_put(out, "\n");
        }
    }
}

static void put_result(dae_text *out, const char *title, const json_t *result, int csv, int *printed)
{
    const char *name, *message = json_string_value(json_object_get(result, "message"));
    json_t *table;
    if (message && !csv) dae_text_print(out, "%s%s\n  %s\n", (*printed)++ ? "\n" : "", title, message);
    json_object_foreach((json_t *)result, name, table)
    {
        if (!json_is_array(table) || !json_array_size(table)) continue;
        if ((*printed)++) dae_text_put(out, "\n");
        if (csv) {
            put_csv(out, table);
        } else {
            dae_text_print(out, "%s: %s\n", title, name);
            put_table(out, table);
        }
    }
}

/* ---- Analyses -------------------------------------------------------------------------------------- */

static dae_status fails(analysis *x, dae_status s, const char *text)
{
    x->err.status = s;
    snprintf(x->err.text, sizeof x->err.text, "%s", s == DAE_ERR_MEMORY ? "out of memory" : text);
    return s;
}

/* The times at which a state of rest is wanted: those of the caller, else the start. */
static int rest_times(const analysis *x, const double **t)
{
    *t = x->given ? x->time : &x->t0;
    return x->given ? x->count : 1;
}

static void start(analysis *x)
{
    memcpy(x->y, x->y0, (size_t)(x->s->np + x->s->nv + x->s->nu) * sizeof *x->y);
}

/* The equilibrium at t: at rest, or where everything turns together as the start does. */
static dae_status find_equilibrium(analysis *x, double t, mbs_turning *turning)
{
    *turning = (mbs_turning){{0, 0, 0}, {0, 0, 0}};
    dae_status s = DAE_OK;
    if (x->about_turning) s = mbs_turning_of(x->c, x->t0, x->y0, turning, &x->err);
    return s ? s : mbs_find_equilibrium(x->c, turning, x->watch, t, x->y, &x->err);
}

static void add_drivers(const analysis *x, json_t *table, double t)
{
    for (int k = 0; k < mbs_mechanism_driver_count(x->c); k++)
        put(add_row(table, t, "driver", mbs_mechanism_driver_name(x->c, k)), "force", x->force[k]);
}

static dae_status add_reactions(analysis *x, json_t *table, double t)
{
    dae_status s = DAE_OK;
    for (int k = 0; k < mbs_mechanism_joint_count(x->c) && !s; k++) {
        double f[3], m[3];
        s = mbs_mechanism_reaction(x->c, k, t, x->y, x->lambda, f, m);
        if (s) break;
        json_t *row = add_row(table, t, "joint", mbs_mechanism_joint_name(x->c, k));
        put(row, "fx", f[0]);
        put(row, "fy", f[1]);
        if (x->spatial) {
            put(row, "fz", f[2]);
            put(row, "mx", m[0]);
            put(row, "my", m[1]);
        }
        put(row, "mz", m[2]);
    }
    if (!s) s = mbs_mechanism_driver_forces(x->c, t, x->y, x->lambda, x->force);
    return s ? fails(x, s, "the reactions cannot be computed") : DAE_OK;
}

static dae_status equilibrium(analysis *x, json_t *out)
{
    json_t *bodies = json_array(), *reactions = json_array(), *drivers = json_array();
    const double *t;
    int n = rest_times(x, &t);
    dae_status s = DAE_OK;
    json_object_set_new(out, "about", json_string(x->about_turning ? "turning" : "rest"));
    json_object_set_new(out, "bodies", bodies);
    json_object_set_new(out, "reactions", reactions);
    json_object_set_new(out, "drivers", drivers);
    start(x);
    for (int k = 0; k < n && !s; k++) {
        mbs_turning turning;
        s = find_equilibrium(x, t[k], &turning);
        if (!s) s = mbs_find_multipliers(x->c, &turning, t[k], x->y, x->lambda, &x->err);
        if (s) break;
        add_bodies(x, bodies, t[k], x->spatial ? space_pose : plane_pose, x->y);
        s = add_reactions(x, reactions, t[k]);
        if (!s) add_drivers(x, drivers, t[k]);
    }
    return s;
}

/* Eigenvalues with im >= 0, slow ones first; what is below the noise of differences is zero. */
static void add_eigenvalues(const analysis *x, json_t *table, double t, int n)
{
    for (int i = 0; i < n; i++) {
        double size = hypot(x->re[i], x->im[i]);
        if (fabs(x->re[i]) < NOISE * size) x->re[i] = 0;
        if (fabs(x->im[i]) < NOISE * size) x->im[i] = 0;
        for (int k = i; k > 0 && hypot(x->re[k], x->im[k]) < hypot(x->re[k - 1], x->im[k - 1]); k--) {
            double re = x->re[k], im = x->im[k];
            x->re[k] = x->re[k - 1];
            x->im[k] = x->im[k - 1];
            x->re[k - 1] = re;
            x->im[k - 1] = im;
        }
    }
    for (int i = 0; i < n; i++) {
        double size = hypot(x->re[i], x->im[i]);
        if (x->im[i] < 0) continue;
        json_t *row = add_row(table, t, NULL, NULL);
        put(row, "re", x->re[i]);
        put(row, "im", x->im[i]);
        put(row, "frequency", x->im[i] / (2 * PI));
        put(row, "damping_ratio", size > 0 ? -x->re[i] / size + 0.0 : NAN);
    }
}

static dae_status modes(analysis *x, json_t *out)
{
    json_t *table = json_array();
    const double *t;
    int n = rest_times(x, &t), size = 0;
    dae_status s = DAE_OK;
    json_object_set_new(out, "about",
                        json_string(x->about_start     ? "start"
                                    : x->about_turning ? "turning"
                                                       : "equilibrium"));
    json_object_set_new(out, "eigenvalues", table);
    start(x);
    if (x->about_start) {
        n = 1;
        t = &x->t0;
    }
    for (int k = 0; k < n && !s; k++) {
        mbs_turning turning;
        if (!x->about_start) s = find_equilibrium(x, t[k], &turning);
        if (!s) s = mbs_mechanism_eigenvalues(x->c, t[k], x->y, x->re, x->im, &size, &x->err);
        if (!s && !size)
            s = fails(x, DAE_ERR_INPUT,
                      "the mechanism has no degree of freedom of its own, hence no small motions");
        if (!s) add_eigenvalues(x, table, t[k], size);
    }
    return s;
}

/* From the pose at time t to that at t1 in steps short enough to stay on the branch. */
static dae_status follow(analysis *x, double t, double t1)
{
    const dae_mech *s = x->s;
    const double least = 1e-6 * fabs(x->t_end - x->t0);
    while (t != t1) {
        double speed = 0, h = t1 - t, *v = x->y + s->np;
        dae_mech_point at = {.t = t, .p = x->y, .v = v, .u = v + s->nv, .lambda = x->lambda};
        for (int i = 0; i < s->nv; i++) speed = fmax(speed, fabs(v[i]));
        double bound = fmax(least, fmin(fabs(x->t_end - x->t0) / 200, TURN / speed));
        double next = fabs(h) > bound ? t + copysign(bound, h) : t1;
        if (s->kinematics) s->kinematics(&at, x->rate, s->user);
        else memcpy(x->rate, v, (size_t)s->nv * sizeof *v);
        for (int i = 0; i < s->np; i++) x->y[i] += (next - t) * x->rate[i];
        dae_status status = mbs_mechanism_kinematics(x->c, next, x->y, &x->err);
        if (status) return status;
        t = next;
    }
    return DAE_OK;
}

/* Calls add for the motion of a driven mechanism at every time. */
static dae_status along(analysis *x, json_t *out, dae_status (*add)(analysis *x, json_t *out, double t))
{
    double t = x->t0;
    mbs_topology top = mbs_mechanism_topology(x->c);
    if (!mbs_mechanism_driver_count(x->c)) {
        snprintf(x->err.text, sizeof x->err.text,
                 "the mechanism has no drivers (%d degree%s of freedom): kinematics and inverse dynamics "
                 "need a driver "
                 "for every one",
                 top.freedom, top.freedom == 1 ? "" : "s");
        return x->err.status = DAE_ERR_INPUT;
    }
    start(x);
    dae_status s = mbs_mechanism_kinematics(x->c, t, x->y, &x->err);
    for (int k = 0; k < x->count && !s; k++) {
        s = follow(x, t, x->time[k]);
        t = x->time[k];
        if (!s) s = mbs_mechanism_acceleration(x->c, t, x->y, x->a, x->lambda, &x->err);
        if (!s) s = add(x, out, t);
    }
    return s;
}

static dae_status add_motion(analysis *x, json_t *out, double t)
{
    const double *v = x->y + x->s->np;
    int n = mbs_mechanism_sensor_count(x->c);
    add_bodies(x, json_object_get(out, "poses"), t, x->spatial ? space_pose : plane_pose, x->y);
    add_bodies(x, json_object_get(out, "velocities"), t, x->spatial ? space_speed : plane_speed, v);
    add_bodies(x, json_object_get(out, "accelerations"), t,
               x->spatial ? space_acceleration : plane_acceleration, x->a);
    dae_status s = n ? mbs_mechanism_sensors(x->c, t, x->y, x->a, x->lambda, x->sensor, &x->err) : DAE_OK;
    for (int k = 0; k < n && !s; k++) {
        json_t *row =
            add_row(json_object_get(out, "sensors"), t, "sensor", mbs_mechanism_sensor_name(x->c, k));
        json_object_set_new(row, "unit", json_string(mbs_mechanism_sensor_unit(x->c, k)));
        put(row, "value", x->sensor[k]);
    }
    return s;
}

static dae_status kinematics(analysis *x, json_t *out)
{
    json_object_set_new(out, "poses", json_array());
    json_object_set_new(out, "velocities", json_array());
    json_object_set_new(out, "accelerations", json_array());
    json_object_set_new(out, "sensors", json_array());
    return along(x, out, add_motion);
}

static dae_status add_forces(analysis *x, json_t *out, double t)
{
    dae_status s = add_reactions(x, json_object_get(out, "reactions"), t);
    if (!s) add_drivers(x, json_object_get(out, "drivers"), t);
    return s;
}

static dae_status inverse(analysis *x, json_t *out)
{
    json_object_set_new(out, "drivers", json_array());
    json_object_set_new(out, "reactions", json_array());
    return along(x, out, add_forces);
}

static const struct {
    const char *name, *title, *turning; /* turning: the title where all bodies turn together */
    dae_status (*run)(analysis *x, json_t *out);
} kind[] = {
    {"equilibrium", "Static equilibrium", "Relative equilibrium", equilibrium},
    {"modes", "Small motions (one of each conjugate pair)",
     "Small motions about the relative equilibrium (one of each conjugate pair)", modes},
    {"kinematics", "Kinematics", NULL, kinematics},
    {"inverse", "Inverse dynamics", NULL, inverse},
};
enum { kinds = sizeof kind / sizeof kind[0] };

struct mbs_analysis {
    json_t *root; /* status, model, freedom, and an object per analysis */
};

const char *mbs_analysis_kind(int i)
{
    return i >= 0 && i < kinds ? kind[i].name : NULL;
}

/* ---- All of it -------------------------------------------------------------------------------------- */

/* Equidistant times; free them. */
static double *spread(const dae_problem *p, int n)
{
    double *t = calloc((size_t)n, sizeof *t);
    for (int k = 0; t && k < n; k++)
        t[k] = k == n - 1 ? p->t_end : p->t0 + (p->t_end - p->t0) * (double)k / (double)(n - 1);
    return t;
}

static dae_status run_all(analysis *x, const char *what, json_t *root, dae_error *err)
{
    int all = !what || !strcmp(what, "all");
    for (int i = 0; i < kinds; i++) {
        if (!all && strcmp(kind[i].name, what) != 0) continue;
        json_t *result = json_object();
        x->err = (dae_error){0};
        dae_status s = kind[i].run(x, result);
        const char *text = x->err.text[0] ? x->err.text : dae_status_text(s);
        if (s < 0 && (!all || s == DAE_ERR_MEMORY)) {
            json_decref(result);
            return dae_fail(err, s, NAN, "%s", text);
        }
        if (s < 0) { /* the model does not allow it */
            json_object_clear(result);
            json_object_set_new(result, "code", json_string(dae_status_name(s)));
            json_object_set_new(result, "message", json_string(text));
        }
        json_object_set_new(root, kind[i].name, result);
    }
    return DAE_OK;
}

static dae_status check(const dae_problem *p, const mbs_analysis_options *o, dae_error *err)
{
    int i = 0;
    if (!mbs_problem_mechanism(p))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s is no model of a mechanism; analyze is for model files",
                        p->info ? p->info->name : "this");
    while (i < kinds - 1 && o->what && strcmp(kind[i].name, o->what) != 0) i++;
    if (!o->what || !strcmp(o->what, "all") || !strcmp(kind[i].name, o->what)) return DAE_OK;
    char near[64];
    dae_nearest_word(o->what, "equilibrium|modes|kinematics|inverse|all", near, sizeof near);
    return dae_fail(
        err, DAE_ERR_INPUT, NAN,
        "there is no analysis \"%s\"; expected equilibrium, modes, kinematics, inverse or all%s%s%s", o->what,
        near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
}

mbs_analysis *mbs_analysis_create(const dae_problem *p, const mbs_analysis_options *opt, dae_error *err)
{
    const mbs_analysis_options standard = {0}, *o = opt ? opt : &standard;
    if (check(p, o, err) < 0) return NULL;
    analysis x = {.c = mbs_problem_mechanism(p),
                  .s = &p->system.mech,
                  .t0 = p->t0,
                  .t_end = p->t_end,
                  .y0 = p->y0,
                  .time = o->time,
                  .count = o->count,
                  .given = o->time != NULL,
                  .about_start = o->about_start,
                  .about_turning = o->about_turning,
                  .watch = o->watch};
    const dae_mech *s = x.s;
    x.spatial = s->nquaternion > 0;
    size_t np = (size_t)s->np, nv = (size_t)s->nv, nu = (size_t)s->nu, nl = (size_t)s->nlambda;
    size_t drivers = (size_t)mbs_mechanism_driver_count(x.c),
           sensors = (size_t)mbs_mechanism_sensor_count(x.c);
    if (!x.given) x.count = o->points > 1 ? o->points : usual_points;
    double *times = x.given ? NULL : spread(p, x.count);
    mbs_analysis *a = calloc(1, sizeof *a);
    x.y = calloc(2 * np + 2 * nv + nu + nl + 2 * (2 * nv + nu) + drivers + sensors + 1, sizeof *x.y);
    if (a)
        a->root = json_pack("{s:s,s:s,s:i}", "status", "ok", "model", p->info ? p->info->name : "", "freedom",
                            mbs_mechanism_topology(x.c).freedom);
    dae_status status = DAE_OK;
    if (!x.y || !a || !a->root || (!x.given && !times)) {
        status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    } else {
        if (!x.given) x.time = times;
        x.rate = x.y + np + nv + nu;
        x.a = x.rate + np;
        x.lambda = x.a + nv;
        x.re = x.lambda + nl;
        x.im = x.re + 2 * nv + nu;
        x.force = x.im + 2 * nv + nu;
        x.sensor = x.force + drivers;
        status = run_all(&x, o->what, a->root, err);
    }
    free(times);
    free(x.y);
    if (status >= 0) return a;
    mbs_analysis_destroy(a);
    return NULL;
}

void mbs_analysis_destroy(mbs_analysis *a)
{
    if (!a) return;
    json_decref(a->root);
    free(a);
}

dae_status mbs_analysis_json(const mbs_analysis *a, dae_write_fn *write, void *user)
{
    dae_text out = {.write = write, .user = user};
    if (json_dump_callback(a->root, dae_text_write, &out, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
        out.failed = out.failed ? out.failed : DAE_TEXT_STARVED;
    dae_text_put(&out, "\n");
    return dae_text_end(&out);
}

dae_status mbs_analysis_text(const mbs_analysis *a, int csv, dae_write_fn *write, void *user)
{
    dae_text out = {.write = write, .user = user};
    int printed = 0;
    for (int i = 0; i < kinds; i++) {
        const json_t *result = json_object_get(a->root, kind[i].name);
        const char *about = json_string_value(json_object_get(result, "about"));
        put_result(&out, about && !strcmp(about, "turning") ? kind[i].turning : kind[i].title, result, csv,
                   &printed);
    }
    return dae_text_end(&out);
}

dae_table *mbs_analysis_table(const mbs_analysis *a, int k, const char **kind_of, const char **name_of,
                              dae_error *err)
{
    const char *name;
    json_t *rows;
    if (err) err->status = DAE_OK;
    for (int i = 0; i < kinds; i++) {
        json_object_foreach(json_object_get(a->root, kind[i].name), name, rows)
        {
            if (!json_is_array(rows) || !json_array_size(rows) || k-- > 0) continue;
            dae_table *t = table_of(rows);
            if (!t) {
                dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
                return NULL;
            }
            *kind_of = kind[i].name;
            *name_of = name;
            dae_table_note(t, "problem", json_string_value(json_object_get(a->root, "model")), 0);
            dae_table_note(t, "analysis", kind[i].name, 0);
            return t;
        }
    }
    return NULL;
}
