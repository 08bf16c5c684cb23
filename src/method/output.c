/* Output points: equidistant, per step, with a largest interval, or at given times ([MEXX] table 4.2). */
#include "method/driver.h"

#include "core/vector.h"

#include <math.h>
#include <stdlib.h>

dae_status dae_integrator_set_output(dae_integrator *it, const dae_output *output, dae_error *err)
{
    if (!it) return dae_need(it, "the integrator", err);
    const dae_output *o = output;
    if (it->started) return dae_fail(err, DAE_ERR_INPUT, NAN, "set the output before starting");
    if (!o || o->mode == DAE_OUTPUT_NONE) {
        it->output = (dae_output){0};
        return DAE_OK;
    }
    if (!o->write) return dae_fail(err, DAE_ERR_INPUT, NAN, "output without a write function");
    if (o->mode == DAE_OUTPUT_EQUIDISTANT && o->count < 2) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "equidistant output needs at least 2 points, not %d",
                        o->count);
    }
    if (o->mode == DAE_OUTPUT_MAX_INTERVAL && !(o->interval > 0)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "output interval %g must be positive", o->interval);
    }
    if (o->mode == DAE_OUTPUT_TIMES && (o->ntimes < 1 || !o->times)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "output at given times, but no times were given");
    }
    if ((unsigned)o->mode > DAE_OUTPUT_TIMES)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no output mode %d", (int)o->mode);
    if (o->component && o->ncomponent < 1) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "output of %d components; NULL selects all", o->ncomponent);
    }
    for (int i = 0; o->component && i < o->ncomponent; i++) {
        if (o->component[i] < 0 || o->component[i] >= it->ivp.n) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "output component %d does not exist (0 .. %d)",
                            o->component[i], it->ivp.n - 1);
        }
    }
    it->output = *o;
    it->output.times = o->mode == DAE_OUTPUT_TIMES
                           ? dae_arena_copy(it->keep, o->times, (size_t)o->ntimes, sizeof(double))
                           : NULL;
    it->output.component = dae_arena_copy(it->keep, o->component, (size_t)o->ncomponent, sizeof(int));
    it->selected = dae_arena_reals(it->keep, (size_t)(o->component ? o->ncomponent : it->ivp.n));
    if (dae_arena_failed(it->keep) || !it->selected)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the output");
    return DAE_OK;
}

void dae_integrator_set_pieces(dae_integrator *it, dae_piece_fn *piece, void *user)
{
    if (!it) return;
    it->piece = piece;
    it->piece_user = user;
}

/* Writes the point at t: y of length n. */
static dae_status write_point(dae_integrator *it, double t, const double *y, dae_error *err)
{
    const dae_output *o = &it->output;
    int count = it->ivp.n;
    if (o->component) {
        count = o->ncomponent;
        for (int i = 0; i < count; i++) it->selected[i] = y[o->component[i]];
        y = it->selected;
    }
    if (o->write(t, y, count, o->user) < 0) {
        return dae_fail(err, DAE_ERR_CALLBACK, t, "the output function asked to stop at t = %.10g", t);
    }
    return DAE_OK;
}

static dae_status write_at(dae_integrator *it, double t, dae_error *err)
{
    if (t == it->ivp.t && it->ivp.t != it->s->now && !it->nonnegative)
        return write_point(it, t, it->ivp.y, err);
    dae_driver_at(it, t, it->scratch, NULL);
    return write_point(it, t, it->scratch, err);
}

/* Grid point k: equidistant, or given. */
static double grid(const dae_integrator *it, long k)
{
    const dae_output *o = &it->output;
    if (o->mode == DAE_OUTPUT_TIMES) return o->times[k];
    if (k == o->count - 1) return it->s->t_end;
    return it->s->t0 + (it->s->t_end - it->s->t0) * ((double)k / (o->count - 1));
}

dae_status dae_driver_output_start(dae_integrator *it, dae_error *err)
{
    const dae_output *o = &it->output;
    driver_state *s = it->s;
    s->output_next = 0;
    if (o->mode == DAE_OUTPUT_NONE) return DAE_OK;
    if (o->mode == DAE_OUTPUT_TIMES) {
        double d = it->ivp.direction;
        for (int i = 0; i < o->ntimes; i++) {
            double before = i ? o->times[i - 1] : s->t0;
            if (!(d * (o->times[i] - before) >= 0 && d * (s->t_end - o->times[i]) >= 0)) {
                return dae_fail(err, DAE_ERR_INPUT, s->t0,
                                "output time %g (number %d) is outside %g .. %g or not in order", o->times[i],
                                i + 1, s->t0, s->t_end);
            }
        }
        dae_status r = DAE_OK;
        while (!r && s->output_next < o->ntimes && o->times[s->output_next] == s->t0) {
            r = write_point(it, s->t0, it->y, err);
            s->output_next++;
        }
        return r;
    }
    s->output_next = 1;
    return write_point(it, s->t0, it->y, err);
}

/* count - 1 points between a and b, then b. */
static dae_status write_between(dae_integrator *it, double a, double b, long count, dae_error *err)
{
    dae_status r = DAE_OK;
    for (long k = 1; k < count && !r; k++) r = write_at(it, a + (b - a) * ((double)k / (double)count), err);
    return r ? r : write_at(it, b, err);
}

/* The solution between from and to as one polynomial, or two where the method says so. */
static int write_pieces(dae_integrator *it, double from, double to)
{
    const dae_ivp *ivp = &it->ivp;
    double d = ivp->direction;
    if (it->piece_ends) return it->piece(it, from, to, 0, it->piece_user);
    dae_driver_at(it, from + (to - from) / 2, it->scratch, NULL); /* now the method knows */
    /* No dense output here has a degree above its order by more than one, unless the method says so. */
    int degree = ivp->dense_degree ? ivp->dense_degree : ivp->order + 1;
    double between = ivp->dense_degree ? ivp->dense_break : NAN;
    if (!(d * (between - from) > 0 && d * (to - between) > 0))
        return it->piece(it, from, to, degree, it->piece_user);
    int r = it->piece(it, from, between, degree, it->piece_user);
    return r < 0 ? r : it->piece(it, between, to, degree, it->piece_user);
}

dae_status dae_driver_output(dae_integrator *it, double from, double to, dae_error *err)
{
    const dae_output *o = &it->output;
    driver_state *s = it->s;
    dae_status r = DAE_OK;
    double d = it->ivp.direction;
    if (to == from) return DAE_OK;
    if (it->piece && write_pieces(it, from, to) < 0) {
        return dae_fail(err, DAE_ERR_CALLBACK, to,
                        "the function that takes the pieces of the solution asked to stop at t = %.10g", to);
    }
    switch (o->mode) {
    case DAE_OUTPUT_NONE: break;
    case DAE_OUTPUT_EQUIDISTANT:
    case DAE_OUTPUT_TIMES: {
        long count = o->mode == DAE_OUTPUT_TIMES ? o->ntimes : o->count;
        while (!r && s->output_next < count && d * (to - grid(it, s->output_next)) >= 0) {
            r = write_at(it, grid(it, s->output_next++), err);
        }
        break;
    }
    case DAE_OUTPUT_STEPS: r = write_between(it, from, to, o->count > 1 ? o->count : 1, err); break;
    case DAE_OUTPUT_MAX_INTERVAL:
        r = write_between(it, from, to, (long)ceil(fabs(to - from) / o->interval * (1 - 1e-12)), err);
        break;
    }
    return r;
}
