/* The scene of a track: bodies, points, joints, what lies between points, grounds, times, positions; signals of sensors
 * and reactions, arrows of forces, events. */
#include "multibody/scene.h"

#include "core/escape.h"
#include "core/number.h"
#include "multibody/dual.h"
#include "multibody/field.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_FRAMES = 1500,
    MAX_SIGNAL_FRAMES = 400,
    MAX_SIGNAL_JOINTS = 64, /* mechanisms with more show sensors and forces only */
    ROAD_POINTS = 200,
    MAX_TRIANGLES = 20000, /* of one mesh; larger ones are drawn as their box */
    MAX_EVENTS = 500
};

/* ---- Writing ------------------------------------------------------------------------------------------- */

void mbs_put(mbs_writer *w, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && !w->bad &&
        w->write(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, w->user) < 0)
        w->bad = 1;
}

void mbs_put_text(mbs_writer *w, const char *text)
{
    if (!w->bad && w->write(text, strlen(text), w->user) < 0) w->bad = 1;
}

/* A field of the type of a force, 0: it has none. */
static double number_of(const mbs_force_data *f, const char *name)
{
    return mbs_field_number(f->type->field, f->own, name, 0);
}

static void put_name(mbs_writer *w, const char *name)
{
    if (!w->bad && dae_escape_json(name, strlen(name), w->write, w->user) < 0) w->bad = 1;
}

/* JSON has no word for what is no number. */
static void put_number(mbs_writer *w, const char *before, int digits, double x)
{
    if (isfinite(x)) mbs_put(w, "%s%.*g", before, digits, x);
    else mbs_put(w, "%snull", before);
}

static void put_vector(mbs_writer *w, const char *before, const double *r)
{
    mbs_put(w, "%s[%.9g,%.9g,%.9g]", before, r[0], r[1], r[2]);
}

/* ---- What there is --------------------------------------------------------------------------------------- */

/* A point where a joint was given by a place only. */
static void put_point(mbs_writer *w, int *count, int body, const double *r)
{
    mbs_put(w, "%s{\"body\":%d,\"r\":[%.9g,%.9g,%.9g]}", (*count)++ ? "," : "", body, r[0], r[1], r[2]);
}

/* It lies between two points and is drawn so. */
static int between_points(const mbs_force *f)
{
    return f->point_a && f->point_b && strcmp(f->type, "contact") != 0;
}

static void put_points(mbs_writer *w, const mbs_mechanism *m)
{
    int count = 0;
    mbs_put(w, ",\"points\":[");
    for (int k = 0; k < m->model->npoint; k++)
        put_point(w, &count, m->model->point[k].body, m->model->point[k].r);
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint_data *j = &m->joint[k];
        if (j->model->point_a || j->i.body == j->j.body) continue;
        put_point(w, &count, j->i.body, j->i.s);
        put_point(w, &count, j->j.body, j->j.s);
    }
    mbs_put(w, "],\"springs\":[");
    count = 0;
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force *f = m->force[k].model;
        if (between_points(f))
            mbs_put(w, "%s[%d,%d]", count++ ? "," : "", mbs_find_point(m->model, f->point_a),
                    mbs_find_point(m->model, f->point_b));
    }
    mbs_put(w, "],\"wheels\":[");
    count = 0;
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        double radius = number_of(f, "radius");
        if (strcmp(f->type->name, "tire") != 0 || !(radius > 0)) continue;
        mbs_put(w, "%s[%d,%.9g]", count++ ? "," : "", mbs_find_point(m->model, f->model->point_b), radius);
    }
    mbs_put(w, "],\"frame_only\":["); /* bodies without mass */
    count = 0;
    for (int k = 1; k <= m->nbody; k++) {
        if (m->mass[k - 1] == 0) mbs_put(w, "%s%d", count++ ? "," : "", k);
    }
    mbs_put(w, "]");
}

