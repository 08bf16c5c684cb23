/* Programs as C, see c_writer.h. Values that are used once are written where they are used, the others get a name; long programs are cut
 * into parts of max_statements, because compilers need more than linear time for one long function. */
#include "language/c_writer.h"

#include "core/number.h"
#include "language/program_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { max_statements = 500, max_inline = 240, max_line = 100 };

/* How tightly the outermost operation of a text binds. */
typedef enum binding { LOOSE, SUM, PRODUCT, ATOM } binding;

typedef struct piece {
    char *text; /* NULL: not written yet */
    binding tight;
} piece;

typedef struct function {
    dae_c_writer *w;
    const dae_program *p;
    const char *name;
    int nparameter, n, first_step;
    int *uses;      /* of each step */
    piece *value;   /* of each step */
    int *output_of; /* first output of each step, -1: none */
    int *next_output;
    int split, part, statements, nstored;
} function;

/* ---- Writing ------------------------------------------------------------------------------------- */

void dae_c_put(dae_c_writer *w, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    int n = dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (!w->failed && w->put(text, length, w->user) < 0) w->failed = 1;
}

static void put_text(dae_c_writer *w, const char *text)
{
    if (!w->failed && w->put(text, strlen(text), w->user) < 0) w->failed = 1;
}

/* The shortest decimal that is read as x. */
static void number_text(double x, char *out, size_t size)
{
    if (x != x || x > 1.7e308 || x < -1.7e308) {
        dae_snprintf(out, size, "%s", x != x ? "NAN" : x > 0 ? "HUGE_VAL" : "(-HUGE_VAL)");
        if (x == x && isfinite(x)) dae_snprintf(out, size, "%.17g", x);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        dae_snprintf(out, size, "%.*g", digits, x);
        if (dae_strtod(out, NULL) == x) break;
    }
    if (!strpbrk(out, ".e")) strncat(out, ".0", size - strlen(out) - 1);
}

void dae_c_number(dae_c_writer *w, double x)
{
    char text[40];
    number_text(x, text, sizeof text);
    put_text(w, text);
}

void dae_c_string(dae_c_writer *w, const char *text)
{
    dae_c_put(w, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\' || *c == '?' || (unsigned char)*c < 32 || (unsigned char)*c > 126)
            dae_c_put(w, "\\%03o", (unsigned)(unsigned char)*c);
        else dae_c_put(w, "%c", *c);
    }
    dae_c_put(w, "\"");
}

/* ---- Texts of values ----------------------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t length, capacity;
    int failed;
} text;

static void add(text *s, const char *more)
{
    size_t n = strlen(more);
    if (s->length + n + 1 > s->capacity) {
        size_t next = 2 * (s->length + n) + 64;
        char *bigger = realloc(s->at, next);
        if (!bigger) {
            s->failed = 1;
            return;
        }
        s->at = bigger;
        s->capacity = next;
    }
    memcpy(s->at + s->length, more, n + 1);
    s->length += n;
}

/* The text of value v, in brackets where it binds less than it has to. */
static void add_value(function *f, text *s, int v, binding need)
{
    const dae_program *p = f->p;
    char small[48];
    if (v >= f->first_step) {
        piece *x = &f->value[v - f->first_step];
        if (!x->text) {
            f->w->failed = 2;
            return;
        }
        add(s, x->tight < need ? "(" : "");
        add(s, x->text);
        add(s, x->tight < need ? ")" : "");
        return;
    }
    if (v >= p->ninput) {
        double c = p->constant[v - p->ninput];
        number_text(c, small, sizeof small);
        add(s, c < 0 && need > SUM ? "(" : "");
        add(s, small);
        add(s, c < 0 && need > SUM ? ")" : "");
        return;
    }
    int k = v - 1;
    if (v == 0) dae_snprintf(small, sizeof small, "t");
    else if (k < f->nparameter) dae_snprintf(small, sizeof small, "p[%d]", k);
    else if (k < f->nparameter + f->n) dae_snprintf(small, sizeof small, "y[%d]", k - f->nparameter);
    else dae_snprintf(small, sizeof small, "s[%d]", k - f->nparameter - f->n);
    add(s, small);
}

static binding add_linear(function *f, text *s, const dae_step *x)
{
    const int *v = f->p->list.operand + x->first;
    const double *factor = f->p->list.factor + x->first;
    char small[48];
    int begun = 0;
    if (x->constant != 0) {
        number_text(x->constant, small, sizeof small);
        add(s, small);
        begun = 1;
    }
    for (int k = 0; k < x->terms; k++, begun = 1) {
        double c = factor[k];
        int minus = c < 0;
        add(s, begun ? (minus ? " - " : " + ") : minus ? "-" : "");
        if (fabs(c) != 1) {
            number_text(fabs(c), small, sizeof small);
            add(s, small);
            add(s, "*");
        }
        add_value(f, s, v[k], fabs(c) != 1 || !begun ? ATOM : PRODUCT);
    }
    return SUM;
}

