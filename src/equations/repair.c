/* When the structure lies: the system Jacobian J is singular at every point, because terms cancel or equations depend on each other
 * in a way that signatures do not see.
 *
 * Test. Blocks of J at six points around the start, X = start + s N(0,1) (0.05 + 0.1 |start|), s = 1, 0.3, 0.09, ..., and one around 0 (a guess of
 * 300 V against a diode leaves nothing of its row); rows and
 * columns scaled to 1, singular values below 1e-11 of the largest count as 0, and the point with the fewest of them counts (with
 * s = 1 alone diodes spread J over 15 decades and feign deficits).
 *
 * 1. Linear combination [TNP17], with constant coefficients: u^T J = 0 at all points; theta = min c_i over u_i != 0, l the first of
 *    those;  f_l := sum u_i f_i^(c_i - theta).  The value of the transversal falls, so this ends. If nothing is left of f_l, the
 *    equation follows from the others; if a number is left, it contradicts them.
 * 2. Augmentation [Oki21], where the dependence changes with the state: r is the first row, by falling c, that depends on earlier
 *    rows I; J[I, Jc] regular. New variables y_j stand for x_j^(d_j - c_r), j in Jc, present values for those of the other j;
 *    f_r^(0) is replaced and f_i^(c_i - c_r), i in I, are appended, all with these substitutions.
 *
 * Where we differ: u is scaled so that f_l keeps its own sign and size. */
#include "equations/analysis.h"

#include "core/number.h"
#include "equations/evaluator.h"
#include "linalg/svd.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANK_LIMIT 1e-11 /* singular values, rows and columns scaled to 1 */
#define WHOLE_LIMIT 1e-7 /* coefficients this near to a whole number are that number */
#define ZERO_LIMIT 1e-9  /* coefficients of combinations below this are 0 */
enum {
    POINTS = 7, /* one around 0, six around the start */
    LARGEST_BLOCK = 250
}; /* larger blocks are taken as regular: the first solve with them tells */

typedef struct samples {
    const dae_analysis *a;
    int count;             /* entries of J */
    double *value[POINTS]; /* of the entries; NULL: the point cannot be evaluated */
    double *X[POINTS];
} samples;

/* ---- Points ------------------------------------------------------------------------------------------------ */

static double uniform(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(unsigned long long *seed)
{
    double r = sqrt(-2 * log(uniform(seed)));
    return r * cos(6.283185307179586 * uniform(seed));
}

static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return 0;
    }
    return 1;
}

/* J at the points. 0: out of memory. */
static int sample(samples *s, dae_arena *arena)
{
    const dae_analysis *a = s->a;
    unsigned long long seed = 20010364;
    dae_evaluator *e = dae_evaluator_create(a->model->graph, a->place, s->count, a->entry);
    double *work = e ? calloc(dae_evaluator_work(e) + 1, sizeof *work) : NULL, *given = NULL, size = 1;
    int good = 0;
    double *start = dae_arena_reals(arena, (size_t)a->total + 1);
    given = dae_arena_reals(arena, (size_t)(a->model->nparameter + a->model->ndiscrete) + 1);
    if (!work || !start || !given) goto done;
    for (int i = 0; i < a->model->nparameter; i++) given[i] = a->model->parameter[i].value;
    for (int i = 0; i < a->model->ndiscrete; i++)
        given[a->model->nparameter + i] = a->model->discrete[i].start;
    dae_evaluator_start(e, work, given, given + a->model->nparameter);
    dae_analysis_start(a, start);
    for (int p = 0; p < POINTS; p++) {
        unsigned long long own = 1, *from = p ? &seed : &own;
        s->X[p] = dae_arena_reals(arena, (size_t)a->total + 1);
        s->value[p] = dae_arena_reals(arena, (size_t)s->count + 1);
        if (dae_arena_failed(arena)) goto done;
        for (int i = 0; i < a->total; i++)
            s->X[p][i] = (p ? start[i] : 0) + size * normal(from) * (0.05 + (p ? 0.1 * fabs(start[i]) : 0));
        double t = a->model->t0 + 1e-4 * (a->model->t1 - a->model->t0) * uniform(from);
        if (p) size *= 0.3;
        dae_evaluator_run(e, work, t, s->X[p], s->value[p]);
        if (!all_finite(s->value[p], s->count)) s->value[p] = NULL;
    }
    good = 1;
done:
    free(work);
    dae_evaluator_destroy(e);
    return good;
}

