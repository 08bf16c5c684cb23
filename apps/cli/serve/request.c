/* The body of a request as the command line of a run. Only options of this table are taken; nothing in a request
 * names a file. */
#include "server.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 400, LONGEST_WORD = 4000 };

typedef enum option_kind { WORD, FLAG, PAIRS, LIST } option_kind;

/* None of them names a file in the commands that take it; only: those commands, where others have one of this name that does. */
static const struct {
    const char *name;
    option_kind kind;
    const char *only;
} allowed[] = {{"solver", WORD, NULL},       {"formulation", WORD, NULL}, {"project", FLAG, NULL},
               {"rtol", WORD, NULL},         {"atol", WORD, NULL},        {"h0", WORD, NULL},
               {"hmax", WORD, NULL},         {"t0", WORD, NULL},          {"tend", WORD, NULL},
               {"index", WORD, NULL},        {"set", PAIRS, NULL},        {"init", PAIRS, NULL},
               {"opt", PAIRS, NULL},         {"at", LIST, NULL},          {"event", LIST, NULL},
               {"points", WORD, NULL},       {"per-step", WORD, NULL},    {"max-gap", WORD, NULL},
               {"max-steps", WORD, NULL},    {"max-seconds", WORD, NULL}, {"linear-algebra", WORD, NULL},
               {"jacobian", WORD, NULL},     {"end", WORD, NULL},         {"sens", WORD, NULL},
               {"drift", FLAG, NULL},        {"vary", LIST, NULL},        {"sample", LIST, NULL},
               {"sobol", LIST, NULL},        {"seed", WORD, NULL},        {"record", WORD, NULL},
               {"solvers", WORD, NULL},      {"range", WORD, NULL},       {"repeat", WORD, NULL},
               {"formulations", WORD, NULL}, {"budget", WORD, NULL},      {"mescd", FLAG, NULL},
               {"along", FLAG, "workprec"},  {"measure", WORD, NULL},     {"lines", WORD, NULL},
               {"reference", WORD, NULL},    {"what", WORD, NULL},        {"about", WORD, NULL},
               {"floating", FLAG, NULL},     {"saltelli", LIST, NULL}};

/* What a command of the program is here. */
typedef struct command {
    const char *name;
    int problem;              /* 1: it wants a problem or a text */
    int progress;             /* 1: it tells its progress, and can be long */
    int table;                /* 1: it writes tables: csv, h5 */
    int study, lines, report; /* as in job */
    int run; /* 1: scene and steps can be had, and the time of a run is limited by an option */
} command;

static const command commands[] = {
    {.name = "run", .problem = 1, .progress = 1, .table = 1, .run = 1},
    {.name = "check", .problem = 1},
    {.name = "list"},
    {.name = "info", .problem = 1},
    {.name = "analyze", .problem = 1},
    {.name = "import", .problem = 1},
    {.name = "sweep", .problem = 1, .progress = 1, .table = 1, .study = 1},
    {.name = "workprec", .problem = 1, .progress = 1, .table = 1, .study = 1, .lines = 1},
    {.name = "compare", .problem = 1, .progress = 1, .table = 1, .study = 1},
    {.name = "report", .problem = 1, .progress = 1, .study = 1, .lines = 1, .report = 1},
};

typedef struct reading {
    job *j;
    char *message;
    size_t size;
} reading;

static int wrong(reading *r, const char *format, const char *what)
{
    snprintf(r->message, r->size, format, what);
    return 400;
}

static int push(reading *r, const char *text, size_t length)
{
    job *j = r->j;
    if (j->argc >= MOST_ARGUMENTS) return wrong(r, "too many options%s", "");
    if (length > LONGEST_WORD || memchr(text, 0, length))
        return wrong(r, "an option has a value that is too long%s", "");
    j->argv[j->argc] = strndup(text, length);
    return j->argv[j->argc++] ? 0 : 503;
}

static int push_word(reading *r, const char *text)
{
    return push(r, text, strlen(text));
}

/* A number or a text as it stands. */
static int push_value(reading *r, const char *before, const json_t *v)
{
    char text[LONGEST_WORD + 1];
    int n = -1;
    if (json_is_string(v)) n = snprintf(text, sizeof text, "%s%s", before, json_string_value(v));
    else if (json_is_integer(v))
        n = snprintf(text, sizeof text, "%s%lld", before, (long long)json_integer_value(v));
    else if (json_is_real(v)) n = snprintf(text, sizeof text, "%s%.17g", before, json_real_value(v));
    if (n < 0) return wrong(r, "options have texts and numbers as values%s", "");
    if ((size_t)n >= sizeof text) return wrong(r, "an option has a value that is too long%s", "");
    return push_word(r, text);
}

