/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of segments for tracked episodes, on the device: the maps of window/summary.h, a thread for each
 * episode.
 *
 * A segment is summarised in one walk over the spikes that end an occurrence. Each asks the node before for
 * its latest spike that is early enough and ends an occurrence of the nodes up to it; that node has looked at
 * its spikes up to there already, since times only ascend, so every spike is looked at once and a node keeps
 * but its latest one. An occurrence then advances the chains of all entries that may take it, of which there
 * are as many as occurrences that straddle the beginning: mostly none or one.
 *
 * A table has as much room as it needs: first an upper bound for each episode is summed up, then, of what was
 * made, the steps in use. Positions are 32 bits wide and wrap: those of a window lie within 2^31 of each
 * other.
 *
 * Cost of a segment: the spikes of the episodes' units in it; of a composition or a count: 12 bytes a step.
 */
#include "gpu/families.cuh"
#include "gpu/lower_bound.cuh"
#include "gpu/mine/stream.cuh"

extern "C" {
#include "core/backend/tracks.h"
}

#include <cub/device/device_scan.cuh>

#define THREADS 128u

#include <string.h>

namespace
{

/* As sf_summary_step: for entries up to `until`, which is `count` occurrences and leaves at `exit`. */
typedef struct step {
    uint32_t until, count, exit;
} step;

/* Node `n` of episode e is at n * count + e. */
typedef struct list_view {
    uint32_t count;
    const uint32_t *units;
    const int64_t *lows, *highs; /* of the link that follows the node */
    const uint32_t *known;
} list_view;

typedef struct segment_view {
    const int64_t *times;
    const uint32_t *unit_first;
    const uint2 *unit_ends;
    uint32_t first, last;
    uint32_t origin; /* the position of the stream's spike 0 */
} segment_view;

/* Episode e has steps[first[e]] .. steps[first[e + 1] - 1]. Without steps the arrays may be missing. */
typedef struct table_view {
    const uint32_t *first;
    const step *steps;
    uint32_t total;
} table_view;

} // namespace

struct sf_backend_tracks {
    sf_backend_device *device;
    uint32_t count;
    uint32_t of_size[SF_EPISODE_MAX_SIZE + 2]; /* episodes of size s are of_size[s] .. of_size[s + 1] - 1 */
    sf_gpu_array units, lows, highs, known;    /* a list_view */
    sf_gpu_array room, used, first, steps, adding; /* working memory; step in `steps` */
};

struct sf_backend_table {
    uint32_t begin; /* where its segment begins */
    uint32_t total;
    sf_gpu_array first, steps; /* a table_view */
};

namespace
{

__device__ bool is_later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

__device__ int64_t earlier_by(int64_t time, int64_t by)
{
    return time < INT64_MIN + by ? INT64_MIN : time - by;
}

/* ---- an episode in a segment ---- */

__device__ uint32_t place_from(const segment_view *s, uint32_t unit, uint32_t position)
{
    return sf_gpu_first_from(s->unit_first[unit], s->unit_first[unit + 1], position,
                             [s](uint32_t place) { return s->unit_ends[place].x; });
}

__device__ uint32_t place_at(const segment_view *s, uint32_t unit, int64_t time)
{
    return sf_gpu_first_from(s->unit_first[unit], s->unit_first[unit + 1], time,
                             [s](uint32_t place) { return s->times[s->unit_ends[place].x]; });
}

/* A node but the last: its spikes from `next` on are still to be looked at; `start` is where an occurrence of
 * the nodes up to it starts latest that ends with its spike at `time`, if `ended`. */
typedef struct node {
    uint32_t next, last;
    int64_t low, high;
    int64_t time;
    uint32_t start;
    bool ended;
} node;

/* Whether an occurrence of nodes 0 .. n ends with node n's spike at this time and position, and where the
 * latest such starts. Times ascend from call to call. */
template <int n>
__device__ bool ends_at(node *nodes, const segment_view *s, int64_t time, uint32_t position, uint32_t *start)
{
    if constexpr (n == 0) {
        *start = position;
        return true;
    } else {
        node *before = &nodes[n - 1];
        for (; before->next < before->last; before->next++) {
            uint32_t at = s->unit_ends[before->next].x;
            int64_t earlier = s->times[at];
            if (time <= earlier || time - earlier <= before->low) break;
            uint32_t found;
            if (ends_at<n - 1>(nodes, s, earlier, at, &found)) {
                before->time = earlier;
                before->start = found;
                before->ended = true;
            }
        }
        *start = before->start;
        return before->ended && time - before->time <= before->high;
    }
}

/* The chains of all entries that an occurrence changes; returns how many there are then. */
__device__ uint32_t take(step *chains, uint32_t count, uint32_t begin, uint32_t start, uint32_t end)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_later(chains[i].exit, start)) {
            chains[i].count++;
            chains[i].exit = end + 1;
        }
    uint32_t until = is_later(begin, start) ? start : begin;
    if (count == 0 || is_later(until, chains[count - 1].until)) chains[count++] = step{until, 1, end + 1};
    return count;
}

