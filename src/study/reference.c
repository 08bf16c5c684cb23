/* Reference solutions by two methods that must agree.
 *
 * Both methods run at rtol = 1e-7, 10^-8.5, ... 10^-14.5 (atol in the problem's ratio, and small). The error
 * of component i of a is taken as
 *     e_i = max( |a_i - b_i|, |a_i - a_i'| / 10, |b_i - b_i'| / 10 ),
 * a', b' from the tolerance before, which was 30 times larger: a chance agreement of a and b is no proof, and a method
 * that still moves has not arrived. Of all tolerances the one counts at which the worst component has most digits. */
#include "core/text.h"
#include "problem/problem.h"

#include "core/hash.h"
#include "core/number.h"
#include "table/json_value.h"

#include <daedalus/study.h>
#include <daedalus/version.h>

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_levels = 6 };
static const double first_rtol = 1e-7, tightening = 31.622776601683793; /* ours */
static const double small =
    1e-2; /* atol is so many times that of the problem, for its small components; ours */
static const double moved_part = 0.1; /* of the last change that is taken for the error that is left; ours */

/* Methods by trust in their tight tolerances; the first two different families that take the problem are used, and the next
 * ones where these fail. */
static const struct {
    const char *name;
    int family;
} candidates[] = {{"dop853", 0}, {"radau", 1},  {"gamd", 2},  {"bimd", 3}, {"mexx", 4},
                  {"mebdfi", 5}, {"pside", 1},  {"dassl", 6}, {"ida", 6},  {"mebdfdae", 5},
                  {"radau5", 1}, {"dopri5", 0}, {"cvode", 7}, {"vode", 7}};

typedef struct level {
    double rtol;
    double *y[2]; /* n each */
} level;

dae_reference_options dae_reference_options_default(void)
{
    return (dae_reference_options){.digits = 11, .max_seconds = 60};
}

/* ---- Methods --------------------------------------------------------------------------------------- */

/* Mechanical systems are taken by methods of their own, and by others through a formulation. */
static int takes(const dae_method_info *m, const dae_problem *p)
{
    dae_kind kind = p->system.kind;
    int stiff = p->info && p->info->stiff;
    if (!m || (!m->implicit && stiff)) return 0;
    if (kind == DAE_KIND_MECH)
        return (m->kinds & (1u << DAE_KIND_MECH | 1u << DAE_KIND_ODE)) != 0 && !m->no_velocities;
    return dae_method_takes(m, &p->system);
}

static int family_of(const char *name)
{
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (!strcmp(candidates[i].name, name)) return candidates[i].family;
    }
    return -1;
}

/* without: bits of families that have failed. */
static dae_status choose(const dae_problem *p, const dae_reference_options *opt, unsigned without,
                         const char *method[2], dae_error *err)
{
    int family = -1, found = 0;
    for (int k = 0; k < 2; k++) {
        if (!opt->method[k]) continue;
        if (!dae_method_find(opt->method[k]))
            return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no method \"%s\"", opt->method[k]);
        method[found++] = opt->method[k];
        if (family_of(opt->method[k]) >= 0) family = family_of(opt->method[k]);
    }
    int mechanical = p->system.kind == DAE_KIND_MECH && !(p->info && p->info->stiff);
    for (int pass = mechanical && without ? 0 : 1; pass < 2;
         pass++) { /* what replaces others: those for mechanisms first */
        for (size_t i = 0; found < 2 && i < sizeof candidates / sizeof *candidates; i++) {
            const dae_method_info *m = dae_method_find(candidates[i].name);
            if (candidates[i].family == family || without >> candidates[i].family & 1u) continue;
            if (!takes(m, p) || (pass == 0 && m->implicit)) continue;
            method[found++] = candidates[i].name;
            family = candidates[i].family;
        }
    }
    if (found < 2) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "a reference needs two methods of different families; %s takes it",
                        found ? method[0] : "none");
    }
    if (!strcmp(method[0], method[1]))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the two methods of a reference must differ (both are %s)",
                        method[0]);
    return DAE_OK;
}

