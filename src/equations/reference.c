/* reference "file.csv": values that a run should reach, from a file beside the equations. Either a table over time, as `run --out` writes
 * it (t,x,y,... with a row at the end of the interval; columns that are no components are not looked at), or lines "name,value". */
#include "equations/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
    reader *r;
    const statement *s;
    FILE *in;
    char *line, *head; /* lines; the fields of head are those of the first one */
    csv_field *column, *field;
    int ncolumn, row, found;
} table;

/* The next line that is no comment and not empty; its number of fields, 0: there is none. */
static int next_row(table *x)
{
    while (fgets(x->line, MAX_CSV_LINE, x->in)) {
        x->row++;
        int n = dae_csv_split(x->line, x->field);
        if (n == 1 && x->field[0].length == 0) continue;
        if (x->field[0].length == 0 || x->field[0].text[0] != '#') return n;
    }
    return 0;
}

/* The component that a name with primes means: 1, *node; 0: none. */
static int component(const reader *r, const char *name, size_t length, int *node)
{
    char text[200];
    int order = 0;
    while (length > 0 && name[length - 1] == '\'') length--, order++;
    if (length == 0 || length >= sizeof text) return 0;
    memcpy(text, name, length);
    text[length] = 0;
    int j = dae_model_find_variable(r->m, text);
    *node = j >= 0 ? dae_graph_variable(r->g, j, order) : 0;
    size_t prefix = r->m->mechanism ? strcspn(text, ".") : 0; /* car.cart.x: by its name */
    return j >= 0 || (prefix && text[prefix] == '.');
}

static void take(table *x, csv_field name, const char *text, double number)
{
    reader *r = x->r;
    dae_model *m = r->m;
    int node;
    size_t length = dae_csv_name(name);
    if (!component(r, name.text, length, &node)) return;
    if (!dae_reader_grow(r, (void **)&m->reference, &m->reference_capacity, m->nreference + 1,
                         sizeof *m->reference))
        return;
    double factor;
    dae_dimension d;
    if (!dae_csv_unit(name, &factor, &d)) {
        dae_reader_wrong(r, x->s->place, "%.60s: \"%.*s\" has no unit that is known", text,
                         (int)(name.length < 40 ? name.length : 40), name.text);
        return;
    }
    m->reference[m->nreference++] = (dae_model_entry){.name = dae_store_text(r->store, name.text, length),
                                                      .node = node,
                                                      .value = number * factor,
                                                      .place = x->s->place};
    x->found++;
}

/* name,value */
static void read_list(table *x, int n)
{
    const char *file = x->s->text;
    for (; n && !x->r->failed; n = next_row(x)) {
        double number;
        int node;
        if (n < 2 || !dae_csv_number(x->field[1], &number)) {
            if (x->row == 1) continue; /* a head */
            dae_reader_wrong(x->r, x->s->place, "expected a name and a number in %.60s line %d", file,
                             x->row);
            return;
        }
        csv_field name = x->field[0];
        if (!component(x->r, name.text, dae_csv_name(name), &node)) {
            dae_reader_wrong(x->r, x->s->place, "%.60s line %d: there is no variable \"%.*s\"", file, x->row,
                             (int)(name.length < 60 ? name.length : 60), name.text);
            return;
        }
        take(x, name, file, number);
    }
}

/* The row at the end of the interval, within rounding of times that are printed. */
static void read_table(table *x)
{
    double end = x->r->m->t1, near = 1e-9 * fmax(fabs(end), fabs(x->r->m->t0)), t, factor;
    dae_dimension d;
    int there = 0;
    if (!dae_csv_unit(x->column[0], &factor, &d)) factor = 1;
    for (int n; (n = next_row(x)) && !x->r->failed;) {
        if (!dae_csv_number(x->field[0], &t) || n < x->ncolumn) {
            dae_reader_wrong(x->r, x->s->place, "expected %d numbers in %.60s line %d", x->ncolumn,
                             x->s->text, x->row);
            return;
        }
        if (!(fabs(t * factor - end) <= near)) continue;
        there = 1;
        x->r->m->nreference = 0; /* the last of several */
        for (int k = 1; k < x->ncolumn && !x->r->failed; k++) {
            double number;
            if (dae_csv_number(x->field[k], &number)) take(x, x->column[k], x->s->text, number);
        }
    }
    if (!there && !x->r->failed)
        dae_reader_wrong(x->r, x->s->place, "%.60s has no row at t = %.10g, the end of the interval",
                         x->s->text, end);
}

static void read_file(table *x)
{
    double number;
    int n = next_row(x);
    int over_time = n > 1 && dae_csv_name(x->field[0]) <= 4 &&
                    (!strncmp(x->field[0].text, "t", dae_csv_name(x->field[0])) ||
                     !strncmp(x->field[0].text, "time", dae_csv_name(x->field[0]))) &&
                    !dae_csv_number(x->field[1], &number);
    if (over_time) {
        char *other = x->line;
        csv_field *fields = x->field;
        x->line = x->head, x->head = other; /* the first line stays */
        x->field = x->column, x->column = fields;
        x->ncolumn = n;
        read_table(x);
    } else {
        read_list(x, n);
    }
    if (!x->found && !x->r->failed)
        dae_reader_wrong(x->r, x->s->place, "%.60s has no value of a variable", x->s->text);
}

void dae_reference_file(reader *r, const statement *s)
{
    dae_model *m = r->m;
    if (!r->file) {
        dae_reader_wrong(r, s->place,
                         "reference \"%.60s\": no file can be read here; write reference t = ...: x = ...",
                         s->text);
        return;
    }
    table x = {.r = r, .s = s, .line = malloc(MAX_CSV_LINE), .head = malloc(MAX_CSV_LINE)};
    x.column = malloc(MAX_CSV_COLUMNS * sizeof *x.column);
    x.field = malloc(MAX_CSV_COLUMNS * sizeof *x.field);
    char *path = dae_path_beside(r->file, s->text);
    if (!x.line || !x.head || !x.column || !x.field || !path) {
        dae_reader_starved(r);
    } else if (!(x.in = fopen(path, "r"))) {
        if (errno == ENOMEM) dae_reader_starved(r);
        else dae_reader_wrong(r, s->place, "reference: %.60s cannot be read (%s)", s->text, strerror(errno));
    } else {
        m->reference_t = m->t1;
        m->reference_source = s->text;
        read_file(&x);
        fclose(x.in);
    }
    free(path);
    free(x.line);
    free(x.head);
    free(x.column);
    free(x.field);
}
