/* WebAssembly of a program, written from its list of steps, see native_wasm.h; in a page it is put beside the library.
 *
 * Every step is a value in a local variable of the machine (the browser gives it a register); a local is free again after its last
 * use. A value that is an output and nothing else goes to memory at once. Sums are formed in the order of the levels, so that the
 * results are the same (but for the sign of zeros). Functions are imported: those of the library, no others. */
#include "language/native_wasm.h"

#include "language/graph_parts.h"
#include "language/native_parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { none = -1, max_steps = 60000, max_locals = 40000 };
enum { IN, Y, OUT, TIME, FIRST_LOCAL }; /* local variables: the arguments come first */
enum { I32 = 0x7f, F64 = 0x7c, FUNCTION_TYPE = 0x60 };
enum { TYPE = 1, IMPORT = 2, FUNCTION = 3, EXPORT = 7, CODE = 10 }; /* sections */
enum {
    END = 0x0b,
    CALL = 0x10,
    SELECT = 0x1b,
    GET = 0x20,
    SET = 0x21,
    LOAD = 0x2b,
    STORE = 0x39,
    INTEGER = 0x41,
    NUMBER = 0x44,
    EQUAL = 0x61,
    NOT_EQUAL = 0x62,
    LESS = 0x63,
    GREATER = 0x64,
    LESS_EQUAL = 0x65,
    GREATER_EQUAL = 0x66,
    ABSOLUTE = 0x99,
    NEGATE = 0x9a,
    CEILING = 0x9b,
    FLOOR = 0x9c,
    ROOT = 0x9f,
    ADD = 0xa0,
    SUBTRACT = 0xa1,
    MULTIPLY = 0xa2,
    DIVIDE = 0xa3,
    AND_INTEGERS = 0x71,
    OR_INTEGERS = 0x72,
    FROM_INTEGER = 0xb8 /* unsigned */
};

typedef struct writer {
    const dae_program *p;
    int failed;
    unsigned char *code;
    int length, capacity;
    int first_step;
    int nlocal, *free_local, nfree;
    int *last;  /* step that needs each step last, -1: none */
    int *local; /* of each step */
    int *first_output, *next_output;
    dae_wasm_module *to;
    int index[DAE_WASM_MAX_FUNCTIONS + 128]; /* import of each operation + 1, 0: none yet */
} writer;

/* ---- Letters of the code ------------------------------------------------------------------------- */

static void put(writer *w, int n, const unsigned char *bytes)
{
    if (w->failed || !dae_graph_grow((void **)&w->code, &w->capacity, w->length + n, 1)) {
        w->failed = 1;
        return;
    }
    memcpy(w->code + w->length, bytes, (size_t)n);
    w->length += n;
}

#define BYTES(w, ...) put(w, (int)sizeof((unsigned char[]){__VA_ARGS__}), (unsigned char[]){__VA_ARGS__})

static void put_unsigned(writer *w, uint32_t x)
{
    for (; x >= 0x80; x >>= 7) BYTES(w, (unsigned char)(x | 0x80));
    BYTES(w, (unsigned char)x);
}

static void put_signed(writer *w, int32_t x)
{
    while (x < -64 || x > 63) {
        BYTES(w, (unsigned char)(x & 0x7f) | 0x80);
        x = (x - (x & 0x7f)) / 128;
    }
    BYTES(w, (unsigned char)(x & 0x7f));
}

/* The length of what follows is known at its end: five bytes are kept for it. */
static int begin_length(writer *w)
{
    BYTES(w, 0x80, 0x80, 0x80, 0x80, 0);
    return w->length;
}

static void set_length(writer *w, int begin, int n)
{
    for (int k = 0; k < 5 && !w->failed; k++)
        w->code[begin - 5 + k] = (unsigned char)(((unsigned)n >> 7 * k & 0x7f) | (k < 4 ? 0x80 : 0));
}

static void end_length(writer *w, int begin)
{
    set_length(w, begin, w->length - begin);
}