/* ---- Ranks --------------------------------------------------------------------------------------------------- */

/* A set of equations, rising, and of the columns that belong to them; at[] is the place of a column among them or -1. */
typedef struct part {
    int m, *row, *at;
} part;

/* The matrix of the part at point p, m x m column-major, rows and columns divided by their largest entry. */
static void scaled_matrix(const samples *s, const part *b, int p, double *A)
{
    const dae_analysis *a = s->a;
    int m = b->m;
    memset(A, 0, (size_t)m * (size_t)m * sizeof *A);
    for (int r = 0; r < m; r++) {
        int i = b->row[r];
        double largest = 0;
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; k++) {
            if (b->at[a->column[k]] >= 0) largest = fmax(largest, fabs(s->value[p][k]));
        }
        for (int k = a->row_start[i]; k < a->row_start[i + 1] && largest > 0; k++) {
            int j = b->at[a->column[k]];
            if (j >= 0) A[r + j * m] = s->value[p][k] / largest;
        }
    }
    for (int j = 0; j < m; j++) {
        double largest = 0;
        for (int r = 0; r < m; r++) largest = fmax(largest, fabs(A[r + j * m]));
        for (int r = 0; r < m && largest > 0; r++) A[r + j * m] /= largest;
    }
}

static int zeros(const double *s, int n)
{
    int count = 0;
    while (count < n && s[n - 1 - count] <= RANK_LIMIT * s[0]) count++;
    return count;
}

/* The least deficit over the points. */
static int deficit(const samples *s, const part *b, double *A, double *sigma)
{
    int least = INT_MAX;
    for (int p = 0; p < POINTS && least > 0; p++) {
        if (!s->value[p]) continue;
        scaled_matrix(s, b, p, A);
        dae_svd(b->m, b->m, A, sigma, NULL);
        int d = zeros(sigma, b->m);
        if (d < least) least = d;
    }
    return least == INT_MAX ? 0 : least;
}

static void set_part(const dae_analysis *a, const unsigned char *in, part *b)
{
    b->m = 0;
    for (int j = 0; j < a->n; j++) b->at[j] = -1;
    for (int i = 0; i < a->n; i++) {
        if (!in[i]) continue;
        b->at[a->sigma.match[i]] = b->m;
        b->row[b->m++] = i;
    }
}

/* The first block that is singular, -1: none, -2: no memory. */
static int singular_block(const samples *s, part *b)
{
    const dae_analysis *a = s->a;
    int found = -1;
    for (int j = 0; j < a->n; j++) b->at[j] = -1;
    for (int k = 0; k < a->sigma.nblock && found == -1; k++) {
        b->m = a->sigma.block_start[k + 1] - a->sigma.block_start[k];
        b->row = a->sigma.block_row + a->sigma.block_start[k];
        if (b->m > LARGEST_BLOCK) continue;
        double *A = calloc((size_t)b->m * (size_t)b->m + (size_t)b->m, sizeof *A);
        if (!A) return -2;
        for (int r = 0; r < b->m; r++) b->at[a->sigma.match[b->row[r]]] = r;
        if (deficit(s, b, A, A + b->m * b->m) > 0) found = k;
        for (int r = 0; r < b->m; r++) b->at[a->sigma.match[b->row[r]]] = -1;
        free(A);
    }
    return found;
}

