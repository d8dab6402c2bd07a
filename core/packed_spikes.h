/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spikes in eight bytes each, for the way to a device: the time since an origin and the unit in one number,
 * which ascends as spikes do by (time, unit). Their amplitudes stay behind.
 */
#ifndef SF_CORE_PACKED_SPIKES_H
#define SF_CORE_PACKED_SPIKES_H

#include "core/anywhere.h"

#include <synfire/recording.h>

/** The unit takes the lowest bits, 1 to 32 of them, and the time what is left. */
typedef struct sf_packing {
    int64_t origin_ns;
    uint32_t unit_bits;
} sf_packing;

/** For spikes of units below unit_count, from the first of them on. False: they are not in order, or last so
 * long that time and unit do not fit. */
bool sf_packing_find(sf_packing *packing, const sf_spike *spikes, size_t count, size_t unit_count);

/** False where a spike does not fit: if the packing was found for it, it is of no unit or out of order. */
bool sf_spikes_pack(uint64_t *packed, const sf_spike *spikes, size_t count, sf_packing packing);

static inline SF_ANYWHERE int64_t sf_packed_time_ns(uint64_t packed, sf_packing packing)
{
    return (int64_t)((packed >> packing.unit_bits) + (uint64_t)packing.origin_ns);
}

static inline SF_ANYWHERE uint32_t sf_packed_unit(uint64_t packed, sf_packing packing)
{
    return (uint32_t)(packed & ((UINT64_C(1) << packing.unit_bits) - 1));
}

/** The first spike that is of no unit, or not in the order (time, unit); count: none is. */
size_t sf_spikes_first_wrong(const sf_spike *spikes, size_t count, size_t unit_count);

#endif
