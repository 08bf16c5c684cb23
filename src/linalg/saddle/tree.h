/* The kinematic tree as the recursive modes see it: bodies are blocks of velocities, each with a joint
 * to its father; the joint equation of body k with father j is  G_k w_k + C_k w_j = g_k. Rows of G that
 * belong to no joint close loops. */
#ifndef DAE_LINALG_SADDLE_TREE_H
#define DAE_LINALG_SADDLE_TREE_H

#include "linalg/saddle/internal.h"

typedef struct tree {
    int bodies;
    int *order;       /* bodies, sons before fathers */
    int *father;      /* -1: ground */
    int *n;           /* velocities of each body */
    int *m;           /* rows of its joint */
    int *rows;        /* rows of G, joint by joint */
    int *row_at;      /* bodies+1: where the rows of each joint begin in rows */
    int *G_at, *C_at; /* bodies+1: where G_k (m x n) and C_k (m x n of the father) begin in maps and arrays */
    int *G_map, *C_map; /* place in the values of G, -1: structurally zero */
    int n_max, m_max;

    /* Loops: S = C T^-1 C'^T of the nloop cut rows, with the tree matrix T. */
    int nloop;
    int *loop_row; /* their rows in G */
    int *loop_at;  /* nloop+1: where their entries begin */
    int *loop_col, *loop_map;
    double *Zw, *Zl; /* T^-1 [C'^T; 0]: nv x nloop, nl x nloop */
    double *S;       /* nloop x nloop, factored */
    int *piv;        /* nloop */
    double *mu;      /* nloop */
    int *rank;       /* 1: rows of full rank that S kept */
} tree;

/* A solve with the tree alone, in place; entries of l at loop rows are neither read nor written. */
typedef void tree_solver(dae_saddle *s, double *w, double *l);

dae_status dae_tree_create(dae_saddle *s, tree *t, dae_error *err);
/* 0, or 1 + a row of a joint that touches a body other than its two (dense G only: sparse patterns are
 * checked by create). */
int dae_tree_check(const dae_saddle *s, const tree *t, const double *G);
/* Gathers the values of G_k or C_k (all bodies). */
void dae_tree_gather(const int *map, int count, const double *G, double *out);

/* The Schur complement of the loops, [MEXX] end of section 3.2. Call after the tree was factored. */
int dae_tree_close_loops(dae_saddle *s, tree *t, tree_solver *solve, const double *G, const double *U);
void dae_tree_solve(dae_saddle *s, tree *t, tree_solver *solve, const double *G, double *w, double *l);

#endif
