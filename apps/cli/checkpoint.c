/* Checkpoint files: a few lines of text that say what run it is, then the integrator's bytes.
 *
 *     daedalus checkpoint 1
 *     problem hires
 *     option rtol=1e-6        (those that decide the numbers; taken over by --resume)
 *     bytes 12345
 */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Options that must be the same in the run that goes on; the first five are always kept, as they were in
 * effect. */
static const char *const decisive[] = {"solver",   "rtol",           "atol",  "h0", "tend", "formulation",
                                       "set",      "index",          "opt",   "at", "hmax", "end",
                                       "jacobian", "linear-algebra", "event", "t0", "init", NULL};
enum { always = 5 };
static const char first_line[] = "daedalus checkpoint 1\n";

static int cannot_save(cli_args *args, const char *path, const char *method)
{
    return cli_wrong(args,
                     "--checkpoint %s: %s cannot be saved: SUNDIALS has no functions to write and read its "
                     "state; vode and dassl can",
                     path, method);
}

/* Before the run: a method that can be saved, and a place to write to. A file that is there stays as it is. */
int cli_checkpoint_check(cli_args *args, const char *path, const char *method)
{
    const dae_method_info *m = method ? cli_method(method) : NULL;
    if (m && !m->checkpoint) return cannot_save(args, path, m->name);
    cli_draft d;
    if (cli_draft_begin(args, &d, "--checkpoint", path)) return EXIT_USAGE;
    cli_draft_drop(&d);
    return 0;
}

/* FNV-1a of the lines before it: a letter of an option that changed on the way is noticed. */
static unsigned long long sum_of(const char *text, size_t length)
{
    unsigned long long h = 14695981039346656037ULL;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 1099511628211ULL;
    return h;
}

static void put_option(cli_text *h, const char *name, const char *value)
{
    cli_write_text("option ", 7, h);
    cli_write_text(name, strlen(name), h);
    cli_write_text("=", 1, h);
    cli_write_text(value, strlen(value), h);
    cli_write_text("\n", 1, h);
}

static void put_number(cli_text *h, const char *name, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    put_option(h, name, text);
}

int cli_checkpoint_write(cli_args *args, const dae_run_result *r, const char *path)
{
    const dae_method_info *m = cli_method(r->solver);
    if (!r->checkpoint && m && m->checkpoint) return cli_wrong(args, "--checkpoint %s: out of memory", path);
    if (!r->checkpoint) return cannot_save(args, path, r->solver);
    cli_draft d;
    if (cli_draft_begin(args, &d, "--checkpoint", path)) return EXIT_USAGE;
    cli_text h = {0};
    cli_write_text(first_line, strlen(first_line), &h);
    cli_write_text("problem ", 8, &h);
    cli_write_text(r->name, strlen(r->name), &h);
    cli_write_text("\n", 1, &h);
    put_option(&h, "solver", r->solver);
    put_number(&h, "rtol", r->rtol);
    put_number(&h, "atol", r->atol);
    put_number(&h, "h0", r->h0);
    put_number(&h, "tend", r->t_end);
    for (int i = 0; i < 2; i++) { /* tolerances by components */
        const char *option = i ? "atol" : "rtol", *v;
        for (int k = 0; (v = cli_value_at(args, option, k)); k++) {
            if (strpbrk(v, ",=")) put_option(&h, option, v);
        }
    }
    for (int i = always; decisive[i]; i++) {
        for (int k = 0; cli_value_at(args, decisive[i], k); k++) {
            put_option(&h, decisive[i], cli_value_at(args, decisive[i], k));
        }
    }
    if (h.text) fwrite(h.text, 1, h.length, d.file);
    fprintf(d.file, "header %016llx\nbytes %zu\n", sum_of(h.text ? h.text : "", h.length),
            r->checkpoint_size);
    fwrite(r->checkpoint, 1, r->checkpoint_size, d.file);
    free(h.text);
    return cli_draft_end(args, &d, cli_starved(0));
}

