/* Statements of equation files. An error ends the reading of its statement, not of the file. */
#include "equations/tree.h"

#include "core/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tokens -------------------------------------------------------------------------------------- */

void dae_parser_wrong(parser *p, const token *where, const char *format, ...)
{
    char text[sizeof((dae_message *)0)->text];
    if (p->failed) return;
    p->failed = 1;
    if (p->at->kind == TOKEN_WRONG || where->kind == TOKEN_WRONG) return; /* the lexer has told */
    va_list args;
    va_start(args, format);
    dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dae_messages_error(p->messages, where->place, "%s", text);
}

int dae_parser_is(const parser *p, const char *text)
{
    const token *t = p->at;
    return (t->kind == TOKEN_SIGN || t->kind == TOKEN_NAME) && (size_t)t->length == strlen(text) &&
           !memcmp(t->text, text, (size_t)t->length);
}

int dae_parser_accept(parser *p, const char *text)
{
    if (!dae_parser_is(p, text)) return 0;
    p->at++;
    return 1;
}

static int shown(const token *t)
{
    return t->length < 40 ? t->length : 40;
}

int dae_parser_expect(parser *p, const char *text, const char *where)
{
    const token *t = p->at;
    if (p->failed) return 0;
    if (dae_parser_accept(p, text)) return 1;
    const char *space = where[0] ? " " : "";
    if (t->kind == TOKEN_NEWLINE || t->kind == TOKEN_END)
        dae_parser_wrong(p, t, "expected \"%s\"%s%s, found the end of the line", text, space, where);
    else if (t->kind == TOKEN_SIGN && t->text[0] == '=')
        dae_parser_wrong(p, t, "expected \"%s\"%s%s, found \"%.*s\" (comparisons are written ==)", text,
                         space, where, shown(t), t->text);
    else dae_parser_wrong(p, t, "expected \"%s\"%s%s, found \"%.*s\"", text, space, where, shown(t), t->text);
    return 0;
}

/* Newlines are skipped if the line after them begins with a word of an open "if". */
void dae_parser_skip_lines(parser *p)
{
    const token *t = p->at;
    while (t->kind == TOKEN_NEWLINE) t++;
    if (t == p->at || t->kind != TOKEN_NAME) return;
    const token *back = p->at;
    p->at = t;
    if (!dae_parser_is(p, "then") && !dae_parser_is(p, "else") && !dae_parser_is(p, "elseif")) p->at = back;
}

/* Told once: every line that has it is wrong then. */
static void wrong_word(parser *p, const token *t)
{
    char text[80];
    snprintf(text, sizeof text, "\"%.*s\" is a reserved word: choose another name", shown(t), t->text);
    if (dae_messages_told(p->messages, text)) p->failed = 1;
    else dae_parser_wrong(p, t, "%s", text);
}

static int is_reserved(const token *t)
{
    static const char *const word[] = {
        "model",  "param", "const",     "int",    "var",   "discrete", "let",      "choice", "fn",   "table",
        "for",    "if",    "init",      "when",   "every", "at",       "solve",    "output", "plot", "score",
        "prefer", "avoid", "component", "use",    "end",   "then",     "elseif",   "else",   "and",  "or",
        "not",    "in",    "stop",      "record", "where", "der",      "reference"};
    for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
        if ((size_t)t->length == strlen(word[k]) && !memcmp(t->text, word[k], (size_t)t->length)) return 1;
    }
    return 0;
}

/* "1,5" */
static int is_decimal_comma(const token *comma)
{
    return comma->kind == TOKEN_SIGN && comma->text[0] == ',' && comma[-1].kind == TOKEN_NUMBER &&
           comma[-1].text + comma[-1].length == comma->text && comma[1].kind == TOKEN_NUMBER &&
           comma[1].text == comma->text + 1;
}

static void wrong_comma(parser *p, const token *comma)
{
    dae_parser_wrong(p, comma, "decimals have a point: %.*s.%.*s", shown(&comma[-1]), comma[-1].text,
                     shown(&comma[1]), comma[1].text);
}

const char *dae_parser_name(parser *p, const char *what)
{
    const token *t = p->at;
    if (p->failed) return "";
    if (t > p->first + 1 && is_decimal_comma(t - 1)) wrong_comma(p, t - 1);
    if (t->kind == TOKEN_NEWLINE || t->kind == TOKEN_END) {
        dae_parser_wrong(p, t, "expected %s, found the end of the line", what);
    } else if (t->kind != TOKEN_NAME) {
        dae_parser_wrong(p, t, "expected %s, found \"%.*s\"%s", what, shown(t), t->text,
                         t->kind == TOKEN_NUMBER ? " (each name has its own value: x = 1, y = 2)" : "");
    } else if (is_reserved(t)) {
        wrong_word(p, t);
    } else if (t->length > 60) {
        dae_parser_wrong(p, t, "the name is longer than 60 characters");
    } else {
        p->at++;
        return dae_store_text(p->store, t->text, (size_t)t->length);
    }
    return "";
}

