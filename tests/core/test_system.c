#include "test.h"

#include <daedalus/system.h>

static int f(double t, const double *y, double *out, void *user)
{
    (void)t, (void)y, (void)out, (void)user;
    return 0;
}

static int residual(double t, const double *y, const double *yp, double *out, void *user)
{
    (void)t, (void)y, (void)yp, (void)out, (void)user;
    return 0;
}

static int force(const dae_mech_point *x, double *out, void *user)
{
    (void)x, (void)out, (void)user;
    return 0;
}

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)x, (void)g, (void)G, (void)user;
    return 0;
}

static dae_system ode(int n)
{
    return (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = f}};
}

static void refused(const dae_system *sys, const char *text)
{
    dae_error err = {0};
    assert_int_equal(dae_system_check(sys, &err), DAE_ERR_INPUT);
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_string_equal(err.text, text);
    assert_int_equal(dae_system_check(sys, NULL), DAE_ERR_INPUT);
}

static void sizes_and_indices(void **state)
{
    (void)state;
    static const int index[] = {1, 3, 2};
    dae_system s = ode(3);
    assert_int_equal(dae_system_size(&s), 3);
    assert_int_equal(dae_system_index(&s), 0);
    s = (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = 3, .f = f}};
    assert_int_equal(dae_system_index(&s), 1);
    s.structure.index = index;
    assert_int_equal(dae_system_index(&s), 3);
    s = (dae_system){.kind = DAE_KIND_IDE, .ide = {.n = 4, .residual = residual}};
    assert_int_equal(dae_system_size(&s), 4);
    s = (dae_system){.kind = DAE_KIND_MECH, .mech = {.np = 7, .nv = 6, .nu = 2, .nlambda = 1}};
    assert_int_equal(dae_system_size(&s), 15);
    assert_int_equal(dae_system_index(&s), 3);
    s.mech.nlambda = 0;
    assert_int_equal(dae_system_index(&s), 0);
    assert_string_equal(dae_kind_name(DAE_KIND_ODE), "ODE");
    assert_string_equal(dae_kind_name(DAE_KIND_MECH), "mechanical");
    assert_string_equal(dae_kind_name((dae_kind)9), "unknown kind");
}

static void right_descriptions_pass(void **state)
{
    (void)state;
    static const int cp[] = {0, 1, 2}, ri[] = {0, 1}, index[] = {1, 2};
    static const double m[] = {1, 0};
    dae_system s = ode(2);
    assert_int_equal(dae_system_check(&s, NULL), DAE_OK);
    s.structure.jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = cp, .rowind = ri};
    assert_int_equal(dae_system_check(&s, NULL), DAE_OK);
    s.structure.second_order = 1;
    assert_int_equal(dae_system_check(&s, NULL), DAE_OK);
    s = (dae_system){.kind = DAE_KIND_DAE,
                     .dae = {.n = 2, .f = f, .mass = dae_diagonal(2, m)},
                     .structure = {.index = index}};
    assert_int_equal(dae_system_check(&s, NULL), DAE_OK);
    s = (dae_system){
        .kind = DAE_KIND_MECH,
        .mech = {.np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = force, .constraint = constraint}};
    assert_int_equal(dae_system_check(&s, NULL), DAE_OK);
}

static void wrong_descriptions_name_what_is_wrong(void **state)
{
    (void)state;
    refused(NULL, "no system, or of unknown kind");
    dae_system s = ode(2);
    s.kind = (dae_kind)7;
    refused(&s, "no system, or of unknown kind");
    s = ode(0);
    refused(&s, "ODE of size 0: at least one equation is needed");
    s = (dae_system){.kind = DAE_KIND_IDE, .ide = {.n = 2}};
    refused(&s, "IDE without a right-hand side");
    s = ode(2);
    s.structure.second_order = 2;
    refused(&s, "second_order = 2 must be between 0 and n/2 = 1");
    s = ode(2);
    s.structure.index = (int[]){1, 4};
    refused(&s, "index of variable 2 is 4; it must be 1, 2 or 3");
}

