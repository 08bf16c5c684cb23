#include "method/runs.h"

enum { N = 120, GRID = 51 };

/* ---- Systems: a chain of reacting cells, with neighbors left and right (banded), closed to a ring with
 * far neighbors (sparse), or small (dense) ------------------------------------------------------------- */

static int cells(double t, const double *y, double *f, int n, int ring)
{
    for (int i = 0; i < n; i++) {
        double left = i ? y[i - 1] : ring ? y[n - 1] : 0, right = i + 1 < n ? y[i + 1] : ring ? y[0] : 0;
        double far = ring ? y[(i + n / 3) % n] : 0;
        f[i] = 50 * (left - 2 * y[i] + right) + y[i] * (1 - y[i]) + 0.1 * far + 0.2 * sin(3 * t + i);
    }
    return 0;
}

static int small_f(double t, const double *y, double *f, void *user)
{
    (void)user;
    return cells(t, y, f, 5, 0);
}

static int chain_f(double t, const double *y, double *f, void *user)
{
    (void)user;
    return cells(t, y, f, N, 0);
}

static int ring_f(double t, const double *y, double *f, void *user)
{
    (void)user;
    return cells(t, y, f, N, 1);
}

static int dae_f(double t, const double *y, double *f, void *user)
{
    (void)user;
    cells(t, y, f, 5, 0);
    f[5] = y[5] - y[0] * y[1];
    return 0;
}

static int colptr[N + 1], rowind[4 * N];

static void make_ring_pattern(void)
{
    int k = 0;
    for (int j = 0; j < N; j++) {
        colptr[j] = k;
        for (int i = 0; i < N; i++) {
            if (i == j || i == (j + 1) % N || j == (i + 1) % N || (i + N / 3) % N == j) rowind[k++] = i;
        }
    }
    colptr[N] = k;
}

/* A pendulum of length 1 without weight: it turns. */
static int no_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[1] = 0;
    return 0;
}

static int circle(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
    for (int i = 0; G && i < 2; i++) G[i] = x->p[i];
    return 0;
}

enum { DENSE, BANDED, SPARSE, WITH_CONSTRAINT, MECHANICAL, CASES };

static dae_system system_of(int which)
{
    static const double mass[] = {1, 1, 1, 1, 1, 0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = N}};
    if (which == DENSE) sys.ode = (dae_ode){.n = 5, .f = small_f};
    if (which == BANDED)
        sys.ode.f = chain_f,
        sys.structure.jacobian = (dae_pattern){.storage = DAE_BANDED, .lower = 1, .upper = 1};
    if (which == SPARSE) {
        make_ring_pattern();
        sys.ode.f = ring_f;
        sys.structure.jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
    }
    if (which == WITH_CONSTRAINT)
        sys = (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = 6, .f = dae_f, .mass = dae_diagonal(6, mass)}};
    if (which == MECHANICAL) {
        sys = (dae_system){.kind = DAE_KIND_MECH,
                           .mech = {.np = 2,
                                    .nv = 2,
                                    .ng = 1,
                                    .nlambda = 1,
                                    .mass = dae_diagonal(2, mass),
                                    .force = no_force,
                                    .constraint = circle}};
    }
    return sys;
}

static int suits(const dae_method_info *m, int which)
{
    dae_system sys = system_of(which);
    return m->checkpoint && !wants_second_order(m) && m->kinds & 1u << sys.kind;
}

/* ---- A run with output, events that restart, and a jump ------------------------------------------------ */

typedef struct record {
    int count;
    double t[GRID], y[GRID];
} record;

static int keep(double t, const double *y, int n, void *user)
{
    record *r = user;
    (void)n;
    r->t[r->count] = t;
    r->y[r->count++] = y[0];
    return 0;
}

static int level(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)yp, (void)user;
    phi[0] = sin(2 * t) - 0.3;
    phi[1] = y[0] - 0.2;
    return 0;
}

static int kick(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)t, (void)yp;
    if (i != 0 || !rising) return DAE_EVENT_GO_ON;
    if (*(int *)user != MECHANICAL) y[1] += 0.05; /* a mechanism has to stay on its constraints */
    return DAE_EVENT_RESTART;
}

static int kicked;    /* the case under way */
static char used[64]; /* linear algebra of the last run */

static void note_linear_algebra(dae_log_level l, const char *text, void *user)
{
    (void)l, (void)user;
    if (strstr(text, "linear_algebra=")) snprintf(used, sizeof used, "%s", text);
}

