/* SPDX-License-Identifier: Apache-2.0 */
/** A recording in a file that is read in pieces (core/pieces.h). */
#ifndef SF_REPLAY_FILE_PIECES_H
#define SF_REPLAY_FILE_PIECES_H

#include "core/pieces.h"

/**
 * Reads all of the recording but its spikes, and goes through these once. What is selected is left of every
 * piece, which is as long as selection->memory allows. On all ranks together. SF_USAGE for what cannot be
 * read so; else as sf_recording_open.
 */
int sf_file_pieces_open(sf_recording *recording, const char *path, const sf_selection *selection,
                        const sf_progress *progress, sf_error *error);

#endif
