/* What somebody writes who comes from MATLAB, Modelica, Python or C: one message, at the place, with the right spelling. */
#include "files.h"

#include <daedalus/daedalus.h>

static const struct {
    const char *text;
    int line, column;
    const char *message;
} habit[] = {
    /* comments and signs */
    {"/* c */\nvar x = 1\nx' = -x\n", 1, 1, "unexpected \"/*\" (comments begin with #)"},
    {"var x = 1 // c\nx' = -x\n", 1, 11, "unexpected \"//\" (comments begin with #)"},
    {"var x = 1\n% c\nx' = -x\n", 2, 1,
     "unexpected \"%\" (comments begin with #; the remainder is mod(a,b))"},
    {"var x = 1\nx' = -(x**2\n", 2, 9, "\"**\": powers are written ^"},
    {"var x = 1\nx' = -x.^2\n", 2, 8, "\".^\": values are numbers, powers are written ^"},
    {"var x = 1\nx' = x.*x\n", 2, 7, "\".*\": values are numbers, products are written *"},
    {"var x = 1\nx' = if x ~= 1 then 1 else 0\n", 2, 11, "\"~=\": not equal is written !=, a guess x ~ 1"},
    {"var x = 1\nx' = if x <> 1 then 1 else 0\n", 2, 11, "\"<>\": not equal is written !="},
    {"var x = 1\nx' = x > 1 ? 1 : 0\n", 2, 12, "unexpected \"?\" (a choice is written if c then a else b)"},
    {"var x = {1, 2}\nx' = -x\n", 1, 9,
     "unexpected \"{\" (a list is written [1, 2, 3], a block ends with \"end\")"},
    {"var x = 1\nx' = |x|\n", 2, 6, "expected a value, found \"|\" (write abs(x))"},
    {"var x = 1\nx' = 1\nwhen x > 2: x += 1\n", 3, 15, "\"+=\": write x := x + ..."},
    {"var u[2] = [0 1]\nu' = u\n", 1, 15, "expected \"]\" or a comma, found \"1\""},
    /* declarations */
    {"parameter k = 2\nvar x = 1\nx' = -x\n", 1, 1,
     "\"parameter\": parameters are declared with param: param k = 2"},
    {"Real x(start = 1);\n", 1, 1, "\"Real\": variables are declared with var: var x = 1"},
    {"var x = 1\nequation\nder(x) = -x;\n", 2, 1,
     "\"equation\": equations need no heading: they stand in lines of their own"},
    {"model a\nvar x = 1\nder(x) = -x;\nend a;\n", 4, 1,
     "\"end\" without a block that it closes (a model ends with its file)"},
    {"var y(2) = 0\n", 1, 6, "sizes stand in brackets, y[3]; a start is written y = 1"},
    {"var u[3] = 0\nfor i in 1..3\nlet q = u[i]\nu[i]' = 1\nend\n", 3, 1,
     "declarations stand outside of loops (write let q[i in 1..n] = ...)"},
    {"let y[9] = 3\nvar x = 1\nx' = y\n", 1, 5, "\"y\" has no value as a whole, only elements: write y[9]"},
    {"def f(x)\nvar x = 1\nx' = x\n", 1, 1, "\"def\": functions are written fn f(x) = ..."},
    /* derivatives and starts */
    {"var x = 1\nd(x)/dt = -x\n", 2, 1, "unknown function \"d\": a derivative is written x' or der(x)"},
    {"var x = 1\nd/dt(x) = -x\n", 2, 1, "unknown name \"d\": the derivative is written x' or der(x)"},
    {"var x = 1\nx_dot = -x\n", 2, 1, "unknown name \"x_dot\": the derivative is written x' or der(x)"},
    {"var x = 1\nxdot = -x\n", 2, 1, "unknown name \"xdot\": the derivative is written x' or der(x)"},
    {"var x = 1\ndx = -x\n", 2, 1, "unknown name \"dx\": the derivative is written x' or der(x)"},
    {"var x = 1\nx'(t) = -x\n", 2, 3, "variables stand without their argument: x' or der(x)"},
    {"var x = 1\nx' = -x(t)\n", 2, 7, "variables stand without their argument: x"},
    {"var x\nx(0) = 1\nx' = -x\n", 2, 1,
     "\"x\" is not a function (an initial value is written var x = 1 or init x = 1, a product x*(...))"},
    /* functions */
    {"var x = 1\nx' = -ln(x)\n", 2, 7, "unknown function \"ln\": log(x) is the natural logarithm"},
    {"var x = 1\nx' = arctan(x)\n", 2, 6, "unknown function \"arctan\": atan(x)"},
    {"var x = 1\nx' = np.sin(x)\n", 2, 6, "unknown function \"np.sin\" (write sin(...))"},
    /* choices, loops, events, interval */
    {"var x = 1\nx' = if x > 1 then 1 else 0 end\n", 2, 29,
     "\"end\" closes a block and stands in a line of its own; values of \"if\" have none"},
    {"var x = 1\nx' = 1 if x > 2 else 0\n", 2, 8, "a choice is written if c then a else b"},
    {"var u[3] = 0\nfor i = 1:3\nu[i]' = 1\nend\n", 2, 7, "loops are written for i in 1..N"},
    {"var u[3] = 0\nfor i in 1..3 do\nu[i]' = 1\nend\n", 2, 15,
     "no \"do\" stands here: write \"for ...: x[i]' = 1\" in one line, or \"for ...\", lines with x[i]' = 1, "
     "\"end\""},
    {"var u[3] = 0\nfor i in 1..3\nu[i]' = 1\nend for;\n", 4, 5, "a block is closed by \"end\" alone"},
    {"var x = 1\nx' = 1\nwhen x > 2 then\nx := 0\nend\n", 3, 12,
     "no \"then\" stands here: write \"when ...: x := 1\" in one line, or \"when ...\", lines with x := 1, "
     "\"end\""},
    {"var x = 1\nx' = 1\nwhen x > 2\nreinit(x, 0);\nend\n", 4, 1, "\"reinit\": values are assigned, x := 1"},
    {"var x = 1\nx' = 1\nat t = 2: x := 0\n", 3, 6, "after \"at\" stands a time alone: at 2: ..."},
    {"var x = 1\nx' = 1\nat t = 2\nx := 0\nend\n", 3, 6, "after \"at\" stands a time alone: at 2: ..."},
    {"var x = 1\nx' = 1\nwhen t = 2: x := 0\n", 3, 8,
     "conditions compare with \"==\", \"<\", ...; what happens at a time is written at 2: ..."},
    {"var x = 1\nx' = 1\nsolve 0 .. 10\n", 3, 7, "the interval is written solve t = 0 .. 10"},
    {"var x = 1\nwhen x > 2 then stop\nx' = 1\n", 2, 12,
     "no \"then\" stands here: write \"when ...: x := 1\" in one line, or \"when ...\", lines with x := 1, "
     "\"end\""},
    {"var u[3] = 0\nfor i in 1:3\nu[i]' = 1\nend\n", 2, 11, "loops are written for i in 1..N"},
    {"var x = 1\nx' = 1\nsolve(0, 10)\n", 3, 6, "the interval is written solve t = 0 .. 10"},
    {"var x = 1\nx' = 1\nplot(x)\n", 3, 5, "pictures are written plot x, y or plot y against x"},
    {"var x = 1\nif x > 2 then\n x' = 1\nelse\n x' = 2\nend\n", 2, 10,
     "no \"then\" stands here: a choice between values is written x' = if c then a else b; lines up to "
     "\"end\" "
     "are chosen by parameters"},
    /* signs and names of other places */
    {"var x = 1\nx' = \xe2\x88\x92x\n", 2, 6, "\"\xe2\x88\x92\": minus is written -"},
    {"var x = 1\nx\xe2\x80\xb2 = 1\n", 2, 2, "\"\xe2\x80\xb2\": a derivative is written x'"},
    {"var x = 1\nx' = x\xc2\xb2\n", 2, 7, "\"\xc2\xb2\": powers are written ^2"},
    {"var x = 1\nx' = PI*x\n", 2, 6, "unknown name \"PI\": write pi"},
    {"var x = 1\nx' = if true then 1 else 2\n", 2, 9, "unknown name \"true\": write 1, and compare: on == 1"},
    {"param k = 2,5\nvar x = 1\nx' = k*x\n", 1, 12, "decimals have a point: 2.5"},
    {"var x = 1\nx' = 2 + ...\n  3\n", 2, 10,
     "\"...\": a line goes on by itself after an operator, a comma and inside brackets"},
    {"var x = 1\nx' = 2 + \\\n  3\n", 2, 10,
     "\"\\\": a line goes on by itself after an operator, a comma and inside brackets"},
    {"var x = 1, y = 2\nx' = (y + 1\nvar z = 1\ny' = 1\nz' = 1\n", 2, 6,
     "the bracket that opens here is not closed"},
    {"var x = 1\nx' = 2(x + 1)\n", 2, 7,
     "expected an operator before \"(\" (write *(...) for a product, units in brackets: 5[mm])"},
    {"var end = 1\nend' = 2\nvar x = 1\nx' = end\n", 1, 5, "\"end\" is a reserved word: choose another name"},
    {"function f(x)\n y = x\nend\nvar x = 1\nx' = 1\n", 1, 1,
     "\"function\": functions are written fn f(x) = ..."},
    {"connect(a, b)\nvar x = 1\nx' = 1\n", 1, 1,
     "\"connect\": what is joined is written as equations: a.v = b.v"},
    {"var x = 1\nx' = 1\nprint(x)\n", 3, 1, "\"print\": what is worth printing is named by output x, y"},
    {"\xff\xfev\0a\0r\0", 1, 1, "the text is UTF-16: save it as UTF-8"},
};

