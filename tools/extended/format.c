/* printf for numbers that are all long double: %g becomes %Lg. */
#undef snprintf
#undef vsnprintf

int dae_extended_vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    char wide[1024];
    size_t k = 0;
    for (const char *c = format; *c && k + 3 < sizeof wide; c++) {
        wide[k++] = *c;
        if (*c != '%') continue;
        for (c++; *c && strchr("0123456789.+- #*", *c) && k + 3 < sizeof wide; c++) wide[k++] = *c;
        if (!*c) break;
        if (strchr("aeEfFgG", *c)) wide[k++] = 'L';
        wide[k++] = *c;
    }
    wide[k] = 0;
    return vsnprintf(out, size, wide, args);
}

int dae_extended_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = dae_extended_vsnprintf(out, size, format, args);
    va_end(args);
    return n;
}