/* The same word or the same number. */
static int equal(const char *a, const char *b)
{
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    return !strcmp(a, b) || (end_a != a && end_b != b && !*end_a && !*end_b && x == y);
}

/* One "name=value" of the file: taken over, unless it was given now, and then it must be equal. */
static int take_option(cli_args *args, const char *path, char *line)
{
    char *value = strchr(line, '=');
    if (!value) return cli_wrong(args, "--resume %s: damaged file", path);
    *value++ = 0;
    const char *given = cli_value(args, line);
    int several =
        !strcmp(line, "set") || !strcmp(line, "opt") || !strcmp(line, "event") || !strcmp(line, "init");
    int tolerance = !strcmp(line, "rtol") || !strcmp(line, "atol");
    if (tolerance && strpbrk(value, ",=") && !cli_has(args, "change-tolerances")) several = 1;
    if (!given || several) return cli_add(args, line, value);
    if (tolerance && cli_has(args, "change-tolerances")) return 0;
    if (equal(given, value) || (!strcmp(line, "solver") && !strcmp(given, "auto"))) return 0;
    return cli_wrong(
        args, "--resume %s: the run was made with --%s %s; leave that option out or give the same value%s",
        path, line, value, tolerance ? ", or ask for --change-tolerances" : "");
}

/* What the file does not have must not be given now. */
static int refuse_others(cli_args *args, const char *path, const char *text)
{
    for (int i = always; decisive[i]; i++) {
        char key[64];
        snprintf(key, sizeof key, "\noption %s=", decisive[i]);
        if (cli_has(args, decisive[i]) && !strstr(text, key)) {
            return cli_wrong(args, "--resume %s: the run was made without --%s; leave it out", path,
                             decisive[i]);
        }
    }
    if (cli_has(args, "set") || cli_has(args, "opt") || cli_has(args, "event") || cli_has(args, "init"))
        return cli_wrong(
            args, "--resume %s: --set, --init, --opt and --event are taken from the file; leave them out",
            path);
    return 0;
}

int cli_checkpoint_read(cli_args *args, const char *path, void **block, const void **bytes, size_t *size)
{
    size_t used = 0;
    char *text = cli_read_file(path, &used);
    if (!text) return cli_wrong(args, "--resume %s: %s", path, strerror(errno));
    *block = text;
    if (strncmp(text, first_line, strlen(first_line)) != 0)
        return cli_wrong(args, "--resume %s: not a checkpoint of daedalus", path);
    const char *sum = strstr(text, "\nheader ");
    if (!sum || strtoull(sum + 8, NULL, 16) != sum_of(text, (size_t)(sum + 1 - text)))
        return cli_wrong(args, "--resume %s: damaged file", path);
    if (refuse_others(args, path, text)) return EXIT_USAGE;
    for (char *line = text + strlen(first_line), *end;
         (end = memchr(line, '\n', used - (size_t)(line - text))); line = end + 1) {
        *end = 0;
        if (!strncmp(line, "problem ", 8)) {
            const dae_problem_info *info = dae_problem_find(args->argument[0]);
            if (info && strcmp(info->name, line + 8) != 0)
                return cli_wrong(args, "--resume %s: it belongs to the problem %s", path, line + 8);
        } else if (!strncmp(line, "option ", 7)) {
            if (take_option(args, path, line + 7)) return EXIT_USAGE;
        } else if (!strncmp(line, "bytes ", 6)) {
            size_t want = (size_t)strtoull(line + 6, NULL, 10), have = used - (size_t)(end + 1 - text);
            if (want != have)
                return cli_wrong(args, "--resume %s: %zu bytes are missing or too many", path,
                                 want > have ? want - have : have - want);
            *bytes = end + 1;
            *size = have;
            return 0;
        }
    }
    return cli_wrong(args, "--resume %s: damaged file", path);
}
