/* SPDX-License-Identifier: Apache-2.0 */
#include "core/durations.h"

#include <math.h>

#define PARTS_BITS 5
#define PARTS (1u << PARTS_BITS) /* of an octave */

static size_t class_of(uint64_t value)
{
    if (value < PARTS) return (size_t)value;
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - PARTS_BITS;
    return (size_t)shift * PARTS + (size_t)(value >> shift);
}

/* The middle of what falls into a class. */
static double middle_of(size_t class)
{
    if (class < 2 * PARTS) return (double)class;
    unsigned shift = (unsigned)(class / PARTS) - 1;
    return ldexp((double)(class % PARTS + PARTS) + 0.5, (int)shift);
}

void sf_durations_add(sf_durations *durations, int64_t took_ns)
{
    int64_t value = took_ns > 0 ? took_ns : 0;
    _Atomic uint64_t *count = &durations->counts[class_of((uint64_t)value)];
    /* One thread writes: no addition needs to be one step. */
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
    int64_t sum;
    if (__builtin_add_overflow(atomic_load_explicit(&durations->sum_ns, memory_order_relaxed), value, &sum))
        sum = INT64_MAX;
    atomic_store_explicit(&durations->sum_ns, sum, memory_order_relaxed);
    if (value > atomic_load_explicit(&durations->most_ns, memory_order_relaxed))
        atomic_store_explicit(&durations->most_ns, value, memory_order_relaxed);
    atomic_store_explicit(&durations->last_ns, value, memory_order_relaxed);
}

/* Uses the counts as read once; other threads may add to them meanwhile. */
static double quantile_ms(const uint64_t *counts, uint64_t total, double share, double most_ms)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)total), before = 0;
    size_t class = 0;
    while (class + 1 < SF_DURATION_CLASSES && before + counts[class] < wanted)
        before += counts[class ++];
    return fmin(middle_of(class) * 1e-6, most_ms);
}

sf_took sf_durations_tell(const sf_durations *durations)
{
    uint64_t counts[SF_DURATION_CLASSES], total = 0;
    for (size_t i = 0; i < SF_DURATION_CLASSES; i++)
        total += counts[i] = atomic_load_explicit(&durations->counts[i], memory_order_relaxed);
    sf_took took = {.count = total, .p50_ms = NAN, .p99_ms = NAN, .max_ms = NAN};
    took.busy_ms = (double)atomic_load_explicit(&durations->sum_ns, memory_order_relaxed) * 1e-6;
    if (total == 0) return took;
    took.max_ms = (double)atomic_load_explicit(&durations->most_ns, memory_order_relaxed) * 1e-6;
    took.p50_ms = quantile_ms(counts, total, 0.5, took.max_ms);
    took.p99_ms = quantile_ms(counts, total, 0.99, took.max_ms);
    return took;
}
