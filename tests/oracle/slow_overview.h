/* SPDX-License-Identifier: Apache-2.0 */
/** The slow and obvious twin of sf_recording_overview: every pair of spikes, every pair of positions. */
#ifndef SF_TESTS_SLOW_OVERVIEW_H
#define SF_TESTS_SLOW_OVERVIEW_H

#include "analysis/overview.h"
#include "core/recording.h"

/** Fills all but `units` and `kind`. */
void slow_overview(sf_overview_columns *overview, const sf_recording *recording);

#endif
