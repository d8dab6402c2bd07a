/* SPDX-License-Identifier: Apache-2.0 */
/** The windows that a recording is looked at in. */
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

/** Where they lie: as in sf_counting_options. */
typedef struct sf_windows_rule {
    int64_t length_ns, hop_ns; /**< both above 0 */
    int64_t from_ns, to_ns;    /**< INT64_MIN and INT64_MAX: from the first spike, to just after the last */
} sf_windows_rule;

/**
 * Lists them: full ones, each a hop after the one before; then, where the last ends before the recording
 * does, one more that is cut. None of a recording without spikes whose ends are not given. SF_USAGE, naming
 * hop_ns, beyond SF_MOST_WINDOWS; SF_NO_MEMORY.
 */
int sf_windows_list(sf_windows *windows, const sf_recording *recording, const sf_windows_rule *rule,
                    sf_error *error);

void sf_windows_free(sf_windows *windows);

#endif
