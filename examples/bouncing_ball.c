/* Events: a ball falls from 1 m and keeps 90 % of its speed at each bounce. Bounce k comes at
 * t_1 = sqrt(2/g), t_(k+1) = t_k + 2 v_k/g with v_k = 0.9^k sqrt(2 g); the program compares. */
#include <daedalus/daedalus.h>
#include <math.h>
#include <stdio.h>

enum { BOUNCES = 20 };
static const double g = 9.81, keeps = 0.9;

static int fall(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -g;
    return 0;
}

static int height(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)yp, (void)user;
    phi[0] = y[0];
    return 0;
}

static int bounce(int i, double t, int rising, double *y, double *yp, void *user)
{
    int *count = user;
    (void)i, (void)t, (void)rising, (void)yp;
    y[0] = 0;
    y[1] = -keeps * y[1];
    return ++*count == BOUNCES ? DAE_EVENT_STOP : DAE_EVENT_RESTART;
}

int main(void)
{
    int count = 0;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = fall}};
    dae_event floor_hit = {.name = "bounce", .direction = DAE_FALLING};
    dae_events events = {.count = 1, .event = &floor_hit, .phi = height, .action = bounce, .user = &count};
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = 1e-10;

    dae_error err = {0};
    double y0[] = {1, 0}, worst = 0;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    dae_status s = it ? dae_integrator_set_events(it, &events, &err) : err.status;
    if (s >= 0) s = dae_integrator_start(it, 0, 20, y0, NULL, &err);
    if (s >= 0) s = dae_integrator_advance(it, 20, &err);
    if (s < 0) {
        fprintf(stderr, "bouncing_ball: %s (t = %g)\n", err.text, err.t);
        dae_integrator_destroy(it);
        return 1;
    }
    int found = 0;
    const dae_event_record *record = dae_integrator_events(it, &found);
    double t = sqrt(2 / g), v = keeps * sqrt(2 * g);
    for (int i = 0; i < found; i++) {
        worst = fmax(worst, fabs(record[i].t - t));
        t += 2 * v / g;
        v *= keeps;
    }
    printf("%d bounces, the last at t = %.9f; largest error %.1e\n", found, record[found - 1].t, worst);
    dae_integrator_destroy(it);
    return found == BOUNCES && worst < 1e-9 ? 0 : 1;
}
