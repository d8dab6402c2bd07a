/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of all pairs on the test plugin's devices: the chains that GPUs have, one after the other. */
#include "core/backend/pairs.h"
#include "core/error.h"
#include "core/memory.h"
#include "mine/shared/pair_chain.h"
#include "plugin/plugin.h"

#include <string.h>
#include <unistd.h>

struct sf_backend_pairs {
    sf_backend_device *device;
    uint32_t units, delay_count;
    sf_delay *delays;
    bool self;
    sf_pair_chain *chains;
    bool *left; /* by pair: the call before did not tell its count */
    uint32_t *since;
    int64_t *across_times; /* of the stretch at hand, as GPUs have it, now and then */
    uint32_t *across_positions;
};

static size_t chain_count(const sf_backend_pairs *p)
{
    return (size_t)p->delay_count * p->units * p->units;
}

static void close_pairs(sf_backend_pairs *pairs)
{
    if (pairs == NULL) return;
    sf_free(pairs->delays);
    sf_free(pairs->chains);
    sf_free(pairs->left);
    sf_free(pairs->since);
    sf_free(pairs->across_times);
    sf_free(pairs->across_positions);
    sf_free(pairs);
}

static int open_pairs(sf_backend_pairs **opened, sf_backend_device *device, uint32_t unit_count,
                      const sf_delay *delays, uint32_t delay_count, bool self, sf_error *error)
{
    *opened = NULL;
    sf_backend_pairs *p = sf_alloc(1, sizeof *p);
    if (p == NULL) return sf_fail_memory(error);
    *p = (sf_backend_pairs){.device = device, .units = unit_count, .delay_count = delay_count, .self = self};
    p->delays = sf_resize(NULL, delay_count, sizeof *delays);
    p->chains = sf_alloc(chain_count(p), sizeof *p->chains);
    p->left = sf_alloc(chain_count(p), sizeof *p->left);
    p->since = sf_alloc(unit_count, sizeof *p->since);
    if (p->delays == NULL || p->chains == NULL || p->left == NULL || p->since == NULL) {
        close_pairs(p);
        return sf_fail_memory(error);
    }
    memcpy(p->delays, delays, delay_count * sizeof *delays);
    *opened = p;
    return SF_OK;
}

/* The first spikes of all units, the second ones, and so on. */
static int lay_across(sf_pair_view *v, sf_backend_pairs *p, const sf_events *events, sf_error *error)
{
    uint32_t longest = 0;
    for (uint32_t u = 0; u < p->units; u++)
        if (events->first[u + 1] - events->first[u] > longest)
            longest = events->first[u + 1] - events->first[u];
    size_t count = (size_t)longest * p->units;
    int64_t *times = sf_resize(p->across_times, count, sizeof *times);
    p->across_times = times != NULL ? times : p->across_times;
    uint32_t *positions = sf_resize(p->across_positions, count, sizeof *positions);
    p->across_positions = positions != NULL ? positions : p->across_positions;
    if (times == NULL || positions == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < p->units; u++)
        for (uint32_t place = events->first[u]; place < events->first[u + 1]; place++) {
            size_t at = (size_t)(place - events->first[u]) * p->units + u;
            times[at] = events->unit_times[place];
            positions[at] = events->positions[place];
        }
    v->across_times = times;
    v->across_positions = positions;
    v->stride = p->units;
    return SF_OK;
}

static int begin(sf_pair_view *v, sf_backend_pairs *p, const sf_backend_stream *stream,
                 const sf_backend_segment *segment, sf_error *error)
{
    const sf_events *events = &stream->events;
    int status = test_begin_job(p->device, error);
    if (status == SF_OK && test_is_lost(p->device))
        status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (test_plugin_work_done.wait_ms > 0) usleep(1000 * test_plugin_work_done.wait_ms);
    test_plugin_work_done.counted++;
    for (uint32_t u = 0; u < p->units; u++) {
        p->since[u] = events->first[u];
        while (p->since[u] < events->first[u + 1] && events->positions[p->since[u]] < segment->first)
            p->since[u]++;
    }
    *v = (sf_pair_view){.times = events->unit_times,
                        .first = events->first,
                        .positions = events->positions,
                        .since = p->since,
                        .begin = segment->first,
                        .origin = (uint32_t)segment->origin};
    return status == SF_OK && events->count % 2 == 0 ? lay_across(v, p, events, error) : status;
}

static int enter(sf_backend_pairs *p, sf_backend_stream *stream, const sf_backend_segment *segment,
                 sf_error *error)
{
    sf_pair_view v;
    int status = begin(&v, p, stream, segment, error);
    for (size_t i = 0; status == SF_OK && i < chain_count(p); i++) {
        uint32_t to = (uint32_t)(i % p->units), from = (uint32_t)(i / p->units % p->units);
        if (from != to || p->self)
            sf_pair_enter(&p->chains[i], &v, p->delays[i / p->units / p->units], from, to);
    }
    return status;
}

static int leave(sf_backend_pairs *p, sf_backend_stream *stream, const sf_backend_segment *segment, bool rest,
                 bool whole, uint64_t *left, sf_error *error)
{
    sf_pair_view v;
    int status = begin(&v, p, stream, segment, error);
    *left = 0;
    for (size_t i = 0; status == SF_OK && i < chain_count(p); i++) {
        uint32_t to = (uint32_t)(i % p->units), from = (uint32_t)(i / p->units % p->units);
        if (p->chains[i].count == 0 || (rest && !p->left[i])) continue;
        p->left[i] = !sf_pair_leave(&p->chains[i], &v, p->delays[i / p->units / p->units], from, to, whole);
        *left += p->left[i];
    }
    return status;
}

static int find(sf_backend_pairs *p, uint32_t least, sf_backend_pair *found, uint64_t most, uint64_t *count,
                sf_error *error)
{
    (void)error;
    *count = 0;
    for (size_t i = 0; i < chain_count(p); i++) {
        if (p->chains[i].count < least) continue;
        if (*count < most)
            found[*count] = (sf_backend_pair){(uint32_t)(i / p->units % p->units), (uint32_t)(i % p->units),
                                              (uint32_t)(i / p->units / p->units), p->chains[i].count};
        ++*count;
    }
    return SF_OK;
}

const struct sf_backend_pair_counting test_pairs = {
    .open = open_pairs, .close = close_pairs, .enter = enter, .leave = leave, .find = find};
