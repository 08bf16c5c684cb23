/* The reader of expressions: recursive descent that writes the operations as it goes and computes what is
 * constant at once.
 *
 *   either     = both { "||" both }                 compare = sum [ ("<" | "<=" | ...) sum ]
 *   both       = compare { "&&" compare }           sum     = product { ("+" | "-") product }
 *   product    = sign { ("*" | "/") sign }          sign    = { "-" | "+" | "!" } power
 *   power      = primary [ "^" sign ]               primary = number [unit] | name | call | "(" either ")" */
#include "language/expression.h"

#include "core/number.h"
#include "language/dimension.h"
#include "language/expression_code.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_variables = 256, max_constants = 4096, max_table = 4096, max_locals = 4, max_tokens = 200000 };
enum { variable_bit = 1 << 28, constant_bit = 1 << 29, index_mask = variable_bit - 1 };

/* A value while reading: a constant, or a register (tagged until the numbers of all are known). */
typedef struct value {
    int constant;
    double number;
    int reg;
    dae_dimension dimension;
} value;

typedef struct local { /* the i of sum(i in ...) */
    char name[32];
    double number;
} local;

typedef struct reader {
    const char *text, *at;
    dae_lookup_fn *lookup;
    void *user;
    dae_expression_error *err;
    int failed, depth, tokens;
    local local[max_locals];
    int nlocal;
    int nvariable, nconstant, ncode, ntable;
    int variable[max_variables];
    double *constant;
    dae_instruction *code;
    double *table;
} reader;

static value read_either(reader *x);

/* ---- Errors and letters -------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static value
wrong(reader *x, const char *where, const char *format, ...)
{
    value none = {.constant = 1};
    if (x->failed) return none;
    x->failed = 1;
    if (x->err) {
        va_list args;
        va_start(args, format);
        x->err->column = (int)(where - x->text);
        x->err->name[0] = 0;
        dae_vsnprintf(x->err->text, sizeof x->err->text, format, args);
        va_end(args);
    }
    return none;
}

static char peek(reader *x)
{
    while (*x->at == ' ' || *x->at == '\t') x->at++;
    return *x->at;
}

static int accept(reader *x, const char *word)
{
    peek(x);
    size_t n = strlen(word);
    if (strncmp(x->at, word, n) != 0) return 0;
    x->at += n;
    return 1;
}

static void expect(reader *x, char c, const char *after)
{
    if (peek(x) == c) {
        x->at++;
    } else if (*x->at) {
        wrong(x, x->at, "expected '%c' %s, found '%c'", c, after,
              isprint((unsigned char)*x->at) ? *x->at : '?');
    } else {
        wrong(x, x->at, "expected '%c' %s, found the end", c, after);
    }
}

/* ---- Writing operations -------------------------------------------------------------------------- */

static int constant_register(reader *x, double number)
{
    for (int i = 0; i < x->nconstant; i++) {
        if (!memcmp(&x->constant[i], &number, sizeof number)) return constant_bit | i;
    }
    if (x->nconstant == max_constants) {
        wrong(x, x->at, "too many numbers (limit %d)", max_constants);
        return 0;
    }
    x->constant[x->nconstant] = number;
    return constant_bit | x->nconstant++;
}

static int as_register(reader *x, const value *v)
{
    return v->constant ? constant_register(x, v->number) : v->reg;
}

static value emit(reader *x, int op, const value *in, int n, int whole)
{
    value out = {.constant = 1};
    dae_instruction i = {.op = op, .c = whole};
    if (x->failed) return out;
    for (int k = 0; k < n; k++) out.constant = out.constant && in[k].constant;
    if (out.constant) {
        out.number = dae_expression_apply(&i, x->table, in[0].number, n > 1 ? in[1].number : 0,
                                          n > 2 ? in[2].number : 0);
        return out;
    }
    if (x->ncode == DAE_EXPRESSION_MAX_OPERATIONS)
        return wrong(x, x->at, "too long: more than %d operations", DAE_EXPRESSION_MAX_OPERATIONS);
    i.a = as_register(x, &in[0]);
    if (n > 1) i.b = as_register(x, &in[1]);
    if (n > 2) i.c = as_register(x, &in[2]);
    x->code[x->ncode] = i;
    out.reg = x->ncode++;
    return out;
}

/* ---- Dimensions ---------------------------------------------------------------------------------- */

