/* Universal (Cardan) joint: two points coincide and two axes stay perpendicular: the axis on a, and local x of
 * the point on b (where that has no frame: a direction perpendicular to the axis in the described pose). */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    mbs_row *r = mbs_add_row(b, &mbs_row_dot1, 1, &j->i, &j->j);
    if (!r) return DAE_ERR_MEMORY;
    mbs_column(j->i.C, 2, r->a);
    mbs_column(j->j.C, 0, r->b);
    if (j->oriented) mbs_set(r->b, j->axis_j);
    return DAE_OK;
}

const mbs_joint_type mbs_joint_universal = {"universal", 0, 1, 0, 4, MBS_NO_COORDINATE, build};
