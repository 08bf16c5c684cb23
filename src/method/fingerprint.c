/* What a run is made of, as text: a checkpoint holds it, and only an equal run may go on from there.
 *
 *     size 3
 *     rtol 9.9999999999999995e-08
 *     derivative 3f1b...          (of y' at the initial values: tells other equations and other parameters)
 *
 * Limits, logging, profiling, threads and the first step may be others: they do not change what is computed after the start. */
#include "core/error.h"
#include "core/matrix.h"
#include "core/number.h"
#include "core/sha256.h"
#include "method/driver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { print_size = DAE_PRINT_SIZE };

static void print_of(const void *bytes, size_t length, char out[print_size])
{
    dae_sha256 h;
    unsigned char sum[DAE_SHA256_BYTES];
    dae_sha256_begin(&h);
    dae_sha256_add(&h, bytes, length);
    dae_sha256_end(&h, sum);
    for (int i = 0; i < 8; i++) snprintf(out + 2 * i, 3, "%02x", sum[i]);
}

/* Of the initial values, and of y' and the multipliers there. */
static void put_prints(const double *y0, size_t n, const double *yp, const double *lambda, size_t m,
                       char out[2][print_size])
{
    char part[2][print_size];
    print_of(y0, n * sizeof *y0, out[0]);
    print_of(yp, n * sizeof *yp, part[0]);
    print_of(lambda, m * sizeof *lambda, part[1]);
    print_of(part, sizeof part, out[1]);
}

void dae_fingerprint_start(dae_integrator *it, const double *y0)
{
    size_t n = (size_t)it->ivp.n, m = it->lambda ? (size_t)it->sys.mech.nlambda : 0;
    if (it->ivp.matrix_free) { /* large: its memory is left untouched */
        put_prints(y0, n, it->yp, it->lambda, m, it->begun_print);
        return;
    }
    memcpy(it->begun, y0, n * sizeof *y0);
    memcpy(it->begun + n, it->yp, n * sizeof *it->yp);
    if (m) memcpy(it->begun + 2 * n, it->lambda, m * sizeof *it->lambda);
}

/* ---- Writing ----------------------------------------------------------------------------------------- */

typedef struct writer {
    char *out;
    size_t size, used;
} writer;

static void line(writer *w, const char *format, ...) DAE_PRINTF(2, 3);
static void line(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = w->used < w->size ? w->size - w->used : 0;
    int n = dae_vsnprintf(left ? w->out + w->used : NULL, left, format, args);
    va_end(args);
    if (n > 0) w->used += (size_t)n;
}

/* One number where all are equal. */
static void put_tolerances(writer *w, const char *name, const double *value, int n)
{
    int same = 1;
    char print[print_size];
    for (int i = 1; i < n; i++) same &= value[i] == value[0];
    print_of(value, (size_t)n * sizeof *value, print);
    if (same && n > 0) line(w, "%s %.17g\n", name, value[0]);
    else line(w, "%s vector %s\n", name, print);
}

static void put_mass(writer *w, const dae_integrator *it)
{
    const dae_matrix *m = it->sys.kind == DAE_KIND_DAE    ? &it->sys.dae.mass
                          : it->sys.kind == DAE_KIND_MECH ? &it->sys.mech.mass
                                                          : NULL;
    char print[print_size] = "none";
    if (m && m->n > 0 && m->a)
        print_of(m->a, (size_t)dae_pattern_count(&m->pattern, m->n) * sizeof *m->a, print);
    line(w, "mass_matrix %s\n", print);
}

static void put_settings(writer *w, const dae_integrator *it)
{
    for (const dae_option *o = it->method->info.options; o && o->name; o++) {
        const char *field = (const char *)it->option + o->offset, *text;
        double real;
        long whole;
        int small;
        line(w, "option %s=", o->name);
        switch (o->type) {
        case DAE_OPTION_REAL: memcpy(&real, field, sizeof real), line(w, "%.17g\n", real); break;
        case DAE_OPTION_LONG: memcpy(&whole, field, sizeof whole), line(w, "%ld\n", whole); break;
        case DAE_OPTION_INT: memcpy(&small, field, sizeof small), line(w, "%d\n", small); break;
        case DAE_OPTION_NAME: memcpy(&text, field, sizeof text), line(w, "%s\n", text ? text : ""); break;
        }
    }
}

static void put_events(writer *w, const dae_integrator *it)
{
    line(w, "events %d\n", it->events.count);
    for (int i = 0; i < it->events.count; i++) {
        const dae_event *e = &it->event[i];
        line(w, "event %s direction=%d terminal=%d\n", e->name ? e->name : "", e->direction, e->terminal);
    }
}

/* Hashing is left to those who save or load: most runs are never asked. */
static void put_start(writer *w, const dae_integrator *it)
{
    size_t n = (size_t)it->ivp.n, m = it->lambda ? (size_t)it->sys.mech.nlambda : 0;
    const double *begun = it->begun;
    char own[2][print_size];
    if (!it->ivp.matrix_free) put_prints(begun, n, begun + n, begun + 2 * n, m, own);
    line(w, "start %s\nderivative %s\n", it->ivp.matrix_free ? it->begun_print[0] : own[0],
         it->ivp.matrix_free ? it->begun_print[1] : own[1]);
}

