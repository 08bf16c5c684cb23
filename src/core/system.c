#include <daedalus/system.h>

#include "core/error.h"
#include "core/vector.h"

#include <math.h>

int dae_system_size(const dae_system *sys)
{
    switch (sys->kind) {
    case DAE_KIND_ODE: return sys->ode.n;
    case DAE_KIND_DAE: return sys->dae.n;
    case DAE_KIND_IDE: return sys->ide.n;
    case DAE_KIND_MECH: return sys->mech.np + sys->mech.nv + sys->mech.nu;
    }
    return 0;
}

int dae_system_index(const dae_system *sys)
{
    if (sys->kind == DAE_KIND_ODE) return 0;
    if (sys->kind == DAE_KIND_MECH) return sys->mech.nlambda > 0 ? 3 : 0;
    int index = 1, n = dae_system_size(sys);
    for (int i = 0; sys->structure.index && i < n; i++) {
        if (sys->structure.index[i] > index) index = sys->structure.index[i];
    }
    return index;
}

const char *dae_kind_name(dae_kind kind)
{
    static const char *const name[] = {"ODE", "DAE", "IDE", "mechanical"};
    return (unsigned)kind < 4 ? name[kind] : "unknown kind";
}

static dae_status check_pattern(const dae_pattern *p, int n, const char *what, dae_error *err)
{
    if ((unsigned)p->storage > DAE_DIAGONAL)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: unknown storage %d", what, (int)p->storage);
    if (p->columns < 0 || (p->columns > 0 && (n % (1 + p->columns) != 0 || p->storage == DAE_DIAGONAL)))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: %d columns do not divide a system of size %d", what,
                        p->columns, n);
    if (p->columns > 0) n /= 1 + p->columns;
    if (p->storage == DAE_BANDED && (p->lower < 0 || p->upper < 0 || p->lower >= n || p->upper >= n)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: bandwidths %d, %d must be between 0 and %d", what,
                        p->lower, p->upper, n - 1);
    }
    if (p->storage != DAE_SPARSE) return DAE_OK;
    if (!p->colptr || !p->rowind || p->colptr[0] != 0) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: a sparse pattern needs colptr (from 0) and rowind",
                        what);
    }
    for (int j = 0; j < n; j++) {
        if (p->colptr[j + 1] < p->colptr[j]) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: colptr decreases at column %d", what, j);
        }
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
            if (p->rowind[k] < 0 || p->rowind[k] >= n ||
                (k > p->colptr[j] && p->rowind[k] <= p->rowind[k - 1])) {
                return dae_fail(err, DAE_ERR_INPUT, NAN,
                                "%s: rows of column %d must be ascending and between 0 and %d", what, j,
                                n - 1);
            }
        }
    }
    return DAE_OK;
}

static dae_status check_mass(const dae_matrix *M, int n, const char *what, dae_error *err)
{
    if (M->n == 0) return DAE_OK;
    if (M->n != n) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s has size %d, the system has size %d", what, M->n, n);
    }
    if (!M->a) return dae_fail(err, DAE_ERR_INPUT, NAN, "%s has no values", what);
    dae_status s = check_pattern(&M->pattern, n, what, err);
    if (s) return s;
    if (M->pattern.columns) return dae_fail(err, DAE_ERR_INPUT, NAN, "%s cannot have columns", what);
    if (!dae_all_finite((int)dae_pattern_count(&M->pattern, n), M->a)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s has a value that is not finite", what);
    }
    return DAE_OK;
}

/* The pattern of G and the kinematic tree, where they are given. */
static dae_status check_structure(const dae_mech *m, dae_error *err)
{
    if (!m->G_colptr != !m->G_rowind || !m->G_colptr != !m->constraint_sparse) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "mechanical system: G_colptr, G_rowind and constraint_sparse must be given together");
    }
    for (int j = 0; m->G_colptr && j < m->nv; j++) {
        int begin = m->G_colptr[j], end = m->G_colptr[j + 1];
        for (int k = begin; k < end; k++) {
            if (m->G_rowind[k] < 0 || m->G_rowind[k] >= m->nlambda ||
                (k > begin && m->G_rowind[k] <= m->G_rowind[k - 1])) {
                return dae_fail(
                    err, DAE_ERR_INPUT, NAN,
                    "mechanical system: rows of column %d of G must be ascending and between 0 and %d", j,
                    m->nlambda - 1);
            }
        }
    }
    if (m->position_jacobian && (m->G_colptr || m->parent)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "mechanical system: position_jacobian cannot be given with a pattern of G or a tree");
    }
    if (!m->parent) return DAE_OK;
    if (!m->mass_block || !m->row_joint) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "mechanical system: a kinematic tree needs mass_block and row_joint");
    }
    for (int k = 0; k < m->nblock; k++) {
        int depth = 0;
        for (int j = k; j >= 0 && depth <= m->nblock; j = m->parent[j], depth++) {
            if (m->parent[j] >= m->nblock) {
                return dae_fail(err, DAE_ERR_INPUT, NAN,
                                "mechanical system: parent of block %d is %d; there are %d blocks", j,
                                m->parent[j], m->nblock);
            }
        }
        if (depth > m->nblock) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "mechanical system: block %d is its own ancestor", k);
        }
    }
    for (int i = 0; i < m->nlambda; i++) {
        if (m->row_joint[i] >= m->nblock) {
            return dae_fail(err, DAE_ERR_INPUT, NAN,
                            "mechanical system: row %d belongs to joint %d; there are %d blocks", i,
                            m->row_joint[i], m->nblock);
        }
    }
    return DAE_OK;
}

