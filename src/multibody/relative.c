#include "multibody/relative.h"

void mbs_quaternion_product(const double *a, const double *b, double *c)
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void mbs_quaternion_conjugate(const double *a, double *b)
{
    b[0] = a[0];
    for (int i = 1; i < 4; i++) b[i] = -a[i];
}

void mbs_quaternion_normalize(double *e)
{
    double n = 1 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    for (int i = 0; i < 4; i++) e[i] *= n;
}

/* The largest parameter first, so that nothing is divided by a small number. */
void mbs_matrix_to_quaternion(const double *A, double *e)
{
    double trace = A[0] + A[4] + A[8];
    int k = trace > A[0] && trace > A[4] && trace > A[8] ? 3
            : A[0] >= A[4] && A[0] >= A[8]               ? 0
            : A[4] >= A[8]                               ? 1
                                                         : 2;
    if (k == 3) {
        e[0] = 1 + trace;
        e[1] = A[7] - A[5], e[2] = A[2] - A[6], e[3] = A[3] - A[1];
    } else {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        e[0] = A[3 * j + i] - A[3 * i + j];
        e[1 + k] = 1 + A[4 * k] - A[4 * i] - A[4 * j];
        e[1 + i] = A[3 * k + i] + A[3 * i + k];
        e[1 + j] = A[3 * k + j] + A[3 * j + k];
    }
    mbs_quaternion_normalize(e);
}

/* e_i (cos q/2, 0, 0, sin q/2) e_j^-1 */
void mbs_turn_quaternion(const mbs_link *k, double angle, double *d)
{
    double turn[4] = {cos(angle / 2), 0, 0, sin(angle / 2)}, a[4], b[4];
    mbs_quaternion_product(k->ei, turn, a);
    mbs_quaternion_conjugate(k->ej, b);
    mbs_quaternion_product(a, b, d);
}

void mbs_frame_about(const double *axis, int at, double *F)
{
    int small = fabs(axis[0]) <= fabs(axis[1]) && fabs(axis[0]) <= fabs(axis[2]) ? 0
                : fabs(axis[1]) <= fabs(axis[2])                                 ? 1
                                                                                 : 2;
    double other[3] = {small == 0, small == 1, small == 2}, a[3], b[3];
    mbs_cross(axis, other, a);
    double n = mbs_norm(a);
    for (int i = 0; i < 3; i++) a[i] /= n;
    mbs_cross(axis, a, b);
    for (int i = 0; i < 3; i++) {
        F[3 * i + at] = axis[i];
        F[3 * i + (at + 1) % 3] = a[i];
        F[3 * i + (at + 2) % 3] = b[i];
    }
}

double mbs_held_value(const mbs_mechanism *m, const mbs_joint_data *j)
{
    for (int r = j->first; r < j->first + j->count; r++) {
        if (m->row[r].type == &mbs_row_coordinate) return m->row[r].value;
    }
    return 0;
}

void mbs_hold_turn(const mbs_mechanism *m, const mbs_joint_data *j, int from, mbs_link *k)
{
    for (int i = 0; i < 9; i++) k->K[i] += k->K[9 + i]; /* q = 0 */
    if (m->planar) k->offset = (from ? -1 : 1) * (j->angle.offset + mbs_held_value(m, j));
}
