/* SPDX-License-Identifier: Apache-2.0 */
/** The samples of `bandwidth`, `density` and `aggregate`: from files of numbers, or from a recording. */
#ifndef SF_APP_SAMPLES_H
#define SF_APP_SAMPLES_H

#include "app/epochs.h"
#include "density/rows.h"

#include <synfire/density.h>

typedef struct app_samples {
    sf_series *series;
    sf_series_columns all;   /**< of the series */
    const char *title;       /**< "Samples", "Intervals", ... */
    const char *quantity;    /**< "samples", "interval", ... for axes */
    const char *of;          /**< what a series belongs to: "unit", "link", or "" */
    const char *measure;     /**< "s", "Hz", "um", or "" if numbers have no unit */
    app_epochs epochs;       /**< of --epochs; their items are the series */
    sf_recording *recording; /**< the recording they are from, or NULL */
    sf_series **of_epochs; /**< the same series within each epoch alone; NULL for an epoch without samples */
} app_samples;

/** --quantity --episode --window: what to take from a recording; and the rows of these */
extern const app_option app_quantity_options[];
extern const sf_key_table app_quantity_table;
extern const char *const app_axis_words[];

/**
 * Reads the call's first argument: numbers, or with --quantity a recording, by the selection. Of a recording
 * each unit with spikes, or each link of an episode, is a separate series; they are never pooled. Samples
 * cover all of --epochs together, and each alone.
 */
int app_samples_load(const app_call *call, app_samples *samples, sf_error *error);
void app_samples_free(app_samples *samples);

/** Number of samples of series s, in total and in epoch k alone. */
size_t app_samples_n(const app_samples *samples, size_t s);
size_t app_samples_epoch_n(const app_samples *samples, size_t k, size_t s);

/** The unit of series s, UINT32_MAX if it has none; and the name of its unit or link, or NULL. */
uint32_t app_samples_unit(const app_samples *samples, size_t s);
const char *app_samples_name(const app_samples *samples, size_t s);

/**
 * Frame of a command on a series: loads, refuses several unless the command takes them, and calls `work`,
 * which prints; failures without a place get that of the file. `several` ends the refusal with alternatives,
 * or is "".
 */
int app_samples_run(const app_call *call, bool takes_several, const char *several,
                    int (*work)(const app_call *call, const app_samples *samples, void *context,
                                sf_error *error),
                    void *context, sf_error *error);

/** Checks these options; the place of a refusal is `option`. */
int app_density_check(const sf_density_options *options, const char *option, sf_error *error);

/** Reads --bandwidth: a number above 0, or a method. */
int app_bandwidth(const app_call *call, sf_density_options *options, sf_error *error);

/** Calls sf_density_find for series s; prints the method's note as a warning. */
int app_density_find(const app_call *call, sf_density **density, const sf_series *series, size_t s,
                     const sf_density_options *options, sf_error *error);

/** Digits of a number near `value` that show steps of `step`; at least `least`, at most 17. */
int app_digits(double value, double step, int least);

/** --log --linear --reflect */
extern const app_option app_axis_options[];

/** The domain that they select, or `otherwise`. */
int app_domain(const app_call *call, sf_domain otherwise, sf_domain *domain, sf_error *error);

#endif
