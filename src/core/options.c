#include <daedalus/options.h>

#include "core/setting.h"

#define REAL(field, value, min, max, unit, help)                                                       \
    {                                                                                                  \
#field, DAE_OPTION_REAL, offsetof(dae_options, field), value, NULL, min, max, NULL, unit, help \
    }
#define WHOLE(field, type, value, min, max, unit, help)                                     \
    {                                                                                       \
#field, type, offsetof(dae_options, field), value, NULL, min, max, NULL, unit, help \
    }
#define WORD(field, value, choices, help)                                                        \
    {                                                                                            \
#field, DAE_OPTION_NAME, offsetof(dae_options, field), 0, value, 0, 0, choices, "", help \
    }

static const dae_option table[] = {
    WORD(method, "auto", NULL, "integrator, by its registry name; auto picks one and says why"),
    WORD(formulation, "auto", NULL, "form in which a mechanical system is integrated"),
    REAL(rtol, 1e-6, 0, 1e10, "", "relative tolerance"),
    REAL(atol, 1e-9, 0, 1e10, "as y", "absolute tolerance"),
    REAL(h0, 0, 0, 1e300, "as t", "first step; 0: the method chooses"),
    REAL(h_max, 0, 0, 1e300, "as t", "largest step; 0: no limit"),
    REAL(h_min, 0, 0, 1e300, "as t", "smallest step; 0: rounding decides"),
    REAL(fixed_step, 0, 0, 1e300, "as t", "steps of this size without error control (order studies); 0: off"),
    WHOLE(max_steps, DAE_OPTION_LONG, 1000000, 0, 9e15, "", "limit on step attempts; 0: none"),
    REAL(max_seconds, 0, 0, 1e9, "s", "limit on CPU time; 0: none"),
    WORD(linear_algebra, "auto", "auto|dense|banded|sparse|krylov",
         "storage of Jacobians and factors; sparse probes for a pattern where none is given; krylov: GMRES, "
         "no factors"),
    WORD(preconditioner, "auto", "auto|none|band|ilu",
         "of GMRES: narrow band, incomplete factors, none; auto: by the pattern of the system"),
    WHOLE(preconditioner_band, DAE_OPTION_INT, 0, 0, 1000, "",
          "diagonals on each side of a band preconditioner; 0: those of the system up to a few"),
    WHOLE(krylov_vectors, DAE_OPTION_INT, 10, 1, 1000, "", "vectors that GMRES keeps"),
    WORD(jacobian, "auto", "auto|difference",
         "auto: analytic where given; difference: always by differences"),
    WHOLE(profile, DAE_OPTION_INT, 0, 0, 1, "", "1: measure time in user functions and linear algebra"),
    WHOLE(threads, DAE_OPTION_INT, 1, 1, 1024, "", "threads, for methods that can use them"),
    WHOLE(stop_at_end, DAE_OPTION_INT, 0, 0, 1, "", "1: never evaluate beyond the end of the interval"),
    {NULL, DAE_OPTION_REAL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

const dae_option *dae_options_table(void)
{
    return table;
}

dae_options dae_options_default(void)
{
    dae_options opt = {0};
    dae_setting_defaults(table, &opt);
    return opt;
}

dae_status dae_options_set(dae_options *opt, const char *name, const char *value, dae_error *err)
{
    return dae_setting_store(table, opt, "option", name, value, err);
}
