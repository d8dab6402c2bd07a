/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes, markers, and recordings of them. */
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

/** A stretch of time. */
typedef struct sf_span {
    int64_t start_ns; /**< included */
    int64_t stop_ns;  /**< excluded */
} sf_span;

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

#ifdef __cplusplus
}
#endif
#endif
