/* SPDX-License-Identifier: Apache-2.0 */
/** What `bursts`, and other commands that detect network bursts, say of them. */
#ifndef SF_APP_BURSTS_H
#define SF_APP_BURSTS_H

#include "app/command.h"

/** Warns unless the threshold that ISI_N chose for network bursts separates activity from silence. */
void app_bursts_warn(const app_call *call, const sf_bursts *network, uint64_t n);

#endif
