/* The reader of equation files: what it makes of 26 models, and what it says of wrong texts. */
#include "files.h"

static const struct {
    const char *name;
    int variables, equations, parameters, starts, bound, events;
} expected[] = {
    {"amp", 13, 13, 7, 9, 5, 0},        {"andrews", 27, 27, 3, 27, 8, 0},
    {"ball", 2, 2, 2, 2, 2, 2},         {"caraxis", 6, 6, 7, 8, 6, 0},
    {"chemakzo", 6, 6, 9, 6, 5, 0},     {"crank", 24, 24, 56, 16, 8, 0},
    {"dpend", 6, 6, 5, 8, 6, 0},        {"dup", 4, 4, 1, 4, 3, 0},
    {"fekete", 160, 160, 1, 160, 0, 0}, {"fekete3", 80, 80, 1, 80, 0, 0},
    {"heater", 1, 1, 5, 1, 1, 1},       {"hires", 8, 8, 0, 8, 8, 0},
    {"matlab", 3, 3, 0, 3, 0, 0},       {"medakzo", 400, 400, 3, 400, 400, 0},
    {"over", 4, 4, 0, 1, 1, 0},         {"parallel", 6, 6, 5, 6, 5, 0},
    {"pendulum", 5, 5, 3, 4, 3, 0},     {"pump", 9, 9, 0, 9, 2, 0},
    {"ringmod0", 15, 15, 15, 15, 0, 0}, {"rober", 3, 3, 3, 2, 2, 0},
    {"scholz", 4, 4, 0, 4, 0, 0},       {"toomany", 5, 6, 1, 4, 3, 0},
    {"transamp", 8, 8, 11, 8, 8, 0},    {"vdpol", 2, 2, 1, 2, 2, 0},
    {"water", 49, 49, 36, 49, 20, 0},   {"wheel", 17, 17, 0, 17, 7, 0},
};

static void models_are_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        dae_messages messages;
        dae_model *m = model_of(expected[k].name, NULL, 0, &messages);
        if (!m)
            fail_msg("%s line %d: %s", expected[k].name, messages.error[0].place.line,
                     messages.error[0].text);
        int bound = 0;
        for (int i = 0; i < m->nstart; i++) bound += m->start[i].bound;
        int got[] = {m->nvariable, m->nequation, m->nparameter, m->nstart, bound, m->nevent};
        int want[] = {expected[k].variables, expected[k].equations, expected[k].parameters,
                      expected[k].starts,    expected[k].bound,     expected[k].events};
        for (int i = 0; i < 6; i++) {
            if (got[i] != want[i])
                fail_msg("%s: figure %d is %d, expected %d", expected[k].name, i, got[i], want[i]);
        }
        dae_model_destroy(m);
    }
}

