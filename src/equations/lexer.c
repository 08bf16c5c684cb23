/* The words of an equation file. A line goes on while a bracket is open and after a trailing operator, comma or "="; so the
 * parser sees a newline only where a statement may end. A bracket after a number is a unit. */
#include "equations/tree.h"

#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lexer {
    const char *text;
    size_t length, at, line_start;
    int line, depth;
    dae_messages *messages;
    token *list;
    int count, capacity;
    int no_memory, full;
} lexer;

static char look(const lexer *x, size_t ahead)
{
    return x->at + ahead < x->length ? x->text[x->at + ahead] : 0;
}

static dae_place place_of(const lexer *x)
{
    return (dae_place){x->line, (int)(x->at - x->line_start) + 1};
}

static token *push(lexer *x, token_kind kind, size_t length)
{
    if (x->full) return NULL;
    if (x->count == DAE_MODEL_MAX_WORDS) { /* each word costs some 150 bytes until the model is made */
        dae_messages_error(x->messages, place_of(x), "the text is too long (limit %d words): write loops",
                           DAE_MODEL_MAX_WORDS);
        x->full = 1;
        x->length = x->at;
        return NULL;
    }
    if (x->count == x->capacity) {
        int next = x->capacity ? 2 * x->capacity : 256;
        token *list = realloc(x->list, (size_t)next * sizeof *list);
        if (!list) {
            x->no_memory = 1;
            return NULL;
        }
        x->list = list;
        x->capacity = next;
    }
    token *t = &x->list[x->count++];
    *t = (token){.kind = kind, .place = place_of(x), .text = x->text + x->at, .length = (int)length};
    x->at += length;
    return t;
}

static void skip_line(lexer *x)
{
    while (x->at < x->length && x->text[x->at] != '\n') x->at++;
}

static int is_sign(const token *t, const char *text)
{
    return t->kind == TOKEN_SIGN && (size_t)t->length == strlen(text) &&
           !memcmp(t->text, text, (size_t)t->length);
}

/* Does a line that ends with this token go on? */
static int goes_on(const token *t)
{
    static const char *const sign[] = {"+", "-",  "*",  "/",  "^",  ",",  "=",  "~",  "<", ">",
                                       "|", "<=", ">=", "==", "!=", ":=", "&&", "||", ".."};
    if (t->kind == TOKEN_NAME)
        return (t->length == 2 && !memcmp(t->text, "or", 2)) ||
               (t->length == 3 && !memcmp(t->text, "and", 3)) ||
               (t->length == 3 && !memcmp(t->text, "not", 3));
    for (size_t k = 0; k < sizeof sign / sizeof *sign; k++) {
        if (is_sign(t, sign[k])) return 1;
    }
    return 0;
}

static void end_line(lexer *x)
{
    const token *last = x->count ? &x->list[x->count - 1] : NULL;
    if (x->depth == 0 && last && last->kind != TOKEN_NEWLINE && !goes_on(last)) push(x, TOKEN_NEWLINE, 0);
    x->at++;
    x->line++;
    x->line_start = x->at;
}

static void read_number(lexer *x)
{
    size_t n = 0;
    char copy[64];
    while (isdigit((unsigned char)look(x, n))) n++;
    if (look(x, n) == '.' && look(x, n + 1) != '.') n++;
    while (isdigit((unsigned char)look(x, n))) n++;
    if (look(x, n) == 'e' || look(x, n) == 'E') {
        size_t k = n + 1 + (look(x, n + 1) == '-' || look(x, n + 1) == '+');
        if (isdigit((unsigned char)look(x, k))) {
            while (isdigit((unsigned char)look(x, k))) k++;
            n = k;
        }
    }
    size_t short_length = n < sizeof copy - 1 ? n : sizeof copy - 1; /* digits beyond the 63rd do not count */
    memcpy(copy, x->text + x->at, short_length);
    copy[short_length] = 0;
    double value = n < sizeof copy ? dae_strtod(copy, NULL) : NAN;
    if (!isfinite(value))
        dae_messages_error(x->messages, place_of(x), "the number is too %s",
                           n < sizeof copy ? "large" : "long");
    token *t = push(x, TOKEN_NUMBER, n);
    if (t) t->number = value;
    size_t k = 0;
    while (look(x, k) == ' ' || look(x, k) == '\t') k++;
    if (look(x, k) != '[') return;
    x->at += k + 1;
    for (n = 0; look(x, n) && look(x, n) != ']' && look(x, n) != '\n';) n++;
    if (look(x, n) != ']') {
        dae_messages_error(x->messages, place_of(x), "expected \"]\" after the unit");
        skip_line(x);
        return;
    }
    push(x, TOKEN_UNIT, n);
    x->at++;
}