static dae_integrator *begin(const char *method, int which, record *r)
{
    static const double jump[] = {1.7};
    dae_system sys = system_of(which);
    dae_options opt = with_method(method, 1e-5);
    opt.discontinuity = jump;
    opt.ndiscontinuity = 1;
    opt.log = note_linear_algebra;
    opt.log_level = DAE_LOG_INFO;
    dae_integrator *it = create(&sys, &opt);
    dae_output o = {.mode = DAE_OUTPUT_EQUIDISTANT,
                    .count = GRID,
                    .component = (int[]){0},
                    .ncomponent = 1,
                    .write = keep,
                    .user = r};
    dae_event event[] = {{.name = "clock"}, {.name = "level"}};
    dae_events events = {.count = 2, .event = event, .phi = level, .action = kick, .user = &kicked};
    kicked = which;
    assert_int_equal(dae_integrator_set_output(it, &o, NULL), DAE_OK);
    assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
    double y0[N];
    for (int i = 0; i < N; i++) y0[i] = 0.1 + 0.05 * (i % 3);
    if (which == WITH_CONSTRAINT) y0[5] = y0[0] * y0[1];
    if (which == MECHANICAL) memcpy(y0, (double[]){1, 0, 0, -2}, 4 * sizeof *y0);
    used[0] = 0;
    start(it, 0, 4, y0);
    return it;
}

static void *saved(const dae_integrator *it, size_t *size)
{
    *size = dae_integrator_save(it, NULL, 0);
    assert_true(*size > 0);
    void *buffer = malloc(*size);
    assert_int_equal(dae_integrator_save(it, buffer, *size - 1), *size); /* too small: nothing is written */
    assert_int_equal(dae_integrator_save(it, buffer, *size), *size);
    return buffer;
}

static void same_end(const char *name, int which, const dae_integrator *a, const dae_integrator *b,
                     const record *ra, const record *rb)
{
    dae_system sys = system_of(which);
    int na, nb;
    if (memcmp(dae_integrator_state(a), dae_integrator_state(b),
               (size_t)dae_system_size(&sys) * sizeof(double)))
        fail_msg("%s: the states differ", name);
    assert_true(dae_integrator_time(a) == dae_integrator_time(b));
    dae_stats x = *dae_integrator_stats(a), y = *dae_integrator_stats(b);
    x.cpu_seconds = y.cpu_seconds = 0;
    if (memcmp(&x, &y, sizeof x)) {
        fail_msg("%s: steps %ld %ld, f %ld %ld, lu %ld %ld, events %ld %ld", name, x.steps, y.steps, x.f, y.f,
                 x.lu, y.lu, x.events, y.events);
    }
    const dae_event_record *ea = dae_integrator_events(a, &na), *eb = dae_integrator_events(b, &nb);
    assert_int_equal(na, nb);
    assert_true(na >= 3);
    for (int i = 0; i < na; i++)
        assert_true(ea[i].t == eb[i].t && ea[i].index == eb[i].index && ea[i].rising == eb[i].rising);
    assert_int_equal(ra->count, GRID);
    assert_memory_equal(ra, rb, sizeof *ra);
}

static void resumed_runs_end_in_the_same_bits(void **state)
{
    (void)state;
    static const double stops[] = {0, 0.03, 1.03, 1.7, 2.9};
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        for (int which = 0; which < CASES; which++) {
            if (!suits(m, which)) continue;
            for (size_t k = 0; k < sizeof stops / sizeof *stops; k++) {
                record whole = {0}, parts = {0};
                dae_integrator *one = begin(m->name, which, &whole);
                advance(one, stops[k], DAE_OK); /* the same targets: events are searched piece by piece */
                size_t size;
                void *buffer = saved(one, &size);
                parts = whole;
                advance(one, 4, DAE_OK);
                if (which == SPARSE && m->implicit && used[0] && !strstr(used, "KLU"))
                    fail_msg("%s: %s", m->name, used);
                record first = {0};
                dae_integrator *two = begin(m->name, which, &first);
                advance(two, 0.5 * stops[k] + 0.5, DAE_OK); /* what it did before does not matter */
                dae_error err = {0};
                if (dae_integrator_load(two, buffer, size, &err)) fail_msg("%s: %s", m->name, err.text);
                assert_true(dae_integrator_time(two) == stops[k]);
                first = parts;
                advance(two, 4, DAE_OK);
                same_end(m->name, which, one, two, &whole, &first);
                dae_integrator_destroy(one);
                dae_integrator_destroy(two);
                free(buffer);
            }
        }
    }
}

