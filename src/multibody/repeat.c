#include "multibody/repeat.h"

#include "core/number.h"
#include "multibody/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_counters = 4 };

typedef struct repeater {
    const mbs_model *m;
    const char *name[max_counters];
    double value[max_counters];
    int n;
    int most;
    char *wrong;
    size_t size;
} repeater;

static int look_up(const char *name, dae_symbol *out, void *user)
{
    const repeater *r = user;
    *out = (dae_symbol){.variable = -1};
    out->dimension.soft = 1;
    for (int k = r->n - 1; k >= 0; k--) {
        if (strcmp(r->name[k], name) != 0) continue;
        out->value = r->value[k];
        return 1;
    }
    int k = mbs_find_parameter(r->m, name);
    if (k < 0) return 0;
    r->m->parameter[k].used = 1;
    out->value = r->m->parameter[k].value;
    out->dimension = r->m->parameter[k].dimension;
    return 1;
}

/* A whole number; 0: fine. */
static int whole(repeater *r, const char *text, size_t length, int *out)
{
    char copy[128];
    dae_expression_error err;
    double x = NAN;
    if (length >= sizeof copy) length = sizeof copy - 1;
    memcpy(copy, text, length);
    copy[length] = 0;
    dae_expression *e = dae_expression_create(copy, look_up, r, &err);
    if (!e) {
        dae_snprintf(r->wrong, r->size, "\"%.60s\": %s", copy, err.text);
        return 1;
    }
    dae_expression_constant(e, &x);
    dae_dimension d = dae_expression_dimension(e);
    dae_expression_destroy(e);
    if (mbs_unit_wrong("", &d, copy, r->wrong, r->size)) return 1;
    if (!(fabs(x) < 1e9) || x != floor(x)) {
        dae_snprintf(r->wrong, r->size, "\"%.60s\" is %g, expected a whole number", copy, x);
        return 1;
    }
    *out = (int)x;
    return 0;
}

/* The text with its braces replaced; NULL: see wrong. */
static json_t *replaced(repeater *r, const char *text)
{
    char out[2048];
    size_t used = 0;
    for (const char *s = text; *s;) {
        const char *end = *s == '{' ? strchr(s, '}') : NULL;
        int x, n = 1;
        if (end && whole(r, s + 1, (size_t)(end - s - 1), &x)) return NULL;
        if (used + 16 > sizeof out) {
            dae_snprintf(r->wrong, r->size, "a text of more than %d characters", (int)sizeof out - 16);
            return NULL;
        }
        if (end) n = snprintf(out + used, 16, "%d", x);
        else out[used] = *s;
        used += (size_t)n;
        s = end ? end + 1 : s + 1;
    }
    return json_stringn(out, used);
}

/* A copy with all texts replaced. */
static json_t *copy_of(repeater *r, const json_t *j)
{
    if (json_is_string(j)) return replaced(r, json_string_value(j));
    if (!json_is_array(j) && !json_is_object(j)) return json_deep_copy(j);
    json_t *out = json_is_array(j) ? json_array() : json_object(), *part;
    const char *key;
    int bad = !out;
    for (size_t i = 0; !bad && json_is_array(j) && i < json_array_size(j); i++) {
        part = copy_of(r, json_array_get(j, i));
        bad = !part || json_array_append_new(out, part);
    }
    if (!bad && json_is_object(j)) {
        json_t *value;
        json_object_foreach((json_t *)j, key, value)
        {
            if (bad || !strcmp(key, "repeat")) continue;
            part = copy_of(r, value);
            bad = !part || json_object_set_new(out, key, part);
        }
    }
    if (!bad) return out;
    json_decref(out);
    return NULL;
}

/* All values of the counters from `iter` on. 0: fine. */
static int expand(repeater *r, json_t *counters, void *iter, const json_t *item, json_t *all)
{
    if (!iter) {
        if ((int)json_array_size(all) >= r->most) {
            dae_snprintf(r->wrong, r->size, "more than %d items", r->most);
            return 1;
        }
        json_t *one = copy_of(r, item);
        return !one || json_array_append_new(all, one);
    }
    const char *text = json_string_value(json_object_iter_value(iter)),
               *dots = text ? strstr(text, "..") : NULL;
    int first, last;
    if (!dots || r->n == max_counters) {
        dae_snprintf(r->wrong, r->size, "expected {\"i\": \"1..N\"}, with up to %d counters", max_counters);
        return 1;
    }
    if (whole(r, text, (size_t)(dots - text), &first) || whole(r, dots + 2, strlen(dots + 2), &last))
        return 1;
    int k = r->n++, bad = 0;
    r->name[k] = json_object_iter_key(iter);
    for (int i = first; i <= last && !bad; i++) {
        r->value[k] = i;
        bad = expand(r, counters, json_object_iter_next(counters, iter), item, all);
    }
    r->n--;
    return bad;
}

json_t *mbs_repeat(const mbs_model *m, const json_t *item, int most, char *wrong, size_t size)
{
    repeater r = {.m = m, .most = most, .wrong = wrong, .size = size};
    json_t *counters = json_object_get(item, "repeat"), *all = json_array();
    void *iter = json_is_object(counters) ? json_object_iter(counters) : NULL;
    dae_snprintf(wrong, size,
                 iter ? "out of memory" : "expected {\"i\": \"1..N\"}"); /* unless something else is said */
    if (all && iter && !expand(&r, counters, iter, item, all)) return all;
    json_decref(all);
    return NULL;
}
