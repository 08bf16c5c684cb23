/* x86-64 code of a program, written from its list of steps.
 *
 *     void code(const double *in, const double *y, double *out, double t)
 *
 * Values live in xmm0 .. xmm15. Where all are taken, the one whose next use is farthest gives way (Belady); it is kept on the stack
 * unless it is an output already. Inputs are read where they lie, constants behind the code. Sums are formed in the order of the
 * levels, so that the results are the same (but for the sign of zeros). Functions are called: before a call everything that is needed
 * later goes to the stack. */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */

#include "language/graph_parts.h"
#include "language/native_parts.h"

#ifdef DAE_NATIVE_X86

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { max_steps = 60000, max_slots = 4096, nxmm = 16, few = 8, none = -1 };
enum { MOVE = 0x10, STORE = 0x11, ADD = 0x58, MULTIPLY = 0x59, SUBTRACT = 0x5c, DIVIDE = 0x5e, ROOT = 0x51 };
enum { SCALAR = 0xf2, PACKED = 0x66 };
enum { ONE, SIGN, REST, FIRST_CONSTANT }; /* entries of 16 bytes at the begin of the pool */
enum { LESS = 1, LESS_EQUAL = 2, NOT_EQUAL = 4 };

typedef void entry_fn(const double *in, const double *y, double *out, double t);

struct dae_native {
    void *code;
    size_t size;
    entry_fn *run;
};

typedef struct fixup { /* 4 bytes at `at` are the distance to pool entry `entry` */
    int at, entry;
} fixup;

typedef struct machine {
    const dae_program *p;
    int failed;
    unsigned char *code;
    int length, capacity;
    double *pool;
    int npool, pool_capacity; /* in entries of 8 bytes */
    int *bucket, nbucket;     /* of the pool, by value */
    fixup *fix;
    int nfix, fix_capacity;
    int calls, first_step, nslot;
    int now;         /* the step that is written */
    int *use;        /* of each step: the step that needs it next, -1: none */
    int *later;      /* beside operand: the step that needs this value after that */
    int *reg, *slot; /* of each step: where it is, -1: not there */
    int *first_output, *next_output, *stored_out; /* outputs of each step; its place once stored */
    int holder[nxmm];                             /* step in each xmm, -1: free */
    int pinned[nxmm];
} machine;

/* ---- Letters of the code ------------------------------------------------------------------------- */

static void put(machine *m, int n, const unsigned char *bytes)
{
    if (m->failed || !dae_graph_grow((void **)&m->code, &m->capacity, m->length + n, 1)) {
        m->failed = 1;
        return;
    }
    memcpy(m->code + m->length, bytes, (size_t)n);
    m->length += n;
}

#define BYTES(m, ...) put(m, (int)sizeof((unsigned char[]){__VA_ARGS__}), (unsigned char[]){__VA_ARGS__})

static void put_int(machine *m, int32_t x)
{
    unsigned char b[4];
    memcpy(b, &x, 4);
    put(m, 4, b);
}

static void put_address(machine *m, const void *pointer) /* the 8 bytes of a pointer */
{
    unsigned char b[8];
    memcpy(b, pointer, 8);
    put(m, 8, b);
}

/* Where an operand is: an xmm register, memory by a base register, or the pool. */
typedef enum place_kind { IN_XMM, IN_MEMORY, IN_POOL } place_kind;
typedef struct place {
    place_kind kind;
    int at;     /* xmm; base register; entry of the pool */
    int offset; /* in numbers */
} place;

enum { RDX = 2, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R13 = 13 };

static place xmm(int r)
{
    return (place){IN_XMM, r, 0};
}

