/* SPDX-License-Identifier: Apache-2.0 */
/** A recording from an HDF5 file on its way from the reading program (io/apart.h). */
#ifndef SF_REPLAY_RECORDING_PARCEL_H
#define SF_REPLAY_RECORDING_PARCEL_H

#include "core/recording.h"
#include "io/hdf.h"

/** What the reading program does: reads the file and hands the recording over. */
int sf_recording_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** The same of a part alone: SF_USAGE where the layout cannot be read so. */
int sf_recording_put_piece(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** The recordings that the file holds side by side. */
int sf_recording_put_streams(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/**
 * And what its answer holds, which is not believed: SF_DATA. The recording takes the parcel over, also on
 * failure, and its spikes and markers stay in it. `joins`: where ranks have a part each, all then have the
 * whole.
 */
int sf_recording_take(sf_recording *recording, sf_parcel *parcel, const char *path, bool joins,
                      sf_error *error);

#endif
