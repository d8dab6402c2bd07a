/* SPDX-License-Identifier: Apache-2.0 */
/** What the windows of a recording are labelled with: a stimulus, a condition, a behaviour. */
#ifndef SF_ANALYSIS_LABELS_H
#define SF_ANALYSIS_LABELS_H

#include <synfire/recording.h>

/**
 * Labels from the markers of a recording; sf_free takes *epochs. A text holds until the next one, or until
 * the same with " end" behind it; texts that begin with "synfire:" are the program's own and no labels. Of
 * TTL, where `line` is not negative: "low" and "high" between the edges of that line. Either holds for at
 * most hold_ns where that is above 0, and until the recording ends. SF_DATA where there are no such markers,
 * or edges of several lines and none is named (line -1 takes texts first, then the only line); SF_NO_MEMORY.
 */
int sf_labels_of_markers(sf_epoch **epochs, size_t *count, const sf_recording *recording, int line,
                         int64_t hold_ns, sf_error *error);

/** More labels than this are refused. */
#define SF_MOST_LABELS 64

/** A window that has none of the labels. */
#define SF_NO_LABEL UINT16_MAX

/** Windows with the label of the epoch that they lie in. */
typedef struct sf_labelled {
    char (*names)[64]; /**< of labels; what more windows have first, of as many what comes first in time */
    uint16_t name_count;
    uint16_t *labels;                /**< of each window, or SF_NO_LABEL */
    size_t labelled, mixed, without; /**< windows in one label, in several or partly in one, in none */
    size_t unrecorded;               /**< in one, but not recorded throughout: SF_NO_LABEL */
    size_t stretches;                /**< runs of windows of one label */
} sf_labelled;

/** Epochs are ordered and disjoint; neighbours of one label that touch are one. Free with sf_labelled_free
 * whatever happened. SF_DATA for too many labels, SF_NO_MEMORY. */
int sf_label_windows(sf_labelled *labelled, const sf_recording *recording, const sf_span *windows,
                     size_t window_count, const sf_epoch *epochs, size_t epoch_count, sf_error *error);
void sf_labelled_free(sf_labelled *labelled);

#endif
