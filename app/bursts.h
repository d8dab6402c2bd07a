/* SPDX-License-Identifier: Apache-2.0 */
/** What `bursts` says of network bursts, and other commands that look for them. */
#ifndef SF_APP_BURSTS_H
#define SF_APP_BURSTS_H

#include "app/command.h"

/** Warns where the threshold that ISI_N took for network bursts parts activity from silence. */
void app_bursts_warn(const app_call *call, const sf_bursts *network, uint64_t n);

#endif
