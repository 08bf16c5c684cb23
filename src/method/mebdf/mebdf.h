/* Private parts of the MEBDF methods that order studies need. */
#ifndef DAE_METHOD_MEBDF_MEBDF_H
#define DAE_METHOD_MEBDF_MEBDF_H

struct dae_mebdf;

/* Replaces the history by y(t), y(t - h), .. y(t - k h) (k+1 vectors after each other): an exact start. */
void dae_mebdf_set_history(struct dae_mebdf *m, int k, double h, const double *past);
void dae_mebdf_interpolate(void *self, double t, double *y, double *yp);

#endif
