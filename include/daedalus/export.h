/* DAE_API marks what the shared library exports; everything else is hidden. */
#ifndef DAEDALUS_EXPORT_H
#define DAEDALUS_EXPORT_H

#if defined(__GNUC__)
#define DAE_API __attribute__((visibility("default")))
#else
#define DAE_API
#endif

/* Arguments a and b are the format and the first value of a printf. */
#if defined(__GNUC__)
#define DAE_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define DAE_PRINTF(a, b)
#endif

#ifdef __cplusplus
#define DAE_BEGIN_DECLS extern "C" {
#define DAE_END_DECLS }
#else
#define DAE_BEGIN_DECLS
#define DAE_END_DECLS
#endif

#endif
