/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A reader of one recording layout: one of these structs in one file. A new layout is one file and one line
 * in the table of replay/reader.c.
 */
#ifndef SF_REPLAY_READER_H
#define SF_REPLAY_READER_H

#include "core/recording.h"
#include "io/hdf.h"
#include "replay/streams.h"

typedef struct sf_reader {
    bool counts_samples; /**< its times are sample numbers, so that input->rate_hz applies */
    bool has_parts; /**< can read a part of the spikes without the others: of the rows, or of the stream */
    /** Checks only for objects and attributes; reads no data. */
    bool (*recognises)(hid_t file);
    /** Lists the streams of the file; none if it has no spikes; `what` stays NULL if the file holds a single
     * recording. NULL: the layout holds one recording. */
    int (*list)(sf_streams *streams, const sf_hdf_input *input, sf_error *error);
    /**
     * Reads the recording; `input->stream` is in the list, or NULL if that was empty or there is no `list`.
     * Fills format, units, spikes and markers in any order, and recorded, observed and metadata if the file
     * has them. The caller does what is common to all layouts (unique names, sorting, the default of
     * `recorded`), and frees a half-filled recording after an error. For a layout that is recognised but not
     * supported, fails with a description of the file.
     */
    int (*read)(sf_recording *recording, const sf_hdf_input *input, sf_error *error);
} sf_reader;

extern const sf_reader sf_reader_synfire, sf_reader_carmen, sf_reader_nwb, sf_reader_nwb_1,
    sf_reader_nwb_events, sf_reader_mcs, sf_reader_mcs_cmos, sf_reader_maxwell, sf_reader_bxr_2,
    sf_reader_bxr_3, sf_reader_kwik, sf_reader_herding_spikes, sf_reader_cortical, sf_reader_mat,
    sf_reader_foreign;

/** Identifies the layout of an open file and reads it, with rows in file order; sf_recording_finish sorts
 * them. Only the reading program calls this. A file that is not open (input->file < 0) is MATLAB before v7.3.
 */
int sf_recording_read_hdf5(sf_recording *recording, const sf_hdf_input *input, sf_error *error);

/** Lists the streams of an open file; the caller frees them, also on failure. */
int sf_recording_list_hdf5(sf_streams *streams, const sf_hdf_input *input, sf_error *error);

/**
 * Concatenated spike trains: train i, of units->items[i], is rows ends[i - 1] to ends[i] - 1, in seconds;
 * `ends` ascends from 0 to the number of rows. The times are in memory, or are read from the file if they are
 * a vector there.
 */
typedef struct sf_trains_in_seconds {
    const double *seconds;
    const size_t *ends;
    size_t count;
    bool negative_times;
    const sf_units *units;
    const char *path;          /**< for messages */
    const sf_hdf_input *input; /**< the requested part; NULL: all, and they are in memory */
    hid_t column;              /**< and where they are then, */
    const char *name;          /**< as the file calls it */
} sf_trains_in_seconds;

/** Opens the numeric vector at `path`, or reads the values if it is no vector; close with
 * sf_train_times_close. Sets all of `trains`; afterwards the caller sets ends, count, units and
 * negative_times. */
int sf_train_times_open(sf_trains_in_seconds *trains, hid_t at, const char *path, const sf_hdf_input *input,
                        size_t *length, sf_error *error);
void sf_train_times_close(sf_trains_in_seconds *trains);

/**
 * Fills recording->spikes. Refuses times that are not finite, exceed int64 nanoseconds or, unless
 * negative_times, are negative; the error names the train and the index in it. If input->only_part is set,
 * the requested part is one of the stream in time order, found without reading the other parts; else it is
 * one of the rows.
 */
int sf_trains_take(sf_recording *recording, const sf_trains_in_seconds *trains, sf_error *error);

/** Spike times as sample numbers, and the unit of each; SF_NO_UNIT: a unit that the file does not list. */
typedef struct sf_spikes_in_samples {
    const int64_t *samples;
    const uint32_t *units;
    const float *amplitudes; /**< NULL: none */
    size_t count;
    int64_t first; /**< the sample at time 0 */
    double rate_hz;
    bool from_first; /**< spikes before the first sample were not recorded: they are left out and counted */
    bool finer;      /**< samples are finer than the step of the clock, which is then unknown (tick_ns 0) */
} sf_spikes_in_samples;

/** Fills recording->spikes; leaves out and counts those of no unit. SF_DATA beyond 146 years. */
int sf_samples_take(sf_recording *recording, const sf_spikes_in_samples *spikes, const char *path,
                    sf_error *error);

/** Converts samples to nanoseconds, rounded to nearest; false beyond 146 years. */
bool sf_samples_to_ns(int64_t samples, double rate_hz, int64_t *time_ns);

/** Accepted range of sampling rates. */
#define SF_LEAST_RATE_HZ 1.0
#define SF_MOST_RATE_HZ 1e9

/** Whether one of the streams, whose names are paths, is the same object as `path`: two links to one table
 * are one stream. */
bool sf_reader_is_listed(const sf_streams *streams, hid_t file, const char *path);

/** Time of the last spike, before sorting; 0 if all times are negative. */
int64_t sf_reader_last_ns(const sf_recording *recording);

/** Keeps only these units of the recording, in this order, and their spikes. SF_NO_MEMORY. */
int sf_reader_keep_units(sf_recording *recording, const sf_unit *const *kept, size_t count, sf_error *error);

/** Sets *rate_hz (0 if the file has none) to `given`, unless that is 0. SF_DATA if the result is no valid
 * rate; `looked_for` names where the file should state it. */
int sf_reader_check_rate(double *rate_hz, double given, const char *path, const char *looked_for,
                         sf_error *error);

/** SF_USAGE: the requested stream does not exist in this layout. */
int sf_refuse_stream(const char *path, const char *stream, sf_error *error);
int sf_refuse_rate(const char *path, sf_error *error);

/** Sets metadata `key` to the text of the dataset at `path`, if there is one that is not empty. SF_NO_MEMORY.
 */
int sf_reader_metadata(sf_recording *recording, hid_t file, const char *path, const char *key,
                       sf_error *error);

/** Adds a text marker: `label`, shortened to fit, and `suffix`. *capacity is that of recording->markers,
 * initially 0. SF_NO_MEMORY. */
int sf_reader_mark(sf_recording *recording, size_t *capacity, int64_t time_ns, const char *label,
                   const char *suffix, sf_error *error);

/** Makes the distinct `ids` the recording's units, in ascending order; units[i] is the unit of ids[i].
 * `describe` fills in further members of a unit; it may write a name into `name` (default: the id), and may
 * fail. Free *units with sf_free. */
int sf_reader_number_units(sf_recording *recording, uint32_t **units, const int64_t *ids, size_t count,
                           int (*describe)(void *context, int64_t id, sf_unit *unit, char name[64]),
                           void *context, sf_error *error);

/** Sets metadata `key` to `text`, unless that is NULL or empty. */
int sf_reader_metadata_text(sf_recording *recording, const char *key, const char *text, sf_error *error);

/** Records that `what` of the file, which gives the recorded time, is damaged and was ignored. */
int sf_reader_disbelieve(sf_recording *recording, const char *what, sf_error *error);

/** Sets metadata `key` to a number. */
int sf_reader_metadata_real(sf_recording *recording, const char *key, double value, sf_error *error);

/** Sets recording->format; SF_NO_MEMORY. */
int sf_reader_set_format(sf_recording *recording, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
