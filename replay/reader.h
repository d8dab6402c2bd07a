/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A reader of one recording layout: one of these structs and one file. A new layout is one file and one line
 * in the table of replay/reader.c.
 */
#ifndef SF_REPLAY_READER_H
#define SF_REPLAY_READER_H

#include "core/recording.h"
#include "io/hdf.h"
#include "replay/streams.h"

typedef struct sf_reader {
    bool counts_samples; /**< its times are samples, so that input->rate_hz means something */
    bool has_parts;      /**< reads a part of the spikes without the others: of the rows, or of the stream */
    /** Existence of objects and attributes only; reads no data. */
    bool (*recognises)(hid_t file);
    /** The recordings that the file holds side by side; none where it has no spikes, and no `what` where the
     * file is of one. NULL: the layout holds one. */
    int (*list)(sf_streams *streams, const sf_hdf_input *input, sf_error *error);
    /**
     * `input->stream` is one of the list, or NULL where that was empty or there is no `list`. Fills format,
     * units, spikes and markers in any order, and what the file has of recorded, observed and metadata. What
     * follows for every layout (unique names, order, the default of `recorded`) is the caller's, as is
     * freeing a half-filled recording after an error. A layout that is known and not read fails here with
     * what the file is.
     */
    int (*read)(sf_recording *recording, const sf_hdf_input *input, sf_error *error);
} sf_reader;

extern const sf_reader sf_reader_synfire, sf_reader_carmen, sf_reader_nwb, sf_reader_nwb_1,
    sf_reader_nwb_events, sf_reader_mcs, sf_reader_mcs_cmos, sf_reader_maxwell, sf_reader_bxr_2,
    sf_reader_bxr_3, sf_reader_kwik, sf_reader_herding_spikes, sf_reader_cortical, sf_reader_mat,
    sf_reader_foreign;

/** Finds the layout of a file that is open and reads it, its rows as they come: sf_recording_finish puts them
 * in order. No other process does it. One that is not open (input->file < 0) is of MATLAB, before v7.3. */
int sf_recording_read_hdf5(sf_recording *recording, const sf_hdf_input *input, sf_error *error);

/** The recordings that a file which is open holds side by side; the caller frees them, on failure too. */
int sf_recording_list_hdf5(sf_streams *streams, const sf_hdf_input *input, sf_error *error);

/**
 * Spike trains one after the other: train i, of units->items[i], is rows ends[i - 1] to ends[i], not
 * included, of seconds; `ends` ascends from 0 to the number of rows. Their times are held, or stay in the
 * file where they are a vector of it.
 */
typedef struct sf_trains_in_seconds {
    const double *seconds;
    const size_t *ends;
    size_t count;
    bool negative_times;
    const sf_units *units;
    const char *path;          /**< for messages */
    const sf_hdf_input *input; /**< which part of them; NULL: all, and they are held */
    hid_t column;              /**< and where they are then, */
    const char *name;          /**< as the file calls it */
} sf_trains_in_seconds;

/** Opens the vector of numbers at `path`, or reads what is no vector: sf_train_times_close. Sets all of
 * `trains`; ends, count, units and negative_times are the caller's to set once it has returned. */
int sf_train_times_open(sf_trains_in_seconds *trains, hid_t at, const char *path, const sf_hdf_input *input,
                        size_t *length, sf_error *error);
void sf_train_times_close(sf_trains_in_seconds *trains);

/**
 * Fills recording->spikes. Refuses what is not finite, leaves int64 nanoseconds or, unless negative_times, is
 * before zero, with the train and the place in it. The part that input->only_part asks for is one of the
 * stream in the order of time, which is found without reading the others; else it is one of the rows.
 */
int sf_trains_take(sf_recording *recording, const sf_trains_in_seconds *trains, sf_error *error);

/** Spikes as samples and the unit of each, where SF_NO_UNIT is none that the file knows. */
typedef struct sf_spikes_in_samples {
    const int64_t *samples;
    const uint32_t *units;
    const float *amplitudes; /**< NULL: none */
    size_t count;
    int64_t first; /**< the sample at time 0 */
    double rate_hz;
    bool from_first; /**< spikes before it were not recorded: they are left out and counted */
    bool finer;      /**< a sample is less than a step of the clock may be, which the times then tell */
} sf_spikes_in_samples;

/** Fills recording->spikes; those of no unit are left out and counted. SF_DATA beyond 146 years. */
int sf_samples_take(sf_recording *recording, const sf_spikes_in_samples *spikes, const char *path,
                    sf_error *error);

/** Samples to nanoseconds, rounded to nearest; false beyond 146 years. */
bool sf_samples_to_ns(int64_t samples, double rate_hz, int64_t *time_ns);

/** Samples in a second that an amplifier may have. */
#define SF_LEAST_RATE_HZ 1.0
#define SF_MOST_RATE_HZ 1e9

/** True where one of the streams, whose names are paths, is the object at `path`: two links to one table are
 * one. */
bool sf_reader_is_listed(const sf_streams *streams, hid_t file, const char *path);

/** Before spikes are put in order: the time of the last; 0 where all are before it. */
int64_t sf_reader_last_ns(const sf_recording *recording);

/** Keeps these of the recording's units, in this order, and their spikes. SF_NO_MEMORY. */
int sf_reader_keep_units(sf_recording *recording, const sf_unit *const *kept, size_t count, sf_error *error);

/** *rate_hz, 0 where the file has none, becomes what the caller gave, if that is not 0. SF_DATA where it is
 * none; `looked_for` names where it should be. */
int sf_reader_check_rate(double *rate_hz, double given, const char *path, const char *looked_for,
                         sf_error *error);

/** SF_USAGE: what was asked for has no meaning in the layout. */
int sf_refuse_stream(const char *path, const char *stream, sf_error *error);
int sf_refuse_rate(const char *path, sf_error *error);

/** Sets metadata `key` from the text of the dataset at `path`, where there is one that is not empty.
 * SF_NO_MEMORY. */
int sf_reader_metadata(sf_recording *recording, hid_t file, const char *path, const char *key,
                       sf_error *error);

/** Adds a text marker: `label`, cut to fit, and after it `suffix`. *capacity is of recording->markers, 0 at
 * first. SF_NO_MEMORY. */
int sf_reader_mark(sf_recording *recording, size_t *capacity, int64_t time_ns, const char *label,
                   const char *suffix, sf_error *error);

/** The different ones of `ids` become the recording's units, in ascending order; units[i] is that of ids[i].
 * `describe` fills in what is known of one beyond its name, which is the id unless it writes another into
 * `name`; it may fail. sf_free takes *units. */
int sf_reader_number_units(sf_recording *recording, uint32_t **units, const int64_t *ids, size_t count,
                           int (*describe)(void *context, int64_t id, sf_unit *unit, char name[64]),
                           void *context, sf_error *error);

/** Sets metadata `key` to a text, where there is one (NULL: none) that is not empty. */
int sf_reader_metadata_text(sf_recording *recording, const char *key, const char *text, sf_error *error);

/** Tells that `what` of the file says when was recorded, and is damaged: it is not believed. */
int sf_reader_disbelieve(sf_recording *recording, const char *what, sf_error *error);

/** Sets metadata `key` to a number. */
int sf_reader_metadata_real(sf_recording *recording, const char *key, double value, sf_error *error);

/** Sets recording->format; SF_NO_MEMORY. */
int sf_reader_set_format(sf_recording *recording, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
