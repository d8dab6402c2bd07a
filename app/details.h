/* SPDX-License-Identifier: Apache-2.0 */
/** How `mine` and `count` print the details of episodes. */
#ifndef SF_APP_DETAILS_H
#define SF_APP_DETAILS_H

#include "app/document.h"

#include <synfire/mine.h>

typedef struct app_details {
    const sf_recording *recording;
    sf_episodes_columns told;
    sf_table table;    /**< the same as rows */
    app_epochs epochs; /**< of --epochs, each with its counts */
    uint64_t bursts, chains,
        parts;       /**< SF_NO_COUNT: not known; chains and parts are known only after a test */
    bool in_pieces;  /**< spikes were read in pieces: bursts and occurrences are not known */
    bool is_wide;    /**< --verbose: tables have all columns, and episode names include delays */
    sf_delay common; /**< delay of every link of all episodes; {0, 0}: they differ */
} app_details;

/** Gets the columns of these episodes, and the epochs whose spans were counted; warns if there are too many
 * episodes for details. SF_NO_MEMORY. */
int app_details_take(app_details *details, const app_call *call, const sf_episodes *episodes,
                     sf_error *error);

/** True if the number of bursts or epochs in which episodes occur is known. */
bool app_details_know_stretches(const app_details *details);

/** Rows of a document, from its member `details`. */
#define APP_ROWS_DETAILS(details)                                                                            \
    SF_FIELD_IS(COUNT, "bursts", details.bursts, "network bursts",                                           \
                .null = "the spikes were read in pieces"),                                                   \
        SF_FIELD_IS(COUNT, "chains", details.chains,                                                         \
                    "of those found with a q of 0.05 or less, those that are folded under no other one",     \
                    .null = "without a test"),                                                               \
        SF_FIELD_IS(COUNT, "significant_parts", details.parts,                                               \
                    "the others, which are folded under one of these", .null = "without a test"),            \
        APP_ROW_EPOCHS(details.epochs)

/** "2 chains, 29 significant parts": the significant episodes, folded, for every output. False, and writes
 * nothing, if none is significant. */
bool app_chains_print(sf_text *text, const sf_episodes_columns *told);

/** The name of episode i in a table: "A > B > C" if all links share the delay `common`, else as
 * app_episode_text. */
sf_text app_details_name(const app_details *details, size_t i);

/** Appends the line above a table that states the common delay; nothing if there is none. */
void app_details_print_delay(sf_text *text, const app_details *details);

/** The columns that tables leave out first if they lack room. */
extern const char *const app_details_drop[];

/** Three cells for episode i: bursts, the count of the reverse pair, the median delay of each link. */
#define APP_DETAIL_HEADS "bursts", "reverse", "median delays ms"
void app_details_cells(app_table *table, const app_details *details, size_t i);

/** Appends the notes below the table of these episodes: links within one electrode, and the meaning of the
 * columns of epochs. */
void app_details_print_below(sf_text *text, const app_details *details, const size_t *shown,
                             size_t shown_count);

#endif
