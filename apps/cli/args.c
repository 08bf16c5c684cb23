/* Options by table, with messages that say what was expected. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int cli_starved(int now)
{
    static int starved;
    if (now) starved = now;
    return starved;
}

int cli_with_memory(int status)
{
    if (cli_starved(0) == 2) {
        fprintf(stderr, "daedalus: out of memory; the answer is not complete\n");
        cli_starved(1);
    }
    return cli_starved(0) && status <= EXIT_LIMIT ? EXIT_FAILED : status;
}

void cli_wrote(dae_status s)
{
    if (s == DAE_ERR_MEMORY && !cli_starved(0)) cli_starved(2);
}

int cli_wrong(const cli_args *args, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *name = args->command ? args->command->name : NULL;
    if (strstr(text, "memory"))
        cli_starved(1); /* "out of memory", "no memory for ...", ENOMEM: not the input's fault */
    fprintf(stderr, "daedalus%s%s: %s\n", name ? " " : "", name ? name : "", text);
    if (args->json) dae_error_json(text, cli_write_file, stdout);
    return EXIT_USAGE;
}

/* ---- Spelling ------------------------------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Edit distance of words of at most 63 letters; a swap of neighbors counts as one edit. */
static int distance(const char *a, const char *b)
{
    int d[64][64];
    size_t na = strlen(a), nb = strlen(b);
    if (na > 63 || nb > 63) return 99;
    for (size_t i = 0; i <= na; i++) d[i][0] = (int)i;
    for (size_t j = 0; j <= nb; j++) d[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        for (size_t j = 1; j <= nb; j++) {
            d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), 1 + least(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[na][nb];
}

/* Near: few edits for the length, or one begins with the other. */
static int is_near(const char *word, const char *name)
{
    size_t length = strlen(word);
    if (length >= 3 && strlen(name) >= 3 &&
        (!strncmp(word, name, length) || !strncmp(word, name, strlen(name))))
        return 1;
    return distance(word, name) <= (length > 5 ? 2 : 1);
}

void cli_nearest(const char *word, cli_name_fn *name, char *out, size_t size)
{
    int found = 0;
    out[0] = 0;
    for (int i = 0; name(i) && found < 4; i++) {
        if (!is_near(word, name(i)) || strlen(out) + strlen(name(i)) + 3 > size) continue;
        if (found++) strcat(out, ", ");
        strcat(out, name(i));
    }
}

const char *cli_problem_name(int i)
{
    const dae_problem_info *p = dae_problem_get(i);
    return p ? p->name : NULL;
}

const char *cli_solver_name(int i)
{
    const dae_method_info *m = cli_method_at(i);
    return m ? m->name : NULL;
}

/* Forms of mechanisms, then those that only equation files have. */
const char *cli_formulation_name(int i)
{
    if (dae_formulation_get(i)) return dae_formulation_get(i)->name;
    i -= dae_formulation_count();
    for (int k = 0; k < dae_equations_form_count(); k++) {
        const char *name = dae_equations_form(k)->name;
        if (!dae_formulation_find(name) && i-- == 0) return name;
    }
    return NULL;
}

const dae_formulation_info *cli_formulation(const char *name)
{
    const dae_formulation_info *f = dae_formulation_find(name);
    for (int k = 0; !f && k < dae_equations_form_count(); k++) {
        if (!strcmp(dae_equations_form(k)->name, name)) f = dae_equations_form(k);
    }
    return f;
}

/* ---- Parsing -------------------------------------------------------------------------------------- */

/* Names that options had before, in some commands, or have in equation files, Python and C. They are not shown. */
static const char *const aliases[][2] = {
    {"reps", "repeat"}, {"linalg", "linear-algebra"}, {"file", "out"}, {"csv", "out"}, {"method", "solver"}};

static const cli_option *find_named(const cli_command *command, const char *name, size_t length)
{
    for (const cli_option *o = command->options; o && o->name; o++) {
        if (strlen(o->name) == length && !strncmp(o->name, name, length)) return o;
    }
    return NULL;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length)
{
    const cli_option *o = find_named(command, name, length);
    for (size_t i = 0; !o && i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i][0]) == length && !strncmp(aliases[i][0], name, length))
            o = find_named(command, aliases[i][1], strlen(aliases[i][1]));
    }
    return o;
}

