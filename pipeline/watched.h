/* SPDX-License-Identifier: Apache-2.0 */
/** The episodes that a run watches: those listed under `watch`, then those of triggers that have one. */
#ifndef SF_PIPELINE_WATCHED_H
#define SF_PIPELINE_WATCHED_H

#include "core/units.h"

#include <synfire/live.h>

typedef struct sf_watched {
    sf_episode episode;
    const char *name; /**< name of its trigger, or the episode as configured; borrowed */
    uint32_t trigger; /**< index among the named triggers; UINT32_MAX: only watched */
} sf_watched;

size_t sf_watched_count(const sf_live_options *config);

/** Fills sf_watched_count(config) entries. SF_CONFIG with the key, as "watch.0". */
int sf_watched_parse(sf_watched *watched, const sf_live_options *config, const sf_units *units,
                     sf_error *error);

#endif
