/* Expressions: "M*(1 - exp(-t/0.05))", "150[mm]", "if(x < 0, k*x, 0)".
 *
 *   numbers     1, .5, 2e-3, each with a unit in brackets if wanted: 9.81[m/s^2], 30[deg], 3000[rpm]
 *   names       x, crank.angle, J4.reaction.y: the caller says what they mean; pi and e are known
 *   operators   + - * / ^, comparisons < <= > >= == != (1 or 0), && || !
 *   functions   sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 sqrt cbrt abs sign min max pow
 *               mod floor ceil hypot if(c,a,b) step(x) smoothstep(x,a,b)
 *               table(x, x1,y1, x2,y2, ...): straight lines through the points, continued at both ends
 *               spline(x, x1,y1, x2,y2, ...): a natural cubic spline, continued by straight lines
 *               sum(i in 1..5, ...): the terms with i = 1, ..., 5, written out when the text is read
 *
 * The text becomes a list of operations, each of which writes one register: no loops, no jumps, so that
 * an evaluation takes a known number of operations (both branches of `if` are computed, one is taken).
 * Derivatives are exact: every operation knows its partial derivatives (forward differentiation).
 *
 * An expression is constant after it was made; threads may share it, each with a work array of its own. */
#ifndef DAE_LANGUAGE_EXPRESSION_H
#define DAE_LANGUAGE_EXPRESSION_H

#include <daedalus/status.h>

#include <stddef.h>

enum {
    DAE_EXPRESSION_MAX_TEXT = 16384,      /* characters */
    DAE_EXPRESSION_MAX_OPERATIONS = 4096, /* per expression */
    DAE_EXPRESSION_MAX_DEPTH = 100        /* of nested parentheses */
};

typedef struct dae_expression dae_expression;

/* Exponents of m, kg, s, A, K, mol of a value; soft: 1: it is not certain (a value without a unit took
 * part); DAE_IMPLIED: it is known, but no unit was written: it may stand for a number, but not beside another unit;
 * DAE_SCALED, DAE_WEIGHED: one that is implied, or certain, times a number that stands in the text, which may have a unit, too
 * (4*x of a signal x, L/4). Within an expression DAE_PLAIN is such a number. */
enum { DAE_IMPLIED = 2, DAE_SCALED = 3, DAE_WEIGHED = 4, DAE_PLAIN = 5 };
enum { DAE_BASE_UNITS = 6 };
typedef struct dae_dimension {
    signed char power[DAE_BASE_UNITS];
    unsigned char soft;
} dae_dimension;

/* What a name means: a variable, or a constant. */
typedef struct dae_symbol {
    int variable; /* its number, from 0; < 0: a constant of this value: */
    double value;
    dae_dimension dimension;
} dae_symbol;

/* Looks a name (with its dots) up: 1 if it is known and *out was filled, else 0. */
typedef int dae_lookup_fn(const char *name, dae_symbol *out, void *user);

/* Where the text is wrong: column from 0, and what was expected. */
typedef struct dae_expression_error {
    int column;
    char text[200];
    char name[64]; /* the unknown name, or "" (for spelling hints) */
} dae_expression_error;

#define DAE_EXPRESSION_STARVED "out of memory" /* the text of an error that is none of the text's */
/* What a message about a text means: DAE_ERR_MEMORY where it ends with that one, else DAE_ERR_INPUT. */
dae_status dae_message_status(const char *message);

/* NULL: see *err (NULL allowed). lookup may be NULL: no names but pi and e. */
dae_expression *dae_expression_create(const char *text, dae_lookup_fn *lookup, void *user,
                                      dae_expression_error *err);
void dae_expression_destroy(dae_expression *e); /* NULL allowed */

/* The variables that occur, ascending; their number is returned. */
int dae_expression_variables(const dae_expression *e, const int **variable);
int dae_expression_operations(const dae_expression *e);
/* 1 and its value if it depends on no variable. */
int dae_expression_constant(const dae_expression *e, double *value);
dae_dimension dae_expression_dimension(const dae_expression *e);

/* Says that the expression will be evaluated often in that way: where it is long enough, a program of a graph does so from here on
 * (program.h; the same numbers to rounding). 0: no memory. Before the size of work arrays is asked, and before threads share it. */
enum { DAE_EXPRESSION_VALUE, DAE_EXPRESSION_GRADIENT, DAE_EXPRESSION_CURVE, DAE_EXPRESSION_KINDS };
int dae_expression_prepare(dae_expression *e, int kind);

/* Sizes of the work arrays in numbers: for values, gradients, second derivatives. */
size_t dae_expression_work(const dae_expression *e);

/* x[k] is the value of variable dae_expression_variables()[k]. */
double dae_expression_value(const dae_expression *e, const double *x, double *work);
/* Also gradient[k] = d/dx[k]. */
double dae_expression_gradient(const dae_expression *e, const double *x, double *gradient, double *work);
/* Along a curve x(s) with x1 = dx/ds, x2 = d2x/ds2: first and second derivative in out[0], out[1]. */
double dae_expression_curve(const dae_expression *e, const double *x, const double *x1, const double *x2,
                            double *out, double *work);

/* Switches (daedalus/system.h): where operations are not smooth, which are abs, sign, step, min, max, < <= > >=, floor,
 * ceil, mod and the corners of tables. The functions above take the branch that the values say; those with `_on` the
 * branch of side[i], unless that is DAE_SIDE_FREE (or side NULL, or the branch has no value beyond its border). */
int dae_expression_switches(const dae_expression *e);
double dae_expression_value_on(const dae_expression *e, const int *side, const double *x, double *work);
double dae_expression_gradient_on(const dae_expression *e, const int *side, const double *x, double *gradient,
                                  double *work);
double dae_expression_curve_on(const dae_expression *e, const int *side, const double *x, const double *x1,
                               const double *x2, double *out, double *work);
/* Margins and next sides at x, as dae_switch_fn has them. */
void dae_expression_margins(const dae_expression *e, const int *side, const double *x, double *margin,
                            int *next, double *work);

/* "150[mm]" without names: its value in SI units. 0: fine. */
int dae_expression_number(const char *text, double *value, dae_expression_error *err);
/* "m/s^2" -> factor to SI and dimension; 0: fine, else the column (from 1) of what is no unit. */
int dae_unit_read(const char *text, size_t length, double *factor, dae_dimension *dimension);
/* What is wrong with it, from that column: "\"furlong\" in [1/furlong] is no unit". */
void dae_unit_wrong(const char *text, size_t length, int bad, char *out, size_t size);
/* A value in SI units as a text that reads back as it, whatever unit its quantity has: "0.002[m s^-1]", "3" where unit (a text,
 * NULL: none) is none. */
void dae_si_text(double value, const char *unit, char *out, size_t size);
/* "m s^-2", "1" for none. */
void dae_dimension_text(const dae_dimension *d, char *out, size_t size);
/* The same as it is written, "m/s^2", by the name of a unit where there is one: "V", "N m"; for reports and columns. */
void dae_dimension_name(const dae_dimension *d, char *out, size_t size);

#endif
