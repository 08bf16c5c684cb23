/* The figures printed in the test set report, and which method runs on which problem. */
#include <daedalus/experiment.h>

#include <math.h>
#include <string.h>

#include "published_tables.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

int dae_published_count(void)
{
    return COUNT(rows);
}

const dae_published_row *dae_published_get(int i)
{
    return i >= 0 && i < COUNT(rows) ? &rows[i] : NULL;
}

int dae_published_failed(const char *problem, const char *solver, int m)
{
    if (!strcmp(solver, "ida")) solver = "dassl";
    if (!strcmp(solver, "cvode")) solver = "vode";
    for (int i = 0; i < COUNT(failed); i++) {
        if (m >= failed[i].first && m <= failed[i].last && !strcmp(failed[i].problem, problem) &&
            !strcmp(failed[i].solver, solver))
            return 1;
    }
    return 0;
}

const dae_tolerance_range *dae_tolerance_range_find(const char *problem)
{
    for (int i = 0; i < COUNT(ranges); i++) {
        if (!strcmp(ranges[i].problem, problem)) return &ranges[i];
    }
    return NULL;
}

/* Methods whose error control is made for index 1; the report ran DASSL on these two of higher index. */
static int index_one_only(const char *method, const char *problem)
{
    int bdf = !strcmp(method, "ida") || !strcmp(method, "dassl");
    return bdf && strcmp(problem, "pump") != 0 && strcmp(problem, "wheel") != 0;
}

const char *dae_matrix_exclusion(const dae_problem_info *problem, const dae_method_info *method)
{
    if (!dae_tolerance_range_find(problem->name)) return "the report has no tolerances for the problem";
    if (!(method->kinds & 1u << problem->kind)) return "the method does not take equations of this kind";
    if (method->max_index < problem->index) return "the index is too high for the method";
    if (method->no_velocities && !problem->no_velocities) return "the equations are not y'' = f(t,y)";
    if (problem->index > 1 && index_one_only(method->name, problem->name))
        return "BDF for index 1, and the report has no run of DASSL either";
    if (!method->implicit && problem->stiff) return "explicit method, stiff problem";
    return NULL;
}

double dae_matrix_least_rtol(const dae_problem_info *problem, const dae_method_info *method)
{
    int dear = !strcmp(problem->name, "ringmod") && !strcmp(method->name, "wnys2");
    return dear ? 1e-9 * (1 - 1e-9) : 0;
}
