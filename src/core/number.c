#include "core/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* The C locale is a constant of the C library: newlocale neither allocates nor fails for it. uselocale is the calling thread's
 * own, so that nobody else sees the change. */
static locale_t begin(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? uselocale(plain) : (locale_t)0;
}

static void end(locale_t before)
{
    if (before) uselocale(before);
}

double dae_strtod(const char *text, char **rest)
{
    locale_t before = begin();
    double x = strtod(text, rest);
    end(before);
    return x;
}

int dae_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = begin();
    int n = vsnprintf(out, size, format, args);
    end(before);
    return n;
}

int dae_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = dae_vsnprintf(out, size, format, args);
    va_end(args);
    return n;
}
