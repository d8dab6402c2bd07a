/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loops compiled once per instruction set, and an exponential that such loops can use. A loop is written as
 * an always-inline body of plain C over arrays; SF_VECTOR_LEVELS wraps it in one function per level and
 * defines the one that picks. The levels differ in rounding only (fused multiply-add), within the last bits.
 */
#ifndef SF_DENSITY_VECTOR_H
#define SF_DENSITY_VECTOR_H

#include <stdint.h>
#include <string.h>

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

/**
 * exp(y) for y <= 0, within 2 units in the last place; under -708 it stays at exp(-708), which is 0 to every
 * sum here. y = k ln 2 + r with |r| <= ln 2 / 2, the Taylor series of exp(r) to r^13 (next term 4e-18), and k
 * put into the exponent's bits. Branch-free, so that loops over it become vector code.
 */
SF_VECTOR_BODY double sf_exp(double y)
{
    const double to_integer = 0x1.8p52; /* adding it leaves the rounded integer in the low bits */
    y = y < -708 ? -708 : y;
    double shifted = y * 0x1.71547652b82fep0 + to_integer;
    double k = shifted - to_integer;
    double r = y - k * 0x1.62e42fefa38p-1; /* ln 2 in two parts: the first product is exact */
    r = r - k * 0x1.ef35793c7673p-45;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

#endif
