/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spike lists of AxIS (Axion BioSystems): lines of text in which an electrode is named by its well, column
 * and row, as D3_31, and the first two columns hold what the recording is, beside the first spikes.
 */
#ifndef SF_REPLAY_CSV_PLATE_H
#define SF_REPLAY_CSV_PLATE_H

#include "core/recording.h"

/** Fills in the well's name and column and row from 1; false where the text is no such electrode. */
bool sf_plate_electrode(const char *text, char well[8], int *column, int *row);

/**
 * Puts electrodes, by their numbers as 31, where they are in their well. How far apart they are stands in no
 * file: 200 um in wells of 8 by 8, else 350; metadata `pitch_um` tells it. SF_NO_MEMORY.
 */
int sf_plate_place(sf_recording *recording, sf_error *error);

/**
 * Declares what AxIS ran over, `Actual File Section Run` as `0s to 18m2s`. A list that falls silent before
 * half of it was cut short: then spikes tell, and the metadata `recorded` says so. SF_NO_MEMORY.
 */
int sf_plate_take_section(sf_recording *recording, sf_error *error);

#endif