static void put_joints(mbs_writer *w, const mbs_mechanism *m)
{
    int count = 0;
    mbs_put(w, ",\"joints\":[");
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint *j = m->joint[k].model;
        if (!j->point_a || !j->point_b) continue;
        mbs_put_text(w, count++ ? ",{\"name\":" : "{\"name\":");
        put_name(w, j->name);
        mbs_put(w, ",\"type\":\"%.30s\",\"a\":%d,\"b\":%d}", j->type, mbs_find_point(m->model, j->point_a),
                mbs_find_point(m->model, j->point_b));
    }
    mbs_put(w, "],\"elements\":[");
    count = 0;
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force *f = m->force[k].model;
        if (!between_points(f)) continue;
        mbs_put_text(w, count++ ? ",{\"name\":" : "{\"name\":");
        put_name(w, f->name);
        double spring = number_of(&m->force[k], "k"), damper = number_of(&m->force[k], "c");
        mbs_put(w, ",\"a\":%d,\"b\":%d,\"spring\":%d,\"damper\":%d}", mbs_find_point(m->model, f->point_a),
                mbs_find_point(m->model, f->point_b), spring > 0 || damper <= 0, damper > 0);
    }
    mbs_put(w, "]");
}

/* ---- Shapes ----------------------------------------------------------------------------------------------- */

static void put_mesh(mbs_writer *w, const mbs_shape *s)
{
    double reach = 0;
    mbs_put(w, ",\"vertices\":[");
    for (int i = 0; i < s->nvertex; i++) {
        const double *x = s->vertex + 3 * i;
        reach = fmax(reach, mbs_norm(x));
        for (int c = 0; c < 3; c++) put_number(w, i || c ? "," : "", 6, x[c]);
    }
    mbs_put(w, "],\"triangles\":[");
    for (int i = 0; i < 3 * s->ntriangle; i++) mbs_put(w, "%s%d", i ? "," : "", s->triangle[i]);
    mbs_put(w, "],\"reach\":%.6g", 2 * reach);
}

/* The box around a mesh that is too large to be sent. */
static void put_hull(mbs_writer *w, const mbs_shape *s)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 3 * s->nvertex; i++) {
        low[i % 3] = fmin(low[i % 3], s->vertex[i]);
        high[i % 3] = fmax(high[i % 3], s->vertex[i]);
    }
    mbs_put(w, "\"kind\":\"box\",\"size\":[%.7g,%.7g,%.7g]", high[0] - low[0], high[1] - low[1],
            high[2] - low[2]);
}

/* Rods lie along x and are drawn as cylinders, plates as boxes; both have a thickness only for the eye. */
static void put_shape(mbs_writer *w, const mbs_shape *s, int planar)
{
    const double h = 0.70710678118654752, *g = s->size;
    double q[4] = {s->q[0], s->q[1], s->q[2], s->q[3]}, r[3] = {s->r[0], s->r[1], s->r[2]};
    if (q[0] * q[0] + mbs_dot(q + 1, q + 1) == 0) q[0] = 1;
    mbs_put(w, "{\"body\":%d,", s->body);
    if (!strcmp(s->kind, "rod")) {
        const double turned[4] = {h * (q[0] - q[2]), h * (q[1] - q[3]), h * (q[0] + q[2]),
                                  h * (q[1] + q[3])}; /* q times a quarter turn about y */
        memcpy(q, turned, sizeof q);
        mbs_put(w, "\"kind\":\"cylinder\",\"size\":[%.7g,%.7g]", g[1] > 0 ? g[1] : g[0] / 40, g[0]);
    } else if (!strcmp(s->kind, "plate")) {
        mbs_put(w, "\"kind\":\"box\",\"size\":[%.7g,%.7g,%.7g]", g[0], g[1],
                g[2] > 0 ? g[2] : 0.02 * fmin(g[0], g[1]));
    } else if (!strcmp(s->kind, "plane")) { /* a thin box below it */
        double A[9], down[3] = {0, planar ? -0.01 * g[0] : 0, planar ? 0 : -0.01 * g[0]}, d[3];
        mbs_quaternion_matrix(q, A);
        mbs_rotate(A, down, d);
        for (int i = 0; i < 3; i++) r[i] += d[i];
        mbs_put(w, "%s\"kind\":\"box\",\"size\":[%.7g,%.7g,%.7g]", planar ? "" : "\"plane\":1,", g[0],
                (planar ? 0.02 : 1) * g[0], (planar ? 0.1 : 0.02) * g[0]);
    } else if (!strcmp(s->kind, "mesh") && s->ntriangle > MAX_TRIANGLES) {
        put_hull(w, s);
    } else {
        mbs_put(w, "\"kind\":\"%.20s\",\"size\":[%.7g,%.7g,%.7g]", s->kind, g[0], g[1], g[2]);
    }
    put_vector(w, ",\"r\":", r);
    mbs_put(w, ",\"q\":[%.9g,%.9g,%.9g,%.9g]", q[0], q[1], q[2], q[3]);
    if (s->ntriangle && s->ntriangle <= MAX_TRIANGLES) put_mesh(w, s);
    mbs_put(w, "}");
}

