/* SPDX-License-Identifier: Apache-2.0 */
/** What `synfire count` was asked and has found, shared by what prints it and what draws it. */
#ifndef SF_APP_COUNTING_H
#define SF_APP_COUNTING_H

#include "app/details.h"
#include "app/significance.h"

/** A request and its answer. */
typedef struct app_counting {
    const app_call *call;
    const sf_recording *recording;
    sf_counting_options options;
    app_test test;
    sf_episodes *counted;
    app_details details; /**< with the columns of what was counted */
} app_counting;

/**
 * Draws the answer, pictures in two columns: correlograms where there are any, the counts of
 * windows where there are any, and otherwise the delays of every link. SF_USAGE where that is too much for
 * one file.
 */
int app_count_plot(const char *path, const app_counting *counting, sf_error *error);

#endif