static const char *optional_text(parser *p)
{
    if (p->failed || p->at->kind != TOKEN_STRING) return "";
    const token *t = p->at++;
    return dae_store_text(p->store, t->text, (size_t)t->length);
}

static item *new_item(parser *p)
{
    item *i = dae_store_take(p->store, sizeof *i);
    if (!i) {
        dae_parser_wrong(p, p->at, "out of memory");
        return NULL;
    }
    i->place = p->at->place;
    i->text = "";
    return i;
}

/* ---- Declarations -------------------------------------------------------------------------------- */

int dae_parser_unit(parser *p, const token *where, const char *text, size_t length, double *factor,
                    dae_dimension *dimension)
{
    char wrong[160];
    int bad = dae_unit_read(text, length, factor, dimension);
    if (!bad) return 1;
    dae_unit_wrong(text, length, bad, wrong, sizeof wrong);
    dae_parser_wrong(p, where, "%s", wrong);
    *factor = 1;
    *dimension = (dae_dimension){.soft = 1};
    return 0;
}

/* The "]" of the "[" at p->at; NULL: the line ends before it. */
static const token *closing(const parser *p)
{
    int depth = 0;
    for (const token *t = p->at; t->kind != TOKEN_NEWLINE && t->kind != TOKEN_END; t++) {
        if (t->kind != TOKEN_SIGN || t->length != 1) continue;
        depth += t->text[0] == '[';
        depth -= t->text[0] == ']';
        if (!depth) return t;
    }
    return NULL;
}

/* Could the tokens between the brackets be an expression? "K^3 s" could not. */
static int could_be_size(const token *open, const token *close)
{
    for (const token *t = open + 1; t + 1 < close; t++) {
        int ends = t->kind == TOKEN_NAME || t->kind == TOKEN_NUMBER || t->text[0] == ')';
        int begins = t[1].kind == TOKEN_NAME || t[1].kind == TOKEN_NUMBER || t[1].text[0] == '(';
        if (ends && begins) return 0;
    }
    return 1;
}

static int has_name(const token *open, const token *close)
{
    for (const token *t = open; t < close; t++) {
        if (t->kind == TOKEN_NAME) return 1;
    }
    return 0;
}

/* A unit in brackets after a declared name or its size. The bracket after the name may also be a size: which one it is depends
 * on what is declared elsewhere. */
static void parse_unit(parser *p, item *i)
{
    const token *open = p->at, *close;
    if (p->failed || !dae_parser_is(p, "[") || !(close = closing(p))) return;
    const char *text = open->text + 1;
    size_t length = (size_t)(close->text - text);
    double factor;
    dae_dimension dimension;
    int only = i->dims || !could_be_size(open, close);
    if (!only && (!has_name(open, close) || dae_unit_read(text, length, &factor, &dimension))) return;
    if (only && !i->dims && dae_unit_read(text, length, &factor, &dimension))
        return; /* a size with an error */
    if (!dae_parser_unit(p, open + 1, text, length, &i->unit_factor, &i->unit_dimension)) return;
    i->unit = dae_store_text(p->store, text, length);
    if (only) p->at = close + 1;
    else i->unit_or_size = open > p->first && open[-1].text + open[-1].length == open->text ? 1 : 2;
}

static tree *parse_dim(parser *p)
{
    tree *d = dae_store_take(p->store, sizeof *d);
    if (!d) {
        dae_parser_wrong(p, p->at, "out of memory");
        return NULL;
    }
    d->place = p->at->place;
    if (p->at[0].kind == TOKEN_NAME && p->at[1].kind == TOKEN_NAME && p->at[1].length == 2 &&
        !memcmp(p->at[1].text, "in", 2)) {
        d->name = dae_parser_name(p, "the name of an index");
        p->at++;
    }
    d->a = dae_parse_sum(p);
    if (dae_parser_accept(p, "..")) d->b = dae_parse_sum(p);
    return d;
}

static void parse_dims(parser *p, item *i)
{
    tree **end = &i->dims;
    int n = 0;
    if (p->failed || !dae_parser_accept(p, "[")) return;
    do {
        *end = parse_dim(p);
        if (p->failed) return;
        end = &(*end)->next;
        if (++n > 4) dae_parser_wrong(p, p->at, "an array has at most 4 indices");
    } while (dae_parser_accept(p, ","));
    dae_parser_expect(p, "]", "after the size");
}

