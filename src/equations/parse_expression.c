/* Expressions of equation files: recursive descent by the grammar of the language's page.
 *
 *   expr    = "if" expr "then" expr { "elseif" expr "then" expr } "else" expr | either
 *   either  = both { ("or" | "||") both }         both  = nots { ("and" | "&&") nots }     nots = ("not" | "!") nots | compare
 *   compare = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum [ ("<" | "<=") sum ] ]
 *   sum     = product { ("+" | "-") product }     product = sign { ("*" | "/") sign }      sign = { "-" | "+" } power
 *   power   = primary [ "^" sign ]                ref = NAME [ "[" list "]" ] { "'" } */
#include "equations/tree.h"

#include <stdio.h>
#include <string.h>

static tree *make(parser *p, tree_kind kind, const token *where)
{
    static tree none; /* after a failed allocation: never looked at, the statement has failed */
    tree *t = dae_store_take(p->store, sizeof *t);
    if (!t) {
        dae_parser_wrong(p, where, "out of memory");
        return &none;
    }
    t->kind = kind;
    t->place = where->place;
    return t;
}

static tree *binary(parser *p, int op, const token *where, tree *a, tree *b)
{
    tree *t = make(p, TREE_BINARY, where);
    t->op = op;
    t->a = a;
    t->b = b;
    return t;
}

tree *dae_parse_list(parser *p, const char *close)
{
    tree *first = NULL, **end = &first;
    while (!p->failed) {
        *end = dae_parse_expression(p);
        if (*end) end = &(*end)->next;
        if (!dae_parser_accept(p, ",")) break;
    }
    int more = p->at->kind == TOKEN_NUMBER || p->at->kind == TOKEN_NAME;
    if (!p->failed && close[0] == ']' && (dae_parser_is(p, ":") || dae_parser_is(p, "..")))
        dae_parser_wrong(
            p, p->at,
            "an index is one number: the whole array is its name alone, a part a loop (for i in 1..N)");
    dae_parser_expect(p, close, more ? "or a comma" : "");
    return first;
}

static tree *primes(parser *p, tree *t)
{
    const token *where = p->at;
    int n = 0;
    while (dae_parser_accept(p, "'")) n++;
    if (!n) return t;
    tree *d = make(p, TREE_PRIME, where);
    d->op = n;
    d->a = t;
    if (n > 10) dae_parser_wrong(p, where, "a derivative of order %d (at most 10)", n);
    return d;
}

tree *dae_parse_ref(parser *p)
{
    const token *where = p->at;
    const char *name = dae_parser_name(p, "a name");
    tree *t = make(p, TREE_NAME, where);
    t->name = name;
    if (p->failed) return t;
    if (dae_parser_accept(p, "[")) {
        t->kind = TREE_INDEX;
        t->list = dae_parse_list(p, "]");
    }
    return primes(p, t);
}

/* sum(i in a..b if c, d) */
static tree *parse_sum_over(parser *p, const token *where, tree_kind kind)
{
    tree *t = make(p, kind, where);
    t->name = dae_parser_name(p, "the name of an index");
    dae_parser_expect(p, "in", "after the index");
    t->a = dae_parse_sum(p);
    dae_parser_expect(p, "..", "between the bounds");
    t->b = dae_parse_sum(p);
    if (dae_parser_accept(p, "if")) t->c = dae_parse_expression(p);
    dae_parser_expect(p, ",", "after the range");
    t->d = dae_parse_expression(p);
    dae_parser_expect(p, ")", "");
    return t;
}

static int is_word(const token *t, const char *word)
{
    return t->kind == TOKEN_NAME && (size_t)t->length == strlen(word) &&
           !memcmp(t->text, word, (size_t)t->length);
}

static tree *parse_number(parser *p)
{
    const token *where = p->at++;
    tree *t = make(p, TREE_NUMBER, where);
    t->number = where->number;
    t->dimension.soft = 1;
    t->plain = 1;
    if (p->at->kind == TOKEN_UNIT) {
        double factor = 1;
        int good = dae_parser_unit(p, p->at, p->at->text, (size_t)p->at->length, &factor, &t->dimension);
        t->number *= factor;
        t->plain = !good || factor == 1;
        p->at++;
    }
    if (p->at->kind == TOKEN_NAME && p->at->place.line == where->place.line &&
        p->at->text == where->text + where->length) {
        dae_parser_wrong(
            p, p->at,
            "expected an operator before \"%.*s\" (write %.*s*%.*s; units stand in brackets: 5[mm])",
            p->at->length < 40 ? p->at->length : 40, p->at->text, where->length < 20 ? where->length : 20,
            where->text, p->at->length < 40 ? p->at->length : 40, p->at->text);
    }
    return t;
}

