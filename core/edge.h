/* SPDX-License-Identifier: Apache-2.0 */
/** A directed edge between vertices counted from 0. */
#ifndef SF_CORE_EDGE_H
#define SF_CORE_EDGE_H

#include <stdint.h>

typedef struct sf_edge {
    uint32_t from, to;
} sf_edge;

#endif
