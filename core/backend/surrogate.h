/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Surrogate spike trains: where each spike moves, the same on the CPU and on GPUs, to the nanosecond.
 *
 *   segment-shift  the trains of a segment move as wholes: one offset for each train, segment and surrogate.
 *                  A spike belongs to the segment it was fired in.
 *   jitter         interval jitter: time is cut into intervals 2 * width long, and each spike is placed anew,
 *                  uniformly, in the interval it was fired in.
 *   shift          each train moves as a whole: one offset for each train and surrogate.
 *   dither, joint-isi
 *                  spikes that look at their neighbours: whole trains, on the CPU alone (mine/dither.h).
 *   displaced      no test but a measure for one (mine/surrogate_blur.h): each train moves as a whole, by
 *                  width in even surrogates and by -width in odd ones.
 *
 * Offsets of segment-shift are the difference of two numbers that are uniform on 0 .. width, so that none is
 * beyond -width .. +width and few are near it. Where segments meet is drawn for each train and surrogate, so
 * that no seam comes twice, and p depends on none. What was recorded, with offset 0, lies in the middle of
 * such surrogates, nearer to all of them than they are to each other: mine/surrogate_scatter.h says by how
 * much, and a count is judged accordingly. (An interval around 0 that is drawn once for each segment would
 * make it one of the surrogates, and p exact with each such placement; but z would be another by 0.4 with
 * another placement, and z of the same link an eighth less.)
 *
 * Offsets of shift are uniform on an interval `width` long that holds 0; where it lies around 0 is drawn once
 * for each train. So what was recorded is one of the surrogates that might have been drawn, which one
 * offset for a whole train needs: there are no segments over which anything would average.
 *
 * Segments and intervals are counted from time 0, the first spike of the recording as selected, less what is
 * drawn for the seams. Nothing is cut off or wrapped around: a spike may move before time 0 or beyond the
 * recording's end, by `width` at most, and stays in its train. Spikes of a train may change their order where
 * two segments meet or in an interval, and may come to lie at the same instant; whoever uses the train sorts
 * it by time, and within one instant by unit. The dead time of a unit is kept except where two segments meet,
 * and by jitter nowhere.
 *
 * What is drawn depends on the seed and on who draws, not on when: the key of the random numbers is the seed,
 * their counter is made of the kind, the surrogate, the train and its segment (jitter: the spike's number in
 * the train; seams: UINT32_MAX). Integers only, so no mathematics library has a say.
 */
#ifndef SF_CORE_BACKEND_SURROGATE_H
#define SF_CORE_BACKEND_SURROGATE_H

#include "core/random.h"

typedef enum sf_surrogate_kind {
    SF_SURROGATE_SEGMENT_SHIFT = 1,
    SF_SURROGATE_JITTER = 2,
    SF_SURROGATE_SHIFT = 3,
    SF_SURROGATE_DISPLACED = 4,
    SF_SURROGATE_DITHER = 5,
    SF_SURROGATE_JOINT_ISI = 6
} sf_surrogate_kind;

typedef struct sf_surrogate_rule {
    sf_surrogate_kind kind;
    int64_t width_ns;   /**< 1 .. 2^61 */
    int64_t segment_ns; /**< segment-shift: 1 or more, and fewer than 2^32 - 1 segments in the recording */
    uint64_t seed;
} sf_surrogate_rule;

/** limit * bits / 2^64, rounded down: 0 .. limit - 1, equally likely up to one part in 2^64 / limit. */
SF_RANDOM_INLINE uint64_t sf_surrogate_below(uint64_t bits, uint64_t limit)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(bits, limit);
#else
    return (uint64_t)(((unsigned __int128)bits * limit) >> 64);
#endif
}

/** 64 bits, twice, for a part of a train, by itself or (surrogate UINT32_MAX) for all surrogates. */
SF_RANDOM_INLINE void sf_surrogate_draw(uint64_t words[2], const sf_surrogate_rule *rule, uint32_t surrogate,
                                        uint32_t train, uint32_t part)
{
    /* The top bit keeps these numbers apart from those of a simulation with the same seed. */
    uint64_t stream = UINT64_C(1) << 63 | (uint64_t)rule->kind << 32 | surrogate;
    sf_random_block(words, rule->seed, stream, (uint64_t)train << 32 | part);
}

/** How long before time 0 a train's first segment begins: 0 .. segment_ns - 1. Trains that move as wholes
 * have one segment. */
SF_RANDOM_INLINE int64_t sf_surrogate_seam(const sf_surrogate_rule *rule, uint32_t surrogate, uint32_t train)
{
    if (rule->kind != SF_SURROGATE_SEGMENT_SHIFT) return 0;
    uint64_t words[2];
    sf_surrogate_draw(words, rule, surrogate, train, UINT32_MAX);
    return (int64_t)sf_surrogate_below(words[0], (uint64_t)rule->segment_ns);
}

/** The segment of a spike fired at time_ns >= 0, of a train with this seam. */
SF_RANDOM_INLINE uint32_t sf_surrogate_segment(const sf_surrogate_rule *rule, int64_t seam_ns,
                                               int64_t time_ns)
{
    return rule->kind == SF_SURROGATE_SEGMENT_SHIFT ? (uint32_t)((time_ns + seam_ns) / rule->segment_ns) : 0;
}

/** All kinds but jitter: how far a train's segment moves. */
SF_RANDOM_INLINE int64_t sf_surrogate_offset(const sf_surrogate_rule *rule, uint32_t surrogate,
                                             uint32_t train, uint32_t segment)
{
    if (rule->kind == SF_SURROGATE_DISPLACED) return surrogate % 2 == 0 ? rule->width_ns : -rule->width_ns;
    uint64_t places = (uint64_t)rule->width_ns + 1, own[2], common[2];
    sf_surrogate_draw(own, rule, surrogate, train, segment);
    if (rule->kind == SF_SURROGATE_SEGMENT_SHIFT)
        return (int64_t)sf_surrogate_below(own[1], places) - (int64_t)sf_surrogate_below(own[0], places);
    sf_surrogate_draw(common, rule, UINT32_MAX, train, segment);
    return (int64_t)sf_surrogate_below(common[0], places) - (int64_t)sf_surrogate_below(own[0], places);
}

/**
 * All kinds but dither and joint-isi: where spike `number` (0-based, by time) of train `train` goes, fired at
 * `time_ns` >= 0: ns since time 0, not below -width_ns. `train` is the unit's index in the recording, so that
 * a selection of units changes no other train's surrogates. `surrogate` counts from 0 and is below 2^32 - 1.
 */
SF_RANDOM_INLINE int64_t sf_surrogate_time(const sf_surrogate_rule *rule, uint32_t surrogate, uint32_t train,
                                           uint32_t number, int64_t time_ns)
{
    if (rule->kind == SF_SURROGATE_JITTER) {
        uint64_t interval = 2 * (uint64_t)rule->width_ns, words[2];
        sf_surrogate_draw(words, rule, surrogate, train, number);
        return time_ns - (int64_t)((uint64_t)time_ns % interval) +
               (int64_t)sf_surrogate_below(words[0], interval);
    }
    uint32_t segment = sf_surrogate_segment(rule, sf_surrogate_seam(rule, surrogate, train), time_ns);
    return time_ns + sf_surrogate_offset(rule, surrogate, train, segment);
}

#endif
