/* Tables that are filled cell by cell, and files of any format. */
#include "table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef dae_table_memory memory;

dae_table *dae_table_create(int ncol, long nrow)
{
    memory *m = calloc(1, sizeof *m);
    size_t n = (size_t)ncol, cells = n * (size_t)nrow;
    if (!m) return NULL;
    m->arena = dae_arena_create();
    m->name = calloc(n + 1, sizeof *m->name);
    m->unit = calloc(n + 1, sizeof *m->unit);
    m->words = calloc(n + 1, 1);
    m->value = malloc((cells + 1) * sizeof *m->value);
    if (!m->arena || !m->name || !m->unit || !m->words || !m->value) {
        dae_table_destroy(&m->t);
        return NULL;
    }
    for (size_t i = 0; i < cells; i++) m->value[i] = NAN;
    for (size_t k = 0; k < n; k++) m->name[k] = m->unit[k] = "";
    m->t = (dae_table){
        .ncol = ncol, .nrow = nrow, .name = m->name, .unit = m->unit, .value = m->value, .words = m->words};
    return &m->t;
}

void dae_table_destroy(dae_table *t)
{
    memory *r = (memory *)t;
    if (!r) return;
    free(r->text);
    free(r->cell);
    free(r->name);
    free(r->unit);
    free(r->value);
    free(r->line);
    free(r->words);
    free(r->attribute);
    dae_arena_destroy(r->arena);
    free(r);
}

long dae_table_line(const dae_table *t, long row)
{
    const memory *m = (const memory *)t;
    return m->line ? m->line[row] : 0;
}

static const char *kept(memory *m, const char *text)
{
    if (!m->arena) m->arena = dae_arena_create();
    const char *copy = m->arena ? dae_arena_copy(m->arena, text, strlen(text) + 1, 1) : NULL;
    if (!copy) m->t.failed = 1;
    return copy ? copy : "";
}

void dae_table_column(dae_table *t, int k, const char *name, const char *unit)
{
    memory *m = (memory *)t;
    m->name[k] = kept(m, name ? name : "");
    m->unit[k] = kept(m, unit ? unit : "");
}

void dae_table_set(dae_table *t, long row, int k, double value)
{
    ((memory *)t)->value[(size_t)k * (size_t)t->nrow + (size_t)row] = value;
}

void dae_table_set_text(dae_table *t, long row, int k, const char *text)
{
    memory *m = (memory *)t;
    if (!m->cell) {
        m->cell = calloc((size_t)t->ncol * (size_t)t->nrow + 1, sizeof *m->cell);
        t->text = m->cell;
        if (!m->cell) t->failed = 1;
    }
    if (m->cell) m->cell[(size_t)k * (size_t)t->nrow + (size_t)row] = kept(m, text ? text : "");
    if (m->words && text && *text) m->words[k] = 1;
}

void dae_table_mark_words(dae_table *t, const char *name)
{
    memory *m = (memory *)t;
    int k = dae_table_find(t, name);
    if (!m->words) t->words = m->words = calloc((size_t)t->ncol + 1, 1);
    if (!m->words) t->failed = 1;
    else if (k >= 0) m->words[k] = 1;
}

void dae_table_note(dae_table *t, const char *name, const char *text, double value)
{
    memory *m = (memory *)t;
    int k = 0;
    while (k < t->nattribute && strcmp(t->attribute[k].name, name) != 0) k++;
    if (k >= m->room) {
        int room = 2 * k + 16;
        dae_attribute *longer = malloc((size_t)room * sizeof *longer);
        if (!longer) {
            t->failed = 1;
            return;
        }
        if (t->nattribute) memcpy(longer, t->attribute, (size_t)t->nattribute * sizeof *longer);
        free(m->attribute);
        t->attribute = m->attribute = longer;
        m->room = room;
    }
    m->attribute[k] = (dae_attribute){kept(m, name), text ? kept(m, text) : NULL, value};
    if (k == t->nattribute) t->nattribute++;
}

int dae_table_find(const dae_table *t, const char *name)
{
    for (int k = 0; k < t->ncol; k++) {
        if (!strcmp(t->name[k], name)) return k;
    }
    return -1;
}

