/* The body of a request as the command line of a run. Only options of this table are taken; nothing in a request
 * names a file. */
#include "server.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 400, LONGEST_WORD = 400 };

typedef enum option_kind { WORD, FLAG, PAIRS, LIST } option_kind;

static const struct {
    const char *name;
    option_kind kind;
} allowed[] = {{"solver", WORD},   {"formulation", WORD}, {"project", FLAG},     {"rtol", WORD},
               {"atol", WORD},     {"h0", WORD},          {"hmax", WORD},        {"tend", WORD},
               {"index", WORD},    {"set", PAIRS},        {"init", PAIRS},       {"opt", PAIRS},
               {"at", LIST},       {"event", LIST},       {"points", WORD},      {"per-step", WORD},
               {"max-gap", WORD},  {"max-steps", WORD},   {"max-seconds", WORD}, {"linear-algebra", WORD},
               {"jacobian", WORD}, {"end", WORD},         {"sens", WORD}};

static const char *const commands[] = {"run", "check", "list", "info"};

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
        if (i == n) {
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
    return ending && (!strcmp(name + n, ".json") || !strcmp(name + n, ".deq") ||
                      (code && !strchr(name + n + 1, '.') && cli_is_source(name)));
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

static int read_subject(const server *s, reading *r, const json_t *root)
{
    const json_t *text = json_object_get(root, "text");
    const char *name = json_string_value(json_object_get(root, "name")),
               *problem = json_string_value(json_object_get(root, "problem"));
    if (text) {
        if (!json_is_string(text)) return wrong(r, "\"text\" is the text of a model%s", "");
        if (!name) name = "model.json";
        if (!plain(name, 1, s->o->allow_code))
            return wrong(r, "\"name\" is a plain file name that ends in .json or .deq%s",
                         s->o->allow_code ? ", or in .c, .f, .for, .f90" : "");
        snprintf(r->j->name, sizeof r->j->name, "%s", name);
        r->j->text_length = json_string_length(text);
        r->j->text = malloc(r->j->text_length + 1);
        if (!r->j->text) return 503;
        memcpy(r->j->text, json_string_value(text), r->j->text_length + 1);
        return push_text(r, name);
    }
    if (!problem)
        return strcmp(r->j->argv[1], "list") ? wrong(r, "\"problem\" or \"text\" is missing%s", "") : 0;
    if (!plain(problem, 0, 0)) return wrong(r, "\"problem\" is the name of a problem%s", "");
    return push_word(r, problem);
}

/* Nothing else is taken: what would be ignored may have been meant. */
static int known_keys(reading *r, json_t *root)
{
    static const char *const known[] = {"command", "problem", "text",  "name",
                                        "options", "csv",     "scene", "steps"};
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

static int read_root(const server *s, reading *r, json_t *root)
{
    const char *command = json_string_value(json_object_get(root, "command"));
    size_t i = 0, n = sizeof commands / sizeof *commands;
    if (!json_is_object(root)) return wrong(r, "the body is one JSON object%s", "");
    if (known_keys(r, root)) return 400;
    if (!command) command = "run";
    while (i < n && strcmp(command, commands[i]) != 0) i++;
    if (i == n) return wrong(r, "\"command\" is run, check, list or info%s", "");
    int run = !strcmp(command, "run"), bad = push_word(r, "daedalus");
    job *j = r->j;
    bad = bad ? bad : push_word(r, commands[i]);
    bad = bad ? bad : read_subject(s, r, root);
    bad = bad ? bad : read_options(r, json_object_get(root, "options"));
    bad = bad ? bad : push_word(r, "--json");
    if (bad || !run) return bad;
    j->csv = json_is_true(json_object_get(root, "csv"));
    j->scene = j->text && !j->code && json_is_true(json_object_get(root, "scene"));
    j->log = json_is_true(json_object_get(root, "steps"));
    char limit[32];
    snprintf(limit, sizeof limit, "%ld", s->o->max_seconds);
    const char *const more[] = {"--progress",
                                "json",
                                j->csv ? "--out" : NULL,
                                !j->csv   ? NULL
                                : j->code ? CODE_CSV
                                          : "out.csv",
                                j->scene ? "--animate" : NULL,
                                j->scene ? "scene.json" : NULL,
                                j->log ? "--log" : NULL,
                                j->log ? "step" : NULL};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        if (more[k] && !bad) bad = push_word(r, more[k]);
    }
    if (!bad && !json_object_get(json_object_get(root, "options"), "max-seconds")) {
        bad = push_word(r, "--max-seconds");
        bad = bad ? bad : push_word(r, limit);
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
