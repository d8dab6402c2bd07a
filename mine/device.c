/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/device.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <string.h>

/* A level on its way from the device to the tree. */
typedef struct receiver {
    const sf_mine_job *job;
    sf_tree *tree;
    double *seconds;
    size_t total;
    sf_error *error;
} receiver;

/* Spikes within a delay that one core looks at in a second. */
#define PAIRS_A_SECOND 2.5e8

double sf_mine_cpu_seconds(const sf_mine_job *job)
{
    const sf_events *events = job->events;
    if (events->count < 2)
        return 0;
    double spikes = events->count, span = (double)events->times[events->count - 1] + 1, inside = 0;
    for (uint32_t d = 0; d < job->delay_count; d++)
        inside += (double)(job->delays[d].high_ns - job->delays[d].low_ns) / span;
    return spikes * spikes * inside / PAIRS_A_SECOND / (job->threads > 0 ? job->threads : 1);
}

int sf_device_choose(sf_device **device, const char *name, sf_operation operation, const sf_engine *engine,
                     double cpu_seconds, sf_error *error)
{
    *device = NULL;
    if (name == NULL || strcmp(name, "auto") == 0) {
        *device = sf_device_auto(cpu_seconds);
        if (!sf_device_supports(*device, operation, engine->name))
            *device = NULL;
        return SF_OK;
    }
    int status = sf_device_find(device, name, error);
    if (status != SF_OK || *device == NULL || sf_device_supports(*device, operation, engine->name))
        return status;
    const char *full_name = sf_device_name(*device);
    *device = NULL;
    return sf_fail(error, SF_USAGE, NULL, "the engine %s does not run on %s: choose another, or cpu",
                   engine->name, full_name);
}

sf_stream sf_events_stream(const sf_events *events)
{
    return (sf_stream){.unit_count = events->unit_count,
                       .count = events->count,
                       .times = events->times,
                       .owner = events->owner,
                       .first = events->first,
                       .positions = events->positions};
}

/* The pairs that are too close to each other, as bits; NULL in *bits: none is. */
static int forbid(uint32_t **bits, const sf_pair_rule *rule, uint32_t units, sf_error *error)
{
    *bits = NULL;
    if (rule->min_distance_um <= 0)
        return SF_OK;
    size_t words = (units + 31) / 32;
    sf_pair_rule near = *rule;
    near.self = true; /* the backend knows that rule itself */
    *bits = sf_alloc(words * units, sizeof **bits);
    if (*bits == NULL)
        return sf_fail_memory(error);
    for (uint32_t from = 0; from < units; from++)
        for (uint32_t to = 0; to < units; to++)
            if (!sf_pair_allowed(&near, from, to))
                (*bits)[from * words + to / 32] |= UINT32_C(1) << (to & 31);
    return SF_OK;
}

static int take_level(void *user, uint32_t size, const sf_found *found, size_t count, double seconds)
{
    receiver *to = user;
    sf_level *level = &to->tree->levels[size - 1];
    to->seconds[size] = seconds;
    to->total += count;
    if (to->total > to->job->most)
        return sf_fail(to->error, SF_DATA, NULL,
                       "more than %zu episodes are frequent: ask for a higher threshold, fewer or narrower "
                       "delays, or a smaller size",
                       to->job->most);
    for (size_t i = 0; i < count; i++)
        if (sf_level_append(level, found[i].parent, found[i].step, found[i].count) != SF_OK)
            return sf_fail_memory(to->error);
    return sf_tree_link(to->tree, size, to->error);
}

static void forget_levels(sf_tree *tree)
{
    for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE; size++) {
        sf_free(tree->levels[size - 1].nodes);
        tree->levels[size - 1] = (sf_level){0};
    }
}

int sf_mine_on_device(sf_device *device, const sf_engine *engine, sf_tree *tree, double *seconds,
                      const sf_mine_job *job, sf_error *error)
{
    sf_error own; /* of the levels taken, which the backend does not know */
    receiver to = {.job = job, .tree = tree, .seconds = seconds, .error = &own};
    own.code = SF_OK;
    sf_stream spikes = sf_events_stream(job->events);
    sf_device_stream *stream = NULL;
    uint32_t *forbidden;
    int status = forbid(&forbidden, &job->pairs, spikes.unit_count, error);
    if (status == SF_OK)
        status = sf_device_stream_open(&stream, device, &spikes, error);
    if (status == SF_OK) {
        sf_backend_mine request = {.engine = engine->name,
                                   .delays = job->delays,
                                   .delay_count = tree->delay_count,
                                   .least = job->least,
                                   .max_size = job->max_size,
                                   .most = job->most,
                                   .self = job->pairs.self,
                                   .forbidden = forbidden,
                                   .progress = job->progress,
                                   .take = take_level,
                                   .user = &to};
        status = sf_device_mine(stream, &request, error);
    }
    sf_device_stream_close(stream);
    sf_free(forbidden);
    if (own.code != SF_OK && status == (int)own.code && error != NULL)
        *error = own;
    if (status != SF_OK)
        forget_levels(tree);
    return status;
}