static int begin_section(writer *w, int section)
{
    BYTES(w, (unsigned char)section);
    return begin_length(w);
}

static void local_letter(writer *w, int letter, int local)
{
    BYTES(w, (unsigned char)letter);
    put_unsigned(w, (uint32_t)local);
}

static void memory_letter(writer *w, int letter, int offset) /* in numbers */
{
    BYTES(w, (unsigned char)letter, 3); /* 2^3 bytes aligned */
    put_unsigned(w, 8 * (uint32_t)offset);
}

static void number(writer *w, double x)
{
    unsigned char b[8];
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 8; k++) b[k] = (unsigned char)(bits >> 8 * k);
    BYTES(w, NUMBER);
    put(w, 8, b);
}

static void integer(writer *w, int32_t x)
{
    BYTES(w, INTEGER);
    put_signed(w, x);
}

/* ---- Values -------------------------------------------------------------------------------------- */

static void value(writer *w, int v)
{
    const dae_program *p = w->p;
    if (v >= w->first_step) {
        local_letter(w, GET, w->local[v - w->first_step]);
    } else if (v >= p->ninput) {
        number(w, p->constant[v - p->ninput]);
    } else if (v == p->time) {
        local_letter(w, GET, TIME);
    } else if (v >= p->first_y && v < p->first_y + p->ny) {
        local_letter(w, GET, Y);
        memory_letter(w, LOAD, v - p->first_y);
    } else {
        local_letter(w, GET, IN);
        memory_letter(w, LOAD, v);
    }
}

static int out_of(const writer *w, int output)
{
    return w->p->place ? w->p->place[output] : output;
}

static void product(writer *w, int v, double factor)
{
    value(w, v);
    if (factor == -1) {
        BYTES(w, NEGATE);
    } else if (factor != 1) {
        number(w, factor);
        BYTES(w, MULTIPLY);
    }
}

/* The first term begins the sum where there is no constant; if it is subtracted, the second does, which changes nothing. */
static void linear(writer *w, const dae_step *s)
{
    const int *v = w->p->list.operand + s->first;
    const double *f = w->p->list.factor + s->first;
    int begun = none;
    if (s->constant != 0) number(w, s->constant);
    else begun = f[0] == -1 && s->terms > 1 && f[1] != -1;
    if (begun >= 0) product(w, v[begun], f[begun]);
    for (int k = 0; k < s->terms; k++) {
        if (k == begun) continue;
        product(w, v[k], f[k] == -1 ? 1 : f[k]);
        BYTES(w, f[k] == -1 ? SUBTRACT : ADD);
    }
}

/* The import of an operation that is called. */
static int import_of(writer *w, int op)
{
    int known = dae_native_function(op) || dae_native_function_of_two(op), name = known ? op : DAE_WASM_APPLY,
        *k = &w->index[name + 1];
    dae_wasm_module *m = w->to;
    if (!*k) {
        m->function[m->nfunction] = name;
        *k = ++m->nfunction;
    }
    return *k - 1;
}

static void call(writer *w, const dae_step *s)
{
    const int *v = w->p->list.operand + s->first, at = import_of(w, s->op);
    int apply = w->to->function[at] == DAE_WASM_APPLY;
    if (apply) {
        integer(w, (int32_t)(uint32_t)(uintptr_t)w->p);
        integer(w, s->op);
        integer(w, s->extra);
    }
    for (int k = 0; k < s->terms; k++) value(w, v[k]);
    for (int k = s->terms; apply && k < 3; k++) number(w, 0);
    local_letter(w, CALL, at);
}

static void unary(writer *w, int v, int letter)
{
    value(w, v);
    BYTES(w, (unsigned char)letter);
}

static void binary(writer *w, const int *v, int letter)
{
    value(w, v[0]);
    value(w, v[1]);
    BYTES(w, (unsigned char)letter);
}

