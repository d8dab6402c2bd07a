/* SPDX-License-Identifier: Apache-2.0 */
/** The windows in which a recording is analysed. */
#ifndef SF_ANALYSIS_WINDOWS_H
#define SF_ANALYSIS_WINDOWS_H

#include "core/recording.h"

#include <synfire/mine.h>

typedef struct sf_windows {
    sf_span *items;
    int64_t *recorded_ns; /**< how much of each was recorded */
    size_t count, capacity;
    bool last_is_partial;
} sf_windows;

/** Length, hop and range of windows, as in sf_counting_options. */
typedef struct sf_windows_rule {
    int64_t length_ns, hop_ns; /**< both above 0 */
    int64_t from_ns, to_ns;    /**< INT64_MIN and INT64_MAX: from the first spike to just after the last */
} sf_windows_rule;

/**
 * Lists full windows, each one hop after the one before; then, if the last ends before the recording, one
 * partial window. A recording without spikes has none unless both ends are given. SF_USAGE, naming hop_ns,
 * for more than SF_MOST_WINDOWS; SF_NO_MEMORY.
 */
int sf_windows_list(sf_windows *windows, const sf_recording *recording, const sf_windows_rule *rule,
                    sf_error *error);

void sf_windows_free(sf_windows *windows);

#endif
