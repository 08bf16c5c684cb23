/* Documentation pages carried inside the library, made from docs/ by cmake/embed.cmake. */
#ifndef DAE_CORE_PAGE_H
#define DAE_CORE_PAGE_H

typedef struct dae_page {
    const char *name, *text;
} dae_page;

extern const dae_page dae_problem_pages[], dae_method_pages[],
    dae_formulation_pages[]; /* ended by name NULL */

#endif
