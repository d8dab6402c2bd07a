/* SPDX-License-Identifier: Apache-2.0 */
/** Results for each epoch of --epochs alone, beside those for all epochs together. */
#ifndef SF_APP_EPOCHS_H
#define SF_APP_EPOCHS_H

#include "app/command.h"
#include "app/csv.h"

/** How much of an epoch was recorded and selected, and the number of its spikes. */
typedef struct app_epoch {
    sf_epoch epoch;
    int64_t duration_ns;
    uint64_t spikes;
} app_epoch;

/** Zeroed, there are no epochs. */
typedef struct app_epochs {
    app_epoch *items; /**< NULL without --epochs */
    sf_span *spans;   /**< the time span of each */
    size_t count;
    size_t item_count; /**< number of items (episodes or series) in each epoch */
    /* count rows of item_count, each epoch as if it were the whole recording; either may be NULL: */
    uint64_t *counts; /**< of episodes */
    double *values;   /**< of other items; NaN: not available */
} app_epochs;

/** Reads --epochs, with room for `item_count` values, initially NaN; without the option there are no epochs.
 */
int app_epochs_open(app_epochs *epochs, const app_call *call, const sf_recording *recording,
                    size_t item_count, sf_error *error);
void app_epochs_free(app_epochs *epochs);

/** Copies the counts in these spans: count rows of item_count. SF_NO_MEMORY. */
int app_epochs_take(app_epochs *epochs, const uint64_t *counts, size_t item_count, sf_error *error);

/** Number of epochs in which episode i occurs; 0 without --epochs. */
uint64_t app_epochs_with(const app_epochs *epochs, size_t i);

/** The columns of an app_epoch in documents. */
extern const sf_table app_epochs_table;

/** Columns of a table of episodes (none without --epochs): for each label the counts of all epochs with it,
 * and the rate per second. The functions return the number of columns, write the cells for episode i, and
 * write the line below the table that explains them. */
size_t app_epochs_heads(app_table *table, const app_epochs *epochs);
void app_epochs_cells(app_table *table, const app_epochs *epochs, size_t i);
void app_epochs_print(sf_text *text, const app_epochs *epochs);

/** Appended CSV columns `epoch 0`, ...: their heads; and the cells of item i, counts or values. */
void app_epochs_csv_heads(app_csv *csv, const app_epochs *epochs);
void app_epochs_csv_cells(app_csv *csv, const app_epochs *epochs, size_t i);

/** Appends a table of values by epoch, for the items that `name` spells, numbered by `items`; nothing without
 * --epochs. `what` says what the values are. */
void app_epochs_print_values(sf_text *text, const app_epochs *epochs, const char *what,
                             sf_text (*name)(const void *context, size_t item), const void *context,
                             const size_t *items, size_t item_count);

#endif
