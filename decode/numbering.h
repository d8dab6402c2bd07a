/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Detects lost and duplicate frames from the sequence numbers of a stream. A single corrupt number does not
 * cost a frame.
 *
 * The rule. The expected number is that of the last frame plus one.
 * - Any other number is doubted: its frame is read as if it had the expected number. If the next frame
 * continues from the doubted number, at most SF_NUMBERING_GAP ahead, the doubted number is accepted and the
 * frames between were lost. If the next frame has the number that is now expected, the doubted number was
 * corrupt.
 * - A number below the expected one is a duplicate: its frame is not read. After SF_NUMBERING_REPEATS
 * consecutive duplicates the sender has restarted its numbering, which is followed from there.
 * - Until one frame has continued from the first frame of a stream, lower numbers are doubted like higher
 * ones, and at most SF_NUMBERING_GAP frames count as lost, because the first number may have been corrupt.
 */
#ifndef SF_DECODE_NUMBERING_H
#define SF_DECODE_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

#define SF_NUMBERING_GAP (UINT64_C(1) << 20)
#define SF_NUMBERING_REPEATS 3

/** No memory of its own; one thread. */
typedef struct sf_numbering {
    uint64_t expected;
    bool followed;    /**< a frame has gone on from the first */
    bool doubting;    /**< the last number */
    uint64_t doubted; /**< the doubted number, or the last duplicate */
    unsigned repeats; /**< number of consecutive duplicates */
} sf_numbering;

/** What a number tells. */
typedef struct sf_numbered {
    bool read;     /**< the frame is to be read; otherwise it is a duplicate */
    bool broken;   /**< this number is a duplicate, or the number before it was corrupt */
    bool anew;     /**< the sender numbers anew from here */
    uint64_t gaps; /**< breaks that are certain now */
    uint64_t lost; /**< frames, in them */
} sf_numbered;

/** Joins a run at a frame of this number. */
void sf_numbering_begin(sf_numbering *numbering, uint64_t number);

/** `last`: no later frame can confirm the number, so it is accepted unless it is far ahead. */
sf_numbered sf_numbering_follow(sf_numbering *numbering, uint64_t number, bool last);

#endif