/* Operands of +, -, <, min: both dimensions must agree if both are certain. */
static void do_not_fit(reader *x, const char *where, const dae_dimension *a, const dae_dimension *b,
                       const char *what)
{
    char ta[48], tb[48];
    dae_dimension_name(a, ta, sizeof ta);
    dae_dimension_name(b, tb, sizeof tb);
    wrong(x, where, "units do not fit: [%s] %s [%s]", ta, what, tb);
}

static dae_dimension agree(reader *x, const char *where, const value *a, const value *b, const char *what)
{
    dae_dimension d;
    if (!dae_dimension_agree(&a->dimension, &b->dimension, &d))
        do_not_fit(x, where, &a->dimension, &b->dimension, what);
    return d;
}

static value binary(reader *x, int op, const char *where, const char *sign, value a, value b)
{
    static const dae_dimension none;
    value in[2] = {a, b}, out = emit(x, op, in, 2, 0);
    if (op == OP_MUL) out.dimension = dae_dimension_times(&a.dimension, &b.dimension, 1);
    else if (op == OP_DIV) out.dimension = dae_dimension_times(&a.dimension, &b.dimension, -1);
    else if (op == OP_ADD || op == OP_SUB) out.dimension = agree(x, where, &a, &b, sign);
    else if (op >= OP_LT && op <= OP_NE) {
        agree(x, where, &a, &b, sign);
        out.dimension = none;
    }
    return out;
}

/* ---- Numbers, names ------------------------------------------------------------------------------ */

/* Characters of the number at s: digits, a point (1..5 is a range), an exponent. */
static size_t number_length(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n])) n++;
    if (s[n] == '.' && s[n + 1] != '.') n++;
    while (isdigit((unsigned char)s[n])) n++;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t k = n + 1 + (s[n + 1] == '-' || s[n + 1] == '+');
        if (isdigit((unsigned char)s[k])) {
            while (isdigit((unsigned char)s[k])) k++;
            n = k;
        }
    }
    return n;
}

static value read_number(reader *x)
{
    const char *begin = x->at;
    char copy[64], *end; /* a copy, because strtod knows more forms than we do */
    value v = {.constant = 1};
    size_t n = number_length(begin);
    if (n >= sizeof copy) return wrong(x, begin, "the number is too long");
    memcpy(copy, begin, n);
    copy[n] = 0;
    v.number = dae_strtod(copy, &end);
    if (n == 0 || *end) return wrong(x, begin, "expected a number");
    if (!isfinite(v.number)) return wrong(x, begin, "the number is too large");
    x->at = begin + n;
    v.dimension.soft = DAE_PLAIN;
    if (isalpha((unsigned char)*x->at) || *x->at == '_')
        return wrong(x, x->at, "expected an operator before '%c' (units stand in brackets: 5[mm])", *x->at);
    if (peek(x) != '[') return v;
    const char *unit = ++x->at;
    size_t length = strcspn(unit, "]");
    if (!unit[length]) return wrong(x, unit, "expected ']' after the unit");
    double factor;
    int bad = dae_unit_read(unit, length, &factor, &v.dimension);
    if (bad) {
        char text[160];
        dae_unit_wrong(unit, length, bad, text, sizeof text);
        return wrong(x, unit + bad - 1, "%s", text);
    }
    v.number *= factor;
    x->at = unit + length + 1;
    return v;
}

/* A name with dots; its length, 0: none. Too long ones are errors. */
static size_t read_name(reader *x, char *name, size_t size)
{
    size_t n = 0;
    peek(x);
    if (!isalpha((unsigned char)*x->at) && *x->at != '_') return 0;
    while (isalnum((unsigned char)x->at[n]) || x->at[n] == '_' || (x->at[n] == '.' && x->at[n + 1] != '.')) {
        if (n + 1 >= size) {
            wrong(x, x->at, "the name is too long");
            return 0;
        }
        name[n] = x->at[n];
        n++;
    }
    name[n] = 0;
    x->at += n;
    return n;
}

static value variable(reader *x, const char *where, const dae_symbol *s)
{
    value v = {.constant = 0, .dimension = s->dimension};
    int k = 0;
    while (k < x->nvariable && x->variable[k] != s->variable) k++;
    if (k == max_variables) return wrong(x, where, "too many different variables (limit %d)", max_variables);
    if (k == x->nvariable) x->variable[x->nvariable++] = s->variable;
    v.reg = variable_bit | k;
    return v;
}

