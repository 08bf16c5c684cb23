#include "core/escape.h"

#include <stdio.h>
#include <string.h>

/* What a byte is written as; NULL: as it is. */
typedef const char *replace_fn(unsigned char c, char space[8]);

/* Runs of bytes that stay are written at once. */
static int escape(const char *text, size_t length, replace_fn *replace, dae_put_fn *put, void *user)
{
    size_t from = 0;
    for (size_t i = 0; i <= length; i++) {
        char space[8];
        const char *other = i < length ? replace((unsigned char)text[i], space) : "";
        if (!other) continue;
        if (i > from && put(text + from, i - from, user) < 0) return -1;
        if (*other && put(other, strlen(other), user) < 0) return -1;
        from = i + 1;
    }
    return 0;
}

static int is_control(unsigned char c)
{
    return c < 32 || c == 127;
}

static const char *in_html(unsigned char c, char space[8])
{
    (void)space;
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\n':
    case '\t': return NULL;
    default: return is_control(c) ? " " : NULL;
    }
}

int dae_escape_html(const char *text, size_t length, dae_put_fn *put, void *user)
{
    return escape(text, length, in_html, put, user);
}

/* Backquotes are commands for a shell even inside of strings, unless a backslash stands before them. */
static const char *in_gnuplot(unsigned char c, char space[8])
{
    (void)space;
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '`': return "\\`";
    default: return is_control(c) ? " " : NULL;
    }
}

static int between_quotes(const char *text, size_t length, replace_fn *replace, dae_put_fn *put, void *user)
{
    if (put("\"", 1, user) < 0 || escape(text, length, replace, put, user) < 0) return -1;
    return put("\"", 1, user) < 0 ? -1 : 0;
}

int dae_escape_gnuplot(const char *text, size_t length, dae_put_fn *put, void *user)
{
    return between_quotes(text, length, in_gnuplot, put, user);
}

static const char *in_latex(unsigned char c, char space[8])
{
    switch (c) {
    case '\\': return "\\textbackslash{}";
    case '~': return "\\textasciitilde{}";
    case '^': return "\\textasciicircum{}";
    case '#':
    case '$':
    case '%':
    case '&':
    case '_':
    case '{':
    case '}': snprintf(space, 8, "\\%c", c); return space;
    default: return is_control(c) ? " " : NULL;
    }
}

int dae_escape_latex(const char *text, size_t length, dae_put_fn *put, void *user)
{
    return escape(text, length, in_latex, put, user);
}

static int is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

static const char *in_address(unsigned char c, char space[8])
{
    if (is_plain(c)) return NULL;
    snprintf(space, 8, "%%%02X", c);
    return space;
}

int dae_escape_address(const char *text, size_t length, dae_put_fn *put, void *user)
{
    return escape(text, length, in_address, put, user);
}

void dae_escape_file_name(const char *text, char *name, size_t size)
{
    size_t n = 0;
    for (; text[n] && n + 1 < size; n++) name[n] = is_plain((unsigned char)text[n]) ? text[n] : '_';
    if (n == 0) name[n++] = '_';
    name[n] = 0;
    if (name[0] == '.' || name[0] == '-') name[0] = '_';
}

/* How many bytes a letter of UTF-8 takes at c, 0: it is none. [RFC 3629] section 4 */
static size_t utf8_length(const unsigned char *c, size_t left)
{
    unsigned char first = c[0], low = 0x80, high = 0xBF; /* borders of the second byte */
    size_t n = first < 0x80   ? 1
               : first < 0xC2 ? 0
               : first < 0xE0 ? 2
               : first < 0xF0 ? 3
               : first < 0xF5 ? 4
                              : 0;
    if (n > left) return 0;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F; /* no surrogates */
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
    if (n > 1 && (c[1] < low || c[1] > high)) return 0;
    for (size_t k = 2; k < n; k++) {
        if (c[k] < 0x80 || c[k] > 0xBF) return 0;
    }
    return n;
}

int dae_escape_json(const char *text, size_t length, dae_put_fn *put, void *user)
{
    const unsigned char *c = (const unsigned char *)text;
    if (put("\"", 1, user) < 0) return -1;
    for (size_t i = 0, n; i < length; i += n) {
        char number[8];
        const char *other = NULL;
        size_t letter = utf8_length(c + i, length - i);
        n = letter ? letter : 1;
        if (!letter) other = "\\ufffd";
        else if (c[i] == '"' || c[i] == '\\') snprintf(number, sizeof number, "\\%c", c[i]), other = number;
        else if (is_control(c[i]) || c[i] == '<' || c[i] == '>' || c[i] == '&')
            snprintf(number, sizeof number, "\\u%04x", c[i]), other = number;
        else if (n == 3 && c[i] == 0xE2 && c[i + 1] == 0x80 && (c[i + 2] == 0xA8 || c[i + 2] == 0xA9))
            other = c[i + 2] == 0xA8 ? "\\u2028" : "\\u2029";
        if (put(other ? other : text + i, other ? strlen(other) : n, user) < 0) return -1;
    }
    return put("\"", 1, user) < 0 ? -1 : 0;
}

size_t dae_utf8_mark(const char *text, size_t length)
{
    return length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0;
}
