/* SPDX-License-Identifier: Apache-2.0 */
/** What `synfire count` was asked and has found, shared by what prints it and what draws it. */
#ifndef SF_APP_COUNTING_H
#define SF_APP_COUNTING_H

#include "app/details.h"
#include "mine/correlogram.h"

#include <synfire/mine.h>

typedef struct app_window {
    sf_span span;
    bool partial;
} app_window;

/** A request and its answer. */
typedef struct app_counting {
    const app_call *call;
    const sf_recording *recording;
    sf_span asked; /**< by --from and --to */
    sf_episode *episodes;
    size_t episode_count;
    const char *engine, *device; /**< asked for, or NULL */
    sf_counter *counter;         /**< knows what counted, and where */
    uint64_t *counts;            /**< of the whole selection */
    double *expected;
    app_details details;
    app_window *windows;
    size_t window_count, window_capacity;
    uint64_t *window_counts;      /**< window_count rows of episode_count */
    sf_correlogram *correlograms; /**< of every link of every episode in turn; NULL: not asked for */
    size_t correlogram_count;
} app_counting;

/**
 * Draws the answer as SVG, one picture under the other: correlograms where there are any, the counts of
 * windows where there are any, and otherwise the delays of every link. SF_USAGE where that is too much for
 * one file.
 */
int app_count_plot(const char *path, const app_counting *counting, sf_error *error);

#endif
