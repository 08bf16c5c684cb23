/* Tables as JSON: {"attributes":{..},"columns":[{"name":..,"unit":..,"values":[..]},..]}. */
#include "core/escape.h"
#include "core/text.h"
#include "table/json_value.h"
#include "table/table.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static void put_string(dae_text *x, const char *text)
{
    dae_escape_json(text, strlen(text), dae_text_write, x);
}

static void put_number(dae_text *x, double value)
{
    if (isfinite(value)) dae_text_real(x, value);
    else dae_text_put(x, "null");
}

/* A cell is its number, its word, or null where it has neither. */
static void put_cell(dae_text *x, const dae_table *t, long i, int k)
{
    const char *text = t->text ? t->text[(long)k * t->nrow + i] : NULL;
    double value = t->value[(long)k * t->nrow + i];
    int word = text && ((t->words && t->words[k]) || (isnan(value) && *text && strcmp(text, "nan") != 0));
    if (word) put_string(x, text);
    else put_number(x, value);
}

dae_status dae_table_json(const dae_table *t, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    if (t->failed) return DAE_ERR_MEMORY;
    dae_text_put(&x, "{\"attributes\":{");
    for (int i = 0; i < t->nattribute; i++) {
        const dae_attribute *a = &t->attribute[i];
        if (i) dae_text_put(&x, ",");
        put_string(&x, a->name);
        dae_text_put(&x, ":");
        if (a->text) put_string(&x, a->text);
        else put_number(&x, a->value);
    }
    dae_text_put(&x, "},\n\"columns\":[");
    for (int k = 0; k < t->ncol; k++) {
        dae_text_put(&x, k ? ",\n{\"name\":" : "\n{\"name\":");
        put_string(&x, t->name[k]);
        dae_text_put(&x, ",\"unit\":");
        put_string(&x, t->unit[k]);
        dae_text_put(&x, ",\"values\":[");
        for (long i = 0; i < t->nrow; i++) {
            if (i) dae_text_put(&x, ",");
            put_cell(&x, t, i, k);
        }
        dae_text_put(&x, "]}");
    }
    dae_text_put(&x, "]}\n");
    return dae_text_end(&x);
}

/* ---- Reading ----------------------------------------------------------------------------------------- */

/* What is wrong with the columns, or NULL; *rows: how many cells each has. */
static const char *shape(const json_t *columns, size_t *rows)
{
    size_t k;
    json_t *c;
    if (!json_is_array(columns) || json_array_size(columns) == 0) return "it has no \"columns\"";
    if (json_array_size(columns) > INT_MAX) return "it has too many columns";
    *rows = json_array_size(json_object_get(json_array_get(columns, 0), "values"));
    json_array_foreach(columns, k, c)
    {
        const json_t *values = json_object_get(c, "values");
        if (!json_is_string(json_object_get(c, "name"))) return "a column has no \"name\"";
        if (!json_is_array(values)) return "a column has no \"values\"";
        if (json_array_size(values) != *rows) return "its columns have different lengths";
    }
    return NULL;
}

static void take_columns(dae_table *t, const json_t *columns)
{
    size_t k, i;
    json_t *c, *cell;
    json_array_foreach(columns, k, c)
    {
        int words = 0;
        dae_table_column(t, (int)k, json_string_value(json_object_get(c, "name")),
                         json_string_value(json_object_get(c, "unit")));
        json_array_foreach(json_object_get(c, "values"), i, cell) words |= json_is_string(cell);
        json_array_foreach(json_object_get(c, "values"), i, cell)
        {
            if (json_is_number(cell)) dae_table_set(t, (long)i, (int)k, json_number_value(cell));
            if (words) dae_table_set_text(t, (long)i, (int)k, json_string_value(cell));
        }
    }
}

dae_table *dae_table_read_json(const char *text, size_t length, dae_error *err)
{
    json_error_t where;
    json_t *o = dae_json_read(text, length, 0, &where), *value;
    const char *key;
    size_t rows = 0;
    if (!o) {
        if (dae_json_starved(&where)) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        else dae_fail(err, DAE_ERR_INPUT, NAN, "line %d: %s", where.line, where.text);
        return NULL;
    }
    const json_t *columns = json_object_get(o, "columns");
    const char *wrong = shape(columns, &rows);
    if (wrong) dae_fail(err, DAE_ERR_INPUT, NAN, "it is no table in JSON: %s", wrong);
    dae_table *t = wrong ? NULL : dae_table_create((int)json_array_size(columns), (long)rows);
    if (t) {
        take_columns(t, columns);
        json_object_foreach(json_object_get(o, "attributes"), key, value)
        {
            if (json_is_string(value)) dae_table_note(t, key, json_string_value(value), 0);
            else if (json_is_number(value)) dae_table_note(t, key, NULL, json_number_value(value));
        }
    }
    json_decref(o);
    if (!wrong && (!t || t->failed)) {
        dae_table_destroy(t);
        t = NULL;
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    return t;
}
