/* Numbers as text, in and out, always with a decimal point: the library writes and reads the same whatever locale the program
 * around it has set. Nothing else in src/ calls strtod or prints a number with a fraction (checked by source/numbers). */
#ifndef DAE_CORE_NUMBER_H
#define DAE_CORE_NUMBER_H

#include "core/error.h"

#include <stdarg.h>
#include <stddef.h>

/* As strtod, snprintf and vsnprintf do in the C locale. */
double dae_strtod(const char *text, char **end);
int dae_snprintf(char *out, size_t size, const char *format, ...) DAE_PRINTF(3, 4);
int dae_vsnprintf(char *out, size_t size, const char *format, va_list args) DAE_PRINTF(3, 0);

/* "%.17g" to the byte, many times as fast; returns the length, at most 24. */
enum { DAE_REAL_TEXT = 40 };
size_t dae_real_text(double x, char out[DAE_REAL_TEXT]);

#endif
