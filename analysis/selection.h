/* SPDX-License-Identifier: Apache-2.0 */
/** A part of a recording, as synfire/recording.h describes it: units, a span of time, epochs, without
 * duplicates or stimulus artefacts. */
#ifndef SF_ANALYSIS_SELECTION_H
#define SF_ANALYSIS_SELECTION_H

#include "core/recording.h"

/** What sf_selection.kind means where an analysis opens a file and was told no kind. */
#define SF_KINDS_ANALYSED "good,mua,unsorted"

/** The caller's selection, of whatever version; NULL: everything. SF_USAGE. */
int sf_selection_read(sf_selection *own, const sf_selection *given, sf_error *error);

/**
 * Cuts the recording down in place, and tells `recording->selected` how. `stream` is only told: the reader
 * chose it. What was removed is in `dropped`, by cause. Errors have the field of the selection as their
 * place: SF_USAGE for a unit, marker, epoch or span that is not there, SF_DATA for duplicates by distance
 * without positions; SF_NO_MEMORY. The recording is then half cut and good for sf_recording_clear only.
 */
int sf_selection_apply(sf_recording *recording, const sf_selection *selection, sf_error *error);

/** Cuts it down the same way, and tells nothing: `recorded` and the markers are of the whole, spikes of a
 * piece of it. */
int sf_selection_keep(sf_recording *recording, const sf_selection *selection, sf_error *error);

/** Epochs that are sorted by start: fails with `code` where one is empty or two overlap. */
int sf_epochs_check(const sf_epoch *epochs, size_t count, const char *place, sf_status code, sf_error *error);

#endif