static item *parse_items(parser *p, statement_kind kind)
{
    item *first = NULL, **end = &first;
    do {
        item *i = new_item(p);
        if (!i) break;
        i->name = dae_parser_name(p, "a name");
        parse_unit(p, i);
        if (!i->unit || i->unit_or_size) parse_dims(p, i);
        if (!p->failed && dae_parser_is(p, "("))
            dae_parser_wrong(p, p->at, "sizes stand in brackets, %s[3]; a start is written %s = 1", i->name,
                             i->name);
        if (i->dims && dae_parser_is(p, "[")) { /* u[N] [V]: the first one is a size */
            i->unit_or_size = 0;
            parse_unit(p, i);
        }
        if (!p->failed && dae_parser_is(p, "~")) {
            if (kind != STATEMENT_VAR)
                dae_parser_wrong(p, p->at,
                                 "\"~\" is a guess for the start of a variable (var); here stands \"=\"");
            p->at++;
            i->guess = 1;
            i->value = dae_parse_expression(p);
        } else if (dae_parser_accept(p, "=")) {
            i->value = dae_parse_expression(p);
        }
        if (dae_parser_accept(p, "in")) {
            i->min = dae_parse_sum(p);
            dae_parser_expect(p, "..", "between the ends of the range");
            i->max = dae_parse_sum(p);
        }
        i->text = optional_text(p);
        *end = i;
        end = &i->next;
    } while (!p->failed && dae_parser_accept(p, ","));
    return first;
}

static void parse_choice(parser *p, statement *s)
{
    s->name = dae_parser_name(p, "a name");
    dae_parser_expect(p, "=", "after the name");
    item **end = &s->items;
    do {
        item *i = new_item(p);
        if (!i) return;
        i->name = dae_parser_name(p, "a word");
        *end = i;
        end = &i->next;
    } while (!p->failed && dae_parser_accept(p, "|"));
    s->text = optional_text(p);
}

/* name = value, ... */
static item *parse_settings(parser *p, int values)
{
    item *first = NULL, **end = &first;
    do {
        item *i = new_item(p);
        if (!i) break;
        i->name = dae_parser_name(p, "a name");
        if (values && !p->failed && !dae_parser_is(p, "=")) values = 0;
        if (dae_parser_accept(p, "=")) i->value = dae_parse_expression(p);
        *end = i;
        end = &i->next;
    } while (!p->failed && dae_parser_accept(p, ","));
    return first;
}

static void parse_fn(parser *p, statement *s)
{
    s->name = dae_parser_name(p, "the name of the function");
    dae_parser_expect(p, "(", "after the name");
    if (!p->failed && !dae_parser_is(p, ")")) s->items = parse_settings(p, 0);
    dae_parser_expect(p, ")", "after the arguments");
    dae_parser_expect(p, "=", "after the arguments");
    s->left = dae_parse_expression(p);
    if (!dae_parser_accept(p, "where")) return;
    s->body = dae_store_take(p->store, sizeof *s->body);
    if (s->body) s->body->items = parse_settings(p, 1);
}

static int parse_word_of(parser *p, const char *const *word, int count)
{
    for (int k = 0; k < count && !p->failed; k++) {
        if (dae_parser_accept(p, word[k])) return k;
    }
    return -1;
}

static void parse_table(parser *p, statement *s)
{
    static const char *const kind[] = {"linear", "spline", "pchip", "step"};
    static const char *const outside[] = {"hold", "line", "error", "periodic"};
    s->name = dae_parser_name(p, "the name of the table");
    dae_parser_expect(p, "=", "after the name");
    if (p->failed) return;
    if (p->at->kind == TOKEN_STRING) {
        s->text = optional_text(p);
        if (dae_parser_accept(p, "column")) {
            s->items = new_item(p);
            if (s->items) s->items->name = optional_text(p);
            dae_parser_expect(p, ",", "between the columns");
            if (s->items && (s->items->next = new_item(p)) != NULL) s->items->next->name = optional_text(p);
        }
    } else if (dae_parser_expect(p, "[", "or the name of a CSV file")) {
        tree **end = &s->left;
        do {
            dae_parser_expect(p, "(", "before a point: (x, y)");
            tree *x = dae_parse_expression(p);
            dae_parser_expect(p, ",", "between x and y");
            tree *y = dae_parse_expression(p);
            dae_parser_expect(p, ")", "after a point");
            if (p->failed) return;
            *end = x;
            x->next = y;
            end = &y->next;
        } while (dae_parser_accept(p, ","));
        dae_parser_expect(p, "]", "after the points");
    }
    int k = parse_word_of(p, kind, 4);
    s->flag = k < 0 ? 0 : k;
    s->mode = 0;
    if (dae_parser_accept(p, "outside")) {
        s->mode = parse_word_of(p, outside, 4);
        if (s->mode < 0)
            dae_parser_wrong(p, p->at, "expected hold, line, error or periodic after \"outside\"");
    }
}

/* ---- Blocks -------------------------------------------------------------------------------------- */

static statement *parse_statement(parser *p);

static void skip_statement(parser *p)
{
    while (p->at->kind != TOKEN_NEWLINE && p->at->kind != TOKEN_END) p->at++;
}

