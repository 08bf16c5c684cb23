/* Units in brackets: products and quotients of names with whole powers, "kg m^2", "N*m/rad", "mm/s^2", "1/(K^3 s)".
 *
 *   product = factor { [ "*" | "." | "/" ] factor } ;   factor = "1" | NAME [ power ] | "(" product ")" [ power ] ;
 *   power = [ "^" ] [ "-" ] digit ;                     "/" divides by the next factor only: J/kg K is (J/kg) K */
#include "core/number.h"
#include "language/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
    const char *name;
    double factor;
    signed char power[DAE_BASE_UNITS]; /* m, kg, s, A, K, mol */
    int prefix;                        /* 1: takes metric prefixes */
} unit;

static const unit units[] = {
    {"m", 1, {1, 0, 0, 0, 0}, 1},
    {"g", 1e-3, {0, 1, 0, 0, 0}, 1},
    {"s", 1, {0, 0, 1, 0, 0}, 1},
    {"A", 1, {0, 0, 0, 1, 0}, 1},
    {"K", 1, {0, 0, 0, 0, 1}, 1},
    {"rad", 1, {0, 0, 0, 0, 0}, 1},
    {"deg", 0.017453292519943295769, {0, 0, 0, 0, 0}, 0},
    {"rev", 6.2831853071795864769, {0, 0, 0, 0, 0}, 0},
    {"rpm", 0.10471975511965977462, {0, 0, -1, 0, 0}, 0},
    {"min", 60, {0, 0, 1, 0, 0}, 0},
    {"h", 3600, {0, 0, 1, 0, 0}, 0},
    {"d", 86400, {0, 0, 1, 0, 0}, 0},
    {"yr", 31557600, {0, 0, 1, 0, 0}, 0}, /* of 365.25 days */
    {"t", 1000, {0, 1, 0, 0, 0}, 0},
    {"in", 0.0254, {1, 0, 0, 0, 0}, 0},
    {"ft", 0.3048, {1, 0, 0, 0, 0}, 0},
    {"mi", 1609.344, {1, 0, 0, 0, 0}, 0},
    {"mph", 0.44704, {1, 0, -1, 0, 0}, 0},
    {"lb", 0.45359237, {0, 1, 0, 0, 0}, 0},
    {"lbf", 4.4482216152605, {1, 1, -2, 0, 0}, 0},
    {"N", 1, {1, 1, -2, 0, 0}, 1},
    {"J", 1, {2, 1, -2, 0, 0}, 1},
    {"cal", 4.184, {2, 1, -2, 0, 0}, 1}, /* of thermochemistry */
    {"W", 1, {2, 1, -3, 0, 0}, 1},
    {"Wh", 3600, {2, 1, -2, 0, 0}, 1},
    {"hp", 745.69987158227022, {2, 1, -3, 0, 0}, 0}, /* 550 ft lbf/s */
    {"Pa", 1, {-1, 1, -2, 0, 0}, 1},
    {"bar", 1e5, {-1, 1, -2, 0, 0}, 1},
    {"atm", 101325, {-1, 1, -2, 0, 0}, 0},
    {"mmHg", 133.322387415, {-1, 1, -2, 0, 0}, 0},
    {"psi", 6894.7572931683613, {-1, 1, -2, 0, 0}, 0}, /* lbf/in^2 */
    {"Hz", 1, {0, 0, -1, 0, 0}, 1},
    {"V", 1, {2, 1, -3, -1, 0}, 1},
    {"Ohm", 1, {2, 1, -3, -2, 0}, 1},
    {"ohm", 1, {2, 1, -3, -2, 0}, 1},
    {"H", 1, {2, 1, -2, -2, 0}, 1},
    {"F", 1, {-2, -1, 4, 2, 0}, 1},
    {"l", 1e-3, {3, 0, 0, 0, 0}, 1},
    {"L", 1e-3, {3, 0, 0, 0, 0}, 1},
    {"mol", 1, {0, 0, 0, 0, 0, 1}, 1},
    {"M", 1e3, {-3, 0, 0, 0, 0, 1}, 1}, /* mol/l */
    {"C", 1, {0, 0, 1, 1, 0}, 1},
    {"S", 1, {-2, -1, 3, 2, 0}, 1},
    {"T", 1, {0, 1, -2, -1, 0}, 1},
    {"Wb", 1, {2, 1, -2, -1, 0}, 1},
    {"eV", 1.602176634e-19, {2, 1, -2, 0, 0}, 1}, /* exact since 2019 */
    {"%", 1e-2, {0, 0, 0, 0, 0}, 0},
    {"ppm", 1e-6, {0, 0, 0, 0, 0}, 0},
};
/* what is written elsewhere for one of them; a unit with an offset is none */
static const char *const habits[][2] = {
    {"sec", "write s"},
    {"second", "write s"},
    {"seconds", "write s"},
    {"hr", "write h"},
    {"hour", "write h"},
    {"hours", "write h"},
    {"day", "write d"},
    {"days", "write d"},
    {"year", "write yr"},
    {"degree", "write deg"},
    {"degrees", "write deg"},
    {"inch", "write in"},
    {"kilogram", "write kg"},
    {"meter", "write m"},
    {"metre", "write m"},
    {"micron", "write um"},
    {"cc", "write ml"},
    {"degC", "a unit with an offset: give K"},
    {"degF", "a unit with an offset: give K"},
    {"celsius", "a unit with an offset: give K"},
};
static const struct {
    char letter;
    double factor;
} prefixes[] = {{'p', 1e-12}, {'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3}, {'c', 1e-2},
                {'d', 1e-1},  {'k', 1e3},  {'M', 1e6},  {'G', 1e9},  {'T', 1e12}};

static const unit *find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == length && !memcmp(units[i].name, name, length)) return &units[i];
    }
    return NULL;
}

