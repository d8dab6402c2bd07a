/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/watched.h"

#include "core/episode.h"
#include "pipeline/options.h"

#include <stdio.h>

static bool has_episode(const sf_live_trigger *trigger)
{
    return trigger->on == SF_LIVE_ON_EPISODE;
}

size_t sf_watched_count(const sf_live_options *config)
{
    size_t count = config->watch_count;
    for (uint32_t i = 0; i < config->trigger_count; i++)
        count += has_episode(&config->triggers[i]);
    return count;
}

static int parse(sf_watched *watched, const char *text, const char *key, const sf_units *units,
                 sf_error *error)
{
    sf_error reason;
    if (sf_episode_parse(&watched->episode, text, units, &reason) == SF_OK) return SF_OK;
    return sf_live_refuse(key, error, "%s: %s", reason.place, reason.text);
}

int sf_watched_parse(sf_watched *watched, const sf_live_options *config, const sf_units *units,
                     sf_error *error)
{
    int status = SF_OK;
    char key[48];
    for (uint32_t i = 0; i < config->watch_count && status == SF_OK; i++) {
        snprintf(key, sizeof key, "watch.%u", i);
        watched->name = config->watch[i];
        watched->trigger = UINT32_MAX;
        status = parse(watched++, config->watch[i], key, units, error);
    }
    for (uint32_t i = 0; i < config->trigger_count && status == SF_OK; i++) {
        if (!has_episode(&config->triggers[i])) continue;
        snprintf(key, sizeof key, "triggers.%u.episode", i);
        watched->name = config->triggers[i].name;
        watched->trigger = i;
        status = parse(watched++, config->triggers[i].episode, key, units, error);
    }
    return status;
}
