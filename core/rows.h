/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the rows of several structs have in common: all of a row (core/keys.h) but the place of its member.
 * {SF_ROW_THREADS, .offset = offsetof(sf_mining_options, threads)}
 */
#ifndef SF_CORE_ROWS_H
#define SF_CORE_ROWS_H

#include "core/keys.h"

#include <math.h>

#define SF_ROW_MIN_DISTANCE                                                                                  \
    .name = "min_distance_um", .type = SF_KEY_REAL, .least = 0, .most = 1e9, .argument = "UM",               \
    .what = "units closer than this on the array do not follow each other; 0: any do"
#define SF_ROW_DEVICE                                                                                        \
    .name = "device", .type = SF_KEY_TEXT, .zero = "a GPU for large jobs", .argument = "NAME",               \
    .what = "where: cpu, cuda, cuda:1 (the second GPU), cuda:all (divided among all GPUs) or auto"
#define SF_ROW_THREADS                                                                                       \
    .name = "threads", .type = SF_KEY_WHOLE, .least = 1, .most = 4096, .zero = "all cores", .argument = "N", \
    .what = "threads"
#define SF_ROW_SEED .name = "seed", .type = SF_KEY_COUNT, .least = 0, .most = INFINITY, .argument = "N"
#define SF_ROW_MAX_Q                                                                                         \
    .name = "max_q", .type = SF_KEY_REAL, .least = 0, .most = 1, .zero = "any", .argument = "Q",             \
    .what = "tell only of what has a q of Q or less: of what a test left standing, 0.05 as a rule"
#define SF_ROW_MAX_P                                                                                         \
    .name = "max_p", .type = SF_KEY_REAL, .least = 0, .most = 1, .zero = "any", .argument = "P",             \
    .what = "tell only of what has a p of P or less. It is uncorrected for how much was looked at, and "     \
            "what is listed was selected by the threshold: of unlinked pairs among it more than a share of " \
            "P passes. --max-q corrects for both"

#endif
