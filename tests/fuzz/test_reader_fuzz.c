/* What programs of ours write and read again, with bytes changed: checkpoints, continuous solutions, lines of measurements. No
 * crash, no endless reading (the sanitizers tell); a checkpoint with a changed byte is refused; numbers that were read are
 * those that a writer could have written. FUZZ_INPUTS sets how many inputs each gets. */
#include "test.h"

#include <daedalus/daedalus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    char *data;
    size_t size, capacity;
} bytes;

static int keep(const char *text, size_t length, void *user)
{
    bytes *s = user;
    if (s->size + length > s->capacity) {
        s->capacity = 2 * (s->size + length);
        s->data = realloc(s->data, s->capacity);
    }
    memcpy(s->data + s->size, text, length);
    s->size += length;
    return 0;
}

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

/* A changed copy in `out`, which has room for 64 bytes more; returns its size. Changes lie mostly in the first `head` bytes. */
static size_t mutate(const bytes *from, size_t head, char *out, unsigned long long *seed)
{
    static const char *const piece[] = {"\"", "{",     "}",    "[",   ":",       ",",
                                        "-",  "1e999", "null", "NaN", "\\u0000", "\n"};
    size_t size = from->size;
    memcpy(out, from->data, size);
    for (unsigned left = 1 + next(seed) % 4; left > 0 && size > 0; left--) {
        size_t reach = next(seed) % 4 && head < size ? head : size, at = next(seed) % reach, n;
        const char *p = piece[next(seed) % (sizeof piece / sizeof *piece)];
        switch (next(seed) % 6) {
        case 0: out[at] = (char)(out[at] ^ 1 << next(seed) % 8); break;
        case 1: out[at] = (char)next(seed); break;
        case 2: size = at; break;
        case 3: /* a piece is left out */
            n = 1 + next(seed) % 9;
            if (at + n < size) memmove(out + at, out + at + n, size - at - n), size -= n;
            break;
        case 4: /* one is put in */
            n = strlen(p);
            if (size + n > from->size + 64) break;
            memmove(out + at + n, out + at, size - at);
            memcpy(out + at, p, n);
            size += n;
            break;
        default: /* a number of 8 bytes */
            if (at + 8 <= size) memset(out + at, (int)next(seed), 8);
        }
    }
    return size;
}

static int pendulum(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -sin(y[0]);
    return 0;
}

static void checkpoints(void **state)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = pendulum}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    unsigned long long seed = 1;
    (void)state;
    opt.method = "radau5";
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_int_equal(dae_integrator_start(it, 0, 10, (double[]){1, 0}, NULL, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 5, &err), DAE_OK);
    bytes right = {.size = dae_integrator_save(it, NULL, 0)};
    right.data = malloc(right.size);
    char *wrong = malloc(right.size + 64);
    assert_true(dae_integrator_save(it, right.data, right.size) == right.size);
    for (long k = fuzz_inputs(20000); k > 0; k--) {
        size_t size = mutate(&right, 400, wrong, &seed);
        if (size == right.size && !memcmp(wrong, right.data, size)) continue;
        if (dae_integrator_load(it, wrong, size, &err) >= 0) fail_msg("a changed checkpoint is taken");
    }
    assert_int_equal(dae_integrator_load(it, right.data, right.size, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 10, &err), DAE_OK);
    free(wrong);
    free(right.data);
    dae_integrator_destroy(it);
}

static void solutions(void **state)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create("rober", NULL, 0, &err);
    dae_run_options o = dae_run_options_default(p);
    bytes right = {0};
    unsigned long long seed = 2;
    long read = 0;
    (void)state;
    o.options.method = "radau5";
    o.solution = keep;
    o.solution_user = &right;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    char *wrong = malloc(right.size + 64);
    for (long k = fuzz_inputs(5000); k > 0; k--) {
        size_t size = mutate(&right, 600, wrong, &seed);
        dae_solution *s = dae_solution_read(wrong, size, &err);
        if (!s) {
            assert_true(err.text[0] != 0);
            continue;
        }
        const dae_solution_info *about = dae_solution_about(s);
        double y[64] = {0};
        assert_true(about->n >= 1 && about->pieces >= 0);
        if (about->n <= 64) {
            dae_solution_at(s, about->t0, y, NULL, &err);
            dae_solution_at(s, about->t0 + 0.3 * (about->t_end - about->t0), y, NULL, &err);
            dae_solution_at(s, about->t_end, y, NULL, &err);
        }
        dae_solution_destroy(s);
        read++;
    }
    assert_true(read > 0);
    free(wrong);
    free(right.data);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void measurements(void **state)
{
    dae_measurement m = {.problem = "hires",
                         .solver = "radau5",
                         .rtol = 1e-4,
                         .atol = 1e-4,
                         .scd = 3.5,
                         .mescd = 4,
                         .steps = 12,
                         .accepted = 11,
                         .f = 100,
                         .jac = 7,
                         .lu = 8,
                         .solves = 30,
                         .cpu_seconds = 1e-4,
                         .repeat = 3,
                         .t = 321};
    bytes right = {0};
    dae_error err = {0};
    unsigned long long seed = 3;
    long good = 0;
    (void)state;
    assert_int_equal(dae_measurement_json(&m, keep, &right), DAE_OK);
    char *wrong = malloc(right.size + 64);
    for (long k = fuzz_inputs(100000); k > 0; k--) {
        size_t size = mutate(&right, right.size, wrong, &seed);
        dae_measurement back;
        if (dae_measurement_parse(wrong, size, &back, &err) < 0) continue;
        assert_true(memchr(back.problem, 0, sizeof back.problem) &&
                    memchr(back.solver, 0, sizeof back.solver));
        bytes again = {0};
        dae_measurement same;
        assert_int_equal(dae_measurement_json(&back, keep, &again), DAE_OK);
        assert_int_equal(dae_measurement_parse(again.data, again.size, &same, &err), DAE_OK);
        assert_true(same.steps == back.steps && (same.rtol == back.rtol || isnan(back.rtol)));
        free(again.data);
        good++;
    }
    assert_true(good > 0);
    free(wrong);
    free(right.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints),
        cmocka_unit_test(solutions),
        cmocka_unit_test(measurements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
