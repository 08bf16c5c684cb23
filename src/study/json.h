/* Parts of JSON that studies share. */
#ifndef DAE_STUDY_JSON_H
#define DAE_STUDY_JSON_H

#include <daedalus/status.h>

#include <jansson.h>

json_t *dae_provenance_object(void);                           /* of this moment; NULL: out of memory */
/* The same as text in one line; "" where it has no room. */
void dae_provenance_line(char *line, size_t size);
json_t *dae_json_real(double x);                               /* null where it is not finite */
double dae_json_number(const json_t *object, const char *key); /* NAN: there is none */
/* Writes a value in one line, numbers so that they read back exactly, and gives it back. NULL: DAE_ERR_MEMORY. */
dae_status dae_json_write(json_t *value, dae_write_fn *write, void *user);

#endif
