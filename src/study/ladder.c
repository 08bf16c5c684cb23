/* Tolerance ladders of the work-precision diagrams. */
#include "core/number.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [TESTSET], section 4 of every problem: rtol = 10^-(from + m*step), with atol and the first step. */
static const struct {
    const char *problem;
    dae_ladder ladder; /* from, to, step, atol factor, fixed atol, h0 factor, fixed h0 */
} table[] = {
    {"hires", {5, 12, 0.25, 1, 0, 1e-2, 0}},     {"pollu", {5, 13, 0.25, 1, 0, 1, 0}},
    {"ringmod", {4, 12, 0.25, 1, 0, 1e-2, 0}},   {"medakzo", {4, 9, 0.125, 1, 0, 1e-5, 0}},
    {"emep", {2, 6, 0.125, 0, 1, 0, 1e-7}},      {"plei", {4, 10, 0.25, 1, 0, 1e-2, 0}},
    {"beam", {4, 8, 0.25, 1, 0, 1, 0}},          {"vdpol-mu", {4, 12, 0.25, 1, 0, 1e-2, 0}},
    {"vdpol-eps", {4, 12, 0.25, 1, 0, 1e-2, 0}}, {"orego", {4, 12, 0.25, 1, 0, 1e-2, 0}},
    {"rober", {4, 12, 0.25, 1e-4, 0, 1e-2, 0}},  {"e5", {4, 12, 0.25, 0, 1.7e-24, 1e-2, 0}},
    {"chemakzo", {8, 13, 0.25, 1, 0, 1, 0}},     {"andrews", {4, 10, 0.125, 1, 0, 1, 0}},
    {"transamp", {4, 9, 0.125, 1, 0, 1e-2, 0}},  {"pump", {1, 8, 0.5, 1, 0, 1e-6, 0}},
    {"tba", {2, 6, 0.125, 1, 0, 10, 0}},         {"caraxis", {4, 10, 0.25, 1, 0, 1, 0}},
    {"fekete", {2, 6, 0.0625, 1, 0, 1, 0}},      {"crank", {4, 10, 0.25, 1, 0, 1e-2, 0}},
    {"water", {4, 10, 0.25, 1, 0, 1, 0}},        {"nand", {4, 12, 0.125, 1, 0, 1, 0}},
    {"wheel", {4, 10, 0.125, 1, 0, 1, 0}},
};

dae_ladder dae_ladder_default(const dae_problem *p)
{
    for (size_t i = 0; p->info && p->info->name && i < sizeof table / sizeof *table; i++) {
        if (!strcmp(table[i].problem, p->info->name)) return table[i].ladder;
    }
    double ratio = p->rtol > 0 && p->atol > 0 ? p->atol / p->rtol : 1;
    return (dae_ladder){3, 10, 0.5, ratio, 0, 0, p->h0};
}

dae_status dae_ladder_parse(const char *text, dae_ladder *ladder, dae_error *err)
{
    dae_ladder l = *ladder;
    double *part[] = {&l.from, &l.to, &l.step};
    const char *rest = text;
    for (int i = 0; i < 3; i++) {
        size_t n = strcspn(rest, ":");
        char word[32], *end;
        if (n >= sizeof word) break;
        memcpy(word, rest, n);
        word[n] = 0;
        if (n > 0) {
            *part[i] = dae_strtod(word, &end);
            if (*end || !isfinite(*part[i])) break;
        }
        rest += n;
        if (!*rest) break;
        rest++;
    }
    if (*rest || !(l.from >= 0) || !(l.to >= l.from) || l.to > 16 || !(l.step >= 0.001))
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "%s: expected FROM:TO:STEP with 0 <= FROM <= TO <= 16 and STEP >= 0.001 (rtol goes from "
            "10^-FROM to 10^-TO)",
            text);
    *ladder = l;
    return DAE_OK;
}

int dae_ladder_count(const dae_ladder *ladder)
{
    if (!(ladder->step > 0) || !(ladder->to >= ladder->from)) return 0;
    return 1 + (int)floor((ladder->to - ladder->from) / ladder->step * (1 + 1e-12) + 1e-9);
}

static int takes_h0(const dae_method_info *method)
{
    static const char *const given[] = {"bimd", "gamd", "mebdfdae", "mebdfi", "radau", "radau5"};
    if (method->kinds & (1u << DAE_KIND_MECH)) return 1;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (!strcmp(given[i], method->name)) return 1;
    }
    return 0;
}

double dae_ladder_rung(const dae_ladder *ladder, int i, const dae_method_info *method, dae_options *opt)
{
    double e = ladder->from + i * ladder->step;
    opt->rtol = pow(10, -e);
    opt->atol = ladder->atol_fixed > 0 ? ladder->atol_fixed : ladder->atol_factor * opt->rtol;
    opt->h0 = !method || !takes_h0(method) ? 0
              : ladder->h0_fixed > 0       ? ladder->h0_fixed
                                           : ladder->h0_factor * opt->rtol;
    return e;
}
