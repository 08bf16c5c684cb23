/* M y' = f(t,y): Robertson's kinetics with M = diag(1,1,0); row 3 conserves mass. */
#include <daedalus/daedalus.h>
#include <stdio.h>

static int robertson(double t, const double *y, double *f, void *user)
{
    const double *k = user;
    (void)t;
    f[0] = -k[0] * y[0] + k[1] * y[1] * y[2];
    f[1] = -f[0] - k[2] * y[1] * y[1];
    f[2] = y[0] + y[1] + y[2] - 1;
    return 0; /* > 0: not here, try a smaller step; < 0: stop */
}

int main(void)
{
    double k[] = {0.04, 1e4, 3e7}, mass[] = {1, 1, 0}, y[] = {1, 0, 0};
    dae_system sys = {
        .kind = DAE_KIND_DAE,
        .dae = {.n = 3, .mass = dae_diagonal(3, mass), .f = robertson, .user = k},
    };
    dae_options opt = dae_options_default();
    opt.method = "radau5";
    opt.rtol = 1e-8;
    opt.atol = 1e-12;

    dae_stats stats;
    dae_error err;
    dae_status s = dae_solve(&sys, &opt, 0, 40, y, &stats, &err);
    if (s < 0) {
        fprintf(stderr, "robertson: %s (t = %g)\n", err.text, err.t);
        return 1;
    }
    printf("robertson  %+.5e %+.5e, %ld steps\n", y[0], y[1], stats.accepted);
    return 0;
}