static void saving_does_not_disturb_the_run(void **state)
{
    (void)state;
    record a = {0}, b = {0};
    dae_integrator *one = begin("radau5", SPARSE, &a), *two = begin("radau5", SPARSE, &b);
    for (int k = 1; k <= 20; k++) {
        advance(one, 0.2 * k, DAE_OK);
        advance(two, 0.2 * k, DAE_OK);
        size_t size;
        free(saved(two, &size));
    }
    same_end("radau5", SPARSE, one, two, &a, &b);
    dae_integrator_destroy(one);
    dae_integrator_destroy(two);
}

static void methods_without_checkpoint_say_so(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (m->checkpoint || wants_second_order(m) || !(m->kinds & 1u << DAE_KIND_ODE)) continue;
        record r = {0};
        dae_integrator *it = begin(m->name, DENSE, &r);
        assert_int_equal(dae_integrator_save(it, NULL, 0), 0);
        dae_integrator_destroy(it);
    }
}

/* ---- An automatic run that changed its method ------------------------------------------------------------ */

static int turns_stiff(double t, const double *y, double *f, void *user)
{
    (void)user;
    double k = t < 1 ? 1 : t < 2 ? 1 + 1e5 * (t - 1) : 1e5 + 1;
    f[0] = -k * (y[0] - cos(t));
    return 0;
}

static void automatic_change_of_method_survives(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = turns_stiff}};
    dae_options opt = with_method("auto", 1e-5);
    dae_integrator *one = create(&sys, &opt), *two = create(&sys, &opt);
    start(one, 0, 20, (double[]){0});
    start(two, 0, 20, (double[]){0});
    assert_string_equal(dae_integrator_method(two)->name, "dop853");
    advance(one, 10, DAE_OK);
    assert_string_equal(dae_integrator_method(one)->name, "radau");
    size_t size;
    void *buffer = saved(one, &size);
    dae_error err = {0};
    if (dae_integrator_load(two, buffer, size, &err)) fail_msg("%s", err.text);
    assert_string_equal(dae_integrator_method(two)->name, "radau");
    assert_string_equal(dae_integrator_reason(two), dae_integrator_reason(one));
    advance(one, 20, DAE_OK);
    advance(two, 20, DAE_OK);
    assert_true(dae_integrator_state(one)[0] == dae_integrator_state(two)[0]);
    assert_near(dae_integrator_state(one)[0], cos(20), 1e-4);
    free(buffer);
    dae_integrator_destroy(one);
    dae_integrator_destroy(two);
}

/* DETEST stiff D2: explicit until the rate of its fast motion is measured after 32 steps. */
static int becomes_stiff(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -0.04 * y[0] + 0.01 * y[1] * y[2];
    f[1] = 400 * y[0] - 100 * y[1] * y[2] - 3000 * y[1] * y[1];
    f[2] = 30 * y[1] * y[1];
    return 0;
}

static void run_saved_before_its_change_of_method_changes_at_the_same_time(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 3, .f = becomes_stiff}};
    for (double rtol = 1e-4; rtol > 0.9e-9;
         rtol /= 1e5) { /* by the stages of its steps, by the power method */
        dae_options opt = with_method("auto", rtol);
        dae_integrator *one = create(&sys, &opt), *two = create(&sys, &opt);
        start(one, 0, 40, (double[]){1, 0, 0});
        start(two, 0, 40, (double[]){1, 0, 0});
        while (dae_integrator_time(one) < 0.002) assert_int_equal(dae_integrator_step(one, NULL), DAE_OK);
        assert_false(dae_integrator_method(one)->implicit);
        size_t size;
        void *buffer = saved(one, &size);
        dae_error err = {0};
        if (dae_integrator_load(two, buffer, size, &err)) fail_msg("%s", err.text);
        advance(one, 40, DAE_OK);
        advance(two, 40, DAE_OK);
        assert_true(dae_integrator_method(one)->implicit);
        assert_string_equal(dae_integrator_method(two)->name, dae_integrator_method(one)->name);
        assert_string_equal(dae_integrator_reason(two), dae_integrator_reason(one));
        assert_int_equal(dae_integrator_stats(two)->steps, dae_integrator_stats(one)->steps);
        assert_memory_equal(dae_integrator_state(two), dae_integrator_state(one), 3 * sizeof(double));
        free(buffer);
        dae_integrator_destroy(one);
        dae_integrator_destroy(two);
    }
}

