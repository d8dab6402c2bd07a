/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What stands out most: the one order of episodes that tables, figures, files and messages have for people,
 * called `standing`. First what has a q of SF_SIGNIFICANT_Q or less, then what is folded under no other, then
 * what counts more than by chance, then the longer one, then the one furthest above chance.
 */
#ifndef SF_CORE_STANDING_H
#define SF_CORE_STANDING_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <synfire/mine.h>

/** About standard deviations: (count - expected) / sqrt(expected), with at least 1 for the root; an expected
 * count that is NaN is 0. */
static inline double sf_above_chance(uint64_t count, double expected)
{
    double by_chance = isnan(expected) ? 0 : expected;
    return ((double)count - by_chance) / sqrt(fmax(by_chance, 1));
}

/** Less than this many classes. */
#define SF_STANDING_CLASSES 128

/** The less, the sooner; of the same class what is further above chance. q may be NaN. above: as
 * sf_above_chance. */
static inline uint32_t sf_standing_class(double q, bool is_folded, double above, uint32_t size)
{
    return (q <= SF_SIGNIFICANT_Q ? 0 : SF_STANDING_CLASSES / 2) | (is_folded ? SF_STANDING_CLASSES / 4 : 0) |
           (above > 0 ? 0 : SF_STANDING_CLASSES / 8) | (SF_EPISODE_MAX_SIZE - size);
}

#endif
