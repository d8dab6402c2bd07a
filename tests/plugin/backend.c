/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin without a device, for tests: its devices do their work by the engines of the CPU, and each has a
 * character, a letter below. The variable TEST_PLUGIN_DEVICES says which there are.
 */
#include "core/backend/window.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/packed_spikes.h"
#include "mine/engine.h"
#include "plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WORKS = 'w',
    IS_LOST = 'l', /* in the middle of its second job */
    DIES = 'd',    /* in the middle of its first */
    REFUSES = 'r', /* every job as too large */
    IS_BROKEN = 'b',
    IS_SMALL = 's',     /* mines from one first unit at a time, and lays nothing out */
    LOSES_WINDOWS = 'v' /* is lost while spikes are appended */
};

test_plugin_work test_plugin_work_done;

static const char *devices(void)
{
    const char *asked = getenv("TEST_PLUGIN_DEVICES");
    return asked != NULL ? asked : "wlrbsv";
}

#define APPENDS_UNTIL_LOST 12

static uint32_t device_count(char *why, size_t size)
{
    snprintf(why, size, "there are some");
    return (uint32_t)strlen(devices());
}

static int open_device(sf_backend_device **device, uint32_t index, uint64_t memory_limit, sf_error *error)
{
    if (devices()[index] == IS_BROKEN) return sf_fail(error, SF_IO, NULL, "it does not start");
    *device = sf_alloc(1, sizeof **device);
    if (*device == NULL) return sf_fail_memory(error);
    (*device)->index = index;
    (*device)->memory_limit = memory_limit;
    (*device)->character = devices()[index];
    return SF_OK;
}

static void close_device(sf_backend_device *device)
{
    sf_free(device);
}

static void facts(const sf_backend_device *device, sf_backend_facts *facts)
{
    snprintf(facts->description, sizeof facts->description, "test device %u", device->index);
    facts->memory_limit = device->memory_limit;
    facts->memory_peak = TEST_JOB_BYTES;
}

static bool supports(const sf_backend_device *device, sf_operation operation, const char *engine)
{
    (void)device;
    return strcmp(engine, "interval") == 0 ||
           (strcmp(engine, "hybrid") == 0 && operation == SF_OPERATION_COUNT);
}

static void stream_close(sf_backend_stream *stream)
{
    if (stream != NULL) sf_events_close(&stream->events);
    sf_free(stream);
}

static int stream_open(sf_backend_stream **opened, sf_backend_device *device, const sf_stream *spikes,
                       sf_error *error)
{
    sf_spike *copy = sf_resize(NULL, spikes->count, sizeof *copy);
    sf_backend_stream *stream = sf_alloc(1, sizeof *stream);
    for (uint32_t i = 0; copy != NULL && i < spikes->count; i++)
        copy[i] = (sf_spike){.time_ns = spikes->times[i], .unit = spikes->owner[i]};
    int status = SF_NO_MEMORY;
    if (copy != NULL && stream != NULL)
        status = sf_events_open(&stream->events, copy, spikes->count, spikes->unit_count, NULL, error);
    sf_free(copy);
    if (status == SF_OK) {
        stream->device = device;
        *opened = stream;
        test_plugin_work_done.copied++;
    } else {
        stream_close(stream);
    }
    return status;
}