/* ---- Messages ------------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    int line, column;
    const char *message;
} wrong[] = {
    {"param omega = 1\nvar x = 1\nx' = -omga*x\n", 3, 7, "unknown name \"omga\"; did you mean \"omega\"?"},
    {"var x = 1\nx' = -quux*x\n", 2, 7, "unknown name \"quux\" (declare it with var, param or let)"},
    {"var x = 1, v = 2\nx' == v\nv' = x\n", 2, 4, "an equation has one \"=\" (\"==\" compares)"},
    {"var x = 1\nx' = 2x\n", 2, 7,
     "expected an operator before \"x\" (write 2*x; units stand in brackets: 5[mm])"},
    {"var x = 1\nx' = 2 x\n", 2, 8,
     "expected an operator before \"x\" (write 2*x; units stand in brackets: 5[mm])"},
    {"var x = 1\nx' = sin x\n", 2, 6, "expected an operator after \"sin\" (functions are written sin(...))"},
    {"var x = 1\nx' = sin\n", 2, 6, "\"sin\" is a function: write sin(...)"},
    {"var u[3] = 1\nu' = u\nlet w = u(2)\n", 3, 9,
     "\"u\" is an array, not a function: indices stand in brackets, u[i]"},
    {"var x = 1, v = 1\nx := v\nv' = x\n", 2, 3,
     "\":=\" assigns and stands only inside \"when\"; an equation has \"=\""},
    {"var v = 1\nv' = 1\nwhen v > 2\n    v = -v\nend\n", 4, 7,
     "inside \"when\" new values are assigned with \":=\", not \"=\""},
    {"var u[3] = 1\nfor i in 1..3\n    u[i]' = u[i+1]\nend\n", 3, 13,
     "u[4] is outside u[1..3] (i = 3 in the loop of line 2)"},
    {"var u[3] = 1, x = 1\nx' = u\nu' = u\n", 2, 6,
     "\"u\" is an array: write u[i], or make both sides arrays of the same size"},
    {"var x = 1\nx' = x % 2\n", 2, 8, "unexpected \"%\" (comments begin with #; the remainder is mod(a,b))"},
    {"var x = 1\nx' = x**2\n", 2, 7, "\"**\": powers are written ^"},
    {"var x = 1 // start\nx' = x\n", 1, 11, "unexpected \"//\" (comments begin with #)"},
    {"var x = 1\ndx/dt = x\n", 2, 1, "write der(x) or x'"},
    {"var x = 1\nx' = 3\n+ x\n", 3, 1,
     "expected an equation (left = right): a line goes on after an operator, not before one"},
    {"var x = 1\nx' = 3\n- x", 3, 1,
     "expected an equation (left = right): a line goes on after an operator, not before one"},
    {"var x = 1\nx' = 3\nx\n", 3, 1, "expected an equation (left = right) or a declaration"},
    {"param g = 1\nvar x = 1\nvar x = 2\nx' = g\n", 3, 5, "\"x\" is declared twice (first in line 2)"},
    {"var x = 1\nx' = atan2(x)\n", 2, 6, "atan2 takes 2 arguments, found 1"},
    {"param e = 2 in 0 .. 1\nvar x = 1\nx' = e\n", 1, 7, "e = 2 lies outside its range 0..1"},
    {"let a = b + 1\nlet b = 2*a\nvar x = 1\nx' = a\n", 1, 5,
     "\"a\" is defined by itself (a -> b -> a); make it a variable (var) and write an equation"},
    {"var x = 1\nfor i in 1..3\nx' = x\n", 4, 1,
     "the block that begins in line 2 (\"for\") is not closed: expected \"end\""},
    {"var x = 1 [furlong]\nx' = x\n", 1, 12, "\"furlong\" is no unit"},
    {"var x = 1 [1/(K^3 ss)]\nx' = x\n", 1, 12, "\"ss\" in [1/(K^3 ss)] is no unit"},
    {"var x[2] [foo] = 1\nx' = x\n", 1, 11, "\"foo\" is no unit"},
    {"var x [m] = 1 [s]\nx' = x\n", 1, 13, "units do not fit: [m] = [s]"},
    {"component c(N)\nvar u [N] = 0\nu[1]' = 1\nend\nuse a = c(N = 2)\n", 3, 1,
     "\"a.u\" is not an array: its declaration (line 2) gives it the unit [N]; a size is an int, or stands "
     "without a blank: "
     "a.u[N]"},
    {"param k = 2\nvar x [mm] = k\nx' = x\n", 2, 14,
     "the value of \"x\" in [mm] has no unit of its own: give its parts units"},
    {"param a = 1 [m/s^2]\nvar x = 1 [m]\nx' = a\nsolve t = 0 .. 1 [s]\n", 3, 4,
     "units do not fit: [m s^-1] = [m s^-2]"},
    {"var x = 1\ntable road = [(0, 0), (1, 2), (1, 3)]\nx' = road(x)\n", 2, 32,
     "the x values of table road must increase (1 after 1)"},
    {"fn f(x) = f(x - 1)\nvar x = 1\nx' = f(x)\n", 1, 11,
     "the function \"f\" calls itself; recursion is not possible"},
    {"component a\nuse b = a\nend\nuse c = a\nvar x = 1\nx' = 1\n", 2, 9, "the component \"a\" uses itself"},
    {"var x = 1, y = 2\nx' = y + \"a\"\ny' = 1\n", 2, 10,
     "expected a value, found a text in quotes (comments begin with #)"},
    {"var x = 1\nx' = (1 + x\n", 3, 1, "expected \")\", found the end of the line"},
    {"param t = 1\nvar x = 1\nx' = t\n", 1, 7, "\"t\" is the time and cannot be declared"},
    {"var x[2] = [1, 2, 3]\nx' = x\n", 1, 12, "3 values for the 2 elements of \"x\""},
    {"var x = 1\nx = x\n", 2, 3, "both sides of the equation are the same"},
    {"var x = 1\nx' = 1\nsolve t = 1 .. 1\n", 3, 1, "the interval 1 .. 1 is empty"},
    {"var p[3] = 1, q[2] = 1\np' = q\nq' = 1\n", 2, 4, "arrays of different size: 3 and 2 elements"},
    {"var p[3] = 1\np' = p*p\n", 2, 7, "a product of two arrays: write sum(...) or a for"},
};

static void messages_name_line_and_column(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        dae_messages m;
        dae_model *model = dae_model_read(wrong[k].text, strlen(wrong[k].text), NULL, NULL, 0, &m);
        if (model) fail_msg("no error in:\n%s", wrong[k].text);
        const dae_message *e = &m.error[0];
        if (strcmp(e->text, wrong[k].message) != 0 || e->place.line != wrong[k].line ||
            e->place.column != wrong[k].column)
            fail_msg("%s\ngave %d:%d: %s\nexpected %d:%d: %s", wrong[k].text, e->place.line, e->place.column,
                     e->text, wrong[k].line, wrong[k].column, wrong[k].message);
    }
}

/* A text is as long as it is said: what lies behind it in memory changes no message, and sanitizers see that it is not looked at. */
static void nothing_is_read_behind_the_text(void **state)
{
    static const char *const text[] = {
        "at 5[",          "when x > 1[", "var x = 1\nx' = (",
        "for i in 1..3[", "x'",          "|\\jj$$$$$$$$$$$$$$$$\nconst u n= 1]]s ;at 5["};
    static const char behind[] = ",:('=[";
    (void)state;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        size_t length = strlen(text[k]);
        char *exact = malloc(length), longer[80];
        dae_messages alone, followed;
        assert_non_null(exact);
        memcpy(exact, text[k], length);
        assert_null(dae_model_read(exact, length, NULL, NULL, 0, &alone));
        for (const char *c = behind; *c; c++) {
            snprintf(longer, sizeof longer, "%s%c", text[k], *c);
            assert_null(dae_model_read(longer, length, NULL, NULL, 0, &followed));
            assert_string_equal(followed.error[0].text, alone.error[0].text);
        }
        free(exact);
    }
}

