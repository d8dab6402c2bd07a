/* SPDX-License-Identifier: Apache-2.0 */
/** The limits by which an overview (synfire/recording.h) tells what may mislead. */
#ifndef SF_ANALYSIS_OVERVIEW_H
#define SF_ANALYSIS_OVERVIEW_H

#include <stdint.h>

/** Few neurons leave inter-spike intervals shorter than this. */
#define SF_REFRACTORY_NS INT64_C(2000000)

/** Two detections no further apart than this on neighbouring electrodes are likely one spike. */
#define SF_DUPLICATE_NS INT64_C(250000)

#endif