static dae_status solve_from(const dae_problem *p, const char *method, double rtol, double h0,
                             const dae_reference_options *opt, double *y, dae_error *err)
{
    dae_run_options o = dae_run_options_default(p);
    double ratio = p->rtol > 0 && p->atol > 0 ? p->atol / p->rtol : 1;
    o.options.method = method;
    o.options.rtol = rtol;
    o.options.atol = rtol * ratio * small;
    o.options.h0 = h0;
    o.options.max_steps = 0;
    o.options.max_seconds = opt->max_seconds;
    if (!dae_problem_switches(p)) o.events = NULL;
    o.running = opt->running;
    o.running_user = opt->user;
    dae_run_result *r = dae_run(p, &o, err);
    if (!r) return DAE_ERR_MEMORY;
    if (r->status == DAE_CANCELLED) {
        dae_run_destroy(r);
        return dae_fail(err, DAE_ERR_CALLBACK, NAN, "interrupted");
    }
    dae_status s = r->status == DAE_OK ? DAE_OK : r->status < 0 ? r->status : DAE_ERR_INTERNAL;
    if (s < 0)
        dae_fail(err, s, r->error.t, "%s at rtol %.1e: %s", method, rtol,
                 r->status == DAE_EVENT ? "an event ends the run before the end of the interval"
                                        : r->error.text);
    else memcpy(y, r->last.y, (size_t)r->n * sizeof *y);
    dae_run_destroy(r);
    return s;
}

/* The method chooses its first steps; where they are too small (behind the jumps of tba), they are the problem's. */
static dae_status solve(const dae_problem *p, const char *method, double rtol,
                        const dae_reference_options *opt, double *y, dae_error *err)
{
    dae_status s = solve_from(p, method, rtol, 0, opt, y, err);
    if (s >= 0 || s == DAE_ERR_MAX_SECONDS || s == DAE_ERR_INPUT || s == DAE_ERR_CALLBACK ||
        s == DAE_ERR_MEMORY || !(p->h0 > 0))
        return s;
    dae_error again = {0};
    dae_status r = solve_from(p, method, rtol, p->h0, opt, y, &again);
    return r >= 0 ? r : s;
}

/* ---- Digits ---------------------------------------------------------------------------------------- */

/* tiny: what both value and error must be below to count as zero. */
static double digits_of(double error, double value, double tiny)
{
    double scale = fabs(value);
    if (!(error > DBL_EPSILON * scale) || (error < tiny && scale < tiny)) return 16;
    if (scale == 0) return 0;
    double d = -log10(error / scale);
    return d > 0 ? fmin(d, 16) : 0;
}

/* The absolute tolerance of a component at this rtol. */
static double atol_of(const dae_problem *p, int i, double rtol)
{
    double ratio = p->rtol > 0 && p->atol > 0 ? p->atol / p->rtol : 1;
    return rtol * ratio * small * (p->atol_factor ? p->atol_factor[i] : 1);
}

/* Digits of this level (from the second on, with the one before); *first: the method whose values are taken. */
static double judge(const dae_problem *p, int n, const level *now, const level *before, double *digits,
                    int *worst, int *first)
{
    double moved[2] = {0, 0}, least = INFINITY;
    for (int i = 0; i < n; i++) {
        double scale = fabs(now->y[0][i]) + DBL_MIN;
        for (int k = 0; k < 2; k++) moved[k] = fmax(moved[k], fabs(now->y[k][i] - before->y[k][i]) / scale);
    }
    *first = moved[1] < moved[0];
    *worst = 0;
    for (int i = 0; i < n; i++) {
        double e = fabs(now->y[0][i] - now->y[1][i]);
        for (int k = 0; k < 2; k++) e = fmax(e, moved_part * fabs(now->y[k][i] - before->y[k][i]));
        digits[i] = digits_of(e, now->y[*first][i], 10 * atol_of(p, i, now->rtol));
        if ((p->scored && !p->scored[i]) || !(digits[i] < least)) continue;
        least = digits[i];
        *worst = i;
    }
    return isfinite(least) ? least : 0;
}

