/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The options of mining, of counting given episodes and of their tests, a row each (core/keys.h), and what
 * rows of other structs have in common with them (core/rows.h).
 */
#ifndef SF_MINE_ROWS_H
#define SF_MINE_ROWS_H

#include "core/rows.h"

#include <synfire/mine.h>

extern const sf_key_table sf_mining_table, sf_counting_table, sf_significance_table;

/** "auto" and the engines; NULL-terminated. */
extern const char *const sf_engine_words[];

#define SF_ROW_MAX_SIZE                                                                                      \
    .name = "max_size", .type = SF_KEY_WHOLE, .least = 2, .most = SF_EPISODE_MAX_SIZE, .argument = "N",      \
    .what = "units of the longest episodes to look for"
#define SF_ROW_REPEATS                                                                                       \
    .name = "repeats", .old = "self", .type = SF_KEY_SWITCH,                                                 \
    .what = "a unit may follow itself directly: A -> A (A -> B -> A is always allowed)"
#define SF_ROW_ENGINE                                                                                        \
    .name = "engine", .type = SF_KEY_TEXT, .words = sf_engine_words,                                         \
    .what = "how to count; the counts are the same"
#define SF_ROW_SURROGATES                                                                                    \
    .name = "surrogates", .type = SF_KEY_WHOLE, .least = 1, .most = 1000000, .argument = "N",                \
    .what = "how many surrogates"

#endif
