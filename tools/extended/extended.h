/* Included before every file of the build in extended precision: the same sources, with double read as the 80 bit
 * long double of x86. System headers come first, so that only our own code changes. */
#ifndef DAE_EXTENDED_H
#define DAE_EXTENDED_H

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if LDBL_MANT_DIG < 64
#error "long double has no more digits than double here"
#endif

/* Messages print numbers with %g: the formats are given an L. */
int dae_extended_snprintf(char *out, size_t size, const char *format, ...);
int dae_extended_vsnprintf(char *out, size_t size, const char *format, va_list args);

#define double long double
#define strtod strtold
#define snprintf dae_extended_snprintf
#define vsnprintf dae_extended_vsnprintf
#define acos acosl
#define asin asinl
#define atan atanl
#define atan2 atan2l
#define cbrt cbrtl
#define ceil ceill
#define copysign copysignl
#define cos cosl
#define cosh coshl
#define exp expl
#define exp2 exp2l
#define expm1 expm1l
#define fabs fabsl
#define floor floorl
#define fma fmal
#define fmax fmaxl
#define fmin fminl
#define fmod fmodl
#define frexp frexpl
#define hypot hypotl
#define ldexp ldexpl
#define log logl
#define log10 log10l
#define log1p log1pl
#define log2 log2l
#define lround lroundl
#define nextafter nextafterl
#define pow powl
#define round roundl
#define sin sinl
#define sinh sinhl
#define sqrt sqrtl
#define tan tanl
#define tanh tanhl
#undef DBL_EPSILON
#undef DBL_MAX
#undef DBL_MIN
#define DBL_EPSILON LDBL_EPSILON
#define DBL_MAX LDBL_MAX
#define DBL_MIN LDBL_MIN
#define UROUND 1e-19

#endif
