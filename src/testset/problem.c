/* Problems of the test set by name: finding, creating with parameters, documentation. */
#include <daedalus/problem.h>

#include "core/number.h"
#include "core/page.h"
#include "testset/testset.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_SIZE 400 /* names of all problems or parameters in a message */

/* ---- The registry ---------------------------------------------------------------------------- */

int dae_problem_count(void)
{
    int n = 0;
    while (dae_problem_entry_at(n)) n++;
    return n;
}

const dae_problem_info *dae_problem_get(int i)
{
    const dae_problem_entry *entry = dae_problem_entry_at(i);
    return entry ? &entry->info : NULL;
}

/* 1 if word is one of the words of a list with the given separator. */
static int has_word(const char *list, char separator, const char *word)
{
    size_t n = strlen(word);
    for (const char *w = list; w && *w && n > 0;) {
        const char *end = strchr(w, separator);
        size_t k = end ? (size_t)(end - w) : strlen(w);
        if (k == n && !memcmp(w, word, n)) return 1;
        w += k + (end != NULL);
    }
    return 0;
}

static const dae_problem_entry *find_entry(const char *name)
{
    const dae_problem_entry *entry;
    for (int i = 0; name && (entry = dae_problem_entry_at(i)); i++) {
        if (!strcmp(entry->info.name, name) || has_word(entry->info.aliases, ' ', name)) return entry;
    }
    return NULL;
}

const dae_problem_info *dae_problem_find(const char *name_or_alias)
{
    const dae_problem_entry *entry = find_entry(name_or_alias);
    return entry ? &entry->info : NULL;
}

const char *dae_problem_doc(const char *name)
{
    const dae_problem_info *info = dae_problem_find(name);
    for (const dae_page *page = dae_problem_pages; info && page->name; page++) {
        if (!strcmp(page->name, info->name)) return page->text;
    }
    return NULL;
}

/* Adds a word to a list in a buffer of LIST_SIZE; what does not fit is left out. */
static void append(char *list, const char *separator, const char *word)
{
    size_t used = strlen(list);
    if (used + strlen(separator) + strlen(word) + 1 > LIST_SIZE) return;
    snprintf(list + used, LIST_SIZE - used, "%s%s", used ? separator : "", word);
}

static dae_status unknown_problem(const char *name, dae_error *err)
{
    char all[LIST_SIZE] = "", near[64];
    const dae_problem_entry *entry;
    for (int i = 0; (entry = dae_problem_entry_at(i)); i++) append(all, "|", entry->info.name);
    dae_nearest_word(name, all, near, sizeof near);
    if (near[0]) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no problem \"%s\"; did you mean \"%s\"?", name,
                        near);
    }
    return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no problem \"%s\"; known: %s", name, all);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int parameter_count(const dae_problem_info *info)
{
    int n = 0;
    while (info->parameter && info->parameter[n].name) n++;
    return n;
}

static int find_parameter(const dae_problem_info *info, const char *name)
{
    int n = parameter_count(info);
    for (int i = 0; i < n; i++) {
        if (!strcmp(info->parameter[i].name, name)) return i;
    }
    return -1;
}

double dae_problem_parameter(const dae_problem *p, const char *name)
{
    int i = find_parameter(p->info, name);
    assert(i >= 0);
    return i < 0 ? NAN : p->parameter[i];
}

void dae_problem_constants(const dae_problem *p, int first, void *to, size_t size)
{
    assert(first >= 0 && first + (int)(size / sizeof(double)) <= parameter_count(p->info));
    memcpy(to, p->parameter + first, size);
}

double dae_problem_decimal(double x)
{
    if (x == 0 || !isfinite(x)) return x;
    double digits = 14 - floor(log10(fabs(x)));
    if (fabs(digits) > 22) return x; /* larger powers of ten are not doubles */
    double scale = pow(10, fabs(digits));
    return digits < 0 ? round(x / scale) * scale : round(x * scale) / scale;
}

int dae_problem_is_default_from(const dae_problem *p, int first)
{
    int n = parameter_count(p->info);
    for (int i = first; i < n; i++) {
        if (p->parameter[i] != p->info->parameter[i].value) return 0;
    }
    return 1;
}

int dae_problem_is_default(const dae_problem *p)
{
    return dae_problem_is_default_from(p, 0);
}

