/* SPDX-License-Identifier: Apache-2.0 */
/* Files of episodes that a configuration names among those to track or to watch. */
#include "live/config.h"

#include "core/error.h"
#include "core/memory.h"
#include "live/episode_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_EPISODES 100000 /* as of the keys track and watch */

/* One of the lists of the configuration, which owns its texts. */
typedef struct texts {
    char **items;
    uint32_t count;
} texts;

/* Takes the texts out of `from`, and puts them in the place of item `at`, or behind the last. */
static int insert(texts *to, uint32_t at, sf_episode_list *from, sf_error *error)
{
    bool replaces = at < to->count;
    size_t rest = to->count - at - replaces, count = to->count - replaces + from->count;
    if (count > MOST_EPISODES)
        return sf_fail(error, SF_CONFIG, from->path, "comes to %zu episodes, at most %d are taken", count,
                       MOST_EPISODES);
    char **items = sf_resize(to->items, count + 1, sizeof *items);
    if (items == NULL) return sf_fail_memory(error);
    if (replaces) sf_free(items[at]);
    memmove(items + at + from->count, items + at + replaces, rest * sizeof *items);
    for (size_t i = 0; i < from->count; i++) {
        items[at + i] = from->items[i].text;
        from->items[i].text = NULL;
    }
    to->items = items;
    to->count = (uint32_t)count;
    return SF_OK;
}

static int insert_file(texts *to, uint32_t at, const char *path, sf_error *error)
{
    sf_episode_list list;
    int status = sf_episode_list_read(&list, path, error);
    if (status != SF_OK) return status;
    status = insert(to, at, &list, error);
    sf_episode_list_free(&list);
    return status;
}

/* Backwards, so that the numbers of what stands before stay. */
static int expand(const sf_config *config, const char *key, texts *list, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = list->count; status == SF_OK && i-- > 0;) {
        if (list->items[i][0] != '@') continue;
        sf_error reason;
        char place[32], *path = sf_copy_string(list->items[i] + 1);
        snprintf(place, sizeof place, "%s.%" PRIu32, key, i);
        status = path != NULL ? insert_file(list, i, path, &reason) : sf_fail_memory(&reason);
        sf_free(path);
        if (status != SF_OK)
            status = sf_config_refuse(config, place, error, "%s: %s", reason.place, reason.text);
    }
    return status;
}

int sf_config_read_episodes(sf_config *config, const char *watched, sf_error *error)
{
    sf_live_options *live = &config->live;
    texts track = {(char **)live->track, live->track_count},
          watch = {(char **)live->watch, live->watch_count};
    int status = expand(config, "track", &track, error);
    if (status == SF_OK) status = expand(config, "watch", &watch, error);
    if (status == SF_OK && watched != NULL) status = insert_file(&watch, watch.count, watched, error);
    live->track = (const char *const *)track.items;
    live->track_count = track.count;
    live->watch = (const char *const *)watch.items;
    live->watch_count = watch.count;
    return status;
}
