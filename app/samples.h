/* SPDX-License-Identifier: Apache-2.0 */
/** What `bandwidth`, `density` and `aggregate` take samples from: files of numbers, or a recording. */
#ifndef SF_APP_SAMPLES_H
#define SF_APP_SAMPLES_H

#include "app/epochs.h"
#include "density/samples.h"
#include "density/select.h"

/** One set of samples that gets a bandwidth of its own. */
typedef struct app_series {
    char *name;   /**< the unit or link; empty for a file of numbers */
    int64_t unit; /**< the unit's index, or -1 */
    sf_samples samples;
    sf_samples *epochs; /**< with --epochs: what lies in each, alone; n is 0 where nothing does */
} app_series;

/** Zero-initialise before filling. */
typedef struct app_series_list {
    app_series *items;
    size_t count, capacity;
    const char *title;    /**< "Samples", "Intervals", ... */
    const char *quantity; /**< "samples", "interval", ... for axes */
    const char *of;       /**< what a series belongs to: "unit", "link", or "" */
    const char *measure;  /**< "s", "Hz", "um", or "" where numbers have no unit */
    sf_domain domain;     /**< where a density of the quantity lies unless asked otherwise */
    double tick;          /**< as sf_samples.tick */
    app_epochs epochs;    /**< of --epochs; the items that values belong to are the series */
} app_series_list;

/** --quantity --episode --window: what to take from a recording */
extern const app_option app_quantity_options[];

/**
 * Reads the call's first argument: numbers, or with --quantity a recording, by the selection. Of a recording
 * every unit with spikes, or every link of an episode, is a series of its own; they are never pooled. Samples
 * are of all of --epochs together, and of each alone.
 */
int app_samples_load(const app_call *call, app_series_list *list, sf_error *error);
void app_samples_free(app_series_list *list);

/**
 * What a command does with one series: loads, refuses more than one, calls `work`, which prints; a failure
 * without a place gets that of the file.
 */
int app_samples_run(const app_call *call,
                    int (*work)(const app_call *call, const app_series_list *list, void *context,
                                sf_error *error),
                    void *context, sf_error *error);

/** The selector that the value of `option` names (NULL: the default); SF_USAGE lists the names. */
int app_selector(const char *text, const char *option, const sf_selector **selector, sf_error *error);

/** The value of --bandwidth: a number above 0 into *h, or a method (NULL: the default) into *selector. */
int app_bandwidth(const char *text, double *h, const sf_selector **selector, sf_error *error);

/**
 * The bandwidth of these samples: *h as it was given where *selector is NULL, else as *selector chooses it.
 * Of several columns silverman becomes *selector where the call has no --bandwidth. Warns of what the
 * selector notes.
 */
int app_bandwidth_find(const app_call *call, const sf_samples *samples, sf_domain domain, double *h,
                       const sf_selector **selector, sf_error *error);

/** --log --linear --reflect */
extern const app_option app_axis_options[];

/** What they say, or `otherwise`. */
int app_domain(const app_call *call, sf_domain otherwise, sf_domain *domain, sf_error *error);

#endif