/* The plain name first, then with a prefix. */
static const unit *read_name(const char *name, size_t length, double *factor)
{
    const unit *u = find(name, length);
    *factor = 1;
    if (u || length < 2) return u;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (prefixes[i].letter != name[0]) continue;
        u = find(name + 1, length - 1);
        *factor = prefixes[i].factor;
        return u && u->prefix ? u : NULL;
    }
    return NULL;
}

/* ^2, ^-1, 2 (as in s2): a whole number up to 9. */
static int read_power(const char *text, size_t length, size_t *k)
{
    size_t i = *k;
    int sign = 1;
    if (i < length && text[i] == '^') i++;
    if (i < length && text[i] == '-') {
        sign = -1;
        i++;
    }
    if (i >= length || !isdigit((unsigned char)text[i])) return text[*k == length ? 0 : *k] == '^' ? 0 : 1;
    *k = i + 1;
    return sign * (text[i] - '0');
}

enum { max_depth = 8, largest_power = 60 };

typedef struct unit_reader {
    const char *text;
    size_t length, at;
    int depth;
} unit_reader;

static int read_product(unit_reader *x, double *factor, int *power);

/* One factor to the power of sign (1 or -1): 0, or the column (from 1) of what is no unit. */
static int read_factor(unit_reader *x, int sign, double *factor, int *power)
{
    size_t begin = x->at;
    char c = x->at < x->length ? x->text[x->at] : 0;
    *factor = 1;
    memset(power, 0, DAE_BASE_UNITS * sizeof *power);
    if (c == '1') { /* 1/s */
        x->at++;
        return 0;
    }
    if (c == '(') {
        x->at++;
        if (++x->depth > max_depth) return (int)begin + 1;
        int bad = read_product(x, factor, power);
        if (bad) return bad;
        if (x->at >= x->length) return (int)x->at + 1; /* not closed */
        x->at++;
        x->depth--;
    } else if (isalpha((unsigned char)c) || c == '%') {
        double prefix;
        while (x->at < x->length && (isalpha((unsigned char)x->text[x->at]) || x->text[x->at] == '%'))
            x->at++;
        const unit *u = read_name(x->text + begin, x->at - begin, &prefix);
        if (!u) return (int)begin + 1;
        *factor = prefix * u->factor;
        for (int i = 0; i < DAE_BASE_UNITS; i++) power[i] = u->power[i];
    } else {
        return (int)begin + 1;
    }
    begin = x->at;
    int exponent = x->at < x->length ? read_power(x->text, x->length, &x->at) : 1;
    if (exponent == 0) return (int)begin + 1;
    exponent *= sign;
    *factor = pow(*factor, exponent);
    for (int i = 0; i < DAE_BASE_UNITS; i++) {
        power[i] *= exponent;
        if (abs(power[i]) > largest_power) return (int)begin + 1;
    }
    return 0;
}

