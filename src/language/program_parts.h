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
    int dense; /* 1: the registers of each operand are consecutive */
} dae_run;

enum { OP_LINEAR = 120 };

struct dae_program {
    int ninput, nconstant, noperation, noutput, nregister;
    double *constant;
    int nrun, run_capacity;
    dae_run *run;
    int *index;
    int nindex, index_capacity;
    double *factor;
    int nfactor, factor_capacity;
    int *output; /* register of each */
    dae_curve **curve;
    int ncurve;
    struct dae_native *native; /* the same as machine code, or NULL */
};

void dae_program_run_part(const dae_program *p, int k, double *work); /* run number k */

#endif