/* ---- Some of its columns --------------------------------------------------------------------------- */

/* Whether the list "a,b,c" has the name. */
static int listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        if (!strncmp(at, name, n) && (at[n] == ',' || !at[n])) return 1;
    }
    return 0;
}

dae_table *dae_table_choose(const dae_table *t, const char *list, dae_error *err)
{
    int wanted = 1, found = 0, k = 0;
    if (t->failed) { /* a name may be missing */
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        return NULL;
    }
    for (const char *c = list; *c; c++) wanted += *c == ',';
    for (int i = 1; i < t->ncol; i++) found += listed(list, t->name[i]);
    if (found < wanted) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "%.160s: %d of these %s of the table", list, wanted - found,
                 wanted - found == 1 ? "is no column" : "are no columns");
        return NULL;
    }
    dae_table *out = dae_table_create(1 + found, t->nrow);
    for (int i = 0; out && i < t->ncol; i++) {
        if (i && !listed(list, t->name[i])) continue;
        dae_table_column(out, k, t->name[i], t->unit[i]);
        for (long r = 0; r < t->nrow; r++) {
            const char *text = t->text ? t->text[(long)i * t->nrow + r] : NULL;
            dae_table_set(out, r, k, t->value[(long)i * t->nrow + r]);
            if (text) dae_table_set_text(out, r, k, text);
        }
        if (t->words && t->words[i]) dae_table_mark_words(out, t->name[i]);
        k++;
    }
    for (int i = 0; out && i < t->nattribute; i++)
        dae_table_note(out, t->attribute[i].name, t->attribute[i].text, t->attribute[i].value);
    if (!out) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return out;
}

/* ---- Files ------------------------------------------------------------------------------------------ */

dae_table_format dae_table_format_of(const char *path)
{
    static const struct {
        const char *ending;
        dae_table_format format;
    } known[] = {{".csv", DAE_TABLE_CSV},   {".json", DAE_TABLE_JSON},  {".h5", DAE_TABLE_HDF5},
                 {".hdf5", DAE_TABLE_HDF5}, {".gp", DAE_TABLE_GNUPLOT}, {".gnuplot", DAE_TABLE_GNUPLOT}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t k = strlen(known[i].ending);
        if (n > k && !strcmp(path + n - k, known[i].ending)) return known[i].format;
    }
    return DAE_TABLE_UNKNOWN;
}

static dae_status put_script(const dae_table *t, dae_write_fn *write, void *user)
{
    enum { most = 12 };
    int y[most];
    dae_table_plot_options o = {.y = y, .terminal = "svg"};
    for (int i = 0; i < t->nattribute; i++) {
        if (!strcmp(t->attribute[i].name, "problem")) o.title = t->attribute[i].text;
    }
    o.ny = dae_table_plot_choose(t, 0, y, most);
    return dae_table_plot(t, &o, write, user);
}

dae_status dae_table_write(const dae_table *t, dae_table_format format, dae_write_fn *write, void *user,
                           dae_error *err)
{
    dae_status s = DAE_ERR_INPUT;
    switch (format) {
    case DAE_TABLE_CSV: s = dae_table_csv(t, write, user); break;
    case DAE_TABLE_JSON: s = dae_table_json(t, write, user); break;
    case DAE_TABLE_HDF5: return dae_table_hdf5(t, write, user, err);
    case DAE_TABLE_GNUPLOT: s = put_script(t, write, user); break;
    case DAE_TABLE_UNKNOWN:
        return dae_fail(err, s, NAN, "expected a name that ends in .csv, .json, .h5 or .gp");
    }
    if (s == DAE_ERR_INPUT) dae_fail(err, s, NAN, "the table has too few numbers to draw");
    else if (s < 0) dae_fail(err, s, NAN, "%s", dae_status_text(s));
    return s;
}

dae_table *dae_table_read(const char *text, size_t length, dae_error *err)
{
    if (dae_is_hdf5(text, length)) return dae_table_read_hdf5(text, length, err);
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", text[at]) && text[at]) at++;
    if (at < length && text[at] == '{') return dae_table_read_json(text, length, err);
    return dae_table_read_csv(text, length, err);
}
