/* Tables in files: CSV, JSON, HDF5, gnuplot script or picture by the ending, with the command, the machine and the day. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcmp(path + n - m, ending);
}

int cli_is_hdf5(const char *path)
{
    return dae_table_format_of(path) == DAE_TABLE_HDF5;
}

int cli_is_records(const char *path)
{
    return strcmp(path, "-") != 0 && dae_table_format_of(path) == DAE_TABLE_UNKNOWN &&
           !cli_plot_terminal(path);
}

static int swallow(const char *text, size_t length, void *user)
{
    (void)text, (void)length, (void)user;
    return 0;
}

dae_status cli_hdf5_check(dae_error *err)
{
    static const char *const name[] = {"t"}, *const unit[] = {""};
    dae_table nothing = {.ncol = 1, .name = name, .unit = unit, .value = (double[]){0}};
    return dae_table_hdf5(&nothing, swallow, NULL, err);
}

/* A word as the shell takes it. */
static void put_word(cli_text *x, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
    cli_write_text(" ", 1, x);
    if (*word && strspn(word, plain) == strlen(word)) {
        cli_write_text(word, strlen(word), x);
        return;
    }
    cli_write_text("'", 1, x);
    for (; *word; word++) {
        if (*word == '\'') cli_write_text("'\\''", 4, x);
        else cli_write_text(word, 1, x);
    }
    cli_write_text("'", 1, x);
}

char *cli_command_line(const cli_args *args)
{
    cli_text x = {0};
    cli_write_text("daedalus", 8, &x);
    put_word(&x, args->command->name);
    for (int i = 0; i < args->count; i++) put_word(&x, args->argument[i]);
    for (int i = 0; i < args->ngiven; i++) {
        char option[80];
        snprintf(option, sizeof option, "--%s", args->given[i].option->name);
        put_word(&x, option);
        if (args->given[i].value) put_word(&x, args->given[i].value);
    }
    return x.text;
}

int cli_table_check(const cli_args *args, const char *path)
{
    dae_error err = {0};
    if (cli_plot_terminal(path)) return cli_plot_check(args, "--out", path);
    if (cli_is_hdf5(path) && cli_hdf5_check(&err) < 0) return cli_wrong(args, "--out %s: %s", path, err.text);
    if (!strcmp(path, "-")) return 0;
    cli_draft d;
    if (cli_draft_begin(args, &d, "--out", path)) return EXIT_USAGE;
    cli_draft_drop(&d);
    return 0;
}

int cli_tables_check(const cli_args *args, int records)
{
    const char *path;
    for (int k = 0; (path = cli_value_at(args, "out", k)); k++) {
        if (cli_is_records(path) && !records)
            return cli_wrong(
                args, "--out %s: expected a name that ends in .csv, .json, .h5, .gp, .svg, .png or .pdf",
                path);
        if (!cli_is_records(path) && cli_table_check(args, path)) return EXIT_USAGE;
    }
    return 0;
}

static dae_status script(const void *table, const char *terminal, dae_write_fn *write, void *user)
{
    enum { most = 12 };
    const dae_table *t = table;
    int y[most];
    dae_table_plot_options o = {.y = y, .ny = dae_table_plot_choose(t, 0, y, most), .terminal = terminal};
    for (int i = 0; i < t->nattribute; i++) {
        if (!strcmp(t->attribute[i].name, "problem")) o.title = t->attribute[i].text;
    }
    return dae_table_plot(t, &o, write, user);
}

void cli_table_describe(const cli_args *args, dae_table *t)
{
    char *command = cli_command_line(args);
    if (command) dae_table_note(t, "command", command, 0);
    free(command);
    dae_provenance_stamp(t);
}

dae_status cli_table_put(const char *path, const dae_table *t, dae_write_fn *write, void *user,
                         dae_error *err)
{
    dae_table_format format = dae_table_format_of(path);
    dae_table plain = *t;
    if (format == DAE_TABLE_UNKNOWN) format = DAE_TABLE_CSV;
    if (format == DAE_TABLE_CSV && !t->no_units) plain.nattribute = 0; /* a trajectory: numbers alone */
    return dae_table_write(&plain, format, write, user, err);
}

int cli_table_write(const cli_args *args, const char *path, dae_table *t)
{
    cli_draft d;
    dae_error err = {0};
    if (!t) return cli_wrong(args, "out of memory");
    cli_table_describe(args, t);
    if (cli_plot_terminal(path)) return cli_plot(args, "--out", path, script, t);
    if (!strcmp(path, "-")) {
        int bad = cli_table_put(path, t, cli_write_file, stdout, &err) < 0 || fflush(stdout) != 0;
        if (bad && errno == EPIPE) return 0; /* the reader (head, a pager) has seen enough */
        return bad ? cli_wrong(args, "--out -: could not be written: %s", strerror(errno ? errno : EIO)) : 0;
    }
    if (cli_draft_begin(args, &d, "--out", path)) return EXIT_USAGE;
    errno = 0;
    dae_status s = cli_table_put(path, t, cli_write_file, d.file, &err);
    if (s >= 0 || s == DAE_ERR_FILE) return cli_draft_end(args, &d, s < 0);
    cli_draft_drop(&d);
    return cli_wrong(args, "--out %s: %s", path, err.text[0] ? err.text : dae_status_text(s));
}

int cli_tables_write(const cli_args *args, dae_table *t)
{
    const char *path;
    int status = t ? 0 : cli_wrong(args, "out of memory");
    for (int k = 0; !status && (path = cli_value_at(args, "out", k)); k++) {
        if (cli_is_records(path)) continue;
        status = cli_table_write(args, path, t);
        if (!status && strcmp(path, "-") != 0 && !cli_has(args, "quiet")) fprintf(stderr, "wrote %s\n", path);
    }
    dae_table_destroy(t);
    return status;
}

const char *cli_records_path(const cli_args *args)
{
    const char *path, *found = NULL;
    for (int k = 0; (path = cli_value_at(args, "out", k)); k++) {
        if (cli_is_records(path)) found = path;
    }
    return found;
}

int cli_tables_wanted(const cli_args *args)
{
    const char *path;
    for (int k = 0; (path = cli_value_at(args, "out", k)); k++) {
        if (!cli_is_records(path)) return 1;
    }
    return 0;
}
