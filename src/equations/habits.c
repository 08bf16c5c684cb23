/* What is written otherwise in MATLAB, Modelica, Python or C, and how it is written here: for messages. */
#include "equations/tree.h"

#include <stdio.h>
#include <string.h>

typedef struct habit {
    const char *word, *here;
} habit;

static const char *find(const habit *list, size_t count, const char *word, size_t length)
{
    for (size_t k = 0; k < count; k++) {
        if (strlen(list[k].word) == length && !memcmp(list[k].word, word, length)) return list[k].here;
    }
    return NULL;
}

const char *dae_habit_statement(const token *t)
{
    static const habit list[] = {
        {"parameter", "parameters are declared with param: param k = 2"},
        {"parameters", "parameters are declared with param: param k = 2, m = 1"},
        {"constant", "constants are declared with const: const c = 2"},
        {"Real", "variables are declared with var: var x = 1"},
        {"Integer", "whole numbers are declared with int: int N = 10"},
        {"Boolean", "what switches is declared with discrete: discrete on = 0"},
        {"double", "variables are declared with var: var x = 1"},
        {"float", "variables are declared with var: var x = 1"},
        {"variable", "variables are declared with var: var x = 1"},
        {"variables", "variables are declared with var: var x = 1, y = 2"},
        {"state", "variables are declared with var: var x = 1"},
        {"input", "a value from outside is a param, or a table of time: table u = [(0, 1), (2, 3)]"},
        {"function", "functions are written fn f(x) = ..."},
        {"def", "functions are written fn f(x) = ..."},
        {"return", "functions are written fn f(x) = ..."},
        {"equation", "equations need no heading: they stand in lines of their own"},
        {"equations", "equations need no heading: they stand in lines of their own"},
        {"algorithm", "there are equations only, in any order: they stand in lines of their own"},
        {"initial", "equations for the start are written init x' = 0"},
        {"while", "there is no while: loops are written for i in 1..N"},
        {"import", "nothing is imported: sin, exp and the other functions are there"},
        {"connect", "what is joined is written as equations: a.v = b.v"},
        {"connector", "what parts have in common is declared in their component: var v, i"},
        {"class", "parts are written component NAME(...), lines, end"},
        {"block", "parts are written component NAME(...), lines, end"},
        {"struct", "parts are written component NAME(...), lines, end"},
        {"print", "what is worth printing is named by output x, y"},
        {"disp", "what is worth printing is named by output x, y"},
        {"begin", "nothing opens a block but its first line: for i in 1..N, when x > 1"},
        {"assert", "a condition that ends the run is written when x > 9: stop \"why\""},
    };
    return t->kind == TOKEN_NAME ? find(list, sizeof list / sizeof *list, t->text, (size_t)t->length) : NULL;
}

const char *dae_habit_function(const char *name)
{
    static const habit list[] = {
        {"ln", "log(x) is the natural logarithm"},
        {"lg", "log10(x)"},
        {"log2", "log(x)/log(2)"},
        {"arcsin", "asin(x)"},
        {"arccos", "acos(x)"},
        {"arctan", "atan(x)"},
        {"arctan2", "atan2(y, x)"},
        {"tg", "tan(x)"},
        {"sec", "1/cos(x)"},
        {"csc", "1/sin(x)"},
        {"cot", "1/tan(x)"},
        {"sgn", "sign(x)"},
        {"signum", "sign(x)"},
        {"fabs", "abs(x)"},
        {"absolute", "abs(x)"},
        {"heaviside", "step(x), or if t > 2 then 1 else 0"},
        {"rem", "mod(a, b)"},
        {"fmod", "mod(a, b)"},
        {"power", "x^a"},
        {"square", "x^2"},
        {"sqr", "x^2, or sqrt(x)"},
        {"round", "floor(x + 0.5)"},
        {"expm1", "exp(x) - 1"},
        {"d", "a derivative is written x' or der(x)"},
        {"diff", "a derivative is written x' or der(x)"},
        {"ddt", "a derivative is written x' or der(x)"},
        {"integral", "give it a variable: var z = 0, and z' = ..."},
        {"integrate", "give it a variable: var z = 0, and z' = ..."},
        {"pre", "in events right sides see the values before: x := -0.8*x"},
        {"edge", "an event is written when x > 1: ..."},
        {"reinit", "in events values are assigned: when x < 0: v := -0.8*v"},
        {"interp1", "a table is a function: table u = [(0, 1), (2, 3)], then u(t)"},
        {"interp", "a table is a function: table u = [(0, 1), (2, 3)], then u(t)"},
        {"smooth", "smoothstep(x), or noevent(...)"},
    };
    return find(list, sizeof list / sizeof *list, name, strlen(name));
}

