/* SPDX-License-Identifier: Apache-2.0 */
/** Where the units of a recording are, by a file of electrodes (io/electrodes.h). */
#ifndef SF_REPLAY_POSITIONS_H
#define SF_REPLAY_POSITIONS_H

#include "core/recording.h"

/**
 * Takes positions of all units from the file: by their names, or where it names none of them by what stands
 * before a colon in them (elec5:2), by their electrodes' numbers, or by the numbers that their names end in
 * (as ch_12). Units that are not in it are left without, and the metadata `positions` tells how many were
 * found by what. SF_NO_INPUT; SF_DATA where it is no such file, or has none of the units.
 */
int sf_positions_take(sf_recording *recording, const char *path, sf_error *error);

#endif
