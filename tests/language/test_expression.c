/* Expressions: values, units, derivatives, messages with their place. */
#include "test.h"

#include "language/expression_code.h"

#include <daedalus/system.h>

enum { nx = 4 }; /* variables t, x, y, body.angle */

static int lookup(const char *name, dae_symbol *out, void *user)
{
    static const char *const names[nx] = {"t", "x", "y", "body.angle"};
    (void)user;
    *out = (dae_symbol){.variable = -1};
    for (int i = 0; i < nx; i++) {
        if (!strcmp(names[i], name)) {
            out->variable = i;
            out->dimension.soft = 1;
            if (i == 0) out->dimension.power[2] = 1; /* seconds */
            if (i == 1) out->dimension.power[0] = 1; /* meters */
            return 1;
        }
    }
    if (!strcmp(name, "M")) {
        out->value = 0.5;
        out->dimension.soft = 1;
        return 1;
    }
    return 0;
}

static dae_expression *make(const char *text)
{
    dae_expression_error err;
    dae_expression *e = dae_expression_create(text, lookup, NULL, &err);
    if (!e) fail_msg("\"%s\", column %d: %s", text, err.column, err.text);
    return e;
}

static double at(const dae_expression *e, const double *all, double *gradient)
{
    const int *variable;
    int n = dae_expression_variables(e, &variable);
    double x[nx], g[nx] = {0}, *work = calloc(dae_expression_work(e) + 1, sizeof *work);
    for (int i = 0; i < n; i++) x[i] = all[variable[i]];
    double value = dae_expression_value(e, x, work);
    if (gradient) {
        double again = dae_expression_gradient(e, x, g, work);
        assert_true(again == value || (isnan(again) && isnan(value)));
        for (int i = 0; i < nx; i++) gradient[i] = 0;
        for (int i = 0; i < n; i++) gradient[variable[i]] = g[i];
    }
    free(work);
    return value;
}

static double value_of(const char *text)
{
    double all[nx] = {2, 3, -0.5, 0.25};
    dae_expression *e = make(text);
    double v = at(e, all, NULL);
    dae_expression_destroy(e);
    return v;
}

static void values_are_right(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } list[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"-2^2", -4},
        {"2^-1", 0.5},
        {"2^3^2", 512},
        {"7-2-1", 4},
        {"8/4/2", 1},
        {"1e3 + .5", 1000.5},
        {"2*pi", 6.2831853071795865},
        {"log(e)", 1},
        {"x*y + t", 0.5},
        {"body.angle*4", 1},
        {"M*(1-exp(-t/0.05))", 0.5},
        {"if(x > 2 && !(y > 0), 1, 2)", 1},
        {"if(x < 2 || y > 0, 1, 2)", 2},
        {"if(y > 0, log(y), 7)", 7},
        {"min(x, 2) + max(x, 2)", 5},
        {"atan2(1, -1)", 2.3561944901923449},
        {"mod(-1, 3)", 2},
        {"hypot(3, 4)", 5},
        {"step(y) + step(x)", 1},
        {"smoothstep(x, 2, 4)", 0.5},
        {"table(x, 0,0, 2,4, 4,0)", 2},
        {"spline(0.5, 0,0, 1,1, 2,0)", 0.6875}, /* 1.5 s - s^3/2 */
        {"spline(x*0 + 1.5, 0,0, 1,1, 2,0)", 0.6875},
        {"spline(-1, 0,0, 1,1, 2,0)", -1.5},
        {"spline(4, 0,0, 1,1, 2,0)", -3},
        {"spline(2.5, 0,1, 1,3, 2,5, 4,9)", 6},
        {"table(x-4, 0,0, 2,4, 4,0)", -2},
        {"table(x+2, 0,0, 2,4, 4,0)", -2},
        {"sum(i in 1..4, i*x)", 30},
        {"sum(i in 1..3, sum(k in i..3, 1))", 6},
        {"x == 3", 1},
        {"x != 3", 0},
        {"abs(y) + sign(y)", -0.5},
        {"x^0.5", 1.7320508075688772},
        {"floor(2.7) + ceil(2.2)", 5},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double v = value_of(list[i].text);
        if (!(fabs(v - list[i].value) <= 1e-15 * (1 + fabs(v))))
            fail_msg("%s = %.17g, expected %.17g", list[i].text, v, list[i].value);
    }
}

