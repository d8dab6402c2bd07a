/* SPDX-License-Identifier: Apache-2.0 */
/** How long each stage of a hop takes, for the status message. Window thread only. */
#ifndef SF_PIPELINE_STAGES_H
#define SF_PIPELINE_STAGES_H

#include "core/message.h"

typedef enum sf_stage {
    SF_STAGE_COUNT,    /**< taking spikes in, and counting the tracked episodes */
    SF_STAGE_DISCOVER, /**< re-mining the window */
    SF_STAGE_TEST,     /**< gathering spikes for the test, and taking up what it found */
    SF_STAGE_GRAPH,
    SF_STAGE_DENSITY,
    SF_STAGE_PUBLISH,
    SF_STAGE_HOP, /**< the whole of it */
    SF_STAGES
} sf_stage;

typedef struct sf_stages {
    sf_stage_status status[SF_STAGES];
    int64_t hop_ns; /**< a stage that takes longer than this, in real time, has missed its hop */
} sf_stages;

void sf_stages_open(sf_stages *stages, int64_t hop_ns);

/** Monotonic time now; pass it to sf_stage_end. */
int64_t sf_stage_begin(void);
void sf_stage_end(sf_stages *stages, sf_stage stage, int64_t began_ns);

#endif
