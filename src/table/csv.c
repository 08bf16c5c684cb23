/* Reading tables of comma-separated values, and statistics of their columns. */
#include "core/escape.h"
#include "core/number.h"
#include "table/table.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef dae_table_memory reader;

void dae_table_destroy(dae_table *t)
{
    reader *r = (reader *)t;
    if (!r) return;
    free(r->text);
    free(r->cell);
    free(r->name);
    free(r->unit);
    free(r->value);
    dae_arena_destroy(r->arena);
    free(r);
}

/* Where the cell at c ends: at its comma, its line end or the end of the text. A quote opens a cell only as its first
 * letter; later ones are letters as all others. The one place that says so: lines are counted and read with it. */
static const char *cell_end(const char *c)
{
    if (*c == '"') {
        for (c++; *c && !(*c == '"' && c[1] != '"'); c++) c += *c == '"';
        c += *c == '"';
    }
    while (*c && *c != ',' && *c != '\n') c++;
    return c;
}

/* The next cell at *at, unquoted in place; *at is behind its separator, *last is 1 at the end of the line. */
static char *next_cell(char **at, int *last)
{
    char *begin = *at, *end = begin + (cell_end(begin) - begin), *c = begin, *to = begin;
    *last = *end != ',';
    *at = *end ? end + 1 : end;
    if (*c == '"') {
        for (c++; c < end && !(*c == '"' && c[1] != '"'); c++) {
            c += *c == '"';
            *to++ = *c;
        }
        c += c < end;
    }
    while (c < end) *to++ = *c++;
    if (to > begin && to[-1] == '\r') to--;
    *to = 0;
    return begin;
}

/* Line number 2 may hold the units, behind a '#': where they begin. */
static size_t units_begin(const char *line, long number)
{
    return number == 2 && *line == '#' ? strspn(line, "# ") : 0;
}

/* Counts columns and rows (an upper bound of them: the line of units may be among them), and checks that every line has as
 * many values as the first. */
static dae_status measure(const char *c, int *columns, long *rows, dae_error *err)
{
    *columns = 0;
    *rows = 0;
    for (long number = 1; *c; number++) {
        int values = 0;
        if (number > 1 && *c == '\n') {
            c++;
            continue;
        }
        for (c += units_begin(c, number);; c++) {
            c = cell_end(c);
            values++;
            if (*c != ',') break;
        }
        if (*c) c++;
        if (number == 1) *columns = values;
        else ++*rows;
        if (values != *columns)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "line %ld has %d values, expected %d", number, values,
                            *columns);
    }
    if (*columns == 0) return dae_fail(err, DAE_ERR_INPUT, NAN, "it is empty; expected a line of names");
    return DAE_OK;
}

/* strtod for plain decimal numbers, several times as fast: up to 19 digits and powers of ten up to 27 are exact in 64 bits of
 * mantissa, so that one operation gives the value correctly rounded to them; rounded again to 53 bits it is right unless it
 * stands next to the middle between two doubles. Those, and all that looks unusual, are left to strtod. */
