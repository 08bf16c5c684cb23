/* The registry of methods. */
#ifndef DAEDALUS_METHOD_H
#define DAEDALUS_METHOD_H

#include <daedalus/options.h>
#include <daedalus/system.h>

DAE_BEGIN_DECLS

typedef struct dae_method_info {
    const char *name, *title, *literature, *summary;
    int order_min, order_max;
    unsigned kinds;     /* bit 1u << dae_kind for each kind it takes */
    int max_index;      /* highest index of a variable it takes */
    int controls_index; /* highest index whose errors its test sees; 0: all that it takes */
    int implicit;       /* made for stiff problems */
    int multistep;
    int checkpoint;            /* save and load give a bit-identical continuation */
    int projects;              /* takes dae_integrator_set_projection */
    int no_velocities;         /* takes only systems whose structure says so: y'' = f(t,y) */
    const dae_option *options; /* its own options, ended by name NULL; NULL: none */
} dae_method_info;

DAE_API int dae_method_count(void);
DAE_API const dae_method_info *dae_method_get(int i);             /* NULL outside 0 .. count-1 */
DAE_API const dae_method_info *dae_method_find(const char *name); /* NULL: no such method */
/* Why a method that the library can have is not in this build, and what helps; NULL: it is no such method. */
DAE_API const char *dae_method_absent(const char *name);

/* 1: the method takes systems of this kind, index and structure. */
DAE_API int dae_method_takes(const dae_method_info *m, const dae_system *sys);

/* What speaks against method m for a system of this index: that its error test does not see such variables, and what to take
 * instead; NULL: nothing. */
DAE_API const char *dae_method_warning(const dae_method_info *m, int index);

/* The method that "auto" stands for on this system, with the reason in words (any length up to size).
 * It may evaluate the system at (t0, y0) to judge its stiffness. */
DAE_API const dae_method_info *dae_method_choose(const dae_system *sys, const dae_options *opt, double t0,
                                                 double t_end, const double *y0, char *reason, size_t size);

DAE_END_DECLS

#endif
