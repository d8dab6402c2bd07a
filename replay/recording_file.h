/* SPDX-License-Identifier: Apache-2.0 */
/** Reads a recording file of any layout, and chooses a stream of it. */
#ifndef SF_REPLAY_RECORDING_FILE_H
#define SF_REPLAY_RECORDING_FILE_H

#include "core/progress.h"
#include "core/recording.h"
#include "replay/reading.h"
#include "replay/streams.h"

/**
 * Reads a recording; the content determines the layout. `how` NULL: as the file says. SF_NO_INPUT if the file
 * cannot be opened, SF_DATA if it holds no spikes or is damaged (with different messages).
 */
int sf_recording_read(sf_recording *recording, const char *path, const sf_reading *how,
                      const sf_progress *progress, sf_error *error);

/** Lists the recordings that a file or folder holds; sf_recording_read takes each as how->stream. None if its
 * layout holds one recording. */
int sf_recording_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error);

/**
 * The rule for an existing file that a command would overwrite: it is replaced, except a recording that no
 * simulation made, or any other HDF5 file that synfire could not make again: SF_CANNOT_CREATE.
 */
int sf_recording_spare(const char *path, sf_error *error);

#endif
