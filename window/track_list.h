/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Episodes to be tracked, sorted and spelt out as devices take them. It is made by whichever thread, ahead of
 * the hop that begins to track them.
 */
#ifndef SF_WINDOW_TRACK_LIST_H
#define SF_WINDOW_TRACK_LIST_H

#include "core/backend/tracks.h"

/** Zero-initialised, it is empty. */
typedef struct sf_track_list {
    sf_backend_track_list spelt; /**< owns its arrays */
    size_t *order;               /**< which of the caller's each is */
    int64_t reach_ns;            /**< no occurrence lasts longer */
} sf_track_list;

/** Opens a list of episodes that sf_episode_check accepts. SF_NO_MEMORY, SF_UNAVAILABLE where there are too
 * many. */
int sf_track_list_make(sf_track_list *list, const sf_episode *episodes, size_t count, sf_error *error);
void sf_track_list_free(sf_track_list *list);

/** known[i]: which of the list before episode i of the next one is, or SF_TRACK_NEW. */
void sf_track_list_find_known(uint32_t *known, const sf_track_list *next, const sf_track_list *before);

#endif
