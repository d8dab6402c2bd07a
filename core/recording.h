/* SPDX-License-Identifier: Apache-2.0 */
/** A recording in memory: what every reader yields and every offline analysis takes. */
#ifndef SF_CORE_RECORDING_H
#define SF_CORE_RECORDING_H

#include "core/hash.h"
#include "core/units.h"

/** No time of a recording is at this or beyond, nor before its negative (146 years), so that no difference of
 * two times overflows. */
#define SF_TIME_LIMIT_NS (INT64_C(1) << 62)

/** What a recorder draws for each of its files, and its journal carries too: 32 hexadecimal digits. */
#define SF_IDENTITY_SIZE 33

/** What is needed of a stream to find the step of its clock. Zero-initialised, of no spikes. */
#define SF_TICK_STEPS 16
typedef struct sf_tick {
    int64_t steps[SF_TICK_STEPS]; /**< the smallest time steps seen, ascending, each once */
    uint32_t count;
} sf_tick;

/** Spikes that are not held but read, a piece of the stream at a time (core/pieces.h). */
typedef struct sf_pieces sf_pieces;
struct sf_pieces {
    uint32_t count;
    /** Reads one: spikes that are looked at, ordered, with units of the recording. Cleared by the caller. */
    int (*read)(const sf_pieces *pieces, uint32_t piece, sf_recording *recording, sf_error *error);
    void (*close)(sf_pieces *pieces); /**< frees what is beside this struct; or NULL */
    /* What sf_pieces_survey found, of all pieces. */
    uint64_t *unit_spikes; /**< by unit of the recording */
    uint64_t *own_spikes;  /**< the same, of this rank's pieces */
    size_t spike_count;
    sf_tick tick;                    /**< the smallest time steps */
    sf_digest digest;                /**< of its spikes, as of one that is held */
    sf_drop dropped[SF_DROP_CAUSES]; /**< what is not among its spikes */
    size_t dropped_count;
};

/** Zero-initialise before filling. */
struct sf_recording {
    char *path;
    char *format; /**< "CARMEN", "NWB 2.4.0 units", "CSV", "synfire 1" */
    sf_units units;
    sf_spike *spikes; /**< ordered by (time_ns, unit) */
    size_t spike_count;
    /** Spikes of units that a selection left out, ordered, within the times that it kept; or NULL. What all
     * units share, such as network bursts, is looked for in them, too. */
    sf_spike *others;
    size_t other_count;
    sf_marker *markers; /**< ordered by time_ns */
    size_t marker_count;
    /** declared by the file; where it declares nothing, first spike to just after the last */
    sf_span recorded;
    bool declared; /**< the file or the caller declared `recorded` */
    /** The step of its clock, whatever is selected later: as the file says, else the common measure of the
     * time steps of all spikes; 0: not known. */
    int64_t tick_ns;
    sf_span *observed; /**< observation intervals, ordered and disjoint; none: all of `recorded` */
    size_t observed_count;
    sf_metadata_entry *metadata;
    size_t metadata_count;
    sf_drop dropped[SF_DROP_CAUSES];
    size_t dropped_count;
    bool is_mapped; /**< `spikes` and `markers` are no blocks of its own but lie in `mapping`, as another
                       process read them */
    void *mapping;  /**< unmapped with the recording; NULL: another's memory */
    size_t mapped_bytes;
    int (*unmap)(void *mapping, size_t bytes); /**< munmap, known to those who map */
    bool sorted;                               /**< what a program gave was in another order */
    sf_selected *selected;                     /**< what of the whole this is, or NULL where nobody asked */
    bool is_part;       /**< it has a part of the spikes of its file, others have the rest */
    size_t file_spikes; /**< of a part: how many its file has */
    sf_pieces *pieces;  /**< its spikes are not held, but read so; NULL: they are */
    bool borrowed;      /**< a part: all but `observed` and `selected` is another recording's */
};

/** How many spikes it has, held or not. */
size_t sf_recording_spike_count(const sf_recording *recording);

/** SF_USAGE where its spikes are not held. */
int sf_recording_check_held(const sf_recording *recording, sf_error *error);

