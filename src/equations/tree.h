/* What the parser makes of a text: statements and expressions as trees, names not yet looked up. */
#ifndef DAE_EQUATIONS_TREE_H
#define DAE_EQUATIONS_TREE_H

#include "equations/model.h"

/* ---- Memory that is given back at once ------------------------------------------------------------ */

typedef struct dae_store dae_store;
dae_store *dae_store_create(void);
void dae_store_destroy(dae_store *p);
void *dae_store_take(dae_store *p, size_t size); /* zero; NULL: no memory */
int dae_store_failed(const dae_store *p);        /* 1: there was no memory once */
const char *dae_store_text(dae_store *p, const char *text, size_t length);

/* ---- Tokens --------------------------------------------------------------------------------------- */

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NEWLINE,
    TOKEN_NUMBER,
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_UNIT,
    TOKEN_SIGN,
    TOKEN_WRONG /* the rest of a line of which the lexer has told what is wrong */
} token_kind;

typedef struct token {
    token_kind kind;
    dae_place place;
    const char *text; /* into the source; strings and units without their quotes and brackets */
    int length;
    double number;
} token;

/* All tokens of the text, ended by TOKEN_END; faults are reported and skipped. NULL: no memory. */
token *dae_tokens_read(const char *text, size_t length, dae_messages *messages, int *count);

/* ---- Expressions ---------------------------------------------------------------------------------- */

typedef enum tree_kind {
    TREE_NUMBER,
    TREE_NAME,
    TREE_INDEX,  /* name[list] */
    TREE_CALL,   /* name(list) */
    TREE_PRIME,  /* a, order in op */
    TREE_BINARY, /* op, a, b */
    TREE_NOT,
    TREE_MINUS,
    TREE_IF,    /* if a then b else c */
    TREE_ARRAY, /* list */
    TREE_SUM,   /* sum(name in a..b if c, d) */
    TREE_PROD
} tree_kind;

typedef struct tree tree;
struct tree {
    tree_kind kind;
    int op;
    dae_place place; /* of the operator or name */
    const char *name;
    double number;
    dae_dimension dimension; /* TREE_NUMBER */
    int plain;               /* TREE_NUMBER: 1 if its unit is SI (or there is none) */
    tree *a, *b, *c, *d;
    tree *list, *next; /* arguments, elements */
};

/* ---- Statements ----------------------------------------------------------------------------------- */

typedef enum statement_kind {
    STATEMENT_MODEL,
    STATEMENT_PARAM,
    STATEMENT_CONST,
    STATEMENT_INT,
    STATEMENT_VAR,
    STATEMENT_DISCRETE,
    STATEMENT_LET,
    STATEMENT_CHOICE,
    STATEMENT_FN,
    STATEMENT_TABLE,
    STATEMENT_FOR,
    STATEMENT_IF,
    STATEMENT_EQUATION,
    STATEMENT_INIT,
    STATEMENT_WHEN,
    STATEMENT_EVERY,
    STATEMENT_AT,
    STATEMENT_SOLVE,
    STATEMENT_OUTPUT,
    STATEMENT_PLOT,
    STATEMENT_SCORE,
    STATEMENT_PREFER,
    STATEMENT_AVOID,
    STATEMENT_REFERENCE,
    STATEMENT_COMPONENT,
    STATEMENT_USE,
    STATEMENT_ASSIGN, /* inside events */
    STATEMENT_STOP,
    STATEMENT_RECORD
} statement_kind;

/* A name with its dimensions and value: what declarations, fn, components and options consist of. */
typedef struct item item;
struct item {
    const char *name, *text; /* text: description; of options a word */
    dae_place place;
    tree *dims;       /* list of TREE_INDEX-like nodes: name (loop variable or NULL), a .. b (b NULL: [N]) */
    const char *unit; /* var u [V]: its text, NULL: none */
    double unit_factor;
    dae_dimension unit_dimension;
    int unit_or_size; /* the one bracket after the name may be either: 1 without, 2 with a blank before it; dims has it too */
    tree *value;
    int guess; /* "~" */
    tree *min, *max;
    tree *ref; /* of lists: what is named */
    item *next;
};

typedef struct statement statement;
struct statement {
    statement_kind kind;
    dae_place place;
    const char *name, *text;
    item *items;
    tree *left, *right,
        *condition;          /* equation; condition, period, instants (list) of events; bounds of for */
    statement *body, *other; /* other: else part */
    int flag, mode;          /* table: kind, outside; plot: 1 log t, 2 against */
    statement *next;
};

/* The statements of a text; NULL if there are none or no memory (then messages has an error). */
statement *dae_parse(token *token, int count, dae_store *store, dae_messages *messages);

/* habits.c: how something is written here that other languages write otherwise; NULL: not known. Of the word that begins a statement, a
 * function, a function of a module (np.sin: the rest of the name), two signs (a whole message). */
const char *dae_habit_statement(const token *t);
const char *dae_habit_function(const char *name);
const char *dae_habit_module(const char *name);
const char *dae_habit_sign(char c, char next);
const char *dae_habit_name(const char *name);                  /* of a name: what to write */
const char *dae_habit_letter(const char *text, size_t length); /* of one letter of UTF-8 */
int dae_habit_opens(const token *t); /* 1: a statement that "end" closes elsewhere */

/* Shared by the two files of the parser. */
typedef struct parser {
    const token *at, *first;
    const token *begin; /* of the present statement */
    dae_store *store;
    dae_messages *messages;
    int failed; /* the present statement has an error */
    int depth;
    int open; /* blocks around the present statement */
} parser;
tree *dae_parse_expression(parser *p);
tree *dae_parse_sum(parser *p); /* without comparisons: bounds of ranges */
tree *dae_parse_ref(parser *p);
tree *dae_parse_list(parser *p, const char *close); /* expressions up to `close`, which is read */
int dae_parser_is(const parser *p, const char *text);
int dae_parser_accept(parser *p, const char *text);
int dae_parser_expect(parser *p, const char *text, const char *where);
void dae_parser_skip_lines(parser *p);
/* The unit in `text`; 0: it is told at `where` that it is none. */
int dae_parser_unit(parser *p, const token *where, const char *text, size_t length, double *factor,
                    dae_dimension *dimension);
const char *dae_parser_name(parser *p, const char *what);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void dae_parser_wrong(parser *p, const token *where, const char *format, ...);

#endif