/* Statements up to one of the words that end a block; NULL-terminated words. */
static statement *parse_block(parser *p, const token *begin, const char *const *stop,
                              statement *(*one)(parser *))
{
    statement *first = NULL, **end = &first;
    if (++p->depth > DAE_MODEL_MAX_DEPTH) {
        dae_parser_wrong(p, begin, "blocks are nested too deeply (limit %d)", DAE_MODEL_MAX_DEPTH);
        return NULL;
    }
    int depth = p->depth, failed = 0, open = ++p->open;
    for (;;) {
        while (p->at->kind == TOKEN_NEWLINE) p->at++;
        if (p->at->kind == TOKEN_END) {
            p->failed = 0;
            dae_parser_wrong(p, p->at,
                             "the block that begins in line %d (\"%.*s\") is not closed: expected \"end\"",
                             begin->place.line, shown(begin), begin->text);
            p->open = open - 1;
            return first;
        }
        for (int k = 0; stop[k]; k++) {
            if (dae_parser_is(p, stop[k])) {
                p->depth = depth - 1;
                p->open = open - 1;
                p->failed = failed;
                return first;
            }
        }
        p->failed = 0;
        p->depth = depth;
        *end = one(p);
        if (p->failed) failed = 1, skip_statement(p);
        if (*end) end = &(*end)->next;
    }
}

static const char *const stop_end[] = {"end", NULL};
static const char *const stop_if[] = {"end", "else", "elseif", NULL};

static int is_word(const token *t, const char *word)
{
    return t->kind == TOKEN_NAME && (size_t)t->length == strlen(word) &&
           !memcmp(t->text, word, (size_t)t->length);
}

/* ---- After a mistake ------------------------------------------------------------------------------- */

static int is_head(const token *t)
{
    return is_word(t, "for") || is_word(t, "when") || is_word(t, "every") || is_word(t, "at");
}

static int begins_block(const token *t);

/* Do the lines from here on have an "end" for a block that begins now, after those of the blocks that it stands in? */
static int has_end(const parser *p)
{
    int open = 0, more = -p->open, first = 0;
    if (p->messages->count > DAE_MODEL_MAX_ERRORS) return 0; /* no more is told */
    for (const token *t = p->at; t->kind != TOKEN_END; t++) {
        if (t->kind == TOKEN_NEWLINE) {
            first = 1;
            continue;
        }
        if (!first) continue;
        first = 0;
        if (is_word(t, "end") && open > 0) open--;
        else if (is_word(t, "end")) more++;
        else if (is_word(t, "component") || dae_habit_opens(t)) open++;
        else if (is_word(t, "if")) open += begins_block(t);
        else if (is_head(t)) {
            const token *k = t;
            while (k->kind != TOKEN_NEWLINE && k->kind != TOKEN_END &&
                   !(k->kind == TOKEN_SIGN && k->length == 1 && k->text[0] == ':'))
                k++;
            open += k->kind == TOKEN_NEWLINE || k[1].kind == TOKEN_NEWLINE;
        }
    }
    return more > 0;
}

/* Lines that stand deeper than the one that began at `begin`, and those of its "else". */
static void skip_deeper(parser *p, const token *begin)
{
    for (;;) {
        const token *t = p->at;
        while (t->kind == TOKEN_NEWLINE) t++;
        int other = is_word(t, "else") || is_word(t, "elseif") || is_word(t, "elif");
        if (t == p->at || t->kind == TOKEN_END ||
            (t->place.column <= begin->place.column && !(other && is_word(begin, "if"))))
            return;
        p->at = t;
        skip_statement(p);
    }
}

/* What "end" closes in other languages is left out up to it. */
static void wrong_habit(parser *p, const token *t, const char *here)
{
    dae_parser_wrong(p, t, "\"%.*s\": %s", shown(t), t->text, here);
    if (!dae_habit_opens(t)) return;
    skip_statement(p);
    if (!has_end(p)) {
        skip_deeper(p, t);
        return;
    }
    while (!(p->at[-1].kind == TOKEN_NEWLINE && dae_parser_is(p, "end"))) p->at++;
}

static void wrong_head(parser *p, const token *t)
{
    const char *one = is_word(p->begin, "for") ? "x[i]' = 1" : "x := 1";
    if (is_word(p->begin, "if"))
        dae_parser_wrong(
            p, t,
            "no \"%.*s\" stands here: a choice between values is written x' = if c then a else b; lines up "
            "to \"end\" are chosen by parameters",
            shown(t), t->text);
    else if (is_head(p->begin))
        dae_parser_wrong(p, t,
                         "no \"%.*s\" stands here: write \"%.*s ...: %s\" in one line, or \"%.*s ...\", "
                         "lines with %s, \"end\"",
                         shown(t), t->text, shown(p->begin), p->begin->text, one, shown(p->begin),
                         p->begin->text, one);
    else dae_parser_wrong(p, t, "no \"%.*s\" stands here", shown(t), t->text);
}

