/* Dense output: the program takes the steps itself and reads the solution at times of its own.
 * The oscillator y'' = -y is stepped by the method that auto picks and read every 0.1 s between the steps. */
#include <daedalus/daedalus.h>
#include <math.h>
#include <stdio.h>

static int oscillator(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -y[0];
    return 0;
}

int main(void)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = oscillator}};
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = 1e-9;

    const double t_end = 10;
    double y0[] = {1, 0}, y[2], worst = 0;
    int points = 0;
    dae_error err = {0};
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    dae_status s = it ? dae_integrator_start(it, 0, t_end, y0, NULL, &err) : err.status;
    while (s >= 0 && dae_integrator_time(it) < t_end) {
        s = dae_integrator_step(it, &err);
        for (; s >= 0 && points * 0.1 <= dae_integrator_time(it); points++) {
            double t = points * 0.1;
            s = dae_integrator_interpolate(it, t, y, NULL);
            if (points % 20 == 0) printf("%4.1f  %+.9f %+.9f\n", t, y[0], y[1]);
            worst = fmax(worst, fmax(fabs(y[0] - cos(t)), fabs(y[1] + sin(t))));
        }
    }
    if (s < 0) fprintf(stderr, "dense_output: %s (t = %g)\n", err.text, err.t);
    else
        printf("%d points from %ld steps, largest error %.1e\n", points, dae_integrator_stats(it)->accepted,
               worst);
    dae_integrator_destroy(it);
    return s >= 0 && points >= 100 && worst < 1e-7 ? 0 : 1;
}
