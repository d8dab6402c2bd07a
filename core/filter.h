/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which spikes are no spikes of their own: repeats of one that a neighbour saw, and what falls into times
 * that are blanked, after markers and after what acted on the tissue. Offline and live by the same rules. A
 * filter takes a stream in order and looks at nothing that comes later.
 */
#ifndef SF_CORE_FILTER_H
#define SF_CORE_FILTER_H

#include "core/units.h"

/** What is left out around each of these markers. */
typedef struct sf_blank {
    const char *marker; /**< its text, or ttl3 for a rising edge of line 3 */
    int64_t from_ns, to_ns;
} sf_blank;

/** Whether the marker is meant, and what it blanks; kept inside int64. */
bool sf_blank_span(const sf_blank *blank, const sf_marker *marker, sf_span *span);

/* ---- duplicates ---- */

/** The kept spikes that the next could repeat: of each unit at most one, since a second would repeat it. */
typedef struct sf_dedup {
    const sf_unit *units; /**< borrowed */
    int64_t within_ns;
    double within_um;
    sf_spike *kept;
    size_t room, first, count;
} sf_dedup;

/** SF_DATA with place "dedup" where it goes by distance and units have no positions; SF_NO_MEMORY. */
int sf_dedup_open(sf_dedup *dedup, const sf_units *units, int64_t within_ns, double within_um,
                  sf_error *error);
void sf_dedup_close(sf_dedup *dedup);

/** False where it repeats a kept spike. Spikes come in stream order. Real-time safe. */
bool sf_dedup_keeps(sf_dedup *dedup, const sf_spike *spike);

/* ---- a stream ---- */

/** What becomes of a spike, and why. */
typedef enum sf_filter_cause {
    SF_FILTER_KEPT,
    SF_FILTER_DUPLICATE,
    SF_FILTER_MARKER, /**< a marker blanks it */
    SF_FILTER_OWN,    /**< what was blanked by sf_filter_blank */
    SF_FILTER_CAUSES
} sf_filter_cause;

typedef struct sf_filter_settings {
    const sf_units *units;
    int64_t dedup_ns; /**< 0: duplicates stay */
    double dedup_um;
    const sf_blank *blanks; /**< from_ns is at least 0, and at most SF_BLANK_LEAD times their length */
    size_t blank_count;
    /** Or NULL. Called with each span that is blanked, as soon as it is known; they may overlap. */
    void (*blanked)(void *user, sf_span span);
    void *user;
} sf_filter_settings;

/** So that there are few that have not begun. */
#define SF_BLANK_LEAD 1000

typedef struct sf_filter sf_filter;

/** Units, blanks and their markers are borrowed. Errors as of sf_dedup_open. */
int sf_filter_open(sf_filter **filter, const sf_filter_settings *settings, sf_error *error);
void sf_filter_close(sf_filter *filter);

/** A marker, in time order, before the spikes of its time and later ones. Real-time safe, as the others. */
void sf_filter_mark(sf_filter *filter, const sf_marker *marker);

/** A span that follows from the stream so far, which has reached its start. */
void sf_filter_blank(sf_filter *filter, sf_span span);

/** The next spike. */
sf_filter_cause sf_filter_take(sf_filter *filter, const sf_spike *spike);

#endif