/** Frees what it holds and zeroes it. */
void sf_recording_clear(sf_recording *recording);

/** A copy that owns all it has, as wide as the original; zeroed on failure. */
int sf_recording_copy(sf_recording *to, const sf_recording *from, sf_error *error);

void sf_selected_free(sf_selected *selected);

/** A copy that owns what it points to; zeroed on failure. */
int sf_selected_copy(sf_selected *to, const sf_selected *from, sf_error *error);

/** More entries than any recording has: SF_DATA. */
#define SF_MOST_METADATA 4096

/** Copies key and value; an entry with the same key is replaced. */
int sf_recording_set_metadata(sf_recording *recording, const char *key, const char *value, sf_error *error);

/** The value of this key, the recording's; NULL: it has none. */
const char *sf_recording_metadata(const sf_recording *recording, const char *key);

/** Adds to the count of a cause, which is cut at 54 bytes. */
sf_drop *sf_recording_drop(sf_recording *recording, const char *cause, uint64_t count);

/** The same of drops that stand elsewhere. */
sf_drop *sf_drops_add(sf_drop drops[SF_DROP_CAUSES], size_t *drop_count, const char *cause, uint64_t count);

/** Recorded time in nanoseconds: observation intervals where there are any, else the recorded span. */
int64_t sf_recording_duration_ns(const sf_recording *recording);

/**
 * Sorts spikes by (time_ns, unit), stably, in linear time: radix sort on the bits that vary; sorted input
 * is recognised. Merging sorted trains took 1.6 to 4 times as long on real recordings. SF_NO_MEMORY.
 */
int sf_spikes_sort(sf_spike *spikes, size_t count, sf_error *error);

/** Takes spikes over that come `first` of all in that order; 0, or what ends the work. */
typedef int sf_spikes_put(void *context, const sf_spike *ordered, size_t first, size_t count);

/**
 * Hands spikes over in that order, in pieces that come in no order and from several threads at once. Few
 * stretches that are in order each, as the trains of most files, are merged so by all cores without room for
 * all of them; others are sorted in place. SF_NO_MEMORY, or what `put` returned.
 */
int sf_spikes_order(sf_spike *spikes, size_t count, sf_spikes_put *put, void *context);

bool sf_spikes_are_sorted(const sf_spike *spikes, size_t count);

/** The same with room for as many, without a look whether they are sorted. */
void sf_spikes_sort_within(sf_spike *spikes, sf_spike *room, size_t count);

/** Keeps of the observed intervals what lies within a span. */
void sf_recording_clip_observed(sf_recording *recording, sf_span within);

/**
 * What every reader does last: makes names unique, puts spikes and markers in order, and sets `recorded`
 * where the reader left it empty, or widens it to hold every spike. A reader of one of several streams sets
 * it to the span of the file, whether or not the file declares it. SF_NO_MEMORY, SF_DATA where a time is
 * beyond the limit.
 */
int sf_recording_finish(sf_recording *recording, sf_error *error);

/** Index of the first spike with time_ns >= time. spikes are sorted. */
size_t sf_spikes_lower_bound(const sf_spike *spikes, size_t count, int64_t time_ns);

/** Digest of the unit names and of the spikes by their time since the first: equal data give equal digests on
 * every machine, whether held in memory or read in pieces. */
uint64_t sf_recording_hash(const sf_recording *recording);

/** Puts a spike behind those of the digest; spike[-1] is the one before where it follows one. */
void sf_spikes_digest(sf_digest *digest, const sf_spike *spike, bool follows);

/** One more step from a spike of the stream to the next; those of 0 tell nothing. Real-time safe. */
void sf_tick_add(sf_tick *tick, int64_t step_ns);

/**
 * The clock's step: the longest of which all of the smallest time steps are multiples but for rounding, so
 * that it is found where no two spikes are one apart, and though ticks are no whole nanoseconds or times were
 * rounded to microseconds. Where there is none, or there are fewer than eight steps, the step of the digits
 * of times: their common divisor. 0: no steps yet, or none of 10 ns or more, as of times that were drawn.
 */
int64_t sf_tick_find(const sf_tick *tick);

#endif
