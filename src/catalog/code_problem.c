/* Shared objects with `dae_problem *daedalus_problem(void)` and `const char daedalus_problem_version[]`, the version of the headers that
 * they were compiled with: the struct is as it was then. */
#include "catalog/code_problem.h"

#include "catalog/report_problem.h"
#include "core/error.h"
#include "problem/problem.h"

#include <daedalus/version.h>

#include <dlfcn.h>
#include <math.h>
#include <string.h>

typedef dae_problem *problem_fn(void);

static void close_object(void *object)
{
    dlclose(object);
}

static dae_problem *of_object(const char *path, void *object, problem_fn *get, const char *version,
                              dae_error *err)
{
    if (!version || strcmp(version, DAE_VERSION) != 0) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "%s was compiled with the headers of version %s, this is " DAE_VERSION ": compile it again",
                 path, version ? version : "?");
        return NULL;
    }
    const dae_problem *theirs = get();
    if (!theirs || !theirs->info || !theirs->y0 || dae_system_size(&theirs->system) < 1) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "%s: daedalus_problem() gives no problem", path);
        return NULL;
    }
    dae_problem *p = dae_problem_new(path, err);
    if (!p) return NULL;
    dae_problem_data *data = p->data;
    *p = *theirs;
    p->data = data;
    dae_problem_own(p, object, close_object);
    return p;
}

dae_problem *dae_code_problem(const char *path, const dae_setting *setting, int nsetting, dae_error *err)
{
    void *object = nsetting ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = object ? dlsym(object, "daedalus_problem") : NULL;
    problem_fn *get;
    if (!symbol) {
        if (object) dlclose(object);
        return dae_report_problem(path, setting, nsetting, err);
    }
    memcpy(&get, &symbol, sizeof get);
    dae_problem *p = of_object(path, object, get, dlsym(object, "daedalus_problem_version"), err);
    if (!p) dlclose(object);
    return p;
}