static void expect_line_end(parser *p)
{
    if (p->failed || p->at->kind == TOKEN_NEWLINE || p->at->kind == TOKEN_END) return;
    const token *t = p->at, *before = t > p->first ? t - 1 : t;
    const char *here = before == p->begin ? dae_habit_statement(before) : NULL;
    if (here) {
        wrong_habit(p, before, here);
    } else if (is_word(before, "end")) {
        dae_parser_wrong(p, t, "a block is closed by \"end\" alone");
    } else if (is_word(t, "end")) {
        dae_parser_wrong(
            p, t, "\"end\" closes a block and stands in a line of its own; values of \"if\" have none");
    } else if (is_word(t, "then") || is_word(t, "do") || is_word(t, "loop")) {
        wrong_head(p, t);
    } else if (is_word(t, "if") || is_word(t, "else")) {
        dae_parser_wrong(p, t, "a choice is written if c then a else b");
    } else if (t->kind == TOKEN_SIGN && t->length == 2 && !memcmp(t->text, ":=", 2)) {
        dae_parser_wrong(p, t, "\":=\" assigns and stands only inside \"when\"; an equation has \"=\"");
    } else if (t->kind == TOKEN_SIGN && t->text[0] == '(' && before->text[0] == '\'') {
        dae_parser_wrong(p, t, "variables stand without their argument: x' or der(x)");
    } else if (t->kind == TOKEN_SIGN && t->text[0] == '=') {
        dae_parser_wrong(p, t, "an equation has one \"=\" (\"==\" compares)");
    } else if (is_decimal_comma(t)) {
        wrong_comma(p, t);
    } else if (is_head(p->begin) &&
               (is_word(t, "stop") || is_word(t, "record") || t->text[0] == ',' || t->text[0] == ':')) {
        wrong_head(p, t);
    } else if (t->kind == TOKEN_SIGN && t->text[0] == '(') {
        dae_parser_wrong(
            p, t, "expected an operator before \"(\" (write *(...) for a product, units in brackets: 5[mm])");
    } else if ((t->kind == TOKEN_NAME || t->kind == TOKEN_NUMBER) && before->kind == TOKEN_NUMBER) {
        dae_parser_wrong(
            p, t, "expected an operator before \"%.*s\" (write %.*s*%.*s; units stand in brackets: 5[mm])",
            shown(t), t->text, before->length < 20 ? before->length : 20, before->text, shown(t), t->text);
    } else if (before->kind == TOKEN_NAME && (t->kind == TOKEN_NAME || t->kind == TOKEN_NUMBER)) {
        dae_parser_wrong(p, before, "expected an operator after \"%.*s\" (functions are written %.*s(...))",
                         shown(before), before->text, shown(before), before->text);
    } else {
        dae_parser_wrong(p, t, "expected the end of the line, found \"%.*s\"", shown(t), t->text);
    }
}

/* The end of the line that opens a block. What is wrong in the line is told once: if the block has an "end", it is read on, so that
 * this is not taken for another's; if not, lines that stand deeper belong to it and are left out. 0: there is nothing to read. */
static int begin_block(parser *p, const token *begin)
{
    p->begin = begin;
    expect_line_end(p);
    if (!p->failed) return 1;
    skip_statement(p);
    if (has_end(p)) return 1;
    skip_deeper(p, begin);
    return 0;
}

static void read_block(parser *p, statement *s, const token *begin, statement *(*one)(parser *))
{
    if (!begin_block(p, begin)) return;
    int failed = p->failed;
    s->body = parse_block(p, begin, stop_end, one);
    p->at += dae_parser_is(p, "end");
    p->failed |= failed;
}

static void parse_for(parser *p, statement *s, const token *begin)
{
    s->name = dae_parser_name(p, "the name of an index");
    if (!p->failed && dae_parser_is(p, "=")) dae_parser_wrong(p, p->at, "loops are written for i in 1..N");
    dae_parser_expect(p, "in", "after the index");
    s->left = dae_parse_sum(p);
    if (!p->failed && dae_parser_is(p, ":")) dae_parser_wrong(p, p->at, "loops are written for i in 1..N");
    dae_parser_expect(p, "..", "between the bounds");
    s->right = dae_parse_sum(p);
    if (!p->failed && dae_parser_is(p, ":") && p->at[1].kind != TOKEN_NEWLINE) {
        p->at++;
        if (++p->depth > DAE_MODEL_MAX_DEPTH) {
            dae_parser_wrong(p, begin, "blocks are nested too deeply (limit %d)", DAE_MODEL_MAX_DEPTH);
            return;
        }
        s->body = parse_statement(p);
        p->depth--;
        return;
    }
    read_block(p, s, begin, parse_statement);
}

static void parse_sif(parser *p, statement *s, const token *begin)
{
    statement *now = s;
    int wrong = 0;
    for (;;) {
        if (wrong) skip_statement(p);
        else if (!begin_block(p, begin)) return;
        wrong |= p->failed;
        now->body = parse_block(p, begin, stop_if, parse_statement);
        if (dae_parser_accept(p, "elseif")) {
            statement *next = dae_store_take(p->store, sizeof *next);
            if (!next) return;
            next->kind = STATEMENT_IF;
            next->place = p->at->place;
            now->other = next;
            now = next;
            int failed = p->failed;
            p->failed = 0;
            now->condition = dae_parse_expression(p);
            if (failed && !p->failed) p->failed = 1;
            continue;
        }
        if (dae_parser_accept(p, "else")) {
            if (wrong) skip_statement(p);
            now->other = parse_block(p, begin, stop_end, parse_statement);
        }
        dae_parser_accept(p, "end");
        return;
    }
}

