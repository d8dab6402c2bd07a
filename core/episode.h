/* SPDX-License-Identifier: Apache-2.0 */
/** Episodes as text, their identity, and their order. */
#ifndef SF_CORE_EPISODE_H
#define SF_CORE_EPISODE_H

#include "core/text.h"
#include "core/units.h"

#include <synfire/mine.h>

/**
 * Reads `A -(0,5]-> B -(5,10]-> C` (bounds in ms, exact to a nanosecond). Names with other than letters,
 * digits and
 * `_.+` stand in double quotes (\" and \\ inside); `#2` is unit index 2. Refuses an empty or negative
 * interval, an unknown unit, more than SF_EPISODE_MAX_SIZE units; the message gives the 1-based column. Fails
 * with SF_USAGE.
 */
int sf_episode_parse(sf_episode *episode, const char *text, const sf_units *units, sf_error *error);

/** Adds the units that a text names to those that are known, as far as it can be read. SF_USAGE as above,
 * SF_NO_MEMORY. */
int sf_episode_learn(sf_units *units, const char *text, sf_error *error);

/** Appends the episode as sf_episode_parse reads it, and the name of one of its units. */
void sf_episode_print(sf_text *text, const sf_episode *episode, const sf_units *units);
void sf_episode_print_name(sf_text *text, const char *name);

/** Checks size 1..SF_EPISODE_MAX_SIZE, units < unit_count, 0 <= low < high for every delay. SF_DATA. */
int sf_episode_check(const sf_episode *episode, size_t unit_count, sf_error *error);

/**
 * The id that output carries: 16 hexadecimal digits of FNV-1a 64 over unit indices, names and delays. Equal
 * episodes of equally named units have equal ids in every run and on every machine.
 */
void sf_episode_id(char id[SF_EPISODE_ID_SIZE], const sf_episode *episode, const sf_units *units);

/** Order of units, then of delays; for sorting results. Sizes are compared first. */
int sf_episode_compare(const sf_episode *a, const sf_episode *b);

/** The distinct delays of all their links in ascending order; returns how many. `delays` has room for one a
 * link. */
size_t sf_episodes_delays(sf_delay *delays, const sf_episode *episodes, size_t count);

/** Where among them one of them is. */
uint32_t sf_delays_find(const sf_delay *delays, size_t count, const sf_delay *delay);

/** True where more than the lower bound has passed between two times. Exact for any two int64. */
static inline bool sf_delay_over(sf_delay delay, int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns && (uint64_t)to_ns - (uint64_t)from_ns > (uint64_t)delay.low_ns;
}

/** True where low < to - from <= high. */
static inline bool sf_delay_holds(sf_delay delay, int64_t from_ns, int64_t to_ns)
{
    return sf_delay_over(delay, from_ns, to_ns) &&
           (uint64_t)to_ns - (uint64_t)from_ns <= (uint64_t)delay.high_ns;
}

/** Sum of the upper delay bounds: no occurrence lasts longer. */
int64_t sf_episode_span_ns(const sf_episode *episode);

#endif
