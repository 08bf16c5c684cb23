/* The WebAssembly emitter: node runs the bytes and finds the numbers of the levels. (In the page, with the library's own functions:
 * tests/web/emitter_test.mjs.) */
#define _POSIX_C_SOURCE 200809L /* popen, setenv */
#include "test.h"

#include "language/native_wasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ninput = 9, first_y = 3, ny = 5, points = 4 }; /* inputs: t, two parameters, y, one more */

/* Cases by lines: functions, tolerance, module, then inputs and wanted outputs of each point, bytes as hexadecimal numbers. */
static const char script[] =
    "const fs = require('fs');"
    "const two = { atan2: Math.atan2, hypot: Math.hypot, pow: Math.pow };"
    "const apply = (p, op, extra, a, b, c) => { switch (op) {"
    "  case OPS.powi: { let y = 1, z = extra < 0 ? 1 / a : a;"
    "    for (let k = Math.abs(extra); k; k >>= 1, z *= z) if (k & 1) y *= z; return y; }"
    "  case OPS.sign: return Math.sign(a); case OPS.mod: return a - b * Math.floor(a / b);"
    "  case OPS.gt: return +(a > b);"
    "  case OPS.smooth: { const s = Math.min(1, Math.max(0, (a - b) / (c - b))); return s * s * (3 - 2 * s); "
    "}"
    "  default: throw new Error('operation ' + op); } };"
    "let OPS, cases = 0;"
    "for (const line of fs.readFileSync(0, 'utf8').split('\\n')) {"
    "  if (!line) continue;"
    "  if (line[0] === '{') { OPS = JSON.parse(line); continue; }"
    "  const [names, tolerance, code, ...data] = line.split(' ');"
    "  const memory = new WebAssembly.Memory({ initial: 2 }), e = { m: memory };"
    "  names.split(',').filter(Boolean).forEach((n, k) => { e[k] = n === 'apply' ? apply : two[n] ?? "
    "Math[n]; });"
    "  const run = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(code, 'hex')), { e "
    "}).exports.r;"
    "  for (let k = 0; k < data.length; k += 2) {"
    "    const x = Buffer.from(data[k], 'hex'), want = Buffer.from(data[k + 1], 'hex'), n = want.length / 8;"
    "    new Uint8Array(memory.buffer).set(x, 64);"
    "    new Uint8Array(memory.buffer).set(x.subarray(24), 4096);" /* y lies elsewhere */
    "    new Uint8Array(memory.buffer).fill(255, 64 + 24, 64 + 24 + 8 * 5);"
    "    new Uint8Array(memory.buffer).fill(255, 64, 72);" /* and t is handed over */
    "    run(64, 4096, 65536, x.readDoubleLE(0));"
    "    const got = new Float64Array(memory.buffer, 65536, n);"
    "    for (let i = 0; i < n; i++) {"
    "      const w = want.readDoubleLE(8 * i), g = got[i];"
    "      if (!(g === w || (g !== g && w !== w) || Math.abs(g - w) <= tolerance * (1 + Math.abs(w)))) {"
    "        console.error(`case ${cases}, point ${k / 2}, output ${i}: ${g} instead of ${w}`); "
    "process.exit(1); } }"
    "  }"
    "  cases++; }"
    "if (cases !== +process.env.CASES) { console.error(`${cases} cases`); process.exit(1); }";

static FILE *node;
static int cases;

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void print_bytes(size_t n, const void *bytes)
{
    for (size_t i = 0; i < n; i++) fprintf(node, "%02x", ((const unsigned char *)bytes)[i]);
}

static const char *name_of(int op)
{
    switch (op) {
#define X(name, id, count) \
    case OP_##id: return name;
        DAE_EXPRESSION_FUNCTIONS(X)
#undef X
    default: return "apply";
    }
}

/* One program at several points. */
static void hand_over(const dae_graph *g, const int *input, int noutput, const int *output, const int *place,
                      double tolerance)
{
    dae_program *p = dae_program_create_split(g, ninput, input, 0, first_y, ny, noutput, output, place, NULL);
    dae_wasm_module m;
    unsigned seed = (unsigned)cases + 1;
    assert_non_null(p);
    assert_true(dae_wasm_write(p, &m));
    double *work = malloc(dae_program_work(p) * sizeof *work), *out = calloc((size_t)noutput, sizeof *out);
    for (int k = 0; k < m.nfunction; k++) fprintf(node, "%s%s", k ? "," : "", name_of(m.function[k]));
    fprintf(node, " %g ", tolerance);
    print_bytes((size_t)m.length, m.bytes);
    for (int k = 0; k < points; k++) {
        dae_program_start(p, work);
        for (int i = 0; i < ninput; i++) work[i] = ((double)next(&seed) / 16777216 - 0.4) * (k == 3 ? 30 : 2);
        fputc(' ', node);
        print_bytes(ninput * sizeof *work, work);
        dae_program_run_levels(p, work, out);
        fputc(' ', node);
        print_bytes((size_t)noutput * sizeof *out, out);
    }
    fputc('\n', node);
    cases++;
    free(m.bytes);
    free(work);
    free(out);
    dae_program_destroy(p);
}

static void leaves(dae_graph *g, int *input)
{
    input[0] = dae_graph_time(g);
    for (int k = 1; k < ninput; k++)
        input[k] = k < first_y        ? dae_graph_parameter(g, k)
                   : k < first_y + ny ? dae_graph_variable(g, k - first_y, 0)
                                      : dae_graph_discrete(g, 0);
}

