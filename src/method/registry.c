/* All methods, one line each: the descriptor's name. */
#include "method/method.h"

#include <string.h>

#define METHODS(X) \
    X(radau5)       \
    X(radau)        \
    X(dopri5)       \
    X(dop853)       \
    X(bs23)         \
    X(mexx)

#ifdef DAE_HAVE_SUNDIALS
#define SUNDIALS_METHODS(X) \
    X(cvode)                \
    X(cvode_adams)          \
    X(ida)
#else
#define SUNDIALS_METHODS(X)
#endif

#define X(name) extern const dae_method dae_method_##name;
METHODS(X)
SUNDIALS_METHODS(X)
#undef X

static const dae_method *const list[] = {
#define X(name) &dae_method_##name,
    METHODS(X) SUNDIALS_METHODS(X)
#undef X
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

const dae_method_info *dae_method_find(const char *name)
{
    for (int i = 0; name && i < COUNT; i++) {
        if (!strcmp(list[i]->info.name, name)) return &list[i]->info;
    }
    return NULL;
}
