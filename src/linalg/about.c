#include "linalg/about.h"

#include <klu.h>
#include <stdio.h>
#include <string.h>

#ifdef DAE_PLAIN_LAPACK

void dae_linalg_blas(char *text, size_t size)
{
    snprintf(text, size, "none (own loops)");
}

#else

/* Debian and others choose among several libraries of the same name when a program starts: which one it is, only the files
 * that the process has loaded tell. OpenBLAS goes before the library of the same calls beside it. */
void dae_linalg_blas(char *text, size_t size)
{
    char line[1024];
    int best = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    text[0] = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        const char *name = strrchr(line, '/');
        if (!name) continue;
        name++;
        int rank = strstr(name, "openblas") || strstr(name, "mkl") || strstr(name, "blis") ? 2
                   : strstr(name, "blas")                                                  ? 1
                                                                                           : 0;
        if (rank <= best) continue;
        best = rank;
        snprintf(text, size, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (maps) fclose(maps);
}

#endif

void dae_linalg_versions(char *text, size_t size)
{
    snprintf(text, size, "KLU %d.%d", KLU_MAIN_VERSION, KLU_SUB_VERSION);
}
