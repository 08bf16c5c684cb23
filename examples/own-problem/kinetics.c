/* Robertson's kinetics as an index-1 DAE in the format of the test set report, in C: the routines of the report with their Fortran
 * names, all arguments by address. M = diag(1, 1, 0), the third equation keeps the sum.
 *
 *     daedalus build kinetics.c
 *     daedalus run ./kinetics.so */
#include <string.h>

void prob_(char *fullnm, char *problm, char *type, int *neqn, int *ndisc, double *t, int *numjac, int *mljac,
           int *mujac, int *nummas, int *mlmas, int *mumas, int *ind)
{
    strcpy(fullnm, "Robertson's kinetics");
    strcpy(problm, "kinetics");
    strcpy(type, "DAE");
    *neqn = 3;
    *ndisc = 0;
    t[0] = 0;
    t[1] = 40;
    *numjac = 0;
    *mljac = *mujac = 3;
    *nummas = 0;
    *mlmas = *mumas = 0; /* M is diagonal */
    for (int i = 0; i < 3; i++) ind[i] = 1;
}

void init_(int *neqn, double *t, double *y, double *yprime, int *consis)
{
    (void)neqn, (void)t;
    y[0] = 1;
    y[1] = y[2] = 0;
    yprime[0] = -0.04;
    yprime[1] = 0.04;
    yprime[2] = 0;
    *consis = 1;
}

void settolerances_(int *neqn, double *rtol, double *atol, int *tolvec)
{
    for (int i = 0; i < *neqn; i++) {
        rtol[i] = rtol[0];
        atol[i] = i == 1 ? 1e-4 * atol[0] : atol[0]; /* the second species is small */
    }
    *tolvec = 1;
}

void setoutput_(int *neqn, int *solref, int *printsolout, int *nindsol, int *indsol)
{
    *solref = *printsolout = 1;
    *nindsol = *neqn;
    for (int i = 0; i < *neqn; i++) indsol[i] = i + 1;
}

void feval_(int *neqn, double *t, double *y, double *yprime, double *f, int *ierr, double *rpar, int *ipar)
{
    (void)neqn, (void)t, (void)yprime, (void)rpar, (void)ipar;
    *ierr = 0;
    f[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    f[1] = -f[0] - 3e7 * y[1] * y[1];
    f[2] = y[0] + y[1] + y[2] - 1;
}

void jeval_(int *ldim, int *neqn, double *t, double *y, double *yprime, double *dfdy, int *ierr, double *rpar,
            int *ipar)
{
    int n = *ldim;
    (void)neqn, (void)t, (void)yprime, (void)rpar, (void)ipar;
    *ierr = 0;
    dfdy[0] = -0.04;
    dfdy[1] = 0.04;
    dfdy[n] = 1e4 * y[2];
    dfdy[n + 1] = -1e4 * y[2] - 6e7 * y[1];
    dfdy[2 * n] = 1e4 * y[1];
    dfdy[2 * n + 1] = -1e4 * y[1];
    dfdy[2] = dfdy[n + 2] = dfdy[2 * n + 2] = 1;
}

void meval_(int *ldim, int *neqn, double *t, double *y, double *yprime, double *m, int *ierr, double *rpar,
            int *ipar)
{
    (void)ldim, (void)neqn, (void)t, (void)y, (void)yprime, (void)rpar, (void)ipar;
    *ierr = 0;
    m[0] = m[1] = 1;
    m[2] = 0;
}

/* At t = 40: [HW] and many others. */
void solut_(int *neqn, double *t, double *y)
{
    (void)neqn, (void)t;
    y[0] = 0.7158270687193947;
    y[1] = 0.9185534764557763e-5;
    y[2] = 0.2841637457458301;
}
