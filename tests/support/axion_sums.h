/* SPDX-License-Identifier: Apache-2.0 */
/** Checksums of a file of AxIS, put right after a test or a fuzzer changed it. */
#ifndef SF_TESTS_AXION_SUMS_H
#define SF_TESTS_AXION_SUMS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t axion_sum(const unsigned char *bytes, size_t size)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (sum ^ (uint32_t)bytes[i / 8] >> i % 8) & 1;
        sum = sum >> 1 ^ (bit != 0 ? UINT32_C(0xedb88320) : 0);
    }
    return ~sum;
}

static inline uint64_t axion_number(const unsigned char *at, size_t width)
{
    uint64_t number = 0;
    for (size_t i = 0; i < width; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

static inline void axion_put(unsigned char *at, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++)
        at[i] = (unsigned char)(number >> 8 * i);
}

/** Of `size` bytes from `at` on, behind them; nothing where they do not lie in the file. */
static inline void axion_put_sum(unsigned char *file, size_t length, size_t at, size_t size)
{
    if (at <= length && size <= length - at && length - at - size >= 4)
        axion_put(file + at + size, axion_sum(file + at, size), 4);
}

/* Passes over a text, of which there are two in a header of data and one behind its channels. */
static inline size_t axion_after_text(const unsigned char *file, size_t length, size_t at)
{
    size_t size = at <= length && length - at >= 4 ? (size_t)axion_number(file + at, 4) : length;
    return at <= length && size < length - at ? at + 4 + size : length;
}

static inline void axion_mend_combined(unsigned char *file, size_t length, size_t at)
{
    if (at > length || length - at < 120) return;
    size_t newer = axion_number(file + at, 2) > 1 || axion_number(file + at + 2, 2) >= 1 ? 8 : 0;
    size_t end = axion_after_text(file, length, axion_after_text(file, length, at + 100 + newer)) + 16;
    axion_put_sum(file, length, at, end - at);
    size_t count = end + 8 <= length ? (size_t)axion_number(file + end + 4, 4) : length;
    if (count < length / 2)
        axion_put_sum(file, length, end + 4, axion_after_text(file, length, end + 8 + 2 * count) - (end + 4));
}

/** Puts all sums right that a reader would come to. */
static inline void axion_mend(unsigned char *file, size_t length)
{
    axion_put_sum(file, length, 0, 1018);
    size_t at = length >= 1024 ? (size_t)axion_number(file + 26, 8) : length;
    size_t list = 34, room = 123;
    for (size_t i = 0; at < length; i++) {
        if (i == room) { /* another header */
            axion_put_sum(file, length, at, 1016);
            list = at + 8;
            room = 126;
            at += 1024;
            i = 0;
        }
        if (at >= length || list + 8 * i + 8 > length) return;
        uint64_t entry = axion_number(file + list + 8 * i, 8), size = entry & ((UINT64_C(1) << 56) - 1);
        if (entry >> 56 == 0) return;
        if (entry >> 56 == 7) axion_mend_combined(file, length, at);
        at = size < length - at ? at + (size_t)size : length;
    }
}

#endif
