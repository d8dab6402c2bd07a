/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How far every unit of each window's graph reaches, on the CPU or on the device of the run, with the same
 * results: on the device that the configuration names, or with `auto` on the faster (contest.h). What a
 * device refuses or fails at the CPU takes over within the hop. One thread.
 */
#ifndef SF_PIPELINE_REACHING_H
#define SF_PIPELINE_REACHING_H

#include "core/backend/device.h"
#include "core/message.h"
#include "graph/store/csr.h"
#include "pipeline/contest.h"

/** Zero-initialised, the CPU searches alone; there is nothing to close. */
typedef struct sf_reaching {
    sf_device *device; /**< of the run; NULL: the CPU alone */
    bool there;        /**< the device searches */
    sf_contest contest;
} sf_reaching;

/** always: on the device whatever it costs. */
void sf_reaching_open(sf_reaching *reaching, sf_device *device, bool always);

/** As sf_connectivity_reach_all. */
int sf_reaching_search(sf_reaching *reaching, sf_reach_counts *counts, const sf_csr *csr, uint32_t most_hops,
                       sf_error *error);

/** Where the next window is searched, and the newest was unless it was the first there: "cpu", "cuda:0". */
const char *sf_reaching_device(const sf_reaching *reaching);

#endif