/* ---- The computation ------------------------------------------------------------------------------- */

static dae_reference *allocate(int n)
{
    dae_reference *r = calloc(1, sizeof *r + 2 * (size_t)n * sizeof(double));
    if (!r) return NULL;
    r->n = n;
    r->y = (double *)(r + 1);
    r->digits = r->y + n;
    return r;
}

static void keep(dae_reference *r, const level *now, const double *digits, int first,
                 const char *const method[2])
{
    size_t bytes = (size_t)r->n * sizeof(double);
    memcpy((double *)r->y, now->y[first], bytes);
    memcpy((double *)r->digits, digits, bytes);
    r->rtol = now->rtol;
    snprintf(r->method[0], sizeof r->method[0], "%s", method[first]);
    snprintf(r->method[1], sizeof r->method[1], "%s", method[!first]);
}

/* With these two methods. NULL: *failed is the one that could not do two levels, or -1. */
static dae_reference *climb(const dae_problem *p, const dae_reference_options *opt,
                            const char *const method[2], int *failed, dae_error *err)
{
    int n = dae_system_size(&p->system), filled = 0;
    dae_reference *r = allocate(n);
    double *work = calloc(5 * (size_t)n + 1, sizeof *work), *digits = work ? work + 4 * n : NULL;
    *failed = -1;
    if (!r || !work) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        goto fail;
    }
    level at[2] = {{0, {work, work + n}}, {0, {work + 2 * n, work + 3 * n}}};
    dae_error trouble = {0};
    r->t = p->t_end;
    r->least = -1;
    double rtol = first_rtol;
    for (int k = 0; k < max_levels; k++, rtol /= tightening) {
        level *now = &at[k % 2];
        dae_status s = DAE_OK;
        now->rtol = rtol;
        for (int j = 0; j < 2 && s >= 0; j++) {
            s = solve(p, method[j], rtol, opt, now->y[j], &trouble);
            if (s < 0) *failed = j;
        }
        if (s == DAE_ERR_MEMORY) {
            dae_fail(err, s, NAN, "out of memory");
            goto fail;
        }
        if (s < 0) { /* what was reached before counts */
            snprintf(r->stopped, sizeof r->stopped, "%.250s", trouble.text);
            break;
        }
        r->levels = ++filled;
        if (k == 0) continue;
        int worst, first;
        double least = judge(p, n, now, &at[(k + 1) % 2], digits, &worst, &first);
        if (least > r->least) {
            keep(r, now, digits, first, method);
            r->least = least;
            r->worst = worst;
        }
        if (opt->level && opt->level(rtol, least, opt->user)) strcpy(r->stopped, "asked to");
        else if (r->least >= opt->digits) strcpy(r->stopped, "enough digits");
        else if (least < r->least - 1) strcpy(r->stopped, "rounding errors took over");
        else if (k == max_levels - 1) strcpy(r->stopped, "the tightest tolerance was reached");
        if (r->stopped[0]) break;
    }
    if (r->least < 0) {
        if (trouble.status < 0) dae_fail(err, trouble.status, trouble.t, "%s", trouble.text);
        else
            dae_fail(err, DAE_ERR_CONVERGENCE, NAN,
                     "the two methods were stopped before they could be compared");
        goto fail;
    }
    free(work);
    return r;
fail:
    free(work);
    dae_reference_destroy(r);
    return NULL;
}

dae_reference *dae_reference_compute(const dae_problem *p, const dae_reference_options *opt, dae_error *err)
{
    dae_reference_options standard = dae_reference_options_default();
    const char *method[2];
    unsigned without = 0;
    dae_error first = {0};
    if (!opt) opt = &standard;
    if (choose(p, opt, 0, method, err) < 0) return NULL;
    for (;;) { /* a method that fails where others do not is replaced, unless it was asked for */
        int failed;
        dae_error why = {0};
        dae_reference *r = climb(p, opt, method, &failed, &why);
        if (r) return r;
        if (!without) first = why;
        int named = failed >= 0 && ((opt->method[0] && !strcmp(opt->method[0], method[failed])) ||
                                    (opt->method[1] && !strcmp(opt->method[1], method[failed])));
        int family = failed >= 0 ? family_of(method[failed]) : -1;
        if (named || family < 0 || why.status == DAE_ERR_MEMORY || why.status == DAE_ERR_INPUT ||
            why.status == DAE_ERR_INTERNAL)
            break;
        without |= 1u << family;
        if (choose(p, opt, without, method, NULL) < 0) break;
    }
    dae_fail(err, first.status, first.t, "%s", first.text);
    return NULL;
}

