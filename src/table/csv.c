/* Tables as comma-separated values: names, "# units", "# name: value" for each attribute, values. */
#include "core/escape.h"
#include "core/number.h"
#include "core/text.h"
#include "table/table.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef dae_table_memory reader;

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

/* Lines "# name: value" behind that of the units say something about the table: the length of one, else 0. */
static size_t attribute_line(const char *line, long number, int head)
{
    size_t n = strcspn(line, "\n");
    const char *colon = strstr(line, ": ");
    return head && number > 2 && line[0] == '#' && line[1] == ' ' && colon && colon < line + n ? n : 0;
}

/* Counts columns and rows (an upper bound of them: the line of units may be among them), and checks that every line has as
 * many values as the first. */
static dae_status measure(const char *c, int *columns, long *rows, dae_error *err)
{
    int head = 1;
    *columns = 0;
    *rows = 0;
    for (long number = 1; *c; number++) {
        int values = 0;
        size_t skip = attribute_line(c, number, head);
        if (number > 1 && (*c == '\n' || skip)) {
            c += skip + (c[skip] == '\n');
            continue;
        }
        size_t units = units_begin(c, number);
        head = number == 1 || (head && units > 0);
        for (c += units;; c++) {
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

/* "# name: value" of n letters; a value that is a number is one. */
static void take_attribute(reader *r, const char *line, size_t n)
{
    size_t colon = (size_t)(strstr(line, ": ") - line), from = colon + 2;
    while (n > from && line[n - 1] == '\r') n--;
    char *text = malloc(n + 1);
    if (!text) {
        r->t.failed = 1;
        return;
    }
    memcpy(text, line, n);
    text[n] = text[colon] = 0;
    double x = as_number(text + from);
    dae_table_note(&r->t, text + 2, isnan(x) ? text + from : NULL, x);
    free(text);
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
    int head = 1;
    for (char *at = r->text; *at; number++) {
        size_t units = units_begin(at, number), n = attribute_line(at, number, head);
        if (n) {
            take_attribute(r, at, n);
            at += n + (at[n] == '\n');
            continue;
        }
        head = number == 1 || (head && (units > 0 || *at == '\n'));
        at += units;
        if (number == 1) {
            take_line(r, &at, r->name, 1);
        } else if (units) {
            take_line(r, &at, r->unit, 1);
        } else if (*at == '\n') {
            at++;
        } else {
            r->line[r->t.nrow] = number;
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

dae_table *dae_table_read_csv(const char *text, size_t length, dae_error *err)
{
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
    r->line = calloc((size_t)rows + 1, sizeof *r->line);
    if (!r->name || !r->unit || !r->cell || !r->value || !r->line) goto memory;
    for (size_t k = 0; k < n; k++) r->unit[k] = "";
    take_lines(r, rows);
    if (r->t.failed) goto memory;
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

/* ---- Writing ---------------------------------------------------------------------------------------- */

static void put_attribute(dae_text *x, const dae_attribute *a)
{
    dae_text_print(x, "# %s: ", a->name);
    if (!a->text) dae_text_real(x, a->value);
    for (const char *c = a->text; c && *c; c++) dae_text_fill(x, *c == '\n' || *c == '\r' ? ' ' : *c, 1);
    dae_text_put(x, "\n");
}

dae_status dae_table_csv(const dae_table *t, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    if (t->failed) return DAE_ERR_MEMORY;
    for (int k = 0; k < t->ncol; k++) {
        if (k) dae_text_put(&x, ",");
        dae_text_field(&x, t->name[k]);
    }
    dae_text_put(&x, "\n");
    if (!t->no_units || t->nattribute) {
        dae_text_put(&x, "# ");
        for (int k = 0; k < t->ncol; k++) {
            if (k) dae_text_put(&x, ",");
            dae_text_field(&x, t->unit[k]);
        }
        dae_text_put(&x, "\n");
    }
    for (int i = 0; i < t->nattribute; i++) put_attribute(&x, &t->attribute[i]);
    for (long i = 0; i < t->nrow; i++) {
        for (int k = 0; k < t->ncol; k++) {
            const char *text = t->text ? t->text[(long)k * t->nrow + i] : NULL;
            if (k) dae_text_fill(&x, ',', 1);
            if (text) dae_text_field(&x, text);
            else dae_text_real(&x, t->value[(long)k * t->nrow + i]);
        }
        dae_text_fill(&x, '\n', 1);
    }
    return dae_text_end(&x);
}
