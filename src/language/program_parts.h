/* The inside of a program, for the files that make and run it. */
#ifndef DAE_LANGUAGE_PROGRAM_PARTS_H
#define DAE_LANGUAGE_PROGRAM_PARTS_H

#include "language/program.h"

/* `count` operations of one kind; operation i writes register to+i. */
typedef struct dae_run {
    int op; /* of expression_code.h or graph.h; OP_ADD, OP_SUB of two operands, OP_LINEAR of several */
    int count;
    int to;     /* first register written */
    int terms;  /* operands per operation */
    int index;  /* their registers: operand k of operation i is index[index + k*count + i] */
    int factor; /* OP_LINEAR: factor[factor + k*count + i], then count constants */
    int extra; /* OP_POWI: the exponent; OP_CURVE: order of the derivative and number of the curve, 4*curve + order */
    int dense; /* how the registers of the operands follow each other */
} dae_run;

enum { OP_LINEAR = 120 };

/* Any registers; consecutive ones; the first operand (of two) is always the same one, the second consecutive; the other way round. */
enum { DAE_RUN_ANY, DAE_RUN_DENSE, DAE_RUN_ONE_BY_MANY, DAE_RUN_MANY_BY_ONE };

/* The same operations one by one, each value soon after what it is made of: what machine code and C are written from. Values are
 * numbered: inputs, constants, then steps. Terms of step i are operand[first + k]; OP_LINEAR: constant + sum of factor*operand. */
typedef struct dae_step {
    int op, terms, first, extra;
    double constant;
} dae_step;

typedef struct dae_step_list {
    int count;
    dae_step *step;
    int *operand;
    double *factor; /* beside operand */
    int *output;    /* value of each output */
} dae_step_list;

struct dae_program {
    int ninput, nconstant, noperation, noutput, nregister;
    double *constant;
    int nrun, run_capacity;
    dae_run *run;
    int *index;
    int nindex, index_capacity;
    double *factor;
    int nfactor, factor_capacity;
    int *output;           /* register of each */
    int *place;            /* where each output goes; NULL: in order */
    int time, first_y, ny; /* inputs that come as arguments of their own, see dae_program_create_split */
    dae_step_list list;
    dae_curve **curve;
    int ncurve;
    struct dae_native *native; /* the same as machine code, or NULL */
};

/* One operation that has neither code of its own nor a function of libm. */
double dae_program_apply(const dae_program *p, int op, int extra, double a, double b, double c);

#endif
