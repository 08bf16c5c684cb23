/* The bytes of a WebAssembly module that evaluates a program. They can be written anywhere; a page runs them. */
#ifndef DAE_LANGUAGE_NATIVE_WASM_H
#define DAE_LANGUAGE_NATIVE_WASM_H

#include "language/program_parts.h"

/* Imports from "e": "m", the memory, then the functions "0", "1", ..., of which function k stands for operation function[k];
 * DAE_WASM_APPLY is dae_program_apply. Exports "r": void r(const double *in, const double *y, double *out, double t). */
enum { DAE_WASM_APPLY = -1, DAE_WASM_MAX_FUNCTIONS = 32 };

typedef struct dae_wasm_module {
    unsigned char *bytes; /* free it */
    int length;
    int nfunction, function[DAE_WASM_MAX_FUNCTIONS];
} dae_wasm_module;

/* 1, or 0: no memory, or longer than a browser takes. */
int dae_wasm_write(const dae_program *p, dae_wasm_module *out);

#endif