static value named(reader *x, const char *where, const char *name)
{
    value v = {.constant = 1};
    dae_symbol s = {0};
    for (int k = x->nlocal - 1; k >= 0; k--) {
        if (strcmp(x->local[k].name, name) != 0) continue;
        v.number = x->local[k].number;
        v.dimension.soft = DAE_PLAIN;
        return v;
    }
    if (x->lookup && x->lookup(name, &s, x->user)) {
        if (s.variable >= 0) return variable(x, where, &s);
        v.number = s.value;
        v.dimension = s.dimension;
        return v;
    }
    v.dimension.soft = DAE_PLAIN;
    if (!strcmp(name, "pi")) v.number = 3.14159265358979323846;
    else if (!strcmp(name, "e")) v.number = 2.71828182845904523536;
    else {
        v = wrong(x, where, "unknown name \"%s\"", name);
        if (x->err && !x->err->name[0]) snprintf(x->err->name, sizeof x->err->name, "%s", name);
    }
    return v;
}

/* ---- Functions ----------------------------------------------------------------------------------- */

static const struct function {
    const char *name;
    int op, count;
} functions[] = {
#define X(name, id, count) {name, OP_##id, count},
    DAE_EXPRESSION_FUNCTIONS(X)
#undef X
};

/* Second derivatives (n, and one more if n is odd) behind the n points of a natural spline: a tridiagonal system. */
static void add_curvatures(reader *x, int first, int n)
{
    double *p = x->table + first, *m = p + 2 * n, *w = malloc((size_t)n * sizeof *w);
    if (!w) {
        x->failed = 1;
        return;
    }
    m[0] = m[n - 1] = w[0] = 0;
    for (int i = 1; i < n - 1; i++) {
        double h0 = p[2 * i] - p[2 * i - 2], h1 = p[2 * i + 2] - p[2 * i];
        double d = (p[2 * i + 3] - p[2 * i + 1]) / h1 - (p[2 * i + 1] - p[2 * i - 1]) / h0;
        double pivot = 2 * (h0 + h1) - h0 * w[i - 1];
        w[i] = h1 / pivot;
        m[i] = (6 * d - h0 * m[i - 1]) / pivot;
    }
    for (int i = n - 2; i > 0; i--) m[i] -= w[i] * m[i + 1];
    if (n % 2) m[n] = 0;
    x->ntable += n + n % 2;
    free(w);
}

/* table(...) or spline(...), up to the closing parenthesis. */
static value read_table(reader *x, const char *where, int op)
{
    value v = read_either(x), out;
    int first = x->ntable, count = 0;
    while (!x->failed && peek(x) == ',') {
        x->at++;
        const char *here = x->at;
        value in = read_either(x);
        if (!x->failed && !in.constant) return wrong(x, here, "points of a table must be constant");
        if (x->ntable == max_table)
            return wrong(x, here, "too many points in tables (limit %d)", max_table / 2);
        if (count % 2 == 0 && count && !x->failed && !(in.number > x->table[x->ntable - 2]))
            return wrong(x, here, "the x values of a table must increase");
        x->table[x->ntable++] = in.number;
        count++;
    }
    expect(x, ')', "after the points of the table");
    if (!x->failed && (count < 4 || count % 2))
        return wrong(x, where, "%s needs x and then two or more pairs x1,y1, x2,y2, ...",
                     op == OP_TABLE ? "table" : "spline");
    dae_instruction i = {.op = op, .b = first / 2, .c = count / 2};
    if (!x->failed && op == OP_SPLINE) {
        if (x->ntable + count / 2 + 1 > max_table)
            return wrong(x, where, "too many points in tables (limit %d)", max_table / 2);
        add_curvatures(x, first, count / 2);
    }
    if (x->failed) return v;
    if (v.constant) {
        out = v;
        out.number = dae_expression_apply(&i, x->table, v.number, 0, 0);
    } else {
        if (x->ncode == DAE_EXPRESSION_MAX_OPERATIONS) return wrong(x, where, "too long");
        i.a = v.reg;
        x->code[x->ncode] = i;
        out = (value){.constant = 0, .reg = x->ncode++};
    }
    memset(&out.dimension, 0, sizeof out.dimension);
    out.dimension.soft = 1;
    return out;
}