/* ---- Events -------------------------------------------------------------------------------------- */

static statement *new_statement(parser *p, statement_kind kind)
{
    statement *s = dae_store_take(p->store, sizeof *s);
    if (!s) {
        dae_parser_wrong(p, p->at, "out of memory");
        return NULL;
    }
    s->kind = kind;
    s->place = p->at->place;
    s->text = "";
    return s;
}

static statement *parse_action(parser *p)
{
    statement *s = new_statement(p, STATEMENT_ASSIGN);
    if (!s) return NULL;
    if (dae_parser_accept(p, "stop")) {
        s->kind = STATEMENT_STOP;
        s->text = optional_text(p);
    } else if (dae_parser_accept(p, "record")) {
        s->kind = STATEMENT_RECORD;
    } else {
        if (is_word(p->at, "reinit")) dae_parser_wrong(p, p->at, "\"reinit\": values are assigned, x := 1");
        s->left = dae_parse_ref(p);
        s->place = p->at->place;
        if (!p->failed && dae_parser_is(p, "="))
            dae_parser_wrong(p, p->at, "inside \"when\" new values are assigned with \":=\", not \"=\"");
        dae_parser_expect(p, ":=", "after the variable");
        s->right = dae_parse_expression(p);
    }
    if (!p->failed && p->at->kind != TOKEN_NEWLINE && p->at->kind != TOKEN_END) expect_line_end(p);
    return s;
}

static void parse_event(parser *p, statement *s, const token *begin)
{
    if (s->kind == STATEMENT_AT) {
        tree **end = &s->condition;
        do {
            *end = dae_parse_expression(p);
            if (p->failed) return;
            end = &(*end)->next;
        } while (dae_parser_accept(p, ","));
    } else {
        s->condition = dae_parse_expression(p);
        if (s->kind == STATEMENT_EVERY && dae_parser_accept(p, "from")) s->left = dae_parse_expression(p);
    }
    s->text = optional_text(p);
    if (!p->failed && dae_parser_is(p, "="))
        dae_parser_wrong(
            p, p->at,
            s->kind == STATEMENT_WHEN
                ? "conditions compare with \"==\", \"<\", ...; what happens at a time is written at 2: ..."
                : "after \"%s\" stands a time alone: %s 2: ...",
            s->kind == STATEMENT_AT ? "at" : "every", s->kind == STATEMENT_AT ? "at" : "every");
    if (!p->failed && dae_parser_is(p, ":") && p->at[1].kind != TOKEN_NEWLINE) {
        p->at++;
        s->body = parse_action(p);
        return;
    }
    read_block(p, s, begin, parse_action);
}

/* ---- solve, lists, components -------------------------------------------------------------------- */

static void parse_solve(parser *p, statement *s)
{
    static const char interval[] = "the interval is written solve t = 0 .. 10";
    if (dae_parser_is(p, "(")) dae_parser_wrong(p, p->at, interval);
    if (dae_parser_accept(p, "t") || dae_parser_accept(p, "time")) {
        if (!dae_parser_accept(p, "=")) dae_parser_wrong(p, p->at, interval);
        s->left = dae_parse_sum(p);
        if (!dae_parser_accept(p, "..")) dae_parser_wrong(p, p->at, interval);
        s->right = dae_parse_sum(p);
        if (p->failed || !dae_parser_accept(p, ",")) return;
    }
    item **end = &s->items;
    if (p->at->kind == TOKEN_NUMBER) dae_parser_wrong(p, p->at, interval);
    do {
        item *i = new_item(p);
        if (!i) return;
        i->name = dae_parser_name(p, "the name of an option");
        if (!p->failed && dae_parser_accept(p, "(")) {
            i->ref = dae_parse_ref(p);
            dae_parser_expect(p, ")", "after the variable");
        }
        dae_parser_expect(p, "=", "after the option");
        if (p->failed) return;
        const token *t = p->at;
        int word = t->kind == TOKEN_NAME &&
                   (t[1].kind == TOKEN_NEWLINE || (t[1].kind == TOKEN_SIGN && t[1].text[0] == ',') ||
                    (t[1].kind == TOKEN_SIGN && t[1].text[0] == '-'));
        if (word) { /* method = ros4, formulation = dopri5-x: words with dashes */
            const token *last = t;
            while (last[1].kind == TOKEN_SIGN && last[1].text[0] == '-' && last[2].kind == TOKEN_NAME)
                last += 2;
            i->text = dae_store_text(p->store, t->text, (size_t)(last->text + last->length - t->text));
            p->at = last + 1;
        } else if (t->kind == TOKEN_STRING) {
            i->text = optional_text(p);
        } else {
            i->value = dae_parse_expression(p);
        }
        *end = i;
        end = &i->next;
    } while (!p->failed && dae_parser_accept(p, ","));
}

