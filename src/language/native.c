/* x86-64 code of a program. Register rbx points to the work array, r13 to the factors of linear combinations. Each operation loads its
 * operands, computes and stores: the order of all operations is that of the levels, so that the results are the same to the last
 * bit (but for the sign of zeros). Functions of one or two numbers are called; runs of anything else are left to the levels by a call. */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */

#include "language/native.h"

#if defined(__x86_64__) && defined(__unix__)

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { max_operations = 100000, min_loop = 24, bytes_per_term = 24, bytes_per_operation = 64 };

typedef void entry_fn(double *work, const double *factor);

struct dae_native {
    void *code;
    size_t size;
    entry_fn *run;
};

typedef struct writer {
    unsigned char *at;
} writer;

/* ---- Letters of the code ------------------------------------------------------------------------- */

static void put(writer *w, int n, const unsigned char *bytes)
{
    memcpy(w->at, bytes, (size_t)n);
    w->at += n;
}

#define BYTES(w, ...) put(w, (int)sizeof((unsigned char[]){__VA_ARGS__}), (unsigned char[]){__VA_ARGS__})

static void put_place(writer *w, int index) /* 8*index as a displacement */
{
    int32_t d = (int32_t)(8 * index);
    memcpy(w->at, &d, sizeof d);
    w->at += sizeof d;
}

static void put_address(writer *w, const void *bytes) /* 8 bytes */
{
    memcpy(w->at, bytes, 8);
    w->at += 8;
}

/* op xmm0, work[index]: 0x10 load, 0x58 add, 0x59 multiply, 0x5c subtract, 0x5e divide, 0x51 square root */
static void on_first(writer *w, unsigned char op, int index)
{
    BYTES(w, 0xf2, 0x0f, op, 0x83);
    put_place(w, index);
}

static void on_second(writer *w, unsigned char op, int index) /* the same with xmm1 */
{
    BYTES(w, 0xf2, 0x0f, op, 0x8b);
    put_place(w, index);
}

static void store(writer *w, int index)
{
    BYTES(w, 0xf2, 0x0f, 0x11, 0x83);
    put_place(w, index);
}

static void call_address(writer *w, const void *address)
{
    BYTES(w, 0x48, 0xb8); /* mov rax, address */
    put_address(w, address);
    BYTES(w, 0xff, 0xd0); /* call rax */
}

/* ---- Operations ---------------------------------------------------------------------------------- */

typedef double one_fn(double);
typedef double two_fn(double, double);

static one_fn *function_of(int op)
{
    switch (op) {
    case OP_SIN: return sin;
    case OP_COS: return cos;
    case OP_TAN: return tan;
    case OP_ASIN: return asin;
    case OP_ACOS: return acos;
    case OP_ATAN: return atan;
    case OP_SINH: return sinh;
    case OP_COSH: return cosh;
    case OP_TANH: return tanh;
    case OP_EXP: return exp;
    case OP_LOG: return log;
    case OP_LOG10: return log10;
    case OP_CBRT: return cbrt;
    case OP_ABS: return fabs;
    default: return NULL;
    }
}

static unsigned char arithmetic(int op)
{
    return op == OP_ADD ? 0x58 : op == OP_SUB ? 0x5c : op == OP_MUL ? 0x59 : op == OP_DIV ? 0x5e : 0;
}

/* The first term begins the sum where there is no constant; factors 1 and -1 need no product. Zeros may differ in sign from those of
 * the levels. */
static void linear(writer *w, const dae_program *p, const dae_run *r, int i)
{
    const int *a = p->index + r->index;
    const double *f = p->factor + r->factor;
    int constant = r->terms * r->count + i, k = 0;
    if (f[constant] == 0 && f[i] == 1) {
        on_first(w, 0x10, a[i]);
        k = 1;
    } else if (f[constant] == 0 && f[i] != -1) {
        on_first(w, 0x10, a[i]);
        BYTES(w, 0xf2, 0x41, 0x0f, 0x59, 0x85); /* mulsd xmm0, [r13 + factor] */
        put_place(w, r->factor + i);
        k = 1;
    } else if (f[constant] == 0) {
        BYTES(w, 0x0f, 0x57, 0xc0); /* xorps xmm0, xmm0 */
    } else {
        BYTES(w, 0xf2, 0x41, 0x0f, 0x10, 0x85); /* movsd xmm0, [r13 + constant] */
        put_place(w, r->factor + constant);
    }
    for (; k < r->terms; k++) {
        double factor = f[k * r->count + i];
        if (factor == 1 || factor == -1) {
            on_first(w, factor > 0 ? 0x58 : 0x5c, a[k * r->count + i]);
            continue;
        }
        on_second(w, 0x10, a[k * r->count + i]);
        BYTES(w, 0xf2, 0x41, 0x0f, 0x59, 0x8d); /* mulsd xmm1, [r13 + factor] */
        put_place(w, r->factor + k * r->count + i);
        BYTES(w, 0xf2, 0x0f, 0x58, 0xc1); /* addsd xmm0, xmm1 */
    }
    store(w, r->to + i);
}

