/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/bitmap.h"

#include "core/vector.h"

SF_VECTOR_BODY bool cut_body(uint64_t *restrict out, const uint64_t *restrict a, const uint64_t *restrict b,
                             uint32_t words)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < words; i++)
        seen |= out[i] = a[i] & b[i];
    return seen != 0;
}

SF_VECTOR_BODY uint32_t count_body(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < words; i++)
        count += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return (uint32_t)count;
}

SF_VECTOR_BODY uint64_t count_rows_body(const uint64_t *a, const uint64_t *rows, uint32_t words,
                                        const uint64_t *places, uint32_t first, uint32_t end, uint64_t *steps)
{
    uint64_t count = 0, seen = 0;
    for (uint32_t p = sf_bitmap_next(places, first, end); p < end; p = sf_bitmap_next(places, p + 1, end)) {
        count += count_body(a, rows + (size_t)p * words, words);
        seen++;
    }
    *steps += seen;
    return count;
}

#define LOOPS(level, attributes)                                                                             \
    attributes static bool cut_##level(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t words)  \
    {                                                                                                        \
        return cut_body(out, a, b, words);                                                                   \
    }                                                                                                        \
    attributes static uint32_t count_##level(const uint64_t *a, const uint64_t *b, uint32_t words)           \
    {                                                                                                        \
        return count_body(a, b, words);                                                                      \
    }                                                                                                        \
    attributes static uint64_t count_rows_##level(const uint64_t *a, const uint64_t *rows, uint32_t words,   \
                                                  const uint64_t *places, uint32_t first, uint32_t end,      \
                                                  uint64_t *steps)                                           \
    {                                                                                                        \
        return count_rows_body(a, rows, words, places, first, end, steps);                                   \
    }                                                                                                        \
    static const sf_bitmap_loops loops_##level = {cut_##level, count_##level, count_rows_##level};

LOOPS(base, )
#if defined(__x86_64__)
LOOPS(avx2, __attribute__((target("avx2,bmi,popcnt"))))
#if defined(__clang__)
LOOPS(avx512, __attribute__((target("avx512f,avx512vl,avx512vpopcntdq,bmi,popcnt"), min_vector_width(512))))
#else
LOOPS(avx512, __attribute__((target("avx512f,avx512vl,avx512vpopcntdq,bmi,popcnt,prefer-vector-width=512"))))
#endif

const sf_bitmap_loops *sf_bitmap_best(void)
{
    int level = sf_vector_level();
    if (level == SF_VECTOR_AVX512 && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        return &loops_avx512;
    bool has_bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
    return level > SF_VECTOR_BASE && has_bits ? &loops_avx2 : &loops_base;
}
#else
const sf_bitmap_loops *sf_bitmap_best(void)
{
    return &loops_base;
}
#endif
