/* What the reader makes of an equation file: n equations f_i(t, x_j, x_j', ...) = 0 as nodes of one graph, with all that
 * messages and the analysis need (names, lines, what was given at the start).
 *
 *   text --read.c--> dae_model --sigma.c, initial.c, ...--> analysis --problem.c--> dae_problem
 *
 * In the graph (language/graph.h) OP_VARIABLE a is variable[a], b the order of its derivative; OP_PARAMETER a is parameter[a];
 * OP_DISCRETE a is discrete[a]. A parameter whose value is 0 is the number 0 in the equations (it changes the structure), all
 * others stay symbols; int, const and choice are numbers. let and fn are written out as shared nodes.
 *
 * Lines and columns count from 1. A model is constant after reading but for its graph, to which the analysis adds nodes. */
#ifndef DAE_EQUATIONS_MODEL_H
#define DAE_EQUATIONS_MODEL_H

#include "language/graph.h"

#include <daedalus/options.h>
#include <daedalus/status.h>

#include <stddef.h>

enum {
    DAE_MODEL_MAX_ERRORS = 10,
    DAE_MODEL_MAX_EQUATIONS = 200000, /* and variables */
    DAE_MODEL_MAX_STEPS = 10000000,   /* of reading: bounds the time that any text can take */
    DAE_MODEL_MAX_TEXT = 64000000,    /* bytes */
    DAE_MODEL_MAX_WORDS = 3000000,    /* names, numbers and signs of a text */
    DAE_MODEL_MAX_DEPTH = 100         /* of nested expressions, blocks, calls */
};

typedef struct dae_place {
    int line, column;
} dae_place;

/* One message: FILE:LINE:COLUMN: text. */
typedef struct dae_message {
    dae_place place; /* line 0: it belongs to no line */
    char text[400];
} dae_message;

typedef struct dae_messages {
    int count;   /* errors, at most DAE_MODEL_MAX_ERRORS are kept */
    int starved; /* an allocation failed: that is then the only error, for others may follow from it */
    dae_message error[DAE_MODEL_MAX_ERRORS];
    int nnote; /* things worth knowing */
    dae_message note[DAE_MODEL_MAX_ERRORS];
} dae_messages;

/* Adds an error (or note); printf-like. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void dae_messages_error(dae_messages *m, dae_place place, const char *format, ...);
int dae_messages_told(const dae_messages *m, const char *begin); /* is there an error that begins so? */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void dae_messages_note(dae_messages *m, dae_place place, const char *format, ...);

/* Out of memory, in place of everything that was told. */
void dae_messages_starved(dae_messages *m);

typedef struct dae_model_variable {
    const char *name; /* "x", "u[3]", "s1.b" */
    dae_place place;
    dae_dimension dimension;
    int preference;    /* 1: prefer, -1: avoid as a state */
    double rtol, atol; /* of `solve rtol(x) = ..., atol(x) = ...`, 0: that of all */
} dae_model_variable;

/* A value given at the start for x_variable^(order): `=` binds, `~` guesses. Variables without any have the guess 0. */
typedef struct dae_model_start {
    int variable, order;
    int bound;    /* 1: "=" or a plain init equation (init x' = 0), 0: "~" */
    int node;     /* of parameters only */
    double value; /* at the present parameters */
    dae_place place;
} dae_model_start;

typedef struct dae_model_parameter {
    const char *name, *help; /* help: "" if none */
    dae_place place;
    double value, min, max; /* min > max: any */
    dae_dimension dimension;
    int integer, needs_unit; /* needs_unit: declared in a unit that is not SI: --set must give one */
    const char *choices;     /* "linear|nonlinear", value is the position from 0; NULL: a number */
    int element;             /* 1: an element of an array */
    int set;                 /* 1: its value came from outside */
    int node;                /* what defines it (b = 2*a), of other parameters; 0: nothing, or it was set */
    int frozen;              /* 1: reading needed its value as a number (a period, a point of a table) */
} dae_model_parameter;

typedef struct dae_model_discrete {
    const char *name;
    dae_place place;
    dae_dimension dimension;
    double start;
    int node; /* of start, of parameters only */
} dae_model_discrete;

struct dae_model_mechanism; /* mechanism.h */

