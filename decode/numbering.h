/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the sequence numbers of a stream's frames tell: which frames were lost, and which came twice. One
 * broken number costs no frame.
 *
 * The rule. Expected is the number after that of the last frame.
 * - Another number is doubted: its frame is read as the one that was expected. Where the next frame has a
 *   number after it, at most SF_NUMBERING_GAP later, the doubted one is believed: the frames between were
 *   lost. Where it has the number that is expected now, the doubted one was broken.
 * - A number under the expected one was there before: its frame is not read. After SF_NUMBERING_REPEATS of
 *   them that go on from each other the sender numbers anew, and is followed from there.
 * - Until a frame has gone on from the one that a stream was joined by, lower numbers are doubted as those
 *   ahead are, and no more than SF_NUMBERING_GAP frames are taken for lost: the first may have been broken.
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
    uint64_t doubted; /**< it, or the last that was there before */
    unsigned repeats; /**< frames in a row that were there before */
} sf_numbering;

/** What a number tells. */
typedef struct sf_numbered {
    bool read;     /**< the frame is to be read; otherwise it was there before */
    bool broken;   /**< this number was there before, or the one before it was broken */
    bool anew;     /**< the sender numbers anew from here */
    uint64_t gaps; /**< breaks that are certain now */
    uint64_t lost; /**< frames, in them */
} sf_numbered;

/** A run is joined by a frame of this number. */
void sf_numbering_begin(sf_numbering *numbering, uint64_t number);

/** `last`: no frame follows that could go on from it, so that it is believed where it is not far ahead. */
sf_numbered sf_numbering_follow(sf_numbering *numbering, uint64_t number, bool last);

#endif
