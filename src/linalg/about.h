/* Which libraries solve the linear systems. */
#ifndef DAE_LINALG_ABOUT_H
#define DAE_LINALG_ABOUT_H

#include <stddef.h>

void dae_linalg_blas(char *text, size_t size);     /* the file that is loaded; "" if it is not known */
void dae_linalg_versions(char *text, size_t size); /* "KLU 1.3" */

#endif
