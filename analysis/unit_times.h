/* SPDX-License-Identifier: Apache-2.0 */
/** The spikes of a recording, one unit after the other. */
#ifndef SF_ANALYSIS_UNIT_TIMES_H
#define SF_ANALYSIS_UNIT_TIMES_H

#include "core/recording.h"

/** Those of unit u are times_ns[first[u] .. first[u + 1]), ascending. Zero-initialise. */
typedef struct sf_unit_times {
    int64_t *times_ns;
    size_t *first;
} sf_unit_times;

/** Of a recording whose spikes are held. SF_NO_MEMORY; sf_unit_times_free whatever happened. */
int sf_unit_times_take(sf_unit_times *times, const sf_recording *recording, sf_error *error);
void sf_unit_times_free(sf_unit_times *times);

#endif