static void put_shapes(mbs_writer *w, const mbs_model *m)
{
    mbs_put(w, ",\"shapes\":[");
    for (int k = 0; k < m->nshape; k++) {
        mbs_put_text(w, k ? ",\n" : "");
        put_shape(w, &m->shape[k], m->space == MBS_PLANAR);
    }
    mbs_put(w, "]");
}

/* ---- Grounds ----------------------------------------------------------------------------------------------- */

/* Heights of the road of a tire between low and high at the beginning. */
static void look_at_road(const mbs_mechanism *m, const mbs_force_data *f, const mbs_track *track, double low,
                         double high, double *height)
{
    mbs_context x = mbs_begin(m, track->t[0], track->y, track->y + m->np);
    x.u = track->y + m->np + m->nv;
    for (int k = 0; k < ROAD_POINTS; k++) {
        mbs_dual_reset(&x);
        mbs_dual local = mbs_constant(low + (high - low) * k / (ROAD_POINTS - 1));
        height[k] = mbs_expression_dual(&x, f->value[0], &local).x;
    }
    mbs_end(&x);
}

static int is_tire(const mbs_force_data *f)
{
    return strcmp(f->model->type, "tire") == 0 && f->j.body > 0;
}

/* Where the wheels go, and two radii more. */
static void wheels_range(const mbs_mechanism *m, const mbs_track *track, double *low, double *high)
{
    size_t n = (size_t)dae_system_size(&m->system);
    double radius = 0;
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < m->nforce; i++) {
        const mbs_force_data *f = &m->force[i];
        if (!is_tire(f)) continue;
        radius = fmax(radius, number_of(f, "radius"));
        for (int k = 0; k < track->n; k++) {
            double x = track->y[n * (size_t)k + (size_t)(m->bp * (f->j.body - 1))] + f->j.s[0];
            *low = fmin(*low, x);
            *high = fmax(*high, x);
        }
    }
    double room = 0.05 * (*high - *low) + 2 * radius;
    *low -= room;
    *high += room;
}

/* Roads that are alike are one. */
static void put_roads(mbs_writer *w, const mbs_mechanism *m, const mbs_track *track, int *count)
{
    double low, high, last[ROAD_POINTS], height[ROAD_POINTS];
    int before = 0;
    wheels_range(m, track, &low, &high);
    for (int i = 0; i < m->nforce; i++) {
        const mbs_force_data *f = &m->force[i];
        if (!is_tire(f)) continue;
        look_at_road(m, f, track, low, high, height);
        if (before && memcmp(last, height, sizeof last) == 0) continue;
        memcpy(last, height, sizeof last);
        before = 1;
        mbs_put_text(w, (*count)++ ? ",{\"name\":" : "{\"name\":");
        put_name(w, f->model->name);
        for (int k = 0; k < ROAD_POINTS; k++) {
            put_number(w, k ? ",[" : ",\"line\":[[", 7, low + (high - low) * k / (ROAD_POINTS - 1));
            put_number(w, ",", 7, height[k]);
            mbs_put(w, "]");
        }
        mbs_put(w, "]}");
    }
}

