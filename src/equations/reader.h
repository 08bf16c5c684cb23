/* The reader between trees and the model: names, values, statements written out. */
#ifndef DAE_EQUATIONS_READER_H
#define DAE_EQUATIONS_READER_H

#include "equations/tree.h"

enum { MAX_INDICES = 4, MAX_NESTED = 2500, MAX_TABLE_ROWS = 2000000 };

/* What an expression means: a node, or an array of nodes (last index fastest). */
typedef struct value {
    int ndim, size[MAX_INDICES], count; /* ndim 0: a number */
    int node;
    const int *list;
    dae_dimension dimension;
} value;

/* Names that hold inside an expression only: indices of loops and sums, arguments of functions. */
typedef struct local {
    const char *name;
    value value;
    int line; /* of the loop; 0: not a loop */
    const struct local *up;
} local;

typedef struct scope { /* of a component: its names begin with the prefix */
    const char *prefix;
    const struct scope *up;
    const statement *component;
} scope;

typedef struct context {
    const scope *scope;
    const local *locals;
} context;

typedef enum symbol_kind {
    SYMBOL_VAR,
    SYMBOL_PARAM, /* also int */
    SYMBOL_DISCRETE,
    SYMBOL_LET, /* also const */
    SYMBOL_FN,
    SYMBOL_TABLE,
    SYMBOL_CHOICE,
    SYMBOL_WORD, /* of a choice */
    SYMBOL_COMPONENT,
    SYMBOL_MECHANISM
} symbol_kind;

typedef struct extra { /* let u[0] = ... beside var u[N] */
    int index[MAX_INDICES], n, node;
    dae_dimension dimension;
    context at;
    const item *item;
    struct extra *next;
} extra;

typedef struct symbol {
    const char *name; /* with its prefix */
    symbol_kind kind;
    dae_place place;
    context at; /* where its value is looked at */
    const item *item;
    const statement *statement;
    int is_const, is_int;
    int shaped; /* 0: sizes not known yet, 1: being found, 2: known */
    int ndim, lo[MAX_INDICES], size[MAX_INDICES], count;
    const tree *dims; /* of the item, unless its bracket is a unit; known with the sizes */
    int first;        /* number of its first variable, parameter, discrete value; -1: not numbered */
    int *node;        /* SYMBOL_LET: node per element, or one of the states below; parameters: the same */
    int listed;       /* SYMBOL_LET: its elements are in the model */
    dae_dimension dimension;
    int has_dimension;
    double number; /* WORD: its position */
    int active;    /* SYMBOL_FN: being written out */
    int curve;     /* SYMBOL_TABLE: number of the curve + 1, -1: failed */
    dae_dimension x_dimension;
    extra *extras;
    struct symbol *chain, *after; /* same hash; next declared */
} symbol;

enum { NODE_UNKNOWN = -1, NODE_ACTIVE = -2, NODE_FAILED = -3 };

enum { SYMBOL_BUCKETS = 4096 };

typedef struct reader {
    dae_model *m;
    dae_graph *g;
    dae_store *store;
    dae_messages *messages;
    const char *file;
    const dae_setting *setting;
    int nsetting;
    unsigned char *setting_used;
    symbol *bucket[SYMBOL_BUCKETS], *first, **last;
    int failed; /* the present statement */
    int fatal;  /* reading cannot go on */
    long steps;
    int depth, ninstance;
} reader;

/* Everything below reports errors itself and sets r->failed. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
value dae_reader_wrong(reader *r, dae_place place, const char *format, ...);
value dae_reader_starved(reader *r);             /* out of memory: reading ends */
int dae_reader_step(reader *r, dae_place place); /* 0: the text takes too long */
/* Is there room for a loop from lo to hi? 0: it is told that there is none. */
int dae_reader_room(reader *r, dae_place place, int lo, int hi);
void *dae_reader_take(reader *r, size_t size);
int dae_reader_grow(reader *r, void **array, int *capacity, int needed, size_t size);