__device__ uint32_t add_step(step *steps, uint32_t count, step added)
{
    if (count > 0 && steps[count - 1].count == added.count && steps[count - 1].exit == added.exit) {
        steps[count - 1].until = added.until;
        return count;
    }
    steps[count] = added;
    return count + 1;
}

template <int size>
__device__ uint32_t summarise_one(step *own, const list_view *list, const segment_view *s, uint32_t e)
{
    node nodes[size];
    const uint32_t unit = list->units[(size - 1) * list->count + e];
    uint32_t place = place_from(s, unit, s->first), last = place_from(s, unit, s->last), count = 0;
    if (place == last) return 0;
    int64_t since = s->times[s->unit_ends[place].x];
#pragma unroll
    for (int n = size - 2; n >= 0; n--) {
        uint32_t of = list->units[n * list->count + e];
        nodes[n].low = list->lows[n * list->count + e];
        nodes[n].high = list->highs[n * list->count + e];
        since = earlier_by(since, nodes[n].high);
        nodes[n].next = place_at(s, of, since);
        nodes[n].last = s->unit_first[of + 1];
        nodes[n].ended = false;
        nodes[n].start = 0;
        nodes[n].time = 0;
    }
    for (; place < last; place++) {
        uint32_t end = s->unit_ends[place].x, start;
        if (ends_at<size - 1>(nodes, s, s->times[end], end, &start))
            count = take(own, count, s->origin + s->first, s->origin + start, s->origin + end);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        kept = add_step(own, kept, own[i]);
    return kept;
}

/* ---- kernels ---- */

__device__ uint32_t copy_known(step *own, const table_view *before, uint32_t known)
{
    uint32_t count = 0;
    if (before->total > 0)
        for (uint32_t i = before->first[known]; i < before->first[known + 1]; i++)
            own[count++] = before->steps[i];
    return count;
}

/* The maximum number of steps: one for a spike that starts an occurrence before the segment, one for all
 * within it, none without a spike that ends one. */
__global__ void find_room(uint32_t *room, list_view list, segment_view s, table_view before, bool renews,
                          uint32_t first, uint32_t last, uint32_t size)
{
    for (uint32_t e = first + blockIdx.x * blockDim.x + threadIdx.x; e < last; e += gridDim.x * blockDim.x) {
        if (renews && list.known[e] != SF_TRACK_NEW) {
            room[e] = before.total == 0 ? 0 : before.first[list.known[e] + 1] - before.first[list.known[e]];
            continue;
        }
        if (s.first == s.last) {
            room[e] = 0;
            continue;
        }
        uint32_t unit = list.units[(size - 1) * list.count + e], starter = list.units[e];
        uint32_t ends = place_from(&s, unit, s.last) - place_from(&s, unit, s.first);
        int64_t since = s.times[s.first];
        for (uint32_t n = 0; n + 1 < size; n++)
            since = earlier_by(since, list.highs[n * list.count + e]);
        uint32_t from = place_at(&s, starter, since), to = place_from(&s, starter, s.first);
        uint32_t starts = to > from ? to - from + 1 : 1;
        room[e] = ends < starts ? ends : starts;
    }
}

template <int size>
__global__ void summarise(step *steps, uint32_t *used, const uint32_t *room, list_view list, segment_view s,
                          table_view before, bool renews, uint32_t first, uint32_t last)
{
    for (uint32_t e = first + blockIdx.x * blockDim.x + threadIdx.x; e < last; e += gridDim.x * blockDim.x) {
        step *own = steps + room[e];
        bool is_known = renews && list.known[e] != SF_TRACK_NEW;
        used[e] = room[e] == room[e + 1] ? 0
                  : is_known             ? copy_known(own, &before, list.known[e])
                                         : summarise_one<size>(own, &list, &s, e);
    }
}

/* The step of an episode that holds for an entry, or one more than its last. */
__device__ uint32_t step_for(const table_view *t, uint32_t e, uint32_t entry)
{
    uint32_t low = t->first[e], high = t->first[e + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_later(entry, t->steps[middle].until))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Two segments' steps have room where the steps of both begin. */
__device__ uint32_t room_of_both(const table_view *left, const table_view *right, uint32_t e)
{
    return left->first[e] + right->first[e];
}

/* As sf_summary_compose. */
__global__ void compose(step *steps, uint32_t *used, table_view left, table_view right, uint32_t begin,
                        uint32_t count)
{
    for (uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
        step *own = steps + room_of_both(&left, &right, e);
        uint32_t made = 0, right_last = right.first[e + 1], next = right.first[e];
        bool goes_on = true; /* entries that pass the left segment unchanged are left */
        for (uint32_t i = left.first[e]; i < left.first[e + 1]; i++) {
            step passed = left.steps[i];
            uint32_t met = step_for(&right, e, passed.exit);
            if (met < right_last) {
                passed.count += right.steps[met].count;
                passed.exit = right.steps[met].exit;
            }
            made = add_step(own, made, passed);
            goes_on = left.steps[i].until != begin;
            next = step_for(&right, e, left.steps[i].until + 1);
        }
        for (uint32_t i = next; i < right_last && goes_on; i++) {
            step met = right.steps[i];
            goes_on = is_later(begin, met.until);
            if (!goes_on) met.until = begin;
            made = add_step(own, made, met);
        }
        used[e] = made;
    }
}

__global__ void pack(step *steps, const uint32_t *first, const step *from, const uint32_t *room,
                     table_view left, table_view right, uint32_t count)
{
    for (uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
        uint32_t begin = room != NULL ? room[e] : room_of_both(&left, &right, e);
        for (uint32_t i = first[e]; i < first[e + 1]; i++)
            steps[i] = from[begin + i - first[e]];
    }
}

typedef struct walk {
    table_view tables[SF_BACKEND_MOST_TABLES];
    uint32_t count;
} walk;

__global__ void pass(uint32_t *counts, walk w, uint32_t from, uint32_t count)
{
    for (uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
        uint32_t entry = from, counted = 0;
        for (uint32_t i = 0; i < w.count; i++) {
            uint32_t met = step_for(&w.tables[i], e, entry);
            if (met == w.tables[i].first[e + 1]) continue;
            counted += w.tables[i].steps[met].count;
            entry = w.tables[i].steps[met].exit;
        }
        counts[e] = counted;
    }
}

} // namespace

/* ---- lists ---- */

static void close_tracks(sf_backend_tracks *tracks)
{
    if (tracks == NULL) return;
    cudaSetDevice(tracks->device->ordinal);
    sf_gpu_array *arrays[] = {&tracks->units, &tracks->lows,  &tracks->highs, &tracks->known, &tracks->room,
                              &tracks->used,  &tracks->first, &tracks->steps, &tracks->adding};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(tracks->device, array);
    sf_free(tracks);
}

static int send(sf_backend_tracks *tracks, const sf_backend_track_list *list, const uint32_t *known,
                sf_error *error)
{
    sf_backend_device *device = tracks->device;
    size_t nodes = 0;
    for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE; size++)
        if (list->of_size[size + 1] > list->of_size[size]) nodes = (size_t)size * list->count;
    int status = sf_gpu_array_send(device, &tracks->units, list->units, nodes * sizeof *list->units, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &tracks->lows, list->lows, nodes * sizeof *list->lows, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &tracks->highs, list->highs, nodes * sizeof *list->highs, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &tracks->known, known, list->count * sizeof *known, error);
    return status;
}

