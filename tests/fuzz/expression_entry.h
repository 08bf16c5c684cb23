/* The entry that libFuzzer calls, for expressions. Coverage-guided:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DDAE_FUZZER -Isrc -Iinclude -Itests/fuzz \
 *         -x c tests/fuzz/expression_entry.h src/language/{expression,expression_value,unit}.c -lm -o fuzz_expression */
#include "language/expression.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int fuzz_lookup(const char *name, dae_symbol *out, void *user)
{
    (void)user;
    *out = (dae_symbol){.variable = name[0] == 'k' ? -1 : name[0] % 7, .value = 2.5};
    out->dimension.power[0] = name[0] == 'x';
    return name[1] == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    dae_expression_error err;
    dae_expression *e = dae_expression_create(text, fuzz_lookup, NULL, &err);
    if (e) {
        double x[16] = {0.5, 1, -2, 3, 1e3, 1e-3, 7}, g[16], d[2], sum;
        double *work = malloc((dae_expression_work(e) + 1) * sizeof *work);
        if (work) {
            sum = dae_expression_value(e, x, work) + dae_expression_gradient(e, x, g, work);
            sum += dae_expression_curve(e, x, x, x, d, work);
            if (sum == 12345.678) abort(); /* keeps the calls */
        }
        free(work);
    } else if (err.column < 0 || (size_t)err.column > size || !err.text[0]) {
        abort();
    }
    dae_expression_destroy(e);
    free(text);
    return 0;
}