/* One instruction: prefix, op, register x, operand. prefix 0: none. */
static void letter(machine *m, int prefix, int op, int x, place o)
{
    int high = o.kind != IN_POOL && o.at >= 8, rex = (x >= 8 ? 4 : 0) | (high ? 1 : 0);
    int low = o.at & 7, row = (x & 7) << 3;
    if (prefix) BYTES(m, (unsigned char)prefix);
    if (rex) BYTES(m, (unsigned char)(0x40 | rex));
    BYTES(m, 0x0f, (unsigned char)op);
    if (o.kind == IN_XMM) {
        BYTES(m, (unsigned char)(0xc0 | row | low));
    } else if (o.kind == IN_POOL) {
        BYTES(m, (unsigned char)(row | 5));
        if (!dae_graph_grow((void **)&m->fix, &m->fix_capacity, m->nfix + 1, sizeof *m->fix)) m->failed = 1;
        else m->fix[m->nfix++] = (fixup){m->length, o.at};
        put_int(m, 0);
    } else {
        int near = o.offset >= -16 && o.offset < 16;
        BYTES(m, (unsigned char)((near ? 0x40 : 0x80) | row | low));
        if (low == RSP) BYTES(m, 0x24);
        if (near) BYTES(m, (unsigned char)(8 * o.offset));
        else put_int(m, 8 * o.offset);
    }
}

static void compare(machine *m, int x, place o, int kind)
{
    letter(m, SCALAR, 0xc2, x, o);
    BYTES(m, (unsigned char)kind);
    if (o.kind == IN_POOL && !m->failed) m->fix[m->nfix - 1].at |= 1 << 30; /* one more byte follows */
}

/* ---- Places -------------------------------------------------------------------------------------- */

static unsigned hash_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    b *= 0x9e3779b97f4a7c15u;
    return (unsigned)(b >> 40);
}

static int pool_add(machine *m, double x)
{
    if (!dae_graph_grow((void **)&m->pool, &m->pool_capacity, m->npool + 1, sizeof *m->pool))
        return m->failed = 1, 0;
    m->pool[m->npool] = x;
    return m->npool++;
}

static place constant(machine *m, double x)
{
    unsigned k = hash_bits(x) % (unsigned)m->nbucket;
    for (; m->bucket[k] >= 0; k = (k + 1) % (unsigned)m->nbucket) {
        if (!memcmp(&m->pool[m->bucket[k]], &x, sizeof x)) return (place){IN_POOL, m->bucket[k], 0};
    }
    return (place){IN_POOL, m->bucket[k] = pool_add(m, x), 0};
}

static place slot_place(int slot)
{
    return (place){IN_MEMORY, RSP, slot};
}

static place out_place(const machine *m, int where)
{
    return (place){IN_MEMORY, m->calls ? R13 : RDX, where};
}

static int out_of(const machine *m, int output)
{
    return m->p->place ? m->p->place[output] : output;
}

/* Where value v can be read. */
static place place_of(machine *m, int v)
{
    const dae_program *p = m->p;
    if (v >= m->first_step) {
        int s = v - m->first_step;
        if (m->reg[s] >= 0) return xmm(m->reg[s]);
        return m->slot[s] >= 0 ? slot_place(m->slot[s]) : out_place(m, m->stored_out[s]);
    }
    if (v >= p->ninput) return constant(m, p->constant[v - p->ninput]);
    if (v == p->time) return slot_place(0);
    if (v >= p->first_y && v < p->first_y + p->ny)
        return (place){IN_MEMORY, m->calls ? RBP : RSI, v - p->first_y};
    return (place){IN_MEMORY, m->calls ? RBX : RDI, v};
}

static void keep(machine *m, int s) /* the step in a register that is needed later gets a place in memory */
{
    if (m->slot[s] >= 0 || m->stored_out[s] >= 0) return;
    m->slot[s] = m->nslot++;
    letter(m, SCALAR, STORE, m->reg[s], slot_place(m->slot[s]));
}

static int take(machine *m) /* a register, pinned */
{
    int best = none;
    for (int r = 0; r < nxmm; r++) {
        if (m->pinned[r]) continue;
        if (m->holder[r] < 0) {
            best = r;
            break;
        }
        if (best < 0 || m->use[m->holder[r]] > m->use[m->holder[best]]) best = r;
    }
    if (best < 0) return m->failed = 1, 0;
    int s = m->holder[best];
    if (s >= 0) {
        keep(m, s);
        m->reg[s] = none;
    }
    m->holder[best] = none;
    m->pinned[best] = 1;
    return best;
}

