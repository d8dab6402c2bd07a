/* SPDX-License-Identifier: Apache-2.0 */
/** A part of a recording, as synfire/recording.h describes it: units, a span of time, epochs, without
 * duplicates or stimulus artefacts. */
#ifndef SF_ANALYSIS_SELECTION_H
#define SF_ANALYSIS_SELECTION_H

#include "core/recording.h"

/** Default of sf_selection.kind when an analysis opens a file. */
#define SF_KINDS_ANALYSED "good,mua,unsorted"

/** Copies the caller's selection, of any struct version (NULL: everything). SF_USAGE. */
int sf_selection_read(sf_selection *own, const sf_selection *given, sf_error *error);

/**
 * Cuts the recording down in place and records how in `recording->selected`; `dropped` counts what was
 * removed, by cause. `stream` is only recorded, since the reader already chose it. The place of an error is
 * the selection's field: SF_USAGE for a unit, marker, epoch or span that does not exist, SF_DATA for removing
 * duplicates by distance without positions; SF_NO_MEMORY. After an error the recording may only be cleared,
 * with sf_recording_clear.
 */
int sf_selection_apply(sf_recording *recording, const sf_selection *selection, sf_error *error);

/** The same for a recording whose spikes are one chunk of a larger one, to which `recorded` and the markers
 * refer; does not set `recording->selected`. */
int sf_selection_keep(sf_recording *recording, const sf_selection *selection, sf_error *error);

/** Checks epochs that are sorted by start: fails with `code` if one is empty or two overlap. */
int sf_epochs_check(const sf_epoch *epochs, size_t count, const char *place, sf_status code, sf_error *error);

#endif
