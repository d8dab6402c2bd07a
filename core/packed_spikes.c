/* SPDX-License-Identifier: Apache-2.0 */
#include "core/packed_spikes.h"

bool sf_packing_find(sf_packing *packing, const sf_spike *spikes, size_t count, size_t unit_count)
{
    *packing = (sf_packing){.unit_bits = 1};
    while (packing->unit_bits < 32 && unit_count > (size_t)1 << packing->unit_bits)
        packing->unit_bits++;
    if (count == 0) return true;
    int64_t first = spikes[0].time_ns, last = spikes[count - 1].time_ns;
    packing->origin_ns = first;
    return first <= last && ((uint64_t)last - (uint64_t)first) >> (64 - packing->unit_bits) == 0;
}

/* Plain enough to become vector instructions. Returns the bits for which there is no room. */
static uint64_t pack(uint64_t *restrict packed, const sf_spike *restrict spikes, size_t count,
                     sf_packing packing)
{
    const uint32_t bits = packing.unit_bits;
    uint64_t beyond = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t since = (uint64_t)spikes[i].time_ns - (uint64_t)packing.origin_ns, unit = spikes[i].unit;
        beyond |= since >> (64 - bits) | unit >> bits;
        packed[i] = since << bits | unit;
    }
    return beyond;
}

/* In spikes: this many are packed at a time while later ones are prefetched; the hardware prefetches only
 * within a page. */
#define AT_ONCE ((size_t)64)
#define AHEAD ((size_t)512)
#define A_LINE ((size_t)4)

bool sf_spikes_pack(uint64_t *packed, const sf_spike *spikes, size_t count, sf_packing packing)
{
    uint64_t beyond = 0;
    for (size_t done = 0; done < count; done += AT_ONCE) {
        size_t left = count - done;
        for (size_t i = 0; i < AT_ONCE && left > AHEAD + AT_ONCE; i += A_LINE)
            __builtin_prefetch(&spikes[done + AHEAD + i]);
        beyond |= pack(packed + done, spikes + done, left < AT_ONCE ? left : AT_ONCE, packing);
    }
    return beyond == 0;
}

size_t sf_spikes_first_wrong(const sf_spike *spikes, size_t count, size_t unit_count)
{
    for (size_t i = 0; i < count; i++) {
        const sf_spike *own = &spikes[i], *before = i > 0 ? own - 1 : own;
        if (own->unit >= unit_count || own->time_ns < before->time_ns ||
            (own->time_ns == before->time_ns && own->unit < before->unit))
            return i;
    }
    return count;
}
