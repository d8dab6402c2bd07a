/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

static bool is_sorted(const sf_spike *spikes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (spikes[i].time_ns < spikes[i - 1].time_ns ||
            (spikes[i].time_ns == spikes[i - 1].time_ns && spikes[i].unit < spikes[i - 1].unit))
            return false;
    return true;
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* The key of one pass: the unit, or the time's distance from the earliest one. */
typedef struct radix_pass {
    bool by_time;
    int shift;
    int64_t origin;
} radix_pass;

static unsigned digit(const sf_spike *spike, radix_pass pass)
{
    uint64_t key = pass.by_time ? (uint64_t)spike->time_ns - (uint64_t)pass.origin : spike->unit;
    return (unsigned)(key >> pass.shift) & (DIGITS - 1);
}

/* One stable counting pass; false where every spike has the same digit, and nothing was moved. */
static bool scatter(sf_spike *to, const sf_spike *from, size_t count, radix_pass pass)
{
    size_t next[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        next[digit(&from[i], pass)]++;
    if (next[digit(&from[0], pass)] == count)
        return false;
    size_t sum = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t here = next[d];
        next[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[next[digit(&from[i], pass)]++] = from[i];
    return true;
}

int sf_spikes_sort(sf_spike *spikes, size_t count, sf_error *error)
{
    if (is_sorted(spikes, count))
        return SF_OK;
    int64_t earliest = spikes[0].time_ns, latest = spikes[0].time_ns;
    uint32_t last_unit = 0;
    bool units_ascend = true;
    for (size_t i = 0; i < count; i++) {
        if (spikes[i].time_ns < earliest)
            earliest = spikes[i].time_ns;
        if (spikes[i].time_ns > latest)
            latest = spikes[i].time_ns;
        units_ascend = units_ascend && spikes[i].unit >= last_unit;
        last_unit = spikes[i].unit;
    }
    sf_spike *scratch = sf_resize(NULL, count, sizeof *scratch);
    if (scratch == NULL)
        return sf_fail_memory(error);
    sf_spike *from = spikes, *to = scratch;
    radix_pass pass = {.origin = earliest};
    uint64_t widest = (uint64_t)latest - (uint64_t)earliest;
    /* Least significant first: unit (already in order where trains are concatenated), then time. */
    for (int round = units_ascend ? 1 : 0; round < 2; round++) {
        pass.by_time = round == 1;
        uint64_t most = pass.by_time ? widest : UINT32_MAX;
        for (pass.shift = 0; pass.shift < 64 && most >> pass.shift != 0; pass.shift += DIGIT_BITS) {
            if (!scatter(to, from, count, pass))
                continue;
            sf_spike *swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != spikes)
        memcpy(spikes, from, count * sizeof *spikes);
    sf_free(scratch);
    return SF_OK;
}
