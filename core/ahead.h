/* SPDX-License-Identifier: Apache-2.0 */
/** Room for what comes: memory that grows is copied, and in a live run a hop waits for it. */
#ifndef SF_CORE_AHEAD_H
#define SF_CORE_AHEAD_H

#include "core/memory.h"

#include <stdint.h>

#define SF_AHEAD_SURPLUS 1.1
#define SF_AHEAD_MOST (UINT64_C(1) << 26) /**< items that room is made for before they come */
#define SF_AHEAD_LEAST 1024               /**< the pace of so small a part of the whole says nothing */

/** The number of items to make room for when `needed` have come within passed_ns: those that whole_ns will
 * bring at that rate, and a few more. At least `needed`, which is the result too where whole_ns is 0 (not
 * known). */
static inline uint64_t sf_room_ahead(uint64_t needed, int64_t passed_ns, int64_t whole_ns)
{
    int64_t least_ns = whole_ns / SF_AHEAD_LEAST + 1;
    double parts = (double)whole_ns / (double)(passed_ns > least_ns ? passed_ns : least_ns);
    double ahead = SF_AHEAD_SURPLUS * (double)needed * parts;
    uint64_t all = ahead < (double)SF_AHEAD_MOST ? (uint64_t)ahead : SF_AHEAD_MOST;
    return all > needed ? all : needed;
}

/** As sf_reserve, for the whole where there is room for it. */
static inline int sf_reserve_ahead(void *items_at, size_t *capacity, size_t needed, size_t size,
                                   int64_t passed_ns, int64_t whole_ns)
{
    if (needed > *capacity)
        (void)sf_reserve(items_at, capacity, (size_t)sf_room_ahead(needed, passed_ns, whole_ns), size);
    return sf_reserve(items_at, capacity, needed, size);
}

#endif