static const struct {
    const char *name;
    int op;
} known[] = {
#define X(name, id, count) {name, OP_##id},
    DAE_EXPRESSION_FUNCTIONS(X)
#undef X
};

static const char *function_name(int op) /* as C calls it */
{
    switch (op) {
    case OP_MIN: return "smaller";
    case OP_MAX: return "larger";
    case OP_ABS: return "fabs";
    case OP_MOD: return "remainder_of";
    case OP_SIGN: return "sign_of";
    case OP_STEP: return "step_of";
    case OP_SMOOTH: return "smoothstep";
    default: break;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].op == op) return known[k].name;
    }
    return "unknown";
}

static const char *operator_of(int op)
{
    switch (op) {
    case OP_ADD: return " + ";
    case OP_SUB: return " - ";
    case OP_MUL: return "*";
    case OP_DIV: return "/";
    case OP_LT: return " < ";
    case OP_LE: return " <= ";
    case OP_EQ: return " == ";
    case OP_NE: return " != ";
    default: return NULL;
    }
}

static binding add_call(function *f, text *s, const dae_step *x)
{
    const int *v = f->p->list.operand + x->first;
    char small[64];
    if (x->op == OP_POWI) {
        add(s, "whole_power(");
    } else if (x->op == OP_CURVE || x->op == OP_PIECE) {
        dae_snprintf(small, sizeof small, "%s(&curve_%d, %d, ",
                     x->op == OP_CURVE ? "curve_value" : "curve_piece", x->extra / 4, x->extra % 4);
        add(s, small);
    } else {
        add(s, function_name(x->op));
        add(s, "(");
    }
    for (int k = 0; k < x->terms; k++) {
        add(s, k ? ", " : "");
        add_value(f, s, v[k], LOOSE);
    }
    if (x->op == OP_POWI) {
        dae_snprintf(small, sizeof small, ", %d", x->extra);
        add(s, small);
    }
    add(s, ")");
    return ATOM;
}

static binding add_step(function *f, text *s, const dae_step *x)
{
    const int *v = f->p->list.operand + x->first;
    const char *sign = operator_of(x->op);
    if (x->op == OP_LINEAR) return add_linear(f, s, x);
    if (sign) {
        int product = x->op == OP_MUL || x->op == OP_DIV, sum = x->op == OP_ADD || x->op == OP_SUB;
        if (!product && !sum) add(s, "("); /* a comparison: 0 or 1 */
        add_value(f, s, v[0], product ? PRODUCT : SUM);
        add(s, sign);
        add_value(f, s, v[1], product ? ATOM : PRODUCT);
        if (!product && !sum) add(s, ")");
        return product ? PRODUCT : sum ? SUM : ATOM;
    }
    switch (x->op) {
    case OP_NEG:
        add(s, "-");
        add_value(f, s, v[0], ATOM);
        return SUM;
    case OP_AND:
    case OP_OR:
        add(s, "(");
        add_value(f, s, v[0], ATOM);
        add(s, x->op == OP_AND ? " != 0 && " : " != 0 || ");
        add_value(f, s, v[1], ATOM);
        add(s, " != 0)");
        return ATOM;
    case OP_NOT:
        add(s, "(");
        add_value(f, s, v[0], ATOM);
        add(s, " == 0)");
        return ATOM;
    case OP_IF:
        add(s, "(");
        add_value(f, s, v[0], ATOM);
        add(s, " != 0 ? ");
        add_value(f, s, v[1], SUM);
        add(s, " : ");
        add_value(f, s, v[2], SUM);
        add(s, ")");
        return ATOM;
    default: return add_call(f, s, x);
    }
}

/* ---- Statements ---------------------------------------------------------------------------------- */

static const char arguments[] = "double t, const double *p, const double *y, const double *s";

static void open_part(function *f)
{
    if (f->split)
        dae_c_put(f->w, "static void %s_%d(%s, double *w, double *out)\n{\n", f->name, f->part, arguments);
    else dae_c_put(f->w, "static void %s(%s, double *out)\n{\n", f->name, arguments);
    dae_c_put(f->w, "    (void)t, (void)p, (void)y, (void)s, (void)out%s;\n", f->split ? ", (void)w" : "");
}

static void begin_statement(function *f)
{
    if (f->split && f->statements && f->statements % max_statements == 0) {
        dae_c_put(f->w, "}\n\n");
        f->part++;
        open_part(f);
    }
    f->statements++;
}

static int place_of(const function *f, int output)
{
    return f->p->place ? f->p->place[output] : output;
}

