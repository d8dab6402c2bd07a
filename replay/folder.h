/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recordings that are folders of .npy files, or single files that need no library: one of these structs in
 * one file each, and a line in the list of replay/folder.c. They are read in this process, since only plain
 * bytes, NumPy arrays and JSON are parsed.
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
    /** As sf_reader.list; NULL: the layout holds one recording. */
    int (*list)(sf_streams *streams, const char *path, sf_error *error);
    /** As sf_reader.read; how->stream is in the list, or NULL. */
    int (*read)(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error);
} sf_folder_reader;

extern const sf_folder_reader sf_folder_phy, sf_folder_spikeinterface, sf_folder_open_ephys,
    sf_folder_pynapple, sf_folder_blackrock, sf_folder_nex, sf_folder_plexon, sf_folder_axion;

/** Identifies the layout of a folder, reads it and sorts the spikes. SF_NO_INPUT if the layout is unknown. */
int sf_folder_read(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error);

/** Whether a layout can be read from this path: a folder, or a file that is a whole recording. */
bool sf_folder_recognises(const char *path);

/** SF_NO_INPUT, naming the folder to give instead, if the file is one of several of such a folder; else
 * SF_OK. */
int sf_folder_refuse_part(const char *path, sf_error *error);

/** Lists the streams of a folder; none if its layout holds one recording, unless its clock steps back. */
int sf_folder_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error);

/** Sets `path` to `folder`/`name`; whether that file exists. */
bool sf_folder_has(char path[SF_FOLDER_PATH], const char *folder, const char *name);

/** Sets *rate_hz from the line `sample_rate` of params.py, if there is one and the caller gave none
 * (is_given): a number, or numbers multiplied and divided. SF_DATA for any other value; SF_NO_MEMORY, SF_IO.
 */
int sf_phy_rate(double *rate_hz, const char *folder, bool is_given, sf_error *error);

/** Sets the recorded span to the length of the raw data that params.py names (dat_path, n_channels_dat,
 * dtype, offset), if they exist and span every spike. SF_NO_MEMORY, SF_IO. */
int sf_phy_recorded(sf_recording *recording, const char *folder, double rate_hz, sf_error *error);

/** Reads one integer per spike from the file `name` into a new block; free with sf_free. SF_DATA if there are
 * not `count`. */
int sf_folder_integers(int64_t **values, const char *folder, const char *name, size_t count, sf_error *error);

#endif