/* Factors up to the end or a ")", which is left. */
static int read_product(unit_reader *x, double *factor, int *power)
{
    int divide = 0, expect = 1;
    *factor = 1;
    memset(power, 0, DAE_BASE_UNITS * sizeof *power);
    for (; x->at < x->length;) {
        char c = x->text[x->at];
        if (c == ' ' || ((c == '*' || c == '.' || c == '/') && !expect)) {
            if (c != ' ') expect = 1;
            divide |= c == '/';
            x->at++;
            continue;
        }
        if (c == ')' && x->depth > 0) break;
        double one;
        int of_one[DAE_BASE_UNITS];
        size_t begin = x->at;
        int bad = c == '1' && !expect ? (int)begin + 1 : read_factor(x, divide ? -1 : 1, &one, of_one);
        if (bad) return bad;
        *factor *= one;
        for (int i = 0; i < DAE_BASE_UNITS; i++) {
            power[i] += of_one[i];
            if (abs(power[i]) > largest_power) return (int)begin + 1;
        }
        divide = expect = 0;
    }
    return expect ? (int)x->at + 1 : 0;
}

int dae_unit_read(const char *text, size_t length, double *factor, dae_dimension *dimension)
{
    unit_reader x = {.text = text, .length = length};
    int power[DAE_BASE_UNITS], bad = read_product(&x, factor, power);
    memset(dimension, 0, sizeof *dimension);
    if (bad) return bad;
    for (int i = 0; i < DAE_BASE_UNITS; i++) dimension->power[i] = (signed char)power[i];
    return isfinite(*factor) && *factor > 0 ? 0 : 1;
}

static int same_letters(const char *a, size_t n, const char *b)
{
    if (strlen(b) != n) return 0;
    for (size_t i = 0; i < n; i++) {
        if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i])) return 0;
    }
    return 1;
}

/* " (write s)" for a habit, " (did you mean Hz?)" where only capitals differ, with or without a prefix; "" else. */
static void hint(const char *name, size_t n, char *out, size_t size)
{
    out[0] = 0;
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (!same_letters(name, n, habits[i][0])) continue;
        dae_snprintf(out, size, " (%s)", habits[i][1]);
        return;
    }
    for (size_t i = 0; !out[0] && i < sizeof units / sizeof *units; i++) {
        if (same_letters(name, n, units[i].name))
            dae_snprintf(out, size, " (did you mean %s?)", units[i].name);
    }
    for (size_t i = 0; !out[0] && n > 1 && i < sizeof units / sizeof *units; i++) {
        for (size_t k = 0; units[i].prefix && k < sizeof prefixes / sizeof *prefixes; k++) {
            if (name[0] == prefixes[k].letter && same_letters(name + 1, n - 1, units[i].name))
                dae_snprintf(out, size, " (did you mean %c%s?)", name[0], units[i].name);
        }
    }
    for (size_t k = 1; !out[0] && k < n; k++) { /* Nm */
        double factor;
        const unit *one = read_name(name, k, &factor), *other = read_name(name + k, n - k, &factor);
        if (one && other && one != other)
            dae_snprintf(out, size, " (did you mean %.*s %.*s?)", (int)k, name, (int)(n - k), name + k);
    }
}