/* left - right = 0. */
typedef struct dae_model_equation {
    int node;
    const char *label; /* "rod", "contact[2]"; NULL: none, say "line 7" or "line 7[2]" */
    dae_place place;
    int nloop, loop[2]; /* in how many loops it stands; values of the first two */
} dae_model_equation;

/* A named expression (let), available as output. */
typedef struct dae_model_let {
    const char *name;
    int node;
    dae_dimension dimension;
    dae_place place;
} dae_model_let;

typedef enum dae_action_kind { DAE_ACTION_ASSIGN, DAE_ACTION_STOP, DAE_ACTION_RECORD } dae_action_kind;
typedef struct dae_model_action {
    dae_action_kind kind;
    int target;       /* leaf node: a variable (any order) or a discrete value */
    int value;        /* node */
    const char *text; /* of stop, "" if none */
    dae_place place;
} dae_model_action;

typedef enum dae_clock_kind { DAE_CLOCK_WHEN, DAE_CLOCK_EVERY, DAE_CLOCK_AT } dae_clock_kind;
typedef struct dae_model_event {
    dae_clock_kind kind;
    int condition;       /* WHEN: node */
    double period, from; /* EVERY */
    int nat;             /* AT: instants */
    const double *at;
    const char *title; /* "" if none */
    int naction;
    const dae_model_action *action;
    dae_place place;
} dae_model_event;

/* A name with a value among `solve`, `reference`, `plot`, ...: a leaf or let by node. */
typedef struct dae_model_entry {
    const char *name;
    int node;
    double value;
    dae_place place;
} dae_model_entry;

typedef struct dae_model_setting { /* rtol = 1e-6, method = radau5 */
    const char *name, *value;
    dae_place place;
} dae_model_setting;

#define DAE_MODEL_LIST(type, name) \
    int n##name, name##_capacity;  \
    type *name

typedef struct dae_model {
    const char *name, *title; /* title "" if none */
    dae_graph *graph;
    DAE_MODEL_LIST(dae_model_variable, variable);
    DAE_MODEL_LIST(dae_model_equation, equation);
    DAE_MODEL_LIST(dae_model_start, start);
    DAE_MODEL_LIST(dae_model_equation, init); /* init equations that are more than a value of one variable */
    DAE_MODEL_LIST(dae_model_parameter, parameter);
    DAE_MODEL_LIST(dae_model_discrete, discrete);
    DAE_MODEL_LIST(dae_model_let, let);
    DAE_MODEL_LIST(dae_model_event, event);
    DAE_MODEL_LIST(dae_model_setting, setting);
    DAE_MODEL_LIST(dae_model_entry, output);
    DAE_MODEL_LIST(dae_model_entry, plot);
    DAE_MODEL_LIST(dae_model_entry, score);
    DAE_MODEL_LIST(dae_model_entry, reference);
    double reference_t, reference_digits; /* digits 0: not given */
    const char *reference_source;
    unsigned long long files;     /* hash of tables and mechanisms that were read from files; 0: none */
    int plot_log_t, plot_against; /* plot x against y: plot[0], plot[1] */
    double t0, t1;
    int has_interval;
    dae_dimension time;                    /* soft: the interval has no unit */
    struct dae_model_mechanism *mechanism; /* use name = mechanism(...); NULL: none */
    struct dae_store *store;               /* all texts and lists that are not growing */
} dae_model;

/* Reads a text. file: for messages and as the place that CSV paths are relative to (NULL: none can be read). Settings are
 * {"mu", "500"}; {"x", "=2"} and {"x", "~2"} (a value that begins so) are initial values. NULL: see *messages. */
dae_model *dae_model_read(const char *text, size_t length, const char *file, const dae_setting *setting,
                          int nsetting, dae_messages *messages);
void dae_model_destroy(dae_model *m);

/* The number of a variable by its name, -1: none. */
int dae_model_find_variable(const dae_model *m, const char *name);
/* "x", "u[3]'", "mu", "t": name of a leaf with primes. */
void dae_model_leaf_name(const dae_model *m, int leaf, char *out, size_t size);
/* The text of a node with the model's names. */
void dae_model_node_text(const dae_model *m, int node, char *out, size_t size);
/* "rod" or "line 7". */
void dae_model_equation_name(const dae_model *m, int equation, char *out, size_t size);
/* The value of a node that depends on parameters only. */
double dae_model_constant(const dae_model *m, int node);

#endif
