/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops compiled once per instruction set. A loop is written as an always-inline body of plain C over arrays;
 * SF_VECTOR_LEVELS wraps it in one function per level and defines the one that picks. Levels differ in the
 * rounding of reals only (fused multiply-add), within the last bits.
 */
#ifndef SF_CORE_VECTOR_H
#define SF_CORE_VECTOR_H

#include <stdint.h>

/** What the processor offers, least first. */
enum { SF_VECTOR_BASE = 0, SF_VECTOR_AVX2 = 1, SF_VECTOR_AVX512 = 2 };

/** The best level of this processor that sf_vector_limit allows. Any thread. */
int sf_vector_level(void);

/** Tests: uses no level above `most`, so that the slow paths are reached too. */
void sf_vector_limit(int most);

#define SF_VECTOR_BODY static inline __attribute__((always_inline))

/* Compilers name the wish for whole 512-bit registers differently. */
#if defined(__clang__)
#define SF_TARGET_AVX512 target("avx512f,avx512dq,avx2,fma"), min_vector_width(512)
#else
#define SF_TARGET_AVX512 target("avx512f,avx512dq,avx2,fma,prefer-vector-width=512")
#endif

#if defined(__x86_64__)
#define SF_VECTOR_LEVELS(name, body, parameters, arguments)                                                  \
    static void name##_base parameters                                                                       \
    {                                                                                                        \
        body arguments;                                                                                      \
    }                                                                                                        \
    __attribute__((target("avx2,fma"))) static void name##_avx2 parameters                                   \
    {                                                                                                        \
        body arguments;                                                                                      \
    }                                                                                                        \
    __attribute__((SF_TARGET_AVX512)) static void name##_avx512 parameters                                   \
    {                                                                                                        \
        body arguments;                                                                                      \
    }                                                                                                        \
    static void name parameters                                                                              \
    {                                                                                                        \
        int level = sf_vector_level();                                                                       \
        (level == SF_VECTOR_AVX512 ? name##_avx512                                                           \
         : level == SF_VECTOR_AVX2 ? name##_avx2                                                             \
                                   : name##_base) arguments;                                                 \
    }
#else
#define SF_VECTOR_LEVELS(name, body, parameters, arguments)                                                  \
    static void name parameters                                                                              \
    {                                                                                                        \
        body arguments;                                                                                      \
    }
#endif

#endif