static int open_tracks(sf_backend_tracks **opened, sf_backend_device *device,
                       const sf_backend_track_list *episodes, const uint32_t *known, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    if (episodes->count >= INT32_MAX / SF_EPISODE_MAX_SIZE)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u episodes are more than the device tracks",
                       episodes->count);
    sf_backend_tracks *tracks = (sf_backend_tracks *)sf_alloc(1, sizeof *tracks);
    if (tracks == NULL) return sf_fail_memory(error);
    tracks->device = device;
    tracks->count = episodes->count;
    memcpy(tracks->of_size, episodes->of_size, sizeof tracks->of_size);
    int status = send(tracks, episodes, known, error);
    size_t numbers = ((size_t)tracks->count + 1) * sizeof(uint32_t);
    if (status == SF_OK) status = sf_gpu_array_open(device, &tracks->room, numbers, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &tracks->used, numbers, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &tracks->first, numbers, error);
    if (status == SF_OK)
        *opened = tracks;
    else
        close_tracks(tracks);
    return status;
}

static list_view view_list(const sf_backend_tracks *tracks)
{
    return list_view{tracks->count, (const uint32_t *)tracks->units.data, (const int64_t *)tracks->lows.data,
                     (const int64_t *)tracks->highs.data, (const uint32_t *)tracks->known.data};
}