static void units_become_si(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } list[] = {{"150[mm]", 0.15},
                {"30[deg]", 0.52359877559829887},
                {"9.81[m/s^2]", 9.81},
                {"3000[rpm]", 314.15926535897933},
                {"2[kohm] - 2[kOhm]", 0},
                {"3[mM]/(3[mmol/L])", 1},
                {"1[hp]/(550[ft lbf/s])", 1},
                {"1[psi]/(1[lbf/in^2])", 1},
                {"1[kWh]/(3.6[MJ])", 1},
                {"760[mmHg]/(1[atm])", 760 * 133.322387415 / 101325},
                {"60[mph]/(88[ft/s])", 1},
                {"2[kN/mm]", 2e6},
                {"1[N*m/rad]", 1},
                {"5[g cm^2]", 5e-7},
                {"72[km/h]", 20},
                {"1[1/s] + 1[Hz]", 2},
                {"1[in] + 1[ft]", 0.3302},
                {"2[ms]", 2e-3},
                {"3[MPa]", 3e6},
                {"1[t]", 1000},
                {"50[%]", 0.5},
                {"1[m s^-1] * 2[s]", 2.0},
                {"2[1/(K^3 s)] * 1[K^3 s]", 2},
                {"3[kg/(mm s^2)]", 3000},
                {"1[(km/h)^2]", 1 / 12.96},
                {"1[J/(kg K)] - 1[J/kg/K]", 0},
                {"1[J/kg K] - 1[K J/kg]", 0},
                {"4[((m))/((s))]", 4}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double v;
        dae_expression_error err;
        if (dae_expression_number(list[i].text, &v, &err)) fail_msg("%s: %s", list[i].text, err.text);
        assert_near(v, list[i].value, 1e-15 * fabs(v));
    }
    /* what is known of a unit: certain, or up to a number in the text */
    static const struct {
        const char *text;
        int soft;
        const char *unit;
    } known[] = {{"2[m]*3[s]", 0, "m s"},
                 {"2*3[m]", DAE_WEIGHED, "m"},
                 {"3[m]/4", DAE_WEIGHED, "m"},
                 {"2/3[m]", DAE_WEIGHED, "m^-1"},
                 {"3[m]*sin(2)", DAE_WEIGHED, "m"},
                 {"3[m]*(1 + 2^0.5)*pi", DAE_WEIGHED, "m"},
                 {"3[m]/4 + 1[m]", 0, "m"},
                 {"3[m] + 1", 0, "m"},
                 {"2*3[m]*4[s]", DAE_WEIGHED, "m s"},
                 {"2*30[deg]", DAE_SCALED, "1"},
                 {"30[deg]", 0, "1"},
                 {"2", 1, "1"},
                 {"sqrt(4[m^2]/2)", DAE_WEIGHED, "m"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char unit[40];
        dae_expression *k = make(known[i].text);
        dae_dimension of = dae_expression_dimension(k);
        dae_dimension_text(&of, unit, sizeof unit);
        if (of.soft != known[i].soft || strcmp(unit, known[i].unit) != 0)
            fail_msg("%s: %d [%s]", known[i].text, of.soft, unit);
        dae_expression_destroy(k);
    }
    dae_expression *e = make("2[kg]*3[m]/4[s]^2");
    char text[40];
    dae_dimension d = dae_expression_dimension(e);
    dae_dimension_text(&d, text, sizeof text);
    assert_string_equal(text, "m kg s^-2");
    dae_dimension_name(&d, text, sizeof text);
    assert_string_equal(text, "N");
    dae_expression_destroy(e);
}

