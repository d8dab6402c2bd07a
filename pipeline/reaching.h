/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The reach of every unit in each window's graph, on the CPU or on the run's device, with the same results. A
 * device named in the configuration always searches; with `auto` the faster one does (contest.h). If a device
 * refuses or fails, the CPU takes over within the hop. One thread.
 */
#ifndef SF_PIPELINE_REACHING_H
#define SF_PIPELINE_REACHING_H

#include "core/backend/device.h"
#include "core/message.h"
#include "graph/store/csr.h"
#include "pipeline/contest.h"

/** Zero-initialised, only the CPU searches, and no close is needed. */
typedef struct sf_reaching {
    sf_device *device; /**< of the run; NULL: the CPU alone */
    bool there;        /**< the device searches */
    sf_contest contest;
} sf_reaching;

/** always: use the device whatever it costs. */
void sf_reaching_open(sf_reaching *reaching, sf_device *device, bool always);

/** As sf_connectivity_reach_all. */
int sf_reaching_search(sf_reaching *reaching, sf_reach_counts *counts, const sf_csr *csr, uint32_t most_hops,
                       sf_error *error);

/** Where the next window is searched, and where the newest was, unless that was the first one on the device:
 * "cpu", "cuda:0". */
const char *sf_reaching_device(const sf_reaching *reaching);

#endif
