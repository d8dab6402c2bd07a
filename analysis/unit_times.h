/* SPDX-License-Identifier: Apache-2.0 */
/** The spikes of a recording, one unit after the other. */
#ifndef SF_ANALYSIS_UNIT_TIMES_H
#define SF_ANALYSIS_UNIT_TIMES_H

#include "core/recording.h"

/** The spikes of unit u are times_ns[first[u]] .. times_ns[first[u + 1] - 1], ascending. Zero-initialise. */
typedef struct sf_unit_times {
    int64_t *times_ns;
    size_t *first;
} sf_unit_times;

/** Sorts a recording's spikes by unit; the recording must hold them in memory. SF_NO_MEMORY. Free with
 * sf_unit_times_free, also after an error. */
int sf_unit_times_take(sf_unit_times *times, const sf_recording *recording, sf_error *error);
void sf_unit_times_free(sf_unit_times *times);

#endif
