/* SPDX-License-Identifier: Apache-2.0 */
/** Little-endian integers of files, whatever the machine's own order. */
#ifndef SF_REPLAY_LITTLE_H
#define SF_REPLAY_LITTLE_H

#include <stdint.h>

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

#endif