static void ten_errors_are_kept(void **state)
{
    (void)state;
    dae_messages m;
    char text[2000] = "var x = 1\n";
    for (int k = 0; k < 20; k++) strcat(text, "x' = 2x\n");
    assert_null(dae_model_read(text, strlen(text), NULL, NULL, 0, &m));
    assert_int_equal(m.count, 20);
    for (int k = 0; k < 10; k++) assert_int_equal(m.error[k].place.line, k + 2);
}

static void settings_are_checked(void **state)
{
    (void)state;
    static const char text[] =
        "param L = 150 [mm], e = 0.5 in 0 .. 1\nint N = 3\nchoice beam = linear | nonlinear\n"
        "var x[N] = 0\nx[1]' = L\nfor i in 2..N: x[i]' = if beam == nonlinear then e else 0\n";
    static const struct {
        const char *name, *value, *message; /* message: a part of it; NULL: fine */
    } list[] = {{"L", "200", "needs a unit"},
                {"L", "200[mm]", NULL},
                {"L", "0.2[m]", NULL},
                {"L", "2[s]", "units do not fit"},
                {"e", "2", "lies outside its range 0..1"},
                {"N", "2.5", "not a whole number"},
                {"N", "4", NULL},
                {"beam", "nonlinear", NULL},
                {"beam", "curved", "one of linear|nonlinear"},
                {"M", "4", "no such parameter"},
                {"x[2]", "=3", NULL},
                {"x[9]", "=3", "no such variable"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        dae_messages m;
        dae_setting s = {list[k].name, list[k].value};
        dae_model *model = dae_model_read(text, strlen(text), NULL, &s, 1, &m);
        if (!list[k].message && !model) fail_msg("--set %s=%s: %s", s.name, s.value, m.error[0].text);
        if (list[k].message && (model || !strstr(m.error[0].text, list[k].message)))
            fail_msg("--set %s=%s: %s", s.name, s.value, model ? "was taken" : m.error[0].text);
        dae_model_destroy(model);
    }
}

/* A bracket after a declared name is a unit where it can be one and names nothing that sizes arrays. */
static void brackets_are_units_or_sizes(void **state)
{
    (void)state;
    static const char text[] =
        "int N = 3\nconst m = 2, k = 1 [kg]\nparam L [mm] = 150 in 10 .. 500, s = 2 [1/(K^3 s)]\n"
        "var u [V], i, w[N] [mV] = [1, 2, 3], F [N] = 0, v[m] = 0, x [m] = 1, h [1/(K^3 s)]\n"
        "let P [W] = u*i, Q[1] = x\n"
        "component c(m)\nvar x [m] = 5, y[m] = 0\nx' = 0\ny' = -y\nend\nuse a = c(m = 4)\n"
        "u = 3[V]; i = 1; w' = -w; F' = 0; v' = -v; x' = 0; h = s\nlet z = Q[1] + P*0\n";
    static const struct {
        const char *name, *dimension;
        double start;
    } list[] = {{"u", "m^2 kg s^-3 A^-1", NAN},
                {"i", NULL, NAN},
                {"w[1]", "m^2 kg s^-3 A^-1", 1e-3},
                {"w[3]", "m^2 kg s^-3 A^-1", 3e-3},
                {"F[3]", NULL, 0},
                {"v[2]", NULL, 0},
                {"x", "m", 1},
                {"h", "s^-1 K^-3", NAN},
                {"a.x", "m", 5},
                {"a.y[4]", NULL, 0}};
    dae_messages m;
    dae_model *model = dae_model_read(text, strlen(text), NULL, NULL, 0, &m);
    if (!model) fail_msg("%d: %s", m.error[0].place.line, m.error[0].text);
    assert_int_equal(model->nvariable, 17);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        int j = dae_model_find_variable(model, list[k].name);
        char dimension[48] = "";
        double start = NAN;
        if (j < 0) fail_msg("no variable %s", list[k].name);
        assert_int_equal(model->variable[j].dimension.soft, !list[k].dimension);
        dae_dimension_text(&model->variable[j].dimension, dimension, sizeof dimension);
        if (list[k].dimension) assert_string_equal(dimension, list[k].dimension);
        for (int s = 0; s < model->nstart; s++) {
            if (model->start[s].variable == j) start = model->start[s].value;
        }
        if (!(start == list[k].start || (isnan(start) && isnan(list[k].start))))
            fail_msg("%s starts at %g", list[k].name, start);
    }
    assert_near(model->parameter[1].value, 0.15, 1e-17);
    assert_near(model->parameter[1].max, 0.5, 1e-16);
    assert_int_equal(model->parameter[1].needs_unit, 1);
    dae_model_destroy(model);
}