static void put_grounds(mbs_writer *w, const mbs_mechanism *m, const mbs_track *track)
{
    int count = 0;
    mbs_put(w, ",\"ground\":[");
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        double normal[3];
        if (strcmp(f->model->type, "contact") != 0 || f->i.body != 0) continue;
        mbs_put_text(w, count++ ? ",{\"name\":" : "{\"name\":");
        put_name(w, f->model->name);
        mbs_column(f->i.C, 2, normal);
        put_vector(w, ",\"r\":", f->i.s);
        put_vector(w, ",\"normal\":", normal);
        mbs_put(w, "}");
    }
    put_roads(w, m, track, &count);
    mbs_put(w, "]");
}

/* ---- Motion ------------------------------------------------------------------------------------------------- */

/* Point number k of `count` of them. */
static size_t chosen(const mbs_track *track, int k, int count)
{
    return (size_t)(count > 1 ? (long)k * (track->n - 1) / (count - 1) : 0);
}

static void put_times(mbs_writer *w, const char *name, const mbs_track *track, int count)
{
    mbs_put(w, ",\"%s\":[", name);
    for (int k = 0; k < count; k++) put_number(w, k ? "," : "", 9, track->t[chosen(track, k, count)]);
    mbs_put(w, "]");
}

static void put_frames(mbs_writer *w, const mbs_mechanism *m, const mbs_track *track)
{
    size_t n = (size_t)dae_system_size(&m->system);
    int frames = track->n < MAX_FRAMES ? track->n : MAX_FRAMES;
    put_times(w, "t", track, frames);
    mbs_put(w, ",\"frames\":[");
    for (int k = 0; k < frames; k++) {
        const double *at = track->y + n * chosen(track, k, frames);
        mbs_put(w, "%s[", k ? ",\n" : "");
        for (int i = 0; i < m->np; i++) put_number(w, i ? "," : "", 7, at[i]);
        mbs_put(w, "]");
    }
    mbs_put(w, "]");
}

static void put_events(mbs_writer *w, const mbs_track *track)
{
    mbs_put(w, ",\"events\":[");
    for (int k = 0; k < track->nevent && k < MAX_EVENTS; k++) {
        put_number(w, k ? ",{\"t\":" : "{\"t\":", 9, track->event[k].t);
        mbs_put_text(w, ",\"name\":");
        put_name(w, track->event_name ? track->event_name[track->event[k].index] : "event");
        mbs_put(w, "}");
    }
    mbs_put(w, "]");
}

/* ---- Signals and arrows --------------------------------------------------------------------------------------- */

typedef struct samples {
    int count;     /* of points */
    double *t, *y; /* there */
    double *value; /* derived columns, one row per point */
    double *f;     /* nv */
} samples;

static void put_signals(mbs_writer *w, const dae_problem *p, const mbs_mechanism *m, const samples *s)
{
    int all = p->derived.ncolumn, n = m->njoint > MAX_SIGNAL_JOINTS ? m->model->nsensor : all;
    mbs_put(w, ",\"signals\":[");
    for (int c = 0; c < n; c++) {
        mbs_put_text(w, c ? ",\n{\"name\":" : "{\"name\":");
        put_name(w, p->derived.column[c]);
        mbs_put_text(w, ",\"unit\":");
        put_name(w, p->derived.unit[c]);
        mbs_put(w, ",\"kind\":\"%s\",\"value\":[", c < m->model->nsensor ? "sensor" : "reaction");
        for (int k = 0; k < s->count; k++)
            put_number(w, k ? "," : "", 6, s->value[(size_t)k * (size_t)all + (size_t)c]);
        mbs_put(w, "]}");
    }
    mbs_put(w, "]");
}

static void begin_arrow(mbs_writer *w, int *count, const char *name, const char *kind, int body,
                        const double *r)
{
    mbs_put_text(w, (*count)++ ? ",\n{\"name\":" : "{\"name\":");
    put_name(w, name);
    mbs_put(w, ",\"kind\":\"%s\",\"body\":%d", kind, body);
    put_vector(w, ",\"r\":", r);
}