/* ---- tables ---- */

static table_view view_table(const sf_backend_table *table)
{
    return table_view{(const uint32_t *)table->first.data, (const step *)table->steps.data, table->total};
}

static void close_table(sf_backend_tracks *tracks, sf_backend_table *table)
{
    if (table == NULL) return;
    cudaSetDevice(tracks->device->ordinal);
    sf_gpu_array_close(tracks->device, &table->first);
    sf_gpu_array_close(tracks->device, &table->steps);
    sf_free(table);
}

static uint32_t blocks_for(const sf_backend_tracks *tracks, uint32_t threads)
{
    uint32_t most = (uint32_t)tracks->device->properties.multiProcessorCount * 16;
    uint32_t blocks = (threads + THREADS - 1) / THREADS;
    return blocks < most ? blocks : most;
}

/* Sums numbers up, which `count` of the list follow one another in, to where each begins; *total is all. */
static int sum_up(uint32_t *first, uint32_t *numbers, sf_backend_tracks *tracks, uint32_t *total,
                  sf_error *error)
{
    cudaStream_t work = tracks->device->work;
    size_t bytes = 0, items = (size_t)tracks->count + 1;
    SF_GPU_TRY(cudaMemsetAsync(numbers + tracks->count, 0, sizeof *numbers, work));
    SF_GPU_TRY(cub::DeviceScan::ExclusiveSum(NULL, bytes, numbers, first, (int64_t)items, work));
    int status = sf_gpu_array_reserve(tracks->device, &tracks->adding, bytes, error);
    if (status != SF_OK) return status;
    bytes = tracks->adding.bytes;
    SF_GPU_TRY(
        cub::DeviceScan::ExclusiveSum(tracks->adding.data, bytes, numbers, first, (int64_t)items, work));
    return sf_gpu_download(tracks->device, total, first + tracks->count, sizeof *total, error);
}

static int new_table(sf_backend_table **made, uint32_t begin, sf_error *error)
{
    *made = (sf_backend_table *)sf_alloc(1, sizeof **made);
    if (*made == NULL) return sf_fail_memory(error);
    (*made)->begin = begin;
    return SF_OK;
}

