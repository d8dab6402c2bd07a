/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/sorted.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MUCH_SHORTER = 16, VECTOR = 8 };

uint32_t sf_sorted_lower_bound(const uint32_t *list, uint32_t count, uint32_t value)
{
    uint32_t low = 0;
    while (count > 0) {
        uint32_t half = count / 2;
        if (list[low + half] < value) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* One list is much shorter: look its numbers up, each from where the last one was found. */
static uint32_t intersect_galloping(uint32_t *out, const uint32_t *small, uint32_t small_count,
                                    const uint32_t *large, uint32_t large_count)
{
    uint32_t found = 0, at = 0;
    for (uint32_t i = 0; i < small_count && at < large_count; i++) {
        uint32_t step = 1, value = small[i];
        while (at + step < large_count && large[at + step] < value)
            step *= 2;
        uint32_t end = at + step + 1 < large_count ? at + step + 1 : large_count;
        uint32_t begin = step > 1 ? at + step / 2 : at;
        at = begin + sf_sorted_lower_bound(large + begin, end - begin, value);
        if (at < large_count && large[at] == value) out[found++] = value;
    }
    return found;
}

/* Without branches on the data, which would be guessed wrong half of the time. */
static uint32_t intersect_merging(uint32_t *out, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                                  uint32_t b_count)
{
    uint32_t i = 0, j = 0, found = 0;
    while (i < a_count && j < b_count) {
        uint32_t x = a[i], y = b[j];
        out[found] = x;
        found += x == y;
        i += x <= y;
        j += y <= x;
    }
    return found;
}

#if defined(__x86_64__)
/* Eight numbers of either list at a time, each with each: those of `a` that are met go to the front. What is
 * written replaces numbers no greater than those just met, so `out` may be a list. */
__attribute__((target("avx2,bmi2"))) static uint32_t
intersect_vectors(uint32_t *out, const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    const __m256i turn = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    const __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    uint32_t i = 0, j = 0, found = 0;
    while (i + VECTOR <= a_count && j + VECTOR <= b_count) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(a + i));
        __m256i y = _mm256_loadu_si256((const __m256i *)(b + j));
        __m256i met = _mm256_cmpeq_epi32(x, y);
        for (int k = 1; k < VECTOR; k++) {
            y = _mm256_permutevar8x32_epi32(y, turn);
            met = _mm256_or_si256(met, _mm256_cmpeq_epi32(x, y));
        }
        uint32_t a_last = a[i + VECTOR - 1], b_last = b[j + VECTOR - 1];
        uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(met));
        uint64_t lanes = _pdep_u64(bits, 0x0101010101010101) * 0xff; /* a byte for each bit */
        __m256i order =
            _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100, lanes)));
        int count = __builtin_popcount(bits);
        _mm256_maskstore_epi32((int *)(out + found), _mm256_cmpgt_epi32(_mm256_set1_epi32(count), places),
                               _mm256_permutevar8x32_epi32(x, order));
        found += (uint32_t)count;
        i += a_last <= b_last ? VECTOR : 0;
        j += b_last <= a_last ? VECTOR : 0;
    }
    i = i > found ? i : found; /* those before were met, and may be gone where `out` is `a` */
    return found + intersect_merging(out + found, a + i, a_count - i, b + j, b_count - j);
}

static bool has_vectors(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#else
#define intersect_vectors intersect_merging

static bool has_vectors(void)
{
    return false;
}
#endif

uint32_t sf_sorted_intersect(uint32_t *out, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                             uint32_t b_count)
{
    if (a_count == 0 || b_count == 0) return 0;
    if (a_count > b_count) {
        const uint32_t *list = a;
        uint32_t count = a_count;
        a = b;
        a_count = b_count;
        b = list;
        b_count = count;
    }
    if (a_count < b_count / MUCH_SHORTER) return intersect_galloping(out, a, a_count, b, b_count);
    return a_count >= 2 * VECTOR && has_vectors() ? intersect_vectors(out, a, a_count, b, b_count)
                                                  : intersect_merging(out, a, a_count, b, b_count);
}

uint64_t sf_falling_factorial(uint64_t n, uint32_t k)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < k; i++)
        if (i > n || __builtin_mul_overflow(product, n - i, &product)) return i > n ? 0 : UINT64_MAX;
    return product;
}

typedef struct choice {
    const uint32_t *const *lists;
    const uint32_t *counts;
    uint32_t count;
    uint32_t shared[256]; /* numbers that all lists of a subset hold */
} choice;

/* Intersections of every subset that holds `subset` and lists from `next` on. */
static void count_shared(choice *c, uint32_t subset, const uint32_t *list, uint32_t count, uint32_t next,
                         uint32_t *scratch)
{
    c->shared[subset] = count;
    for (uint32_t i = next; i < c->count; i++) {
        uint32_t with = subset | UINT32_C(1) << i;
        uint32_t both = sf_sorted_intersect(scratch, list, count, c->lists[i], c->counts[i]);
        count_shared(c, with, scratch, both, i + 1, scratch + both);
    }
}

uint64_t sf_choices(const uint32_t *shared, uint32_t count)
{
    static const int64_t weights[] = {0, 1, -1, 2, -6, 24, -120, 720, -5040}; /* (-1)^(b-1) (b-1)! */
    __int128 ways[256];
    ways[0] = 1;
    for (uint32_t set = 1; set < UINT32_C(1) << count; set++) {
        uint32_t lowest = set & -set;
        ways[set] = 0;
        for (uint32_t block = set; block != 0; block = (block - 1) & set)
            if ((block & lowest) != 0)
                ways[set] +=
                    weights[__builtin_popcount(block)] * (__int128)shared[block] * ways[set & ~block];
    }
    __int128 all = ways[(UINT32_C(1) << count) - 1];
    return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

uint64_t sf_sorted_choices(const uint32_t *const *lists, const uint32_t *counts, uint32_t count,
                           uint32_t *scratch)
{
    choice c = {.lists = lists, .counts = counts, .count = count};
    for (uint32_t i = 0; i < count; i++)
        count_shared(&c, UINT32_C(1) << i, lists[i], counts[i], i + 1, scratch);
    return sf_choices(c.shared, count);
}