static double read_bound(reader *x)
{
    const char *where = x->at;
    value v = read_either(x);
    if (!x->failed && (!v.constant || v.number != floor(v.number) || fabs(v.number) > 1e6))
        wrong(x, where, "bounds of a sum must be whole numbers");
    return x->failed ? 0 : v.number;
}

/* sum(i in a..b, term): the text of the term is read once for every i. */
static value read_sum(reader *x, const char *where)
{
    local l;
    value total = {.constant = 1};
    total.dimension.soft = 1;
    if (!read_name(x, l.name, sizeof l.name)) return wrong(x, x->at, "expected sum(i in 1..n, term)");
    peek(x);
    if (!accept(x, "in")) return wrong(x, x->at, "expected \"in\" after the index of the sum");
    double lo = read_bound(x);
    if (!x->failed && !accept(x, ".."))
        return wrong(x, x->at, "expected \"..\" between the bounds of the sum");
    double hi = read_bound(x);
    expect(x, ',', "after the bounds of the sum");
    if (x->failed) return total;
    if (x->nlocal == max_locals) return wrong(x, where, "sums are nested too deeply (limit %d)", max_locals);
    if (hi < lo) return wrong(x, where, "the sum has no terms: %g..%g", lo, hi);
    const char *term = x->at;
    for (double i = lo; i <= hi && !x->failed; i++) {
        x->at = term;
        l.number = i;
        x->local[x->nlocal++] = l;
        value v = read_either(x);
        x->nlocal--;
        total = i > lo ? binary(x, OP_ADD, term, "+", total, v) : v;
    }
    expect(x, ')', "after the sum");
    return total;
}

static dae_dimension function_dimension(reader *x, const struct function *f, const char *where,
                                        const value *in)
{
    dae_dimension d[3] = {in[0].dimension, in[1].dimension, in[2].dimension}, out;
    int fault[2];
    out = dae_dimension_call(f->op, d, fault);
    if (fault[0] >= 0 && fault[1] >= 0) do_not_fit(x, where, &d[fault[0]], &d[fault[1]], "and");
    if (fault[0] >= 0 && fault[1] < 0) {
        char text[48];
        dae_dimension_text(&d[fault[0]], text, sizeof text);
        wrong(x, where, "%s takes a number without unit, not [%s]", f->name, text);
    }
    return out;
}

static value read_call(reader *x, const char *where, const char *name)
{
    if (!strcmp(name, "table")) return read_table(x, where, OP_TABLE);
    if (!strcmp(name, "spline")) return read_table(x, where, OP_SPLINE);
    if (!strcmp(name, "sum")) return read_sum(x, where);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const struct function *f = &functions[k];
        if (strcmp(f->name, name) != 0) continue;
        value in[3] = {{0}};
        for (int j = 0; j < f->count; j++) {
            if (j) expect(x, ',', "between the arguments");
            in[j] = read_either(x);
        }
        if (!x->failed && peek(x) == ',')
            return wrong(x, x->at, "%s takes %d argument%s", name, f->count, f->count > 1 ? "s" : "");
        expect(x, ')', "after the arguments");
        if (x->failed) return in[0];
        value out = emit(x, f->op, in, f->count, 0);
        out.dimension = function_dimension(x, f, where, in);
        return out;
    }
    value v = wrong(x, where, "unknown function \"%s\"", name);
    if (x->err && !x->err->name[0]) snprintf(x->err->name, sizeof x->err->name, "%s", name);
    return v;
}

/* ---- Grammar ------------------------------------------------------------------------------------- */

static value read_primary(reader *x)
{
    const char *where;
    char name[64];
    char c = peek(x);
    where = x->at;
    if (++x->tokens > max_tokens) return wrong(x, where, "too long when its sums are written out");
    if (isdigit((unsigned char)c) || c == '.') return read_number(x);
    if (c == '(') {
        x->at++;
        value v = read_either(x);
        expect(x, ')', "to close the parenthesis");
        return v;
    }
    if (read_name(x, name, sizeof name)) {
        if (peek(x) == '(') {
            x->at++;
            return read_call(x, where, name);
        }
        return named(x, where, name);
    }
    if (!c) return wrong(x, where, "expected a number or a name, found the end");
    return wrong(x, where, "expected a number or a name, found '%c'", isprint((unsigned char)c) ? c : '?');
}

static value read_sign(reader *x);

