/* Switches of equations: everything that is not smooth in the variables (if, abs, min, max, sign, floor, mod, tables) stands on a
 * side while a step is taken (daedalus/system.h). In the nodes each side is a leaf: discrete value `first + i`.
 *
 *     a < b        0 < s       s = 1 while it holds, -1 while not
 *     abs(a)       s a         min(a,b), max(a,b): if 0 < s then a else b
 *     floor(a)     s           mod(a,b): a - b s,  s whole, s <= a/b < s + 1
 *     table(a)     the function of segment s, continued
 *
 * noevent(...) and what depends on time alone stay as they are. */
#ifndef DAE_EQUATIONS_BRANCHES_H
#define DAE_EQUATIONS_BRANCHES_H

#include "equations/model.h"

typedef enum dae_branch_kind { DAE_BRANCH_SIGN, DAE_BRANCH_WHOLE, DAE_BRANCH_SEGMENT } dae_branch_kind;

typedef struct dae_branch {
    dae_branch_kind kind;
    int literal,
        frozen; /* nodes of the quantity that decides: as written, and with the sides of the others */
    int curve;  /* DAE_BRANCH_SEGMENT */
    int node;   /* what it was, for messages */
} dae_branch;

typedef struct dae_branches {
    int first, count;
    dae_branch *branch;
    dae_curve **curve; /* per branch, own copies; NULL: none */
} dae_branches;

/* Rewrites the nodes in place. NULL: no memory. */
dae_branches *dae_branches_find(dae_model *m, int n, int *node);
void dae_branches_destroy(dae_branches *b); /* NULL allowed */

/* The side that the quantity x stands on. */
int dae_branch_side(const dae_branches *b, int i, double x);
/* > 0 while `side` holds for x; *next: the side beyond the nearer border. */
double dae_branch_margin(const dae_branches *b, int i, int side, double x, int *next);

#endif
