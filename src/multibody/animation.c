/* A self-contained page that shows the motion of a mechanism: no other files, no network. */
#include "core/escape.h"
#include "core/number.h"
#include "core/sha256.h"
#include "multibody/animation_page.h"
#include "multibody/mechanism.h"

#include <math.h>
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
    int n = dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && !w->bad &&
        w->write(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, w->user) < 0)
        w->bad = 1;
}

static void put_text(writer *w, const char *text)
{
    if (!w->bad && w->write(text, strlen(text), w->user) < 0) w->bad = 1;
}

static void put_lines(writer *w, const char *const *line)
{
    for (; *line; line++) put_text(w, *line);
}

static void put_name(writer *w, const char *name)
{
    if (!w->bad && dae_escape_json(name, strlen(name), w->write, w->user) < 0) w->bad = 1;
}

/* JSON has no word for what is no number. */
static void put_number(writer *w, const char *before, int digits, double x)
{
    if (isfinite(x)) put(w, "%s%.*g", before, digits, x);
    else put(w, "%snull", before);
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

/* Nothing is loaded and nothing runs but the one script. */
static void put_head(writer *w, const char *title)
{
    dae_sha256 h;
    unsigned char sum[DAE_SHA256_BYTES];
    char hash[45];
    dae_sha256_begin(&h);
    for (const char *const *line = mbs_animation_script; *line; line++)
        dae_sha256_add(&h, *line, strlen(*line));
    dae_sha256_end(&h, sum);
    dae_sha256_base64(sum, hash);
    put_text(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    put(w, "script-src 'sha256-%s'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n",
        hash);
    put_text(w, "<title>");
    if (!w->bad && dae_escape_html(title, strlen(title), w->write, w->user) < 0) w->bad = 1;
    put_text(w, "</title>\n");
}

static void put_frames(writer *w, const mbs_mechanism *m, int npoint, const double *t, const double *y)
{
    size_t n = (size_t)dae_system_size(&m->system);
    int frames = npoint < max_frames ? npoint : max_frames;
    put(w, ",\"t\":[");
    for (int k = 0; k < frames; k++)
        put_number(w, k ? "," : "", 9, t[frames > 1 ? (long)k * (npoint - 1) / (frames - 1) : 0]);
    put(w, "],\"frames\":[");
    for (int k = 0; k < frames; k++) {
        const double *at = y + n * (size_t)(frames > 1 ? (long)k * (npoint - 1) / (frames - 1) : 0);
        put(w, "%s[", k ? ",\n" : "");
        for (int i = 0; i < m->np; i++) put_number(w, i ? "," : "", 7, at[i]);
        put(w, "]");
    }
    put(w, "]");
}

static void put_joints(writer *w, const mbs_mechanism *m)
{
    int count = 0;
    put(w, ",\"joints\":[");
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint *j = m->joint[k].model;
        if (!j->point_a || !j->point_b) continue;
        put_text(w, count++ ? ",{\"name\":" : "{\"name\":");
        put_name(w, j->name);
        put(w, ",\"type\":\"%.30s\",\"a\":%d,\"b\":%d}", j->type, mbs_find_point(m->model, j->point_a),
            mbs_find_point(m->model, j->point_b));
    }
    put(w, "]");
}

static void put_scene(writer *w, const mbs_mechanism *m, int npoint, const double *t, const double *y)
{
    put_text(w, "{\"name\":");
    put_name(w, m->model->name ? m->model->name : "");
    put(w, ",\"dimension\":%d,\"bodies\":[", m->planar ? 2 : 3);
    for (int k = 1; k <= m->nbody; k++) {
        put_text(w, k > 1 ? "," : "");
        put_name(w, mbs_mechanism_body_name(m, k));
    }
    put(w, "]");
    put_points(w, m);
    put_joints(w, m);
    put_frames(w, m, npoint, t, y);
    put_text(w, "}\n");
}

dae_status mbs_write_scene(const dae_problem *p, int npoint, const double *t, const double *y,
                           mbs_write_fn *write, void *user)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    writer w = {write, user, 0};
    if (npoint < 1 || !m) return DAE_ERR_INPUT;
    put_scene(&w, m, npoint, t, y);
    return w.bad ? DAE_ERR_FILE : DAE_OK;
}

dae_status mbs_write_html(const dae_problem *p, int npoint, const double *t, const double *y,
                          mbs_write_fn *write, void *user)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    writer w = {write, user, 0};
    if (npoint < 1 || !m) return DAE_ERR_INPUT;
    put_head(&w, m->model->name ? m->model->name : "");
    put_lines(&w, mbs_animation_body);
    put_text(&w, "<script type=\"application/json\" id=\"model\">\n");
    put_scene(&w, m, npoint, t, y);
    put_text(&w, "</script>\n<script>");
    put_lines(&w, mbs_animation_script);
    put_text(&w, "</script></body></html>\n");
    return w.bad ? DAE_ERR_FILE : DAE_OK;
}
