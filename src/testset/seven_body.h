/* The seven body mechanism, shared by seven-body and andrews. */
#ifndef DAE_TESTSET_SEVEN_BODY_H
#define DAE_TESTSET_SEVEN_BODY_H

#include <daedalus/system.h>

/* In descriptor form; torque: of the motor, borrowed as user data. */
dae_system dae_seven_body(const double *torque);

#endif
