/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mining by the interval engine: `mine` of sf_engine_interval. Threads take first units as they come free;
 * the result does not depend on their number. Memory: 16 bytes for each spike and delay interval, lists along
 * one path of the search for each thread, and the tree.
 */
#ifndef SF_MINE_INTERVAL_SEARCH_H
#define SF_MINE_INTERVAL_SEARCH_H

#include "mine/engine.h"

int sf_interval_search(sf_tree *tree, double *seconds, const sf_mine_job *job, sf_error *error);

#endif
