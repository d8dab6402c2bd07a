/* SPDX-License-Identifier: Apache-2.0 */
/** Transfers a recording from the reading program (io/apart.h) to the main process. */
#ifndef SF_REPLAY_RECORDING_PARCEL_H
#define SF_REPLAY_RECORDING_PARCEL_H

#include "core/recording.h"
#include "io/hdf.h"

/** In the reading program: reads the file and writes the recording to the parcel. */
int sf_recording_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** The same for one part of the spikes: SF_USAGE if the layout cannot be read in parts. */
int sf_recording_put_piece(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** In the reading program: lists the file's recordings. */
int sf_recording_put_streams(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/**
 * In the main process: reads the parcel, which is untrusted: SF_DATA. The recording takes ownership of the
 * parcel, also on failure; spikes and markers stay in it. `joins`: every rank has read one part, and all get
 * the whole.
 */
int sf_recording_take(sf_recording *recording, sf_parcel *parcel, const char *path, bool joins,
                      sf_error *error);

#endif
