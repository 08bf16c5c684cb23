/* Vectors of three and 3 x 3 matrices (by rows). */
#ifndef MBS_VECTOR3_H
#define MBS_VECTOR3_H

#include <math.h>

static inline double mbs_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double mbs_norm(const double *a)
{
    return sqrt(mbs_dot(a, a));
}
/* c = a x b; c may not be a or b */
static inline void mbs_cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
static inline void mbs_set(double *to, const double *from)
{
    for (int i = 0; i < 3; i++) to[i] = from[i];
}
/* y = A x */
static inline void mbs_rotate(const double *A, const double *x, double *y)
{
    for (int i = 0; i < 3; i++) y[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
}
/* y = A^T x */
static inline void mbs_rotate_back(const double *A, const double *x, double *y)
{
    for (int i = 0; i < 3; i++) y[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
}
/* C = A B */
static inline void mbs_multiply(const double *A, const double *B, double *C)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
}
/* C = A^T B */
static inline void mbs_multiply_back(const double *A, const double *B, double *C)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
    }
}
/* Rotation matrix of Euler parameters w, x, y, z of any length (their length does not matter). */
static inline void mbs_quaternion_matrix(const double *q, double *A)
{
    double s = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double xx = s * q[1] * q[1], yy = s * q[2] * q[2], zz = s * q[3] * q[3];
    double xy = s * q[1] * q[2], xz = s * q[1] * q[3], yz = s * q[2] * q[3];
    double wx = s * q[0] * q[1], wy = s * q[0] * q[2], wz = s * q[0] * q[3];
    A[0] = 1 - yy - zz, A[1] = xy - wz, A[2] = xz + wy;
    A[3] = xy + wz, A[4] = 1 - xx - zz, A[5] = yz - wx;
    A[6] = xz - wy, A[7] = yz + wx, A[8] = 1 - xx - yy;
}
static inline void mbs_plane_matrix(double angle, double *A)
{
    double c = cos(angle), s = sin(angle);
    A[0] = c, A[1] = -s, A[2] = 0;
    A[3] = s, A[4] = c, A[5] = 0;
    A[6] = 0, A[7] = 0, A[8] = 1;
}

#endif