/* Takes the steps in use out of the working memory. */
static int keep(sf_backend_table *table, sf_backend_tracks *tracks, const uint32_t *room, table_view left,
                table_view right, sf_error *error)
{
    sf_backend_device *device = tracks->device;
    int status = sf_gpu_array_open(device, &table->first, (tracks->count + 1) * sizeof(uint32_t), error);
    uint32_t *first = (uint32_t *)table->first.data;
    if (status == SF_OK) status = sum_up(first, (uint32_t *)tracks->used.data, tracks, &table->total, error);
    if (status == SF_OK && table->total > 0)
        status = sf_gpu_array_open(device, &table->steps, (size_t)table->total * sizeof(step), error);
    if (status != SF_OK || table->total == 0) {
        sf_gpu_array_close(device, &table->first);
        return status;
    }
    pack<<<blocks_for(tracks, tracks->count), THREADS, 0, device->work>>>(
        (step *)table->steps.data, first, (const step *)tracks->steps.data, room, left, right, tracks->count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* ---- segments ---- */

namespace
{

/* A segment to be summarised. */
typedef struct summing {
    sf_backend_tracks *tracks;
    segment_view segment;
    table_view before;
    bool renews;
} summing;

} // namespace

template <int size> static void launch_size(const summing *s)
{
    sf_backend_tracks *tracks = s->tracks;
    uint32_t first = tracks->of_size[size], last = tracks->of_size[size + 1];
    if (first < last)
        summarise<size><<<blocks_for(tracks, last - first), THREADS, 0, tracks->device->work>>>(
            (step *)tracks->steps.data, (uint32_t *)tracks->used.data, (const uint32_t *)tracks->first.data,
            view_list(tracks), s->segment, s->before, s->renews, first, last);
    if constexpr (size < SF_EPISODE_MAX_SIZE) launch_size<size + 1>(s);
}

static int find_all_room(const summing *s, uint32_t *total, sf_error *error)
{
    sf_backend_tracks *tracks = s->tracks;
    for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE; size++) {
        uint32_t first = tracks->of_size[size], last = tracks->of_size[size + 1];
        if (first == last) continue;
        find_room<<<blocks_for(tracks, last - first), THREADS, 0, tracks->device->work>>>(
            (uint32_t *)tracks->room.data, view_list(tracks), s->segment, s->before, s->renews, first, last,
            size);
        SF_GPU_LAUNCHED();
    }
    return sum_up((uint32_t *)tracks->first.data, (uint32_t *)tracks->room.data, tracks, total, error);
}

/* longest: spikes of a unit. */
static int summarise_into(sf_backend_table *table, const summing *s, uint32_t longest, sf_error *error)
{
    sf_backend_tracks *tracks = s->tracks;
    uint32_t total;
    if (longest >= UINT32_MAX / tracks->count)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u episodes in %u spikes of a unit are too many at once",
                       tracks->count, longest);
    int status = find_all_room(s, &total, error);
    if (status != SF_OK || total == 0) return status;
    status = sf_gpu_array_reserve(tracks->device, &tracks->steps, (size_t)total * sizeof(step), error);
    if (status != SF_OK) return status;
    launch_size<1>(s);
    SF_GPU_LAUNCHED();
    return keep(table, tracks, (const uint32_t *)tracks->first.data, table_view{}, table_view{}, error);
}

static int summarise_segment(sf_backend_table **made, sf_backend_tracks *tracks, sf_backend_stream *stream,
                             const sf_backend_segment *segment, const sf_backend_table *before,
                             sf_error *error)
{
    summing s = {};
    s.tracks = tracks;
    s.renews = before != NULL;
    if (before != NULL) s.before = view_table(before);
    if (stream != NULL)
        s.segment = segment_view{stream->times,  stream->first, stream->ends,
                                 segment->first, segment->last, (uint32_t)segment->origin};
    SF_GPU_TRY(cudaSetDevice(tracks->device->ordinal));
    int status = new_table(made, (uint32_t)segment->origin + segment->first, error);
    if (status == SF_OK && tracks->count > 0)
        status = summarise_into(*made, &s, stream != NULL ? stream->longest_train : 0, error);
    if (status != SF_OK) {
        close_table(tracks, *made);
        *made = NULL;
    }
    return status;
}

