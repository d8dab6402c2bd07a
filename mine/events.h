/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spikes laid out for counting: in stream order and by unit, as separate arrays. A spike's position is its
 * place in the order (time, unit) among the kept spikes; everything that says before or after compares
 * positions, so ties are decided once, here.
 *
 * Kept units are numbered anew, ascending, so that their order and with it every tie stays as it was.
 */
#ifndef SF_MINE_EVENTS_H
#define SF_MINE_EVENTS_H

#include <synfire/recording.h>

typedef struct sf_events {
    uint32_t unit_count;
    uint32_t *unit;  /**< unit_count: each kept unit's index in the recording */
    uint32_t count;  /**< kept spikes */
    int64_t *times;  /**< by position: ns since the first kept spike, so never negative */
    uint32_t *owner; /**< by position: the kept unit that fired */
    uint32_t *first; /**< unit_count + 1: unit u's spikes are first[u] .. first[u + 1] - 1 of the two below */
    uint32_t *positions; /**< by unit, ascending */
    int64_t *unit_times; /**< by unit: times[positions[i]]; NULL until sf_events_time_units */
    int64_t origin_ns;   /**< time of the first kept spike */
} sf_events;

/** Which units are kept, and who does the work. */
typedef struct sf_events_choice {
    const bool *keep; /**< by unit of the recording; NULL: all */
    uint32_t least;   /**< units with fewer spikes are left out too */
    /** By unit of the recording, or NULL: kept, but only by number, as if it had never fired. */
    const bool *silent;
    unsigned threads; /**< at least 1; the layout is the same for any number */
} sf_events_choice;

/**
 * Lays out the spikes of the units chosen, 16 bytes a spike. Spikes must be ordered by (time_ns, unit), units
 * below unit_count: SF_DATA otherwise. Read-only afterwards and then safe to share between threads.
 */
int sf_events_lay_out(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                      const sf_events_choice *choice, sf_error *error);

/** Fills unit_times, 8 bytes a spike more, for what follows one unit through time. SF_NO_MEMORY. */
int sf_events_time_units(sf_events *events, unsigned threads, sf_error *error);

/** Both, for the units with keep[unit], on all cores. */
int sf_events_open(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                   const bool *keep, sf_error *error);

/**
 * How many spikes each unit fires in each of so many stretches, 1 or more, into which it cuts the spikes:
 * unit_spikes[stretch * unit_count + unit], units of the recording, from sf_alloc. Stretch i is the spikes
 * bounds[i] .. bounds[i + 1] - 1; the last ones of few spikes may be empty. SF_DATA as sf_events_lay_out,
 * SF_NO_MEMORY.
 */
int sf_events_count_stretches(uint64_t **unit_spikes, size_t *bounds, uint32_t stretches,
                              const sf_spike *spikes, size_t count, size_t unit_count, unsigned threads,
                              sf_error *error);

/**
 * The events of the units chosen as far as the numbers of spikes tell: unit_count, unit, count, first and
 * origin_ns are those of sf_events_lay_out, the arrays by position and by place are NULL. SF_DATA for more
 * spikes than can be mined at once, SF_NO_MEMORY.
 */
int sf_events_outline(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                      const uint64_t *unit_spikes, const sf_events_choice *choice, sf_error *error);

/** By unit of the recording: its number among the kept, or SF_LEFT_OUT; NULL: no memory. To be freed by
 * sf_free. */
uint32_t *sf_events_numbers(const sf_events *events, size_t unit_count);

void sf_events_close(sf_events *events); /**< a zeroed object is allowed */

/** The first position whose time is not before `time_ns` (on the recording's clock). */
uint32_t sf_events_position(const sf_events *events, int64_t time_ns);

/** Spikes of one unit within a range of positions. */
typedef struct sf_unit_events {
    const int64_t *times; /**< NULL where the events have no unit_times */
    const uint32_t *positions;
    size_t count;
} sf_unit_events;

/** Unit's spikes at positions first <= p < last. */
sf_unit_events sf_events_unit(const sf_events *events, uint32_t unit, uint32_t first, uint32_t last);

#endif
