/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random numbers by counter: Philox 4x32 with 10 rounds (Salmon et al. 2011, doi:10.1145/2063384.2063405).
 * The key is the seed, the counter is (index, stream): a number depends on where it stands and on nothing
 * that was drawn before, so any thread or device makes the same ones in any order. Bits are the same on every
 * machine; what passes through log or cos is the same wherever the mathematics library is.
 */
#ifndef SF_CORE_RANDOM_H
#define SF_CORE_RANDOM_H

#ifdef __cplusplus
extern "C++" { /* Random123 declares templates in C++, also for those who include this header inside extern
                  "C" */
#endif
#include <Random123/philox.h>
#include <math.h>
#include <stdint.h>
#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
#define SF_RANDOM_INLINE static __host__ __device__ inline
#else
#define SF_RANDOM_INLINE static inline
#endif

/** A reader of one stream: two 64-bit words a block of the counter. */
typedef struct sf_random {
    uint64_t seed, stream;
    uint64_t index; /**< the next block */
    uint64_t spare; /**< the second word of the last block, while has_spare */
    int has_spare;
} sf_random;

/** The block at `index` of a stream: two independent 64-bit words. */
SF_RANDOM_INLINE void sf_random_block(uint64_t words[2], uint64_t seed, uint64_t stream, uint64_t index)
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {
        {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    philox4x32_ctr_t block = philox4x32_R(10, counter, key);
    words[0] = (uint64_t)block.v[1] << 32 | block.v[0];
    words[1] = (uint64_t)block.v[3] << 32 | block.v[2];
}

SF_RANDOM_INLINE sf_random sf_random_start(uint64_t seed, uint64_t stream)
{
    sf_random random = {seed, stream, 0, 0, 0};
    return random;
}

SF_RANDOM_INLINE uint64_t sf_random_bits(sf_random *random)
{
    if (random->has_spare) {
        random->has_spare = 0;
        return random->spare;
    }
    uint64_t words[2];
    sf_random_block(words, random->seed, random->stream, random->index++);
    random->spare = words[1];
    random->has_spare = 1;
    return words[0];
}

/** The top 53 bits as a number in [0, 1). */
SF_RANDOM_INLINE double sf_random_unit(uint64_t bits)
{
    return (double)(bits >> 11) * (1.0 / 9007199254740992.0);
}

/** [0, 1) */
SF_RANDOM_INLINE double sf_random_uniform(sf_random *random)
{
    return sf_random_unit(sf_random_bits(random));
}

/** 0 .. limit - 1, all equally likely; limit >= 1. */
SF_RANDOM_INLINE uint64_t sf_random_below(sf_random *random, uint64_t limit)
{
    uint64_t surplus = (0 - limit) % limit; /* 2^64 mod limit: the lowest values that would favour some */
    uint64_t bits = sf_random_bits(random);
    while (bits < surplus)
        bits = sf_random_bits(random);
    return bits % limit;
}

/** Exponential with mean 1. */
SF_RANDOM_INLINE double sf_random_exponential(sf_random *random)
{
    return -log(1.0 - sf_random_uniform(random));
}

/** Normal with mean 0 and standard deviation 1 (Box and Muller 1958). */
SF_RANDOM_INLINE double sf_random_normal(sf_random *random)
{
    double radius = sqrt(2.0 * sf_random_exponential(random));
    return radius * cos(6.283185307179586 * sf_random_uniform(random));
}

#endif
