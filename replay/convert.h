/* SPDX-License-Identifier: Apache-2.0 */
/** Writing a recording in another layout: what every reader of that layout takes. */
#ifndef SF_REPLAY_CONVERT_H
#define SF_REPLAY_CONVERT_H

#include "core/recording.h"
#include "core/text.h"

typedef struct sf_conversion {
    const char *name;    /**< as --layout has it */
    const char *suffix;  /**< of file names that mean it, after the dot */
    bool negative_times; /**< may be in it */
    /** What the layout has no place for and the recording has, appended to `lost` as a list of words. */
    void (*lose)(const sf_recording *recording, sf_text *lost);
    /** Writes the file, whole or not at all; provenance is JSON or NULL. */
    int (*write)(const sf_recording *recording, const char *path, const char *provenance, sf_error *error);
} sf_conversion;

extern const sf_conversion sf_convert_synfire, sf_convert_nwb, sf_convert_carmen, sf_convert_csv;

/** The one of this name, or by the suffix of a path where name is NULL; SF_USAGE lists them. */
int sf_conversion_find(const sf_conversion **found, const char *name, const char *path, sf_error *error);

/** Appends `%zu markers` and the like to a list of words, where count is not 0. */
void sf_conversion_lose(sf_text *lost, size_t count, const char *what);
/** How many units have a well, an electrode's number, a kind that is known; how many spikes an amplitude; how
 * many units no spikes. */
typedef struct sf_conversion_counts {
    size_t wells, electrodes, kinds, amplitudes, silent, places;
} sf_conversion_counts;
sf_conversion_counts sf_conversion_count(const sf_recording *recording);

/** Spikes by unit, each as seconds; ends[i] after the last of unit i. sf_free takes both. */
int sf_conversion_trains(const sf_recording *recording, double **seconds, size_t **ends, sf_error *error);

/**
 * Writes the recording; *lost has the words of what the layout has no place for, sf_text_free takes it.
 * SF_USAGE where the layout cannot hold it at all; SF_CANNOT_CREATE for what sf_recording_spare protects;
 * SF_IO.
 */
int sf_recording_convert(const sf_recording *recording, const char *path, const sf_conversion *to,
                         const char *provenance, sf_text *lost, sf_error *error);

#endif