static void habits_are_answered(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof habit / sizeof *habit; k++) {
        dae_messages m;
        dae_model *model = dae_model_read(habit[k].text, strlen(habit[k].text), NULL, NULL, 0, &m);
        if (model) fail_msg("no error in:\n%s", habit[k].text);
        const dae_message *e = &m.error[0];
        if (strcmp(e->text, habit[k].message) != 0 || e->place.line != habit[k].line ||
            e->place.column != habit[k].column)
            fail_msg("%s\ngave %d:%d: %s\nexpected %d:%d: %s", habit[k].text, e->place.line, e->place.column,
                     e->text, habit[k].line, habit[k].column, habit[k].message);
        if (m.count != 1)
            fail_msg("%s\n%d messages, the second: %s", habit[k].text, m.count, m.error[1].text);
    }
}

/* Accepted because it can mean nothing else. */
static void harmless_habits_are_taken(void **state)
{
    (void)state;
    static const char *const text[] = {
        "var x = 1;\nder(x) = -x;\n",
        "var x = 1\nx' = if x > 1 && t < 2 || !(x < 3) then 1 else 0;;\n",
        "var x = 1\nx' = if(x > 1, 1, 0)\n",
        "var x\nx' = -x\ninit x = 1\n",
        "var x = 1\nx' = 2.*x + 3./x\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        dae_messages m;
        dae_model *model = dae_model_read(text[k], strlen(text[k]), NULL, NULL, 0, &m);
        if (!model) fail_msg("%s\n%s", text[k], m.error[0].text);
        dae_model_destroy(model);
    }
}

/* What the analysis says of a system that cannot be. */
static void systems_are_answered(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } list[] = {
        {"var x = 1, v = 0\nx'' = -x*v^0\n",
         "equations:1:12: 1 equation for 2 variables: v stands in no equation: write what determines it"},
        {"var x = -1, y\nx' = y\ny = sqrt(x)\n",
         "equations:3:3: line 3 is not a number at the start, with x = -1: a root or logarithm of a negative "
         "value, or a division by 0?"},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        dae_error err = {0};
        assert_null(dae_equations_problem(list[k].text, strlen(list[k].text), NULL, NULL, 0, &err));
        if (strncmp(err.text, list[k].message, strlen(list[k].message)) != 0)
            fail_msg("%s\nexpected: %s", err.text, list[k].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(habits_are_answered),
                                       cmocka_unit_test(harmless_habits_are_taken),
                                       cmocka_unit_test(systems_are_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
