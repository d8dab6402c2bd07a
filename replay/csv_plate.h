/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spike lists of AxIS (Axion BioSystems): text lines that name an electrode by its well, column and row, such
 * as D3_31; the first two columns describe the recording, beside the first spikes.
 */
#ifndef SF_REPLAY_CSV_PLATE_H
#define SF_REPLAY_CSV_PLATE_H

#include "core/recording.h"

/** Parses an electrode name into the name of the well, and column and row from 1; false if the text is no
 * such name. */
bool sf_plate_electrode(const char *text, char well[8], int *column, int *row);

/**
 * Sets positions from the electrode numbers (such as 31) within each well. No file states the pitch: 200 um
 * in wells of 8 by 8, else 350; metadata `pitch_um` records it. SF_NO_MEMORY.
 */
int sf_plate_place(sf_recording *recording, sf_error *error);

/**
 * Sets the recorded span from AxIS' `Actual File Section Run`, such as `0s to 18m2s`. If a list ends before
 * half of it, it was cut short: then the spikes determine the span, and the metadata `recorded` says so.
 * SF_NO_MEMORY.
 */
int sf_plate_take_section(sf_recording *recording, sf_error *error);

#endif