static void by_levels(writer *w, const dae_program *p, int k)
{
    int32_t number = k;
    void (*run)(const dae_program *, int, double *) = dae_program_run_part;
    BYTES(w, 0x48, 0xbf); /* mov rdi, p */
    put_address(w, &p);
    BYTES(w, 0xbe); /* mov esi, k */
    memcpy(w->at, &number, sizeof number);
    w->at += sizeof number;
    BYTES(w, 0x48, 0x89, 0xda); /* mov rdx, rbx */
    call_address(w, &run);
}

static void negate(writer *w, int from, int to)
{
    BYTES(w, 0x0f, 0x57, 0xc0); /* xorps xmm0, xmm0 */
    on_first(w, 0x5c, from);
    store(w, to);
}

static void emit_run(writer *w, const dae_program *p, int k)
{
    const dae_run *r = &p->run[k];
    const int *a = p->index + r->index, *b = a + (r->terms > 1 ? r->count : 0);
    one_fn *f = function_of(r->op);
    two_fn *g = r->op == OP_POW ? pow : r->op == OP_ATAN2 ? atan2 : r->op == OP_HYPOT ? hypot : NULL;
    unsigned char code = arithmetic(r->op);
    int loop =
        r->dense && r->count >= min_loop; /* compiled loops over neighbours are vectorized, and short */
    if (loop || (r->op != OP_LINEAR && !code && !f && !g && r->op != OP_NEG && r->op != OP_SQRT)) {
        by_levels(w, p, k);
        return;
    }
    for (int i = 0; i < r->count; i++) {
        if (r->op == OP_LINEAR) {
            linear(w, p, r, i);
            continue;
        }
        if (r->op == OP_NEG) {
            negate(w, a[i], r->to + i);
            continue;
        }
        on_first(w, r->op == OP_SQRT ? 0x51 : 0x10, a[i]);
        if (code) on_first(w, code, b[i]);
        if (g) on_second(w, 0x10, b[i]);
        if (f) call_address(w, &f);
        if (g) call_address(w, &g);
        store(w, r->to + i);
    }
}

static void emit(writer *w, const dae_program *p)
{
    BYTES(w, 0xf3, 0x0f, 0x1e, 0xfa);                   /* endbr64 */
    BYTES(w, 0x53, 0x41, 0x55, 0x48, 0x83, 0xec, 0x08); /* push rbx; push r13; sub rsp, 8 */
    BYTES(w, 0x48, 0x89, 0xfb, 0x49, 0x89, 0xf5);       /* mov rbx, rdi; mov r13, rsi */
    for (int k = 0; k < p->nrun; k++) emit_run(w, p, k);
    BYTES(w, 0x48, 0x83, 0xc4, 0x08, 0x41, 0x5d, 0x5b, 0xc3); /* add rsp, 8; pop r13; pop rbx; ret */
}

/* ---- Proof --------------------------------------------------------------------------------------- */

/* The same bits as the levels (any NaN is a NaN) at points with inputs of several sizes. */
static int agrees(const dae_native *n, const dae_program *p)
{
    size_t size = dae_program_work(p);
    double *a = calloc(2 * size, sizeof *a), *b = a ? a + size : NULL;
    unsigned seed = 12345;
    int good = a != NULL;
    for (int round = 0; good && round < 3; round++) {
        dae_program_start(p, a);
        for (int i = 0; i < p->ninput; i++) {
            seed = seed * 1664525u + 1013904223u;
            a[i] = ((double)(seed >> 8) / 16777216 - (round == 0 ? 0 : 0.5)) * (round == 2 ? 20 : 1);
        }
        memcpy(b, a, size * sizeof *a);
        for (int k = 0; k < p->nrun; k++) dae_program_run_part(p, k, a);
        n->run(b, p->factor);
        for (int i = 0; good && i < p->nregister; i++) good = a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]);
    }
    free(a);
    return good;
}

/* ---- Life ---------------------------------------------------------------------------------------- */

dae_native *dae_native_create(const dae_program *p)
{
    if (p->noperation < 4 || p->noperation > max_operations || p->nregister > INT32_MAX / 16 ||
        p->nfactor > INT32_MAX / 16)
        return NULL;
    size_t size = 64 + (size_t)p->noperation * bytes_per_operation + (size_t)p->nindex * bytes_per_term +
                  (size_t)p->nrun * 64;
    dae_native *n = calloc(1, sizeof *n);
    void *code =
        n ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (code == MAP_FAILED) {
        free(n);
        return NULL;
    }
    writer w = {code};
    emit(&w, p);
    n->code = code;
    n->size = size;
    memcpy(&n->run, &code, sizeof code);
    if (!mprotect(code, size, PROT_READ | PROT_EXEC) && agrees(n, p)) return n;
    dae_native_destroy(n);
    return NULL;
}

void dae_native_destroy(dae_native *n)
{
    if (!n) return;
    munmap(n->code, n->size);
    free(n);
}

void dae_native_run(const dae_native *n, const dae_program *p, double *work)
{
    n->run(work, p->factor);
}

#else

dae_native *dae_native_create(const dae_program *p)
{
    (void)p;
    return 0;
}

void dae_native_destroy(dae_native *n)
{
    (void)n;
}

void dae_native_run(const dae_native *n, const dae_program *p, double *work)
{
    (void)n, (void)p, (void)work;
}

#endif
