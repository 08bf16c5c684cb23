#include "linalg/about.h"

#include "core/file.h"

#include <fcntl.h>
#include <klu.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    dae_lines maps = {.descriptor = open("/proc/self/maps", O_RDONLY)};
    const char *line;
    int best = 0;
    text[0] = 0;
    while ((line = dae_lines_next(&maps))) {
        const char *name = strrchr(line, '/');
        if (!name) continue;
        name++;
        int rank = strstr(name, "openblas") || strstr(name, "mkl") || strstr(name, "blis") ? 2
                   : strstr(name, "blas")                                                  ? 1
                                                                                           : 0;
        if (rank <= best) continue;
        best = rank;
        snprintf(text, size, "%s", name);
    }
    if (maps.descriptor >= 0) close(maps.descriptor);
}

#endif

void dae_linalg_versions(char *text, size_t size)
{
    snprintf(text, size, "KLU %d.%d", KLU_MAIN_VERSION, KLU_SUB_VERSION);
}
