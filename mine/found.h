/* SPDX-License-Identifier: Apache-2.0 */
/** What the items of a mining result refer to: for the module's own files. */
#ifndef SF_MINE_FOUND_H
#define SF_MINE_FOUND_H

#include "mine/tree.h"

#include <synfire/mine.h>

typedef struct sf_mine_found {
    sf_tree tree;
    uint32_t *units; /**< by unit of the tree: index in the recording */
    sf_delay *delays;
    /** [size - 1][node], or NULL of all sizes: which nodes are items; the others are parts of these */
    bool *asked[SF_EPISODE_MAX_SIZE];
    /** By node of size 2: q of the pair by the last test by surrogates, NaN where it was not tested; or NULL
     */
    double *pair_q;
} sf_mine_found;

#endif