static value read_power(reader *x)
{
    value a = read_primary(x);
    if (x->failed || !accept(x, "^")) return a;
    value b = read_sign(x), in[2] = {a, b}, out;
    if (x->failed) return a;
    if (b.constant && b.number == floor(b.number) && fabs(b.number) <= 64) {
        int n = (int)b.number;
        dae_dimension one = {.soft = a.dimension.soft};
        out = emit(x, OP_POWI, in, 1, n);
        out.dimension = dae_dimension_times(&one, &a.dimension, n);
        return out;
    }
    out = emit(x, OP_POW, in, 2, 0);
    out.dimension = dae_dimension_call(OP_POW, (dae_dimension[]){a.dimension, b.dimension}, (int[2]){0});
    return out;
}

static value read_sign(reader *x)
{
    char c = peek(x);
    if (c != '-' && c != '+' && !(c == '!' && x->at[1] != '=')) return read_power(x);
    if (++x->depth > DAE_EXPRESSION_MAX_DEPTH) return wrong(x, x->at, "nested too deeply");
    x->at++;
    value v = read_sign(x), out = v;
    x->depth--;
    if (c == '-') out = emit(x, OP_NEG, &v, 1, 0);
    if (c == '!') out = emit(x, OP_NOT, &v, 1, 0);
    out.dimension = v.dimension;
    return out;
}

static value read_product(reader *x)
{
    value v = read_sign(x);
    while (!x->failed) {
        char c = peek(x);
        const char *where = x->at;
        if (c != '*' && c != '/') break;
        x->at++;
        v = binary(x, c == '*' ? OP_MUL : OP_DIV, where, "", v, read_sign(x));
    }
    return v;
}

static value read_terms(reader *x)
{
    value v = read_product(x);
    while (!x->failed) {
        char c = peek(x);
        const char *where = x->at;
        if (c != '+' && c != '-') break;
        x->at++;
        v = binary(x, c == '+' ? OP_ADD : OP_SUB, where, c == '+' ? "+" : "-", v, read_product(x));
    }
    return v;
}