/* ---- Buffers that do not fit ------------------------------------------------------------------------------- */

static void refused(dae_integrator *it, const void *buffer, size_t size, const char *text)
{
    dae_error err = {0};
    assert_int_equal(dae_integrator_load(it, buffer, size, &err), DAE_ERR_INPUT);
    if (!strstr(err.text, text)) fail_msg("\"%s\" does not say \"%s\"", err.text, text);
}

static void wrong_method_size_and_options_are_named(void **state)
{
    (void)state;
    record r = {0}, other = {0};
    size_t size;
    dae_integrator *it = begin("radau5", DENSE, &r), *dopri5 = begin("dopri5", DENSE, &other);
    advance(it, 1, DAE_OK);
    void *buffer = saved(it, &size);
    refused(dopri5, buffer, size, "the checkpoint is of method radau5, the integrator uses dopri5");
    dae_integrator *large = begin("radau5", BANDED, &other);
    refused(large, buffer, size, "the checkpoint was made with \"size 5\", here it is \"size 120\"");
    dae_system sys = system_of(DENSE);
    dae_options opt = with_method("radau5", 1e-5);
    dae_integrator *fresh = create(&sys, &opt);
    refused(fresh, buffer, size, "start the integrator with its initial values before loading");
    start(fresh, 0, 4, (double[]){0, 0, 0, 0, 0});
    refused(fresh, buffer, size, "\"discontinuities 1 "); /* nor events, nor these initial values */
    dae_integrator *order[] = {it, dopri5, large, fresh};
    for (int k = 0; k < 4; k++) dae_integrator_destroy(order[k]);
    free(buffer);
}

static void damage_anywhere_is_found_and_leaves_the_run_as_it_was(void **state)
{
    (void)state;
    record r = {0}, other = {0};
    size_t size;
    dae_integrator *it = begin("radau5", SPARSE, &r), *same = begin("radau5", SPARSE, &other);
    advance(it, 1, DAE_OK);
    advance(same, 1, DAE_OK);
    unsigned char *buffer = saved(it, &size), *part;
    for (size_t at = 0; at < size; at += at < 512 ? 1 : 509) {
        for (int bit = 0; bit < 8; bit++) {
            buffer[at] ^= (unsigned char)(1 << bit);
            dae_status s = dae_integrator_load(it, buffer, size, NULL);
            if (s != DAE_ERR_INPUT) fail_msg("bit %d of byte %zu: %s", bit, at, dae_status_name(s));
            buffer[at] ^= (unsigned char)(1 << bit);
        }
    }
    for (size_t length = 0; length < size; length += length < 512 ? 1 : 4099) {
        part = malloc(length + 1);
        memcpy(part, buffer, length);
        assert_int_equal(dae_integrator_load(it, part, length, NULL), DAE_ERR_INPUT);
        free(part);
    }
    refused(it, NULL, 0, "this is not a checkpoint of this version");
    refused(it, "hello", 5, "this is not a checkpoint of this version");
    buffer[size - 1] ^= 1;
    refused(it, buffer, size, "the checkpoint is damaged or incomplete");
    free(buffer);
    advance(it, 4, DAE_OK);
    advance(same, 4, DAE_OK);
    same_end("radau5", SPARSE, it, same, &r, &other);
    dae_integrator_destroy(it);
    dae_integrator_destroy(same);
}

/* The head as driver.c writes it: magic 16, checksum 8, method 32, n 4, nrecord 4, arena 8, outside 8, memory 8. */
static void seal(unsigned char *buffer, size_t size)
{
    uint64_t sum = 14695981039346656037u, word;
    for (size_t at = 24; at < size; at += 8) {
        word = 0;
        memcpy(&word, buffer + at, size - at < 8 ? size - at : 8);
        sum = (sum ^ word) * 1099511628211u;
        sum ^= sum >> 32;
    }
    memcpy(buffer + 16, &sum, sizeof sum);
}

