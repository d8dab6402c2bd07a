/* SPDX-License-Identifier: Apache-2.0 */
/** Reading a recording file whatever its layout, and choosing a part of it. */
#ifndef SF_REPLAY_RECORDING_FILE_H
#define SF_REPLAY_RECORDING_FILE_H

#include "core/progress.h"
#include "core/recording.h"
#include "replay/reading.h"
#include "replay/streams.h"

/**
 * Reads a recording; the layout is found by content. how NULL: as the file says. SF_NO_INPUT where the file
 * cannot be opened, SF_DATA where it holds no spikes or is damaged (two different sentences).
 */
int sf_recording_read(sf_recording *recording, const char *path, const sf_reading *how,
                      const sf_progress *progress, sf_error *error);

/** The recordings that a file or folder holds side by side, each of which sf_recording_read takes as
 * how->stream: none where its layout holds one. */
int sf_recording_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error);

/**
 * The one rule for a file that is there when a command writes: it is replaced, but for a recording that no
 * simulation made, or any other HDF5 file that synfire could not make again: SF_CANNOT_CREATE.
 */
int sf_recording_spare(const char *path, sf_error *error);

#endif
