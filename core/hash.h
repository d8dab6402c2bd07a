/* SPDX-License-Identifier: Apache-2.0 */
/** FNV-1a, 64 bits: stable across machines, for names of episodes and data. Start with SF_HASH_START. */
#ifndef SF_CORE_HASH_H
#define SF_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

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

#endif
