/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recordings: spikes of units, from a file of any layout or from memory, the part of one that is looked at,
 * and what it is like before any analysis. A recording is read-only once it is there, so threads may share
 * it.
 */
#ifndef SYNFIRE_RECORDING_H
#define SYNFIRE_RECORDING_H

#include <synfire/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One spike. A stream of spikes is ordered by (time_ns, unit); "before" and "after" always mean this order.
 */
typedef struct sf_spike {
    int64_t time_ns;
    uint32_t unit;   /**< 0-based index into the unit table */
    float amplitude; /**< in the unit the source gives; NaN where it has none */
} sf_spike;

typedef enum sf_marker_kind { SF_MARKER_TTL = 1, SF_MARKER_TEXT = 2 } sf_marker_kind;

#define SF_MARKER_TEXT_SIZE 48

/** A TTL edge or a text message on the stream's clock; 64 bytes, no pointers, so it travels through rings and
 * files. */
typedef struct sf_marker {
    int64_t time_ns;
    uint8_t kind;  /**< sf_marker_kind */
    uint8_t state; /**< TTL: 0 low, 1 high */
    uint16_t line; /**< TTL: 0-based line */
    uint32_t reserved;
    char text[SF_MARKER_TEXT_SIZE]; /**< text: NUL-terminated UTF-8, cut to fit */
} sf_marker;

typedef struct sf_span {
    int64_t start_ns; /**< included */
    int64_t stop_ns;  /**< excluded */
} sf_span;

/** A stretch of a recording that someone chose and may have named. */
typedef struct sf_epoch {
    sf_span span;
    char label[64]; /**< "" where it has none */
} sf_epoch;

typedef enum sf_unit_kind {
    SF_UNIT_UNKNOWN = 0,
    SF_UNIT_SORTED = 1, /**< a sorted single neuron */
    SF_UNIT_MULTI_UNIT =
        2, /**< everything one electrode detected, or a cluster known to be several neurons */
    SF_UNIT_NOISE = 3
} sf_unit_kind;

/** "unknown", "sorted", "multi-unit", "noise". */
static inline const char *sf_unit_kind_name(sf_unit_kind kind)
{
    switch (kind) {
    case SF_UNIT_SORTED:
        return "sorted";
    case SF_UNIT_MULTI_UNIT:
        return "multi-unit";
    case SF_UNIT_NOISE:
        return "noise";
    default:
        return "unknown";
    }
}

typedef struct sf_unit {
    const char *name;  /**< unique within a recording */
    double x_um, y_um; /**< position on the array; NaN where the source has none */
    sf_unit_kind kind;
    int32_t electrode; /**< the source's electrode number, -1 where it has none */
    const char *well;  /**< NULL where the source has none */
} sf_unit;

typedef struct sf_metadata_entry {
    const char *key; /**< the field's word where there is one: species, age, condition, subject, session,
                        sampling_rate */
    const char *value;
} sf_metadata_entry;

typedef enum sf_drop_kind {
    SF_DROP_FOUND,  /**< it is in the file and no spike to analyse, or a duplicate */
    SF_DROP_CHOSEN, /**< as the selection says, spike by spike */
    SF_DROP_LOST    /**< it is not in the file: the run that recorded it tells of it */
} sf_drop_kind;

/** The cause of spikes of units that their owner labelled noise. */
#define SF_DROP_NOISE "of units labelled noise"

/** Spikes that are not among those of a recording, by cause: SF_DROP_NOISE, "unmapped channel", ... */
typedef struct sf_drop {
    char cause[55];
    uint8_t kind; /**< sf_drop_kind */
    uint64_t count;
} sf_drop;

#define SF_DROP_CAUSES 16

/* ---- the part that is looked at ---- */

/** A time as people mean it: absolute, or counted from the first spike of the recording that is cut. */
typedef struct sf_time_point {
    bool given;
    bool from_first;
    int64_t ns;
} sf_time_point;