static int option(reading *r, const char *name, option_kind kind, json_t *v)
{
    char dashed[64], key_text[LONGEST_WORD + 2];
    const char *key;
    json_t *x;
    size_t i;
    int bad = 0;
    snprintf(dashed, sizeof dashed, "--%s", name);
    if (json_is_null(v) || json_is_false(v) || (json_is_string(v) && !json_string_length(v))) return 0;
    if (kind == FLAG)
        return json_is_true(v) ? push_word(r, dashed) : wrong(r, "option \"%s\" is true or false", name);
    if (kind == PAIRS) {
        if (!json_is_object(v)) return wrong(r, "option \"%s\" is an object of names and values", name);
        json_object_foreach(v, key, x)
        {
            if (snprintf(key_text, sizeof key_text, "%s=", key) > 100)
                return wrong(r, "a name in \"%s\" is too long", name);
            bad = bad ? bad : push_word(r, dashed);
            bad = bad ? bad : push_value(r, key_text, x);
        }
        return bad;
    }
    if (kind == LIST && json_is_array(v)) {
        json_array_foreach(v, i, x)
        {
            bad = bad ? bad : push_word(r, dashed);
            bad = bad ? bad : push_value(r, "", x);
        }
        return bad;
    }
    bad = push_word(r, dashed);
    return bad ? bad : push_value(r, "", v);
}

static int read_options(reading *r, json_t *options)
{
    const char *key;
    json_t *v;
    if (!options) return 0;
    if (!json_is_object(options)) return wrong(r, "\"options\" is an object%s", "");
    json_object_foreach(options, key, v)
    {
        size_t i = 0, n = sizeof allowed / sizeof *allowed;
        while (i < n && strcmp(key, allowed[i].name) != 0) i++;
        if (i == n || (allowed[i].only && strcmp(allowed[i].only, r->j->argv[1]) != 0)) {
            char shown[64];
            snprintf(shown, sizeof shown, "%.40s", key);
            return wrong(r, "there is no option \"%s\" here", shown);
        }
        int bad = option(r, key, allowed[i].kind, v);
        if (bad) return bad;
    }
    return 0;
}

/* A plain name: letters, digits, '_', '-', and with an ending one of the kinds of text that are taken. */
static int plain(const char *name, int ending, int code)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (n < 1 || n > 64) return 0;
    if (!name[n]) return 1;
    return ending &&
           (!strcmp(name + n, ".json") || !strcmp(name + n, ".deq") || !strcmp(name + n, ".urdf") ||
            !strcmp(name + n, ".xml") || (code && !strchr(name + n + 1, '.') && cli_is_source(name)));
}

/* What the program is to take: the text itself, or what is compiled of it. */
static int push_text(reading *r, const char *name)
{
    char object[80];
    r->j->code = cli_is_source(name);
    if (!r->j->code) return push_word(r, name);
    if (strcmp(r->j->argv[1], "run") != 0) return wrong(r, "C and Fortran can be run, nothing else%s", "");
    snprintf(object, sizeof object, "./%.*s.so", (int)strcspn(name, "."), name);
    return push_word(r, object);
}

static int read_subject(const server *s, reading *r, const json_t *root, const command *c)
{
    const json_t *text = json_object_get(root, "text");
    const char *name = json_string_value(json_object_get(root, "name")),
               *problem = json_string_value(json_object_get(root, "problem"));
    if (text) {
        if (!json_is_string(text)) return wrong(r, "\"text\" is the text of a model%s", "");
        if (!name) name = "model.json";
        if (!plain(name, 1, s->o->allow_code))
            return wrong(r, "\"name\" is a plain file name that ends in .json, .deq, .urdf or .xml%s",
                         s->o->allow_code ? ", or in .c, .f, .for, .f90" : "");
        snprintf(r->j->name, sizeof r->j->name, "%s", name);
        r->j->text_length = json_string_length(text);
        r->j->text = malloc(r->j->text_length + 1);
        if (!r->j->text) return 503;
        memcpy(r->j->text, json_string_value(text), r->j->text_length + 1);
        return push_text(r, name);
    }
    if (!problem) return c->problem ? wrong(r, "\"problem\" or \"text\" is missing%s", "") : 0;
    if (!plain(problem, 0, 0)) return wrong(r, "\"problem\" is the name of a problem%s", "");
    return push_word(r, problem);
}

