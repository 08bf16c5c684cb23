/* The operations of an expression, shared by its reader and its evaluation. */
#ifndef DAE_LANGUAGE_EXPRESSION_CODE_H
#define DAE_LANGUAGE_EXPRESSION_CODE_H

#include "language/expression.h"

/* X(name in the text or "", identifier, number of operands) */
#define DAE_EXPRESSION_FUNCTIONS(X) \
    X("sin", SIN, 1)                \
    X("cos", COS, 1)                \
    X("tan", TAN, 1)                \
    X("asin", ASIN, 1)              \
    X("acos", ACOS, 1)              \
    X("atan", ATAN, 1)              \
    X("atan2", ATAN2, 2)            \
    X("sinh", SINH, 1)              \
    X("cosh", COSH, 1)              \
    X("tanh", TANH, 1)              \
    X("exp", EXP, 1)                \
    X("log", LOG, 1)                \
    X("log10", LOG10, 1)            \
    X("sqrt", SQRT, 1)              \
    X("cbrt", CBRT, 1)              \
    X("abs", ABS, 1)                \
    X("sign", SIGN, 1)              \
    X("floor", FLOOR, 1)            \
    X("ceil", CEIL, 1)              \
    X("min", MIN, 2)                \
    X("max", MAX, 2)                \
    X("pow", POW, 2)                \
    X("mod", MOD, 2)                \
    X("hypot", HYPOT, 2)            \
    X("step", STEP, 1)              \
    X("smoothstep", SMOOTH, 3)      \
    X("if", IF, 3)

enum {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_NEG,
    OP_POWI, /* a^c, c a whole number kept in the instruction */
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_AND,
    OP_OR,
    OP_NOT,
    OP_TABLE,  /* a looked up in table b with c points */
    OP_SPLINE, /* the same with c second derivatives behind the points */
#define X(name, id, count) OP_##id,
    DAE_EXPRESSION_FUNCTIONS(X)
#undef X
};

typedef struct dae_instruction {
    int op;
    int a, b, c; /* registers: variables, then constants, then results */
    int s;       /* 1 + the number of its switch; 0: it is smooth */
} dae_instruction;

struct dae_expression {
    int nvariable, nconstant, ninstruction, nswitch;
    int result; /* register of the value */
    int *variable;
    double *constant;
    double *table; /* pairs x, y of all tables; splines: then their second derivatives */
    dae_instruction *code;
    dae_dimension dimension;
    struct dae_program *program[DAE_EXPRESSION_KINDS]; /* NULL: operation by operation */
};

int dae_expression_operands(const dae_instruction *i); /* how many */

/* expression_program.c: by the program of that kind at x[0] (curves: with the derivatives x[1], x[2]), on the given sides. out: value; value and
 * gradient; value and two derivatives. 0: there is none, a side is not known, or something is not finite: operation by operation. */
int dae_expression_run(const dae_expression *e, int kind, const int *side, const double *const *x,
                       double *out, double *work);
size_t dae_expression_program_work(const dae_expression *e);
void dae_expression_forget_programs(dae_expression *e);

/* One operation on numbers. */
double dae_expression_apply(const dae_instruction *i, const double *table, double a, double b, double c);

#endif
