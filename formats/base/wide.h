/* wide.h: variants of hot loops for processors with vectors of 32 bytes (AVX2).
 *
 * A loop is written once and compiled twice: WIDE before a function lets the compiler use
 * such vectors in it, HAS_WIDE says whether this processor has them. Only the width
 * differs, never the order of an element's arithmetic, so both give the same bits.
 */
#ifndef STC_FORMATS_BASE_WIDE_H
#define STC_FORMATS_BASE_WIDE_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target("avx2,popcnt")))
#define HAS_WIDE (__builtin_cpu_supports("avx2") != 0)
#else
#define WIDE
#define HAS_WIDE false
#endif

#endif
