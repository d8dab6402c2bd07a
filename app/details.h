/* SPDX-License-Identifier: Apache-2.0 */
/** How `mine` and `count` print what is told of each episode beside its count. */
#ifndef SF_APP_DETAILS_H
#define SF_APP_DETAILS_H

#include "app/document.h"

#include <synfire/mine.h>

typedef struct app_details {
    const sf_recording *recording;
    sf_episodes_columns told;
    sf_table table;                 /**< the same as rows */
    app_epochs epochs;              /**< of --epochs, each with its counts */
    uint64_t bursts, chains, parts; /**< SF_NO_COUNT: not known; without a test the last two are not */
    bool in_pieces;  /**< the spikes were read so: nothing is known of bursts and occurrences */
    bool is_wide;    /**< --verbose: tables have all columns, and names of episodes their delays */
    sf_delay common; /**< of every link of all episodes; {0, 0}: there is none */
} app_details;

/** The columns of these episodes, and the epochs whose spans were counted; warns where they are too many to
 * look at each. SF_NO_MEMORY. */
int app_details_take(app_details *details, const app_call *call, const sf_episodes *episodes,
                     sf_error *error);

/** True where it is known in how many bursts or epochs episodes occur. */
bool app_details_know_stretches(const app_details *details);

/** Rows of a document, of its member `details`. */
#define APP_ROWS_DETAILS(details)                                                                            \
    SF_FIELD_IS(COUNT, "bursts", details.bursts, "network bursts",                                           \
                .null = "the spikes were read in pieces"),                                                   \
        SF_FIELD_IS(COUNT, "chains", details.chains,                                                         \
                    "of those found with a q of 0.05 or less, those that are folded under no other one",     \
                    .null = "without a test"),                                                               \
        SF_FIELD_IS(COUNT, "significant_parts", details.parts,                                               \
                    "the others, which are folded under one of these", .null = "without a test"),            \
        APP_ROW_EPOCHS(details.epochs)

/** "2 chains, 29 significant parts": what is significant, folded, in every output. False, and nothing, where
 * nothing is significant. */
bool app_chains_print(sf_text *text, const sf_episodes_columns *told);

/** What names episode i in a table: "A > B > C" where `common` is the delay of every link of all, else as
 * app_episode_text. */
sf_text app_details_name(const app_details *details, size_t i);

/** The line that says what the common delay is, above a table; nothing where there is none. */
void app_details_print_delay(sf_text *text, const app_details *details);

/** What tables leave out first where they have no room. */
extern const char *const app_details_drop[];

/** Three cells for episode i: bursts, the count of the reverse pair, the median delay of each link. */
#define APP_DETAIL_HEADS "bursts", "reverse", "median delays ms"
void app_details_cells(app_table *table, const app_details *details, size_t i);

/** What stands under the table of these episodes: links within one electrode, what the columns of epochs are.
 */
void app_details_print_below(sf_text *text, const app_details *details, const size_t *shown,
                             size_t shown_count);

#endif
