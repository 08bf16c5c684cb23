/* The Markdown of our own pages as HTML. It knows what they use: headings, paragraphs, lists, tables, blocks of equations
 * (indented) and of code (fenced), links, pictures, emphasis, code in lines. All text is escaped. */
#include "core/escape.h"
#include "core/text.h"

#include <daedalus/study.h>

#include <ctype.h>
#include <string.h>

/* A line of the text, without its end. */
typedef struct span {
    const char *at;
    size_t length;
} span;

typedef struct reader {
    const char *at, *end;
    dae_text x;
    int shift;
} reader;

static void escape(dae_text *x, const char *text, size_t length)
{
    dae_escape_html(text, length, dae_text_write, x);
}

dae_status dae_html_text(const char *text, size_t length, dae_write_fn *write, void *user)
{
    return dae_escape_html(text, length, write, user) < 0 ? DAE_ERR_FILE : DAE_OK;
}

dae_status dae_html_address(const char *name, dae_write_fn *write, void *user)
{
    return dae_escape_address(name, strlen(name), write, user) < 0 ? DAE_ERR_FILE : DAE_OK;
}

void dae_file_name(const char *text, char *name, size_t size)
{
    if (size >= 2) dae_escape_file_name(text, name, size);
}

/* ---- In a line ------------------------------------------------------------------------------------- */

/* Where the mark stands again at or after k, or length. */
static size_t find(const char *text, size_t length, size_t k, const char *mark)
{
    size_t n = strlen(mark);
    for (; k + n <= length; k++) {
        if (!strncmp(text + k, mark, n)) return k;
    }
    return length;
}

/* Only these become links: a page must not run anything. */
static int is_address(const char *text, size_t length)
{
    return (length > 8 && !strncmp(text, "https://", 8)) || (length > 7 && !strncmp(text, "http://", 7));
}

static void inline_text(dae_text *x, const char *text, size_t length);

/* [words](address) at k; how much it takes, or 0. */
static size_t put_link(dae_text *x, const char *text, size_t length, size_t k)
{
    size_t close = find(text, length, k + 1, "]");
    if (close + 1 >= length || text[close + 1] != '(') return 0;
    size_t end = find(text, length, close + 2, ")");
    if (end == length) return 0;
    const char *address = text + close + 2;
    size_t n = end - close - 2;
    int link = is_address(address, n);
    if (link) {
        dae_text_put(x, "<a href=\"");
        escape(x, address, n);
        dae_text_put(x, "\">");
    }
    inline_text(x, text + k + 1, close - k - 1);
    if (link) dae_text_put(x, "</a>");
    return end + 1 - k;
}

static size_t put_marked(dae_text *x, const char *text, size_t length, size_t k, const char *mark,
                         const char *tag)
{
    size_t n = strlen(mark), end = find(text, length, k + n, mark);
    if (end == length || end == k + n || isspace((unsigned char)text[k + n]) ||
        isspace((unsigned char)text[end - 1]))
        return 0;
    dae_text_print(x, "<%s>", tag);
    if (mark[0] == '`') escape(x, text + k + n, end - k - n);
    else inline_text(x, text + k + n, end - k - n);
    dae_text_print(x, "</%s>", tag);
    return end + n - k;
}

