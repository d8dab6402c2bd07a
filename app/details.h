/* SPDX-License-Identifier: Apache-2.0 */
/** What `mine` and `count` tell of each episode beside its count: bursts, delays, its reverse, epochs,
 * folding. */
#ifndef SF_APP_DETAILS_H
#define SF_APP_DETAILS_H

#include "app/epochs.h"
#include "core/recording.h"
#include "mine/details.h"

#include <synfire/mine.h>

typedef struct app_details {
    const sf_recording *recording;
    const sf_episode *episodes; /**< borrowed, as counts and expected */
    const uint64_t *counts;
    const double *expected;
    size_t count;
    sf_bursts bursts;
    sf_details *items; /**< by episode; NULL: too many to look at each */
    uint64_t *reverse; /**< by episode: the count of B -> A for A -> B; of others 0 */
    size_t *parents;   /**< by episode: sf_fold */
    app_epochs epochs; /**< of --epochs */
} app_details;

/** More episodes than this get no items. */
#define APP_MOST_DETAILED 5000

/** Looks at every occurrence of every episode, and counts each epoch alone. */
int app_details_make(app_details *details, const app_call *call, const sf_recording *recording,
                     const sf_episode *episodes, const uint64_t *counts, const double *expected, size_t count,
                     sf_error *error);
void app_details_free(app_details *details);

/** True where it is known in how many bursts or epochs episodes occur: there are some, and they were counted.
 */
bool app_details_know_stretches(const app_details *details);

/** In how many bursts of the array or epochs, whichever are more, episode i occurs; where that is known. */
uint64_t app_details_stretches(const app_details *details, size_t i);

/** Top-level JSON fields: bursts, and epochs as app_epochs_json has them. */
void app_details_json(sf_json *json, const app_details *details);

/** Fields of episode i inside its object: bursts, in_bursts, links, reverse_count, asymmetry, one_electrode,
 * folded_under, epochs, epoch_counts. */
void app_details_episode_json(sf_json *json, const app_details *details, size_t i);

/** Three cells for episode i: bursts, the count of the reverse pair, the median delay of each link. */
#define APP_DETAIL_HEADS "bursts", "reverse", "median delays ms"
void app_details_cells(app_table *table, const app_details *details, size_t i);

/** What stands under the table of these episodes: links within one electrode, the table of
 * app_epochs_print. */
void app_details_print_below(sf_text *text, const app_details *details, const size_t *shown,
                             size_t shown_count);

/** (forth - back) / (forth + back): 1 all one way, 0 both ways alike; NaN where there is neither. */
double app_asymmetry(uint64_t forth, uint64_t back);

#endif