/* Sums and products only: the same numbers, to the last bit. */
static void arithmetic_is_exact(void **state)
{
    (void)state;
    unsigned seed = 4;
    for (int k = 0; k < 60; k++) {
        dae_graph *g = dae_graph_create();
        int input[ninput], node_of[400], count = ninput, place[30], output[30];
        leaves(g, input);
        memcpy(node_of, input, sizeof input);
        for (; count < 10 + 6 * k; count++) {
            int a = node_of[next(&seed) % (unsigned)count], b = node_of[next(&seed) % (unsigned)count],
                c = node_of[next(&seed) % (unsigned)count];
            static const double f[] = {1, -1, 2.5, -1, 1, 0.1};
            switch (next(&seed) % 8) {
            case 0: node_of[count] = dae_graph_multiply(g, a, b); break;
            case 1: node_of[count] = dae_graph_subtract(g, a, b); break;
            case 2: node_of[count] = dae_graph_divide(g, a, b); break;
            case 3:
                node_of[count] = dae_graph_sum(
                    g, next(&seed) % 2 ? 0 : 1.25, 3,
                    (dae_term[]){{a, f[next(&seed) % 6]}, {b, f[next(&seed) % 6]}, {c, f[next(&seed) % 6]}});
                break;
            case 4: node_of[count] = dae_graph_power(g, a, dae_graph_number(g, 3)); break;
            case 5: node_of[count] = dae_graph_if(g, dae_graph_apply(g, OP_LT, a, b, 0), b, c); break;
            case 6: node_of[count] = dae_graph_apply(g, OP_SQRT, a, 0, 0); break;
            default: node_of[count] = dae_graph_apply(g, OP_ABS, a, 0, 0);
            }
        }
        for (int o = 0; o < 30; o++) {
            output[o] = o == 3   ? input[6]
                        : o == 4 ? dae_graph_number(g, 7.5)
                                 : node_of[next(&seed) % (unsigned)count];
            place[o] = 29 - o;
        }
        hand_over(g, input, 30, output, k % 2 ? place : NULL, 0);
        dae_graph_destroy(g);
    }
}

/* Every function, comparison and choice; libm of node is another. */
static void every_operation(void **state)
{
    (void)state;
    static const int op[] = {OP_SIN,  OP_COS,    OP_TAN,  OP_ASIN, OP_ACOS,  OP_ATAN, OP_ATAN2, OP_SINH,
                             OP_COSH, OP_TANH,   OP_EXP,  OP_LOG,  OP_LOG10, OP_SQRT, OP_CBRT,  OP_ABS,
                             OP_SIGN, OP_FLOOR,  OP_CEIL, OP_MIN,  OP_MAX,   OP_POW,  OP_MOD,   OP_HYPOT,
                             OP_STEP, OP_SMOOTH, OP_IF,   OP_LT,   OP_LE,    OP_GT,   OP_GE,    OP_EQ,
                             OP_NE,   OP_AND,    OP_OR,   OP_NOT};
    enum { nop = sizeof op / sizeof *op };
    dae_graph *g = dae_graph_create();
    int input[ninput], output[nop + 1];
    leaves(g, input);
    for (int k = 0; k < nop; k++) {
        output[k] = dae_graph_apply(g, op[k], input[3], input[4], input[5]);
        hand_over(g, input, 1, &output[k], NULL, 1e-12);
    }
    output[nop] = dae_graph_power(g, input[3], dae_graph_number(g, 11)); /* by dae_program_apply */
    hand_over(g, input, nop + 1, output, NULL, 1e-12);
    dae_graph_destroy(g);
}

/* More than 127 locals, operands and imports far apart. */
static void long_programs(void **state)
{
    (void)state;
    enum { n = 3000 };
    dae_graph *g = dae_graph_create();
    int input[ninput], x, output[n];
    leaves(g, input);
    x = input[3];
    for (int k = 0; k < n; k++)
        output[k] = x = dae_graph_add(g, dae_graph_multiply(g, x, input[1]), input[3 + k % 5]);
    for (int k = 0; k < n; k++) output[k] = dae_graph_multiply(g, output[k], output[n - 1 - k]);
    hand_over(g, input, n, output, NULL, 0);
    dae_graph_destroy(g);
}

/* Too long: refused, nothing written. */
static void what_is_too_long_is_refused(void **state)
{
    (void)state;
    dae_graph *g = dae_graph_create();
    int input[ninput], x;
    leaves(g, input);
    x = input[3];
    for (int k = 0; k < 61000; k++) x = dae_graph_apply(g, OP_SIN, x, 0, 0);
    dae_program *p = dae_program_create(g, ninput, input, 1, &x, NULL);
    dae_wasm_module m;
    assert_false(dae_wasm_write(p, &m));
    assert_null(m.bytes);
    dae_program_destroy(p);
    dae_graph_destroy(g);
}

static void node_finds_the_same_numbers(void **state)
{
    (void)state;
    assert_int_equal(fflush(node), 0);
    assert_int_equal(pclose(node), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_exact),
        cmocka_unit_test(every_operation),
        cmocka_unit_test(long_programs),
        cmocka_unit_test(what_is_too_long_is_refused),
        cmocka_unit_test(node_finds_the_same_numbers),
    };
    int there = system("command -v node >/dev/null 2>&1") ==
                0; /* without it the bytes are written, but nobody runs them */
    setenv("SCRIPT", script, 1);
    setenv("CASES", "98", 1);
    node = popen(there ? "exec node -e \"$SCRIPT\"" : "cat >/dev/null", "w");
    if (!node) return 1;
    fprintf(node, "{\"powi\":%d,\"sign\":%d,\"mod\":%d,\"smooth\":%d,\"gt\":%d}\n", OP_POWI, OP_SIGN, OP_MOD,
            OP_SMOOTH, OP_GT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
