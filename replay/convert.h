/* SPDX-License-Identifier: Apache-2.0 */
/** Writes a recording in another layout, as every reader of that layout expects it. */
#ifndef SF_REPLAY_CONVERT_H
#define SF_REPLAY_CONVERT_H

#include "core/recording.h"
#include "core/text.h"

typedef struct sf_conversion {
    const char *name;    /**< as --layout has it */
    const char *suffix;  /**< file name suffix of the layout, without the dot */
    bool negative_times; /**< may be in it */
    /** Appends a list of what the recording has and the layout cannot hold to `lost`. */
    void (*lose)(const sf_recording *recording, sf_text *lost);
    /** Writes the file atomically; `provenance` is JSON or NULL. */
    int (*write)(const sf_recording *recording, const char *path, const char *provenance, sf_error *error);
} sf_conversion;

extern const sf_conversion sf_convert_synfire, sf_convert_nwb, sf_convert_carmen, sf_convert_csv;

/** Finds the layout by name or, if `name` is NULL, by the suffix of `path`; SF_USAGE lists all layouts. */
int sf_conversion_find(const sf_conversion **found, const char *name, const char *path, sf_error *error);

/** Appends `count` and `what` (such as "%zu markers") to a list of words, unless count is 0. */
void sf_conversion_lose(sf_text *lost, size_t count, const char *what);
/** Number of units with a well, with an electrode number, with a known kind; of spikes with an amplitude; of
 * units without spikes. */
typedef struct sf_conversion_counts {
    size_t wells, electrodes, kinds, amplitudes, silent, places;
} sf_conversion_counts;
sf_conversion_counts sf_conversion_count(const sf_recording *recording);

/** Groups spikes by unit, in seconds; ends[i] is the index after the last spike of unit i. Free both with
 * sf_free. */
int sf_conversion_trains(const sf_recording *recording, double **seconds, size_t **ends, sf_error *error);

/**
 * Writes the recording. *lost lists what the layout cannot hold; free with sf_text_free. SF_USAGE if the
 * layout cannot hold the recording at all; SF_CANNOT_CREATE for a file that sf_recording_spare protects;
 * SF_IO.
 */
int sf_recording_convert(const sf_recording *recording, const char *path, const sf_conversion *to,
                         const char *provenance, sf_text *lost, sf_error *error);

#endif