/* ---- Steps --------------------------------------------------------------------------------------- */

static void move(machine *m, int x, place from)
{
    if (from.kind != IN_XMM) letter(m, SCALAR, MOVE, x, from);
    else if (from.at != x) letter(m, 0, 0x28, x, from); /* movaps */
}

/* The register of value v if no later step needs it: it may be written over. */
static int dying(const machine *m, int v)
{
    int s = v - m->first_step;
    return s >= 0 && m->reg[s] >= 0 && m->use[s] < 0 ? m->reg[s] : none;
}

static void forget(machine *m, int r)
{
    if (m->holder[r] >= 0) m->reg[m->holder[r]] = none;
    m->holder[r] = none;
}

/* A register that holds value v and may be changed: its own if nobody needs it later, else a copy. */
static int own(machine *m, int v)
{
    int r = dying(m, v);
    if (r >= 0) {
        forget(m, r);
        m->pinned[r] = 1;
        return r;
    }
    r = take(m);
    move(m, r, place_of(m, v));
    return r;
}

/* The operands of a step are read: what they are needed for next; those in registers stay there until the step is done (of long sums some may
 * go to the stack before their turn comes). */
static void touch(machine *m, const dae_step *s)
{
    for (int k = 0; k < s->terms; k++) {
        int v = m->p->list.operand[s->first + k] - m->first_step;
        if (v < 0) continue;
        m->use[v] = m->later[s->first + k];
        if (m->reg[v] >= 0 && s->terms <= few) m->pinned[m->reg[v]] = 1;
    }
}

static void unpin(machine *m, int keep_register)
{
    for (int r = 0; r < nxmm; r++) {
        if (r != keep_register) m->pinned[r] = 0;
        if (m->holder[r] >= 0 && m->use[m->holder[r]] < 0) forget(m, r);
    }
    if (keep_register >= 0) m->pinned[keep_register] = 0;
}

static int arithmetic(int op)
{
    return op == OP_ADD ? ADD : op == OP_SUB ? SUBTRACT : op == OP_MUL ? MULTIPLY : op == OP_DIV ? DIVIDE : 0;
}

static int binary(machine *m, int op, int a, int b)
{
    if ((op == ADD || op == MULTIPLY) && dying(m, a) < 0 && dying(m, b) >= 0) {
        int swap = a;
        a = b, b = swap;
    }
    if (a == b && a >= m->first_step && m->reg[a - m->first_step] >= 0) { /* x op x */
        int r = own(m, a);
        letter(m, SCALAR, op, r, xmm(r));
        return r;
    }
    int r = own(m, a);
    letter(m, SCALAR, op, r, place_of(m, b));
    return r;
}

/* Term k of a sum in a register of its own. */
static int product(machine *m, const dae_step *s, int k)
{
    int v = m->p->list.operand[s->first + k], again = v >= m->first_step && m->later[s->first + k] == m->now,
        r;
    double factor = m->p->list.factor[s->first + k];
    if (again) { /* it is needed once more in this sum */
        r = take(m);
        move(m, r, place_of(m, v));
    } else {
        r = own(m, v);
    }
    if (factor != 1) letter(m, SCALAR, MULTIPLY, r, constant(m, factor));
    return r;
}

/* The first term begins the sum where there is no constant; if it is subtracted, the second does, which changes nothing. */
static int linear(machine *m, const dae_step *s)
{
    const int *v = m->p->list.operand + s->first;
    const double *f = m->p->list.factor + s->first;
    int sum, begun = none;
    if (s->constant != 0) {
        sum = take(m);
        move(m, sum, constant(m, s->constant));
    } else if (f[0] == -1 && s->terms > 1 && f[1] != -1 && v[0] != v[1]) {
        sum = product(m, s, 1);
        begun = 1;
    } else {
        sum = product(m, s, 0);
        begun = 0;
    }
    for (int k = 0; k < s->terms; k++) {
        if (k == begun) continue;
        if (f[k] == 1 || f[k] == -1) {
            letter(m, SCALAR, f[k] > 0 ? ADD : SUBTRACT, sum, place_of(m, v[k]));
        } else {
            int r = product(m, s, k);
            letter(m, SCALAR, ADD, sum, xmm(r));
            m->pinned[r] = 0;
        }
    }
    return sum;
}