/* Texts that would grow without bound end in an error, soon. */
static void growth_is_bounded(void **state)
{
    (void)state;
    static const char *const list[] = {
        "var u[1000000000] = 0\nu' = u\n",
        "var x = 1\nfor i in 1..1000000000: x' = i*x\n",
        "fn a(x) = x + x\nfn b(x) = a(a(a(a(a(a(a(a(a(a(x))))))))))\nfn c(x) = b(b(b(b(b(b(b(b(b(b(x*x + "
        "t))))))))))\nvar x = 1\nx' = "
        "sum(i in 1..10000000, c(x + i))\n",
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        dae_messages m;
        dae_model *model = dae_model_read(list[k], strlen(list[k]), NULL, NULL, 0, &m);
        if (model) fail_msg("was read: %s", list[k]);
        assert_true(m.count > 0);
    }
    enum { terms = 900000 }; /* 3.6 million words */
    char *text = malloc(4 * terms + 30), *at = text;
    dae_messages m;
    assert_non_null(text);
    at += sprintf(at, "var x = 1\nx' = x");
    for (int k = 0; k < terms; k++, at += 4) memcpy(at, "+x*t", 5);
    assert_null(dae_model_read(text, strlen(text), NULL, NULL, 0, &m));
    assert_string_equal(m.error[0].text, "the text is too long (limit 3000000 words): write loops");
    free(text);
}

/* Long chains need no deep calls. */
static void long_chains_are_read(void **state)
{
    (void)state;
    enum { n = 20000 };
    char *text = malloc(60 * n), *at = text;
    dae_messages m;
    at += sprintf(at, "var x = 1\nlet a[i in 0..%d] = if i == 0 then x else sin(a[i-1])\nx' = a[%d]", n, n);
    for (int i = 0; i < n; i++) at += sprintf(at, " + %d*x*t", i % 7);
    sprintf(at, "\n");
    dae_model *model = dae_model_read(text, strlen(text), NULL, NULL, 0, &m);
    if (!model) fail_msg("%s", m.error[0].text);
    dae_model_destroy(model);
    free(text);
}

/* The line and a mark below the column, where there is room; the message alone where there is not. */
static void messages_show_their_line(void **state)
{
    static const char text[] = "var x = 1\nx' =\t-y\nsolve t = 0 .. 1\n",
                      whole[] = "m.deq:2:7: what is y?\nx' = -y\n      ^";
    dae_text_error e = {.line = 2, .column = 7, .text = "what is y?"};
    (void)state;
    for (size_t size = 2; size <= 200; size++) {
        char out[200];
        memset(out, '#', sizeof out);
        dae_text_error_format(&e, text, strlen(text), "m.deq", out, size);
        assert_non_null(memchr(out, 0, size));
        for (size_t k = size; k < sizeof out; k++) assert_int_equal(out[k], '#');
        size_t shown = strlen(out);
        assert_memory_equal(out, whole, shown);
        if (size >= 100) assert_string_equal(out, whole);
    }
    e.column = 30; /* beyond the line: without a mark */
    char out[200];
    dae_text_error_format(&e, text, strlen(text), NULL, out, sizeof out);
    assert_string_equal(out, "equations:2:30: what is y?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_read),         cmocka_unit_test(messages_name_line_and_column),
        cmocka_unit_test(ten_errors_are_kept),     cmocka_unit_test(nothing_is_read_behind_the_text),
        cmocka_unit_test(settings_are_checked),    cmocka_unit_test(brackets_are_units_or_sizes),
        cmocka_unit_test(growth_is_bounded),       cmocka_unit_test(long_chains_are_read),
        cmocka_unit_test(messages_show_their_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