/* Flags the equations of a block and of all that it depends on. */
static void closure(const dae_analysis *a, const int *equation_of, int block, unsigned char *in)
{
    for (int i = 0; i < a->n; i++) in[i] = a->sigma.block[i] == block;
    for (int b = block; b >= 0; b--) {
        for (int r = a->sigma.block_start[b]; r < a->sigma.block_start[b + 1]; r++) {
            int i = a->sigma.block_row[r];
            for (int k = a->row_start[i]; k < a->row_start[i + 1] && in[i]; k++) {
                int first = equation_of[a->column[k]], other = a->sigma.block[first];
                if (in[first]) continue;
                for (int q = a->sigma.block_start[other]; q < a->sigma.block_start[other + 1]; q++)
                    in[a->sigma.block_row[q]] = 1;
            }
        }
    }
}

/* ---- Linear combinations --------------------------------------------------------------------------------------- */

/* Echelon form of `count` vectors of length m (columns of K): the first nonzero entry of vector 0 is 1, others have 0 there. */
static void echelon(int m, int count, double *K)
{
    int done = 0;
    for (int i = 0; i < m && done < count; i++) {
        int best = done;
        for (int v = done; v < count; v++) best = fabs(K[v * m + i]) > fabs(K[best * m + i]) ? v : best;
        if (fabs(K[best * m + i]) < WHOLE_LIMIT) continue;
        double pivot = K[best * m + i];
        for (int r = 0; r < m; r++) {
            double x = K[best * m + r] / pivot;
            K[best * m + r] = K[done * m + r];
            K[done * m + r] = x;
        }
        for (int v = 0; v < count; v++) {
            double factor = K[v * m + i];
            for (int r = 0; r < m && v != done; r++) K[v * m + r] -= factor * K[done * m + r];
        }
        done++;
    }
}

/* u (m) with u^T J = 0 at all points: 1, or 0: there is none. -1: no memory. */
static int constant_dependence(const samples *s, const part *b, double *u)
{
    int m = b->m, rows = 0;
    double *A = calloc((size_t)m * (size_t)m * POINTS + (size_t)m * (size_t)m + 2 * (size_t)m, sizeof *A);
    if (!A) return -1;
    double *V = A + (long)m * m * POINTS, *sigma = V + (long)m * m, *scale = sigma + m;
    for (int r = 0; r < m; r++) {
        for (int p = 0; p < POINTS; p++) {
            for (int k = s->a->row_start[b->row[r]]; s->value[p] && k < s->a->row_start[b->row[r] + 1]; k++)
                scale[r] = fmax(scale[r], fabs(s->value[p][k]));
        }
    }
    for (int p = 0; p < POINTS; p++) rows += s->value[p] ? m : 0;
    for (int p = 0, at = 0; p < POINTS;
         p++) { /* equations are columns, the columns of J at each point are rows */
        if (!s->value[p]) continue;
        for (int r = 0; r < m; r++) {
            int i = b->row[r];
            for (int k = s->a->row_start[i]; k < s->a->row_start[i + 1]; k++)
                A[(long)r * rows + at + b->at[s->a->column[k]]] = s->value[p][k] / scale[r];
        }
        at += m;
    }
    for (int q = 0; q < rows; q++) { /* each variable at each point in its own size */
        double largest = 0;
        for (int r = 0; r < m; r++) largest = fmax(largest, fabs(A[(long)r * rows + q]));
        for (int r = 0; r < m && largest > 0; r++) A[(long)r * rows + q] /= largest;
    }
    dae_svd(rows, m, A, sigma, V);
    int count = zeros(sigma, m);
    double *K = V + (long)m * (m - count);
    for (int v = 0; v < count; v++) {
        for (int r = 0; r < m; r++) K[v * m + r] /= scale[r];
    }
    for (int v = 0; v < count; v++) {
        double largest = 0;
        for (int r = 0; r < m; r++) largest = fmax(largest, fabs(K[v * m + r]));
        for (int r = 0; r < m; r++) K[v * m + r] /= largest;
    }
    echelon(m, count, K);
    for (int r = 0; r < m && count > 0; r++) u[r] = fabs(K[r]) < ZERO_LIMIT ? 0 : K[r];
    free(A);
    return count > 0;
}

