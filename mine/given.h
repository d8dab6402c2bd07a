/* SPDX-License-Identifier: Apache-2.0 */
/** Episodes that were named before their counts were known, laid out for a test as mining lays out those it
 * finds. */
#ifndef SF_MINE_GIVEN_H
#define SF_MINE_GIVEN_H

#include "mine/mine.h"

/**
 * Counts these episodes, which sf_episode_check accepts, and every part of them, and makes a result of them
 * whose item i is episode i. *mining becomes the options that sf_significance_test asks for beside it: its
 * delays are all that occur in the episodes, and live as long as the result. A test of it has to be told
 * found_only: nothing was searched; q corrects for these episodes and the links of the chains among them.
 * SF_NO_MEMORY, SF_DATA, SF_CANCELLED.
 */
int sf_mine_given(sf_mine_result **result, sf_mining_options *mining, const sf_mine_input *input,
                  const sf_episode *episodes, size_t count, unsigned threads, const sf_progress *progress,
                  sf_error *error);

#endif