static void inline_text(dae_text *x, const char *text, size_t length)
{
    for (size_t k = 0, n; k < length; k += n) {
        n = 0;
        if (text[k] == '\\' && k + 1 < length && ispunct((unsigned char)text[k + 1])) {
            escape(x, text + k + 1, 1);
            n = 2;
        } else if (text[k] == '`') {
            n = put_marked(x, text, length, k, "`", "code");
        } else if (text[k] == '[' || (text[k] == '!' && k + 1 < length && text[k + 1] == '[')) {
            n = put_link(x, text, length, text[k] == '!' ? k + 1 : k);
            if (n && text[k] == '!') n++;
        } else if (!strncmp(text + k, "**", length - k < 2 ? length - k : 2) && length - k > 2) {
            n = put_marked(x, text, length, k, "**", "strong");
        } else if (text[k] == '*') {
            n = put_marked(x, text, length, k, "*", "em");
        }
        if (n) continue;
        n = 1;
        escape(x, text + k, 1);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------------- */

static int more(const reader *r)
{
    return r->at < r->end;
}

static span peek(const reader *r)
{
    const char *c = r->at;
    while (c < r->end && *c != '\n') c++;
    size_t n = (size_t)(c - r->at);
    while (n > 0 && isspace((unsigned char)r->at[n - 1])) n--;
    return (span){r->at, n};
}

static void skip(reader *r)
{
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
}

static size_t indent(span s)
{
    size_t k = 0;
    while (k < s.length && s.at[k] == ' ') k++;
    return k;
}

/* "- ", "* " or "1. " after the indentation: length of the mark, else 0; *ordered tells which. */
static size_t list_mark(span s, int *ordered)
{
    size_t k = indent(s), from = k;
    *ordered = 0;
    if (k > 3 || s.length < k + 2) return 0;
    if ((s.at[k] == '-' || s.at[k] == '*') && s.at[k + 1] == ' ') return k + 2;
    while (k < s.length && isdigit((unsigned char)s.at[k])) k++;
    if (k == from || k + 1 >= s.length || s.at[k] != '.' || s.at[k + 1] != ' ') return 0;
    *ordered = 1;
    return k + 2;
}

static int heading_level(span s)
{
    int k = 0;
    while (k < 6 && (size_t)k < s.length && s.at[k] == '#') k++;
    return k > 0 && (size_t)k < s.length && s.at[k] == ' ' ? k : 0;
}

static int is_fence(span s)
{
    return s.length >= 3 && !strncmp(s.at, "```", 3);
}

static int begins_block(span s)
{
    int ordered;
    return s.length == 0 || heading_level(s) || is_fence(s) || s.at[0] == '|' || list_mark(s, &ordered);
}

static void put_heading(reader *r, span s, int level)
{
    int shown = level + r->shift < 6 ? level + r->shift : 6;
    dae_text_print(&r->x, "<h%d>", shown);
    inline_text(&r->x, s.at + level + 1, s.length - (size_t)level - 1);
    dae_text_print(&r->x, "</h%d>\n", shown);
    skip(r);
}

static void put_fenced(reader *r)
{
    dae_text_put(&r->x, "<pre><code>");
    for (skip(r); more(r) && !is_fence(peek(r)); skip(r)) {
        span s = peek(r);
        escape(&r->x, s.at, s.length);
        dae_text_put(&r->x, "\n");
    }
    skip(r);
    dae_text_put(&r->x, "</code></pre>\n");
}

/* Lines that begin with four blanks; empty ones between them belong to it. */
static void put_indented(reader *r)
{
    int empty = 0;
    dae_text_put(&r->x, "<pre class=\"equations\">");
    while (more(r)) {
        span s = peek(r);
        if (s.length > 0 && indent(s) < 4) break;
        skip(r);
        if (s.length == 0) {
            empty++;
            continue;
        }
        for (; empty > 0; empty--) dae_text_put(&r->x, "\n");
        escape(&r->x, s.at + 4, s.length - 4);
        dae_text_put(&r->x, "\n");
    }
    dae_text_put(&r->x, "</pre>\n");
}

static void put_row(reader *r, span s, const char *cell)
{
    size_t k = 1, last = s.length > 1 && s.at[s.length - 1] == '|' ? s.length - 1 : s.length;
    dae_text_put(&r->x, "<tr>");
    while (k <= last) {
        size_t from = k, code = 0;
        for (; k < last && (code || s.at[k] != '|'); k++) {
            if (s.at[k] == '`') code = !code;
            if (s.at[k] == '\\' && k + 1 < last) k++;
        }
        size_t to = k;
        while (from < to && s.at[from] == ' ') from++;
        while (to > from && s.at[to - 1] == ' ') to--;
        dae_text_print(&r->x, "<%s>", cell);
        inline_text(&r->x, s.at + from, to - from);
        dae_text_print(&r->x, "</%s>", cell);
        k++;
        if (k >= last) break;
    }
    dae_text_put(&r->x, "</tr>\n");
}

static int is_rule(span s)
{
    for (size_t k = 0; k < s.length; k++) {
        if (!strchr("|-: ", s.at[k])) return 0;
    }
    return s.length > 2;
}

static void put_table(reader *r)
{
    span s = peek(r);
    dae_text_put(&r->x, "<table>\n");
    skip(r);
    int head = more(r) && is_rule(peek(r));
    put_row(r, s, head ? "th" : "td");
    if (head) skip(r);
    for (; more(r) && (s = peek(r)).length > 0 && s.at[0] == '|'; skip(r)) put_row(r, s, "td");
    dae_text_put(&r->x, "</table>\n");
}

/* An item goes on over lines that begin no block. */
static void put_list(reader *r)
{
    int ordered, kind;
    list_mark(peek(r), &kind);
    dae_text_put(&r->x, kind ? "<ol>\n" : "<ul>\n");
    while (more(r)) {
        span s = peek(r);
        size_t mark = list_mark(s, &ordered);
        if (!mark || ordered != kind) break;
        dae_text_put(&r->x, "<li>");
        inline_text(&r->x, s.at + mark, s.length - mark);
        for (skip(r); more(r) && !begins_block(s = peek(r)); skip(r)) {
            size_t k = indent(s);
            dae_text_put(&r->x, "\n");
            inline_text(&r->x, s.at + k, s.length - k);
        }
        dae_text_put(&r->x, "</li>\n");
    }
    dae_text_put(&r->x, kind ? "</ol>\n" : "</ul>\n");
}

/* Marks can go over the ends of lines, so the whole paragraph is one piece of text. */
static void put_paragraph(reader *r)
{
    const char *from = r->at;
    span s = peek(r), last = s;
    do {
        last = s;
        skip(r);
    } while (more(r) && !begins_block(s = peek(r)));
    dae_text_put(&r->x, "<p>");
    inline_text(&r->x, from, (size_t)(last.at + last.length - from));
    dae_text_put(&r->x, "</p>\n");
}

dae_status dae_markdown_html(const char *text, size_t length, int heading_shift, dae_write_fn *write,
                             void *user)
{
    reader r = {
        .at = text, .end = text + length, .x = {.write = write, .user = user}, .shift = heading_shift};
    int ordered;
    while (more(&r)) {
        span s = peek(&r);
        int level = heading_level(s);
        if (s.length == 0) skip(&r);
        else if (level) put_heading(&r, s, level);
        else if (is_fence(s)) put_fenced(&r);
        else if (indent(s) >= 4) put_indented(&r);
        else if (s.at[0] == '|') put_table(&r);
        else if (list_mark(s, &ordered)) put_list(&r);
        else put_paragraph(&r);
    }
    return dae_text_end(&r.x);
}
