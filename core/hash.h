/* SPDX-License-Identifier: Apache-2.0 */
/** Hashes of 64 bits that are the same on every machine, for names of episodes and of data. */
#ifndef SF_CORE_HASH_H
#define SF_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a: start with this. */
#define SF_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t sf_hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/** The value's eight bytes, lowest first. */
static inline uint64_t sf_hash_integer(uint64_t hash, uint64_t value)
{
    unsigned char little_endian[8];
    for (int i = 0; i < 8; i++)
        little_endian[i] = (unsigned char)(value >> 8 * i);
    return sf_hash_bytes(hash, little_endian, sizeof little_endian);
}

/** Digest of a sequence of integers: a polynomial in a fixed base modulo the prime 2^61 - 1, so that the
 * digests of two parts give that of the whole. Start with SF_DIGEST_EMPTY. */
typedef struct sf_digest {
    uint64_t value;
    uint64_t power; /**< of the base, as high as the sequence is long */
} sf_digest;

#define SF_DIGEST_EMPTY ((sf_digest){0, 1})

void sf_digest_add(sf_digest *digest, uint64_t item);

/** What follows `left`, `right`, is put behind it. */
sf_digest sf_digest_join(sf_digest left, sf_digest right);

#endif