int test_begin_job(sf_backend_device *device, sf_error *error)
{
    device->jobs++;
    if (device->character == REFUSES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the job is too large for a test device");
    if (device->memory_limit > 0 && device->memory_limit < TEST_JOB_BYTES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the job needs more than the %llu bytes it may take",
                       (unsigned long long)device->memory_limit);
    return SF_OK;
}

bool test_is_lost(const sf_backend_device *device)
{
    return device->character == DIES || (device->character == IS_LOST && device->jobs >= 2);
}

static int count(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error)
{
    int status = test_begin_job(stream->device, error);
    test_plugin_work_done.counted++;
    if (test_plugin_work_done.wait_ms > 0) usleep(1000 * test_plugin_work_done.wait_ms);
    if (status != SF_OK) return status;
    sf_count_job own = {.events = &stream->events,
                        .first = job->first,
                        .last = job->last,
                        .candidates = job->candidates,
                        .threads = 1,
                        .tally = job->tally};
    memset(job->counts, 0xff, job->candidates->count * sizeof *job->counts);
    if (test_is_lost(stream->device)) return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    const sf_engine *engine = &sf_engine_interval;
    if (strcmp(job->engine, "hybrid") == 0)
        engine = job->candidates->count < job->crossover ? &sf_engine_mtpe : &sf_engine_ptpe;
    return engine->count(job->counts, &own, error);
}

#define NOT_ASKED UINT32_MAX

/* Level 2 where it is known: nobody counts it again. */
static int take_pairs(sf_tree *tree, const sf_backend_mine *job, sf_error *error)
{
    for (size_t i = 0; i < job->pair_count; i++)
        if (sf_level_append(&tree->levels[1], job->pairs[i].parent, job->pairs[i].step,
                            job->pairs[i].count) != SF_OK)
            return sf_fail_memory(error);
    return sf_tree_link(tree, 2, error);
}

/* Those that begin with a unit asked for. numbers[i] is that of the level before, then of this one. */
static int deliver(const sf_tree *tree, const sf_backend_mine *job, uint32_t size, uint32_t **numbers)
{
    const sf_level *level = &tree->levels[size - 1];
    sf_found *found = sf_resize(NULL, level->count, sizeof *found);
    uint32_t *own = sf_resize(NULL, level->count, sizeof *own), count = 0;
    for (size_t i = 0; found != NULL && own != NULL && i < level->count; i++) {
        const sf_node *node = &level->nodes[i];
        uint32_t parent = (*numbers)[node->parent];
        own[i] = parent != NOT_ASKED ? count : NOT_ASKED;
        if (parent != NOT_ASKED) found[count++] = (sf_found){parent, node->step, node->count};
    }
    int status = SF_NO_MEMORY;
    if (found != NULL && own != NULL) status = job->take(job->user, size, found, count, 0.5);
    sf_free(found);
    sf_free(*numbers);
    *numbers = own;
    return status;
}

/* Of the level before the first that is told of: units, or among those of the job pairs that are known. */
static uint32_t *number_first(const sf_tree *tree, const sf_backend_mine *job)
{
    uint32_t count = job->pairs != NULL ? (uint32_t)job->pair_count : tree->unit_count, own = 0;
    uint32_t *numbers = sf_resize(NULL, count, sizeof *numbers);
    for (uint32_t i = 0; numbers != NULL && i < count; i++) {
        uint32_t unit = job->pairs != NULL ? job->pairs[i].parent : i;
        bool asked = unit >= job->first_unit && unit < job->last_unit;
        numbers[i] = !asked ? NOT_ASKED : job->pairs != NULL ? own++ : i;
    }
    return numbers;
}

static int mine_tree(sf_tree *tree, sf_backend_stream *stream, const sf_backend_mine *job, sf_error *error)
{
    sf_mine_job own = {.events = &stream->events,
                       .delays = job->delays,
                       .delay_count = job->delay_count,
                       .pairs = {.self = job->self},
                       .least = job->least,
                       .max_size = job->max_size,
                       .most = job->most,
                       .threads = 1,
                       .paired = job->pairs != NULL,
                       .progress = job->progress};
    double seconds[SF_EPISODE_MAX_SIZE + 1] = {0};
    tree->unit_count = stream->events.unit_count;
    tree->delay_count = job->delay_count;
    for (uint32_t u = 0; u < tree->unit_count; u++)
        if (sf_level_append(&tree->levels[0], 0, u, 0) != SF_OK) return sf_fail_memory(error);
    int status = own.paired ? take_pairs(tree, job, error) : SF_OK;
    test_plugin_work_done.searches++;
    test_plugin_work_done.paired += own.paired;
    return status == SF_OK ? sf_engine_interval.mine(tree, seconds, &own, error) : status;
}

static int mine(sf_backend_stream *stream, const sf_backend_mine *job, sf_error *error)
{
    int status = test_begin_job(stream->device, error);
    if (status == SF_OK && job->forbidden != NULL)
        status = sf_fail(error, SF_UNAVAILABLE, NULL, "a test device knows no distances");
    if (status == SF_OK && stream->device->character == IS_SMALL && job->last_unit > job->first_unit + 1)
        status = sf_fail(error, SF_UNAVAILABLE, NULL, "the job is too large for a small device");
    if (status != SF_OK) return status;
    sf_tree tree = {0};
    status = mine_tree(&tree, stream, job, error);
    uint32_t *numbers = status == SF_OK ? number_first(&tree, job) : NULL;
    if (status == SF_OK && numbers == NULL) status = SF_NO_MEMORY;
    for (uint32_t size = job->pairs != NULL ? 3 : 2; size <= job->max_size && status == SF_OK; size++) {
        status = deliver(&tree, job, size, &numbers);
        if (status == SF_OK && test_is_lost(stream->device))
            status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
        if (tree.levels[size - 1].count == 0) break;
    }
    sf_free(numbers);
    sf_tree_free(&tree);
    return status;
}

/* ---- windows ---- */

struct sf_backend_window {
    sf_backend_device *device;
    sf_spike *ring, *snapshot;
    uint64_t capacity;
    size_t count, appends;
};

static int open_window(sf_backend_window **opened, sf_backend_device *device, sf_error *error)
{
    *opened = sf_alloc(1, sizeof **opened);
    if (*opened == NULL) return sf_fail_memory(error);
    (*opened)->device = device;
    return SF_OK;
}

static void close_window(sf_backend_window *window)
{
    if (window == NULL) return;
    sf_free(window->ring);
    sf_free(window->snapshot);
    sf_free(window);
}

static int reserve(sf_backend_window *window, uint64_t capacity, sf_error *error)
{
    sf_free(window->ring);
    sf_free(window->snapshot);
    window->capacity = capacity;
    window->ring = sf_alloc(capacity, sizeof *window->ring);
    window->snapshot = sf_alloc(capacity, sizeof *window->snapshot);
    return window->ring != NULL && window->snapshot != NULL ? SF_OK : sf_fail_memory(error);
}

static uint64_t capacity(const sf_backend_window *window)
{
    return window->capacity;
}

static int append(sf_backend_window *window, uint64_t position, const sf_spike *spikes, size_t spike_count,
                  sf_error *error)
{
    if (window->device->character == LOSES_WINDOWS && ++window->appends > APPENDS_UNTIL_LOST)
        return sf_fail(error, SF_IO, NULL, "the copy did not arrive");
    test_plugin_work_done.appended += (uint32_t)spike_count;
    for (size_t i = 0; i < spike_count; i++)
        window->ring[(position + i) % window->capacity] = spikes[i];
    return SF_OK;
}

static int take_snapshot(sf_backend_window *window, uint64_t first, size_t spike_count, sf_error *error)
{
    (void)error;
    for (size_t i = 0; i < spike_count; i++)
        window->snapshot[i] = window->ring[(first + i) % window->capacity];
    window->count = spike_count;
    return SF_OK;
}

/* Whether what was laid out is what the numbers promised. */
static bool matches(const sf_events *events, const sf_backend_layout *layout)
{
    return events->count == layout->count && (events->count == 0 || events->times[0] == 0) &&
           memcmp(events->first, layout->first, (layout->unit_count + 1) * sizeof *layout->first) == 0;
}

static int lay_out(sf_backend_stream **made, sf_backend_device *device, const sf_spike *spikes,
                   size_t spike_count, const sf_backend_layout *layout, sf_error *error)
{
    sf_spike *kept = sf_resize(NULL, spike_count, sizeof *kept);
    sf_backend_stream *stream = sf_alloc(1, sizeof *stream);
    size_t kept_count = 0;
    int status = kept != NULL && stream != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < spike_count; i++) {
        sf_spike spike = spikes[i];
        uint32_t number = layout->numbers[spike.unit];
        if (number != SF_LEFT_OUT)
            kept[kept_count++] = (sf_spike){.time_ns = spike.time_ns - layout->origin_ns, .unit = number};
    }
    if (status == SF_OK)
        status = sf_events_open(&stream->events, kept, kept_count, layout->unit_count, NULL, error);
    if (status == SF_OK && !matches(&stream->events, layout))
        status = sf_fail(error, SF_IO, NULL, "the window does not hold what it should");
    sf_free(kept);
    if (status == SF_OK) stream->device = device;
    *made = status == SF_OK ? stream : NULL;
    if (status != SF_OK) stream_close(stream);
    return status;
}

