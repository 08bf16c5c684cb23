/* Values of JSON: what all that writes them shares. */
#ifndef DAE_TABLE_JSON_VALUE_H
#define DAE_TABLE_JSON_VALUE_H

#include <daedalus/status.h>

#include <jansson.h>

json_t *dae_json_real(double x);                               /* null where it is not finite */
json_t *dae_json_reals(const double *x, int n);                /* an array of them */
double dae_json_number(const json_t *object, const char *key); /* NAN: there is none */
/* The value that a text says, as json_loadb has it. NULL: where->text says why; starved: it was memory. */
json_t *dae_json_read(const char *text, size_t length, size_t flags, json_error_t *where);
int dae_json_starved(const json_error_t *where);
/* Writes a value in one line, numbers so that they read back exactly, and gives it back. NULL: DAE_ERR_MEMORY. */
dae_status dae_json_write(json_t *value, dae_write_fn *write, void *user);
dae_status dae_json_line(json_t *value, dae_write_fn *write, void *user); /* the same with its newline */

#endif