static value read_compare(reader *x)
{
    static const struct {
        const char *sign;
        int op;
    } list[] = {{"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ}, {"!=", OP_NE}, {"<", OP_LT}, {">", OP_GT}};
    value v = read_terms(x);
    for (size_t k = 0; !x->failed && k < sizeof list / sizeof *list; k++) {
        peek(x);
        const char *where = x->at;
        if (accept(x, list[k].sign)) return binary(x, list[k].op, where, list[k].sign, v, read_terms(x));
    }
    return v;
}

static value read_both(reader *x)
{
    value v = read_compare(x);
    while (!x->failed && accept(x, "&&")) {
        value in[2] = {v, read_compare(x)};
        v = emit(x, OP_AND, in, 2, 0);
    }
    return v;
}

static value read_either(reader *x)
{
    if (x->failed) return (value){.constant = 1};
    if (++x->depth > DAE_EXPRESSION_MAX_DEPTH) return wrong(x, x->at, "nested too deeply");
    value v = read_both(x);
    while (!x->failed && accept(x, "||")) {
        value in[2] = {v, read_both(x)};
        v = emit(x, OP_OR, in, 2, 0);
    }
    x->depth--;
    return v;
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static int final_register(const reader *x, const int *rank, int tagged)
{
    if (tagged & variable_bit) return rank[tagged & index_mask];
    if (tagged & constant_bit) return x->nvariable + (tagged & index_mask);
    return x->nvariable + x->nconstant + tagged;
}

/* Numbers the registers: variables in ascending order, constants, results. */
static dae_expression *finish(reader *x, value v)
{
    int rank[max_variables];
    int result = as_register(x, &v);
    dae_expression *e = calloc(1, sizeof *e);
    if (!e || x->failed) {
        free(e);
        return NULL;
    }
    size_t nv = (size_t)x->nvariable, nc = (size_t)x->nconstant, ni = (size_t)x->ncode,
           nt = (size_t)x->ntable;
    e->variable = malloc((nv + 1) * sizeof *e->variable);
    e->constant = malloc((nc + nt + 1) * sizeof *e->constant);
    e->code = malloc((ni + 1) * sizeof *e->code);
    if (!e->variable || !e->constant || !e->code) {
        dae_expression_destroy(e);
        return NULL;
    }
    for (size_t i = 0; i < nv; i++) {
        rank[i] = 0;
        for (size_t k = 0; k < nv; k++) rank[i] += x->variable[k] < x->variable[i];
        e->variable[rank[i]] = x->variable[i];
    }
    memcpy(e->constant, x->constant, nc * sizeof *e->constant);
    e->table = e->constant + nc;
    memcpy(e->table, x->table, nt * sizeof *e->table);
    for (size_t i = 0; i < ni; i++) {
        dae_instruction c = x->code[i];
        c.a = final_register(x, rank, c.a);
        int lookup = c.op == OP_TABLE || c.op == OP_SPLINE;
        if (!lookup) c.b = final_register(x, rank, c.b);
        if (!lookup && c.op != OP_POWI) c.c = final_register(x, rank, c.c);
        e->code[i] = c;
    }
    e->nvariable = x->nvariable;
    e->nconstant = x->nconstant;
    e->ninstruction = x->ncode;
    e->result = final_register(x, rank, result);
    e->dimension = v.dimension;
    if (e->dimension.soft == DAE_PLAIN) e->dimension.soft = 1; /* a number may stand for any quantity */
    return e;
}

/* Numbers the operations that are not smooth in what can change. */
static void number_switches(dae_expression *e)
{
    for (int k = 0; k < e->ninstruction; k++) {
        int op = e->code[k].op;
        int broken = op == OP_ABS || op == OP_SIGN || op == OP_STEP || op == OP_MIN || op == OP_MAX ||
                     op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE || op == OP_FLOOR ||
                     op == OP_CEIL || op == OP_MOD || (op == OP_TABLE && e->code[k].c > 2);
        e->code[k].s = broken ? ++e->nswitch : 0;
    }
}

dae_status dae_message_status(const char *message)
{
    size_t n = strlen(message), starved = sizeof DAE_EXPRESSION_STARVED - 1;
    return n >= starved && !strcmp(message + n - starved, DAE_EXPRESSION_STARVED) ? DAE_ERR_MEMORY
                                                                                  : DAE_ERR_INPUT;
}

dae_expression *dae_expression_create(const char *text, dae_lookup_fn *lookup, void *user,
                                      dae_expression_error *err)
{
    dae_expression *e = NULL;
    reader *x = calloc(1, sizeof *x);
    if (err) *err = (dae_expression_error){0, DAE_EXPRESSION_STARVED, ""};
    if (!x) return NULL;
    *x = (reader){.text = text, .at = text, .lookup = lookup, .user = user, .err = err};
    x->constant = malloc(max_constants * sizeof *x->constant);
    x->code = malloc(DAE_EXPRESSION_MAX_OPERATIONS * sizeof *x->code);
    x->table = malloc(max_table * sizeof *x->table);
    if (x->constant && x->code && x->table) {
        value v = {.constant = 1};
        if (strlen(text) > DAE_EXPRESSION_MAX_TEXT)
            wrong(x, text, "longer than %d characters", DAE_EXPRESSION_MAX_TEXT);
        else v = read_either(x);
        if (!x->failed && peek(x))
            wrong(x, x->at, "expected an operator or the end, found '%c'",
                  isprint((unsigned char)*x->at) ? *x->at : '?');
        if (!x->failed) e = finish(x, v);
        if (e) number_switches(e);
    }
    free(x->constant);
    free(x->code);
    free(x->table);
    free(x);
    return e;
}

void dae_expression_destroy(dae_expression *e)
{
    if (!e) return;
    dae_expression_forget_programs(e);
    free(e->variable);
    free(e->constant); /* the tables stand behind it */
    free(e->code);
    free(e);
}

int dae_expression_variables(const dae_expression *e, const int **variable)
{
    if (variable) *variable = e->variable;
    return e->nvariable;
}

int dae_expression_operations(const dae_expression *e)
{
    return e->ninstruction;
}

int dae_expression_constant(const dae_expression *e, double *out)
{
    if (e->nvariable || e->ninstruction) return 0;
    if (out) *out = e->constant[0];
    return 1;
}

dae_dimension dae_expression_dimension(const dae_expression *e)
{
    return e->dimension;
}

int dae_expression_number(const char *text, double *out, dae_expression_error *err)
{
    dae_expression *e = dae_expression_create(text, NULL, NULL, err);
    int bad = !e || !dae_expression_constant(e, out);
    dae_expression_destroy(e);
    return bad;
}
