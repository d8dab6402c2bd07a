/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recordings: spikes of units, read from a file of any layout or taken from memory; the selection that is
 * analysed; and an overview before any analysis. A recording is read-only once it is built, so threads may
 * share it.
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

/** A part of a recording that someone chose and may have named. */
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
    SF_DROP_FOUND,  /**< it is in the file but is no spike to analyse, or is a duplicate */
    SF_DROP_CHOSEN, /**< the selection excludes it, spike by spike */
    SF_DROP_LOST    /**< it is not in the file: the run that recorded it reports the loss */
} sf_drop_kind;

/** The cause for spikes of units that their owner labelled noise. */
#define SF_DROP_NOISE "of units labelled noise"

/** Spikes left out of a recording, by cause: SF_DROP_NOISE, "unmapped channel", ... */
typedef struct sf_drop {
    char cause[55];
    uint8_t kind; /**< sf_drop_kind */
    uint64_t count;
} sf_drop;

#define SF_DROP_CAUSES 16

/* ---- selections ---- */

/** A time as people mean it: absolute, or relative to the first spike of the recording that is cut. */
typedef struct sf_time_point {
    bool given;
    bool from_first;
    int64_t ns;
} sf_time_point;

/**
 * Which part of a recording is analysed; the default is all. Units keep their numbers: those not selected
 * only lose their spikes. Recorded time shrinks with the spikes, so that rates stay right.
 *
 * The steps run in this order: noise is removed first, as it is no spike of a neuron; then duplicates, before
 * units are selected so that what is left of a unit does not depend on which others are selected; then units
 * and kinds, blanked times, epochs, and from <= time < to. A spike is a duplicate if it comes at most
 * dedup_ns after a kept one on the same unit or on one at most dedup_um away.
 */