static int make_stream(sf_backend_stream **made, sf_backend_window *window, const sf_backend_layout *layout,
                       sf_error *error)
{
    test_plugin_work_done.from_windows++;
    return lay_out(made, window->device, window->snapshot, window->count, layout, error);
}

struct sf_backend_spikes {
    sf_backend_device *device;
    uint64_t *packed;
    sf_packing packing;
    size_t count;
};

static void forget(sf_backend_spikes *sent)
{
    if (sent != NULL) sf_free(sent->packed);
    sf_free(sent);
}

/* The first that is of no unit or not in order. */
static size_t count_units(const sf_backend_spikes *sent, uint64_t *unit_spikes, uint32_t unit_count)
{
    test_plugin_work_done.units_counted++;
    for (size_t i = 0; i < sent->count; i++) {
        uint32_t unit = sf_packed_unit(sent->packed[i], sent->packing);
        if (unit >= unit_count || (i > 0 && sent->packed[i] < sent->packed[i - 1])) return i;
        unit_spikes[unit]++;
    }
    return sent->count;
}

static bool pack(sf_backend_spikes *sent, const sf_spike *spikes, uint32_t unit_count)
{
    return sf_packing_find(&sent->packing, spikes, sent->count, unit_count) &&
           sf_spikes_pack(sent->packed, spikes, sent->count, sent->packing);
}

