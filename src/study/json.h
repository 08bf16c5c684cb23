/* Parts of JSON that studies share. */
#ifndef DAE_STUDY_JSON_H
#define DAE_STUDY_JSON_H

#include "table/json_value.h"

json_t *dae_provenance_object(void); /* of this moment; NULL: out of memory */
/* The same as text in one line; "" where it has no room. */
void dae_provenance_line(char *line, size_t size);

#endif
