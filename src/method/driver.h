/* Private parts of the driver: driver.c runs methods, output.c writes points, events.c finds roots,
 * switches.c borders between smooth parts, poles.c steps over poles, choose.c is "auto", checkpoint.c saves and loads, fingerprint.c says what a run is
 * made of. */
#ifndef DAE_METHOD_DRIVER_H
#define DAE_METHOD_DRIVER_H

#include "method/choose.h"
#include "method/method.h"

#include <stdatomic.h>

/* All that changes during a run and must survive a checkpoint; no pointers. In the arena. */
typedef struct driver_state {
    double t0, t_end;
    double now; /* the run has been processed (output, events) up to here */
    double ivp_t_old, ivp_t, ivp_h_next, ivp_t_stop, ivp_left, ivp_right;
    int ivp_order;
    int segment;              /* next discontinuity */
    int stiff;                /* the method has met stiffness */
    int stopped;              /* DAE_EVENT was returned: going on restarts the method */
    int charted;              /* the chart has been asked at this point */
    long output_next;         /* next grid point or time */
    double zeno_t, zeno_last; /* first and last of the present chain of restarts by events */
    int zeno_count, zeno_near;
    double switch_t;      /* where the present step ends because a switch is there; NAN: it does not */
    double chatter_start; /* where the present chain of switches began */
    int chatter_count;
    double aim;  /* the end of a step that is repeated because of a switch; NAN: none */
    int repeats; /* of the present step */
    dae_stats stats;
} driver_state;

enum { REASON_SIZE = 256 };

enum { DAE_PRINT_SIZE = 17 }; /* 16 hexadecimal digits and 0 */

/* Writes lines "name value"; bytes needed without the 0 at the end, also where out is NULL. */
typedef size_t dae_describe_fn(const void *user, char *out, size_t size);

struct dae_integrator {
    dae_ivp ivp;
    dae_system sys;           /* own copy */
    dae_options opt;          /* own copy */
    dae_arena *keep;          /* descriptions: constant during the run */
    dae_arena *arena;         /* state: what a checkpoint holds */
    const dae_method *method; /* NULL: "auto", not chosen yet */
    void *self, *option;
    /* Why "auto" took the method: REASON_SIZE, empty until somebody asks, and what it is made of; in the arena. */
    char *reason;
    dae_evidence *evidence;
    int automatic;
    driver_state *s;
    double *y, *yp;  /* at s->now */
    double *scratch; /* 2n: interpolated points */
    double *jump;    /* n: of y' at a switch */
    double *lambda;  /* mechanical systems: multipliers at a start */

    dae_piece_fn *piece; /* or NULL */
    void *piece_user;
    int piece_ends; /* 1: who takes the pieces wants their ends alone, and no dense output is made for it */
    dae_output output;
    double *selected; /* components handed to output.write; not part of the state */

    dae_events events;
    dae_event *event;
    int *sign;   /* armed sign of each function, 0: disarmed; then those before the present step */
    double *phi; /* values: 4 rows; time and value where armed: 2 rows; values at the beginning */
    dae_event_record *record; /* grows */
    int nrecord, capacity;
    struct root *root; /* found in the present step, grows up to a limit */
    int nroot, root_capacity;
    double loose; /* > 0: roots are located to this only */
    int refused;  /* < 0: what the switching functions answered that want to end the run, not told yet, */
    double refused_at; /* and where */

    struct dae_driver_switches *sw;      /* switches.c; NULL: the system has none */
    struct dae_pole_watch *poles;        /* poles.c; NULL: the system has none */
    double begin;                        /* t0 of the run */
    struct dae_nonnegative *nonnegative; /* nonnegative.c; NULL: any sign is allowed */
    struct dae_moving_mass *moving_mass; /* M(t,y), as which sys is seen; NULL: there is none */
    double *atol;     /* that of ivp; options.error_weight: written anew before each step ... */
    double *given[2]; /* ... which gets atol and rtol as they were given; NULL: no such function */

    struct dae_leap *leap; /* leap.c; NULL: the run cannot leap */
    dae_chart_fn *chart;   /* NULL: the variables keep their meaning */
    void *chart_user;
    dae_memory memory; /* what the system keeps; save NULL: nothing */

    dae_progress_fn *progress;
    void *progress_user;
    atomic_int cancelled;
    int prepared;      /* the method has been made */
    int started;       /* a run is under way, and nothing has spoiled it */
    int uncounted;     /* f(t,y) made for the next reset: counted by the method, or else by the driver */
    char *fingerprint; /* what dae_integrator_set_fingerprint said, or NULL */
    dae_describe_fn *
        describe; /* what a simulation has to say besides, asked when a checkpoint is saved or loaded, or NULL */
    const void *described;
    char begun_print[2][DAE_PRINT_SIZE]; /* of a large run, in the place of: */
    double *begun;                       /* 2 n + nlambda: the initial values, y' and the multipliers there */
    int untimed;                         /* nobody can read stats.cpu_seconds */
    double cpu_begin;
    unsigned long long wall_begin;
};

/* The solution at t in the last step (or the state where nothing was stepped). */
void dae_driver_at(dae_integrator *it, double t, double *y, double *yp);

