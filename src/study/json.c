#include "study/json.h"

#include <daedalus/provenance.h>

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
