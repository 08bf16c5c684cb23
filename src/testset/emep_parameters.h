/* The constants of EMEP as parameters: those of the air and of the place, then one for each line of rate_table, in its order. */
#ifndef DAE_TESTSET_EMEP_PARAMETERS_H
#define DAE_TESTSET_EMEP_PARAMETERS_H


/* clang-format off */
#define EMEP_PARAMETERS \
    {"T", 298, 200, 400, NULL, 0, "K", "temperature"}, \
    {"M", 2.55e19, 0, 1e300, NULL, 0, "1/cm^3", "air"}, \
    {"O2", 5.2e18, 0, 1e300, NULL, 0, "1/cm^3", "oxygen"}, \
    {"HMIX", 1.2e5, 1, 1e300, NULL, 0, "cm", "mixing height"}, \
    {"latitude", 50, -60, 60, NULL, 0, "degree", "of the place; the sun rises at 4 h and sets at 20 h all the same"}, \
    {"declination", 23.5, -23.5, 23.5, NULL, 0, "degree", "of the sun"}, \
    {"k1", 5.7e-34, 0, 1e300, NULL, 0, "", "factor of the rate constant (times M O2)"}, \
    {"k5", 9.6e-32, 0, 1e300, NULL, 0, "", "factor of the rate constant (times M)"}, \
    {"k7", 2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant (times M)"}, \
    {"k8", 2.2e-10, 0, 1e300, NULL, 0, "", "factor of the rate constant (times H2O)"}, \
    {"k11", 1.8e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k12", 1.2e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k13", 1.9e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k14", 1.4e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k15", 1.8e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k17", 3.7e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k19", 7.2e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k20", 1.4e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k21", 1.4e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k26", 4.1e-16, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k29", 7.1e14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k30", 4.8e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k31", 2.9e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k33", 7.7e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k35", 1e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k36", 1, 0, 1e300, NULL, 0, "", "factor on HO2 + HO2"}, \
    {"k39", 1.35e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k40", 4e-17, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k43", 0.0001, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k47", 0.5, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k48", 0.2, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k49", 0.5, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k50", 0.2, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k51", 0.1, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k52", 0.5, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k53", 0.3, 0, 1e300, NULL, 0, "cm/s", "velocity of deposition"}, \
    {"k59", 3.9e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k60", 4.2e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k61", 5.5e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k62", 5.5e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k63", 3.3e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k64", 3.2e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k65", 3.8e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k66", 9.6e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k67", 1e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k68", 1.9e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k69", 5.8e-16, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k70", 2.4e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k71", 7.8e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k72", 8.9e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k74", 6.5e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k75", 5.6e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k76", 5.8e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k77", 1e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k78", 1.34e16, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k79", 2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k80", 1.1e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k81", 1.64e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k85", 1e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k86", 1.15e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k87", 4.8e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k88", 1.3e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k89", 3e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k94", 2.8e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k109", 1.66e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k112", 1.2e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k123", 6.5e-15, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k125", 2.86e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k146", 3.2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k147", 2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k148", 2.2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k149", 3.7e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k150", 1.23e-14, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k151", 2.54e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k153", 4.13e-12, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k156", 2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k157", 8e-18, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k158", 1.86e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k160", 4.32e-15, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k161", 3.35e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k163", 7.8e-13, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k219", 2e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k221", 1.1e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k222", 1.7e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k223", 2.4e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k234", 1.37e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"k235", 1.7e-11, 0, 1e300, NULL, 0, "", "factor of the rate constant"}, \
    {"J1", 0.00123, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J2", 0.0002, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J3", 0.0145, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J4", 2.2e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J5", 3e-6, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J6", 5.4e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J7", 6.65e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J8", 1.35e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J9", 2.43e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J11", 2.16e-4, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J13", 0.0353, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J14", 0.0894, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J15", 3.32e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"J16", 2.27e-5, 0, 1e300, NULL, 0, "1/s", "photolysis"}, \
    {"E1", 2.5e11, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E3", 2.5e11, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E4", 2.5e12, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E6", 37103277743.668884, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E7", 103442103327.76872, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E8", 18829794540.778393, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E9", 13190851859.337162, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E10", 33510373530.29702, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E11", 1.25e11, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}, \
    {"E13", 43923598998.1498, 0, 1e300, NULL, 0, "1/(cm^2 s)", "emission"}
/* clang-format on */

#endif
