/* What the emitters share: the functions that code calls, and the proof that it is right. */
#ifndef DAE_LANGUAGE_NATIVE_PARTS_H
#define DAE_LANGUAGE_NATIVE_PARTS_H

#include "language/native.h"

#if DAE_NATIVE_AT_ONCE
#define DAE_NATIVE_X86 1
#elif defined(__EMSCRIPTEN__)
#define DAE_NATIVE_WASM 1
#endif

typedef double dae_one_fn(double);
typedef double dae_two_fn(double, double);

/* Of libm; NULL: the operation is not one of these. */
dae_one_fn *dae_native_function(int op);
dae_two_fn *dae_native_function_of_two(int op);

/* 1: the same numbers as the levels (any NaN is a NaN) at points with inputs of several sizes. */
int dae_native_agrees(dae_native *n, const dae_program *p);

#endif