void dae_reference_destroy(dae_reference *r)
{
    free(r);
}

void dae_reference_use(const dae_reference *r, dae_problem *p)
{
    p->reference = r->y;
    p->reference_digits = r->least;
    p->reference_source = "two methods that agree (daedalus reference)";
}

/* ---- Keeping it ------------------------------------------------------------------------------------ */

static unsigned long long hash_values(const double *x, int count)
{
    return dae_hash(DAE_HASH_BEGIN, (const char *)x, (size_t)count * sizeof *x);
}

void dae_reference_key(const dae_problem *p, char *key, size_t size)
{
    enum { tail = 300 };
    int n = dae_system_size(&p->system);
    size_t used = 0;
    int k = snprintf(key, size, "%s", p->info && p->info->name ? p->info->name : "system");
    used = k > 0 ? (size_t)k : 0;
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    int i = 0, count = 0;
    while (q && q[count].name) count++;
    for (; i < count && used + tail < size; i++) {
        k = dae_snprintf(key + used, size - used, " %s=%.17g", q[i].name, p->parameter[i]);
        used += k > 0 ? (size_t)k : 0;
    }
    if (i < count && used < size) { /* more than there is room for */
        k = dae_snprintf(key + used, size - used, " others=%016llx",
                         hash_values(p->parameter + i, count - i));
        used += k > 0 ? (size_t)k : 0;
    }
    if (dae_problem_restarted(p) && used < size) {
        k = dae_snprintf(key + used, size - used, " start=%016llx", hash_values(p->y0, n));
        used += k > 0 ? (size_t)k : 0;
    }
    if (used < size) {
        dae_snprintf(key + used, size - used, " n=%d t=%.17g..%.17g version=%s", n, p->t0, p->t_end,
                     dae_version());
    }
}

enum { key_size = 2048 };

static json_t *reals(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_real(x[i]));
    return list;
}

static int forward(const char *buffer, size_t size, void *text)
{
    dae_text *x = text;
    dae_text_print(x, "%.*s", (int)size, buffer);
    return x->failed ? -1 : 0;
}

