/* HDF5 result files: what they say about themselves. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { most_attributes = 64 };

int cli_has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcmp(path + n - m, ending);
}

int cli_is_hdf5(const char *path)
{
    return cli_has_ending(path, ".h5") || cli_has_ending(path, ".hdf5");
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
    return dae_table_hdf5(&nothing, NULL, swallow, NULL, err);
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

dae_status cli_table_hdf5(const cli_args *args, const dae_table *t, const dae_attribute *attribute, int n,
                          const char *words, dae_write_fn *write, void *user, dae_error *err)
{
    dae_attribute all[most_attributes];
    char *command = cli_command_line(args);
    int count = 0;
    if (command) all[count++] = (dae_attribute){"command", command, 0};
    all[count++] = (dae_attribute){"version", dae_version(), 0};
    for (int i = 0; i < n && count < most_attributes; i++) all[count++] = attribute[i];
    dae_hdf5_options o = {.attribute = all, .nattribute = count, .words = words};
    dae_status s = dae_table_hdf5(t, &o, write, user, err);
    free(command);
    return s;
}
