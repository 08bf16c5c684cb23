#include "table/json_value.h"

#include <math.h>

json_t *dae_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *dae_json_reals(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, dae_json_real(x[i]));
    return list;
}

double dae_json_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

typedef struct sink {
    dae_write_fn *write;
    void *user;
} sink;

static int forward(const char *text, size_t length, void *user)
{
    sink *s = user;
    return s->write(text, length, s->user) < 0 ? -1 : 0;
}

dae_status dae_json_write(json_t *value, dae_write_fn *write, void *user)
{
    sink s = {write, user};
    if (!value) return DAE_ERR_MEMORY;
    int bad = json_dump_callback(value, forward, &s, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(value);
    return bad ? DAE_ERR_FILE : DAE_OK;
}

dae_status dae_json_line(json_t *value, dae_write_fn *write, void *user)
{
    dae_status s = dae_json_write(value, write, user);
    return s < 0 ? s : write("\n", 1, user) < 0 ? DAE_ERR_FILE : DAE_OK;
}

/* Without memory from the beginning jansson says nothing at all. */
int dae_json_starved(const json_error_t *where)
{
    return json_error_code(where) == json_error_out_of_memory || !where->text[0];
}

json_t *dae_json_read(const char *text, size_t length, size_t flags, json_error_t *where)
{
    json_t *value = json_loadb(text, length, flags, where);
    if (value || dae_json_starved(where)) return value;
    /* it takes a word for which it had no memory for a mistake of the text; a mistake is one again */
    json_error_t again;
    value = json_loadb(text, length, flags, &again);
    if (!value && (dae_json_starved(&again) || again.position != where->position)) where->text[0] = 0;
    return value;
}