static item *parse_refs(parser *p, int values)
{
    item *first = NULL, **end = &first;
    do {
        item *i = new_item(p);
        if (!i) break;
        i->ref = dae_parse_ref(p);
        if (!p->failed && dae_parser_accept(p, "=")) i->value = dae_parse_expression(p);
        else if (values) dae_parser_expect(p, "=", "after the name");
        *end = i;
        end = &i->next;
    } while (!p->failed && dae_parser_accept(p, ","));
    return first;
}

static void parse_plot(parser *p, statement *s)
{
    if (dae_parser_is(p, "log") && p->at[1].kind == TOKEN_NAME) {
        p->at++;
        dae_parser_expect(p, "t", "after \"log\" (the axis of time)");
        s->flag = 1;
        return;
    }
    if (dae_parser_is(p, "("))
        dae_parser_wrong(p, p->at, "pictures are written plot x, y or plot y against x");
    s->items = parse_refs(p, 0);
    if (p->failed || !dae_parser_accept(p, "against")) return;
    s->flag = 2;
    if (s->items->next) dae_parser_wrong(p, p->at, "one name stands before \"against\"");
    else s->items->next = parse_refs(p, 0);
}

static void parse_reference(parser *p, statement *s)
{
    if (p->at->kind == TOKEN_STRING) {
        s->text = optional_text(p);
        s->flag = 1;
    } else {
        if (!dae_parser_accept(p, "t")) dae_parser_expect(p, "time", "or t");
        dae_parser_expect(p, "=", "after t");
        s->left = dae_parse_sum(p);
        dae_parser_expect(p, ":", "after the time");
        s->items = parse_refs(p, 1);
    }
    if (!p->failed && dae_parser_accept(p, "digits")) s->right = dae_parse_sum(p);
    if (!s->flag) s->text = optional_text(p);
}

static void parse_component(parser *p, statement *s, const token *begin)
{
    s->name = dae_parser_name(p, "the name of the component");
    if (!p->failed && dae_parser_accept(p, "(")) {
        if (!dae_parser_is(p, ")")) s->items = parse_settings(p, 0);
        dae_parser_expect(p, ")", "after the arguments");
    }
    read_block(p, s, begin, parse_statement);
}

static void parse_use(parser *p, statement *s)
{
    s->name = dae_parser_name(p, "the name of the instance");
    dae_parser_expect(p, "=", "after the name");
    s->left = dae_store_take(p->store, sizeof *s->left);
    if (!s->left || p->failed) return;
    s->left->place = p->at->place;
    s->left->name = dae_parser_name(p, "the name of a component");
    if (p->failed || !dae_parser_accept(p, "(")) return;
    if (p->at->kind == TOKEN_STRING) {
        s->text = optional_text(p);
        if (!dae_parser_accept(p, ",")) {
            dae_parser_expect(p, ")", "after the file");
            return;
        }
    }
    if (!dae_parser_is(p, ")")) s->items = parse_settings(p, 1);
    dae_parser_expect(p, ")", "after the values");
}

static item *parse_init(parser *p)
{
    item *first = NULL, **end = &first;
    do {
        item *i = new_item(p);
        if (!i) break;
        i->ref = dae_parse_sum(p);
        i->place = p->at->place;
        dae_parser_expect(p, "=", "between the sides of the equation");
        i->value = dae_parse_expression(p);
        *end = i;
        end = &i->next;
    } while (!p->failed && dae_parser_accept(p, ","));
    return first;
}

static void parse_equation(parser *p, statement *s)
{
    if (p->at[0].kind == TOKEN_NAME && p->at[1].kind == TOKEN_SIGN && p->at[1].length == 1 &&
        p->at[1].text[0] == ':') {
        s->name = dae_parser_name(p, "a label");
        p->at++;
    }
    const token *begin = p->at;
    s->left = dae_parse_expression(p);
    if (p->failed) return;
    s->place = p->at->place;
    if (dae_parser_is(p, ":=")) {
        expect_line_end(p);
    } else if (!dae_parser_is(p, "=")) {
        if (s->left->kind == TREE_BINARY && (s->left->op == OP_EQ))
            dae_parser_wrong(p, &(token){.place = s->left->place},
                             "an equation has one \"=\" (\"==\" compares)");
        else if (dae_habit_statement(begin) && (p->at == begin + 1 || s->left->kind == TREE_CALL))
            wrong_habit(p, begin, dae_habit_statement(begin));
        else if (dae_parser_is(p, "~"))
            dae_parser_wrong(p, p->at, "an equation has \"=\" (\"~\" is a guess: var x ~ 1)");
        else if ((p->at->kind == TOKEN_NEWLINE || p->at->kind == TOKEN_END) && begin->kind == TOKEN_SIGN)
            dae_parser_wrong(
                p, begin,
                "expected an equation (left = right): a line goes on after an operator, not before one");
        else if (p->at->kind == TOKEN_NEWLINE || p->at->kind == TOKEN_END)
            dae_parser_wrong(p, begin, "expected an equation (left = right) or a declaration");
        else expect_line_end(p);
        if (!p->failed) dae_parser_expect(p, "=", "of an equation");
    } else {
        p->at++;
        s->right = dae_parse_expression(p);
    }
}

