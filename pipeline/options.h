/* SPDX-License-Identifier: Apache-2.0 */
/** What a live run analyses: the one place of its defaults, and the keys by which a configuration sets them.
 */
#ifndef SF_PIPELINE_OPTIONS_H
#define SF_PIPELINE_OPTIONS_H

#include "core/keys.h"

#include <synfire/live.h>

#define SF_LIVE_MOST_DELAYS 16 /**< intervals under mine.delays_ms */

/** The keys of sf_live_options: `stream`, which people read first, and all others. */
extern const sf_key sf_live_first_keys[], sf_live_keys[];

extern const sf_live_options sf_live_defaults;

/** Completes what depends on other options, and checks all of them but what only the stream's units tell.
 * SF_CONFIG with the key for its place. */
int sf_live_resolve(sf_live_options *options, sf_error *error);

/** The index of the trigger of this name; trigger_count where there is none. */
uint32_t sf_live_find_trigger(const sf_live_options *options, const char *name);

/** Refuses an option: SF_CONFIG with its key, as "watch.0", for its place. */
int sf_live_refuse(const char *key, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
