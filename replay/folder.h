/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recordings that are folders of .npy files: one of these structs and one file each, and a line in the list
 * of replay/folder.c. They are read in this process: no library but NumPy's plain arrays and JSON is between.
 */
#ifndef SF_REPLAY_FOLDER_H
#define SF_REPLAY_FOLDER_H

#include "core/recording.h"
#include "replay/reading.h"
#include "replay/streams.h"

#define SF_FOLDER_PATH 4096

typedef struct sf_folder_reader {
    /** Existence of files only. */
    bool (*recognises)(const char *path);
    /** As sf_reader.list; NULL: the layout holds one. */
    int (*list)(sf_streams *streams, const char *path, sf_error *error);
    /** As sf_reader.read; how->stream is one of the list, or NULL. */
    int (*read)(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error);
} sf_folder_reader;

extern const sf_folder_reader sf_folder_phy, sf_folder_spikeinterface, sf_folder_open_ephys;

/** Finds the layout of a folder, reads it, puts spikes in order. SF_NO_INPUT where it is none that is known.
 */
int sf_folder_read(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error);

/** The streams of a folder; none where its layout holds one. */
int sf_folder_list(sf_streams *streams, const char *path, sf_error *error);

/** `folder`/`name`, and whether it is there. */
bool sf_folder_has(char path[SF_FOLDER_PATH], const char *folder, const char *name);

/** One integer for each spike of the file `name` in a new block; sf_free takes it. SF_DATA where there are
 * not `count`. */
int sf_folder_integers(int64_t **values, const char *folder, const char *name, size_t count, sf_error *error);

#endif