static tree *parse_name(parser *p)
{
    const token *where = p->at;
    int call = p->at[1].kind == TOKEN_SIGN && p->at[1].length == 1 && p->at[1].text[0] == '(';
    if (!call) return dae_parse_ref(p);
    if (is_word(where, "sum") || is_word(where, "prod")) {
        if (p->at[2].kind == TOKEN_NAME && is_word(&p->at[3], "in")) {
            p->at += 2;
            return parse_sum_over(p, where, is_word(where, "sum") ? TREE_SUM : TREE_PROD);
        }
    }
    tree *t = make(p, TREE_CALL, where);
    t->name = dae_store_text(p->store, where->text, (size_t)where->length);
    p->at += 2;
    if (!dae_parser_accept(p, ")")) t->list = dae_parse_list(p, ")");
    return primes(p, t);
}

static tree *parse_if(parser *p);

static tree *parse_primary(parser *p)
{
    const token *where = p->at;
    if (p->failed) return make(p, TREE_NUMBER, where);
    if (where->kind == TOKEN_NUMBER) return parse_number(p);
    if (is_word(where, "if")) return parse_if(p);
    if (where->kind == TOKEN_NAME) return parse_name(p);
    if (dae_parser_accept(p, "(")) {
        tree *t = dae_parse_expression(p);
        dae_parser_expect(p, ")", "");
        return primes(p, t);
    }
    if (dae_parser_accept(p, "[")) {
        tree *t = make(p, TREE_ARRAY, where);
        t->list = dae_parse_list(p, "]");
        return t;
    }
    if (where->kind == TOKEN_NEWLINE || where->kind == TOKEN_END)
        dae_parser_wrong(p, where, "expected a value, found the end of the line");
    else if (where->kind == TOKEN_STRING)
        dae_parser_wrong(p, where, "expected a value, found a text in quotes (comments begin with #)");
    else
        dae_parser_wrong(p, where, "expected a value, found \"%.*s\"%s",
                         where->length < 40 ? where->length : 40, where->text,
                         where->text[0] == '|'   ? " (write abs(x))"
                         : where->text[0] == '~' ? " (write not)"
                                                 : "");
    return make(p, TREE_NUMBER, where);
}

static tree *parse_sign(parser *p);

static tree *parse_power(parser *p)
{
    tree *t = parse_primary(p);
    const token *where = p->at;
    if (p->failed || !dae_parser_accept(p, "^")) return t;
    return binary(p, OP_POW, where, t, parse_sign(p));
}

static tree *parse_sign(parser *p)
{
    const token *where = p->at;
    int minus = dae_parser_is(p, "-");
    if (!minus && !dae_parser_is(p, "+")) return parse_power(p);
    if (++p->depth > DAE_MODEL_MAX_DEPTH) {
        dae_parser_wrong(p, where, "nested too deeply (limit %d)", DAE_MODEL_MAX_DEPTH);
        return make(p, TREE_NUMBER, where);
    }
    p->at++;
    tree *t = parse_sign(p);
    p->depth--;
    if (!minus) return t;
    tree *m = make(p, TREE_MINUS, where);
    m->a = t;
    return m;
}

static tree *parse_product(parser *p)
{
    tree *t = parse_sign(p);
    while (!p->failed) {
        const token *where = p->at;
        if (dae_parser_accept(p, "*")) t = binary(p, OP_MUL, where, t, parse_sign(p));
        else if (dae_parser_accept(p, "/")) t = binary(p, OP_DIV, where, t, parse_sign(p));
        else break;
    }
    return t;
}

tree *dae_parse_sum(parser *p)
{
    tree *t = parse_product(p);
    while (!p->failed) {
        const token *where = p->at;
        if (dae_parser_accept(p, "+")) t = binary(p, OP_ADD, where, t, parse_product(p));
        else if (dae_parser_accept(p, "-")) t = binary(p, OP_SUB, where, t, parse_product(p));
        else break;
    }
    return t;
}

