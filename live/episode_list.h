/* SPDX-License-Identifier: Apache-2.0 */
/** Episodes that were written down. Errors are as in synfire/synfire.h; one object from one thread at a time.
 */
#ifndef SF_LIVE_EPISODE_LIST_H
#define SF_LIVE_EPISODE_LIST_H

#include <synfire/error.h>

typedef struct sf_listed_episode {
    char *text;    /**< as sf_recording_parse_episode reads it */
    size_t number; /**< its line, from 1; or its index among the episodes of a result */
} sf_listed_episode;

typedef struct sf_episode_list {
    sf_listed_episode *items;
    size_t count, capacity;
    const char *path; /**< borrowed */
    bool is_result;   /**< the file was the --json document of a command */
    char sha256[65];  /**< of the file, in hexadecimal; "" for an episode that is no file */
} sf_episode_list;

/**
 * Reads a file of episodes: one per line, as text or as a JSON object of `units`, `names` and `delays_ms`, or
 * the whole document of a command whose JSON has `episodes`. Lines that begin with # and a blank are skipped.
 * Units in JSON are found by `names`, because another recording may have another order; without names by
 * index. If path is an episode instead of a file, it is read as such. The place of an error is FILE:LINE, or
 * FILE: episodes[N]. Free with sf_episode_list_free. SF_DATA, SF_NO_INPUT.
 */
int sf_episode_list_read(sf_episode_list *list, const char *path, sf_error *error);
void sf_episode_list_free(sf_episode_list *list);

/** Reports why a recording or a run refused episode i, with the place of that episode; `reason` may be
 * `error`. */
int sf_episode_list_refuse(const sf_episode_list *list, size_t i, const sf_error *reason, sf_error *error);

#endif
