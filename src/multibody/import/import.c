/* Robots of other programs as model files: URDF and a part of MJCF. */
#include "multibody/import/robot.h"

#include "core/error.h"
#include "core/text.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *read(const char *text, size_t length, const char *file, const mbs_import_options *o,
                    int elsewhere, dae_error *err)
{
    robot r = {.arena = dae_arena_create(), .file = file, .err = err};
    json_t *model = NULL;
    if (o) r.floating = o->floating, r.note = o->note, r.user = o->user;
    r.elsewhere = elsewhere;
    const mbs_xml *root = r.arena ? mbs_xml_read(text, length, r.arena, err) : NULL;
    if (root && !strcmp(root->name, "robot")) r.failed |= robot_read_urdf(&r, root) != 0;
    else if (root && !strcmp(root->name, "mujoco")) r.failed |= robot_read_mjcf(&r, root) != 0;
    else if (root) robot_wrong(&r, root, "expected <robot> (URDF) or <mujoco> (MJCF)");
    if (root && !r.failed) model = robot_model(&r, o ? o->start : NULL, o ? o->nstart : 0);
    if (model && !json_array_size(json_object_get(model, "bodies"))) {
        robot_wrong(&r, root, "nothing in it moves: every link has no mass or is fixed to the ground%s",
                    r.floating ? "" : " (import --floating frees the base)");
        json_decref(model);
        model = NULL;
    }
    if (!model && err && !err->status) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int i = 0; i < r.nlink; i++) json_decref(r.link[i].shapes);
    free(r.link);
    free(r.tie);
    dae_arena_destroy(r.arena);
    return model;
}

static char *text_of(const char *text, size_t length, const char *file, const mbs_import_options *o,
                     int elsewhere, dae_error *err)
{
    dae_error own = {0};
    json_t *model = read(text, length, file, o, elsewhere, &own);
    char *out = model ? json_dumps(model, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(model);
    if (!out && err) {
        *err = own;
        if (!own.status) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        else if (file) snprintf(err->text, sizeof err->text, "%.200s: %.300s", file, own.text);
    }
    return out;
}

dae_status mbs_import(const char *text, size_t length, const char *file, const mbs_import_options *options,
                      mbs_write_fn *write, void *user, dae_error *err)
{
    dae_error own = {0};
    char *model = text_of(text, length, file, options, 1, err ? err : &own);
    if (!model) return err && err->status < 0 ? err->status : DAE_ERR_INPUT;
    int bad = write(model, strlen(model), user) < 0 || write("\n", 1, user) < 0;
    free(model);
    return bad ? dae_fail(err, DAE_ERR_FILE, NAN, "the model could not be written") : DAE_OK;
}

static void keep_note(const char *text, void *user)
{
    dae_bytes *notes = user;
    dae_bytes_write(text, strlen(text), notes);
    dae_bytes_write("\n", 1, notes);
}

/* Lines of text as a list. */
static const char *const *lines(dae_problem *p, dae_bytes *notes)
{
    size_t count = 0, k = 0;
    for (size_t i = 0; i < notes->length; i++) count += notes->text[i] == '\n';
    const char **list = dae_problem_take(p, count + 1, sizeof *list);
    for (char *at = notes->text; list && k < count; k++) {
        char *end = strchr(at, '\n');
        *end = 0;
        list[k] = dae_problem_copy(p, at);
        at = end + 1;
    }
    return list;
}

dae_problem *mbs_import_problem(const char *text, size_t length, const char *file, const dae_setting *setting,
                                int nsetting, dae_error *err)
{
    dae_bytes notes = {0};
    mbs_import_options o = {.start = setting, .nstart = nsetting, .note = keep_note, .user = &notes};
    char *model = text_of(text, length, file, &o, 0, err);
    dae_problem *p = model ? mbs_problem_parse(model, strlen(model), file, NULL, 0, err) : NULL;
    if (p && notes.length) p->note = lines(p, &notes);
    if (p && (notes.starved || dae_problem_exhausted(p))) {
        dae_problem_destroy(p);
        p = NULL;
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    free(notes.text);
    free(model);
    return p;
}
