/* gnuplot's SVG with the same picture in about half the bytes: colors as #rrggbb, coordinates to a tenth of a pixel,
 * symbols scaled once, no attributes that repeat SVG's defaults, no empty groups. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const defaults[] = {" stroke-linecap=\"butt\"", " stroke-linejoin=\"miter\""};

/* "rgb(  0, 114, 178)" at c: its length, else 0. */
static size_t color(const char *c, char out[8])
{
    int r, g, b, n = 0;
    if (strncmp(c, "rgb(", 4) != 0 || sscanf(c, "rgb(%d,%d,%d)%n", &r, &g, &b, &n) != 3 || n == 0) return 0;
    snprintf(out, 8, "#%02x%02x%02x", (unsigned)r & 255u, (unsigned)g & 255u, (unsigned)b & 255u);
    return (size_t)n;
}

/* A number with two decimals at c: rounded to one; its length, else 0. */
static size_t coordinate(const char *c, char out[32])
{
    size_t whole = strspn(c, "0123456789");
    if (whole == 0 || whole > 6 || c[whole] != '.' || strspn(c + whole + 1, "0123456789") != 2) return 0;
    snprintf(out, 32, "%.1f", strtod(c, NULL));
    size_t n = strlen(out);
    if (out[n - 1] == '0') out[n - 2] = 0;
    return whole + 3;
}

/* Symbols in the sizes in which they are used. */
typedef struct symbol {
    int number;
    char scale[16];
} symbol;
typedef struct symbols {
    symbol list[32];
    int count;
} symbols;

/* A use of a symbol at c: its length, else 0. *k: which of the list, or count. */
static size_t use(const char *c, const symbols *s, symbol *it, char x[32], char y[32], int *k)
{
    char a[24], b[24];
    int n = 0;
    if (strncmp(c, "<use xlink:href='#gpPt", 22) != 0) return 0;
    if (sscanf(c, "<use xlink:href='#gpPt%d' transform='translate(%23[0-9.],%23[0-9.]) scale(%15[0-9.])'%n",
               &it->number, a, b, it->scale, &n) != 4 ||
        n == 0)
        return 0;
    if (!coordinate(a, x) || !coordinate(b, y)) return 0;
    for (*k = 0; *k < s->count; ++*k) {
        if (s->list[*k].number == it->number && !strcmp(s->list[*k].scale, it->scale)) break;
    }
    return (size_t)n;
}

static void find_symbols(const char *c, symbols *s)
{
    char x[32], y[32];
    symbol it;
    int k;
    while ((c = strstr(c, "<use ")) && s->count < (int)(sizeof s->list / sizeof *s->list)) {
        if (use(c, s, &it, x, y, &k) && k == s->count) s->list[s->count++] = it;
        c++;
    }
}

static void print(cli_text *out, const char *format, ...) CLI_PRINTF(2, 3);
static void print(cli_text *out, const char *format, ...)
{
    char line[160];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    cli_write_text(line, strlen(line), out);
}

static void shorten(const char *c, cli_text *out)
{
    symbols known = {.count = 0};
    find_symbols(c, &known);
    int points = 0; /* inside translate(...) or a path's d='...' */
    char last = ' ';
    while (*c) {
        char word[32];
        size_t n = 0, k = 0;
        for (; k < sizeof defaults / sizeof *defaults && !n; k++) {
            if (!strncmp(c, defaults[k], strlen(defaults[k]))) n = strlen(defaults[k]);
        }
        if (n) {
            c += n;
            continue;
        }
        symbol it;
        char x[32], y[32];
        int number;
        if (*c == '<' && (n = use(c, &known, &it, x, y, &number)) > 0 && number < known.count) {
            print(out, "<use xlink:href='#q%d' x='%s' y='%s'", number, x, y);
            c += n;
            continue;
        }
        if (!strncmp(c, "</defs>", 7)) {
            for (int i = 0; i < known.count; i++) {
                print(out, "<g id='q%d'><use xlink:href='#gpPt%d' transform='scale(%s)'/></g>\n", i,
                      known.list[i].number, known.list[i].scale);
            }
        }
        n = 0;
        if (!strncmp(c, "translate(", 10) || !strncmp(c, " d='", 4)) points = 1;
        else if (*c == ')' || *c == '>') points = 0;
        if (*c == 'r' && (n = color(c, word)) > 0) {
            cli_write_text(word, strlen(word), out);
        } else if (points && strchr(" ,LMml(", last) && (n = coordinate(c, word)) > 0) {
            cli_write_text(word, strlen(word), out);
        } else {
            n = 1;
            if (*c == '\t') last = ' ';
            else cli_write_text(c, 1, out);
        }
        last = c[n - 1];
        c += n;
    }
}

/* Takes out "<g ...>" directly followed by "</g>"; 1 if there were any. */
static int drop_empty(char *text)
{
    char *to = text;
    int found = 0;
    for (const char *c = text; *c;) {
        const char *end = !strncmp(c, "<g ", 3) ? strchr(c, '>') : NULL, *next = end ? end + 1 : NULL;
        if (next && !strncmp(next, "<title>", 7)) {
            const char *close = strstr(next, "</title>");
            if (close) next = close + 8;
        }
        while (next && (*next == '\n' || *next == ' ')) next++;
        if (next && !strncmp(next, "</g>", 4)) {
            c = next + 4;
            while (*c == '\n') c++;
            found = 1;
            continue;
        }
        *to++ = *c++;
    }
    *to = 0;
    return found;
}

int cli_svg_shorten(const char *path)
{
    size_t length;
    cli_text out = {0};
    char *text = cli_read_file(path, &length);
    if (!text) return errno;
    shorten(text, &out);
    free(text);
    if (!out.text || cli_starved(0)) {
        free(out.text);
        return ENOMEM;
    }
    while (drop_empty(out.text)) continue;
    FILE *file = fopen(path, "w"); /* a draft: nobody reads it yet */
    int bad = !file ? errno : 0;
    if (file) {
        if (fputs(out.text, file) < 0) bad = EIO;
        if (fclose(file) != 0) bad = errno;
    }
    free(out.text);
    return bad;
}
