/* SPDX-License-Identifier: Apache-2.0 */
/** Thresholds by which an overview (synfire/recording.h) warns of misleading data. */
#ifndef SF_ANALYSIS_OVERVIEW_H
#define SF_ANALYSIS_OVERVIEW_H

#include <stdint.h>

/** Few neurons leave inter-spike intervals shorter than this. */
#define SF_REFRACTORY_NS INT64_C(2000000)

/** Maximum time between two detections of likely the same spike on neighbouring electrodes. */
#define SF_DUPLICATE_NS INT64_C(250000)

#endif
