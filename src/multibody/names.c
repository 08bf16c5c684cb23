/* Names of what a model consists of: what is one, none twice, the nearest one. */
#include "multibody/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nearest name among count items of the given size, each beginning with its name. */
void mbs_nearest_name(const char *name, const void *list, int count, size_t size, char *out, size_t room)
{
    char words[4096];
    size_t used = 0;
    words[0] = 0;
    for (int i = 0; i < count && used < sizeof words - 70; i++) {
        const char *word = mbs_name_at(list, i, size);
        if (word) used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? "|" : "", word);
    }
    dae_nearest_word(name, words, out, room);
}

static int is_name(const char *s)
{
    if (!s || !((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_')) return 0;
    for (; *s; s++) {
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return 0;
    }
    return 1;
}

typedef struct numbered {
    const char *name;
    int i;
} numbered;

static int by_name(const void *x, const void *y)
{
    const numbered *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->i > b->i) - (a->i < b->i);
}

/* All names of a section in alphabetical order, to be freed; NULL: none, or out of memory. */
static numbered *sorted_names(const void *list, int count, size_t size)
{
    numbered *all = count > 0 ? malloc((size_t)count * sizeof *all) : NULL;
    for (int i = 0; all && i < count; i++) all[i] = (numbered){mbs_name_at(list, i, size), i};
    if (all) qsort(all, (size_t)count, sizeof *all, by_name);
    return all;
}

/* Names of one section: letters, digits, _; none twice. */
static dae_status check_names(mbs_builder *b, const char *section, const void *list, int count, size_t size)
{
    for (int i = 0; i < count; i++) {
        const char *name = mbs_name_at(list, i, size);
        snprintf(b->path, sizeof b->path, "%s[%d].name", section, i);
        if (!is_name(name))
            return mbs_wrong(b, "\"%s\" is no name (letters, digits and _, not a digit first)",
                             name ? name : "");
        if (!strcmp(name, "ground") || !strcmp(name, "t") || !strcmp(name, "pi") || !strcmp(name, "energy"))
            return mbs_wrong(
                b, "the name \"%s\" has a meaning of its own, as all of ground, t, pi and energy", name);
    }
    numbered *all = sorted_names(list, count, size);
    if (count > 0 && !all) return mbs_no_memory(b);
    int again = -1, first = -1;
    for (int k = 1; k < count; k++) {
        if (strcmp(all[k].name, all[k - 1].name) != 0 || (again >= 0 && again < all[k].i)) continue;
        again = all[k].i;
        first = all[k - 1].i;
    }
    free(all);
    if (again < 0) return DAE_OK;
    snprintf(b->path, sizeof b->path, "%s[%d].name", section, again);
    return mbs_wrong(b, "\"%s\" is also the name of %s[%d]", mbs_name_at(list, again, size), section, first);
}

/* Signals are told apart by these. */
static dae_status check_joint_names(mbs_builder *b)
{
    const mbs_model *m = b->m->model;
    numbered *bodies = sorted_names(m->body, m->nbody, sizeof *m->body);
    dae_status s = m->nbody && !bodies ? mbs_no_memory(b) : DAE_OK;
    for (int i = 0, k = 0; !s && i < m->njoint; i++) {
        const char *name = m->joint[i].name;
        int low = 0, high = m->nbody;
        while (low < high) {
            k = (low + high) / 2;
            if (strcmp(bodies[k].name, name) < 0) low = k + 1;
            else high = k;
        }
        if (low == m->nbody || strcmp(bodies[low].name, name) != 0) continue;
        snprintf(b->path, sizeof b->path, "joints[%d].name", i);
        s = mbs_wrong(b, "\"%s\" is also the name of a body", name);
    }
    free(bodies);
    return s;
}

/* Without those at the end that are shown from outside (--set spring.force=?), which have the name of their signal. */
static int declared_sensors(const mbs_model *m)
{
    int count = m->nsensor;
    while (count > 0 && m->sensor[count - 1].name && m->sensor[count - 1].value &&
           strchr(m->sensor[count - 1].name, '.') &&
           !strcmp(m->sensor[count - 1].name, m->sensor[count - 1].value))
        count--;
    return count;
}

dae_status mbs_check_names(mbs_builder *b)
{
    const mbs_model *m = b->m->model;
    dae_status s = check_names(b, "bodies", m->body, m->nbody, sizeof *m->body);
    if (!s) s = check_names(b, "variables", m->variable, m->nvariable, sizeof *m->variable);
    for (int i = 0; !s && i < m->nvariable; i++) {
        if (mbs_find_parameter(m, m->variable[i].name) < 0) continue;
        snprintf(b->path, sizeof b->path, "variables");
        s = mbs_wrong(b, "\"%s\" is also the name of a parameter", m->variable[i].name);
    }
    if (!s) s = check_names(b, "joints", m->joint, m->njoint, sizeof *m->joint);
    if (!s) s = check_names(b, "points", m->point, m->npoint, sizeof *m->point);
    if (!s) s = check_names(b, "forces", m->force, m->nforce, sizeof *m->force);
    if (!s) s = check_names(b, "drivers", m->driver, m->ndriver, sizeof *m->driver);
    if (!s) s = check_names(b, "sensors", m->sensor, declared_sensors(m), sizeof *m->sensor);
    if (!s) s = check_names(b, "events", m->event, m->nevent, sizeof *m->event);
    if (!s) s = check_joint_names(b);
    return s;
}