int dae_habit_opens(const token *t)
{
    static const habit list[] = {{"function", ""}, {"connector", ""}, {"class", ""},
                                 {"block", ""},    {"struct", ""},    {"while", ""},
                                 {"begin", ""},    {"def", ""},       {"algorithm", ""}};
    return t->kind == TOKEN_NAME &&
           find(list, sizeof list / sizeof *list, t->text, (size_t)t->length) != NULL;
}

const char *dae_habit_name(const char *name)
{
    static const habit list[] = {
        {"PI", "pi"},
        {"Pi", "pi"},
        {"M_PI", "pi"},
        {"true", "1, and compare: on == 1"},
        {"True", "1, and compare: on == 1"},
        {"false", "0, and compare: on == 0"},
        {"False", "0, and compare: on == 0"},
        {"inf", "a large number: 1e30"},
        {"Inf", "a large number: 1e30"},
    };
    const char *plain = dae_habit_module(name);
    if (plain && (!strcmp(plain, "pi") || !strcmp(plain, "e"))) return plain;
    return find(list, sizeof list / sizeof *list, name, strlen(name));
}

const char *dae_habit_letter(const char *text, size_t length)
{
    static const habit list[] = {
        {"−", "minus is written -"},
        {"–", "minus is written -"},
        {"—", "minus is written -"},
        {"·", "products are written *"},
        {"×", "products are written *"},
        {"⋅", "products are written *"},
        {"′", "a derivative is written x'"},
        {"’", "a derivative is written x'"},
        {"´", "a derivative is written x'"},
        {"²", "powers are written ^2"},
        {"³", "powers are written ^3"},
        {"≤", "write <="},
        {"≥", "write >="},
        {"≠", "write !="},
        {"≈", "a guess is written x ~ 1"},
        {"π", "write pi"},
        {"√", "write sqrt(x)"},
        {"“", "a text stands between \"...\""},
        {"”", "a text stands between \"...\""},
    };
    return find(list, sizeof list / sizeof *list, text, length);
}

const char *dae_habit_module(const char *name)
{
    static const char *const module[] = {"np.", "numpy.", "math.", "Math.", "std.", "Modelica.Math."};
    for (size_t k = 0; k < sizeof module / sizeof *module; k++) {
        size_t n = strlen(module[k]);
        if (!strncmp(name, module[k], n) && name[n]) return name + n;
    }
    return NULL;
}

const char *dae_habit_sign(char c, char next)
{
    static const habit list[] = {
        {"//", "unexpected \"//\" (comments begin with #)"},
        {"/*", "unexpected \"/*\" (comments begin with #)"},
        {"**", "\"**\": powers are written ^"},
        {".^", "\".^\": values are numbers, powers are written ^"},
        {".*", "\".*\": values are numbers, products are written *"},
        {"./", "\"./\": values are numbers, quotients are written /"},
        {"<>", "\"<>\": not equal is written !="},
        {"~=", "\"~=\": not equal is written !=, a guess x ~ 1"},
        {"+=", "\"+=\": write x := x + ..."},
        {"-=", "\"-=\": write x := x - ..."},
        {"{", "unexpected \"{\" (a list is written [1, 2, 3], a block ends with \"end\")"},
        {"}", "unexpected \"}\" (a list is written [1, 2, 3], a block ends with \"end\")"},
        {"?", "unexpected \"?\" (a choice is written if c then a else b)"},
        {"&", "unexpected \"&\" (write and)"},
        {"$", "unexpected \"$\" (names consist of a-z, A-Z, digits and _)"},
        {"@", "unexpected \"@\" (functions are written fn f(x) = ...)"},
    };
    char both[2] = {c, next};
    const char *text = find(list, sizeof list / sizeof *list, both, 2);
    return text || (c == '&' && next == '&') ? text : find(list, sizeof list / sizeof *list, both, 1);
}