/* The force alone on the body of b, global axes. */
static void force_on(const mbs_mechanism *m, const mbs_force_data *f, const samples *s, int k, double F[3])
{
    const double *y = s->y + (size_t)k * (size_t)dae_system_size(&m->system);
    memset(s->f, 0, (size_t)m->nv * sizeof *s->f);
    mbs_context x = mbs_begin(m, s->t[k], y, y + m->np);
    x.u = y + m->np + m->nv;
    x.f = s->f;
    mbs_dual_reset(&x);
    f->type->apply(f, &x);
    mbs_end(&x);
    for (int c = 0; c < 3; c++) {
        int at = mbs_slot_of(m, f->j.body, c);
        F[c] = at < 0 ? 0 : s->f[at];
    }
}

static void put_arrows(mbs_writer *w, const mbs_mechanism *m, const samples *s)
{
    int count = 0, per = m->planar ? 3 : 6;
    mbs_put(w, ",\"arrows\":[");
    for (int k = 0; k < m->njoint && m->njoint <= MAX_SIGNAL_JOINTS; k++) {
        const mbs_frame *j = &m->joint[k].j;
        int first = m->model->nsensor + per * k;
        begin_arrow(w, &count, m->joint[k].model->name, "reaction", j->body, j->s);
        if (m->planar) mbs_put(w, ",\"columns\":[%d,%d]}", first, first + 1);
        else mbs_put(w, ",\"columns\":[%d,%d,%d]}", first, first + 1, first + 2);
    }
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        if (!f->j.body) continue;
        double largest = 0, F[3];
        for (int i = 0; i < s->count; i++) {
            force_on(m, f, s, i, F);
            largest = fmax(largest, mbs_dot(F, F));
        }
        if (!(largest > 0)) continue;
        begin_arrow(w, &count, f->model->name, "force", f->j.body, f->j.s);
        mbs_put(w, ",\"value\":[");
        for (int i = 0; i < s->count; i++) {
            force_on(m, f, s, i, F);
            put_number(w, i ? ",[" : "[", 5, F[0]);
            put_number(w, ",", 5, F[1]);
            put_number(w, ",", 5, F[2]);
            mbs_put(w, "]");
        }
        mbs_put(w, "]}");
    }
    mbs_put(w, "]");
}

static void put_details(mbs_writer *w, const dae_problem *p, const mbs_mechanism *m, const mbs_track *track)
{
    size_t n = (size_t)dae_system_size(&m->system),
           count = (size_t)(track->n < MAX_SIGNAL_FRAMES ? track->n : MAX_SIGNAL_FRAMES),
           columns = (size_t)p->derived.ncolumn;
    double *room = malloc((count * (1 + n + columns) + (size_t)m->nv + 1) * sizeof *room);
    if (!room) {
        w->bad = 2;
        return;
    }
    samples s = {.count = (int)count, .t = room, .y = room + count};
    s.value = s.y + count * n;
    s.f = s.value + count * columns;
    for (int k = 0; k < s.count; k++) {
        size_t at = chosen(track, k, s.count);
        s.t[k] = track->t[at];
        memcpy(s.y + n * (size_t)k, track->y + n * at, n * sizeof *s.y);
    }
    if (columns && p->derived.columns(p, s.count, s.t, s.y, NULL, NULL, s.value)) w->bad = 2;
    put_times(w, "t_signal", track, s.count);
    put_signals(w, p, m, &s);
    put_arrows(w, m, &s);
    free(room);
}

void mbs_put_scene(mbs_writer *w, const dae_problem *p, const mbs_track *track, int details)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    mbs_put_text(w, "{\"name\":");
    put_name(w, m->model->name ? m->model->name : "");
    mbs_put(w, ",\"dimension\":%d,\"bodies\":[", m->planar ? 2 : 3);
    for (int k = 1; k <= m->nbody; k++) {
        mbs_put_text(w, k > 1 ? "," : "");
        put_name(w, mbs_mechanism_body_name(m, k));
    }
    mbs_put(w, "]");
    put_points(w, m);
    put_joints(w, m);
    put_shapes(w, m->model);
    put_grounds(w, m, track);
    put_events(w, track);
    if (details) put_details(w, p, m, track);
    put_frames(w, m, track);
    mbs_put_text(w, "}\n");
}