/* Nothing else is taken: what would be ignored may have been meant. */
static int known_keys(reading *r, json_t *root)
{
    static const char *const known[] = {"command", "problem", "text",  "name", "options",
                                        "csv",     "scene",   "steps", "h5"};
    const char *key;
    json_t *v;
    json_object_foreach(root, key, v)
    {
        size_t i = 0, n = sizeof known / sizeof *known;
        while (i < n && strcmp(key, known[i]) != 0) i++;
        char shown[64];
        snprintf(shown, sizeof shown, "%.40s", key);
        if (i == n) return wrong(r, "there is no \"%s\" in a request", shown);
    }
    return 0;
}

static const command *find_command(const json_t *root)
{
    const json_t *given = json_object_get(root, "command");
    const char *name = given ? json_string_value(given) : "run";
    for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(name, commands[i].name)) return &commands[i];
    }
    return NULL;
}

static int push_words(reading *r, const char *const *word)
{
    int bad = 0;
    for (; *word && !bad; word++) bad = push_word(r, *word);
    return bad;
}

/* The files that the program is to write, in its folder. */
static int push_files(const server *s, reading *r, const json_t *root, const command *c)
{
    job *j = r->j;
    int h5 = c->table && json_is_true(json_object_get(root, "h5")), bad = 0,
        sweep = !strcmp(c->name, "sweep");
    j->csv = c->table && json_is_true(json_object_get(root, "csv"));
    j->scene = c->run && j->text && !j->code && json_is_true(json_object_get(root, "scene"));
    int steps = c->run && json_is_true(json_object_get(root, "steps"));
    j->log = steps || !strcmp(c->name, "import"); /* what it guessed */
    if (h5 && !s->hdf5) return wrong(r, "\"h5\": this server has no HDF5 library%s", "");
    if (h5 && j->code) return wrong(r, "\"h5\": tables of uploaded programs come as CSV%s", "");
    j->h5 = !h5 ? NULL : sweep ? "out.sweep/runs.h5" : "out.h5";
    if (j->csv || sweep) bad = push_words(r, (const char *[]){"--out", j->code ? CODE_CSV : "out.csv", NULL});
    if (!bad && h5 && !sweep) bad = push_words(r, (const char *[]){"--out", "out.h5", NULL});
    if (!bad && sweep) bad = push_words(r, (const char *[]){"--jobs", "0", NULL});
    if (!bad && j->scene) bad = push_words(r, (const char *[]){"--animate", "scene.json", NULL});
    if (!bad && steps) bad = push_words(r, (const char *[]){"--log", "step", NULL});
    return bad;
}

static int read_root(const server *s, reading *r, json_t *root)
{
    if (!json_is_object(root)) return wrong(r, "the body is one JSON object%s", "");
    if (known_keys(r, root)) return 400;
    const command *c = find_command(root);
    if (!c)
        return wrong(
            r, "\"command\" is run, check, list, info, analyze, import, sweep, workprec, compare or report%s",
            "");
    job *j = r->j;
    j->study = c->study;
    j->lines = c->lines;
    j->report = c->report;
    if (j->report && !s->reports)
        return wrong(r, "reports need bubblewrap, which this server cannot use%s", "");
    int bad = push_words(r, (const char *[]){"daedalus", c->name, NULL});
    bad = bad ? bad : read_subject(s, r, root, c);
    bad = bad ? bad : read_options(r, json_object_get(root, "options"));
    if (!bad && strcmp(c->name, "import") != 0) bad = push_word(r, "--json");
    if (!bad && c->progress) bad = push_words(r, (const char *[]){"--progress", "json", NULL});
    bad = bad ? bad : push_files(s, r, root, c);
    if (!bad && c->run && !json_object_get(json_object_get(root, "options"), "max-seconds")) {
        char limit[32];
        snprintf(limit, sizeof limit, "%ld", s->o->max_seconds);
        bad = push_words(r, (const char *[]){"--max-seconds", limit, NULL});
    }
    return bad;
}

int request_read(const server *s, const char *body, size_t length, job *j, char *message, size_t size)
{
    json_error_t error;
    reading r = {j, message, size};
    j->argv = calloc(MOST_ARGUMENTS + 16, sizeof *j->argv);
    if (!j->argv) return 503;
    json_t *root = json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        snprintf(message, size, "the body is not JSON: line %d, column %d: %.100s", error.line, error.column,
                 error.text);
        return 400;
    }
    int bad = read_root(s, &r, root);
    json_decref(root);
    return bad;
}
