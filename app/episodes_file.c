/* SPDX-License-Identifier: Apache-2.0 */
/* Episodes of a file, as those of a recording. */
#include "app/mining.h"

#include "core/memory.h"
#include "live/episode_list.h"

int app_episodes_read(sf_episode **episodes, size_t *count, const char *path, const sf_recording *recording,
                      sf_error *error)
{
    sf_episode_list list;
    sf_error reason = {0};
    *episodes = NULL;
    *count = 0;
    int status = sf_episode_list_read(&list, path, error);
    if (status != SF_OK)
        return status;
    *episodes = sf_resize(NULL, list.count, sizeof **episodes);
    if (*episodes == NULL)
        status = sf_fail_memory(error);
    while (status == SF_OK && *count < list.count) {
        sf_episode *next = *episodes + *count;
        status = sf_recording_parse_episode(recording, list.items[*count].text, next, &reason);
        if (status == SF_OK)
            status = sf_recording_check_episode(recording, next, &reason);
        if (status != SF_OK)
            status = sf_episode_list_refuse(&list, *count, &reason, error);
        *count += status == SF_OK;
    }
    sf_episode_list_free(&list);
    if (status != SF_OK) {
        sf_free(*episodes);
        *episodes = NULL;
        *count = 0;
    }
    return status;
}