static void mistakes_are_named_with_their_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *part;
    } list[] = {
        {"", 0, "found the end"},
        {"1 +", 3, "found the end"},
        {"(1 + 2", 6, "expected ')'"},
        {"1 2", 2, "expected an operator"},
        {"foo + 1", 0, "unknown name \"foo\""},
        {"1 + fooo(2)", 4, "unknown function"},
        {"sin(1, 2)", 5, "takes 1 argument"},
        {"atan2(1)", 7, "expected ','"},
        {"5[mmm]", 2, "\"mmm\" is no unit"},
        {"5[sec]", 2, "\"sec\" is no unit (write s)"},
        {"5[Nm]", 2, "\"Nm\" is no unit (did you mean N m?)"},
        {"5[1/hr]", 4, "\"hr\" in [1/hr] is no unit (write h)"},
        {"5[degC]", 2, "(a unit with an offset: give K)"},
        {"5[khz]", 2, "(did you mean kHz?)"},
        {"5[pa]", 2, "(did you mean Pa?)"},
        {"5[\xc2\xb5m]", 2, "(write Ohm, um, deg)"},
        {"5[1/(K^3 ss)]", 9, "\"ss\" in [1/(K^3 ss)] is no unit"},
        {"5[1/(K^3 s]", 10, "is not complete"},
        {"5[m)]", 3, "unexpected \")\" in the unit [m)]"},
        {"5[()]", 3, "unexpected \")\""},
        {"5[((((((((((m))))))))))]", 10, "unexpected \"(\""},
        {"5[m^99]", 5, "unexpected \"9\""},
        {"5[m", 2, "expected ']'"},
        {"5mm", 1, "units stand in brackets"},
        {"3[m] + 2[s]", 5, "units do not fit: [m] + [s]"},
        {"sin(3[m])", 0, "without unit"},
        {"table(x, 1,2)", 0, "two or more pairs"},
        {"spline(x, 1,2, 3)", 0, "spline needs x and then two or more pairs"},
        {"table(x, 1,2, 1,3)", 13, "must increase"},
        {"table(x, y,2, 1,3)", 8, "must be constant"},
        {"sum(i in 1..x, i)", 12, "whole numbers"},
        {"sum(i in 3..1, i)", 0, "no terms"},
        {"sum(i in 1..1000000, i*x)", 24, "too long"},
        {"1 $ 2", 2, "'$'"},
        {"1e999", 0, "too large"},
        {"x..y", 1, "expected an operator"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_expression_error err;
        dae_expression *e = dae_expression_create(list[i].text, lookup, NULL, &err);
        if (e) fail_msg("\"%s\" was accepted", list[i].text);
        if (!strstr(err.text, list[i].part) || err.column != list[i].column)
            fail_msg("\"%s\": column %d \"%s\", expected %d \"%s\"", list[i].text, err.column, err.text,
                     list[i].column, list[i].part);
    }
    char deep[1000];
    memset(deep, '(', 999);
    deep[999] = 0;
    dae_expression_error err;
    assert_null(dae_expression_create(deep, lookup, NULL, &err));
    assert_non_null(strstr(err.text, "nested too deeply"));
}

static const char *const smooth_ones[] = {
    "sin(x)*cos(y)",
    "exp(-t/0.5)*x^2",
    "x^3 - 2*x^-2",
    "x^y",
    "pow(x, 2.5)",
    "log(x) + log10(x)",
    "sqrt(x*t)",
    "tan(y) + tanh(x) + sinh(y)*cosh(y)",
    "atan2(y, x) + hypot(x, y)",
    "asin(y) - acos(y)*x + atan(x)",
    "smoothstep(y, -1, x)",
    "table(x, 0,0, 2,4, 5,0)*y",
    "spline(x, -3,1, -1,0, 0.2,2, 1.3,4, 5,0)*y",
    "if(x > y, x*x, y)",
    "max(x, y)*min(x, y)",
    "abs(y)*mod(x, 2)",
    "(x + y)/(t + body.angle)",
    "sum(i in 1..4, sin(i*x)/i)",
};

static void gradients_match_differences(void **state)
{
    (void)state;
    double all[nx] = {2, 3, -0.5, 0.25};
    for (size_t i = 0; i < sizeof smooth_ones / sizeof *smooth_ones; i++) {
        dae_expression *e = make(smooth_ones[i]);
        double g[nx];
        at(e, all, g);
        for (int k = 0; k < nx; k++) {
            double h = 1e-6, keep = all[k];
            all[k] = keep + h;
            double up = at(e, all, NULL);
            all[k] = keep - h;
            double down = at(e, all, NULL);
            all[k] = keep;
            if (fabs(g[k] - (up - down) / (2 * h)) > 1e-8 * (1 + fabs(g[k])))
                fail_msg("%s: d/d%d = %.12g, differences %.12g", smooth_ones[i], k, g[k],
                         (up - down) / (2 * h));
        }
        dae_expression_destroy(e);
    }
}