static double decimal(const char *s, char **end)
{
#if LDBL_MANT_DIG == 64 && defined(__x86_64__)
    static const long double power[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                        1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                        1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    const char *c = s;
    uint64_t digits = 0;
    int negative = *c == '-', count = 0, scale = 0, exponent = 0;
    for (c += negative; *c >= '0' && *c <= '9' && count < 20; c++, count++)
        digits = 10 * digits + (uint64_t)(*c - '0');
    if (*c == '.') {
        for (c++; *c >= '0' && *c <= '9' && count < 20; c++, count++, scale--)
            digits = 10 * digits + (uint64_t)(*c - '0');
    }
    if (*c == 'e' && (c[1] == '-' || c[1] == '+') && c[2] >= '0' && c[2] <= '9') {
        int down = c[1] == '-';
        for (c += 2; *c >= '0' && *c <= '9' && exponent < 1000; c++) exponent = 10 * exponent + (*c - '0');
        scale += down ? -exponent : exponent;
    }
    if (count > 0 && count < 20 && (*c == 0 || *c == ' ') && scale >= -27 && scale <= 27) {
        long double x = (long double)digits, y = scale < 0 ? x / power[-scale] : x * power[scale];
        uint64_t mantissa;
        memcpy(&mantissa, &y, sizeof mantissa);
        unsigned rest = (unsigned)(mantissa & 2047); /* 1024: in the middle */
        if (rest < 1022 || rest > 1026) {
            *end = (char *)c;
            return negative ? -(double)y : (double)y;
        }
    }
#endif
    return dae_strtod(s, end);
}

static double as_number(const char *s)
{
    char *end;
    double x = decimal(s, &end);
    while (*end == ' ') end++;
    return end == s || *end ? NAN : x;
}

/* One line into the table. */
static void take_line(reader *r, char **at, const char **out, long stride)
{
    int last = 0;
    for (int k = 0; k < r->t.ncol; k++) {
        const char *cell = next_cell(at, &last);
        out[k * stride] = cell;
    }
}

/* All lines, which measure has counted; rows may be fewer than there is room for, and are closed up. */
static void take_lines(reader *r, long room)
{
    long number = 1;
    for (char *at = r->text; *at; number++) {
        size_t units = units_begin(at, number);
        at += units;
        if (number == 1) {
            take_line(r, &at, r->name, 1);
        } else if (units) {
            take_line(r, &at, r->unit, 1);
        } else if (*at == '\n') {
            at++;
        } else {
            take_line(r, &at, r->cell + r->t.nrow++, room);
        }
    }
    for (int k = 0; k < r->t.ncol; k++) {
        for (long i = 0; i < r->t.nrow; i++) {
            const char *cell = r->cell[(long)k * room + i];
            r->cell[(long)k * r->t.nrow + i] = cell;
            r->value[(long)k * r->t.nrow + i] = as_number(cell);
        }
    }
}

dae_table *dae_table_read(const char *text, size_t length, dae_error *err)
{
    if (dae_is_hdf5(text, length)) return dae_table_read_hdf5(text, length, err);
    reader *r = calloc(1, sizeof *r);
    long rows;
    size_t mark = dae_utf8_mark(text, length);
    text += mark;
    length -= mark;
    if (!r || !(r->text = malloc(length + 1))) goto memory;
    memcpy(r->text, text, length);
    r->text[length] = 0;
    if (strlen(r->text) != length) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "it is no text: byte %zu is 0", strlen(r->text) + 1);
        goto fail;
    }
    if (measure(r->text, &r->t.ncol, &rows, err) < 0) goto fail;
    size_t n = (size_t)r->t.ncol, cells = n * (size_t)rows;
    r->name = calloc(n, sizeof *r->name);
    r->unit = calloc(n, sizeof *r->unit);
    r->cell = calloc(cells + 1, sizeof *r->cell);
    r->value = calloc(cells + 1, sizeof *r->value);
    if (!r->name || !r->unit || !r->cell || !r->value) goto memory;
    for (size_t k = 0; k < n; k++) r->unit[k] = "";
    take_lines(r, rows);
    r->t.name = r->name;
    r->t.unit = r->unit;
    r->t.text = r->cell;
    r->t.value = r->value;
    return &r->t;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
fail:
    dae_table_destroy(r ? &r->t : NULL);
    return NULL;
}

int dae_table_find(const dae_table *t, const char *name)
{
    for (int k = 0; k < t->ncol; k++) {
        if (!strcmp(t->name[k], name)) return k;
    }
    return -1;
}

static int compare_up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between order statistics: rank p (n - 1). */
static double quantile(const double *sorted, long n, double p)
{
    double rank = p * (double)(n - 1);
    long i = (long)floor(rank);
    return i + 1 < n ? sorted[i] + (rank - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

dae_status dae_statistics_of(const double *x, long n, dae_statistics *out)
{
    static const double p[5] = {0.05, 0.25, 0.5, 0.75, 0.95};
    double *sorted = malloc((size_t)(n + 1) * sizeof *sorted), sum = 0, square = 0;
    long count = 0;
    *out = (dae_statistics){0, NAN, NAN, NAN, NAN, {NAN, NAN, NAN, NAN, NAN}};
    if (!sorted) return DAE_ERR_MEMORY;
    for (long i = 0; i < n; i++) {
        if (isfinite(x[i])) sorted[count++] = x[i];
    }
    out->count = count;
    if (count > 0) {
        long ordered = 1; /* often they are: counts and constants */
        while (ordered < count && sorted[ordered - 1] <= sorted[ordered]) ordered++;
        if (ordered < count) qsort(sorted, (size_t)count, sizeof *sorted, compare_up);
        for (long i = 0; i < count; i++) sum += sorted[i];
        out->mean = sum / (double)count;
        for (long i = 0; i < count; i++) square += (sorted[i] - out->mean) * (sorted[i] - out->mean);
        out->sd = count > 1 ? sqrt(square / (double)(count - 1)) : 0;
        out->min = sorted[0];
        out->max = sorted[count - 1];
        for (int k = 0; k < 5; k++) out->percentile[k] = quantile(sorted, count, p[k]);
    }
    free(sorted);
    return DAE_OK;
}
