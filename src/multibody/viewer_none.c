/* Programs without the viewer in 3D. */
#include "multibody/viewer.h"

const unsigned char mbs_viewer_script[] = {0}, mbs_viewer_style[] = {0};
const size_t mbs_viewer_script_size = 0, mbs_viewer_style_size = 0;