/* "line 7 + line 8 - 2*(rod)''" */
static void write_combination(const dae_analysis *a, const part *b, const double *u, int theta, char *text,
                              size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int r = 0; r < b->m; r++) {
        int i = b->row[r];
        char factor[40] = "", primes[8] = "";
        if (u[r] == 0 || used + 60 > size) continue;
        if (fabs(u[r]) != 1) dae_snprintf(factor, sizeof factor, "%.10g*", fabs(u[r]));
        for (int k = 0; k < a->sigma.c[i] - theta && k < 6; k++) strcat(primes, "'");
        used += (size_t)snprintf(text + used, size - used, "%s%s(%s)%s",
                                 u[r] < 0 ? (used ? " - " : "-")
                                 : used   ? " + "
                                          : "",
                                 factor, a->equation[i], primes);
    }
}

/* The others of a combination that leaves nothing: "rod2". */
static void name_others(const dae_analysis *a, const part *b, const double *u, int l, char *text, size_t size)
{
    size_t used = 0;
    for (int r = 0; r < b->m; r++) {
        if (u[r] == 0 || b->row[r] == l || used + strlen(a->equation[b->row[r]]) + 8 > size) continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", used ? " and " : "", a->equation[b->row[r]]);
    }
}

/* Replaces one equation by the combination u. 1, or -1 with a message. */
static int combine(dae_analysis *a, const part *b, double *u, dae_arena *arena, dae_messages *messages)
{
    dae_graph *g = a->model->graph;
    dae_term *term = dae_arena_take(arena, (size_t)b->m + 1, sizeof *term);
    char text[300], others[160] = "", node_text[160];
    int l = -1, at = 0, count = 0;
    for (int r = 0; r < b->m; r++) {
        if (u[r] != 0 && (l < 0 || a->sigma.c[b->row[r]] < a->sigma.c[l])) l = b->row[at = r];
    }
    int theta = a->sigma.c[l];
    double pivot = u[at], left;
    for (int r = 0; r < b->m && term; r++) {
        int i = b->row[r];
        u[r] /= pivot;
        if (fabs(u[r] - round(u[r])) < WHOLE_LIMIT) u[r] = round(u[r]);
        if (u[r] != 0) term[count++] = (dae_term){a->value[a->first[i] + a->sigma.c[i] - theta], u[r]};
    }
    int node = dae_graph_expand(g, 0, count, term);
    if (!term || dae_graph_failed(g)) {
        dae_messages_starved(messages);
        return -1;
    }
    name_others(a, b, u, l, others, sizeof others);
    if (dae_graph_is_number(g, node, &left)) {
        if (fabs(left) < 1e-12)
            dae_messages_error(messages, a->place_of[l], "%s follows from %s and can be removed",
                               a->equation[l], others);
        else
            dae_messages_error(messages, a->place_of[l],
                               "%s contradicts %s: their combination leaves %.6g = 0", a->equation[l], others,
                               left);
        return -1;
    }
    write_combination(a, b, u, theta, text, sizeof text);
    dae_model_node_text(a->model, node, node_text, sizeof node_text);
    dae_messages_note(messages, a->place_of[l],
                      "hidden dependence: %s, that is 0 = %s, takes the place of %s", text, node_text,
                      a->equation[l]);
    snprintf(text, sizeof text, "%s*", a->equation[l]);
    a->node[l] = node;
    a->equation[l] = dae_arena_copy(arena, text, strlen(text) + 1, 1);
    a->combinations++;
    return a->equation[l] ? 1 : -1;
}

/* ---- Augmentation ------------------------------------------------------------------------------------------------- */

static int by_falling_offset(const dae_analysis *a, int *row, int m)
{
    for (int i = 1; i < m; i++) { /* insertion keeps the order of equal ones */
        int x = row[i], k = i;
        for (; k > 0 && a->sigma.c[row[k - 1]] < a->sigma.c[x]; k--) row[k] = row[k - 1];
        row[k] = x;
    }
    return m;
}

/* Elimination over the columns, row by row: the first row that is a combination of those before it. coefficient (m): of the earlier
 * rows; pivot_column: where each earlier row has its pivot. Returns its place, -1: all are independent. */
