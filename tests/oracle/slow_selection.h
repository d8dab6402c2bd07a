/* SPDX-License-Identifier: Apache-2.0 */
/** The slow and obvious twin of sf_selection_apply: every spike against every condition, time by the
 * nanosecond. */
#ifndef SF_TESTS_SLOW_SELECTION_H
#define SF_TESTS_SLOW_SELECTION_H

#include "core/recording.h"

typedef struct slow_selection {
    const bool *units; /**< one a unit, or NULL: all */
    sf_span times;
    const sf_span *epochs; /**< NULL: everything */
    size_t epoch_count;
    const char *blank; /**< a marker's text, or NULL */
    int64_t blank_from_ns, blank_to_ns;
    int64_t dedup_ns; /**< 0: off */
    double dedup_um;
} slow_selection;

/** Copies the selected spikes to `kept` and returns how many. */
size_t slow_select_spikes(sf_spike *kept, const sf_recording *recording, const slow_selection *selection);

/** Counts the nanoseconds of the recording that are selected. */
int64_t slow_select_duration(const sf_recording *recording, const slow_selection *selection);

#endif
