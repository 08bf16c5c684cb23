/* Where numbers come from: the machine, the program and the day. CPU times mean nothing without it. */
#ifndef DAEDALUS_PROVENANCE_H
#define DAEDALUS_PROVENANCE_H

#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* "" or 0: not known. */
typedef struct dae_provenance {
    char version[32];    /* of the library */
    char date[32];       /* now, UTC: "2026-03-14T15:09:26Z" */
    char processor[128]; /* as it calls itself */
    int cores;           /* that are online */
    char system[128];    /* operating system, its version, kind of processor */
    char compiler[128], flags[256];
    char blas[128];      /* the file that is loaded, "libopenblasp-r0.3.21.so" */
    char libraries[256]; /* others and their versions, "KLU 1.3, jansson 2.14" */
} dae_provenance;

DAE_API void dae_provenance_now(dae_provenance *p);
/* One JSON object with these names, without an end of line. */
DAE_API dae_status dae_provenance_json(const dae_provenance *p, dae_write_fn *write, void *user);
/* All of it in one sentence for people. */
DAE_API void dae_provenance_text(const dae_provenance *p, char *text, size_t size);
/* As attributes of a table. */
DAE_API void dae_provenance_note(const dae_provenance *p, dae_table *t);
/* The two in one: this program on this machine, now. */
DAE_API void dae_provenance_stamp(dae_table *t);

DAE_END_DECLS

#endif