/* ---- All ----------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    statement_kind kind;
} keywords[] = {{"model", STATEMENT_MODEL},   {"param", STATEMENT_PARAM},
                {"const", STATEMENT_CONST},   {"int", STATEMENT_INT},
                {"var", STATEMENT_VAR},       {"discrete", STATEMENT_DISCRETE},
                {"let", STATEMENT_LET},       {"choice", STATEMENT_CHOICE},
                {"fn", STATEMENT_FN},         {"table", STATEMENT_TABLE},
                {"for", STATEMENT_FOR},       {"init", STATEMENT_INIT},
                {"when", STATEMENT_WHEN},     {"every", STATEMENT_EVERY},
                {"at", STATEMENT_AT},         {"solve", STATEMENT_SOLVE},
                {"output", STATEMENT_OUTPUT}, {"plot", STATEMENT_PLOT},
                {"score", STATEMENT_SCORE},   {"prefer", STATEMENT_PREFER},
                {"avoid", STATEMENT_AVOID},   {"reference", STATEMENT_REFERENCE},
                {"use", STATEMENT_USE},       {"component", STATEMENT_COMPONENT}};

/* "if c" and a line: a block, also with a "then" at its end, which is told to be wrong; "if c then ...": an equation. */
static int begins_block(const token *t)
{
    for (; t->kind != TOKEN_NEWLINE && t->kind != TOKEN_END; t++) {
        if (is_word(t, "then")) return t[1].kind == TOKEN_NEWLINE;
        if (t->kind == TOKEN_SIGN && t->length == 1 && t->text[0] == '=') return 0;
    }
    while (t->kind == TOKEN_NEWLINE) t++;
    return !is_word(t, "then");
}

static statement *parse_statement(parser *p)
{
    const token *begin = p->begin = p->at;
    statement *s = new_statement(p, STATEMENT_EQUATION);
    int known = 0;
    if (!s) return NULL;
    if (is_reserved(begin) && begin[1].kind == TOKEN_SIGN && begin[1].text[0] == '\'') wrong_word(p, begin);
    for (size_t k = 0; k < sizeof keywords / sizeof *keywords && !known; k++) {
        known = dae_parser_accept(p, keywords[k].word);
        if (known) s->kind = keywords[k].kind;
    }
    if (!known && dae_parser_is(p, "if") && begins_block(p->at)) {
        s->kind = STATEMENT_IF;
        p->at++;
        s->condition = dae_parse_expression(p);
        parse_sif(p, s, begin);
        expect_line_end(p);
        return s;
    }
    switch (s->kind) {
    case STATEMENT_MODEL:
        s->name = dae_parser_name(p, "the name of the model"), s->text = optional_text(p);
        break;
    case STATEMENT_PARAM:
    case STATEMENT_CONST:
    case STATEMENT_INT:
    case STATEMENT_VAR:
    case STATEMENT_DISCRETE:
    case STATEMENT_LET: s->items = parse_items(p, s->kind); break;
    case STATEMENT_CHOICE: parse_choice(p, s); break;
    case STATEMENT_FN: parse_fn(p, s); break;
    case STATEMENT_TABLE: parse_table(p, s); break;
    case STATEMENT_FOR: parse_for(p, s, begin); break;
    case STATEMENT_INIT: s->items = parse_init(p); break;
    case STATEMENT_WHEN:
    case STATEMENT_EVERY:
    case STATEMENT_AT: parse_event(p, s, begin); break;
    case STATEMENT_SOLVE: parse_solve(p, s); break;
    case STATEMENT_OUTPUT:
    case STATEMENT_SCORE:
    case STATEMENT_PREFER:
    case STATEMENT_AVOID: s->items = parse_refs(p, 0); break;
    case STATEMENT_PLOT: parse_plot(p, s); break;
    case STATEMENT_REFERENCE: parse_reference(p, s); break;
    case STATEMENT_COMPONENT: parse_component(p, s, begin); break;
    case STATEMENT_USE: parse_use(p, s); break;
    default: parse_equation(p, s); break;
    }
    expect_line_end(p);
    return s;
}

statement *dae_parse(token *list, int count, dae_store *store, dae_messages *messages)
{
    parser p = {.at = list, .first = list, .store = store, .messages = messages};
    statement *first = NULL, **end = &first;
    (void)count;
    for (;;) {
        while (p.at->kind == TOKEN_NEWLINE) p.at++;
        if (p.at->kind == TOKEN_END) return first;
        p.failed = 0;
        p.depth = 0;
        p.open = 0;
        if (dae_parser_is(&p, "end") && p.at[1].kind == TOKEN_SIGN) {
            wrong_word(&p, p.at);
        } else if (dae_parser_is(&p, "end")) {
            dae_parser_wrong(&p, p.at, "\"end\" without a block that it closes%s",
                             p.at[1].kind == TOKEN_NAME ? " (a model ends with its file)" : "");
            p.at++;
        } else {
            *end = parse_statement(&p);
        }
        if (p.failed) skip_statement(&p);
        if (*end) end = &(*end)->next;
    }
}