static void wrong_patterns_name_the_column(void **state)
{
    (void)state;
    dae_system s = ode(3);
    s.structure.jacobian = (dae_pattern){.storage = DAE_BANDED, .lower = 1, .upper = 3};
    refused(&s, "Jacobian pattern: bandwidths 1, 3 must be between 0 and 2");
    s.structure.jacobian = (dae_pattern){.storage = DAE_DIAGONAL};
    refused(&s, "Jacobian pattern: diagonal storage is for mass matrices; use banded with bandwidths 0, 0");
    s.structure.jacobian = (dae_pattern){.storage = (dae_storage)4};
    refused(&s, "Jacobian pattern: unknown storage 4");
    s.structure.jacobian = (dae_pattern){.storage = DAE_SPARSE};
    refused(&s, "Jacobian pattern: a sparse pattern needs colptr (from 0) and rowind");
    static const int ri[] = {0, 2, 1}, good[] = {0, 1, 2, 3}, falls[] = {0, 2, 1, 3}, two[] = {0, 1, 3, 3};
    s.structure.jacobian.rowind = ri;
    s.structure.jacobian.colptr = falls;
    refused(&s, "Jacobian pattern: colptr decreases at column 1");
    s.structure.jacobian.colptr = two;
    refused(&s, "Jacobian pattern: rows of column 1 must be ascending and between 0 and 2");
    s.structure.jacobian.colptr = good;
    assert_int_equal(dae_system_check(&s, NULL), DAE_OK);
    s.structure.jacobian.rowind = (int[]){0, 3, 1};
    refused(&s, "Jacobian pattern: rows of column 1 must be ascending and between 0 and 2");
}

static void wrong_mass_matrices_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {1, INFINITY};
    dae_system s = {.kind = DAE_KIND_DAE, .dae = {.n = 2, .f = f, .mass = dae_diagonal(3, bad)}};
    refused(&s, "mass matrix has size 3, the system has size 2");
    s.dae.mass = dae_diagonal(2, NULL);
    refused(&s, "mass matrix has no values");
    s.dae.mass = dae_diagonal(2, bad);
    refused(&s, "mass matrix has a value that is not finite");
}

static void wrong_mechanical_systems_are_refused(void **state)
{
    (void)state;
    dae_system s = {.kind = DAE_KIND_MECH, .mech = {.np = 2, .nv = 3, .force = force}};
    refused(&s, "mechanical system: sizes np = 2, nv = 3, nu = 0, ng = 0, nlambda = 0 must obey "
                "1 <= nv <= np, nu >= 0, 0 <= ng <= nlambda");
    s.mech = (dae_mech){.np = 2, .nv = 2};
    refused(&s, "mechanical system: no force function");
    s.mech = (dae_mech){.np = 2, .nv = 2, .nlambda = 1, .force = force};
    refused(&s, "mechanical system: 1 multipliers but no constraint function");
    s.mech = (dae_mech){.np = 3, .nv = 2, .force = force};
    refused(&s, "mechanical system: np = 3 differs from nv = 2, so kinematics is needed");
    s.mech = (dae_mech){.np = 2, .nv = 2, .nu = 1, .force = force};
    refused(&s, "mechanical system: nu = 1 but no dynamics");
    s.mech = (dae_mech){.np = 2, .nv = 2, .force = force, .mass_block = (int[]){1, 2}, .nblock = 2};
    refused(&s, "mechanical system: mass blocks add up to 3, nv = 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_indices),
        cmocka_unit_test(right_descriptions_pass),
        cmocka_unit_test(wrong_descriptions_name_what_is_wrong),
        cmocka_unit_test(wrong_patterns_name_the_column),
        cmocka_unit_test(wrong_mass_matrices_are_refused),
        cmocka_unit_test(wrong_mechanical_systems_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
