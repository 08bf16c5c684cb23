/* Some columns of a table of comma-separated values, chosen by the names in its first line. The first column is always kept. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

struct cli_columns {
    const char *wanted; /* names with commas between them */
    char *keep;         /* flag of every column of the first line */
    int count, capacity;
    char text[512]; /* of the present field */
    size_t used;
    int column, line;
    int shown, failed;
    dae_write_fn *write;
    void *user;
};

cli_columns *cli_columns_create(const char *wanted, dae_write_fn *write, void *user)
{
    cli_columns *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->wanted = wanted;
    c->write = write;
    c->user = user;
    return c;
}

int cli_columns_destroy(cli_columns *c)
{
    int names = 1;
    for (const char *at = c->wanted; *at; at++) names += *at == ',';
    int missing = names - c->shown;
    free(c->keep);
    free(c);
    return missing;
}

static int wants(const char *list, const char *name, size_t n)
{
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        if (!strncmp(at, name, n) && (at[n] == ',' || !at[n])) return 1;
    }
    return 0;
}

/* A field of the first line: is its column wanted? */
static void judge(cli_columns *c)
{
    if (c->count == c->capacity) {
        int more = c->capacity ? 2 * c->capacity : 64;
        char *keep = realloc(c->keep, (size_t)more);
        if (!keep) {
            c->failed = 1;
            return;
        }
        c->keep = keep;
        c->capacity = more;
    }
    int first = c->count == 0, found = !first && wants(c->wanted, c->text, c->used);
    c->keep[c->count++] = (char)(first || found);
    c->shown += found;
}

static void end_field(cli_columns *c, char ending)
{
    if (c->line == 0) judge(c);
    if (c->column < c->count && c->keep[c->column] && !c->failed) {
        if (c->column) c->failed |= c->write(",", 1, c->user) < 0;
        c->failed |= c->write(c->text, c->used, c->user) < 0;
    }
    c->used = 0;
    c->column++;
    if (ending != '\n') return;
    c->column = 0;
    c->line = 1;
    c->failed |= c->write("\n", 1, c->user) < 0;
}

int cli_columns_write(const char *text, size_t length, void *columns)
{
    cli_columns *c = columns;
    for (size_t i = 0; i < length && !c->failed; i++) {
        if (text[i] == ',' || text[i] == '\n') end_field(c, text[i]);
        else if (c->used < sizeof c->text) c->text[c->used++] = text[i];
    }
    return c->failed ? -1 : 0;
}
