/* SPDX-License-Identifier: Apache-2.0 */
/* Tracked episodes on the test plugin's devices: by the summaries of the CPU. */
#include "core/backend/tracks.h"
#include "core/error.h"
#include "core/memory.h"
#include "plugin/plugin.h"
#include "window/segment.h"

#include <unistd.h>

struct sf_backend_tracks {
    sf_backend_device *device;
    sf_episode *episodes;
    uint32_t *known;
    size_t count;
    sf_segment_scratch scratch;
};

struct sf_backend_table {
    sf_summary *summaries; /* of each episode */
    size_t count;
};

static void close_tracks(sf_backend_tracks *tracks)
{
    if (tracks == NULL) return;
    sf_segment_scratch_free(&tracks->scratch);
    sf_free(tracks->episodes);
    sf_free(tracks->known);
    sf_free(tracks);
}

static uint32_t size_of(const sf_backend_track_list *list, uint32_t e)
{
    uint32_t size = 1;
    while (list->of_size[size + 1] <= e)
        size++;
    return size;
}

static void spell(sf_episode *episode, const sf_backend_track_list *list, uint32_t e)
{
    *episode = (sf_episode){.size = size_of(list, e)};
    for (uint32_t n = 0; n < episode->size; n++) {
        size_t at = (size_t)n * list->count + e;
        episode->units[n] = list->units[at];
        if (n + 1 < episode->size) episode->delays[n] = (sf_delay){list->lows[at], list->highs[at]};
    }
}

static int open_tracks(sf_backend_tracks **opened, sf_backend_device *device,
                       const sf_backend_track_list *episodes, const uint32_t *known, sf_error *error)
{
    uint32_t count = episodes->count;
    *opened = NULL;
    sf_backend_tracks *tracks = sf_alloc(1, sizeof *tracks);
    if (tracks == NULL) return sf_fail_memory(error);
    tracks->device = device;
    tracks->count = count;
    tracks->episodes = sf_resize(NULL, count, sizeof *tracks->episodes);
    tracks->known = sf_resize(NULL, count, sizeof *known);
    if (tracks->episodes == NULL || tracks->known == NULL) {
        close_tracks(tracks);
        return sf_fail_memory(error);
    }
    for (uint32_t e = 0; e < count; e++) {
        spell(&tracks->episodes[e], episodes, e);
        tracks->known[e] = known[e];
    }
    *opened = tracks;
    return SF_OK;
}

static void close_table(sf_backend_tracks *tracks, sf_backend_table *table)
{
    (void)tracks;
    if (table == NULL) return;
    for (size_t i = 0; i < table->count; i++)
        sf_summary_free(&table->summaries[i]);
    sf_free(table->summaries);
    sf_free(table);
}

static int new_table(sf_backend_table **made, size_t count, sf_error *error)
{
    *made = sf_alloc(1, sizeof **made);
    if (*made == NULL) return sf_fail_memory(error);
    (*made)->summaries = sf_alloc(count, sizeof *(*made)->summaries);
    if ((*made)->summaries == NULL) {
        sf_free(*made);
        *made = NULL;
        return sf_fail_memory(error);
    }
    (*made)->count = count;
    return SF_OK;
}

/* An empty summary composes as the other does. */
static int copy(sf_summary *to, const sf_summary *from, sf_error *error)
{
    const sf_summary nothing = {.begin = from->end, .end = from->end};
    return sf_summary_compose(to, from, &nothing, error);
}

static int fill_trains(sf_trains *trains, const sf_backend_stream *stream, uint64_t origin, sf_error *error)
{
    const sf_events *events = &stream->events;
    int status = sf_trains_open(trains, events->unit_count, error);
    for (uint32_t i = 0; i < events->count && status == SF_OK; i++) {
        const sf_spike spike = {.time_ns = events->times[i], .unit = events->owner[i]};
        status = sf_trains_append(trains, &spike, 1, origin + i, error);
    }
    return status;
}

static int summarise_all(sf_backend_table *table, sf_backend_tracks *tracks, const sf_trains *trains,
                         const sf_backend_segment *segment, const sf_backend_table *before, sf_error *error)
{
    uint64_t begin = segment->origin + segment->first, end = segment->origin + segment->last;
    int status = SF_OK;
    for (size_t i = 0; i < tracks->count && status == SF_OK; i++) {
        sf_summary *own = &table->summaries[i];
        sf_summary_clear(own, begin, end);
        bool is_kept = before != NULL && tracks->known[i] != SF_TRACK_NEW;
        test_plugin_work_done.kept += is_kept;
        if (is_kept)
            status = copy(own, &before->summaries[tracks->known[i]], error);
        else if (trains != NULL)
            status =
                sf_segment_summarise(own, trains, &tracks->episodes[i], begin, end, &tracks->scratch, error);
    }
    return status;
}

static int summarise(sf_backend_table **made, sf_backend_tracks *tracks, sf_backend_stream *stream,
                     const sf_backend_segment *segment, const sf_backend_table *before, sf_error *error)
{
    sf_trains trains = {0};
    *made = NULL;
    test_plugin_work_done.counted++;
    if (test_plugin_work_done.wait_ms > 0) usleep(1000 * test_plugin_work_done.wait_ms);
    int status = test_begin_job(tracks->device, error);
    if (status == SF_OK && test_is_lost(tracks->device))
        status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (status == SF_OK) status = new_table(made, tracks->count, error);
    if (status == SF_OK && stream != NULL) status = fill_trains(&trains, stream, segment->origin, error);
    if (status == SF_OK)
        status = summarise_all(*made, tracks, stream != NULL ? &trains : NULL, segment, before, error);
    sf_trains_close(&trains);
    if (status != SF_OK) {
        close_table(tracks, *made);
        *made = NULL;
    }
    return status;
}

static int compose(sf_backend_table **made, sf_backend_tracks *tracks, const sf_backend_table *left,
                   const sf_backend_table *right, sf_error *error)
{
    int status = new_table(made, tracks->count, error);
    for (size_t i = 0; status == SF_OK && i < tracks->count; i++)
        status = sf_summary_compose(&(*made)->summaries[i], &left->summaries[i], &right->summaries[i], error);
    if (status != SF_OK) {
        close_table(tracks, *made);
        *made = NULL;
    }
    return status;
}

static int count(sf_backend_tracks *tracks, const sf_backend_table *const *tables, uint32_t table_count,
                 uint64_t from, uint32_t *counts, sf_error *error)
{
    (void)error;
    for (size_t i = 0; i < tracks->count; i++) {
        uint64_t entry = from;
        counts[i] = 0;
        for (uint32_t t = 0; t < table_count; t++) {
            sf_passage passed = sf_summary_pass(&tables[t]->summaries[i], entry);
            counts[i] += (uint32_t)passed.count;
            entry = passed.exit;
        }
    }
    return SF_OK;
}

const struct sf_backend_tracking test_tracking = {
    .open = open_tracks,
    .close = close_tracks,
    .summarise = summarise,
    .compose = compose,
    .close_table = close_table,
    .count = count,
};