static int comparison(parser *p)
{
    static const struct {
        const char *sign;
        int op;
    } list[] = {{"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ}, {"!=", OP_NE}, {"<", OP_LT}, {">", OP_GT}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        if (dae_parser_accept(p, list[k].sign)) return list[k].op;
    }
    return -1;
}

static tree *parse_compare(parser *p)
{
    tree *a = dae_parse_sum(p);
    const token *where = p->at;
    int op = p->failed ? -1 : comparison(p);
    if (op < 0) return a;
    tree *b = dae_parse_sum(p), *first = binary(p, op, where, a, b);
    where = p->at;
    if (p->failed || (op != OP_LT && op != OP_LE) || (!dae_parser_is(p, "<") && !dae_parser_is(p, "<=")))
        return first;
    op = comparison(p);
    return binary(p, OP_AND, where, first, binary(p, op, where, b, dae_parse_sum(p)));
}

static tree *parse_not(parser *p)
{
    const token *where = p->at;
    if (!dae_parser_accept(p, "not") && !dae_parser_accept(p, "!")) return parse_compare(p);
    tree *t = make(p, TREE_NOT, where);
    if (++p->depth > DAE_MODEL_MAX_DEPTH)
        dae_parser_wrong(p, where, "nested too deeply (limit %d)", DAE_MODEL_MAX_DEPTH);
    else t->a = parse_not(p);
    p->depth--;
    return t;
}

static tree *parse_both(parser *p)
{
    tree *t = parse_not(p);
    while (!p->failed) {
        const token *where = p->at;
        if (!dae_parser_accept(p, "and") && !dae_parser_accept(p, "&&")) break;
        t = binary(p, OP_AND, where, t, parse_not(p));
    }
    return t;
}

/* Is this "(" the bracket of if(c, a, b)? Then a comma stands in it. */
static int is_call_form(const token *t)
{
    if (t->kind != TOKEN_SIGN || t->text[0] != '(') return 0;
    for (int depth = 0; t->kind != TOKEN_END && t->kind != TOKEN_NEWLINE; t++) {
        if (t->kind != TOKEN_SIGN) continue;
        if (t->text[0] == '(' || t->text[0] == '[') depth++;
        if ((t->text[0] == ')' || t->text[0] == ']') && --depth == 0) return 0;
        if (t->text[0] == ',' && depth == 1) return 1;
    }
    return 0;
}

/* if c then a { elseif c then a } else b, or if(c, a, b). The words may begin a new line. */
static tree *parse_if(parser *p)
{
    tree *t = make(p, TREE_IF, p->at);
    int word = p->at[0].length == 2; /* "if", not "elseif" */
    p->at++;
    if (++p->depth > DAE_MODEL_MAX_DEPTH) {
        dae_parser_wrong(p, p->at, "nested too deeply (limit %d)", DAE_MODEL_MAX_DEPTH);
        return t;
    }
    if (word && is_call_form(p->at)) {
        p->at++;
        t->a = dae_parse_expression(p);
        dae_parser_expect(p, ",", "after the condition of if(...)");
        t->b = dae_parse_expression(p);
        dae_parser_expect(p, ",", "after the second value of if(...)");
        t->c = dae_parse_expression(p);
        dae_parser_expect(p, ")", "");
        p->depth--;
        return t;
    }
    t->a = dae_parse_expression(p);
    dae_parser_skip_lines(p);
    dae_parser_expect(p, "then", "after the condition");
    t->b = dae_parse_expression(p);
    dae_parser_skip_lines(p);
    if (!p->failed && dae_parser_is(p, "elseif")) {
        t->c = parse_if(p);
    } else {
        if (!p->failed && is_word(p->at, "elif")) dae_parser_wrong(p, p->at, "\"elif\": write elseif");
        dae_parser_expect(p, "else", "(an \"if\" has a value in both cases)");
        t->c = dae_parse_expression(p);
    }
    p->depth--;
    return t;
}

tree *dae_parse_expression(parser *p)
{
    if (p->failed) return make(p, TREE_NUMBER, p->at);
    if (++p->depth > DAE_MODEL_MAX_DEPTH) {
        dae_parser_wrong(p, p->at, "nested too deeply (limit %d)", DAE_MODEL_MAX_DEPTH);
        return make(p, TREE_NUMBER, p->at);
    }
    tree *t = parse_both(p);
    while (!p->failed) {
        const token *where = p->at;
        if (!dae_parser_accept(p, "or") && !dae_parser_accept(p, "||")) break;
        t = binary(p, OP_OR, where, t, parse_both(p));
    }
    p->depth--;
    return t;
}