static int first_dependent(int m, double *A, double *coefficient, int *pivot_column)
{
    double *T =
        calloc((size_t)m * (size_t)m, sizeof *T); /* row r of the reduced matrix = sum T[r][k] row k */
    int found = -1;
    for (int r = 0; T && r < m && found < 0; r++) {
        double largest = 0;
        int best = 0;
        T[r + (long)r * m] = 1;
        for (int k = 0; k < r; k++) {
            double factor = A[r + (long)pivot_column[k] * m] / A[k + (long)pivot_column[k] * m];
            for (int j = 0; j < m; j++) {
                A[r + (long)j * m] -= factor * A[k + (long)j * m];
                T[r + (long)j * m] -= factor * T[k + (long)j * m];
            }
        }
        for (int j = 0; j < m; j++) {
            if (fabs(A[r + (long)j * m]) > largest) {
                largest = fabs(A[r + (long)j * m]);
                best = j;
            }
        }
        pivot_column[r] = best;
        if (largest > 1e-9) continue;
        found = r;
        for (int k = 0; k < r; k++) coefficient[k] = fabs(T[r + (long)k * m]) > 1e-8 ? T[r + (long)k * m] : 0;
    }
    free(T);
    return found;
}

/* Room for `more` further equations and variables. */
static int grow(dae_analysis *a, int more, dae_arena *arena)
{
    size_t n = (size_t)(a->n + more) + 1, old = (size_t)a->n;
    int *node = dae_arena_ints(arena, n);
    const char **equation = dae_arena_take(arena, n, sizeof *equation),
               **variable = dae_arena_take(arena, n, sizeof *variable);
    dae_place *place = dae_arena_take(arena, n, sizeof *place);
    double *start = dae_arena_reals(arena, n);
    if (dae_arena_failed(arena)) return 0;
    memcpy(node, a->node, old * sizeof *node);
    memcpy(equation, a->equation, old * sizeof *equation);
    memcpy(variable, a->variable, old * sizeof *variable);
    memcpy(place, a->place_of, old * sizeof *place);
    if (a->augmented_start) memcpy(start, a->augmented_start, old * sizeof *start);
    a->node = node;
    a->equation = equation;
    a->variable = variable;
    a->place_of = place;
    a->augmented_start = start;
    return 1;
}

static const char *primed_name(const dae_analysis *a, int j, int order, dae_arena *arena)
{
    char text[120];
    snprintf(text, sizeof text, "[%.100s%.*s]", a->variable[j], order < 8 ? order : 8, "''''''''");
    return dae_arena_copy(arena, text, strlen(text) + 1, 1);
}

/* f_r and the equations `others` (count) with leaves replaced, [Oki21]. column[k]: the variable whose derivative becomes a new
 * variable. */
static int substitute(dae_analysis *a, const double *X, int r, int count, const int *others,
                      const int *column, dae_arena *arena)
{
    dae_graph *g = a->model->graph;
    int old = a->n, c = a->sigma.c[r], nleaf = 0;
    int *from = dae_arena_ints(arena, (size_t)old + 1), *to = dae_arena_ints(arena, (size_t)old + 1);
    double *start;
    if (!from || !to || !grow(a, count, arena)) return 0;
    start = dae_arena_copy(arena, a->augmented_start, (size_t)(old + count), sizeof *start);
    if (!start) return 0;
    for (int j = 0; j < old; j++) {
        int order = a->sigma.d[j] - c, fresh = -1;
        if (order < 0) continue;
        for (int k = 0; k < count; k++) fresh = column[k] == j ? old + k : fresh;
        double value = X[a->place[j] + order];
        from[nleaf] = dae_graph_variable(g, j, order);
        to[nleaf++] = fresh >= 0 ? dae_graph_variable(g, fresh, 0) : dae_graph_number(g, value);
        if (fresh < 0) continue;
        start[fresh] = value;
        a->variable[fresh] = primed_name(a, j, order, arena);
    }
    a->augmented_start = start;
    a->node[r] = dae_graph_substitute(g, a->node[r], nleaf, from, to);
    for (int k = 0; k < count; k++) {
        int i = others[k];
        a->node[old + k] =
            dae_graph_substitute(g, a->value[a->first[i] + a->sigma.c[i] - c], nleaf, from, to);
        a->equation[old + k] = a->equation[i];
        ((dae_place *)a->place_of)[old + k] = a->place_of[i];
    }
    a->n += count;
    a->augmented += count;
    return !dae_graph_failed(g) && !dae_arena_failed(arena);
}