/* condition != 0 ? yes : no, by masks. */
static int choose(machine *m, const int *v)
{
    int yes = take(m), no = take(m), mask;
    move(m, yes, place_of(m, v[1]));
    move(m, no, place_of(m, v[2]));
    mask = own(m, v[0]);
    compare(m, mask, constant(m, 0), NOT_EQUAL);
    letter(m, PACKED, 0x54, yes, xmm(mask)); /* and */
    letter(m, PACKED, 0x55, mask, xmm(no));  /* not mask and no */
    letter(m, PACKED, 0x56, mask, xmm(yes)); /* or */
    return mask;
}

static int bits(machine *m, int v, int op, int entry) /* and, exclusive or with a mask */
{
    int r = own(m, v);
    letter(m, PACKED, op, r, (place){IN_POOL, 2 * entry, 0});
    return r;
}

/* ---- Calls --------------------------------------------------------------------------------------- */

static int has_code(int op)
{
    return arithmetic(op) || op == OP_LINEAR || op == OP_NEG || op == OP_SQRT || op == OP_ABS ||
           op == OP_LT || op == OP_LE || op == OP_IF;
}

static void call_address(machine *m, const void *pointer)
{
    BYTES(m, 0x48, 0xb8); /* mov rax, address */
    put_address(m, pointer);
    BYTES(m, 0xff, 0xd0); /* call rax */
}

