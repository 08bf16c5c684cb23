/* The registry of methods; methods.def lists them. */
#include "method/method.h"

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define METHOD(name) extern const dae_method dae_method_##name;
#include "method/methods.def"
#undef METHOD

static const dae_method *const list[] = {
#define METHOD(name) &dae_method_##name,
#include "method/methods.def"
#undef METHOD
};

enum { COUNT = sizeof list / sizeof *list };

const dae_method *dae_method_at(int i)
{
    return i >= 0 && i < COUNT ? list[i] : NULL;
}

int dae_method_count(void)
{
    return COUNT;
}

const dae_method_info *dae_method_get(int i)
{
    const dae_method *m = dae_method_at(i);
    return m ? &m->info : NULL;
}

int dae_method_takes(const dae_method_info *m, const dae_system *sys)
{
    unsigned kinds = 1u << sys->kind;
    int index = dae_system_index(sys);
    if (sys->kind == DAE_KIND_DAE && sys->dae.mass_fn) { /* as F(t,y,y') = 0, or as y' = M^-1 f */
        kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_IDE;
        if (!(m->kinds & 1u << DAE_KIND_IDE) && index == 1) index = 0;
    }
    return (m->kinds & kinds) && m->max_index >= index && (!m->no_velocities || sys->structure.no_velocities);
}

const dae_method *dae_method_lookup(const dae_options *opt, const char *name)
{
    for (const dae_method *const *m = name && opt ? opt->own : NULL; m && *m; m++) {
        if ((*m)->info.name && !strcmp((*m)->info.name, name)) return *m;
    }
    for (int i = 0; name && i < COUNT; i++) {
        if (!strcmp(list[i]->info.name, name)) return list[i];
    }
    return NULL;
}

const dae_method_info *dae_options_method(const dae_options *opt, const char *name)
{
    const dae_method *m = dae_method_lookup(opt, name);
    return m ? &m->info : NULL;
}

const dae_method_info *dae_method_find(const char *name)
{
    return dae_options_method(NULL, name);
}

void dae_method_nearest(const char *name, char *out, size_t size)
{
    char all[600] = "";
    for (int i = 0; i < dae_method_count(); i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? "|" : "", dae_method_get(i)->name);
    }
    dae_nearest_word(name, all, out, size);
}

const char *dae_method_absent(const char *name)
{
#ifndef DAE_HAVE_SUNDIALS
    static const char *const names[] = {"cvode", "cvode-adams", "ida"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i]))
            return "cvode, cvode-adams and ida are methods of SUNDIALS, without which this library was "
                   "built; install "
                   "it (Debian: libsundials-dev) and build again: make extras";
    }
#endif
    (void)name;
    return NULL;
}

dae_status dae_method_check(const dae_method *m, dae_error *err)
{
    const char *name = m ? m->info.name : NULL, *missing = NULL;
    if (!name || !name[0]) return dae_fail(err, DAE_ERR_INPUT, NAN, "an own method has no name");
    if (m->interface < 1 || m->interface > DAE_METHOD_INTERFACE)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "own method %s: it has version %d of the interface, this library version %d; set "
                        ".interface = DAE_METHOD_INTERFACE and compile it with the headers of this library",
                        name, m->interface, DAE_METHOD_INTERFACE);
    if (!strcmp(name, "auto") || dae_method_find(name))
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "own method %s: the library has one of this name; choose another name", name);
    if (strpbrk(name, " ,/+=\"\\\n\t") || strlen(name) > 32)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "own method %.40s: a name has at most 32 letters, digits and signs other than "
                        "space , / + = \" and backslash",
                        name);
    if (!m->info.kinds)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "own method %s: kinds is 0; say 1u << DAE_KIND_ODE or others", name);
    if (!m->create) missing = "create";
    else if (!m->reset) missing = "reset";
    else if (!m->step) missing = "step";
    else if (!m->interpolate) missing = "interpolate";
    else if (!m->destroy) missing = "destroy";
    else if (m->info.kinds & 1u << DAE_KIND_MECH && !m->multipliers) missing = "multipliers";
    else if (m->info.options && !m->option_size) missing = "option_size";
    if (missing)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "own method %s: its descriptor has no %s", name, missing);
    return DAE_OK;
}

const char *dae_method_warning(const dae_method_info *m, int index)
{
    if (!m || m->controls_index == 0 || index <= m->controls_index) return NULL;
    return "the error test of this method does not control variables of index 3: no digit may be right. Take "
           "bimd or gamd, or radau5, radau or mebdfi with a tenth of the tolerances (mebdfi for an implicit "
           "system), "
           "or give a mechanism in the form ggl, index2 or index1";
}
