/* Text of users (names, units, documentation, messages) on its way into another language. Nothing else writes it there:
 * each place has one function. All of them take any bytes; what is no letter of the place becomes harmless. */
#ifndef DAE_CORE_ESCAPE_H
#define DAE_CORE_ESCAPE_H

#include <stddef.h>

typedef int dae_put_fn(const char *text, size_t length, void *user); /* < 0: stop */

/* HTML and SVG, as text and as a value in quotes: & < > " ' become entities, control characters blanks. 0 or -1. */
int dae_escape_html(const char *text, size_t length, dae_put_fn *put, void *user);
/* A JSON string with its quotes, which JavaScript reads too, also inside <script>: < > & and the line ends U+2028, U+2029
 * are written by their numbers, bytes that are no UTF-8 as U+FFFD. */
int dae_escape_json(const char *text, size_t length, dae_put_fn *put, void *user);
/* A string of gnuplot in double quotes: nothing in it is a command, ends of lines and controls become blanks. */
int dae_escape_gnuplot(const char *text, size_t length, dae_put_fn *put, void *user);
/* LaTeX text: # $ % & _ { } ~ ^ \ by their commands. */
int dae_escape_latex(const char *text, size_t length, dae_put_fn *put, void *user);
/* The name of a file in an address: all but letters, digits and - _ . as %XX. A name cannot become a scheme. */
int dae_escape_address(const char *text, size_t length, dae_put_fn *put, void *user);
/* Part of a file's name: letters, digits and - _ . stay, all else becomes _, so that it names no other folder; it does not
 * begin with a dot or a dash and is never empty. size >= 2. */
void dae_escape_file_name(const char *text, char *name, size_t size);
/* Bytes of the byte order mark that some editors put before UTF-8: 3 or 0. Readers skip it. */
size_t dae_utf8_mark(const char *text, size_t length);

#endif