static int unknown_option(const cli_args *args, const char *word)
{
    char name[64], near[128] = "";
    const char *dashes = strncmp(word, "--", 2) ? "-" : "--";
    snprintf(name, sizeof name, "%s", word + strlen(dashes));
    name[strcspn(name, "=")] = 0;
    for (const cli_option *o = args->command->options; o && o->name && name[0]; o++) {
        if (!is_near(name, o->name) || strlen(near) + strlen(o->name) + 6 > sizeof near) continue;
        strcat(near, near[0] ? ", --" : "--");
        strcat(near, o->name);
    }
    if (near[0]) return cli_wrong(args, "unknown option %s%s; did you mean %s?", dashes, name, near);
    return cli_wrong(args, "unknown option %s%s; `daedalus help %s` lists them", dashes, name,
                     args->command->name);
}

static int too_many(const cli_args *args)
{
    const cli_command *c = args->command;
    if (args->count < c->least)
        return cli_wrong(args, "%s is missing; usage: daedalus %s %s", c->arguments, c->name, c->arguments);
    return cli_wrong(args, "unexpected argument \"%s\"; usage: daedalus %s %s", args->argument[c->most],
                     c->name, c->arguments);
}

int cli_parse(cli_args *args, const cli_command *command, int argc, char *const *argv)
{
    int only_arguments = 0;
    *args = (cli_args){.command = command, .argv = argv};
    for (int i = 0; i < argc; i++) args->json |= !strcmp(argv[i], "--json");
    args->argument = calloc((size_t)argc + 1, sizeof *args->argument);
    args->given = calloc((size_t)argc + 1, sizeof *args->given);
    if (!args->argument || !args->given) return cli_wrong(args, "out of memory");
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (only_arguments || word[0] != '-' || !word[1]) {
            args->argument[args->count++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            only_arguments = 1;
            continue;
        }
        if (!strcmp(word, "-q")) word = "--quiet";
        if (!strcmp(word, "-o")) word = "--out";
        size_t length = word[1] == '-' ? strcspn(word + 2, "=") : 0;
        const cli_option *o = length ? find_option(command, word + 2, length) : NULL;
        if (!o) return unknown_option(args, argv[i]);
        const char *value = word[2 + length] == '=' ? word + 3 + length : NULL;
        if (!o->value && value)
            return cli_wrong(args, "--%s takes no value (\"%s\" was given)", o->name, value);
        if (o->value && !value) {
            if (i + 1 >= argc || !strncmp(argv[i + 1], "--", 2))
                return cli_wrong(args, "--%s needs a value: --%s %s", o->name, o->name, o->value);
            value = argv[++i];
        }
        args->given[args->ngiven++] = (cli_given){o, value};
    }
    return args->count < command->least || args->count > command->most ? too_many(args) : 0;
}

void cli_args_free(cli_args *args)
{
    free(args->argument);
    free(args->given);
    free(args->input);
    *args = (cli_args){0};
}

const char *cli_value_at(const cli_args *args, const char *name, int k)
{
    for (int i = 0; i < args->ngiven; i++) {
        if (!strcmp(args->given[i].option->name, name) && k-- == 0) return args->given[i].value;
    }
    return NULL;
}

const char *cli_value(const cli_args *args, const char *name)
{
    for (int i = args->ngiven - 1; i >= 0; i--) {
        if (!strcmp(args->given[i].option->name, name)) return args->given[i].value;
    }
    return NULL;
}

int cli_has(const cli_args *args, const char *name)
{
    for (int i = 0; i < args->ngiven; i++) {
        if (!strcmp(args->given[i].option->name, name)) return 1;
    }
    return 0;
}

int cli_add(cli_args *args, const char *name, const char *value)
{
    const cli_option *o = find_option(args->command, name, strlen(name));
    cli_given *longer = realloc(args->given, ((size_t)args->ngiven + 1) * sizeof *longer);
    if (longer) args->given = longer;
    if (!longer) return cli_wrong(args, "out of memory");
    if (!o) return cli_wrong(args, "option --%s cannot be taken over", name);
    args->given[args->ngiven++] = (cli_given){o, value};
    return 0;
}

int cli_number(const cli_args *args, const char *option, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out))
        return cli_wrong(args, "--%s: \"%s\" is not a number", option, text);
    return 0;
}

