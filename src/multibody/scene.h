/* What a viewer shows of a motion, as one JSON object (docs/viewer.md has its fields). */
#ifndef MBS_SCENE_H
#define MBS_SCENE_H

#include "multibody/mechanism.h"

#include <stddef.h>

typedef struct mbs_writer {
    mbs_write_fn *write;
    void *user;
    int bad; /* 1: it could not be written, 2: no memory */
} mbs_writer;

void mbs_put(mbs_writer *w, const char *format, ...) DAE_PRINTF(2, 3); /* at most 255 characters */
void mbs_put_text(mbs_writer *w, const char *text);
/* details: signals, forces and reactions too. */
void mbs_put_scene(mbs_writer *w, const dae_problem *p, const mbs_track *track, int details);

#endif