static int send_spikes(sf_backend_spikes **made, sf_backend_device *device, const sf_spike *spikes,
                       size_t spike_count, uint64_t *unit_spikes, uint32_t unit_count, size_t *wrong,
                       sf_error *error)
{
    *made = NULL;
    *wrong = spike_count;
    if (device->character == IS_SMALL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a small device has no room for raw spikes");
    sf_backend_spikes *sent = sf_alloc(1, sizeof *sent);
    if (sent != NULL)
        *sent = (sf_backend_spikes){.device = device,
                                    .packed = sf_resize(NULL, spike_count, sizeof *sent->packed),
                                    .count = spike_count};
    if (sent == NULL || sent->packed == NULL) {
        forget(sent);
        return sf_fail_memory(error);
    }
    bool fits = pack(sent, spikes, unit_count);
    if (!fits)
        *wrong = sf_spikes_first_wrong(spikes, spike_count, unit_count);
    else if (unit_spikes != NULL)
        *wrong = count_units(sent, unit_spikes, unit_count);
    if (!fits && *wrong == spike_count) {
        forget(sent);
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the spikes last too long to be packed");
    }
    *made = sent;
    return SF_OK;
}

static int lay_out_sent(sf_backend_stream **made, sf_backend_spikes *sent, const sf_backend_layout *layout,
                        sf_error *error)
{
    *made = NULL;
    test_plugin_work_done.raw++;
    test_plugin_work_done.raw_spikes += (uint32_t)sent->count;
    sf_spike *spikes = sf_resize(NULL, sent->count, sizeof *spikes);
    if (spikes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < sent->count; i++)
        spikes[i] = (sf_spike){.time_ns = sf_packed_time_ns(sent->packed[i], sent->packing),
                               .unit = sf_packed_unit(sent->packed[i], sent->packing)};
    int status = lay_out(made, sent->device, spikes, sent->count, layout, error);
    sf_free(spikes);
    return status;
}

SF_API const sf_backend *synfire_backend(void);

const sf_backend *synfire_backend(void)
{
    static const struct sf_backend_windows windows = {
        .open = open_window,
        .close = close_window,
        .reserve = reserve,
        .capacity = capacity,
        .append = append,
        .snapshot = take_snapshot,
        .stream = make_stream,
        .send = send_spikes,
        .forget = forget,
        .lay_out = lay_out_sent,
    };
    static const sf_backend_episodes episodes = {.supports = supports,
                                                 .stream_open = stream_open,
                                                 .stream_close = stream_close,
                                                 .count = count,
                                                 .mine = mine};
    static const sf_backend backend = {
        .version = SF_BACKEND_VERSION,
        .release = SYNFIRE_VERSION,
        .name = "test",
        .device_count = device_count,
        .open = open_device,
        .close = close_device,
        .facts = facts,
        .episodes = &episodes,
        .surrogates = &test_surrogates,
        .density = &test_density,
        .graphs = &test_graphs,
        .bfs = &test_bfs,
        .match = &test_match,
        .windows = &windows,
        .rewire = &test_rewire,
        .tracking = &test_tracking,
        .pairs = &test_pairs,
        .moving = &test_moving,
    };
    return &backend;
}
