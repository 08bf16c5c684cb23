/* Tables: points in the text, or two columns of a CSV file. The first line of a file that is no comment (#) may name its
 * columns, with units in brackets: "t [s], T [K]"; commas, semicolons or tabs separate. */
#include "equations/reader.h"

#include "core/hash.h"
#include "core/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct points {
    double *x, *y;
    int n, xcap, ycap;
} points;

static int add_point(reader *r, points *p, double x, double y)
{
    if (!dae_reader_grow(r, (void **)&p->x, &p->xcap, p->n + 1, sizeof *p->x) ||
        !dae_reader_grow(r, (void **)&p->y, &p->ycap, p->n + 1, sizeof *p->y))
        return 0;
    p->x[p->n] = x;
    p->y[p->n++] = y;
    return 1;
}

static void from_text(reader *r, const context *c, symbol *s, points *p)
{
    value first = {.dimension.soft = 1}, second = first;
    for (const tree *t = s->statement->left; t && !r->failed; t = t->next->next) {
        value x = dae_evaluate_scalar(r, c, t), y = dae_evaluate_scalar(r, c, t->next);
        double px = r->failed ? 0 : dae_evaluate_known(r, c, t),
               py = r->failed ? 0 : dae_evaluate_known(r, c, t->next);
        if (r->failed) return;
        dae_check_agree(r, t->place, &first, &x, "and");
        dae_check_agree(r, t->next->place, &second, &y, "and");
        if (first.dimension.soft) first.dimension = x.dimension;
        if (second.dimension.soft) second.dimension = y.dimension;
        if (p->n && !(px > p->x[p->n - 1])) {
            dae_reader_wrong(r, t->place, "the x values of table %s must increase (%g after %g)", s->name, px,
                             p->x[p->n - 1]);
            return;
        }
        if (!add_point(r, p, px, py)) return;
    }
    s->x_dimension = first.dimension;
    s->dimension = second.dimension;
}

/* ---- CSV ----------------------------------------------------------------------------------------- */

int dae_csv_split(char *line, csv_field *out)
{
    int n = 0;
    for (char *at = line; n < MAX_CSV_COLUMNS;) {
        size_t length = strcspn(at, ",;\t\r\n");
        char *begin = at, *end = at + length;
        char separator = at[length];
        while (begin < end && (isspace((unsigned char)*begin) || *begin == '"')) begin++;
        while (end > begin && (isspace((unsigned char)end[-1]) || end[-1] == '"')) end--;
        out[n++] = (csv_field){begin, (size_t)(end - begin)};
        if (!separator || separator == '\r' || separator == '\n') break;
        at += length + 1;
    }
    return n;
}

int dae_csv_number(csv_field f, double *x)
{
    char copy[64], *end;
    if (f.length == 0 || f.length >= sizeof copy) return 0;
    memcpy(copy, f.text, f.length);
    copy[f.length] = 0;
    if (!isdigit((unsigned char)copy[0]) && !strchr("+-.", copy[0])) return 0;
    *x = dae_strtod(copy, &end);
    return !*end && isfinite(*x);
}

typedef struct columns {
    int x, y;
    double fx, fy; /* factors to SI */
} columns;

size_t dae_csv_name(csv_field f)
{
    size_t n = 0;
    while (n < f.length && f.text[n] != '[') n++;
    while (n > 0 && isspace((unsigned char)f.text[n - 1])) n--;
    return n;
}

int dae_csv_unit(csv_field f, double *factor, dae_dimension *d)
{
    const char *open = memchr(f.text, '[', f.length);
    *factor = 1;
    memset(d, 0, sizeof *d);
    d->soft = 1;
    if (!open) return 1;
    const char *close = memchr(open, ']', f.length - (size_t)(open - f.text));
    return close && !dae_unit_read(open + 1, (size_t)(close - open - 1), factor, d);
}

static int column_unit(reader *r, const symbol *s, csv_field f, double *factor, dae_dimension *d)
{
    if (dae_csv_unit(f, factor, d)) return 1;
    dae_reader_wrong(r, s->place, "table %s: \"%.*s\" has no unit that is known (first line of %s)", s->name,
                     (int)(f.length < 40 ? f.length : 40), f.text, s->statement->text);
    return 0;
}

