/* The same problem with other values of its parameters: it remembers what it was opened from. */
#include "problem/data.h"

#include "core/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dae_setting *copy_settings(dae_problem *p, const dae_setting *setting, int count)
{
    dae_setting *copy = dae_problem_take(p, (size_t)count + 1, sizeof *copy);
    for (int k = 0; copy && k < count; k++) {
        copy[k].name = dae_problem_copy(p, setting[k].name ? setting[k].name : "");
        copy[k].value = dae_problem_copy(p, setting[k].value ? setting[k].value : "");
        if (!copy[k].name || !copy[k].value) return NULL;
    }
    return copy;
}

dae_status dae_problem_remember(dae_problem *p, dae_problem_open_fn *open, const char *text, size_t length,
                                const char *file, const dae_setting *setting, int nsetting, dae_error *err)
{
    struct dae_problem_origin *o = &p->data->origin;
    char *kept = text ? dae_problem_take(p, length + 1, 1) : NULL;
    if (kept) memcpy(kept, text, length);
    o->text = kept;
    o->length = length;
    o->file = file ? dae_problem_copy(p, file) : NULL;
    o->setting = copy_settings(p, setting, nsetting);
    o->nsetting = nsetting;
    if ((text && !o->text) || (file && !o->file) || !o->setting)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    o->open = open;
    return DAE_OK;
}

/* A list of settings that grows. */
static dae_status append(dae_problem *p, const dae_setting **list, int *count, const dae_setting *setting,
                         int nsetting)
{
    dae_setting *all = dae_problem_take(p, (size_t)(*count + nsetting) + 1, sizeof *all),
                *more = copy_settings(p, setting, nsetting);
    if (!all || !more) return DAE_ERR_MEMORY;
    for (int k = 0; k < *count; k++) all[k] = (*list)[k];
    for (int k = 0; k < nsetting; k++) all[*count + k] = more[k];
    *list = all;
    *count += nsetting;
    return DAE_OK;
}

dae_status dae_problem_remember_start(dae_problem *p, double t0, const dae_setting *init, int ninit)
{
    struct dae_problem_origin *o = &p->data->origin;
    dae_status s = append(p, &o->init, &o->ninit, init, ninit);
    if (s < 0) return s;
    o->started = 1;
    o->t0 = t0;
    return DAE_OK;
}

dae_status dae_problem_remember_tolerances(dae_problem *p, const dae_setting *tolerance, int count)
{
    struct dae_problem_origin *o = &p->data->origin;
    return append(p, &o->tolerance, &o->ntolerance, tolerance, count);
}

/* What was set at first, then what differs. */
static dae_setting *merged(const struct dae_problem_origin *o, const dae_setting *setting, int nsetting,
                           int *count)
{
    dae_setting *all = malloc(((size_t)o->nsetting + (size_t)nsetting + 1) * sizeof *all);
    *count = 0;
    for (int k = 0; all && k < o->nsetting; k++) {
        int again = 0;
        for (int i = 0; i < nsetting; i++) again |= !strcmp(setting[i].name, o->setting[k].name);
        if (!again) all[(*count)++] = o->setting[k];
    }
    for (int k = 0; all && k < nsetting; k++) all[(*count)++] = setting[k];
    return all;
}

int dae_problem_restarted(const dae_problem *p)
{
    return p->data && p->data->origin.started;
}

dae_status dae_problem_follow(dae_problem *p, const dae_problem *like, dae_error *err)
{
    const struct dae_problem_origin *o = like->data ? &like->data->origin : NULL;
    dae_status s = DAE_OK;
    if (o && o->started) s = dae_problem_start(p, o->t0, o->init, o->ninit, err);
    if (o && o->ntolerance && s >= 0) s = dae_problem_tolerate(p, o->tolerance, o->ntolerance, err);
    return s;
}

dae_problem *dae_problem_variant(const dae_problem *p, const dae_setting *setting, int nsetting,
                                 dae_error *err)
{
    if (dae_need(p, "the problem", err) || (nsetting && dae_need(setting, "the settings", err))) return NULL;
    const struct dae_problem_origin *o = p->data ? &p->data->origin : NULL;
    if (!o || !o->open) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                 "the problem was not opened by name, file or text, so that it has no variants");
        return NULL;
    }
    int count;
    dae_setting *all = merged(o, setting, nsetting, &count);
    dae_problem *v = all ? o->open(o->text, o->length, o->file, all, count, err) : NULL;
    if (!all) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    free(all);
    if (v && dae_problem_follow(v, p, err) < 0) {
        dae_problem_destroy(v);
        v = NULL;
    }
    if (v) v->t_end = p->t_end;
    return v;
}

int dae_parameter_find(const dae_problem *p, const char *name)
{
    const dae_parameter *q = p && p->info ? p->info->parameter : NULL;
    for (int i = 0; q && name && q[i].name; i++) {
        if (!strcmp(q[i].name, name)) return i;
    }
    return -1;
}
