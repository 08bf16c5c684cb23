/* The entry that libFuzzer calls, for model files: read, compile, assemble, evaluate once. `make fuzz` runs it guided by
 * coverage for FUZZ_SECONDS (600); new inputs of interest go to build-fuzz/corpus, those of tests/fuzz/corpus are replayed
 * by test_model_fuzz. */
#include <daedalus/daedalus.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_parse((const char *)data, size, NULL, 0, &err);
    if (!m) {
        if (err.status >= 0 || !err.text[0]) abort();
        return 0;
    }
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    mbs_model_destroy(m);
    if (!c) {
        if (err.status >= 0 || !err.text[0]) abort();
        return 0;
    }
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)) + 1, sizeof *y);
    if (y && mbs_mechanism_initial(c, y, &err) >= 0) {
        dae_energy e;
        mbs_mechanism_acceleration(c, 0, y, NULL, NULL, &err);
        mbs_mechanism_energy(c, 0, y, &e);
    }
    free(y);
    mbs_mechanism_destroy(c);
    return 0;
}