int cli_split(const cli_args *args, const char *option, const char **list, int most, int *count, char **text)
{
    const char *names = cli_value(args, option);
    *count = 0;
    *text = NULL;
    if (!names) return 0;
    *text = malloc(strlen(names) + 1);
    if (!*text) return cli_wrong(args, "out of memory");
    strcpy(*text, names);
    for (char *at = *text, *next; at; at = next) {
        next = strchr(at, ',');
        if (next) *next++ = 0;
        if (!at[0]) return cli_wrong(args, "--%s %s: a name is empty", option, names);
        if (*count == most) return cli_wrong(args, "--%s: at most %d names", option, most);
        list[(*count)++] = at;
    }
    return 0;
}

int cli_whole(const cli_args *args, const char *name, long least_value, long most_value, long *out)
{
    const char *text = cli_value(args, name);
    char *end;
    if (!text) return 0;
    errno = 0;
    long k = strtol(text, &end, 10);
    if (end == text || *end || errno || k < least_value || k > most_value)
        return cli_wrong(args, "--%s %s: expected a whole number, %ld .. %ld", name, text, least_value,
                         most_value);
    *out = k;
    return 0;
}

/* The pointers, and behind them the words. */
int cli_names(const cli_args *args, const char *option, cli_name_fn *name, const char *what,
              const char ***list, int *count)
{
    const char *value = cli_value(args, option);
    size_t n = 1;
    *list = NULL;
    *count = 0;
    if (!value) return 0;
    for (const char *c = value; *c; c++) n += *c == ',';
    const char **names = malloc(n * sizeof *names + strlen(value) + 1);
    if (!names) return cli_wrong(args, "out of memory");
    char *text = (char *)(names + n);
    strcpy(text, value);
    for (size_t k = 0; k < n; k++) {
        size_t length = strcspn(text, ",");
        int i = 0;
        text[length] = 0;
        while (name(i) && strcmp(name(i), text) != 0) i++;
        if (!name(i)) {
            char near[200];
            cli_nearest(text, name, near, sizeof near);
            cli_wrong(args, "--%s: there is no %s \"%s\"%s%s%s", option, what, text,
                      near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
            free(names);
            return EXIT_USAGE;
        }
        names[k] = name(i); /* lives as long as the registry */
        text += length + 1;
    }
    *list = names;
    *count = (int)n;
    return 0;
}

int cli_real(const cli_args *args, const char *option, double least, double most, double *out)
{
    const char *text = cli_value(args, option);
    if (!text) return 0;
    if (cli_number(args, option, text, out)) return EXIT_USAGE;
    if (!(*out >= least && *out <= most))
        return cli_wrong(args, "--%s %s: expected a number, %g .. %g", option, text, least, most);
    return 0;
}

/* One list of settings; the texts lie behind the list in the same block. */
int cli_settings(cli_args *args, const char *option, dae_setting **list, int *count)
{
    size_t bytes = 0;
    int n = 0;
    *list = NULL;
    *count = 0;
    for (const char *v; (v = cli_value_at(args, option, n)); n++) {
        const char *equal = strchr(v, '=');
        if (!equal || equal == v || !equal[1])
            return cli_wrong(args, "--%s %s: expected name=value", option, v);
        bytes += strlen(v) + 1;
    }
    if (!n) return 0;
    *list = malloc((size_t)n * sizeof **list + bytes);
    if (!*list) return cli_wrong(args, "out of memory");
    char *text = (char *)(*list + n);
    for (int i = 0; i < n; i++) {
        const char *v = cli_value_at(args, option, i);
        memcpy(text, v, strlen(v) + 1);
        char *value = strchr(text, '=');
        *value++ = 0;
        (*list)[i] = (dae_setting){text, value};
        text = value + strlen(value) + 1;
    }
    *count = n;
    return 0;
}

int cli_times(const cli_args *args, double t0, double t_end, double **times, int *count)
{
    const char *text = cli_value(args, "at");
    *count = 0;
    if (!text) return 0;
    int most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    double *t = *times = calloc((size_t)most, sizeof *t), lo = fmin(t0, t_end), hi = fmax(t0, t_end);
    if (!t) return cli_wrong(args, "out of memory");
    for (int i = 0; i < most; i++) {
        char word[64];
        size_t n = strcspn(text, ",");
        if (n == 0 || n >= sizeof word)
            return cli_wrong(args, "--at: time %d is empty or too long; expected t1,t2,...", i + 1);
        memcpy(word, text, n);
        word[n] = 0;
        if (cli_number(args, "at", word, &t[i])) return EXIT_USAGE;
        if (t[i] < lo || t[i] > hi)
            return cli_wrong(args, "--at %s: outside the interval %g .. %g of the run", word, t0, t_end);
        text += n + 1;
    }
    *count = most;
    return 0;
}
