/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes of a file, as those of a recording. */
#include "app/mining.h"

#include "core/memory.h"
#include "live/episode_list.h"

#include <string.h>

static int read_list(sf_episode **episodes, size_t *count, char *sha256, const char *path,
                     const sf_recording *recording, sf_error *error)
{
    sf_episode_list list;
    sf_error reason = {0};
    *episodes = NULL;
    *count = 0;
    int status = sf_episode_list_read(&list, path, error);
    if (status != SF_OK) return status;
    *episodes = sf_resize(NULL, list.count, sizeof **episodes);
    if (*episodes == NULL) status = sf_fail_memory(error);
    while (status == SF_OK && *count < list.count) {
        sf_episode *next = *episodes + *count;
        status = sf_recording_parse_episode(recording, list.items[*count].text, next, &reason);
        if (status == SF_OK) status = sf_recording_check_episode(recording, next, &reason);
        if (status != SF_OK) status = sf_episode_list_refuse(&list, *count, &reason, error);
        *count += status == SF_OK;
    }
    memcpy(sha256, list.sha256, sizeof list.sha256);
    sf_episode_list_free(&list);
    if (status != SF_OK) {
        sf_free(*episodes);
        *episodes = NULL;
        *count = 0;
    }
    return status;
}

int app_episodes_read(sf_episode **episodes, size_t *count, const char *path, const sf_recording *recording,
                      sf_error *error)
{
    char sha256[APP_SHA256];
    return read_list(episodes, count, sha256, path, recording, error);
}

int app_registered_read(sf_episode **episodes, size_t *count, char sha256[APP_SHA256], const char *path,
                        const sf_recording *recording, sf_error *error)
{
    int status = read_list(episodes, count, sha256, path, recording, error);
    if (status != SF_OK || sha256[0] != '\0') return status;
    sf_free(*episodes);
    *episodes = NULL;
    return sf_fail(error, SF_USAGE, "--registered",
                   "found an episode, expected a file that was written before");
}
