/* Reading one value through a line of an options table; shared by options, methods and problems. */
#ifndef DAE_CORE_SETTING_H
#define DAE_CORE_SETTING_H

#include <daedalus/options.h>

void dae_setting_defaults(const dae_option *table, void *object);
/* what: "option", "parameter of hires", ... for the message. A text value is borrowed. */
dae_status dae_setting_store(const dae_option *table, void *object, const char *what, const char *name,
                         const char *value, dae_error *err);
/* That every word in the object is one of its line's choices (NULL: not given). */
dae_status dae_setting_check_words(const dae_option *table, const void *object, const char *what,
                                 dae_error *err);

#endif