static int find_column(reader *r, const symbol *s, const csv_field *f, int n, const char *name)
{
    for (int k = 0; k < n; k++) {
        if (dae_csv_name(f[k]) == strlen(name) && !memcmp(f[k].text, name, strlen(name))) return k;
    }
    dae_reader_wrong(r, s->place, "table %s: %s has no column \"%s\"", s->name, s->statement->text, name);
    return 0;
}

static int read_header(reader *r, symbol *s, const csv_field *f, int n, columns *c)
{
    const item *want = s->statement->items;
    if (want) {
        c->x = find_column(r, s, f, n, want->name);
        c->y = r->failed ? 0 : find_column(r, s, f, n, want->next->name);
    }
    if (r->failed || c->x >= n || c->y >= n) return !r->failed;
    return column_unit(r, s, f[c->x], &c->fx, &s->x_dimension) &&
           column_unit(r, s, f[c->y], &c->fy, &s->dimension);
}

static void read_rows(reader *r, symbol *s, FILE *in, points *p)
{
    static const dae_dimension soft = {.soft = 1};
    const char *file = s->statement->text;
    columns c = {0, 1, 1, 1};
    char *line = malloc(MAX_CSV_LINE);
    csv_field *f = malloc(MAX_CSV_COLUMNS * sizeof *f);
    double x, y;
    int headed = 0;
    s->x_dimension = s->dimension = soft;
    for (int row = 1; line && f && !r->failed && fgets(line, MAX_CSV_LINE, in); row++) {
        r->m->files = dae_hash(r->m->files, line, strlen(line));
        int n = dae_csv_split(line, f);
        if (n == 1 && f[0].length == 0) continue;
        if (f[0].length && f[0].text[0] == '#') continue;
        if (n > c.x && n > c.y && dae_csv_number(f[c.x], &x) && dae_csv_number(f[c.y], &y)) {
            x *= c.fx;
            y *= c.fy;
            if (p->n && !(x > p->x[p->n - 1]))
                dae_reader_wrong(r, s->place,
                                 "the x values of table %s must increase (%g after %g, %s line %d)", s->name,
                                 x, p->x[p->n - 1], file, row);
            else if (p->n == MAX_TABLE_ROWS)
                dae_reader_wrong(r, s->place, "table %s: %s has more than %d rows", s->name, file,
                                 MAX_TABLE_ROWS);
            else add_point(r, p, x, y);
        } else if (p->n == 0 && !headed) {
            headed = read_header(r, s, f, n, &c);
        } else {
            dae_reader_wrong(r, s->place, "table %s: expected two numbers in %s line %d", s->name, file, row);
        }
    }
    if (!line || !f) dae_reader_starved(r);
    free(line);
    free(f);
}

/* The path of `name` beside the equation file. */
char *dae_path_beside(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    size_t n = name[0] == '/' || !slash ? 0 : (size_t)(slash - file) + 1;
    char *path = malloc(n + strlen(name) + 1);
    if (!path) return NULL;
    memcpy(path, file, n);
    strcpy(path + n, name);
    return path;
}

static void from_file(reader *r, symbol *s, points *p)
{
    const char *name = s->statement->text;
    if (!r->file) {
        dae_reader_wrong(r, s->place,
                         "table %s: no file can be read here (%s); write the points into the text", s->name,
                         name);
        return;
    }
    char *path = dae_path_beside(r->file, name);
    FILE *in = path ? fopen(path, "r") : NULL;
    if (in) {
        read_rows(r, s, in, p);
        fclose(in);
    } else if (!path || errno == ENOMEM) {
        dae_reader_starved(r);
    } else {
        dae_reader_wrong(r, s->place, "table %s: %s cannot be read (%s)", s->name, name, strerror(errno));
    }
    free(path);
}

int dae_curve_read(reader *r, const context *c, symbol *s)
{
    points p = {0};
    if (s->curve > 0) return 1;
    if (s->curve < 0) return r->failed = 1, 0;
    s->curve = -1;
    if (s->statement->left) from_text(r, c, s, &p);
    else from_file(r, s, &p);
    if (!r->failed && p.n < 2)
        dae_reader_wrong(r, s->place, "table %s needs two or more points, found %d", s->name, p.n);
    if (!r->failed) {
        dae_curve *curve = dae_curve_create((dae_curve_kind)s->statement->flag,
                                            (dae_curve_outside)s->statement->mode, p.n, p.x, p.y);
        s->curve = dae_graph_add_curve(r->g, curve) + 1;
    }
    free(p.x);
    free(p.y);
    return !r->failed;
}
