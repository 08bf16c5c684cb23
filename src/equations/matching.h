/* Sparse incidence of equations (rows) and variables (columns), and what graph theory says of it. */
#ifndef DAE_EQUATIONS_MATCHING_H
#define DAE_EQUATIONS_MATCHING_H

#include "core/arena.h"

/* sigma_ij by rows: the highest order of x_j in f_i; an entry that is not stored is -inf. */
typedef struct dae_signature {
    int rows, columns;
    const int *start;  /* rows + 1: entries of row i are start[i] .. start[i+1]-1 */
    const int *column; /* of each entry */
    const int *order;  /* of each entry; functions that need only the pattern do not look at it */
} dae_signature;

/* A matching: partner of each row and of each column, -1 where there is none. */
typedef struct dae_matching {
    int size;
    int *of_row, *of_column;
} dae_matching;

/* A matching of largest size, [HK73]. Arrays come from the arena; 0: out of memory. */
int dae_matching_largest(const dae_signature *s, dae_arena *arena, dae_matching *m);

/* Where too many equations meet too few variables (Dulmage, Mendelsohn): flags of the rows and columns that alternating paths
 * reach from rows without partner (over = 1) or from columns without partner (over = 0). 0: out of memory. */
int dae_matching_part(const dae_signature *s, const dae_matching *m, int over, dae_arena *arena,
                      unsigned char *row, unsigned char *column);

/* Strong components of a graph with n nodes and edges start/to, in an order in which every component comes after those that
 * its edges lead to: component[i] is the number of node i's. Returns their number, < 0: out of memory. */
int dae_strong_components(int n, const int *start, const int *to, dae_arena *arena, int *component);

/* The matching of all rows with the largest sum of orders. *m holds a perfect matching when called (dae_matching_largest). Within
 * the strong components of the pattern, since no perfect matching leaves them; successive shortest paths, [JV87]. 0: out of memory. */
int dae_matching_heaviest(const dae_signature *s, dae_arena *arena, dae_matching *m);

#endif
