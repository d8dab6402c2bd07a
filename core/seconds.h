/* SPDX-License-Identifier: Apache-2.0 */
/** Times of a stream as people read them. */
#ifndef SF_CORE_SECONDS_H
#define SF_CORE_SECONDS_H

#include <stdint.h>

/** For one sentence: `sf_seconds_of(ns).text`. */
typedef struct sf_seconds {
    char text[32];
} sf_seconds;

/** In seconds, to the microsecond, or to nine digits where that is more: times of a clock that counts from
 * 1970 can be told apart as those of one that begins at 0. */
sf_seconds sf_seconds_of(int64_t ns);

#endif