/* symbol.c */
symbol *dae_symbol_find(const reader *r, const scope *s, const char *name);
symbol *dae_symbol_declare(reader *r, const context *c, symbol_kind kind, const char *name, dae_place place);
void dae_symbol_unknown(reader *r, const context *c, const char *name, dae_place place);
/* Is the bracket after a declared name a unit? var u [V], but var u[N] with int N. */
int dae_symbol_is_unit(const reader *r, const context *c, const item *i);
int dae_symbol_shape(reader *r, symbol *s);  /* sizes; 0: failed */
int dae_symbol_number(reader *r, symbol *s); /* first variable, parameter ...; 0: failed */
value dae_symbol_value(reader *r, symbol *s, dae_place place);
value dae_symbol_element(reader *r, const context *c, symbol *s, int n, const int *index, dae_place place);
/* The value of declaration `i` for element `offset` of s. */
value dae_symbol_initial(reader *r, symbol *s, const tree *t, int offset, value *whole);
void dae_symbol_index_text(const symbol *s, int offset, char *out, size_t size); /* "[2,3]" */

/* evaluate.c */
value dae_evaluate(reader *r, const context *c, const tree *t);
value dae_evaluate_scalar(reader *r, const context *c, const tree *t);
double dae_evaluate_known(reader *r, const context *c, const tree *t); /* depends on parameters only */
int dae_evaluate_whole(reader *r, const context *c, const tree *t);
value dae_value_number(reader *r, double x);
int dae_value_depends(const reader *r, int node, int op_first, int op_last);
void dae_check_agree(reader *r, dae_place place, const value *a, const value *b, const char *sign);

/* declare.c */
void dae_declare_all(reader *r, const statement *s);
/* The scope of `use name = component(...)`, NULL: failed. */
const scope *dae_use_scope(reader *r, const context *c, const statement *s);
/* expand.c */
void dae_expand_interval(reader *r,
                         const statement *first); /* comes first: it says whether time has a unit */
void dae_expand_all(reader *r, const statement *s);
void dae_expand_choose(reader *r, const context *c, const statement *s,
                       const statement **chosen); /* of an if block */
/* reference.c */
void dae_reference_file(reader *r, const statement *s); /* reference "file.csv" */
/* table.c */
enum { MAX_CSV_LINE = 65536, MAX_CSV_COLUMNS = 1000 };
typedef struct csv_field {
    const char *text;
    size_t length;
} csv_field;
/* Fields of a line, spaces and quotes around them removed; at most MAX_CSV_COLUMNS. */
int dae_csv_split(char *line, csv_field *out);
int dae_csv_number(csv_field f, double *x);
size_t dae_csv_name(csv_field f); /* "T [K]": length of the name before the unit */
/* The unit of such a field (none: soft, factor 1); 0: it is no unit. */
int dae_csv_unit(csv_field f, double *factor, dae_dimension *d);
int dae_curve_read(reader *r, const context *c, symbol *s);
/* mechanism.c */
int dae_use_is_mechanism(const reader *r, const context *c, const statement *s);
void dae_mechanism_declare(reader *r, const context *c, const statement *s);
/* What car.wheel.x means: 1: *out is its value, or an error was told; 0: no mechanism is called so. */
int dae_mechanism_value(reader *r, const context *c, const char *name, dae_place place, value *out);
/* 1: the node depends on what comes from the mechanism; *name: such a signal. */
int dae_mechanism_in(const reader *r, int node, const char **name);
/* Values of its signals at the start, when all are known. */
void dae_mechanism_start(reader *r);
char *dae_path_beside(const char *file, const char *name); /* of `name` beside the file, to be freed */
/* setting.c */
int dae_setting_number(reader *r, const char *name, const dae_model_parameter *p, double *out);
int dae_setting_known(const reader *r, const char *name, char *suggestion, size_t size);

#endif
