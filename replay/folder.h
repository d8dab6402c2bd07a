/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recordings that are folders of .npy files, or single files that need no library: one of these structs and
 * one file each, and a line in the list of replay/folder.c. They are read in this process: nothing but plain
 * bytes, NumPy's arrays and JSON is parsed.
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

extern const sf_folder_reader sf_folder_phy, sf_folder_spikeinterface, sf_folder_open_ephys,
    sf_folder_pynapple, sf_folder_blackrock, sf_folder_nex, sf_folder_plexon, sf_folder_axion;

/** Finds the layout of a folder, reads it, puts spikes in order. SF_NO_INPUT where it is none that is known.
 */
int sf_folder_read(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error);

/** True where a layout is read from this path: a folder, or a file that is one's whole. */
bool sf_folder_recognises(const char *path);

/** SF_NO_INPUT, which names the folder to give, where the file is one of several of such a folder; else
 * SF_OK.
 */
int sf_folder_refuse_part(const char *path, sf_error *error);

/** The streams of a folder; none where its layout holds one, unless its clock steps back. */
int sf_folder_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error);

/** `folder`/`name`, and whether it is there. */
bool sf_folder_has(char path[SF_FOLDER_PATH], const char *folder, const char *name);

/** *rate_hz becomes `sample_rate` of params.py, where there is such a line and the caller has given none,
 * which counts before it: a number, or numbers that are multiplied and divided. SF_DATA for any other;
 * SF_NO_MEMORY, SF_IO. */
int sf_phy_rate(double *rate_hz, const char *folder, bool is_given, sf_error *error);

/** Declares how long was recorded: as long as the raw data that params.py names (dat_path, n_channels_dat,
 * dtype, offset), where they are there and hold every spike. SF_NO_MEMORY, SF_IO. */
int sf_phy_recorded(sf_recording *recording, const char *folder, double rate_hz, sf_error *error);

/** One integer for each spike of the file `name` in a new block; sf_free takes it. SF_DATA where there are
 * not `count`. */
int sf_folder_integers(int64_t **values, const char *folder, const char *name, size_t count, sf_error *error);

#endif