dae_status dae_reference_write(const dae_reference *r, const dae_problem *p, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    char key[key_size];
    dae_reference_key(p, key, sizeof key);
    json_t *o = json_object();
    json_object_set_new(o, "key", json_string(key));
    json_object_set_new(o, "problem", json_string(p->info && p->info->name ? p->info->name : "system"));
    json_object_set_new(o, "methods", json_pack("[s,s]", r->method[0], r->method[1]));
    json_object_set_new(o, "rtol", json_real(r->rtol));
    json_object_set_new(o, "levels", json_integer(r->levels));
    json_object_set_new(o, "stopped", json_string(r->stopped));
    json_object_set_new(o, "t", json_real(r->t));
    json_object_set_new(o, "least", json_real(r->least));
    json_object_set_new(o, "worst", json_integer(r->worst));
    json_object_set_new(o, "y", reals(r->y, r->n));
    json_object_set_new(o, "digits", reals(r->digits, r->n));
    if (!o || json_dump_callback(o, forward, &x, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
        x.failed = x.failed ? x.failed : DAE_TEXT_STARVED;
    json_decref(o);
    dae_text_put(&x, "\n");
    return dae_text_end(&x);
}

static int take_reals(const json_t *o, const char *key, double *out, int n)
{
    const json_t *list = json_object_get(o, key);
    if (!json_is_array(list) || json_array_size(list) != (size_t)n) return -1;
    for (int i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        if (!json_is_number(v)) return -1;
        out[i] = json_number_value(v);
    }
    return 0;
}

dae_reference *dae_reference_read(const dae_problem *p, const char *text, size_t length, dae_error *err)
{
    char key[key_size];
    json_error_t where;
    json_t *o = dae_json_read(text, length, 0, &where);
    dae_reference *r = NULL;
    const char *kept = json_string_value(json_object_get(o, "key")), *a, *b, *stopped;
    dae_reference_key(p, key, sizeof key);
    if (!o && dae_json_starved(&where)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    } else if (!o) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "line %d: %s", where.line, where.text);
    } else if (!kept || strcmp(kept, key) != 0) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "the reference is one of \"%s\", not of \"%s\"", kept ? kept : "?",
                 key);
    } else if (!(r = allocate(dae_system_size(&p->system)))) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    } else if (take_reals(o, "y", (double *)r->y, r->n) < 0 ||
               take_reals(o, "digits", (double *)r->digits, r->n) < 0 ||
               json_unpack(o, "{s:[s,s], s:F, s:F, s:F, s:i, s:i, s:s}", "methods", &a, &b, "rtol", &r->rtol,
                           "t", &r->t, "least", &r->least, "levels", &r->levels, "worst", &r->worst,
                           "stopped", &stopped) != 0 ||
               r->worst < 0 || r->worst >= r->n) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "the reference is damaged: expected %d numbers y and digits, methods, rtol, t", r->n);
        free(r);
        r = NULL;
    } else {
        snprintf(r->method[0], sizeof r->method[0], "%s", a);
        snprintf(r->method[1], sizeof r->method[1], "%s", b);
        snprintf(r->stopped, sizeof r->stopped, "%s", stopped);
    }
    json_decref(o);
    return r;
}

/* ---- Stores ------------------------------------------------------------------------------------------ */

void dae_reference_name(const dae_problem *p, char *name, size_t size)
{
    char key[key_size], file[64]; /* a model has any name, and its key is that */
    dae_file_name(p->info && p->info->name ? p->info->name : "system", file, sizeof file);
    dae_reference_key(p, key, sizeof key);
    snprintf(name, size, "%s-%016llx.json", file, dae_hash(DAE_HASH_BEGIN, key, strlen(key)) ^ p->hash);
}

dae_reference *dae_reference_find(const dae_problem *p, const dae_store *store, dae_error *err)
{
    char name[128];
    dae_bytes text = {0};
    dae_reference *r = NULL;
    dae_reference_name(p, name, sizeof name);
    if (err) err->status = DAE_OK;
    int none = store && store->get ? store->get(name, dae_bytes_write, &text, store->user) : 1;
    if (none == DAE_ERR_MEMORY || text.starved) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    else if (none < 0) dae_fail(err, DAE_ERR_FILE, NAN, "the kept reference %s cannot be read", name);
    else if (!none) r = dae_reference_read(p, text.text ? text.text : "", text.length, err);
    free(text.text);
    return r;
}

dae_status dae_reference_keep(const dae_reference *r, const dae_problem *p, const dae_store *store,
                              dae_error *err)
{
    char name[128];
    dae_bytes text = {0};
    if (!store || !store->put) return DAE_OK;
    dae_reference_name(p, name, sizeof name);
    dae_status s = dae_reference_write(r, p, dae_bytes_write, &text);
    if (s < 0) s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    else if (store->put(name, text.text, text.length, store->user) < 0)
        s = dae_fail(err, DAE_ERR_FILE, NAN, "the reference %s could not be kept", name);
    free(text.text);
    return s;
}

dae_reference *dae_reference_obtain(const dae_problem *p, const dae_store *store,
                                    const dae_reference_options *opt, dae_error *err)
{
    dae_reference *r = dae_reference_find(p, store, err);
    if (r) return r;
    if (opt && opt->computing) opt->computing(opt->user);
    r = dae_reference_compute(p, opt, err);
    if (r) dae_reference_keep(r, p, store, NULL);
    return r;
}