/* 1: done; 0: no dependent row at this point; -1: no memory. */
static int augment(const samples *s, dae_analysis *a, part *b, dae_arena *arena, dae_messages *messages)
{
    int m = b->m, p = POINTS - 1, count = 0;
    while (p >= 0 && !s->value[p]) p--;
    double *A = dae_arena_reals(arena, (size_t)m * (size_t)m + 1),
           *coefficient = dae_arena_reals(arena, (size_t)m + 1);
    int *pivot = dae_arena_ints(arena, (size_t)m + 1), *others = dae_arena_ints(arena, (size_t)m + 1);
    int *column = dae_arena_ints(arena, (size_t)m + 1), *variable = dae_arena_ints(arena, (size_t)m + 1);
    if (dae_arena_failed(arena)) return -1;
    by_falling_offset(a, b->row, m);
    for (int j = 0; j < a->n; j++) {
        if (b->at[j] >= 0) variable[b->at[j]] = j;
    }
    scaled_matrix(s, b, p, A);
    int r = first_dependent(m, A, coefficient, pivot);
    if (r < 0) return 0;
    for (int k = 0; k < r; k++) {
        if (coefficient[k] == 0) continue;
        others[count] = b->row[k];
        column[count++] = variable[pivot[k]];
    }
    int row = b->row[r];
    char text[160];
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < count && used + 60 < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                                 a->equation[others[k]]);
    if (!substitute(a, s->X[p], row, count, others, column, arena)) return -1;
    dae_messages_note(messages, a->place_of[row],
                      "hidden dependence that changes with the state: %s depends on %s; %d variable%s added",
                      a->equation[row], text, count, count == 1 ? "" : "s");
    return 1;
}

/* ---- All of it -------------------------------------------------------------------------------------------------------- */

int dae_analysis_repair(dae_analysis *a, dae_arena *arena, dae_messages *messages)
{
    samples s = {.a = a, .count = a->row_start[a->n]};
    size_t n = (size_t)a->n + 1;
    unsigned char *in = dae_arena_take(arena, n, 1);
    int *equation_of = dae_arena_ints(arena, n), *row = dae_arena_ints(arena, n);
    double *u = dae_arena_reals(arena, n);
    part b = {0, NULL, dae_arena_ints(arena, n)};
    if (dae_arena_failed(arena) || !sample(&s, arena)) goto memory;
    int block = singular_block(&s, &b);
    if (block == -1) return 0;
    if (block == -2) goto memory;
    for (int i = 0; i < a->n; i++) equation_of[a->sigma.match[i]] = i;
    closure(a, equation_of, block, in);
    b.row = row;
    set_part(a, in, &b);
    if (b.m > LARGEST_BLOCK) {
        dae_messages_error(messages, a->place_of[b.row[0]],
                           "%d equations around %s depend on each other in a way that is too large "
                           "to be found out; write them so that each variable has its equation",
                           b.m, a->equation[b.row[0]]);
        return -1;
    }
    int found = constant_dependence(&s, &b, u);
    if (found > 0) return combine(a, &b, u, arena, messages);
    if (found == 0) found = augment(&s, a, &b, arena, messages);
    if (found > 0) return 1;
    if (found == 0) {
        dae_messages_error(messages, a->place_of[b.row[0]],
                           "the equations around %s do not determine their highest derivatives "
                           "(the system Jacobian is singular), and no combination of them helps",
                           a->equation[b.row[0]]);
        return -1;
    }
memory:
    dae_messages_starved(messages);
    return -1;
}
