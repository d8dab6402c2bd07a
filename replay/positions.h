/* SPDX-License-Identifier: Apache-2.0 */
/** Positions of a recording's units from an electrode file (io/electrodes.h). */
#ifndef SF_REPLAY_POSITIONS_H
#define SF_REPLAY_POSITIONS_H

#include "core/recording.h"

/**
 * Sets the positions of all units from the file. Units are matched by name; if no name matches, by the part
 * before a colon (elec5:2), by electrode number, or by the number at the end of their names (ch_12).
 * Unmatched units get no position; the metadata `positions` says how many were matched and how. SF_NO_INPUT;
 * SF_DATA if it is no such file, or matches no unit.
 */
int sf_positions_take(sf_recording *recording, const char *path, sf_error *error);

#endif