static void second_derivatives_match_differences(void **state)
{
    (void)state;
    static const double x0[nx] = {2, 3, -0.5, 0.25}, v0[nx] = {0.3, -0.2, 0.1, 0.7},
                        a0[nx] = {0.5, 0.4, -0.3, 0.2};
    for (size_t i = 0; i < sizeof smooth_ones / sizeof *smooth_ones; i++) {
        if (strstr(smooth_ones[i], "smoothstep")) continue; /* its ends move with x here */
        dae_expression *e = make(smooth_ones[i]);
        const int *variable;
        int n = dae_expression_variables(e, &variable);
        double x[nx], v[nx], a[nx], out[2], f[3], h = 1e-4;
        double *work = calloc(dae_expression_work(e), sizeof *work);
        for (int k = 0; k < n; k++) {
            x[k] = x0[variable[k]];
            v[k] = v0[variable[k]];
            a[k] = a0[variable[k]];
        }
        dae_expression_curve(e, x, v, a, out, work);
        for (int s = -1; s <= 1; s++) {
            double y[nx];
            for (int k = 0; k < n; k++) y[k] = x[k] + s * h * v[k] + s * h * s * h * a[k] / 2;
            f[s + 1] = dae_expression_value(e, y, work);
        }
        assert_near(out[0], (f[2] - f[0]) / (2 * h), 1e-6);
        assert_near(out[1], (f[2] - 2 * f[1] + f[0]) / (h * h), 1e-5);
        free(work);
        dae_expression_destroy(e);
    }
}

static void constants_are_folded(void **state)
{
    (void)state;
    double v;
    dae_expression *e = make("2*M*sin(pi/2) + sum(i in 1..10, i)");
    assert_true(dae_expression_constant(e, &v));
    assert_near(v, 56, 1e-14);
    assert_int_equal(dae_expression_operations(e), 0);
    dae_expression_destroy(e);
    e = make("x*(2+3) + t");
    assert_int_equal(dae_expression_operations(e), 2);
    assert_false(dae_expression_constant(e, &v));
    dae_expression_destroy(e);
}

