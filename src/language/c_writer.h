/* Programs as C: one function per program, for those who want to keep the code.
 *
 *     static void NAME(double t, const double *p, const double *y, const double *s, double *out)
 *
 * with the inputs of a program in the order t, p, y, s (the rest). The operations are those of the program in the same order
 * of rounding, so that C without contraction of products and sums gives the same numbers. */
#ifndef DAE_LANGUAGE_C_WRITER_H
#define DAE_LANGUAGE_C_WRITER_H

#include "language/program.h"

#include <stddef.h>

typedef struct dae_c_writer {
    int (*put)(const char *text, size_t length, void *user); /* < 0: stop */
    void *user;
    int failed; /* 1: put wants no more; 2: no memory */
} dae_c_writer;

void dae_c_put(dae_c_writer *w, const char *format, ...);
/* A number that is read back as it is. */
void dae_c_number(dae_c_writer *w, double x);
/* "text" as C writes it: what is no plain letter by its number. */
void dae_c_string(dae_c_writer *w, const char *text);

/* What functions of programs call: mod, sign, powers, tables. Once per file, before the first function; the curves are those of p. */
void dae_c_prelude(dae_c_writer *w, const dae_program *p);
void dae_c_function(dae_c_writer *w, const dae_program *p, const char *name, int nparameter, int n);

#endif
