/* Kernels compiled twice, for any machine and for AVX2.
 *
 * A kernel is an inline body and two wrappers made by DAE_KERNEL; DAE_KERNEL_PICK takes the AVX2 one where
 * the processor has it, unless `portable` is 1. Only the width of the vectors differs, never the order of the
 * operations (and -ffp-contract=off keeps fused multiply-adds out), so both give the same bits. */
#ifndef DAE_LINALG_KERNEL_H
#define DAE_LINALG_KERNEL_H

#if defined(__GNUC__) && defined(__x86_64__)
#define DAE_KERNEL_WIDE 1
#define DAE_KERNEL_BODY static inline __attribute__((always_inline))
#define DAE_KERNEL(type, name, parameters, call)                       \
    static type name##_base parameters                                 \
    {                                                                  \
        call;                                                          \
    }                                                                  \
    __attribute__((target("avx2"))) static type name##_avx2 parameters \
    {                                                                  \
        call;                                                          \
    }
#define DAE_KERNEL_PICK(name, portable) \
    (!(portable) && __builtin_cpu_supports("avx2") ? name##_avx2 : name##_base)
#else
#define DAE_KERNEL_BODY static inline
#define DAE_KERNEL(type, name, parameters, call) \
    static type name##_base parameters           \
    {                                            \
        call;                                    \
    }
#define DAE_KERNEL_PICK(name, portable) ((void)(portable), name##_base)
#endif

#endif