static int call(machine *m, const dae_step *s)
{
    const int *v = m->p->list.operand + s->first;
    dae_one_fn *f = dae_native_function(s->op);
    dae_two_fn *g = dae_native_function_of_two(s->op);
    for (int r = 0; r < nxmm; r++) { /* what is needed later; arguments too where there are several */
        int h = m->holder[r];
        if (h >= 0 && (m->use[h] >= 0 || s->terms > 1)) keep(m, h);
    }
    for (int k = 0; k < s->terms; k++) {
        place from = place_of(m, v[k]);
        if (s->terms > 1 && from.kind == IN_XMM) { /* from memory: moving one would overwrite another */
            int h = v[k] - m->first_step;
            from = m->slot[h] >= 0 ? slot_place(m->slot[h]) : out_place(m, m->stored_out[h]);
        }
        move(m, k, from);
    }
    if (!f && !g) {
        double (*apply)(const dae_program *, int, int, double, double, double) = dae_program_apply;
        BYTES(m, 0x48, 0xbf); /* mov rdi, p */
        put_address(m, &m->p);
        BYTES(m, 0xbe); /* mov esi, op */
        put_int(m, s->op);
        BYTES(m, 0xba); /* mov edx, extra */
        put_int(m, s->extra);
        call_address(m, &apply);
    } else if (f) {
        call_address(m, &f);
    } else {
        call_address(m, &g);
    }
    for (int r = 0; r < nxmm; r++) {
        forget(m, r);
        m->pinned[r] = 0;
    }
    return 0;
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static int step_code(machine *m, const dae_step *s)
{
    const int *v = m->p->list.operand + s->first;
    int r, op = arithmetic(s->op);
    if (op) return binary(m, op, v[0], v[1]);
    switch (s->op) {
    case OP_LINEAR: return linear(m, s);
    case OP_NEG: return bits(m, v[0], 0x57, SIGN);
    case OP_ABS: return bits(m, v[0], 0x54, REST);
    case OP_IF: return choose(m, v);
    case OP_SQRT:
        r = take(m);
        letter(m, SCALAR, ROOT, r, place_of(m, v[0]));
        return r;
    case OP_LT:
    case OP_LE:
        r = own(m, v[0]);
        compare(m, r, v[1] == v[0] ? xmm(r) : place_of(m, v[1]), s->op == OP_LT ? LESS : LESS_EQUAL);
        letter(m, PACKED, 0x54, r, (place){IN_POOL, 2 * ONE, 0});
        return r;
    default: return call(m, s);
    }
}

static void emit_step(machine *m, int i)
{
    const dae_step *s = &m->p->list.step[i];
    m->now = i;
    touch(m, s);
    int r = step_code(m, s);
    m->holder[r] = i;
    m->reg[i] = r;
    for (int o = m->first_output[i]; o >= 0; o = m->next_output[o]) {
        m->stored_out[i] = out_of(m, o);
        letter(m, SCALAR, STORE, r, out_place(m, m->stored_out[i]));
    }
    unpin(m, none);
}

static int is_constant(const machine *m, int output)
{
    int v = m->p->list.output[output];
    return v >= m->p->ninput && v < m->first_step;
}

/* Outputs that are inputs or constants; neighbours among constants two at a time. */
static void plain_outputs(machine *m)
{
    const dae_program *p = m->p;
    for (int o = 0; o < p->noutput; o++) {
        int v = p->list.output[o], where = out_of(m, o);
        if (v >= m->first_step) continue;
        if (is_constant(m, o) && o + 1 < p->noutput && is_constant(m, o + 1) &&
            out_of(m, o + 1) == where + 1) {
            int at = pool_add(m, p->constant[v - p->ninput]);
            pool_add(m, p->constant[p->list.output[o + 1] - p->ninput]);
            letter(m, PACKED, MOVE, o % nxmm, (place){IN_POOL, at, 0}); /* movupd */
            letter(m, PACKED, STORE, o % nxmm, out_place(m, where));
            o++;
            continue;
        }
        move(m, o % nxmm, place_of(m, v));
        letter(m, SCALAR, STORE, o % nxmm, out_place(m, where));
    }
}

static void patch(machine *m, int at, int32_t x)
{
    if (!m->failed) memcpy(m->code + at, &x, sizeof x);
}

static void emit_all(machine *m)
{
    const dae_program *p = m->p;
    int frame, used;
    BYTES(m, 0xf3, 0x0f, 0x1e, 0xfa); /* endbr64 */
    if (m->calls) {
        BYTES(m, 0x53, 0x55, 0x41, 0x55);                               /* push rbx; push rbp; push r13 */
        BYTES(m, 0x48, 0x89, 0xfb, 0x48, 0x89, 0xf5, 0x49, 0x89, 0xd5); /* mov rbx, rdi; rbp, rsi; r13, rdx */
    }
    BYTES(m, 0x48, 0x81, 0xec); /* sub rsp, frame */
    frame = m->length;
    put_int(m, 0);
    if (p->time >= 0) {
        m->nslot = 1;
        letter(m, SCALAR, STORE, 0, slot_place(0));
    }
    for (int i = 0; i < p->list.count && !m->failed; i++) emit_step(m, i);
    plain_outputs(m);
    used = (8 * m->nslot + 15) / 16 * 16;
    BYTES(m, 0x48, 0x81, 0xc4); /* add rsp, frame */
    put_int(m, used);
    if (m->calls) BYTES(m, 0x41, 0x5d, 0x5d, 0x5b);
    BYTES(m, 0xc3);
    patch(m, frame, used);
    if (m->nslot > max_slots) m->failed = 1;
}

/* Who needs a value next, from the end backwards; outputs of each step. */
static void prepare(machine *m)
{
    const dae_program *p = m->p;
    const dae_step_list *l = &p->list;
    for (int i = 0; i < l->count; i++)
        m->use[i] = m->reg[i] = m->slot[i] = m->first_output[i] = m->stored_out[i] = none;
    for (int i = l->count - 1; i >= 0; i--) {
        const dae_step *s = &l->step[i];
        m->calls |= !has_code(s->op);
        for (int k = s->terms - 1; k >= 0; k--) {
            int v = l->operand[s->first + k] - m->first_step;
            if (v < 0) continue;
            m->later[s->first + k] = m->use[v]; /* this step, where the value is an operand once more */
            m->use[v] = i;
        }
    }
    for (int o = p->noutput - 1; o >= 0; o--) {
        int v = l->output[o] - m->first_step;
        if (v < 0) continue;
        m->next_output[o] = m->first_output[v];
        m->first_output[v] = o;
    }
    for (int r = 0; r < nxmm; r++) m->holder[r] = none;
}

static int create_machine(machine *m, const dae_program *p)
{
    const dae_step_list *l = &p->list;
    size_t n = (size_t)l->count + 1, operands = 1;
    for (int i = 0; i < l->count; i++) {
        size_t end = (size_t)l->step[i].first + (size_t)l->step[i].terms + 1;
        if (end > operands) operands = end;
    }
    *m = (machine){.p = p, .first_step = p->ninput + p->nconstant};
    m->use = malloc(n * sizeof *m->use);
    m->reg = malloc(n * sizeof *m->reg);
    m->slot = malloc(n * sizeof *m->slot);
    m->first_output = malloc(n * sizeof *m->first_output);
    m->stored_out = malloc(n * sizeof *m->stored_out);
    m->later = malloc(operands * sizeof *m->later);
    m->next_output = malloc(((size_t)p->noutput + 1) * sizeof *m->next_output);
    m->nbucket = 2 * (int)operands + 2 * p->nconstant + l->count + 64;
    m->bucket = malloc((size_t)m->nbucket * sizeof *m->bucket);
    if (!m->use || !m->reg || !m->slot || !m->first_output || !m->stored_out || !m->later ||
        !m->next_output || !m->bucket)
        return 0;
    for (int i = 0; i < m->nbucket; i++) m->bucket[i] = none;
    const uint64_t head[2 * FIRST_CONSTANT] = {0, 0, 1ull << 63, 0, ~(1ull << 63), 0};
    for (int i = 0; i < 2 * FIRST_CONSTANT; i++) {
        double x;
        memcpy(&x, &head[i], sizeof x);
        pool_add(m, i == 0 ? 1.0 : x);
    }
    if (!m->failed) prepare(m);
    return !m->failed;
}

static void destroy_machine(machine *m)
{
    void *all[] = {m->use,         m->reg,    m->slot, m->first_output, m->stored_out, m->later,
                   m->next_output, m->bucket, m->pool, m->code,         m->fix};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static dae_native *finish(machine *m)
{
    int begin = (m->length + 15) / 16 * 16;
    size_t size = (size_t)begin + (size_t)m->npool * sizeof *m->pool;
    dae_native *n = calloc(1, sizeof *n);
    void *code =
        n ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (code == MAP_FAILED) {
        free(n);
        return NULL;
    }
    for (int k = 0; k < m->nfix; k++) { /* distances count from the end of the instruction */
        int at = m->fix[k].at & ~(1 << 30), more = m->fix[k].at >> 30 & 1;
        patch(m, at, begin + 8 * m->fix[k].entry - (at + 4 + more));
    }
    memcpy(code, m->code, (size_t)m->length);
    memcpy((char *)code + begin, m->pool, (size_t)m->npool * sizeof *m->pool);
    n->code = code;
    n->size = size;
    memcpy(&n->run, &code, sizeof code);
    if (!mprotect(code, size, PROT_READ | PROT_EXEC) && dae_native_agrees(n, m->p)) return n;
    dae_native_destroy(n);
    return NULL;
}

dae_native *dae_native_create(const dae_program *p)
{
    machine m;
    dae_native *n = NULL;
    if (p->noperation > max_steps || p->ninput > INT32_MAX / 16 || p->noutput > INT32_MAX / 16) return NULL;
    if (create_machine(&m, p)) {
        emit_all(&m);
        if (!m.failed) n = finish(&m);
    }
    destroy_machine(&m);
    return n;
}

void dae_native_destroy(dae_native *n)
{
    if (!n) return;
    munmap(n->code, n->size);
    free(n);
}

int dae_native_run(dae_native *n, const double *work, double t, const double *y, double *out)
{
    n->run(work, y, out, t);
    return 1;
}

int dae_native_is_there(const dae_native *n)
{
    return n != NULL;
}

#endif
