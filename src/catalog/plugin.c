/* Own methods in a shared object: loaded, asked for its list, every descriptor checked. */
#include <daedalus/plugin.h>

#include "core/error.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dae_plugin {
    void *object;
    const dae_method *const *list;
};

void dae_plugin_close(dae_plugin *p)
{
    if (!p) return;
    if (p->object) dlclose(p->object);
    free(p);
}

const dae_method *const *dae_plugin_list(const dae_plugin *p)
{
    return p ? p->list : NULL;
}

static dae_status load(dae_plugin *p, const char *file, dae_error *err)
{
    dae_plugin_fn *methods;
    dae_error wrong = {0};
    char path
        [4096]; /* a name without a slash is one in the present folder, not one of the system's libraries */
    int length = snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    if (length < 0 || (size_t)length >= sizeof path)
        return dae_fail(err, DAE_ERR_FILE, NAN, "the name of the plug-in is too long");
    p->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!p->object) {
        const char *why = dlerror();
        return dae_fail(err, DAE_ERR_FILE, NAN, "%s cannot be loaded: %s", file,
                        why ? why : "no reason given");
    }
    *(void **)&methods = dlsym(p->object, "dae_plugin_methods");
    if (!methods)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "%s has no function dae_plugin_methods; a shared object with own methods exports it "
                        "(daedalus/plugin.h)",
                        file);
    p->list = methods(DAE_METHOD_INTERFACE);
    if (!p->list || !p->list[0])
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s gives no methods for version %d of the interface", file,
                        DAE_METHOD_INTERFACE);
    for (int i = 0; p->list[i]; i++) {
        if (dae_method_check(p->list[i], &wrong))
            return dae_fail(err, wrong.status, NAN, "%s: %s", file, wrong.text);
        for (int k = 0; k < i; k++) {
            if (!strcmp(p->list[k]->info.name, p->list[i]->info.name))
                return dae_fail(err, DAE_ERR_INPUT, NAN, "%s has two methods %s", file,
                                p->list[i]->info.name);
        }
    }
    return DAE_OK;
}

dae_plugin *dae_plugin_open(const char *file, dae_error *err)
{
    if (dae_need(file, "the file of a plug-in", err)) return NULL;
    dae_plugin *p = calloc(1, sizeof *p);
    if (!p) dae_fail(err, DAE_ERR_MEMORY, NAN, "%s: out of memory", file);
    else if (load(p, file, err) < 0) {
        dae_plugin_close(p);
        return NULL;
    }
    return p;
}