/**
 * What of a recording is looked at; the default is all. Units keep their numbers: what is not selected only
 * loses its spikes. Recorded time shrinks with the spikes, so that rates stay right.
 *
 * Duplicates go first, so that what is left of a unit does not depend on which others are selected: a spike
 * goes that is at most dedup_ns after a kept one on the same unit or on one at most dedup_um away. Noise
 * goes before them, as it is no spike of a neuron. Then units and kinds, blanked times, epochs, and from <=
 * time < to.
 */
typedef struct sf_selection {
    size_t size;
    const char *stream; /**< which, where a file holds several; NULL: it holds one */
    const char
        *units; /**< `a,b,#10-#20`: names (in double quotes where they hold commas) and indices; NULL: all */
    sf_time_point from, to; /**< `to` is excluded; not given: to the end of the recording */
    const sf_epoch *epochs; /**< ordered and disjoint; NULL: all of the time */
    size_t epoch_count;
    const char *epochs_path; /**< the file that they are from, told with results, or NULL */
    const char *blank;       /**< a marker: its text, or ttl3 for a rising edge of line 3; NULL: none */
    int64_t blank_from_ns, blank_to_ns; /**< what is left out around each of these markers */
    int64_t dedup_ns;                   /**< 0: duplicates stay */
    double dedup_um;
    double rate_hz; /**< samples in a second, of a file that counts samples; 0: as it says */
    /**
     * So many bytes are what a process is to take, at least 128 MiB: spikes are not held then but read in
     * pieces, again whenever they are looked at, and only sf_mine takes the recording. For files of synfire's
     * own layout, and without dedup. 0: all spikes are held.
     */
    uint64_t memory;
    /** What the columns of a text are, where no heading says it or another is meant: `time_ms,unit`, with -
     * for one that does not matter. NULL: as it says. */
    const char *columns;
    /** Where electrodes are: a probeinterface file, a table of name,x,y, the routing that MaxLab Live writes
     * (.cfg), or a map of Blackrock's (.cmp). These
     * positions are taken for all units, and the metadata `positions` says how they were found; units that
     * are not in it have none. NULL: as the recording says. */
    const char *positions;
    /**
     * Kinds of units that are looked at: a comma list of good (or sorted), mua (or multi-unit), unsorted (or
     * unknown) and noise, or all. NULL: of a file all but what its owner labelled noise, unless `units` names
     * such a unit; sf_recording_select then leaves the units as they are.
     */
    const char *kind;
    /** When it was recorded, where the caller knows it and the file does not: no spike may lie outside. Both
     * 0: as the file says, else from its first spike to its last. */
    sf_span recorded;
} sf_selection;

SF_API void sf_selection_init(void *selection, size_t size);

static inline sf_selection sf_selection_default(void)
{
    sf_selection selection;
    sf_selection_init(&selection, sizeof selection);
    return selection;
}

/**
 * Reads a file of epochs: start,stop[,label] in seconds of the recording's clock, with or without a header,
 * sorted by start. sf_release takes *epochs. SF_NO_INPUT; SF_DATA, with the line, for what is no epoch, empty
 * or overlaps.
 */
SF_API int sf_epochs_read(sf_epoch **epochs, size_t *count, const char *path, sf_error *error);

/** How a recording was cut down: what a result is of. Times are on the recording's clock. */
typedef struct sf_selected {
    const char *recording, *format; /**< path and layout, NULL in memory */
    const char *stream;             /**< or NULL */
    size_t unit_count;              /**< units looked at */
    size_t units_in_file;
    const uint32_t *units;     /**< their indices; NULL: all */
    const char *const *names;  /**< of these; unit_count where `units` is not NULL */
    bool from_given, to_given; /**< else the times of the recording */
    int64_t from_ns, to_ns;    /**< `to` is excluded */
    const char *epochs_path;   /**< NULL: of no file */
    const sf_epoch *epochs;    /**< in order */
    size_t epoch_count;
    const char
        *marker; /**< NULL: nothing is blanked; else from blank_from_ns to blank_to_ns around each of these */
    int64_t blank_from_ns, blank_to_ns;
    int64_t dedup_ns; /**< 0: duplicates stay */
    double dedup_um;
    uint64_t spikes, spikes_in_file; /**< looked at; read */
    sf_drop dropped[SF_DROP_CAUSES]; /**< what is not in the analysis, by cause */
    size_t dropped_count;
    int64_t duration_ns; /**< recorded time that was looked at */
    const char *kinds;   /**< of units, as asked for; NULL: all but noise */
    size_t noise_units;  /**< units labelled noise that are left out */
    sf_span recorded;    /**< of the recording, before anything was selected */
    bool declared;       /**< the file or the caller said so; else it is from the first to the last spike */
    uint64_t data;       /**< a hash of unit names, and of spikes by their time since the first */
} sf_selected;

