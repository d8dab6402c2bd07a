/* SPDX-License-Identifier: Apache-2.0 */
/** What `bandwidth`, `density` and `aggregate` take samples from: files of numbers, or a recording. */
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
    const char *measure;     /**< "s", "Hz", "um", or "" where numbers have no unit */
    app_epochs epochs;       /**< of --epochs; the items that values belong to are the series */
    sf_recording *recording; /**< that they are of, or NULL */
    sf_series **of_epochs;   /**< what lies in each epoch, alone: the same series; NULL where nothing does */
} app_samples;

/** --quantity --episode --window: what to take from a recording; and the rows of these */
extern const app_option app_quantity_options[];
extern const sf_key_table app_quantity_table;
extern const char *const app_axis_words[];

/**
 * Reads the call's first argument: numbers, or with --quantity a recording, by the selection. Of a recording
 * every unit with spikes, or every link of an episode, is a series of its own; they are never pooled. Samples
 * are of all of --epochs together, and of each alone.
 */
int app_samples_load(const app_call *call, app_samples *samples, sf_error *error);
void app_samples_free(app_samples *samples);

/** Samples of series s, in all and in epoch k alone. */
size_t app_samples_n(const app_samples *samples, size_t s);
size_t app_samples_epoch_n(const app_samples *samples, size_t k, size_t s);

/** The unit that series s is of, UINT32_MAX where it is of none; and the name of that or of a link, or NULL.
 */
uint32_t app_samples_unit(const app_samples *samples, size_t s);
const char *app_samples_name(const app_samples *samples, size_t s);

/**
 * What a command does with a series: loads, refuses more than one unless it takes several, calls `work`,
 * which prints; a failure without a place gets that of the file. `several` ends the refusal with what else
 * there is to do, or is "".
 */
int app_samples_run(const app_call *call, bool takes_several, const char *several,
                    int (*work)(const app_call *call, const app_samples *samples, void *context,
                                sf_error *error),
                    void *context, sf_error *error);

/** Whether these options can be; the place of a refusal is `option`. */
int app_density_check(const sf_density_options *options, const char *option, sf_error *error);

/** What --bandwidth says: a number above 0, or a method. */
int app_bandwidth(const app_call *call, sf_density_options *options, sf_error *error);

/** sf_density_find of series s; warns of what the method notes. */
int app_density_find(const app_call *call, sf_density **density, const sf_series *series, size_t s,
                     const sf_density_options *options, sf_error *error);

/** Digits of a number near `value` in which steps of `step` are seen; at least `least`, at most 17. */
int app_digits(double value, double step, int least);

/** --log --linear --reflect */
extern const app_option app_axis_options[];

/** What they say, or `otherwise`. */
int app_domain(const app_call *call, sf_domain otherwise, sf_domain *domain, sf_error *error);

#endif
