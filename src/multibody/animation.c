/* Pages that show the motion of a mechanism: no other files, no network. The viewer in 3D (apps/viewer) is part of programs that
 * were built behind `make viewer`; else the small page of animation_page.h serves and says so. */
#include "core/escape.h"
#include "core/sha256.h"
#include "multibody/animation_page.h"
#include "multibody/scene.h"
#include "multibody/viewer.h"

#include <string.h>

static void put_bytes(mbs_writer *w, const unsigned char *text, size_t length)
{
    if (!w->bad && w->write((const char *)text, length, w->user) < 0) w->bad = 1;
}

static void put_lines(mbs_writer *w, const char *const *line)
{
    for (; *line; line++) mbs_put_text(w, *line);
}

int mbs_viewer_built_in(void)
{
    return mbs_viewer_script_size > 0;
}

void mbs_viewer_hash(char hash[45])
{
    dae_sha256 h;
    unsigned char sum[DAE_SHA256_BYTES];
    dae_sha256_begin(&h);
    dae_sha256_add(&h, mbs_viewer_script, mbs_viewer_script_size);
    dae_sha256_end(&h, sum);
    dae_sha256_base64(sum, hash);
}

static void small_hash(char hash[45])
{
    dae_sha256 h;
    unsigned char sum[DAE_SHA256_BYTES];
    dae_sha256_begin(&h);
    for (const char *const *line = mbs_animation_script; *line; line++)
        dae_sha256_add(&h, *line, strlen(*line));
    dae_sha256_end(&h, sum);
    dae_sha256_base64(sum, hash);
}

/* Nothing is loaded and nothing runs but the one script. */
static void put_head(mbs_writer *w, const char *title, const char *hash)
{
    mbs_put_text(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    mbs_put(w, "script-src 'sha256-%s'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n",
            hash);
    mbs_put_text(w, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    if (!w->bad && dae_escape_html(title, strlen(title), w->write, w->user) < 0) w->bad = 1;
    mbs_put_text(w, "</title>\n");
}

static void put_data(mbs_writer *w, const dae_problem *p, const mbs_track *track, int details)
{
    mbs_put_text(w, "<script type=\"application/json\" id=\"model\">\n");
    mbs_put_scene(w, p, track, details);
    mbs_put_text(w, "</script>\n<script>");
}

static void put_viewer(mbs_writer *w, const dae_problem *p, const mbs_track *track)
{
    mbs_put_text(w, "<style>");
    put_bytes(w, mbs_viewer_style, mbs_viewer_style_size);
    mbs_put_text(w, "</style>\n<main id=\"viewer\"></main>\n");
    put_data(w, p, track, 1);
    put_bytes(w, mbs_viewer_script, mbs_viewer_script_size);
    mbs_put_text(w, "</script>\n");
}

dae_status mbs_write_motion(const dae_problem *p, const mbs_track *track, mbs_show show, mbs_write_fn *write,
                            void *user)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    mbs_writer w = {write, user, 0};
    char hash[45];
    if (!m || track->n < 1 || (show == MBS_SHOW_PART && !mbs_viewer_built_in())) return DAE_ERR_INPUT;
    const char *title = m->model->name ? m->model->name : "";
    if (show == MBS_SHOW_SCENE) {
        mbs_put_scene(&w, p, track, 1);
    } else if (show == MBS_SHOW_PART) {
        put_viewer(&w, p, track);
    } else if (show == MBS_SHOW_PAGE && mbs_viewer_built_in()) {
        mbs_viewer_hash(hash);
        put_head(&w, title, hash);
        mbs_put_text(&w, "<style>body{margin:0}body #viewer{min-height:100vh}</style></head><body>\n");
        put_viewer(&w, p, track);
        mbs_put_text(&w, "</body></html>\n");
    } else {
        small_hash(hash);
        put_head(&w, title, hash);
        put_lines(&w, mbs_animation_body);
        if (!mbs_viewer_built_in())
            mbs_put_text(&w, "<p id=\"note\">The small viewer: this program was built without the one in 3D "
                             "(make viewer).</p>\n");
        put_data(&w, p, track, 0);
        put_lines(&w, mbs_animation_script);
        mbs_put_text(&w, "</script></body></html>\n");
    }
    return w.bad == 2 ? DAE_ERR_MEMORY : w.bad ? DAE_ERR_FILE : DAE_OK;
}

dae_status mbs_write_scene(const dae_problem *p, int npoint, const double *t, const double *y,
                           mbs_write_fn *write, void *user)
{
    return mbs_write_motion(p, &(mbs_track){.n = npoint, .t = t, .y = y}, MBS_SHOW_SCENE, write, user);
}

dae_status mbs_write_html(const dae_problem *p, int npoint, const double *t, const double *y,
                          mbs_write_fn *write, void *user)
{
    return mbs_write_motion(p, &(mbs_track){.n = npoint, .t = t, .y = y}, MBS_SHOW_PAGE, write, user);
}