/* ---- recordings ---- */

typedef struct sf_recording sf_recording;

/**
 * Reads a recording, or the selected part of it; the layout (CARMEN, NWB 2, CSV, synfire's own, ...) is found
 * by content. selection and progress may be NULL. SF_NO_INPUT where it cannot be opened, SF_DATA where it
 * holds no spikes or is damaged (two different sentences) or duplicates are to go by distance and there are
 * no positions, SF_USAGE for a stream, unit, marker or span that is not there, with the field of the
 * selection as the place of the error, SF_CANCELLED. HDF5 files are read by the program synfire-read, as
 * docs/architecture.md says.
 */
SF_API int sf_recording_open(sf_recording **out, const char *path, const sf_selection *selection,
                             const sf_progress *progress, sf_error *error);

/** A recording as a program has it in memory; all of it is copied. */
typedef struct sf_recording_input {
    size_t size;
    size_t unit_count;
    const sf_unit *units; /**< NULL: names e1, e2, ..., no positions. A name that is NULL or empty becomes so
                             too; one that is there twice gets _2, _3, ... */
    const sf_spike *spikes; /**< units < unit_count; in any order */
    size_t spike_count;
    const sf_marker *markers; /**< in any order */
    size_t marker_count;
    const sf_span *recorded; /**< when it was recorded; NULL: from the first spike to just after the last */
    const sf_span *observed; /**< where recording paused, when it went on: ordered and disjoint; NULL: all of
                                `recorded` */
    size_t observed_count;
    const sf_metadata_entry *metadata;
    size_t metadata_count;
} sf_recording_input;

SF_API void sf_recording_input_init(void *input, size_t size);

static inline sf_recording_input sf_recording_input_default(void)
{
    sf_recording_input input;
    sf_recording_input_init(&input, sizeof input);
    return input;
}

/**
 * Makes a recording of what is in memory; analyses of it and of a file with the same content give the same.
 * Spikes that are not ordered by (time, unit) are sorted, and the columns tell so. `recorded` grows to hold
 * every spike. SF_USAGE, with the index, for a unit that is not there, a marker of no kind or whose text has
 * no end, observed intervals that are empty, out of order or overlap; SF_DATA for times beyond 146 years.
 */
SF_API int sf_recording_new(sf_recording **out, const sf_recording_input *input, sf_error *error);

/** A copy of the selected part of a recording, which stays as it is. Errors as sf_recording_open; also
 * SF_USAGE for a stream, and for what was already chosen when `recording` itself was cut down. */
SF_API int sf_recording_select(sf_recording **out, const sf_recording *recording,
                               const sf_selection *selection, sf_error *error);

/** What lies inside a span, without a copy: recorded time is that of the span. `recording` must outlive it.
 */
SF_API int sf_recording_part(sf_recording **out, const sf_recording *recording, sf_span span,
                             sf_error *error);

SF_API void sf_recording_free(sf_recording *recording);

/** All that is in a recording. Set `size` before sf_recording_get_columns; arrays live as long as the
 * recording. */