static size_t name_length(const lexer *x)
{
    size_t n = 0;
    for (;;) {
        char c = look(x, n), next = look(x, n + 1);
        if (isalnum((unsigned char)c) || c == '_') n++;
        else if (c == '.' && (isalpha((unsigned char)next) || next == '_')) n++;
        else return n;
    }
}

static void read_string(lexer *x)
{
    size_t n = 0;
    x->at++;
    while (look(x, n) && look(x, n) != '"' && look(x, n) != '\n') n++;
    if (look(x, n) != '"') {
        x->at--;
        dae_messages_error(x->messages, place_of(x), "the text is not closed: expected \" in the same line");
        skip_line(x);
        return;
    }
    token *t = push(x, TOKEN_STRING, n);
    if (t) t->place.column--; /* of the quote */
    x->at++;
}

static void unexpected(lexer *x)
{
    unsigned char c = (unsigned char)look(x, 0);
    dae_place where = place_of(x);
    size_t n = 1;
    while (c >= 0x80 && ((unsigned char)look(x, n) & 0xc0) == 0x80 && n < 4) n++;
    if (c == '%') {
        dae_messages_error(x->messages, where,
                           "unexpected \"%%\" (comments begin with #; the remainder is mod(a,b))");
    } else if (c >= 0x80) {
        dae_messages_error(x->messages, where, "unexpected letter (names consist of a-z, A-Z, digits and _)");
    } else if (c < 32 || c == 127) {
        dae_messages_error(x->messages, where, "unexpected control character (code %d)", c);
    } else {
        dae_messages_error(x->messages, where, "unexpected \"%c\"", c);
    }
    skip_line(x);
}

static void read_sign(lexer *x)
{
    static const char *const two[] = {":=", "==", "!=", "<=", ">=", "..", "&&", "||"};
    char c = look(x, 0), d = look(x, 1);
    if (c == '/' && d == '/') {
        dae_messages_error(x->messages, place_of(x), "unexpected \"//\" (comments begin with #)");
        skip_line(x);
        return;
    }
    if (c == '*' && d == '*') {
        dae_messages_error(x->messages, place_of(x), "\"**\": powers are written ^");
        skip_line(x);
        return;
    }
    for (size_t k = 0; k < sizeof two / sizeof *two; k++) {
        if (c == two[k][0] && d == two[k][1]) {
            push(x, TOKEN_SIGN, 2);
            return;
        }
    }
    if (!c || !strchr("+-*/^()[],:=~<>!'|", c)) {
        unexpected(x);
        return;
    }
    if (c == '(' || c == '[') x->depth++;
    if ((c == ')' || c == ']') && x->depth > 0) x->depth--;
    push(x, TOKEN_SIGN, 1);
}

token *dae_tokens_read(const char *text, size_t length, dae_messages *messages, int *count)
{
    lexer x = {.text = text, .length = length, .line = 1, .messages = messages};
    while (x.at < x.length && !x.no_memory) {
        char c = look(&x, 0);
        if (c == '\n') {
            end_line(&x);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            x.at++;
        } else if (c == '#') {
            skip_line(&x);
        } else if (c == ';') {
            push(&x, TOKEN_NEWLINE, 1);
        } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)look(&x, 1)))) {
            read_number(&x);
        } else if (isalpha((unsigned char)c) || c == '_') {
            push(&x, TOKEN_NAME, name_length(&x));
        } else if (c == '"') {
            read_string(&x);
        } else {
            read_sign(&x);
        }
    }
    if (x.count > DAE_MODEL_MAX_WORDS - 2) { /* room for the end */
        if (!x.full)
            dae_messages_error(messages, place_of(&x), "the text is too long (limit %d words)",
                               DAE_MODEL_MAX_WORDS - 2);
        x.count = DAE_MODEL_MAX_WORDS - 2;
    }
    x.full = 0;
    push(&x, TOKEN_NEWLINE, 0);
    push(&x, TOKEN_END, 0);
    *count = x.count;
    if (!x.no_memory) return x.list;
    free(x.list);
    return NULL;
}