static void lengths_that_lie_are_refused_also_with_a_right_checksum(void **state)
{
    (void)state;
    record r = {0};
    size_t size;
    dae_integrator *it = begin("radau5", SPARSE, &r);
    advance(it, 2, DAE_OK);
    unsigned char *buffer = saved(it, &size);
    seal(buffer, size);
    assert_int_equal(dae_integrator_load(it, buffer, size, NULL), DAE_OK); /* the test knows the format */
    size_t print, arena, outside;
    int nrecord;
    memcpy(&nrecord, buffer + 60, sizeof nrecord);
    memcpy(&print, buffer + 64, sizeof print);
    memcpy(&arena, buffer + 72, sizeof arena);
    memcpy(&outside, buffer + 80, sizeof outside);
    size_t head = 96 + print;
    assert_int_equal(size, head + (size_t)nrecord * sizeof(dae_event_record) + arena + outside);
    unsigned char *bad = malloc(size);
    for (int k = -40; k <= 40; k++) {
        for (int field = 0; field < 6; field++) {
            memcpy(bad, buffer, size);
            size_t wide = 0;
            int narrow = 0;
            if (field == 0) { /* many records, and an outside part that makes the sum wrap around */
                narrow = k < 0 ? -k * 50000000 : k * 1000;
                wide = size - head - arena - (size_t)narrow * sizeof(dae_event_record);
                memcpy(bad + 60, &narrow, sizeof narrow);
                memcpy(bad + 80, &wide, sizeof wide);
                if ((size_t)narrow * sizeof(dae_event_record) <= size - head - arena) continue;
            } else if (field == 1) {
                narrow = k < 0 ? k : nrecord + k;
                if (k == 0) continue;
                memcpy(bad + 60, &narrow, sizeof narrow);
            } else if (field == 2) {
                wide = k < 0 ? (size_t)1 << (20 - k) : outside + (size_t)k;
                if (wide == outside) continue;
                memcpy(bad + 80, &wide, sizeof wide);
            } else if (field ==
                       3) { /* a part of the system, which has none; then one that makes up for a lie */
                wide = (size_t)k;
                if (k == 0) continue;
                memcpy(bad + 88, &wide, sizeof wide);
                wide = outside - (size_t)k;
                if (k % 2) memcpy(bad + 80, &wide, sizeof wide);
            } else if (field == 4) { /* a fingerprint that reaches into what follows, or nowhere */
                wide = k < 0 ? (size_t)1 << (20 - k) : print + (size_t)k;
                if (wide == print) continue;
                memcpy(bad + 64, &wide, sizeof wide);
            } else {
                wide = arena + (size_t)(64 * k);
                if (wide == arena) continue;
                memcpy(bad + 72, &wide, sizeof wide);
            }
            seal(bad, size);
            dae_status s = dae_integrator_load(it, bad, size, NULL);
            if (s != DAE_ERR_INPUT) fail_msg("field %d, %d: %s", field, k, dae_status_name(s));
        }
    }
    free(bad);
    free(buffer);
    dae_integrator_destroy(it);
}

/* ---- A checkpoint is of one run ----------------------------------------------------------------------- */

typedef struct variant {
    double rate, start, rtol, h_max, t_end;
    const char *words;
} variant;

static int decay(double t, const double *y, double *f, void *user)
{
    f[0] = -*(const double *)user * y[0] + sin(t);
    f[1] = y[0] - y[1];
    return 0;
}

static dae_integrator *begin_variant(const char *method, variant *v)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = decay, .user = &v->rate}};
    dae_options opt = with_method(method, v->rtol);
    opt.h_max = v->h_max;
    dae_integrator *it = create(&sys, &opt);
    assert_int_equal(dae_integrator_set_fingerprint(it, v->words, NULL), DAE_OK);
    start(it, 0, v->t_end, (double[]){v->start, 1});
    return it;
}