size_t dae_fingerprint_write(const dae_integrator *it, char *out, size_t size)
{
    const dae_options *o = &it->opt;
    writer w = {out, size, 0};
    char print[print_size];
    if (it->fingerprint) line(&w, "%s", it->fingerprint);
    if (it->describe)
        w.used += it->describe(it->described, w.used < size ? out + w.used : NULL,
                               w.used < size ? size - w.used : 0);
    line(&w, "kind %s\nsize %d\n", dae_kind_name(it->sys.kind), it->ivp.n);
    line(&w, "method %s\n", it->method->info.name);
    put_settings(&w, it);
    put_tolerances(&w, "rtol", it->ivp.rtol, it->ivp.n);
    if (it->ivp.varies) line(&w, "atol error_weight\n");
    else put_tolerances(&w, "atol", it->ivp.atol, it->ivp.n);
    if (o->nnonnegative > 0) {
        print_of(o->nonnegative, (size_t)o->nnonnegative * sizeof *o->nonnegative, print);
        line(&w, "nonnegative %d %s\n", o->nnonnegative, print);
    }
    line(&w, "h_max %.17g\nh_min %.17g\nfixed_step %.17g\n", o->h_max, o->h_min, o->fixed_step);
    line(&w, "linear_algebra %s\njacobian %s\nstop_at_end %d\n",
         o->linear_algebra ? o->linear_algebra : "auto", o->jacobian ? o->jacobian : "auto", o->stop_at_end);
    if (it->ivp.matrix_free)
        line(&w, "preconditioner %s %d\nkrylov_vectors %d\n", o->preconditioner ? o->preconditioner : "auto",
             o->preconditioner_band, o->krylov_vectors);
    print_of(o->discontinuity, (size_t)o->ndiscontinuity * sizeof *o->discontinuity, print);
    line(&w, "discontinuities %d %s\n", o->ndiscontinuity, print);
    put_events(&w, it);
    put_mass(&w, it);
    line(&w, "t0 %.17g\nt_end %.17g\n", it->s->t0, it->s->t_end);
    put_start(&w, it);
    return w.used + 1;
}

/* ---- Comparing --------------------------------------------------------------------------------------- */

static size_t name_length(const char *text)
{
    return strcspn(text, " =\n");
}

static int in_list(const char *list, const char *name, size_t n)
{
    for (const char *c = list; c && *c;) {
        size_t k = strcspn(c, ",");
        if (k == n && !strncmp(c, name, n)) return 1;
        c += k + (c[k] == ',');
    }
    return 0;
}

static int is(const char *text, const char *name)
{
    return strlen(name) == name_length(text) && !strncmp(text, name, strlen(name));
}

static dae_status refuse(const char *saved, const char *mine, dae_error *err)
{
    int a = (int)strcspn(saved, "\n"), b = (int)strcspn(mine, "\n");
    if (is(saved, "start") && is(mine, "start"))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the checkpoint is of a run with other initial values");
    if (is(saved, "derivative") && is(mine, "derivative"))
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "the checkpoint is of another system or of other parameters: the derivatives at the initial "
            "values differ");
    if (is(saved, "mass_matrix") && is(mine, "mass_matrix"))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the checkpoint is of a system with another mass matrix");
    if ((is(saved, "rtol") && is(mine, "rtol")) || (is(saved, "atol") && is(mine, "atol")))
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "the checkpoint was made with %.*s, here it is %.*s; give the same, or ask for the change", a,
            saved, b, mine);
    return dae_fail(err, DAE_ERR_INPUT, NAN, "the checkpoint was made with \"%.*s\", here it is \"%.*s\"",
                    a < 120 ? a : 120, saved, b < 120 ? b : 120, mine);
}

dae_status dae_fingerprint_check(const dae_integrator *it, const char *saved, const char *changes,
                                 int *changed, dae_error *err)
{
    size_t size = dae_fingerprint_write(it, NULL, 0);
    char *own = malloc(size);
    dae_status s = DAE_OK;
    *changed = 0;
    if (!own) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory to compare a checkpoint");
    dae_fingerprint_write(it, own, size);
    for (const char *a = saved, *b = own; s >= 0 && (*a || *b);) {
        size_t m = strcspn(a, "\n"), n = strcspn(b, "\n"), k = name_length(a);
        if (m != n || strncmp(a, b, n) != 0) {
            *changed = 1;
            if (k != name_length(b) || strncmp(a, b, k) != 0 || !in_list(changes, a, k))
                s = refuse(a, b, err);
        }
        a += m + (a[m] == '\n');
        b += n + (b[n] == '\n');
    }
    free(own);
    return s;
}

void dae_fingerprint_by(dae_integrator *it, dae_describe_fn *describe, const void *user)
{
    it->describe = describe;
    it->described = user;
}

dae_status dae_integrator_set_fingerprint(dae_integrator *it, const char *text, dae_error *err)
{
    if (!it) return dae_need(it, "the integrator", err);
    size_t n = text ? strlen(text) : 0;
    if (it->started) return dae_fail(err, DAE_ERR_INPUT, NAN, "set the fingerprint before starting");
    it->fingerprint = NULL;
    if (n == 0) return DAE_OK;
    it->fingerprint = dae_arena_take(it->keep, n + 2, 1);
    if (!it->fingerprint) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a fingerprint");
    memcpy(it->fingerprint, text, n);
    if (text[n - 1] != '\n') it->fingerprint[n] = '\n';
    return DAE_OK;
}