/* The value under a name of its own, in a statement. */
static void name_value(function *f, int i, text *s)
{
    piece *x = &f->value[i];
    char small[40];
    begin_statement(f);
    if (f->split) dae_snprintf(small, sizeof small, "w[%d]", f->nstored++);
    else dae_snprintf(small, sizeof small, "v%d", i);
    dae_c_put(f->w, "    %s%s = ", f->split ? "" : "const double ", small);
    put_text(f->w, s->at);
    dae_c_put(f->w, ";\n");
    memcpy(s->at, small, strlen(small) + 1);
    x->tight = ATOM;
}

static void write_step(function *f, int i)
{
    text s = {0};
    piece *x = &f->value[i];
    add(&s, "");
    x->tight = add_step(f, &s, &f->p->list.step[i]);
    if (s.failed || !s.at) {
        f->w->failed = 2;
        free(s.at);
        return;
    }
    int output = f->output_of[i], outputs = 0;
    for (int o = output; o >= 0; o = f->next_output[o]) outputs++;
    if (f->uses[i] > 1 || outputs > 1 || (f->uses[i] && (outputs || s.length > max_inline)))
        name_value(f, i, &s);
    for (int o = output; o >= 0; o = f->next_output[o]) {
        begin_statement(f);
        dae_c_put(f->w, "    out[%d] = ", place_of(f, o));
        put_text(f->w, s.at);
        dae_c_put(f->w, ";\n");
    }
    x->text = s.at;
}

static void plain_outputs(function *f)
{
    for (int o = 0; o < f->p->noutput; o++) {
        text s = {0};
        if (f->p->list.output[o] >= f->first_step) continue;
        add_value(f, &s, f->p->list.output[o], LOOSE);
        begin_statement(f);
        dae_c_put(f->w, "    out[%d] = ", place_of(f, o));
        put_text(f->w, s.at ? s.at : "0");
        dae_c_put(f->w, ";\n");
        if (s.failed) f->w->failed = 2;
        free(s.at);
    }
}

static void free_operands(function *f, const dae_step *x) /* texts that were used up */
{
    for (int k = 0; k < x->terms; k++) {
        int v = f->p->list.operand[x->first + k] - f->first_step;
        if (v < 0 || --f->uses[v] > 0) continue;
        free(f->value[v].text);
        f->value[v].text = NULL;
    }
}

static void count_uses(function *f)
{
    const dae_step_list *l = &f->p->list;
    for (int i = 0; i < l->count; i++) {
        f->output_of[i] = -1;
        for (int k = 0; k < l->step[i].terms; k++) {
            int v = l->operand[l->step[i].first + k] - f->first_step;
            if (v >= 0) f->uses[v]++;
        }
    }
    for (int o = f->p->noutput - 1; o >= 0; o--) {
        int v = l->output[o] - f->first_step;
        if (v < 0) continue;
        f->next_output[o] = f->output_of[v];
        f->output_of[v] = o;
    }
}

void dae_c_function(dae_c_writer *w, const dae_program *p, const char *name, int nparameter, int n)
{
    size_t count = (size_t)p->list.count + 1;
    function f = {.w = w, .p = p, .name = name, .nparameter = nparameter, .n = n};
    f.first_step = p->ninput + p->nconstant;
    f.uses = calloc(count, sizeof *f.uses);
    f.value = calloc(count, sizeof *f.value);
    f.output_of = malloc(count * sizeof *f.output_of);
    f.next_output = malloc(((size_t)p->noutput + 1) * sizeof *f.next_output);
    if (!f.uses || !f.value || !f.output_of || !f.next_output) w->failed = 2;
    if (!w->failed) {
        count_uses(&f);
        f.split = p->list.count + p->noutput > max_statements;
        open_part(&f);
        for (int i = 0; i < p->list.count && !w->failed; i++) {
            write_step(&f, i);
            free_operands(&f, &p->list.step[i]);
        }
        plain_outputs(&f);
        dae_c_put(w, "}\n\n");
        if (f.split) {
            dae_c_put(w, "static void %s(%s, double *out)\n{\n    double w[%d];\n", name, arguments,
                      f.nstored + 1);
            for (int k = 0; k <= f.part; k++) dae_c_put(w, "    %s_%d(t, p, y, s, w, out);\n", name, k);
            dae_c_put(w, "}\n\n");
        }
    }
    for (size_t i = 0; f.value && i < count; i++) free(f.value[i].text);
    free(f.uses);
    free(f.value);
    free(f.output_of);
    free(f.next_output);
}

/* ---- What the functions call --------------------------------------------------------------------- */

