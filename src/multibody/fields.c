#include "multibody/field.h"

#include "core/error.h"
#include "core/number.h"
#include "multibody/words.h"

#include <math.h>
#include <string.h>

const mbs_field *mbs_field_find(const mbs_field *table, const char *name)
{
    for (; table && table->name; table++) {
        if (!strcmp(table->name, name)) return table;
    }
    return NULL;
}

/* What is wrong with a number, "": nothing. */
static const char *out_of_range(mbs_field_range range, double x)
{
    if (isnan(x)) return "must be a number";
    switch (range) {
    case MBS_POSITIVE: return x > 0 ? "" : "must be positive";
    case MBS_NOT_NEGATIVE: return x >= 0 ? "" : "must not be negative";
    case MBS_NOT_ZERO: return x != 0 ? "" : "must not be 0";
    default: return "";
    }
}

int mbs_field_check(const mbs_field *f, const mbs_value *v, char *wrong, size_t size)
{
    const char *fault = "";
    if (f->kind == MBS_FIELD_NUMBER) fault = out_of_range(f->range, v->number);
    if (f->kind == MBS_FIELD_VECTOR && v->vector[0] == 0 && v->vector[1] == 0 && v->vector[2] == 0)
        fault = "must not be zero";
    if (f->kind == MBS_FIELD_CHOICE && mbs_word_of(f->choice, v->text) < 0) {
        dae_snprintf(wrong, size, "expected one of %s, found \"%s\"", f->choice, v->text ? v->text : "");
        return 1;
    }
    dae_snprintf(wrong, size, "%s", fault);
    return fault[0] != 0;
}

static void store(const mbs_field *f, const mbs_value *v, unsigned char *to)
{
    int whole = f->kind == MBS_FIELD_CHOICE ? mbs_word_of(f->choice, v->text) : v->number != 0;
    switch (f->kind) {
    case MBS_FIELD_NUMBER: memcpy(to, &v->number, sizeof v->number); break;
    case MBS_FIELD_FLAG:
    case MBS_FIELD_CHOICE: memcpy(to, &whole, sizeof whole); break;
    case MBS_FIELD_VECTOR: memcpy(to, v->vector, sizeof v->vector); break;
    case MBS_FIELD_NAMES: memcpy(to, &v->text, sizeof v->text); break;
    }
}

double mbs_field_number(const mbs_field *table, const void *own, const char *name, double otherwise)
{
    const mbs_field *f = mbs_field_find(table, name);
    double x = otherwise;
    if (f && f->kind == MBS_FIELD_NUMBER) memcpy(&x, (const unsigned char *)own + f->offset, sizeof x);
    return x;
}

int mbs_field_unit(const mbs_value *value, int count, const char *name, dae_dimension *d)
{
    double factor;
    for (int i = 0; i < count && value[i].name; i++) {
        if (strcmp(value[i].name, name) != 0) continue;
        *d = (dae_dimension){.soft = 1};
        if (value[i].text && dae_unit_read(value[i].text, strlen(value[i].text), &factor, d)) d->soft = 1;
        return 1;
    }
    *d = (dae_dimension){{0}, 0};
    return 0;
}

int mbs_fields_fill(const mbs_field *table, const char *type, const mbs_value *value, int count, void *own,
                    char *wrong, size_t size)
{
    for (const mbs_field *f = table; f && f->name; f++) {
        const mbs_value *v = NULL;
        for (int i = 0; i < count && value[i].name; i++) {
            if (!strcmp(value[i].name, f->name)) v = &value[i];
        }
        unsigned char *to = (unsigned char *)own + f->offset;
        char fault[200];
        if (v && mbs_field_check(f, v, fault, sizeof fault)) {
            dae_snprintf(wrong, size, "%s: %s", f->name, fault);
            return 1;
        }
        if (v) store(f, v, to);
        if (!v && f->required) {
            dae_snprintf(wrong, size, "%s: missing: %s", f->name, f->doc);
            return 1;
        }
        if (!v && f->kind == MBS_FIELD_NUMBER) memcpy(to, &f->missing, sizeof f->missing);
    }
    for (int i = 0; i < count && value[i].name; i++) {
        if (mbs_field_find(table, value[i].name)) continue;
        char list[400] = "", hint[64];
        size_t n = 0;
        for (const mbs_field *f = table; f && f->name && n < sizeof list; f++)
            n += (size_t)dae_snprintf(list + n, sizeof list - n, "%s%s", n ? "|" : "", f->name);
        dae_nearest_word(value[i].name, list, hint, sizeof hint);
        dae_snprintf(wrong, size, "%s: a %s has no such field%s%s%s", value[i].name, type,
                     DAE_DID_YOU_MEAN(hint));
        return 1;
    }
    return 0;
}

/* 1: the dimension is one of the list, or is not certain. A number times a unit has that unit: L/4 is no mass. */
static int unit_fits(const char *units, const dae_dimension *d)
{
    if (!units || (d->soft && d->soft != DAE_WEIGHED)) return 1;
    for (const char *u = units;; u++) {
        size_t n = strcspn(u, "|");
        double factor;
        dae_dimension one_of = {{0}, 0};
        if (n) dae_unit_read(u, n, &factor, &one_of);
        if (!memcmp(one_of.power, d->power, sizeof d->power)) return 1;
        u += n;
        if (!*u) return 0;
    }
}

/* "N m|N/m" as "[N m] or [N/m]". */
static void unit_words(const char *units, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (const char *u = units; used < size; u++) {
        size_t n = strcspn(u, "|");
        int length = n ? dae_snprintf(out + used, size - used, "%s[%.*s]", used ? " or " : "", (int)n, u)
                       : dae_snprintf(out + used, size - used, "%sa number without unit", used ? " or " : "");
        used += length > 0 ? (size_t)length : 0;
        u += n;
        if (!*u) break;
    }
}

int mbs_unit_wrong(const char *units, const dae_dimension *d, const char *text, char *out, size_t size)
{
    char found[48], expected[80];
    if (unit_fits(units, d)) return 0;
    dae_dimension_name(d, found, sizeof found);
    unit_words(units, expected, sizeof expected);
    dae_snprintf(out, size, "\"%.80s\" has the unit [%s], expected %s", text, found, expected);
    return 1;
}
