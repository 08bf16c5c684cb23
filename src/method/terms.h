/* One loop for all terms of a sum over stages: DAE_TERMS(count, SUM, T) is SUM(T(0) + .. + T(count-1)) with the number of terms
 * a constant, and nothing for no or more than DAE_TERMS_MOST terms. */
#ifndef DAE_METHOD_TERMS_H
#define DAE_METHOD_TERMS_H

enum { DAE_TERMS_MOST = 17 };

#define DAE_TERMS_2(T) T(0) + T(1)
#define DAE_TERMS_4(T) DAE_TERMS_2(T) + T(2) + T(3)
#define DAE_TERMS_6(T) DAE_TERMS_4(T) + T(4) + T(5)
#define DAE_TERMS_8(T) DAE_TERMS_6(T) + T(6) + T(7)
#define DAE_TERMS_10(T) DAE_TERMS_8(T) + T(8) + T(9)
#define DAE_TERMS_12(T) DAE_TERMS_10(T) + T(10) + T(11)
#define DAE_TERMS_14(T) DAE_TERMS_12(T) + T(12) + T(13)
#define DAE_TERMS_16(T) DAE_TERMS_14(T) + T(14) + T(15)

#define DAE_TERMS(count, SUM, T)                  \
    switch (count) {                              \
    case 1: SUM(T(0)); break;                     \
    case 2: SUM(DAE_TERMS_2(T)); break;           \
    case 3: SUM(DAE_TERMS_2(T) + T(2)); break;    \
    case 4: SUM(DAE_TERMS_4(T)); break;           \
    case 5: SUM(DAE_TERMS_4(T) + T(4)); break;    \
    case 6: SUM(DAE_TERMS_6(T)); break;           \
    case 7: SUM(DAE_TERMS_6(T) + T(6)); break;    \
    case 8: SUM(DAE_TERMS_8(T)); break;           \
    case 9: SUM(DAE_TERMS_8(T) + T(8)); break;    \
    case 10: SUM(DAE_TERMS_10(T)); break;         \
    case 11: SUM(DAE_TERMS_10(T) + T(10)); break; \
    case 12: SUM(DAE_TERMS_12(T)); break;         \
    case 13: SUM(DAE_TERMS_12(T) + T(12)); break; \
    case 14: SUM(DAE_TERMS_14(T)); break;         \
    case 15: SUM(DAE_TERMS_14(T) + T(14)); break; \
    case 16: SUM(DAE_TERMS_16(T)); break;         \
    case 17: SUM(DAE_TERMS_16(T) + T(16)); break; \
    default: break;                               \
    }

#endif
