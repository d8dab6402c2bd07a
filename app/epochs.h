/* SPDX-License-Identifier: Apache-2.0 */
/** Results of each epoch of --epochs taken alone, beside those of all of them together. */
#ifndef SF_APP_EPOCHS_H
#define SF_APP_EPOCHS_H

#include "app/command.h"
#include "app/csv.h"

/** How much of an epoch was recorded and selected, and how many of the spikes lie in it. */
typedef struct app_epoch {
    sf_epoch epoch;
    int64_t duration_ns;
    uint64_t spikes;
} app_epoch;

/** Zeroed, there are none. */
typedef struct app_epochs {
    app_epoch *items; /**< NULL without --epochs */
    sf_span *spans;   /**< where they lie */
    size_t count;
    size_t item_count; /**< how many things were looked at in each */
    /* count rows of item_count, of each epoch as if it were all there is; either may be NULL: */
    uint64_t *counts; /**< of episodes */
    double *values;   /**< of whatever else; NaN where it has none */
} app_epochs;

/** Reads --epochs, with room for `item_count` values, NaN so far; without that option there are none. */
int app_epochs_open(app_epochs *epochs, const app_call *call, const sf_recording *recording,
                    size_t item_count, sf_error *error);
void app_epochs_free(app_epochs *epochs);

/** Takes a copy of what was counted in these spans: count rows of item_count. SF_NO_MEMORY. */
int app_epochs_take(app_epochs *epochs, const uint64_t *counts, size_t item_count, sf_error *error);

/** In how many epochs episode i occurs; 0 without --epochs. */
uint64_t app_epochs_with(const app_epochs *epochs, size_t i);

/** The columns of an app_epoch in documents. */
extern const sf_table app_epochs_table;

/** Columns of a table of episodes, none without --epochs: by the epochs' labels the counts of all epochs of
 * that label, and how often a second of them that is. Returns how many; a cell of each for episode i; and the
 * line below the table that says so. */
size_t app_epochs_heads(app_table *table, const app_epochs *epochs);
void app_epochs_cells(app_table *table, const app_epochs *epochs, size_t i);
void app_epochs_print(sf_text *text, const app_epochs *epochs);

/** Columns `epoch 0`, ... of CSV, after those that are there: their heads; and the cells of item i, counts or
 * values. */
void app_epochs_csv_heads(app_csv *csv, const app_epochs *epochs);
void app_epochs_csv_cells(app_csv *csv, const app_epochs *epochs, size_t i);

/** A table of values by epoch, of the items that `name` spells, numbered by `items`; nothing without
 * --epochs. `what` is what they are. */
void app_epochs_print_values(sf_text *text, const app_epochs *epochs, const char *what,
                             sf_text (*name)(const void *context, size_t item), const void *context,
                             const size_t *items, size_t item_count);

#endif