void dae_unit_wrong(const char *text, size_t length, int bad, char *out, size_t size)
{
    size_t at = bad > 0 ? (size_t)bad - 1 : 0, n = 0;
    char helps[64];
    while (at + n < length && n < 40 && (isalpha((unsigned char)text[at + n]) || text[at + n] == '%')) n++;
    int all = length < 60 ? (int)length : 60;
    hint(text + at, n, helps, sizeof helps);
    if (n == length) dae_snprintf(out, size, "\"%.*s\" is no unit%s", (int)n, text, helps);
    else if (n)
        dae_snprintf(out, size, "\"%.*s\" in [%.*s] is no unit%s", (int)n, text + at, all, text, helps);
    else if (at >= length) dae_snprintf(out, size, "the unit [%.*s] is not complete", all, text);
    else if ((unsigned char)text[at] > 126)
        dae_snprintf(out, size, "a letter that is none of ASCII in the unit [%.*s] (write Ohm, um, deg)", all,
                     text);
    else
        dae_snprintf(out, size, "unexpected \"%c\" in the unit [%.*s] (units are written m/s^2, 1/(K^3 s))",
                     (unsigned char)text[at] < 32 || (unsigned char)text[at] > 126 ? '?' : text[at], all,
                     text);
}

void dae_dimension_text(const dae_dimension *d, char *out, size_t size)
{
    static const char *const name[DAE_BASE_UNITS] = {"m", "kg", "s", "A", "K", "mol"};
    size_t used = 0;
    if (size) out[0] = 0;
    for (int i = 0; i < DAE_BASE_UNITS && used < size; i++) {
        if (!d->power[i]) continue;
        int n = d->power[i] == 1
                    ? snprintf(out + used, size - used, "%s%s", used ? " " : "", name[i])
                    : snprintf(out + used, size - used, "%s%s^%d", used ? " " : "", name[i], d->power[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (!used) snprintf(out, size, "1");
}

void dae_dimension_name(const dae_dimension *d, char *out, size_t size)
{
    /* those whose name says what is meant: not Hz (also rad/s); energy and torque are both N m */
    static const char *const named[] = {"N", "W", "Pa", "V", "Ohm", "H", "F", "C", "S", "T", "Wb", "N m"};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        double factor;
        dae_dimension of;
        dae_unit_read(named[k], strlen(named[k]), &factor, &of);
        if (!memcmp(of.power, d->power, sizeof of.power)) {
            snprintf(out, size, "%s", named[k]);
            return;
        }
    }
    int below = 0;
    dae_dimension part[2] = {*d, *d}; /* above and below the line */
    for (int i = 0; i < DAE_BASE_UNITS; i++) {
        below += d->power[i] < 0;
        part[d->power[i] > 0].power[i] = 0;
        part[1].power[i] = (signed char)-part[1].power[i];
    }
    char text[64];
    dae_dimension_text(&part[0], out, size);
    if (!below) return;
    dae_dimension_text(&part[1], text, sizeof text);
    size_t n = strlen(out);
    snprintf(out + n, size - n, below > 1 ? "/(%s)" : "/%s", text);
}

void dae_si_text(double value, const char *quantity_unit, char *out, size_t size)
{
    dae_dimension d;
    double factor;
    char text[64];
    if (!quantity_unit || !quantity_unit[0] ||
        dae_unit_read(quantity_unit, strlen(quantity_unit), &factor, &d)) {
        dae_snprintf(out, size, "%.17g", value);
        return;
    }
    dae_dimension_text(&d, text, sizeof text);
    dae_snprintf(out, size, "%.17g[%s]", value, text);
}
