/* SPDX-License-Identifier: Apache-2.0 */
/** Labels of a recording's windows: a stimulus, a condition, a behaviour. */
#ifndef SF_ANALYSIS_LABELS_H
#define SF_ANALYSIS_LABELS_H

#include <synfire/recording.h>

/**
 * Derives labelled epochs from the markers of a recording; free *epochs with sf_free. A text marker labels
 * the time until the next text, or until the same text followed by " end"; texts that begin with "synfire:"
 * are the program's own and ignored. With `line` >= 0 the labels are "low" and "high" between the edges of
 * that TTL line. A label lasts at most hold_ns, if that is > 0, and ends with the recording. line -1: texts
 * if there are any, else the only TTL line. SF_DATA if there are no such markers, or several lines have edges
 * and none is named; SF_NO_MEMORY.
 */
int sf_labels_of_markers(sf_epoch **epochs, size_t *count, const sf_recording *recording, int line,
                         int64_t hold_ns, sf_error *error);

/** More labels than this are refused. */
#define SF_MOST_LABELS 64

/** A window that has none of the labels. */
#define SF_NO_LABEL UINT16_MAX

/** Windows, each with the label of the epoch that contains it. */
typedef struct sf_labelled {
    char (*names)[64]; /**< of labels, by decreasing number of windows, ties by first appearance */
    uint16_t name_count;
    uint16_t *labels;                /**< of each window, or SF_NO_LABEL */
    size_t labelled, mixed, without; /**< windows within one label; in several or partly in one; in none */
    size_t unrecorded;               /**< within one label, but not recorded throughout: SF_NO_LABEL */
    size_t stretches;                /**< runs of windows of one label */
} sf_labelled;

/** Labels windows by epochs, which are ordered and disjoint; adjoining epochs of one label act as one.
 * SF_DATA for more than SF_MOST_LABELS labels, SF_NO_MEMORY. Free with sf_labelled_free, also after an error.
 */
int sf_label_windows(sf_labelled *labelled, const sf_recording *recording, const sf_span *windows,
                     size_t window_count, const sf_epoch *epochs, size_t epoch_count, sf_error *error);
void sf_labelled_free(sf_labelled *labelled);

#endif
