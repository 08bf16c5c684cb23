/* Universal (Cardan) joint: two points coincide and two axes stay perpendicular: the axis on a, and local x of
 * the point on b (where that has no frame: a direction perpendicular to the axis in the described pose). */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    mbs_row *r = mbs_add_row(b, &mbs_row_dot1, 1, &j->i, &j->j);
    if (!r) return DAE_ERR_MEMORY;
    mbs_column(j->i.C, 2, r->a);
    mbs_column(j->j.C, 0, r->b);
    if (j->oriented) mbs_set(r->b, j->axis_j);
    return DAE_OK;
}

/* ---- Relative motion: q = (angle about the axis on the parent, about that on the body) ------------------------------ */

/* F_i Rz(q0) Rx(q1) F_j^T: K1 = F_i, K2 = F_j^T */
static void set(const mbs_mechanism *m, const mbs_joint_data *j, int from, mbs_link *k)
{
    const mbs_row *r = &m->row[j->first + j->count - 1];
    const double *on_parent = from ? r->b : r->a, *on_body = from ? r->a : r->b;
    double F[9];
    mbs_set(k->other, on_body);
    mbs_frame_about(on_parent, 2, k->axis);
    mbs_frame_about(on_body, 0, F);
    memcpy(k->K + 9, k->axis, sizeof k->axis);
    for (int e = 0; e < 9; e++) k->K[18 + e] = F[3 * (e % 3) + e / 3];
    mbs_matrix_to_quaternion(k->axis, k->ei);
    mbs_matrix_to_quaternion(F, k->ej);
}

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    double D[9], E[9], F[9];
    (void)slide;
    D[0] = cos(q[0]), D[3] = sin(q[0]), D[6] = 0;
    D[1] = -D[3] * cos(q[1]), D[4] = D[0] * cos(q[1]), D[7] = sin(q[1]);
    D[2] = D[3] * D[7], D[5] = -D[0] * D[7], D[8] = cos(q[1]);
    mbs_multiply(k->K + 9, D, E);
    mbs_multiply(E, k->K + 18, F);
    mbs_multiply(parent, F, A);
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double h[3], a[3];
    mbs_column(axes, 2, h);
    mbs_rotate(x->A, k->other, a);
    mbs_turn_S(S, h, x->w);
    mbs_turn_S(S + 6, a, x->w);
}

/* The second axis turns with the first angle. */
static void bias(const double *S, const double *s, double *turn)
{
    double a[3], b[3];
    for (int i = 0; i < 3; i++) a[i] = S[3 + i] * s[0], b[i] = S[9 + i] * s[1];
    mbs_cross(a, b, turn);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    double turn[4] = {cos(q[0] / 2), 0, 0, sin(q[0] / 2)}, second[4] = {cos(q[1] / 2), sin(q[1] / 2), 0, 0};
    double a[4], b[4];
    mbs_quaternion_product(k->ei, turn, a);
    mbs_quaternion_product(a, second, b);
    mbs_quaternion_conjugate(k->ej, a);
    mbs_quaternion_product(b, a, d);
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    double D[9], E[9], R[9];
    mbs_multiply_back(x->parent->A, x->body->A, D);
    mbs_multiply_back(k->K + 9, D, E);
    for (int i = 0; i < 9; i++) R[i] = k->K[18 + 3 * (i % 3) + i / 3]; /* F_j */
    mbs_multiply(E, R, D);
    q[0] = atan2(D[3], D[0]);
    q[1] = atan2(D[7], D[8]);
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    double a[3];
    mbs_rotate(x->body->A, k->other, a);
    s[0] = x->turn;
    s[1] = mbs_dot(a, x->omega);
}

static const mbs_relative two_turns = {.dof = 2,
                                       .set = set,
                                       .place = place,
                                       .columns = columns,
                                       .bias = bias,
                                       .quaternion = quaternion,
                                       .fit = fit,
                                       .rates = rates};

const mbs_joint_type mbs_joint_universal = {
    .name = "universal",
    .doc = "points coincide, the axis of a stays perpendicular to local x of b",
    .spatial_rows = 4,
    .build = build,
    .space = &two_turns,
};
