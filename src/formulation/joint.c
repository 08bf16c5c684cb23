/* Joint coordinates: an ODE in y = (q, s, u), for systems that know their tree (dae_joint_form).
 *
 *     q' = T(q) s,   s' = a(t, q, s, u),   u' = d
 *
 * A tree has no constraints in these coordinates. Loops are kept on the level of accelerations, and projected. */
#include "formulation/formulation.h"

#include "core/vector.h"

#include <math.h>
#include <stdio.h>

typedef struct form {
    dae_joint_form j;
    void *work;
    int *source; /* nq+ns */
} form;

static int rhs(double t, const double *y, double *out, void *user)
{
    const form *s = ((dae_formulation *)user)->self;
    return s->j.rates(t, y, out, s->work, s->j.user);
}

static dae_status create(dae_formulation *f, dae_error *err)
{
    const dae_joint_form *j = f->d.m.joint;
    if (!j) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "this system has no form in joint coordinates (it is not made of bodies and joints, "
                        "or has friction "
                        "in its joints, or joints that move no mass); use index1 instead");
    }
    int n = j->nq + j->ns + f->d.nu;
    form *s = dae_arena_take(f->arena, 1, sizeof *s);
    if (s) {
        s->j = *j;
        s->work = dae_arena_take(f->arena, 1, j->work_size);
        s->source = dae_arena_copy(f->arena, j->source, (size_t)(j->nq + j->ns) + 1, sizeof *s->source);
    }
    if (dae_arena_failed(f->arena))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d equations", n);
    f->self = s;
    f->sys = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = rhs, .user = f}};
    if (!j->project && j->nq == j->ns) f->sys.structure.second_order = j->ns;
    if (j->nloop == 0) snprintf(f->text, sizeof f->text, "%d coordinates, no constraints", j->ns);
    else
        snprintf(f->text, sizeof f->text, "%d coordinates, %d constraints that close loops", j->ns, j->nloop);
    return DAE_OK;
}

static dae_status lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    const form *s = f->self;
    const double *v = pvu + f->d.np, *u = v + f->d.nv;
    if (s->j.from_absolute(t, pvu, v, y, y + s->j.nq, s->work, s->j.user)) {
        return dae_fail(
            err, DAE_ERR_INCONSISTENT, t,
            "t = %.10g: the positions do not satisfy the joints, so that they have no joint coordinates", t);
    }
    dae_copy(f->d.nu, u, y + s->j.nq + s->j.ns);
    return DAE_OK;
}

static dae_status lower(dae_formulation *f, double t, const double *y, double *pvu, double *a, double *lambda,
                        int *known, dae_error *err)
{
    const form *s = f->self;
    (void)a;
    (void)lambda;
    (void)known;
    (void)err;
    s->j.to_absolute(t, y, y + s->j.nq, pvu, pvu + f->d.np, s->work, s->j.user);
    dae_copy(f->d.nu, y + s->j.nq + s->j.ns, pvu + f->d.np + f->d.nv);
    return DAE_OK;
}

static int project(dae_formulation *f, double t, double *y)
{
    const form *s = f->self;
    return s->j.project ? s->j.project(t, y, y + s->j.nq, s->work, s->j.user) : 0;
}

static void tolerance(const dae_formulation *f, const double *given, double *out)
{
    const form *s = f->self;
    int n = s->j.nq + s->j.ns;
    for (int i = 0; i < n; i++) out[i] = given[s->source[i]];
    dae_copy(f->d.nu, given + f->d.np + f->d.nv, out + n);
}

static int dynamics_at(const dae_formulation *f)
{
    const form *s = f->self;
    return s->j.nq + s->j.ns;
}

static const dae_option options[] = {DAE_FORMULATION_PROJECT, DAE_FORMULATION_SADDLE, {.name = NULL}};

const dae_formulation_type dae_formulation_joint = {
    .info = {.name = "joint",
             .title = "joint coordinates: ODE along the tree of bodies",
             .summary = "for every ODE method; trees have no constraints left, loops are projected",
             .kind = DAE_KIND_ODE,
             .options = options},
    .create = create,
    .lift = lift,
    .lower = lower,
    .project = project,
    .tolerance = tolerance,
    .dynamics_at = dynamics_at,
};
