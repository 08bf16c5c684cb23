/* A self-contained page that shows the motion of a mechanism: no other files, no network. */
#include "multibody/animation_page.h"
#include "multibody/mechanism.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { max_frames = 1500 };

typedef struct writer {
    mbs_write_fn *write;
    void *user;
    int bad;
} writer;

static void put(writer *w, const char *format, ...) DAE_PRINTF(2, 3);
static void put(writer *w, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && !w->bad &&
        w->write(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, w->user) < 0)
        w->bad = 1;
}

static void put_text(writer *w, const char *text)
{
    if (!w->bad && w->write(text, strlen(text), w->user) < 0) w->bad = 1;
}

/* A point where a joint was given by a place only. */
static void put_point(writer *w, int *count, int body, const double *r)
{
    put(w, "%s{\"body\":%d,\"r\":[%.9g,%.9g,%.9g]}", (*count)++ ? "," : "", body, r[0], r[1], r[2]);
}

static void put_points(writer *w, const mbs_mechanism *m)
{
    int count = 0;
    put(w, ",\"points\":[");
    for (int k = 0; k < m->model->npoint; k++)
        put_point(w, &count, m->model->point[k].body, m->model->point[k].r);
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint_data *j = &m->joint[k];
        if (j->model->point_a || j->i.body == j->j.body) continue;
        put_point(w, &count, j->i.body, j->i.s);
        put_point(w, &count, j->j.body, j->j.s);
    }
    put(w, "],\"springs\":[");
    count = 0;
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force *f = m->force[k].model;
        if (!f->point_a || !f->point_b || strcmp(f->type, "contact") == 0) continue;
        put(w, "%s[%d,%d]", count++ ? "," : "", mbs_find_point(m->model, f->point_a),
            mbs_find_point(m->model, f->point_b));
    }
    put(w, "],\"wheels\":[");
    count = 0;
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force *f = m->force[k].model;
        if (strcmp(f->type, "tire") != 0 || !(f->radius > 0)) continue;
        put(w, "%s[%d,%.9g]", count++ ? "," : "", mbs_find_point(m->model, f->point_b), f->radius);
    }
    put(w, "],\"frame_only\":["); /* bodies without mass */
    count = 0;
    for (int k = 1; k <= m->nbody; k++) {
        if (m->mass[k - 1] == 0) put(w, "%s%d", count++ ? "," : "", k);
    }
    put(w, "]");
}

dae_status mbs_write_html(const mbs_problem *p, int npoint, const double *t, const double *y,
                          mbs_write_fn *write, void *user)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    writer w = {write, user, 0};
    size_t n = (size_t)dae_system_size(&m->system);
    int frames = npoint < max_frames ? npoint : max_frames;
    if (npoint < 1) return DAE_ERR_INPUT;
    put_text(&w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
                 "charset=\"utf-8\"><title>mechanism</title>\n<script>\nconst model = ");
    put(&w, "{\"name\":\"%.100s\",\"dimension\":%d,\"bodies\":[",
        mbs_mechanism_body_name(m, 0) ? m->model->name : "", m->planar ? 2 : 3);
    for (int k = 1; k <= m->nbody; k++)
        put(&w, "%s\"%.60s\"", k > 1 ? "," : "", mbs_mechanism_body_name(m, k));
    put(&w, "]");
    put_points(&w, m);
    put(&w, ",\"t\":[");
    for (int k = 0; k < frames; k++)
        put(&w, "%s%.9g", k ? "," : "", t[frames > 1 ? (long)k * (npoint - 1) / (frames - 1) : 0]);
    put(&w, "],\"frames\":[");
    for (int k = 0; k < frames; k++) {
        const double *at = y + n * (size_t)(frames > 1 ? (long)k * (npoint - 1) / (frames - 1) : 0);
        put(&w, "%s[", k ? ",\n" : "");
        for (int i = 0; i < m->np; i++) put(&w, "%s%.7g", i ? "," : "", at[i]);
        put(&w, "]");
    }
    put(&w, "]};\n</script>\n");
    for (const char *const *line = mbs_animation_page; *line; line++) put_text(&w, *line);
    return w.bad ? DAE_ERR_FILE : DAE_OK;
}
