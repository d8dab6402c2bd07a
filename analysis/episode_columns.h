/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Column definitions for tables with one row per episode. ROW is a struct whose members of_episodes and
 * of_recording point to an array of episodes and to their recording (core/describe/column.h).
 */
#ifndef SF_ANALYSIS_EPISODE_COLUMNS_H
#define SF_ANALYSIS_EPISODE_COLUMNS_H

#include "core/describe/column.h"

SF_SHARED_GETTER(sf_episode_get_id);
SF_SHARED_GETTER(sf_episode_get_size);
SF_SHARED_GETTER(sf_episode_get_words);
SF_SHARED_GETTER(sf_episode_get_unit);
SF_SHARED_GETTER(sf_episode_get_name);
SF_SHARED_GETTER(sf_episode_get_delay);

/** Length of an array column: number of links for a list of delays, number of units for a list of units. */
bool sf_episode_length(const sf_column_row *column, const void *of, size_t row, size_t *length);

#define SF_OF_EPISODE(getter, of_episodes, of_recording)                                                     \
    .get = (getter), .member = offsetof(ROW, of_episodes), .within = offsetof(ROW, of_recording)
#define SF_EPISODE_IS(kind, column, getter, of_episodes, of_recording, ...)                                  \
    {                                                                                                        \
        .is = SF_WHAT_IS(kind, column, __VA_ARGS__), SF_OF_EPISODE(getter, of_episodes, of_recording)        \
    }
#define SF_EPISODE_HAS(kind, column, getter, of_episodes, of_recording, ...)                                 \
    {                                                                                                        \
        .is = SF_WHAT_LIST(kind, column, __VA_ARGS__), .length = sf_episode_length,                          \
        SF_OF_EPISODE(getter, of_episodes, of_recording)                                                     \
    }
#define SF_EPISODE_ID_IS(column, of_episodes, of_recording)                                                  \
    SF_EPISODE_IS(TEXT, column, sf_episode_get_id, of_episodes, of_recording,                                \
                  "16 digits that follow from names and delays: the same everywhere")
#define SF_EPISODE_WORDS_ARE(of_episodes, of_recording)                                                      \
    SF_EPISODE_IS(TEXT, "episode", sf_episode_get_words, of_episodes, of_recording,                          \
                  "A -(low,high]-> B: names, and delays in ms")
#define SF_EPISODE_UNITS_ARE(of_episodes, of_recording)                                                      \
    SF_EPISODE_HAS(UNIT, "units", sf_episode_get_unit, of_episodes, of_recording,                            \
                   "0-based indices into the units of the recording, in the order of the chain"),            \
        SF_EPISODE_HAS(TEXT, "names", sf_episode_get_name, of_episodes, of_recording,                        \
                       "the names of these units"),                                                          \
        SF_EPISODE_HAS(PAIR, "delays_ms", sf_episode_get_delay, of_episodes, of_recording,                   \
                       "of each link: above the first and at most the second", .unit = "ms")

#endif
