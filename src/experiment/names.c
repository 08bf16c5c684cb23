/* Names of components, and the pages of methods and formulations. */
#include <daedalus/experiment.h>

#include "core/page.h"

#include <stdio.h>
#include <string.h>

const char *dae_component_name(const dae_problem *p, int i, char *buffer, size_t size)
{
    if (p->component && p->component[i]) return p->component[i];
    snprintf(buffer, size, "y%d", i + 1);
    return buffer;
}

const char *dae_component_unit(const dae_problem *p, int i)
{
    return p->unit && p->unit[i] ? p->unit[i] : "";
}

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