/* letter(first, second) ? yes : no */
static void choose(writer *w, int yes, int no, int letter)
{
    value(w, yes);
    value(w, no);
    binary(w, (int[]){yes, no}, letter);
    BYTES(w, SELECT);
}

static void compare(writer *w, const int *v, int letter)
{
    binary(w, v, letter);
    BYTES(w, FROM_INTEGER);
}

static void is_not_zero(writer *w, int v)
{
    value(w, v);
    number(w, 0);
    BYTES(w, NOT_EQUAL);
}

static void step_code(writer *w, const dae_step *s)
{
    const int *v = w->p->list.operand + s->first;
    switch (s->op) {
    case OP_LINEAR: linear(w, s); return;
    case OP_ADD: binary(w, v, ADD); return;
    case OP_SUB: binary(w, v, SUBTRACT); return;
    case OP_MUL: binary(w, v, MULTIPLY); return;
    case OP_DIV: binary(w, v, DIVIDE); return;
    case OP_NEG: unary(w, v[0], NEGATE); return;
    case OP_ABS: unary(w, v[0], ABSOLUTE); return;
    case OP_SQRT: unary(w, v[0], ROOT); return;
    case OP_FLOOR: unary(w, v[0], FLOOR); return;
    case OP_CEIL: unary(w, v[0], CEILING); return;
    case OP_LT: compare(w, v, LESS); return;
    case OP_LE: compare(w, v, LESS_EQUAL); return;
    case OP_EQ: compare(w, v, EQUAL); return;
    case OP_NE: compare(w, v, NOT_EQUAL); return;
    case OP_STEP:
        value(w, v[0]);
        number(w, 0);
        BYTES(w, GREATER_EQUAL, FROM_INTEGER);
        return;
    case OP_NOT:
        value(w, v[0]);
        number(w, 0);
        BYTES(w, EQUAL, FROM_INTEGER);
        return;
    case OP_AND:
    case OP_OR:
        is_not_zero(w, v[0]);
        is_not_zero(w, v[1]);
        BYTES(w, s->op == OP_AND ? AND_INTEGERS : OR_INTEGERS, FROM_INTEGER);
        return;
    case OP_MIN: choose(w, v[0], v[1], LESS); return;
    case OP_MAX: choose(w, v[0], v[1], GREATER); return;
    case OP_IF:
        value(w, v[1]);
        value(w, v[2]);
        is_not_zero(w, v[0]);
        BYTES(w, SELECT);
        return;
    default: call(w, s);
    }
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static int take_local(writer *w)
{
    return w->nfree ? w->free_local[--w->nfree] : FIRST_LOCAL + w->nlocal++;
}

static void emit_step(writer *w, int i)
{
    const dae_step *s = &w->p->list.step[i];
    int output = w->first_output[i], direct = w->last[i] < 0 && output >= 0 && w->next_output[output] < 0;
    if (direct) local_letter(w, GET, OUT);
    step_code(w, s);
    for (int k = 0; k < s->terms; k++) { /* a value that stands here twice gives its local back once */
        int v = w->p->list.operand[s->first + k] - w->first_step;
        if (v < 0 || w->last[v] != i) continue;
        w->free_local[w->nfree++] = w->local[v];
        w->last[v] = none;
    }
    if (direct) {
        memory_letter(w, STORE, out_of(w, output));
        return;
    }
    w->local[i] = take_local(w);
    local_letter(w, SET, w->local[i]);
    for (; output >= 0; output = w->next_output[output]) {
        local_letter(w, GET, OUT);
        local_letter(w, GET, w->local[i]);
        memory_letter(w, STORE, out_of(w, output));
    }
    if (w->last[i] < 0) w->free_local[w->nfree++] = w->local[i];
}

static void plain_outputs(writer *w) /* those that are inputs or constants */
{
    for (int o = 0; o < w->p->noutput; o++) {
        int v = w->p->list.output[o];
        if (v >= w->first_step) continue;
        local_letter(w, GET, OUT);
        value(w, v);
        memory_letter(w, STORE, out_of(w, o));
    }
}

static void emit_function(writer *w)
{
    int body = begin_length(w), locals;
    BYTES(w, 1); /* one group of locals */
    locals = begin_length(w);
    BYTES(w, F64);
    for (int i = 0; i < w->p->list.count && !w->failed; i++) emit_step(w, i);
    plain_outputs(w);
    BYTES(w, END);
    end_length(w, body);
    set_length(w, locals, w->nlocal);
    if (w->nlocal > max_locals) w->failed = 1;
}

static void type(writer *w, int n, const unsigned char *argument, int results)
{
    BYTES(w, FUNCTION_TYPE);
    put_unsigned(w, (uint32_t)n);
    put(w, n, argument);
    put_unsigned(w, (uint32_t)results);
    if (results) BYTES(w, F64);
}

static void import(writer *w, int digit, unsigned char kind)
{
    char name[4] = {'m', 0, 0, 0};
    if (digit >= 10) name[0] = (char)('0' + digit / 10), name[1] = (char)('0' + digit % 10);
    else if (digit >= 0) name[0] = (char)('0' + digit);
    BYTES(w, 1, 'e', (unsigned char)strlen(name));
    put(w, (int)strlen(name), (const unsigned char *)name);
    BYTES(w, kind);
}

/* Types: 0 of the program, 1 and 2 of functions of one and of two numbers, 3 of dae_program_apply. */
static void emit_head(writer *w, const dae_wasm_module *m)
{
    int at;
    BYTES(w, 0, 'a', 's', 'm', 1, 0, 0, 0);
    at = begin_section(w, TYPE);
    BYTES(w, 4);
    type(w, 4, (unsigned char[]){I32, I32, I32, F64}, 0);
    type(w, 1, (unsigned char[]){F64}, 1);
    type(w, 2, (unsigned char[]){F64, F64}, 1);
    type(w, 6, (unsigned char[]){I32, I32, I32, F64, F64, F64}, 1);
    end_length(w, at);
    at = begin_section(w, IMPORT);
    put_unsigned(w, 1 + (uint32_t)m->nfunction);
    import(w, none, 2);
    BYTES(w, 0, 0); /* of any size */
    for (int k = 0; k < m->nfunction; k++) {
        import(w, k, 0);
        BYTES(w, m->function[k] == DAE_WASM_APPLY ? 3 : dae_native_function(m->function[k]) ? 1 : 2);
    }
    end_length(w, at);
    at = begin_section(w, FUNCTION);
    BYTES(w, 1, 0);
    end_length(w, at);
    at = begin_section(w, EXPORT);
    BYTES(w, 1, 1, 'r', 0);
    put_unsigned(w, (uint32_t)m->nfunction);
    end_length(w, at);
}

/* Who needs a value last; outputs of each step; the functions that are called, whose numbers come before all others. */
static void prepare(writer *w)
{
    const dae_step_list *l = &w->p->list;
    for (int i = 0; i < l->count; i++) {
        const dae_step *s = &l->step[i];
        w->last[i] = w->first_output[i] = none;
        for (int k = 0; k < s->terms; k++) {
            int v = l->operand[s->first + k] - w->first_step;
            if (v >= 0) w->last[v] = i;
        }
    }
    for (int o = w->p->noutput - 1; o >= 0; o--) {
        int v = l->output[o] - w->first_step;
        if (v < 0) continue;
        w->next_output[o] = w->first_output[v];
        w->first_output[v] = o;
    }
}

int dae_wasm_write(const dae_program *p, dae_wasm_module *out)
{
    size_t n = (size_t)p->list.count + 1;
    *out = (dae_wasm_module){.bytes = NULL};
    if (p->noperation > max_steps || p->ninput > INT32_MAX / 16 || p->noutput > INT32_MAX / 16) return 0;
    writer body = {.p = p, .first_step = p->ninput + p->nconstant, .to = out}, all = body;
    int *room = malloc((4 * n + (size_t)p->noutput + 1) * sizeof *room);
    if (!room) return 0;
    body.last = room;
    body.local = room + n;
    body.first_output = room + 2 * n;
    body.free_local = room + 3 * n;
    body.next_output = room + 4 * n;
    prepare(&body);
    emit_function(&body);
    emit_head(&all, out);
    int at = begin_section(&all, CODE);
    BYTES(&all, 1);
    put(&all, body.length, body.code);
    end_length(&all, at);
    free(room);
    free(body.code);
    if (!body.failed && !all.failed) {
        out->bytes = all.code;
        out->length = all.length;
        return 1;
    }
    free(all.code);
    return 0;
}

/* ---- In a page ----------------------------------------------------------------------------------- */

#ifdef DAE_NATIVE_WASM

#include <emscripten.h>

/* What a module costs, in operations of the levels: writing, compiling and proving it. */
enum { cost = 100000, cost_per_operation = 100 };

typedef void entry_fn(const double *in, const double *y, double *out, double t);

struct dae_native {
    const dae_program *p;
    double spent; /* operations of the levels so far */
    int asked;    /* 1: the module was made, or refused */
    int place;    /* of its function in the table of the library */
    entry_fn *run;
};

/* A function of a new module, in the table of functions; 0: refused (by the policy of the page, or there is no room). Places are used again. */
// clang-format off
EM_JS(int, dae_wasm_place, (const unsigned char *bytes, int length, const int *imports, int count), {
    try {
        const given = { m: wasmMemory };
        for (let k = 0; k < count; k++) given[k] = wasmTable.get(HEAP32[(imports >> 2) + k]);
        const module = new WebAssembly.Module(HEAPU8.slice(bytes, bytes + length));
        const code = new WebAssembly.Instance(module, { e: given }).exports.r;
        const free = wasmTable.daedalusFree || (wasmTable.daedalusFree = []);
        const place = free.length ? free.pop() : wasmTable.grow(1);
        wasmTable.set(place, code);
        return place;
    } catch (refused) {
        return 0;
    }
})

EM_JS(void, dae_wasm_release, (int place), {
    wasmTable.set(place, null);
    wasmTable.daedalusFree.push(place);
})
// clang-format on

dae_native *dae_native_create(const dae_program *p)
{
    dae_native *n = calloc(1, sizeof *n);
    if (n) n->p = p;
    return n;
}

void dae_native_destroy(dae_native *n)
{
    if (n && n->place) dae_wasm_release(n->place);
    free(n);
}

static void make(dae_native *n)
{
    dae_wasm_module m;
    int imports[DAE_WASM_MAX_FUNCTIONS];
    n->asked = 1;
    if (!dae_wasm_write(n->p, &m)) return;
    for (int k = 0; k < m.nfunction; k++) { /* a pointer to a function is its place in the table */
        int op = m.function[k];
        imports[k] = op == DAE_WASM_APPLY      ? (int)dae_program_apply
                     : dae_native_function(op) ? (int)dae_native_function(op)
                                               : (int)dae_native_function_of_two(op);
    }
    n->place = dae_wasm_place(m.bytes, m.length, imports, m.nfunction);
    free(m.bytes);
    n->run = (entry_fn *)n->place;
    if (!n->place || dae_native_agrees(n, n->p)) return;
    dae_wasm_release(n->place);
    n->place = 0;
    n->run = NULL;
}

/* Rent until the rent has cost as much as the house: at most twice the best that could have been done. */
int dae_native_run(dae_native *n, const double *work, double t, const double *y, double *out)
{
    if (!n->run) {
        if (n->asked) return 0;
        n->spent += n->p->noperation;
        if (n->spent < cost + (double)cost_per_operation * n->p->noperation) return 0;
        make(n);
        if (!n->run) return 0;
    }
    n->run(work, y, out, t);
    return 1;
}

int dae_native_is_there(const dae_native *n)
{
    return n && n->run;
}

#endif
