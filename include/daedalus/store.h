/* Where results lie between two programs: a folder of files, a database, memory. The library opens no files; who calls it says how
 * a text is kept under a name. */
#ifndef DAEDALUS_STORE_H
#define DAEDALUS_STORE_H

#include <daedalus/status.h>

DAE_BEGIN_DECLS

typedef struct dae_store {
    /* Hands the text under a name to write(.., to). 0; 1: there is none; < 0: it cannot be read
     * (DAE_ERR_MEMORY: for want of memory). */
    int (*get)(const char *name, dae_write_fn *write, void *to, void *user);
    /* Keeps a text under a name, in the place of an older one. 0; < 0: it cannot be kept. */
    int (*put)(const char *name, const char *text, size_t length, void *user);
    void *user;
} dae_store;

DAE_END_DECLS

#endif