static dae_status check_mech(const dae_mech *m, dae_error *err)
{
    if (m->np < 1 || m->nv < 1 || m->nv > m->np || m->nu < 0 || m->ng < 0 || m->ng > m->nlambda) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "mechanical system: sizes np = %d, nv = %d, nu = %d, ng = %d, nlambda = %d must obey "
                        "1 <= nv <= np, nu >= 0, 0 <= ng <= nlambda",
                        m->np, m->nv, m->nu, m->ng, m->nlambda);
    }
    if (!m->force) return dae_fail(err, DAE_ERR_INPUT, NAN, "mechanical system: no force function");
    if (m->nlambda && !m->constraint) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "mechanical system: %d multipliers but no constraint function", m->nlambda);
    }
    if (m->np != m->nv && !m->kinematics) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "mechanical system: np = %d differs from nv = %d, so kinematics is needed", m->np,
                        m->nv);
    }
    if (m->nu && !m->dynamics)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "mechanical system: nu = %d but no dynamics", m->nu);
    int sum = 0;
    for (int i = 0; m->mass_block && i < m->nblock; i++) sum += m->mass_block[i];
    if (m->mass_block && sum != m->nv) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "mechanical system: mass blocks add up to %d, nv = %d", sum,
                        m->nv);
    }
    dae_status s = check_structure(m, err);
    return s ? s : check_mass(&m->mass, m->nv, "mass matrix", err);
}

dae_status dae_system_check(const dae_system *sys, dae_error *err)
{
    if (!sys || (unsigned)sys->kind > DAE_KIND_MECH)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "no system, or of unknown kind");
    if (sys->kind == DAE_KIND_MECH) return check_mech(&sys->mech, err);
    int n = dae_system_size(sys);
    if (n < 1)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s of size %d: at least one equation is needed",
                        dae_kind_name(sys->kind), n);
    if ((sys->kind == DAE_KIND_ODE && !sys->ode.f) || (sys->kind == DAE_KIND_DAE && !sys->dae.f) ||
        (sys->kind == DAE_KIND_IDE && !sys->ide.residual)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s without a right-hand side", dae_kind_name(sys->kind));
    }
    if (sys->structure.jacobian.storage == DAE_DIAGONAL) {
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "Jacobian pattern: diagonal storage is for mass matrices; use banded with bandwidths 0, 0");
    }
    if (sys->poles.count < 0 || (sys->poles.count > 0 && !sys->poles.values))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%d poles without their function", sys->poles.count);
    dae_status s = check_pattern(&sys->structure.jacobian, n, "Jacobian pattern", err);
    if (!s && sys->kind == DAE_KIND_DAE && sys->dae.mass_fn)
        s = check_pattern(&sys->dae.mass.pattern, n, "mass matrix", err);
    else if (!s && sys->kind == DAE_KIND_DAE) s = check_mass(&sys->dae.mass, n, "mass matrix", err);
    if (s) return s;
    for (int i = 0; sys->structure.index && i < n; i++) {
        int k = sys->structure.index[i];
        if (k < 1 || k > 3)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "index of variable %d is %d; it must be 1, 2 or 3",
                            i + 1, k);
    }
    int m = sys->structure.second_order;
    if (m < 0 || 2 * m > n) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "second_order = %d must be between 0 and n/2 = %d", m,
                        n / 2);
    }
    if (sys->structure.no_velocities && 2 * m != n) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "no_velocities needs second_order = n/2: n = %d equations, second_order = %d", n, m);
    }
    return DAE_OK;
}