static const char *const helpers[] = {
    "static double smaller(double a, double b) { return a < b ? a : b; }",
    "static double larger(double a, double b) { return a > b ? a : b; }",
    "static double sign_of(double a) { return (a > 0) - (a < 0); }",
    "static double step_of(double a) { return a >= 0; }",
    "static double remainder_of(double a, double b) { return a - b * floor(a / b); }",
    "static double smoothstep(double x, double a, double b)",
    "{",
    "    double s = (x - a) / (b - a);",
    "    return s <= 0 ? 0 : s >= 1 ? 1 : s * s * (3 - 2 * s);",
    "}",
    "static double whole_power(double x, int n)",
    "{",
    "    double result = 1, z = n < 0 ? 1 / x : x;",
    "    for (unsigned k = (unsigned)(n < 0 ? -n : n); k; k >>= 1, z *= z) {",
    "        if (k & 1) result *= z;",
    "    }",
    "    return result;",
    "}",
    "typedef struct curve { /* c[4k + j]: coefficient of (x - x[k])^j between x[k] and x[k+1] */",
    "    int kind, outside, n;  /* outside: 0 the last value, 1 the tangent, 2 undefined, 3 periodic; kind "
    "3: steps */",
    "    const double *x, *c;",
    "    double left, right;",
    "} curve;",
    "static int curve_segment(const curve *c, double x)",
    "{",
    "    int a = -1, b = c->n, turn = 0;",
    "    if (c->outside == 3 && c->n > 1) {",
    "        double span = c->x[c->n - 1] - c->x[0], turns = floor((x - c->x[0]) / span);",
    "        turn = (int)(turns > 1e6 ? 1e6 : turns < -1e6 ? -1e6 : turns);",
    "        x -= turn * span;",
    "    }",
    "    while (b - a > 1) {",
    "        int mid = a + (b - a) / 2;",
    "        if (x >= c->x[mid]) a = mid;",
    "        else b = mid;",
    "    }",
    "    return turn * (c->n - 1) + a;",
    "}",
    "static int curve_cell(const curve *c, int segment, double *shift)",
    "{",
    "    int cells = c->n - 1, turn = 0;",
    "    if (c->outside == 3 && cells > 0) turn = segment >= 0 ? segment / cells : -((cells - 1 - segment) / "
    "cells);",
    "    *shift = turn * (c->x[cells] - c->x[0]);",
    "    return segment - turn * cells;",
    "}",
    "static double curve_end(const curve *c, double y, double slope, double distance, int order)",
    "{",
    "    if (c->outside == 2 && distance != 0) return NAN;",
    "    if (c->outside == 0 || c->kind == 3) slope = 0;",
    "    return order == 0 ? y + slope * distance : order == 1 ? slope : 0;",
    "}",
    "static double curve_piece(const curve *c, int order, double x, double segment)",
    "{",
    "    double shift, s;",
    "    int k = curve_cell(c, (int)segment, &shift);",
    "    x -= shift;",
    "    if (k < 0) return curve_end(c, c->c[0], c->left, x - c->x[0], order);",
    "    if (k >= c->n - 1) return curve_end(c, c->c[4 * (c->n - 1)], c->right, x - c->x[c->n - 1], order);",
    "    const double *q = c->c + 4 * k;",
    "    s = x - c->x[k];",
    "    switch (order) {",
    "    case 0: return q[0] + s * (q[1] + s * (q[2] + s * q[3]));",
    "    case 1: return q[1] + s * (2 * q[2] + s * 3 * q[3]);",
    "    case 2: return 2 * q[2] + 6 * s * q[3];",
    "    default: return order == 3 ? 6 * q[3] : 0;",
    "    }",
    "}",
    "static double curve_value(const curve *c, int order, double x)",
    "{",
    "    return x == x ? curve_piece(c, order, x, curve_segment(c, x)) : NAN;",
    "}",
};

static void put_numbers(dae_c_writer *w, const char *name, int k, int n, const double *x)
{
    dae_c_put(w, "static const double %s_%d[] = {", name, k);
    for (int i = 0; i < n; i++) {
        dae_c_put(w, i == 0 ? "" : i % 6 ? ", " : ",\n    ");
        dae_c_number(w, x[i]);
    }
    dae_c_put(w, "};\n");
}

void dae_c_prelude(dae_c_writer *w, const dae_program *p)
{
    dae_c_put(w, "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n");
    for (size_t k = 0; k < sizeof helpers / sizeof *helpers; k++) dae_c_put(w, "%s\n", helpers[k]);
    for (int k = 0; k < p->ncurve; k++) {
        const dae_curve *c = p->curve[k];
        put_numbers(w, "curve_x", k, c->n, c->x);
        put_numbers(w, "curve_c", k, 4 * c->n, c->c);
        dae_c_put(w, "static const curve curve_%d = {%d, %d, %d, curve_x_%d, curve_c_%d, ", k, (int)c->kind,
                  (int)c->outside, c->n, k, k);
        dae_c_number(w, c->left);
        dae_c_put(w, ", ");
        dae_c_number(w, c->right);
        dae_c_put(w, "};\n");
    }
    dae_c_put(w, "\n");
}
