/* SPDX-License-Identifier: Apache-2.0 */
/** Takes numbers off the input, one after the other; behind its end all are 0. */
#ifndef SF_TESTS_FUZZ_BYTE_INPUT_H
#define SF_TESTS_FUZZ_BYTE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct byte_input {
    const uint8_t *at, *end;
} byte_input;

static inline bool byte_left(const byte_input *it)
{
    return it->at < it->end;
}

static inline uint64_t byte_take(byte_input *it, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(it->at < it->end ? *it->at++ : 0) << (8 * i);
    return value;
}

/** A time of a stream that has come to `now_ns`: mostly near it, or steps away, or any number at all. */
static inline int64_t byte_time(byte_input *it, int64_t now_ns)
{
    const int64_t scales[] = {1000, 1000000, 100000000, 10000000000};
    unsigned how = (unsigned)byte_take(it, 1);
    if (how >= 0xf8) return (int64_t)byte_take(it, 8);
    uint64_t step = (uint64_t)scales[how & 3] * (how >> 3);
    return (int64_t)((uint64_t)now_ns + ((how & 4) != 0 ? 0 - step : step));
}

#endif
