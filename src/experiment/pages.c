/* The pages of methods and formulations. */
#include <daedalus/experiment.h>

#include "core/page.h"

#include <string.h>

static const char *page(const dae_page *pages, const char *name)
{
    for (const dae_page *p = pages; p->name; p++) {
        if (!strcmp(p->name, name)) return p->text;
    }
    return NULL;
}

const char *dae_method_doc(const char *name)
{
    return page(dae_method_pages, name);
}

const char *dae_formulation_doc(const char *name)
{
    return page(dae_formulation_pages, name);
}