/* 2048 points (the limit of all tables of an expression) are a table; 2049 are not; a spline takes a curvature for each of its own. */
static void long_tables_are_read_up_to_the_limit(void **state)
{
    static const struct {
        const char *name;
        int points, fine;
    } list[] = {{"table", 2048, 1}, {"table", 2049, 0}, {"spline", 1365, 1}, {"spline", 1366, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char *text = malloc(40000), *at_end = text + sprintf(text, "%s(x", list[k].name);
        dae_expression_error err = {0};
        for (int i = 0; i < list[k].points; i++)
            at_end += sprintf(at_end, ",%d,%d", i, k < 2 ? i >= 1000 : 5);
        strcpy(at_end, ")");
        dae_expression *e = dae_expression_create(text, lookup, NULL, &err);
        if (list[k].fine) {
            double all[nx] = {0, 999.25, 0, 0};
            if (!e) fail_msg("%s of %d points: %s", list[k].name, list[k].points, err.text);
            assert_near(at(e, all, NULL), k < 2 ? 0.25 : 5, 1e-12);
        } else {
            assert_null(e);
            assert_non_null(strstr(err.text, "too many points in tables (limit 2048)"));
        }
        dae_expression_destroy(e);
        free(text);
    }
}

/* A long expression is evaluated by programs of a graph: the numbers of its operations, on all sides, also beyond their borders. */
static void programs_give_the_same_numbers(void **state)
{
    (void)state;
    static const char *const text[] = {
        "-10*(x - 1) - 3*(x - 1)^3 - 0.5*(x-1)^5/(1 + (x-1)^2) - 0.1*y*sqrt(1 + y^2) + pow(2 + cos(t), "
        "1.5)*hypot(x, y)",
        "0.3*sin(2*t + 4)*cos(3*x)*exp(-t/10) + 0.2*tanh(5*y)*(1 + 0.3*cos(x)^2) + atan2(y, 3 + x^2)/log(3 + "
        "t^2)",
        "-spline(x, -1,0, 0.5,0.1, 1,0.5, 1.5,0.4, 2,1)*y*(1 + x^2)/(2 + sin(t)^2) + cbrt(4 + x)*log10(5 + "
        "y^2)*asin(x/9)",
        "abs(x)*y + min(x, y)*max(t, x*y) + sign(x - 0.3)*floor(3*y) - ceil(2*x)*mod(t, 0.7) + step(y)*x^2 + "
        "sinh(x)*cosh(y)",
        "table(x, -1,1, 0,0.2, 1,3, 2,2)*y^2 + if(x > 0.2, sqrt(abs(x) + 1)*y, x*y*y) + (x < y)*t + "
        "smoothstep(x, 0, 1)*(y >= 0.1)",
        "if(x > 0 && y <= 1, sqrt(x)*(1 + y + y^2 + y^3), x^3*(y - 1)*(y + 2)) + (t == 3) + !(x != "
        "y)*acos(x/9) + tan(x/2)*atan(y)",
    };
    unsigned seed = 17;
    int made[DAE_EXPRESSION_KINDS] = {0};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        dae_expression *plain = make(text[k]), *fast = make(text[k]);
        for (int kind = 0; kind < DAE_EXPRESSION_KINDS; kind++) {
            assert_true(dae_expression_prepare(fast, kind));
            made[kind] += fast->program[kind] != NULL;
        }
        int n = dae_expression_variables(fast, NULL), ns = dae_expression_switches(fast), side[20], other[20];
        size_t size = dae_expression_work(fast) + dae_expression_work(plain) + 1;
        double *work = malloc(size * sizeof *work);
        assert_true(ns <= 20);
        for (int round = 0; round < 400; round++) {
            double x[nx], x1[nx], x2[nx], margin[20], g[2][nx], c[2][2];
            const int *on = round % 4 ? side : NULL;
            for (int i = 0; i < n; i++) {
                seed = seed * 1664525u + 1013904223u;
                x[i] = ((double)(seed >> 8) / 16777216 - 0.3) * 3;
                x1[i] = 1 - x[i], x2[i] = 0.5 * x[i];
            }
            if (round % 4 == 1) { /* sides of here; the next two points stay on them */
                for (int i = 0; i < ns; i++) side[i] = DAE_SIDE_FREE;
                dae_expression_margins(plain, side, x, margin, other, work);
                for (int i = 0; i < ns; i++) side[i] = other[i];
            }
            if (round % 16 == 3 && ns) side[round / 16 % ns] = DAE_SIDE_FREE;
            double y = dae_expression_value_on(plain, on, x, work), near = 1e-12 * (1 + fabs(y));
            assert_near(dae_expression_value_on(fast, on, x, work), y, near);
            assert_near(dae_expression_gradient_on(plain, on, x, g[0], work), y, near);
            assert_near(dae_expression_gradient_on(fast, on, x, g[1], work), y, near);
            for (int i = 0; i < n; i++) assert_near(g[1][i], g[0][i], 1e-11 * (1 + fabs(g[0][i])));
            dae_expression_curve_on(plain, on, x, x1, x2, c[0], work);
            dae_expression_curve_on(fast, on, x, x1, x2, c[1], work);
            if (!isfinite(c[0][0]) || !isfinite(c[0][1])) continue; /* beyond the border of a root */
            for (int i = 0; i < 2; i++) assert_near(c[1][i], c[0][i], 1e-10 * (1 + fabs(c[0][i])));
        }
        free(work);
        dae_expression_destroy(plain);
        dae_expression_destroy(fast);
    }
    assert_int_equal(made[DAE_EXPRESSION_GRADIENT], sizeof text / sizeof *text);
    assert_int_equal(made[DAE_EXPRESSION_CURVE], sizeof text / sizeof *text);
#if defined(__x86_64__) && defined(__linux__)
    assert_int_equal(made[DAE_EXPRESSION_VALUE], sizeof text / sizeof *text);
#endif
    /* What is short stays as it is. */
    dae_expression *e = make("3*x + y");
    for (int kind = 0; kind < DAE_EXPRESSION_KINDS; kind++) {
        assert_true(dae_expression_prepare(e, kind));
        assert_null(e->program[kind]);
    }
    dae_expression_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_right),
        cmocka_unit_test(units_become_si),
        cmocka_unit_test(mistakes_are_named_with_their_column),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(second_derivatives_match_differences),
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(long_tables_are_read_up_to_the_limit),
        cmocka_unit_test(programs_give_the_same_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
