#include "study/json.h"

#include <daedalus/provenance.h>

#include <math.h>

json_t *dae_provenance_object(void)
{
    dae_provenance p;
    dae_provenance_now(&p);
    return json_pack("{s:s,s:s,s:s,s:i,s:s,s:s,s:s,s:s,s:s}", "version", p.version, "date", p.date,
                     "processor", p.processor, "cores", p.cores, "system", p.system, "compiler", p.compiler,
                     "flags", p.flags, "blas", p.blas, "libraries", p.libraries);
}

void dae_provenance_line(char *line, size_t size)
{
    json_t *o = dae_provenance_object();
    size_t n = o ? json_dumpb(o, line, size, JSON_COMPACT) : 0;
    line[n < size ? n : 0] = 0;
    json_decref(o);
}

json_t *dae_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
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
