/* SPDX-License-Identifier: Apache-2.0 */
/** How sharp the bursts of a recording are at common delays: what `info` tells. */
#ifndef SF_APP_SHARPNESS_H
#define SF_APP_SHARPNESS_H

#include "app/command.h"

#include <synfire/mine.h>

#define APP_SHARPNESS_DELAYS 5

typedef struct app_sharpness {
    sf_sharpness
        delays[APP_SHARPNESS_DELAYS]; /**< (0.5,2] to (0.5,50] ms, with the shifts a test would make */
} app_sharpness;

/** SF_NO_MEMORY. */
int app_sharpness_measure(app_sharpness *sharpness, const sf_recording *recording,
                          const sf_progress *progress, sf_error *error);

/** The line of `info`, and its warning; nothing where no pair has spikes enough. */
void app_sharpness_print(sf_text *text, const app_sharpness *sharpness);
void app_sharpness_warn(sf_text *text, const app_sharpness *sharpness);

/** Of `delays`, row by row. */
extern const sf_table app_sharpness_table;

#endif
