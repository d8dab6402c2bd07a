/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of files and messages that are little-endian, whatever the machine is. */
#ifndef SF_CORE_LITTLE_H
#define SF_CORE_LITTLE_H

#include <stdint.h>
#include <string.h>

static inline uint16_t sf_little_16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t sf_little_32(const unsigned char *at)
{
    return (uint32_t)sf_little_16(at) | (uint32_t)sf_little_16(at + 2) << 16;
}

static inline uint64_t sf_little_64(const unsigned char *at)
{
    return (uint64_t)sf_little_32(at) | (uint64_t)sf_little_32(at + 4) << 32;
}

/** A float of 4 bytes. */
static inline float sf_little_single(const unsigned char *at)
{
    uint32_t bits = sf_little_32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** A double of 8 bytes. */
static inline double sf_little_real(const unsigned char *at)
{
    uint64_t bits = sf_little_64(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