static void other_runs_are_refused_and_told(void **state)
{
    static const struct {
        variant v;
        const char *told;
    } other[] = {{{3, 1, 1e-5, 0, 2, "mass 1"}, "other parameters: the derivatives"},
                 {{2, 0.5, 1e-5, 0, 2, "mass 1"}, "other initial values"},
                 {{2, 1, 1e-6, 0, 2, "mass 1"}, "made with rtol"},
                 {{2, 1, 1e-5, 0.1, 2, "mass 1"}, "\"h_max 0\""},
                 {{2, 1, 1e-5, 0, 3, "mass 1"}, "\"t_end 2\", here it is \"t_end 3\""},
                 {{2, 1, 1e-5, 0, 2, "mass 2"}, "\"mass 1\", here it is \"mass 2\""}};
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!m->checkpoint || !(m->kinds & 1u << DAE_KIND_ODE) || wants_second_order(m)) continue;
        variant own = {2, 1, 1e-5, 0, 2, "mass 1"};
        size_t size;
        dae_integrator *a = begin_variant(m->name, &own);
        assert_true(dae_integrator_advance(a, 1, NULL) >= 0);
        void *buffer = saved(a, &size);
        for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
            variant v = other[k].v;
            dae_error err = {0};
            dae_integrator *b = begin_variant(m->name, &v);
            assert_int_equal(dae_integrator_load(b, buffer, size, &err), DAE_ERR_INPUT);
            if (!strstr(err.text, other[k].told))
                fail_msg("%s: \"%s\" instead of \"%s\"", m->name, err.text, other[k].told);
            /* nothing was touched: it still runs its own way */
            assert_true(dae_integrator_time(b) == 0);
            assert_true(dae_integrator_advance(b, 0.5, &err) >= 0);
            dae_integrator_destroy(b);
        }
        free(buffer);
        dae_integrator_destroy(a);
    }
}

/* The first half at 1e-4, the second at 1e-9: it ends as exactly as a fine run from the middle does. */
static void tolerances_change_on_request(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!m->checkpoint || !(m->kinds & 1u << DAE_KIND_ODE) || wants_second_order(m)) continue;
        variant coarse = {2, 1, 1e-4, 0, 2, NULL}, fine = {2, 1, 1e-7, 0, 2, NULL};
        dae_error err = {0};
        size_t size;
        dae_integrator *a = begin_variant(m->name, &coarse), *b = begin_variant(m->name, &fine),
                       *c = begin_variant(m->name, &coarse);
        assert_true(dae_integrator_advance(a, 1, NULL) >= 0);
        void *buffer = saved(a, &size);
        if (dae_integrator_load_changed(b, buffer, size, "rtol,atol", &err) < 0)
            fail_msg("%s: %s", m->name, err.text);
        assert_true(dae_integrator_time(b) == dae_integrator_time(a));
        assert_true(dae_integrator_state(b)[0] == dae_integrator_state(a)[0]);
        double y0 = dae_integrator_state(a)[0], t = dae_integrator_time(a);
        long before = dae_integrator_stats(b)->accepted;
        if (dae_integrator_advance(b, 2, &err) < 0) fail_msg("%s: %s", m->name, err.text);
        /* y' = -2 y + sin t: y = (y0 - s(t0)) exp(-2 (t - t0)) + s(t), s = (2 sin t - cos t)/5 */
        double truth = (y0 - (2 * sin(t) - cos(t)) / 5) * exp(-2 * (2 - t)) + (2 * sin(2) - cos(2)) / 5;
        assert_near(dae_integrator_state(b)[0], truth, 3e-6);
        assert_true(dae_integrator_stats(b)->accepted > before);
        /* not asked for: the same bytes are refused; asked for and nothing differs: the same bits */
        assert_int_equal(dae_integrator_load(b, buffer, size, &err), DAE_ERR_INPUT);
        assert_int_equal(dae_integrator_load_changed(c, buffer, size, "rtol,atol", &err), DAE_OK);
        assert_true(dae_integrator_advance(a, 2, NULL) >= 0 && dae_integrator_advance(c, 2, NULL) >= 0);
        assert_memory_equal(dae_integrator_state(a), dae_integrator_state(c), 2 * sizeof(double));
        free(buffer);
        dae_integrator_destroy(a);
        dae_integrator_destroy(b);
        dae_integrator_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_runs_end_in_the_same_bits),
        cmocka_unit_test(saving_does_not_disturb_the_run),
        cmocka_unit_test(methods_without_checkpoint_say_so),
        cmocka_unit_test(automatic_change_of_method_survives),
        cmocka_unit_test(run_saved_before_its_change_of_method_changes_at_the_same_time),
        cmocka_unit_test(wrong_method_size_and_options_are_named),
        cmocka_unit_test(damage_anywhere_is_found_and_leaves_the_run_as_it_was),
        cmocka_unit_test(lengths_that_lie_are_refused_also_with_a_right_checksum),
        cmocka_unit_test(other_runs_are_refused_and_told),
        cmocka_unit_test(tolerances_change_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