/* Somebody asked to stop; take_cancel notes that it was heard. */
static inline int dae_driver_cancelled(dae_integrator *it)
{
    return atomic_load_explicit(&it->cancelled, memory_order_relaxed) != 0 ||
           (it->opt.stop && it->opt.stop(it->opt.stop_user));
}
dae_status dae_driver_take_cancel(dae_integrator *it, dae_error *err);

/* Takes another method in the place of the present one, which is gone then. */
dae_status dae_driver_replace_method(dae_integrator *it, const dae_method *method, dae_error *err);
/* y' at it->y where the method or the events want it; given: it->yp holds it. */
dae_status dae_driver_derivative(dae_integrator *it, double t, int given, dae_error *err);
/* The method starts afresh at it->s->now with it->y; h > 0: its first step. */
dae_status dae_driver_restart(dae_integrator *it, double h, dae_error *err);
/* The same, and the states that a leap may begin with are kept. */
dae_status dae_driver_restart_only(dae_integrator *it, double h, dae_error *err);

/* leap.c: over singular poses of mechanisms. prepare: != 0: out of memory; note: after an accepted step; forget: what was before is
 * another motion. dae_driver_leap: the steps fell to nothing; 1: a step over what stopped them has been taken. */
int dae_driver_leap_prepare(dae_integrator *it);
void dae_driver_leap_note(dae_integrator *it);
void dae_driver_leap_forget(dae_integrator *it);
int dae_driver_leap(dae_integrator *it, dae_error *err);

/* fingerprint.c: what a run is made of, as lines "name value". start: notes the initial values. write: bytes needed with the
 * 0 at the end. check: that those of a checkpoint are the same but for the names in `changes` ("rtol,atol" or NULL);
 * *changed: one of these is another. */
void dae_fingerprint_start(dae_integrator *it, const double *y0);
size_t dae_fingerprint_write(const dae_integrator *it, char *out, size_t size);
dae_status dae_fingerprint_check(const dae_integrator *it, const char *saved, const char *changes,
                                 int *changed, dae_error *err);
/* Lines that are written only when somebody saves or loads. */
void dae_fingerprint_by(dae_integrator *it, dae_describe_fn *describe, const void *user);

/* choose.c: the reason that "auto" gives where memory ran out. */
extern const char dae_choose_no_memory[];

/* output.c: points in (from, to], or the first point. */
dae_status dae_driver_output_start(dae_integrator *it, dae_error *err);
dae_status dae_driver_output(dae_integrator *it, double from, double to, dae_error *err);

/* events.c */
dae_status dae_driver_events_start(dae_integrator *it, dae_error *err); /* arms at it->s->now */
typedef struct dae_event_outcome {
    double t;    /* where the processing of this step ends */
    int restart; /* the state was changed: it->y (and yp) hold it */
    int stop;    /* a terminal event, or an action asked to stop */
    int written; /* the output of this step is written already */
} dae_event_outcome;
/* Finds and handles the roots in (from, to]; writes output up to each before its action is called. */
dae_status dae_driver_events(dae_integrator *it, double from, double to, dae_event_outcome *out,
                             dae_error *err);

/* The root of value(it, i, .) in [a,b], where it is fa and fb, of opposite sign; returns its end with the sign of fb. */
typedef double dae_driver_value(dae_integrator *it, int i, double t);
double dae_driver_locate(dae_integrator *it, dae_driver_value *function, int i, double a, double b, double fa,
                         double fb);
/* Times that are closer than this are the same event. */
double dae_driver_same_time(const dae_integrator *it, double t);
/* The state at t inside a step, moved onto the constraints; where that fails it stays as it is. */
void dae_driver_project(dae_integrator *it, double t, double *y);

/* switches.c. Takes a copy of the system for this run where it has one. */
dae_status dae_driver_switches_create(dae_integrator *it, dae_error *err);
void dae_driver_switches_destroy(dae_integrator *it);
dae_status dae_driver_switches_start(dae_integrator *it, dae_error *err); /* sides as the state at now says */
/* The same behind a discontinuity, where one of them has jumped. */
dae_status dae_driver_switches_jump(dae_integrator *it, dae_error *err);
dae_status dae_driver_switches_look(dae_integrator *it, dae_error *err); /* after a step: sets switch_t */
void dae_driver_switches_again(dae_integrator *it); /* the step is given up and repeated from now */
/* At now = switch_t: new sides; the method has to start afresh. */
dae_status dae_driver_switches_act(dae_integrator *it, dae_error *err);
void dae_driver_switches_loaded(dae_integrator *it); /* after a checkpoint was read */

/* The method was chosen by who asks: where an explicit one meets stiffness the driver may go on with an implicit one, as for
 * "auto". */
void dae_driver_may_switch(dae_integrator *it);
/* Steps add up to t only up to its rounding: 1, and a warning in text, where that is more than a tenth of rtol of the interval, as for
 * seconds since 1970 at 1e-9. */
int dae_clock_warning(double t0, double t_end, double rtol, char *text, size_t size);
/* From the evidence of the choice: how much stiffness an explicit method of "auto" may meet before it is replaced. */
void dae_driver_watch_stiffness(dae_integrator *it);
/* stats.cpu_seconds is not wanted: asking the system for CPU time costs as much as all else that a short run of a small system
 * needs. */
void dae_driver_untimed(dae_integrator *it);

#endif
