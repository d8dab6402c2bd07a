/* SPDX-License-Identifier: Apache-2.0 */
/**
 * synfire: live, exact episode mining for multi-electrode arrays.
 *
 * Errors. A function that can fail returns SF_OK (0) or a negative `sf_status` and takes a `struct sf_error
 * *` as its last parameter (NULL is allowed): on failure it holds the code, the place (a file, a
 * configuration key, an option) and one sentence. On failure outputs are left empty. Nothing in the library
 * exits, prints, or asserts on input.
 *
 * Ownership. `x_open`, `x_new` and functions with a `**out` parameter hand over an object that `x_free` or
 * `x_close` takes back; those accept NULL. Strings inside an object live as long as the object.
 *
 * Threads. Distinct objects may be used from distinct threads; one object from one thread at a time, unless a
 * comment says otherwise.
 *
 * Time is int64 nanoseconds on the recording's own clock everywhere.
 */
#ifndef SYNFIRE_SYNFIRE_H
#define SYNFIRE_SYNFIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SF_API __attribute__((visibility("default")))

/** Version of the library as "MAJOR.MINOR.PATCH". */
SF_API const char *sf_version(void);

/* ---- errors ---- */

/** Negated sysexits where one fits, so that a command's exit code follows from its status. */
typedef enum sf_status {
    SF_OK = 0,
    SF_NO_MEMORY = -1,      /**< an allocation failed */
    SF_CANCELLED = -2,      /**< the caller asked to stop (progress callback, signal) */
    SF_USAGE = -64,         /**< an argument or option is wrong */
    SF_DATA = -65,          /**< input is damaged, or not what it should be */
    SF_NO_INPUT = -66,      /**< input cannot be opened */
    SF_UNAVAILABLE = -69,   /**< a needed service or device is missing */
    SF_INTERNAL = -70,      /**< a defect of synfire */
    SF_CANNOT_CREATE = -73, /**< output cannot be created */
    SF_IO = -74,            /**< reading or writing failed */
    SF_CONFIG = -78         /**< the configuration is wrong */
} sf_status;

typedef struct sf_error {
    sf_status code;
    char place[256]; /**< file, key or option, with the line or position where known; may be empty */
    char text[768];  /**< one sentence: what was found and what was expected */
} sf_error;

/* ---- spikes, markers, episodes ---- */

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

/** A delay interval, open below and closed above: low_ns < dt <= high_ns, low_ns >= 0. */
typedef struct sf_delay {
    int64_t low_ns;
    int64_t high_ns;
} sf_delay;

#define SF_EPISODE_MAX_SIZE 16

/** A serial episode units[0] -delays[0]-> units[1] ... ; delays has size - 1 entries. */
typedef struct sf_episode {
    uint32_t size;
    uint32_t units[SF_EPISODE_MAX_SIZE];
    sf_delay delays[SF_EPISODE_MAX_SIZE - 1];
} sf_episode;

/* ---- recordings ---- */

typedef struct sf_recording sf_recording;

/**
 * Reads a recording into memory; the layout (CARMEN, NWB 2, CSV, synfire's own, ...) is found by content.
 * SF_NO_INPUT where it cannot be opened, SF_DATA where it holds no spikes or is damaged.
 */
SF_API int sf_recording_load(sf_recording **out, const char *path, sf_error *error);
SF_API void sf_recording_unload(sf_recording *recording);

SF_API uint32_t sf_recording_unit_count(const sf_recording *recording);
SF_API const char *sf_recording_unit_name(const sf_recording *recording, uint32_t unit);
/** Ordered by (time_ns, unit); as long-lived as the recording. */
SF_API const sf_spike *sf_recording_spikes(const sf_recording *recording, size_t *count);
/** Recorded time: declared by the file, its observation intervals, or from the first spike to the last. */
SF_API int64_t sf_recording_length_ns(const sf_recording *recording);

/** Reads an episode as people write it: `A -(0,5]-> B`, bounds in ms, `#2` for unit index 2. SF_USAGE. */
SF_API int sf_recording_parse_episode(const sf_recording *recording, const char *text, sf_episode *episode,
                                      sf_error *error);

/* ---- mining ---- */

/**
 * The count of an episode is the size of the largest set of its occurrences of which none begins before
 * another has ended. Occurrences pick one spike per unit with low < dt <= high for each delay; other spikes
 * may lie between.
 */
typedef struct sf_mining {
    const sf_delay *delays; /**< the intervals that links may have; at least one */
    size_t delay_count;
    double min_count;  /**< an episode is frequent with this count or more; > 0 */
    uint32_t max_size; /**< 2 .. SF_EPISODE_MAX_SIZE; 0 means 4 */
    bool self;         /**< a unit may follow itself directly */
    unsigned threads;  /**< 0: all cores */
} sf_mining;

typedef struct sf_frequent_episode {
    sf_episode episode;
    uint64_t count;
    double expected; /**< of independent Poisson trains at the observed rates */
} sf_frequent_episode;

/**
 * Finds every frequent episode of two or more units: size ascending, count descending, then units, then
 * delays. *episodes is released by sf_release. The result is the same on any number of threads.
 */
SF_API int sf_find_episodes(sf_frequent_episode **episodes, size_t *count, const sf_recording *recording,
                            const sf_mining *mining, sf_error *error);

/** counts[i] becomes the count of episodes[i] among the spikes with start_ns <= time < stop_ns. */
SF_API int sf_count_episodes(uint64_t *counts, const sf_recording *recording, const sf_episode *episodes,
                             size_t count, int64_t start_ns, int64_t stop_ns, sf_error *error);

/** Releases an array that a function of this header handed over; NULL is allowed. */
SF_API void sf_release(void *memory);

#ifdef __cplusplus
}
#endif
#endif