/* ---- many segments ---- */

static int copy_table(sf_backend_table *table, sf_backend_tracks *tracks, const sf_backend_table *from,
                      sf_error *error)
{
    int status = sf_gpu_array_open(tracks->device, &table->first, from->first.bytes, error);
    if (status == SF_OK) status = sf_gpu_array_open(tracks->device, &table->steps, from->steps.bytes, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemcpyAsync(table->first.data, from->first.data, from->first.bytes,
                               cudaMemcpyDeviceToDevice, tracks->device->work));
    SF_GPU_TRY(cudaMemcpyAsync(table->steps.data, from->steps.data, from->steps.bytes,
                               cudaMemcpyDeviceToDevice, tracks->device->work));
    table->total = from->total;
    return SF_OK;
}

static int compose_into(sf_backend_table *table, sf_backend_tracks *tracks, const sf_backend_table *left,
                        const sf_backend_table *right, sf_error *error)
{
    sf_backend_device *device = tracks->device;
    if (right->total == 0) return left->total > 0 ? copy_table(table, tracks, left, error) : SF_OK;
    if (left->total >= UINT32_MAX - right->total)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "two segments have too many summaries together");
    sf_gpu_array none = {};
    table_view of_left = view_table(left), of_right = view_table(right);
    size_t bytes = (tracks->count + 1) * sizeof(uint32_t);
    int status = sf_gpu_array_reserve(device, &tracks->steps,
                                      ((size_t)left->total + right->total) * sizeof(step), error);
    if (status == SF_OK && left->total == 0) {
        status = sf_gpu_array_open(device, &none, bytes, error);
        of_left.first = (const uint32_t *)none.data;
    }
    if (status == SF_OK && left->total == 0)
        status = sf_gpu_check(cudaMemsetAsync(none.data, 0, bytes, device->work), "cudaMemsetAsync(", error);
    if (status == SF_OK) {
        compose<<<blocks_for(tracks, tracks->count), THREADS, 0, device->work>>>(
            (step *)tracks->steps.data, (uint32_t *)tracks->used.data, of_left, of_right, left->begin,
            tracks->count);
        status = sf_gpu_check(cudaGetLastError(), "compose<<<", error);
    }
    if (status == SF_OK) status = keep(table, tracks, NULL, of_left, of_right, error);
    sf_gpu_array_close(device, &none);
    return status;
}

static int compose_tables(sf_backend_table **made, sf_backend_tracks *tracks, const sf_backend_table *left,
                          const sf_backend_table *right, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(tracks->device->ordinal));
    int status = new_table(made, left->begin, error);
    if (status == SF_OK) status = compose_into(*made, tracks, left, right, error);
    if (status != SF_OK) {
        close_table(tracks, *made);
        *made = NULL;
    }
    return status;
}

static int count_tables(sf_backend_tracks *tracks, const sf_backend_table *const *tables,
                        uint32_t table_count, uint64_t from, uint32_t *counts, sf_error *error)
{
    sf_backend_device *device = tracks->device;
    walk w = {};
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    for (uint32_t i = 0; i < table_count; i++)
        if (tables[i]->total > 0) w.tables[w.count++] = view_table(tables[i]);
    if (tracks->count == 0) return SF_OK;
    pass<<<blocks_for(tracks, tracks->count), THREADS, 0, device->work>>>((uint32_t *)tracks->used.data, w,
                                                                          (uint32_t)from, tracks->count);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(device, counts, tracks->used.data, tracks->count * sizeof *counts, error);
}

const struct sf_backend_tracking sf_gpu_tracking = {
    .open = open_tracks,
    .close = close_tracks,
    .summarise = summarise_segment,
    .compose = compose_tables,
    .close_table = close_table,
    .count = count_tables,
};
