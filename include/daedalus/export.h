/* DAE_API marks what the shared library exports; everything else is hidden. */
#ifndef DAEDALUS_EXPORT_H
#define DAEDALUS_EXPORT_H

#if defined(__GNUC__)
#define DAE_API __attribute__((visibility("default")))
#else
#define DAE_API
#endif

#ifdef __cplusplus
#define DAE_BEGIN_DECLS extern "C" {
#define DAE_END_DECLS }
#else
#define DAE_BEGIN_DECLS
#define DAE_END_DECLS
#endif

#endif
