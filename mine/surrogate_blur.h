/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What segment-shift takes off a count that is no link. Where units share bursts, the count falls off with
 * the distance d by which one train is displaced against the rest, near 0 as c(0) - k d^2 / 2, linked or not.
 * The offsets of segment-shift are differences of two numbers that are uniform on 0 .. w
 * (core/backend/surrogate.h): their mean square is w^2 / 6, so in surrogates the blurred bursts make k w^2 /
 * 12 occurrences less than recorded. Trains displaced as wholes by D and by -D tell k: with their counts c(D)
 * and c(-D) blur = (c(0) - (c(D) + c(-D)) / 2) (w / D)^2 / 6. D = 3 w is beyond all delays, so that of a link
 * itself 1 / 54 is taken for blur, and within bursts of a sigma of twice the width or more. Of sharper bursts
 * shifting takes more off than one in 6 (D / w)^2 = 54 parts: mine/sharpness.h measures how much.
 */
#ifndef SF_MINE_SURROGATE_BLUR_H
#define SF_MINE_SURROGATE_BLUR_H

#include "mine/surrogate_run.h"

/** An observed count less its blur, where the trains displaced both ways count so much together. */
uint32_t sf_surrogate_without_blur(uint32_t observed, uint64_t displaced, double divisor);

/**
 * Lowers the observed counts of a side whose rule is segment-shift by their blur, rounded: one in `divisor`
 * parts of c(0) - c(3 w); a count that rises with the distance is raised. Counts two surrogates; devices and
 * errors as in sf_surrogate_run.
 */
int sf_surrogate_blur_take_off(sf_surrogate_side *side, double divisor, sf_choice *choice, unsigned threads,
                               sf_error *error);

#endif
