/* Tolerances in words: a number for all components, a list with one for each, or NAME=VALUE for one. They are kept as a tolerance
 * and factors of it, so that runs with other tolerances keep the ratios between the components. */
#include "problem/data.h"

#include "core/error.h"
#include "core/number.h"

#include <math.h>
#include <string.h>

static int is_single(const char *text)
{
    return !strpbrk(text, ",=");
}

/* A tolerance; *end is where it ends. 0 or DAE_ERR_INPUT. */
static dae_status read_number(const char *what, const char *text, const char *stop, double *value,
                              dae_error *err)
{
    char *end;
    size_t length = strcspn(text, stop);
    *value = dae_strtod(text, &end);
    int shown = (int)(length < 60 ? length : 60);
    if (end == text || end != text + length || !isfinite(*value))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: \"%.*s\" is not a number", what, shown, text);
    double most = what[0] == 'r' ? 1 : 1e300;
    if (*value < 0 || *value > most)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: %.*s is out of range, 0 .. %g", what, shown, text,
                        most);
    return DAE_OK;
}

/* Numbers for all components, separated by commas. */
static dae_status take_list(const char *what, const char *text, int n, double *value, dae_error *err)
{
    int count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    if (count != n)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %.80s: %d numbers, but the problem has %d components",
                        what, text, count, n);
    dae_status s = DAE_OK;
    for (int i = 0; i < n && s == DAE_OK; i++) {
        s = read_number(what, text, ",", &value[i], err);
        text += strcspn(text, ",") + 1;
    }
    return s;
}

/* NAME=VALUE */
static dae_status take_component(const dae_problem *p, const char *what, const char *text, double *value,
                                 dae_error *err)
{
    char name[128];
    size_t length = strcspn(text, "=");
    if (length >= sizeof name)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s %.80s: the name is too long", what, text);
    memcpy(name, text, length);
    name[length] = 0;
    int i = dae_component_find(p, name);
    if (i < 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "%s %.80s: there is no component \"%.60s\" (`daedalus info` lists them)", what, text,
                        name);
    return read_number(what, text + length + 1, "", &value[i], err);
}

/* One of the two tolerances: *all of them, and the value of each. *apart: they are not in the problem's ratio any more. */
static dae_status take(const dae_problem *p, const dae_setting *tolerance, int count, const char *what,
                       double *all, double *value, int *apart, dae_error *err)
{
    int n = dae_system_size(&p->system);
    const double *factor = what[0] == 'a' ? p->atol_factor : p->rtol_factor;
    for (int i = 0; i < n; i++) value[i] = *all * (factor ? factor[i] : 1);
    for (int k = 0; k < count; k++) {
        const char *text = tolerance[k].value;
        dae_status s = DAE_OK;
        if (strcmp(tolerance[k].name, what) != 0) continue;
        if (is_single(text)) {
            s = read_number(what, text, "", all, err);
            for (int i = 0; i < n; i++) value[i] = *all * (factor ? factor[i] : 1);
        } else if (strchr(text, '=')) s = take_component(p, what, text, value, err);
        else s = take_list(what, text, n, value, err);
        if (s < 0) return s;
        *apart = !is_single(text);
    }
    return DAE_OK;
}

/* The values as factors of `all`, or of the largest of them where that is 0. Equal values are one for all. */
static const double *factors(double *value, int n, double *all)
{
    int same = 1;
    for (int i = 1; i < n; i++) same &= value[i] == value[0];
    if (same && n > 0) {
        *all = value[0];
        return NULL;
    }
    if (!(*all > 0)) {
        for (int i = 0; i < n; i++) *all = fmax(*all, value[i]);
    }
    for (int i = 0; i<n && * all> 0; i++) value[i] /= *all;
    return *all > 0 ? value : NULL;
}

dae_status dae_problem_set_tolerances(dae_problem *p, const dae_setting *tolerance, int count, dae_error *err)
{
    int n = dae_system_size(&p->system), relative = 0, absolute = 0, given = 0, scales = 0;
    double *rtol = dae_problem_reals(p, n), *atol = dae_problem_reals(p, n), r = p->rtol, a = p->atol;
    if (!rtol || !atol) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int k = 0; k < count; k++) {
        if (!strcmp(tolerance[k].name, "rtol")) scales = is_single(tolerance[k].value);
        else if (!strcmp(tolerance[k].name, "atol")) given |= !strchr(tolerance[k].value, '=');
        else
            return dae_fail(err, DAE_ERR_INPUT, NAN, "\"%.60s\" is no tolerance; expected rtol or atol",
                            tolerance[k].name);
    }
    dae_status s = take(p, tolerance, count, "rtol", &r, rtol, &relative, err);
    if (s == DAE_OK && scales && !given && p->rtol > 0) a = p->atol * (r / p->rtol);
    if (s == DAE_OK) s = take(p, tolerance, count, "atol", &a, atol, &absolute, err);
    if (s < 0) return s;
    if (relative) p->rtol_factor = factors(rtol, n, &r);
    if (absolute) p->atol_factor = factors(atol, n, &a);
    p->rtol = r;
    p->atol = a;
    for (int k = 0; k < count; k++) {
        if (tolerance[k].name[0] == 'r') p->data->no_rtol = r == 0;
        else p->data->no_atol = a == 0;
    }
    return DAE_OK;
}

void dae_problem_tolerances(const dae_problem *p, dae_options *opt)
{
    if (p->rtol > 0 || (p->data && p->data->no_rtol)) opt->rtol = p->rtol;
    if (p->atol > 0 || (p->data && p->data->no_atol)) opt->atol = p->atol;
}

dae_status dae_problem_tolerate(dae_problem *p, const dae_setting *tolerance, int count, dae_error *err)
{
    dae_status s = dae_problem_set_tolerances(p, tolerance, count, err);
    if (s == DAE_OK && p->data && dae_problem_remember_tolerances(p, tolerance, count) < 0)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return s;
}
