/* SPDX-License-Identifier: Apache-2.0 */
/** Bursts of units and of the network as rows: of `bursts`, and in the files of `compare`. */
#ifndef SF_APP_BURSTS_H
#define SF_APP_BURSTS_H

#include "app/command.h"

/** Of a unit or of the network: a row of app_bursts_table. */
typedef struct app_burst {
    const char *kind;
    uint32_t unit;
    const char *name;
    int64_t start_ns, stop_ns;
    uint64_t spikes, units;
} app_burst;

extern const sf_table app_bursts_table;

/** Calls `put` with each burst: those of the network, then those of each unit. */
void app_bursts_each(const sf_activity *activity, const sf_unit *units,
                     void (*put)(void *user, const app_burst *burst), void *user);

/** Warns where the threshold that ISI_N took for network bursts parts activity from silence. */
void app_bursts_warn(const app_call *call, const sf_bursts *network, uint64_t n);

#endif