typedef struct sf_selection {
    size_t size;
    const char *stream; /**< which stream of a file that holds several; NULL: the file holds one */
    /** `a,b,#10-#20`: names (in double quotes where they hold commas) and indices; NULL: all */
    const char *units;
    sf_time_point from, to; /**< `to` is excluded; not given: to the end of the recording */
    const sf_epoch *epochs; /**< ordered and disjoint; NULL: all of the time */
    size_t epoch_count;
    const char *epochs_path; /**< the file that the epochs are from, reported with results; or NULL */
    const char *blank;       /**< a marker: its text, or ttl3 for a rising edge of line 3; NULL: none */
    int64_t blank_from_ns,
        blank_to_ns;  /**< start and end of the blanked time relative to each of these markers */
    int64_t dedup_ns; /**< 0: duplicates stay */
    double dedup_um;
    double rate_hz; /**< samples per second of a file that counts samples; 0: as the file says */
    /**
     * Number of bytes that the process may take, at least 128 MiB: spikes are then not held in memory but
     * read in pieces whenever they are needed, and only sf_mine accepts the recording. Only for files of
     * synfire's own layout, and without dedup. 0: all spikes are held.
     */
    uint64_t memory;
    /** The columns of a text file without a heading, or instead of it: `time_ms,unit`, with - for a column to
     * ignore. NULL: as the heading says. */
    const char *columns;
    /** A file with electrode positions: a probeinterface file, a table of name,x,y, the routing that MaxLab
     * Live writes (.cfg), or a Blackrock map (.cmp). It sets the positions of all units; units that are not
     * in it have none. The metadata `positions` says how they were found. NULL: as the recording says. */
    const char *positions;
    /**
     * Kinds of units to analyse: a comma list of good (or sorted), mua (or multi-unit), unsorted (or unknown)
     * and noise, or all. NULL: for a file, all but units that their owner labelled noise, unless `units`
     * names such a unit; sf_recording_select then leaves the units as they are.
     */
    const char *kind;
    /** When the recording was made, if the caller knows and the file does not say; no spike may lie outside.
     * Both 0: as the file says, else from its first spike to its last. */
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
 * sorted by start. Release *epochs with sf_release. SF_NO_INPUT; SF_DATA, with the line, for an epoch that is
 * malformed, empty or overlaps another.
 */
SF_API int sf_epochs_read(sf_epoch **epochs, size_t *count, const char *path, sf_error *error);

/** The selection that a result is based on. Times are on the recording's clock. */
typedef struct sf_selected {
    const char *recording, *format; /**< path and layout, NULL in memory */
    const char *stream;             /**< or NULL */
    size_t unit_count;              /**< number of units analysed */
    size_t units_in_file;
    const uint32_t *units;     /**< their indices; NULL: all */
    const char *const *names;  /**< names of these units, unit_count of them; if `units` is not NULL */
    bool from_given, to_given; /**< false: from_ns and to_ns are the limits of the recording */
    int64_t from_ns, to_ns;    /**< `to` is excluded */
    const char *epochs_path;   /**< NULL: the epochs are from no file */
    const sf_epoch *epochs;    /**< in order */
    size_t epoch_count;
    /** NULL: nothing is blanked; else from blank_from_ns to blank_to_ns around each of these */
    const char *marker;
    int64_t blank_from_ns, blank_to_ns;
    int64_t dedup_ns; /**< 0: duplicates stay */
    double dedup_um;
    uint64_t spikes, spikes_in_file; /**< analysed; read */
    sf_drop dropped[SF_DROP_CAUSES]; /**< spikes left out of the analysis, by cause */
    size_t dropped_count;
    int64_t duration_ns; /**< recorded time that was analysed */
    const char *kinds;   /**< of units, as requested; NULL: all but noise */
    size_t noise_units;  /**< units labelled noise that are left out */
    sf_span recorded;    /**< extent of the recording before the selection */
    bool declared; /**< the file or the caller stated `recorded`; else it runs from the first to the last
                      spike */
    uint64_t data; /**< a hash of unit names, and of spikes by their time since the first */
} sf_selected;

/* ---- recordings ---- */

typedef struct sf_recording sf_recording;

/**
 * Reads a recording, or the selected part of it; recognises the layout (CARMEN, NWB 2, CSV, synfire's own,
 * ...) by content. selection and progress may be NULL. SF_NO_INPUT if the file cannot be opened; SF_DATA if
 * it holds no spikes, is damaged (two different sentences), or duplicates are to go by distance and there are
 * no positions; SF_USAGE for a stream, unit, marker or span that does not exist, with the field of the
 * selection as the place; SF_CANCELLED. The program synfire-read reads HDF5 files, as docs/architecture.md
 * explains.
 */
SF_API int sf_recording_open(sf_recording **out, const char *path, const sf_selection *selection,
                             const sf_progress *progress, sf_error *error);

/** Spikes, units and markers that a program has in memory; sf_recording_new copies everything. */
typedef struct sf_recording_input {
    size_t size;
    size_t unit_count;
    const sf_unit *units;   /**< NULL: names e1, e2, ..., no positions. A name that is NULL or empty becomes
                               e<number> too; repeated names get _2, _3, ... */
    const sf_spike *spikes; /**< units < unit_count; in any order */
    size_t spike_count;
    const sf_marker *markers; /**< in any order */
    size_t marker_count;
    const sf_span *recorded; /**< when it was recorded; NULL: from the first spike to just after the last */
    const sf_span *observed; /**< the intervals between pauses of the recording, ordered and disjoint; NULL:
                                all of `recorded` */
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
 * Builds a recording from memory; analyses give the same results as for a file with the same content. Spikes
 * that are not ordered by (time, unit) are sorted, and the column `sorted` says so. `recorded` grows to hold
 * every spike. SF_USAGE, with the index, for a unit that does not exist, a marker of unknown kind or whose
 * text is not terminated, or observed intervals that are empty, out of order or overlap; SF_DATA for times
 * beyond 146 years.
 */
SF_API int sf_recording_new(sf_recording **out, const sf_recording_input *input, sf_error *error);

/** Copies the selected part of a recording, which stays unchanged. Errors as sf_recording_open; also SF_USAGE
 * for a stream, and for a choice that was already made when `recording` itself was selected. */
SF_API int sf_recording_select(sf_recording **out, const sf_recording *recording,
                               const sf_selection *selection, sf_error *error);

/** The part of a recording inside a span, without a copy: its recorded time is that of the span. `recording`
 * must outlive it. */
SF_API int sf_recording_part(sf_recording **out, const sf_recording *recording, sf_span span,
                             sf_error *error);

SF_API void sf_recording_free(sf_recording *recording);

/** The content of a recording. Set `size` before sf_recording_get_columns; arrays live as long as the
 * recording. */
typedef struct sf_recording_columns {
    size_t size;
    const char *path, *format; /**< "CARMEN", "NWB 2.4.0 units", "CSV", ...; NULL in memory */
    size_t unit_count;
    const sf_unit *units;
    size_t spike_count;
    const sf_spike *spikes; /**< ordered by (time_ns, unit); NULL if they are read in pieces */
    size_t marker_count;
    const sf_marker *markers; /**< ordered by time */
    sf_span recorded;         /**< as declared, and wider where spikes lie outside it */
    bool declared;            /**< `recorded` was declared; else the spikes set it */
    bool sorted;              /**< sf_recording_new got another order and sorted the spikes */
    size_t observed_count;
    const sf_span *observed; /**< ordered and disjoint; empty: all of `recorded` */
    int64_t duration_ns;     /**< recorded time: the sum of the observed intervals if there are any */
    /** The step of the recording's clock, whatever is selected later: as the file says (sampling rate or
     * resolution), else the greatest common step of all spike times; 0: not known. */
    int64_t tick_ns;
    size_t metadata_count;
    const sf_metadata_entry *metadata;
    size_t dropped_count;
    const sf_drop *dropped;
    const sf_selected *selected; /**< how this recording was selected from the file or memory; NULL for an
                                    sf_recording_part */
} sf_recording_columns;

SF_API void sf_recording_get_columns(const sf_recording *recording, sf_recording_columns *columns);

/** Reads a unit as people write it: by its name, or `#2` for index 2. SF_USAGE. */
SF_API int sf_recording_find_unit(const sf_recording *recording, const char *text, uint32_t *unit,
                                  sf_error *error);

/* ---- overview before any analysis ---- */

typedef struct sf_unit_overview {
    uint64_t spikes;
    uint64_t short_intervals; /**< inter-spike intervals under 2 ms, which few neurons produce */
} sf_unit_overview;

typedef struct sf_overview sf_overview;

/**
 * Runs an analysis by name and returns what the command of that name prints with --json: an object with an
 * array for each of its tables, whose columns `synfire describe` lists, and, except for "criticality", the
 * other fields of that document without `recording` and `provenance`. Names are "bursts", "responses",
 * "sequences" and "criticality". options: NULL, or texts that end with NULL, each an option of that command
 * without its dashes, as "branching-bin=4"; "episodes=A -(0,5]-> B" is a chain, and may be given several
 * times. progress may be NULL. Release *text with sf_release; it is NULL on failure. SF_USAGE, also for a
 * recording whose spikes are not held in memory; SF_DATA if no marker has the given name; SF_CANCELLED,
 * SF_NO_MEMORY.
 */
SF_API int sf_recording_analyse(char **text, const sf_recording *recording, const char *analysis,
                                const char *const *options, const sf_progress *progress, sf_error *error);

/**
 * Examines rates, intervals, repeats and positions for what may mislead an analysis. Two detections at most
 * 0.25 ms apart on neighbouring electrodes are likely one spike. Neighbours are units at most 1.5 pitches
 * apart: the eight around one on a square grid, the six on a hexagonal one. progress may be NULL.
 * SF_CANCELLED.
 */
SF_API int sf_recording_overview(sf_overview **out, const sf_recording *recording,
                                 const sf_progress *progress, sf_error *error);
SF_API void sf_overview_free(sf_overview *overview);

/** Set `size` before sf_overview_get_columns; arrays live as long as the overview. */
typedef struct sf_overview_columns {
    size_t size;
    const sf_unit_overview *units; /**< one entry per unit */
    int64_t first_ns, last_ns;     /**< of spikes; both 0 if there are none */
    /** Declared or observed time; if the file declares none, from the first spike to the last. */
    int64_t duration_ns;
    int64_t tick_ns;                     /**< step of the clock, as in sf_recording_columns; 0: not known */
    uint64_t intervals, short_intervals; /**< between spikes of one unit: all, and those under 2 ms */
    uint64_t repeats;                    /**< spikes at most 0.25 ms after another of the same unit */
    uint64_t neighbour_repeats;          /**< other spikes at most 0.25 ms after one of a neighbouring unit */
    uint64_t array_events;   /**< ticks in which a quarter of the active units, and at least 5, spike */
    size_t active_units;     /**< with spikes */
    size_t electrodes;       /**< different positions; 0 if positions are unknown or useless */
    double pitch_um;         /**< least distance between two positions; NaN without positions */
    double x_um[2], y_um[2]; /**< least and greatest */
    const char *kind;        /**< common kind of all units, by sf_unit_kind_name, or "mixed" */
    const sf_span *bursts;   /**< of the network, in order; mine/bursts.h defines them */
    size_t burst_count;
} sf_overview_columns;

SF_API void sf_overview_get_columns(const sf_overview *overview, sf_overview_columns *columns);

#ifdef __cplusplus
}
#endif
#endif
