/* SPDX-License-Identifier: Apache-2.0 */
/** How sharp a recording's bursts are at common delays, for `info`. */
#ifndef SF_APP_SHARPNESS_H
#define SF_APP_SHARPNESS_H

#include "app/command.h"

#include <synfire/mine.h>

#define APP_SHARPNESS_DELAYS 5

typedef struct app_sharpness {
    /** (0.5,2] to (0.5,50] ms, with the shifts that a test would make */
    sf_sharpness delays[APP_SHARPNESS_DELAYS];
} app_sharpness;

/** Measures them. SF_NO_MEMORY. */
int app_sharpness_measure(app_sharpness *sharpness, const sf_recording *recording,
                          const sf_progress *progress, sf_error *error);

/** Appends the line of `info`, and its warning; nothing if no pair has enough spikes. */
void app_sharpness_print(sf_text *text, const app_sharpness *sharpness);
void app_sharpness_warn(sf_text *text, const app_sharpness *sharpness);

/** Columns of `delays`, row by row. */
extern const sf_table app_sharpness_table;

#endif
