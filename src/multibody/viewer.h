/* Script and style sheet of the viewer in 3D, where `make viewer` has made them; else both are empty (viewer_none.c). */
#ifndef MBS_VIEWER_H
#define MBS_VIEWER_H

#include <stddef.h>

extern const unsigned char mbs_viewer_script[], mbs_viewer_style[];
extern const size_t mbs_viewer_script_size, mbs_viewer_style_size;

#endif
