/* The pollution problem in the format of the test set report, in C: pollution.f word by word, with the same two other constants. */
#include <string.h>

void prob_(char *fullnm, char *problm, char *type, int *neqn, int *ndisc, double *t, int *numjac, int *mljac,
           int *mujac, int *nummas, int *mlmas, int *mumas, int *ind)
{
    strcpy(fullnm, "Pollution, written by a user");
    strcpy(problm, "pollution3");
    strcpy(type, "ODE");
    *neqn = 20;
    *ndisc = 0;
    t[0] = 0;
    t[1] = 60;
    *numjac = 1;
    *mljac = *mujac = 20;
    (void)nummas, (void)mlmas, (void)mumas, (void)ind; /* of DAEs */
}

void init_(int *neqn, double *t, double *y, double *yprime, int *consis)
{
    (void)t, (void)yprime, (void)consis;
    memset(y, 0, (size_t)*neqn * sizeof *y);
    y[1] = 0.2;
    y[3] = 0.04;
    y[6] = 0.1;
    y[7] = 0.3;
    y[8] = 0.01;
    y[16] = 0.007;
}

void settolerances_(int *neqn, double *rtol, double *atol, int *tolvec)
{
    (void)neqn, (void)rtol, (void)atol;
    *tolvec = 0;
}

void setoutput_(int *neqn, int *solref, int *printsolout, int *nindsol, int *indsol)
{
    (void)neqn;
    *solref = *printsolout = 1;
    *nindsol = 3;
    indsol[0] = 1;
    indsol[1] = 2;
    indsol[2] = 4;
}

void feval_(int *neqn, double *t, double *y, double *yprime, double *f, int *ierr, double *rpar, int *ipar)
{
    double r[25];
    (void)neqn, (void)t, (void)yprime, (void)ierr, (void)rpar, (void)ipar;
    r[0] = 0.5 * y[0];
    r[1] = 26.6 * y[1] * y[3];
    r[2] = 12300.0 * y[4] * y[1];
    r[3] = 0.00086 * y[6];
    r[4] = 0.00082 * y[6];
    r[5] = 15000.0 * y[6] * y[5];
    r[6] = 0.00013 * y[8];
    r[7] = 24000.0 * y[8] * y[5];
    r[8] = 16500.0 * y[10] * y[1];
    r[9] = 9000.0 * y[10] * y[0];
    r[10] = 0.022 * y[12];
    r[11] = 12000.0 * y[9] * y[1];
    r[12] = 1.88 * y[13];
    r[13] = 16300.0 * y[0] * y[5];
    r[14] = 4800000.0 * y[2];
    r[15] = 0.0005 * y[3];
    r[16] = 0.0175 * y[3];
    r[17] = 100000000.0 * y[15];
    r[18] = 444000000000.0 * y[15];
    r[19] = 1240.0 * y[16] * y[5];
    r[20] = 2.1 * y[18];
    r[21] = 5.78 * y[18];
    r[22] = 0.0474 * y[0] * y[3];
    r[23] = 1780.0 * y[18] * y[0];
    r[24] = 3.12 * y[19];
    f[0] = -r[0] - r[9] - r[13] - r[22] - r[23] + r[1] + r[2] + r[8] + r[10] + r[11] + r[21] + r[24];
    f[1] = -r[1] - r[2] - r[8] - r[11] + r[0] + r[20];
    f[2] = -r[14] + r[0] + r[16] + r[18] + r[21];
    f[3] = -r[1] - r[15] - r[16] - r[22] + r[14];
    f[4] = -r[2] + 2 * r[3] + r[5] + r[6] + r[12] + r[19];
    f[5] = -r[5] - r[7] - r[13] - r[19] + r[2] + 2 * r[17];
    f[6] = -r[3] - r[4] - r[5] + r[12];
    f[7] = r[3] + r[4] + r[5] + r[6];
    f[8] = -r[6] - r[7];
    f[9] = -r[11] + r[6] + r[8];
    f[10] = -r[8] - r[9] + r[7] + r[10];
    f[11] = r[8];
    f[12] = -r[10] + r[9];
    f[13] = -r[12] + r[11];
    f[14] = r[13];
    f[15] = -r[17] - r[18] + r[15];
    f[16] = -r[19];
    f[17] = r[19];
    f[18] = -r[20] - r[21] - r[23] + r[22] + r[24];
    f[19] = -r[24] + r[23];
}

void jeval_(int *ldim, int *neqn, double *t, double *y, double *yprime, double *dfdy, int *ierr, double *rpar,
            int *ipar)
{
    (void)ldim, (void)neqn, (void)t, (void)y, (void)yprime, (void)dfdy, (void)ierr, (void)rpar, (void)ipar;
}

void meval_(int *ldim, int *neqn, double *t, double *y, double *yprime, double *dfddy, int *ierr,
            double *rpar, int *ipar)
{
    (void)ldim, (void)neqn, (void)t, (void)y, (void)yprime, (void)dfddy, (void)ierr, (void)rpar, (void)ipar;
}

/* As in pollution.f */
void solut_(int *neqn, double *t, double *y)
{
    static const double reference[] = {
        5.4832961283474937e-02, 1.3586406534053702e-01, 5.7430099067075906e-09, 7.5719276801799905e-03,
        2.0174536311268509e-07, 1.5025646809074512e-07, 7.7531052658461941e-02, 3.2487764311277900e-01,
        7.4376078464826953e-03, 1.6353146794075949e-08, 1.1461840117075450e-08, 2.2899983362922650e-03,
        2.0589968851020135e-04, 1.4251545654096500e-05, 8.9473540939220327e-03, 8.5250255349919804e-18,
        6.8965270922116823e-03, 1.0347290778830872e-04, 2.3655856872925979e-06, 7.3677003934437011e-05,
    };
    (void)t;
    memcpy(y, reference, (size_t)*neqn * sizeof *y);
}
