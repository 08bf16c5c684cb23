#include "core/setting.h"
#include "core/number.h"

#include "core/error.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void store(const dae_option *line, void *object, double number, const char *text)
{
    char *field = (char *)object + line->offset;
    switch (line->type) {
    case DAE_OPTION_REAL: memcpy(field, &number, sizeof number); break;
    case DAE_OPTION_LONG: memcpy(field, &(long){(long)number}, sizeof(long)); break;
    case DAE_OPTION_INT: memcpy(field, &(int){(int)number}, sizeof(int)); break;
    case DAE_OPTION_NAME: memcpy(field, &text, sizeof text); break;
    }
}

void dae_setting_defaults(const dae_option *table, void *object)
{
    for (const dae_option *line = table; line && line->name; line++) {
        store(line, object, line->value, line->text);
    }
}

static const dae_option *find(const dae_option *table, const char *name)
{
    for (const dae_option *line = table; line && line->name; line++) {
        if (!strcmp(line->name, name)) return line;
    }
    return NULL;
}

/* All names of the table as "a|b|c". */
static void names(const dae_option *table, char *out, size_t size)
{
    out[0] = 0;
    for (const dae_option *line = table; line && line->name; line++) {
        size_t used = strlen(out), need = strlen(line->name) + 2;
        if (used + need > size) return;
        if (used) strcat(out, "|");
        strcat(out, line->name);
    }
}

static int is_choice(const char *value, const char *choices)
{
    size_t n = strlen(value);
    for (const char *w = choices; w && *w;) {
        size_t k = strcspn(w, "|");
        if (k == n && !strncmp(w, value, n)) return 1;
        w += k + (w[k] == '|');
    }
    return 0;
}

static dae_status set_number(const dae_option *line, void *object, const char *what, const char *value,
                             dae_error *err)
{
    char *end;
    errno = 0;
    double x = dae_strtod(value, &end);
    if (end == value || *end || !isfinite(x)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s: \"%s\" is not a number", what, line->name, value);
    }
    if (line->min <= line->max && !(x >= line->min && x <= line->max)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s = %s is outside its range %g .. %g", what, line->name,
                        value, line->min, line->max);
    }
    if (line->type != DAE_OPTION_REAL && x != floor(x)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s = %s must be a whole number", what, line->name,
                        value);
    }
    if (line->type == DAE_OPTION_INT && fabs(x) > INT_MAX) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s = %s is too large", what, line->name, value);
    }
    store(line, object, x, NULL);
    return DAE_OK;
}

dae_status dae_setting_check_words(const dae_option *table, const void *object, const char *what,
                                 dae_error *err)
{
    for (const dae_option *line = table; line && line->name; line++) {
        if (line->type != DAE_OPTION_NAME || !line->choices) continue;
        const char *word;
        memcpy(&word, (const char *)object + line->offset, sizeof word);
        if (word && !is_choice(word, line->choices)) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s = \"%s\" is not one of %s", what, line->name,
                            word, line->choices);
        }
    }
    return DAE_OK;
}

dae_status dae_setting_store(const dae_option *table, void *object, const char *what, const char *name,
                         const char *value, dae_error *err)
{
    if (!name || !value)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s has no %s", what, name ? name : "",
                        name ? "value" : "name");
    const dae_option *line = find(table, name);
    if (!line) {
        char all[400], near[64];
        names(table, all, sizeof all);
        dae_nearest_word(name, all, near, sizeof near);
        if (near[0])
            return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no %s \"%s\"; did you mean \"%s\"?", what,
                            name, near);
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no %s \"%s\"; known: %s", what, name,
                        all[0] ? all : "none");
    }
    if (line->type != DAE_OPTION_NAME) return set_number(line, object, what, value, err);
    if (line->choices && !is_choice(value, line->choices)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %s = \"%s\" is not one of %s", what, name, value,
                        line->choices);
    }
    store(line, object, 0, value);
    return DAE_OK;
}
