/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hash.h"

#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE UINT64_C(0x0f3c5a9d1b7e2468) /* below the prime, else of no meaning */

/* The product of two, in two halves. */
static uint64_t multiply(uint64_t *low_half, uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 product;
    product both = (product)a * b;
    *low_half = (uint64_t)both;
    return (uint64_t)(both >> 64);
#else
    uint64_t a_high = a >> 32, a_low = a & UINT32_MAX, b_high = b >> 32, b_low = b & UINT32_MAX;
    uint64_t middle = a_high * b_low, other = a_low * b_high, low = a_low * b_low;
    uint64_t carried = (low >> 32) + (middle & UINT32_MAX) + (other & UINT32_MAX);
    uint64_t high = a_high * b_high + (middle >> 32) + (other >> 32) + (carried >> 32);
    *low_half = (carried << 32) | (low & UINT32_MAX);
    return high;
#endif
}

/* Both below the prime; the product of 122 bits is folded, as 2^61 is 1. */
static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t low, high = multiply(&low, a, b);
    uint64_t sum = (low & PRIME) + ((high << 3) | (low >> 61));
    return sum >= PRIME ? sum - PRIME : sum;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a + b >= PRIME ? a + b - PRIME : a + b;
}

void sf_digest_add(sf_digest *digest, uint64_t item)
{
    uint64_t folded = (item & PRIME) + (item >> 61);
    digest->value = plus(times(digest->value, BASE), folded >= PRIME ? folded - PRIME : folded);
    digest->power = times(digest->power, BASE);
}

sf_digest sf_digest_join(sf_digest left, sf_digest right)
{
    return (sf_digest){plus(times(left.value, right.power), right.value), times(left.power, right.power)};
}
