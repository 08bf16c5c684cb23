/* A small reader of XML: elements, attributes, text; comments, instructions, DOCTYPE and CDATA are passed over or taken. No entities but the
 * five of XML and numbers, no files, no namespaces. */
#ifndef MBS_XML_H
#define MBS_XML_H

#include "core/arena.h"

#include <daedalus/status.h>

#include <stddef.h>

typedef struct mbs_xml {
    const char *name, *text; /* text: of the element itself, "" if there is none */
    int line;
    int nattribute;
    const char **attribute;       /* name, value, name, value, ... */
    struct mbs_xml *child, *next; /* first child, next of its parent */
} mbs_xml;

/* The root element, in the arena; NULL: *err says what is wrong and where. */
mbs_xml *mbs_xml_read(const char *text, size_t length, dae_arena *arena, dae_error *err);
const char *mbs_xml_get(const mbs_xml *e, const char *attribute); /* NULL: not given */
const mbs_xml *mbs_xml_child(const mbs_xml *e, const char *name); /* the first, NULL: none (or e is NULL) */

#endif
