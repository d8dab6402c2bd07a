/* SPDX-License-Identifier: Apache-2.0 */
/** Reading a recording file whatever its layout, and choosing a part of it. */
#ifndef SF_REPLAY_RECORDING_FILE_H
#define SF_REPLAY_RECORDING_FILE_H

#include "core/progress.h"
#include "core/recording.h"

/**
 * Reads a recording; the layout is found by content. `stream` chooses among several streams, wells or
 * recordings in one file (NULL: there must be exactly one). SF_NO_INPUT where the file cannot be opened,
 * SF_DATA where it holds no spikes or is damaged (two different sentences).
 */
int sf_recording_read(sf_recording *recording, const char *path, const char *stream,
                      const sf_progress *progress, sf_error *error);

#endif