typedef struct sf_recording_columns {
    size_t size;
    const char *path, *format; /**< "CARMEN", "NWB 2.4.0 units", "CSV", ...; NULL in memory */
    size_t unit_count;
    const sf_unit *units;
    size_t spike_count;
    const sf_spike *spikes; /**< ordered by (time_ns, unit); NULL where they are read in pieces */
    size_t marker_count;
    const sf_marker *markers; /**< ordered by time */
    sf_span recorded;         /**< as declared, and wider where spikes lie outside it */
    bool declared;            /**< `recorded` was declared; else the spikes set it */
    bool sorted;              /**< sf_recording_new was given another order */
    size_t observed_count;
    const sf_span *observed; /**< ordered and disjoint; none: all of `recorded` */
    int64_t duration_ns;     /**< recorded time: of the observed intervals where there are any */
    /** The step of its clock, whatever is selected later: as the file says (its sampling rate or resolution),
     * else the common measure of the time steps of all spikes; 0: not known. */
    int64_t tick_ns;
    size_t metadata_count;
    const sf_metadata_entry *metadata;
    size_t dropped_count;
    const sf_drop *dropped;
    const sf_selected *selected; /**< what of the file or of memory this is; NULL for an sf_recording_part */
} sf_recording_columns;

SF_API void sf_recording_get_columns(const sf_recording *recording, sf_recording_columns *columns);

/** Reads a unit as people write it: by its name, or `#2` for index 2. SF_USAGE. */
SF_API int sf_recording_find_unit(const sf_recording *recording, const char *text, uint32_t *unit,
                                  sf_error *error);

/* ---- what a recording is like, before any analysis ---- */

typedef struct sf_unit_overview {
    uint64_t spikes;
    uint64_t short_intervals; /**< inter-spike intervals under 2 ms, which few neurons leave */
} sf_unit_overview;

typedef struct sf_overview sf_overview;

/**
 * An analysis of the recording by its name, as the command of that name has it in --json: an object with an
 * array for each of its tables, whose columns are those of `synfire describe`, and for all but "criticality"
 * the other fields of that document, but for `recording` and `provenance`. There are "bursts", "responses",
 * "sequences" and "criticality". options: NULL, or texts up to NULL, each an option of that command without
 * its dashes, as "branching-bin=4"; "episodes=A -(0,5]-> B" is a chain, and may be given several times.
 * progress may be NULL. sf_release takes the text, which is NULL on failure. SF_USAGE also of a recording
 * whose spikes are not held; SF_DATA where no marker is called so; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_recording_analyse(char **text, const sf_recording *recording, const char *analysis,
                                const char *const *options, const sf_progress *progress, sf_error *error);

/**
 * Looks at rates, intervals, repeats and positions: what may mislead an analysis. Two detections no further
 * apart than 0.25 ms on neighbouring electrodes are likely one spike. Neighbours are units at most 1.5
 * pitches apart: the eight around one on a square grid, the six on a hexagonal one. progress may be NULL.
 * SF_CANCELLED.
 */
SF_API int sf_recording_overview(sf_overview **out, const sf_recording *recording,
                                 const sf_progress *progress, sf_error *error);
SF_API void sf_overview_free(sf_overview *overview);

/** Set `size` before sf_overview_get_columns; arrays live as long as the overview. */
typedef struct sf_overview_columns {
    size_t size;
    const sf_unit_overview *units; /**< one a unit */
    int64_t first_ns, last_ns;     /**< spikes; both 0 where there are none */
    /** Declared or observed time; where the file declares none, from the first spike to the last. */
    int64_t duration_ns;
    int64_t tick_ns;                     /**< the step of its clock, as of the recording; 0: not known */
    uint64_t intervals, short_intervals; /**< between spikes of one unit; those under 2 ms */
    uint64_t repeats;                    /**< spikes at most 0.25 ms after one of the same unit */
    uint64_t neighbour_repeats;          /**< the others that come so after one of a neighbouring unit */
    uint64_t array_events;   /**< ticks in which a quarter of the units with spikes, and at least 5, spike */
    size_t active_units;     /**< with spikes */
    size_t electrodes;       /**< different positions; 0 where positions tell nothing */
    double pitch_um;         /**< least distance of two positions; NaN without them */
    double x_um[2], y_um[2]; /**< least and greatest */
    const char *kind;        /**< of all units, as sf_unit_kind_name, or "mixed" */
    const sf_span *bursts;   /**< of the network, in order; mine/bursts.h defines them */
    size_t burst_count;
} sf_overview_columns;

SF_API void sf_overview_get_columns(const sf_overview *overview, sf_overview_columns *columns);

#ifdef __cplusplus
}
#endif
#endif
