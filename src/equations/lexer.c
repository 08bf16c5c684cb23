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
    dae_place open; /* the bracket that was opened last */
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
    *t = (token){
        .kind = kind, .place = place_of(x), .text = length ? x->text + x->at : "", .length = (int)length};
    x->at += length;
    return t;
}

static void skip_line(lexer *x)
{
    while (x->at < x->length && x->text[x->at] != '\n') x->at++;
}

/* The rest of a line that is wrong, which has been told: a token in its place, so that the parser says nothing more about it. */
static void give_up_line(lexer *x)
{
    push(x, TOKEN_WRONG, 0);
    x->depth = 0;
    skip_line(x);
}

/* The line goes on in the next one by a sign that does not exist here: both are given up. */
static void give_up_lines(lexer *x)
{
    for (;;) {
        size_t end;
        give_up_line(x);
        for (end = x->at; end > x->line_start && strchr(" \t\r", x->text[end - 1]); end--) continue;
        int more = end > x->line_start && (x->text[end - 1] == '\\' ||
                                           (end > x->line_start + 2 && !memcmp(x->text + end - 3, "...", 3)));
        if (!more || x->at == x->length) return;
        x->at++;
        x->line++;
        x->line_start = x->at;
    }
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
        give_up_line(x);
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
        give_up_line(x);
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
        const char *here = dae_habit_letter(x->text + x->at, n);
        static const char letter[] = "unexpected letter (names consist of a-z, A-Z, digits and _)";
        if (here) dae_messages_error(x->messages, where, "\"%.*s\": %s", (int)n, x->text + x->at, here);
        else if (!dae_messages_told(x->messages, letter))
            dae_messages_error(x->messages, where, "%s", letter);
    } else if (c < 32 || c == 127) {
        dae_messages_error(x->messages, where, "unexpected control character (code %d)", c);
    } else {
        dae_messages_error(x->messages, where, "unexpected \"%c\"", c);
    }
    give_up_line(x);
}

static void read_sign(lexer *x)
{
    static const char *const two[] = {":=", "==", "!=", "<=", ">=", "..", "&&", "||"};
    char c = look(x, 0), d = look(x, 1);
    if (c == '\\' || (c == '.' && d == '.' && look(x, 2) == '.')) {
        dae_messages_error(
            x->messages, place_of(x),
            "\"%.*s\": a line goes on by itself after an operator, a comma and inside brackets",
            c == '.' ? 3 : 1, x->text + x->at);
        give_up_lines(x);
        return;
    }
    const char *otherwise = dae_habit_sign(c, d);
    if (otherwise) {
        dae_messages_error(x->messages, place_of(x), "%s", otherwise);
        give_up_line(x);
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
    if (c == '(' || c == '[') x->depth++, x->open = place_of(x);
    if ((c == ')' || c == ']') && x->depth > 0) x->depth--;
    push(x, TOKEN_SIGN, 1);
}

/* Blanks that only look like one: no-break, thin and narrow ones. */
static size_t odd_blank(const lexer *x)
{
    static const char *const list[] = {"\xc2\xa0", "\xe2\x80\x89", "\xe2\x80\xaf"};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        size_t n = strlen(list[k]);
        if (x->length - x->at >= n && !memcmp(x->text + x->at, list[k], n)) return n;
    }
    return 0;
}

/* A line that begins with a word of a statement, although a bracket is open: it is the bracket that is wrong. */
static void close_brackets(lexer *x, size_t length)
{
    static const char *const word[] = {"param", "const", "int",   "var",  "discrete", "let",      "fn",
                                       "table", "for",   "init",  "when", "every",    "solve",    "output",
                                       "plot",  "use",   "model", "end",  "at",       "component"};
    size_t k = x->at;
    while (k > x->line_start && (x->text[k - 1] == ' ' || x->text[k - 1] == '\t')) k--;
    if (!x->depth || k > x->line_start) return;
    for (k = 0; k < sizeof word / sizeof *word; k++) {
        if (strlen(word[k]) != length || memcmp(x->text + x->at, word[k], length) != 0) continue;
        dae_messages_error(x->messages, x->open, "the bracket that opens here is not closed");
        push(x, TOKEN_WRONG, 0);
        push(x, TOKEN_NEWLINE, 0);
        x->depth = 0;
        return;
    }
}

token *dae_tokens_read(const char *text, size_t length, dae_messages *messages, int *count)
{
    lexer x = {.text = text, .length = length, .line = 1, .messages = messages};
    if (length > 1 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2))) {
        dae_messages_error(messages, place_of(&x), "the text is UTF-16: save it as UTF-8");
        x.length = 0;
    }
    while (x.at < x.length && !x.no_memory) {
        char c = look(&x, 0);
        size_t blank = (unsigned char)c >= 0x80 ? odd_blank(&x) : 0;
        if (c == '\n') {
            end_line(&x);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            x.at++;
        } else if (blank) {
            x.at += blank;
        } else if (c == '#') {
            skip_line(&x);
        } else if (c == ';') {
            push(&x, TOKEN_NEWLINE, 1);
        } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)look(&x, 1)))) {
            read_number(&x);
        } else if (isalpha((unsigned char)c) || c == '_') {
            size_t n = name_length(&x);
            close_brackets(&x, n);
            push(&x, TOKEN_NAME, n);
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