static dae_status unknown_parameter(const dae_problem_info *info, const char *name, dae_error *err)
{
    char words[LIST_SIZE] = "", all[LIST_SIZE] = "", near[64];
    int n = parameter_count(info);
    for (int i = 0; i < n; i++) {
        append(words, "|", info->parameter[i].name);
        append(all, ", ", info->parameter[i].name);
    }
    dae_nearest_word(name, words, near, sizeof near);
    if (near[0]) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "problem %s has no parameter \"%s\"; did you mean \"%s\"? It has: %s", info->name,
                        name, near, all);
    }
    return dae_fail(err, DAE_ERR_INPUT, NAN, "problem %s has no parameter \"%s\"; it has: %s", info->name,
                    name, all[0] ? all : "none");
}

/* The position of word in the '|'-separated choices, or -1. */
static int choice_position(const char *choices, const char *word)
{
    size_t n = strlen(word);
    int position = 0;
    for (const char *w = choices; *w; position++) {
        size_t k = strcspn(w, "|");
        if (k == n && !memcmp(w, word, n)) return position;
        w += k + (w[k] == '|');
    }
    return -1;
}

static dae_status read_value(const dae_problem_info *info, const dae_parameter *par, const char *text,
                             double *value, dae_error *err)
{
    if (par->choices) {
        int position = choice_position(par->choices, text);
        if (position < 0) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "problem %s: parameter %s = \"%s\" is not one of %s",
                            info->name, par->name, text, par->choices);
        }
        *value = position;
        return DAE_OK;
    }
    char *end;
    double x = dae_strtod(text, &end);
    if (end == text || *end || !isfinite(x)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "problem %s: parameter %s = \"%s\" is not a number",
                        info->name, par->name, text);
    }
    if (par->integer && x != floor(x)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "problem %s: parameter %s = %s must be a whole number",
                        info->name, par->name, text);
    }
    if (par->min <= par->max && !(x >= par->min && x <= par->max)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "problem %s: parameter %s = %s is outside its range %g .. %g", info->name, par->name,
                        text, par->min, par->max);
    }
    *value = x;
    return DAE_OK;
}

static dae_status set_parameters(dae_problem *p, const dae_setting *setting, int nsetting, dae_error *err)
{
    int n = parameter_count(p->info);
    double *value = dae_problem_reals(p, n + 1);
    if (!value) return dae_fail(err, DAE_ERR_MEMORY, NAN, "problem %s: out of memory", p->info->name);
    p->parameter = value;
    for (int i = 0; i < n; i++) value[i] = p->info->parameter[i].value;
    for (int k = 0; k < nsetting; k++) {
        const char *name = setting[k].name ? setting[k].name : "";
        int i = find_parameter(p->info, name);
        if (i < 0) return unknown_parameter(p->info, name, err);
        dae_status s = read_value(p->info, &p->info->parameter[i], setting[k].value ? setting[k].value : "",
                                  &value[i], err);
        if (s < 0) return s;
    }
    return DAE_OK;
}

/* ---- Instances ------------------------------------------------------------------------------- */

static dae_problem *create_again(const char *name, size_t length, const char *file,
                                 const dae_setting *setting, int nsetting, dae_error *err)
{
    (void)length;
    (void)file;
    return dae_problem_create(name, setting, nsetting, err);
}

dae_problem *dae_problem_create(const char *name, const dae_setting *setting, int nsetting, dae_error *err)
{
    const dae_problem_entry *entry = find_entry(name);
    if (!entry) {
        unknown_problem(name ? name : "", err);
        return NULL;
    }
    dae_problem *p = dae_problem_new(entry->info.name, err);
    if (!p) return NULL;
    p->info = &entry->info;
    p->source = "testset";
    p->doc = dae_problem_doc(entry->info.name);
    if (set_parameters(p, setting, nsetting, err) < 0) goto fail;
    dae_status s = entry->setup(p, err);
    if (s == DAE_ERR_MEMORY || dae_problem_exhausted(p)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "problem %s: out of memory", entry->info.name);
        goto fail;
    }
    if (s < 0 || dae_system_check(&p->system, err) < 0 || dae_problem_watched(p, err) < 0 ||
        dae_problem_remember(p, create_again, name, strlen(name), NULL, setting, nsetting, err) < 0)
        goto fail;
    return p;
fail:
    dae_problem_destroy(p);
    return NULL;
}
