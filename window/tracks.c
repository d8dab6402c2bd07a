/* SPDX-License-Identifier: Apache-2.0 */
#include "window/tracks.h"

#include "core/backend/tracks.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/platform.h"
#include "window/queue.h"

#include <stdlib.h>

/* Lengths of blocks: 2^0, 2^1, ... segments. */
#define LENGTHS 32

/* Of a list that is being prepared, so many segments are laid out at once. */
#define SEGMENTS_AT_ONCE 8

/* More spikes than these are not counted in a window. */
#define MOST_SPIKES ((uint64_t)INT32_MAX)

typedef struct list {
    sf_backend_tracks *tracks;
    sf_episode *episodes; /* as the device has them */
    size_t *order;        /* which of the caller's each is */
    size_t count;
    int64_t reach_ns;         /* no occurrence lasts longer */
    sf_queue blocks[LENGTHS]; /* of sf_backend_table *: block i of length l begins with segment i * 2^l */
} list;

struct sf_tracks {
    sf_resident *resident;
    sf_device *device;
    const struct sf_backend_tracking *backend;
    uint32_t unit_count;
    sf_queue segments; /* of sf_segment: those in the window; their indexes count from the first ever */
    list present, next;
    bool preparing;
    uint64_t prepared; /* index of the first segment that the next list lacks */
    uint32_t *counted; /* as the device has the present list */
    size_t counted_room;
};

/* ---- lists ---- */

static sf_backend_table **block_at(const list *l, unsigned length, uint64_t i)
{
    return sf_queue_at(&l->blocks[length], i);
}

static void drop_blocks(sf_tracks *t, list *l, uint64_t first_segment)
{
    for (unsigned length = 0; length < LENGTHS; length++) {
        sf_queue *blocks = &l->blocks[length];
        for (; blocks->begin < blocks->end && blocks->begin << length < first_segment; blocks->begin++)
            t->backend->close_table(l->tracks, *block_at(l, length, blocks->begin));
    }
}

typedef struct closing {
    sf_tracks *tracks;
    list *list;
} closing;

static void close_there(void *context)
{
    const closing *c = context;
    drop_blocks(c->tracks, c->list, UINT64_MAX);
    c->tracks->backend->close(c->list->tracks);
}

static void close_list(sf_tracks *t, list *closed)
{
    if (closed->tracks != NULL)
        sf_device_discard(t->device, close_there, &(closing){t, closed});
    for (unsigned length = 0; length < LENGTHS; length++)
        sf_queue_free(&closed->blocks[length]);
    sf_free(closed->episodes);
    sf_free(closed->order);
    *closed = (list){0};
}

/* By size; then by the units from the last to the first, so that threads side by side look at the same
 * spikes. */
static int compare(const sf_episode *a, const sf_episode *b)
{
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    for (uint32_t n = a->size; n-- > 0;)
        if (a->units[n] != b->units[n])
            return a->units[n] < b->units[n] ? -1 : 1;
    return sf_episode_compare(a, b);
}

static int compare_numbered(const void *a, const void *b, void *episodes)
{
    const sf_episode *of = episodes;
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = compare(&of[i], &of[j]);
    return order != 0 ? order : (i > j) - (i < j);
}

static int sort(list *l, const sf_episode *episodes, size_t count, sf_error *error)
{
    l->count = count;
    l->episodes = sf_resize(NULL, count, sizeof *l->episodes);
    l->order = sf_resize(NULL, count, sizeof *l->order);
    if (l->episodes == NULL || l->order == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        l->order[i] = i;
    sf_platform_sort(l->order, count, sizeof *l->order, compare_numbered, (void *)(uintptr_t)episodes);
    for (size_t i = 0; i < count; i++) {
        l->episodes[i] = episodes[l->order[i]];
        int64_t span_ns = sf_episode_span_ns(&l->episodes[i]);
        l->reach_ns = span_ns > l->reach_ns ? span_ns : l->reach_ns;
    }
    return SF_OK;
}

/* Which of the present list each of the next is; both are sorted. */
static void find_known(uint32_t *known, const list *next, const list *present)
{
    for (size_t i = 0, j = 0; i < next->count; i++) {
        while (j < present->count && compare(&present->episodes[j], &next->episodes[i]) < 0)
            j++;
        bool is_known = j < present->count && compare(&present->episodes[j], &next->episodes[i]) == 0;
        known[i] = is_known ? (uint32_t)j : SF_TRACK_NEW;
    }
}

typedef struct opening {
    sf_tracks *tracks;
    list *list;
    const uint32_t *known;
} opening;

static int open_there(void *context, sf_device *device, sf_error *failure)
{
    const opening *o = context;
    return o->tracks->backend->open(&o->list->tracks, sf_device_opened(device), o->list->episodes, o->known,
                                    o->list->count, failure);
}

static int open_list(sf_tracks *t, list *l, const sf_episode *episodes, size_t count, sf_error *error)
{
    for (unsigned length = 0; length < LENGTHS; length++)
        l->blocks[length].item_size = sizeof(sf_backend_table *);
    uint32_t *known = sf_resize(NULL, count, sizeof *known);
    int status = known != NULL ? sort(l, episodes, count, error) : sf_fail_memory(error);
    if (status == SF_OK && count >= SF_TRACK_NEW)
        status = sf_fail(error, SF_UNAVAILABLE, NULL, "%zu episodes are more than a device tracks", count);
    if (status == SF_OK) {
        find_known(known, l, &t->present);
        status = sf_device_do(t->device, open_there, &(opening){t, l, known}, error);
    }
    sf_free(known);
    return status;
}

/* ---- opening ---- */

void sf_tracks_close(sf_tracks *tracks)
{
    if (tracks == NULL)
        return;
    close_list(tracks, &tracks->present);
    close_list(tracks, &tracks->next);
    sf_queue_free(&tracks->segments);
    sf_free(tracks->counted);
    sf_free(tracks);
}

static int take_segments(sf_tracks *t, const sf_queue *segments)
{
    for (uint64_t i = segments->begin; i < segments->end; i++) {
        if (sf_queue_reserve(&t->segments) != 0)
            return SF_NO_MEMORY;
        *(sf_segment *)sf_queue_at(&t->segments, t->segments.end++) =
            *(const sf_segment *)sf_queue_at(segments, i);
    }
    return SF_OK;
}

int sf_tracks_open(sf_tracks **opened, sf_resident *resident, size_t unit_count, const sf_queue *segments,
                   sf_error *error)
{
    *opened = NULL;
    sf_device *device = sf_resident_device(resident);
    const struct sf_backend_tracking *backend = sf_device_backend(device)->tracking;
    if (backend == NULL || unit_count >= UINT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s tracks no episodes", sf_device_name(device));
    sf_tracks *t = sf_alloc(1, sizeof *t);
    if (t == NULL)
        return sf_fail_memory(error);
    *t = (sf_tracks){.resident = resident,
                     .device = device,
                     .backend = backend,
                     .unit_count = (uint32_t)unit_count,
                     .segments = {.item_size = sizeof(sf_segment)}};
    int status = take_segments(t, segments) == SF_OK ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = open_list(t, &t->present, NULL, 0, error);
    if (status == SF_OK)
        *opened = t;
    else
        sf_tracks_close(t);
    return status;
}

/* ---- segments ---- */

/* Consecutive segments laid out on the device, with the spikes before them that occurrences may begin with.
 */
typedef struct laid_out {
    uint64_t origin;          /* position of its first spike */
    sf_device_stream *stream; /* NULL: there is no spike */
} laid_out;

static int lay_out(sf_tracks *t, laid_out *made, const sf_history *history, const sf_segment *from,
                   const sf_segment *to, int64_t reach_ns, sf_error *error)
{
    *made = (laid_out){.origin = from->begin};
    if (from->begin == to->end)
        return SF_OK;
    int64_t begin_ns = sf_history_time(history, from->begin);
    uint64_t origin = sf_history_find(history, sf_time_plus(begin_ns, -reach_ns));
    made->origin = origin < from->begin ? origin : from->begin;
    return sf_resident_lay_out(&made->stream, t->resident, history, made->origin, to->end, t->unit_count,
                               error);
}

/* A segment for one of the lists. */
typedef struct pushing {
    sf_tracks *tracks;
    list *list;
    uint64_t index;
    sf_backend_segment segment;
    sf_backend_stream *stream;
    const sf_backend_table *before;
} pushing;

static int append_block(list *l, unsigned length, uint64_t i, sf_backend_table *made)
{
    sf_queue *blocks = &l->blocks[length];
    if (sf_queue_reserve(blocks) != 0)
        return SF_NO_MEMORY;
    if (blocks->begin == blocks->end)
        blocks->begin = blocks->end = i;
    *block_at(l, length, blocks->end++) = made;
    return SF_OK;
}

/* The block of the next length that ends here, if its first half is still there. */
static int compose(const pushing *p, unsigned length, bool *composed, sf_error *failure)
{
    list *l = p->list;
    uint64_t i = p->index >> length;
    sf_backend_table *made;
    *composed = (p->index + 1) % (UINT64_C(1) << length) == 0 && l->blocks[length - 1].begin <= 2 * i;
    if (!*composed)
        return SF_OK;
    int status = p->tracks->backend->compose(&made, l->tracks, *block_at(l, length - 1, 2 * i),
                                             *block_at(l, length - 1, 2 * i + 1), failure);
    if (status == SF_OK && append_block(l, length, i, made) != SF_OK) {
        p->tracks->backend->close_table(l->tracks, made);
        status = sf_fail_memory(failure);
    }
    return status;
}

static int push_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    const pushing *p = context;
    sf_backend_table *made;
    int status =
        p->tracks->backend->summarise(&made, p->list->tracks, p->stream, &p->segment, p->before, failure);
    if (status == SF_OK && append_block(p->list, 0, p->index, made) != SF_OK) {
        p->tracks->backend->close_table(p->list->tracks, made);
        status = sf_fail_memory(failure);
    }
    bool goes_on = true;
    for (unsigned length = 1; length < LENGTHS && goes_on && status == SF_OK; length++)
        status = compose(p, length, &goes_on, failure);
    return status;
}

static int push(sf_tracks *t, list *l, uint64_t index, const sf_segment *segment, const laid_out *there,
                const sf_backend_table *before, sf_error *error)
{
    pushing p = {.tracks = t,
                 .list = l,
                 .index = index,
                 .segment = {.origin = there->origin,
                             .first = (uint32_t)(segment->begin - there->origin),
                             .last = (uint32_t)(segment->end - there->origin)},
                 .stream = there->stream != NULL ? sf_device_stream_made(there->stream) : NULL,
                 .before = before};
    return sf_device_do(t->device, push_there, &p, error);
}

int sf_tracks_push(sf_tracks *t, const sf_segment *segment, const sf_history *history, sf_error *error)
{
    laid_out there = {.origin = segment->begin};
    if (sf_queue_reserve(&t->segments) != 0)
        return sf_fail_memory(error);
    int status = SF_OK;
    if (t->present.count > 0)
        status = lay_out(t, &there, history, segment, segment, t->present.reach_ns, error);
    if (status == SF_OK && t->present.count > 0)
        status = push(t, &t->present, t->segments.end, segment, &there, NULL, error);
    sf_device_stream_close(there.stream);
    if (status == SF_OK)
        *(sf_segment *)sf_queue_at(&t->segments, t->segments.end++) = *segment;
    return status;
}

static int drop_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    (void)failure;
    sf_tracks *t = context;
    drop_blocks(t, &t->present, t->segments.begin);
    if (t->preparing)
        drop_blocks(t, &t->next, t->segments.begin);
    return SF_OK;
}

void sf_tracks_drop_before(sf_tracks *t, int64_t window_start_ns)
{
    sf_queue *segments = &t->segments;
    uint64_t before = segments->begin;
    while (segments->begin < segments->end &&
           ((const sf_segment *)sf_queue_at(segments, segments->begin))->span.start_ns < window_start_ns)
        segments->begin++;
    if (segments->begin > before) /* on a sick device, what lies there is given back with all */
        sf_device_do(t->device, drop_there, t, NULL);
    if (t->prepared < segments->begin)
        t->prepared = segments->begin;
}

/* ---- another list ---- */

int sf_tracks_prepare(sf_tracks *t, const sf_episode *episodes, size_t count, sf_error *error)
{
    close_list(t, &t->next);
    t->preparing = false;
    t->prepared = t->segments.begin;
    int status = open_list(t, &t->next, episodes, count, error);
    t->preparing = status == SF_OK;
    if (status != SF_OK)
        close_list(t, &t->next);
    return status;
}

/* The segments that the next list lacks, some of them. */
static int prepare_some(sf_tracks *t, const sf_history *history, sf_error *error)
{
    laid_out there;
    uint64_t last =
        t->segments.end - t->prepared > SEGMENTS_AT_ONCE ? t->prepared + SEGMENTS_AT_ONCE : t->segments.end;
    int status = lay_out(t, &there, history, sf_queue_at(&t->segments, t->prepared),
                         sf_queue_at(&t->segments, last - 1), t->next.reach_ns, error);
    for (; status == SF_OK && t->prepared < last; t->prepared++)
        status = push(t, &t->next, t->prepared, sf_queue_at(&t->segments, t->prepared), &there,
                      t->present.count > 0 ? *block_at(&t->present, 0, t->prepared) : NULL, error);
    sf_device_stream_close(there.stream);
    return status;
}

int sf_tracks_go_on(sf_tracks *t, const sf_history *history, int64_t until_ns, bool *ready, sf_error *error)
{
    *ready = false;
    if (!t->preparing)
        return SF_OK;
    int64_t now_ns = sf_clock_monotonic_ns(), took_ns = 0;
    while (t->prepared < t->segments.end && (took_ns == 0 || now_ns <= until_ns - took_ns)) {
        int status = prepare_some(t, history, error);
        if (status != SF_OK)
            return status;
        took_ns = sf_clock_monotonic_ns() - now_ns;
        now_ns += took_ns;
    }
    *ready = t->prepared == t->segments.end;
    if (!*ready)
        return SF_OK;
    close_list(t, &t->present);
    t->present = t->next;
    t->next = (list){0};
    t->preparing = false;
    return SF_OK;
}

uint64_t sf_tracks_segments(const sf_tracks *tracks)
{
    return tracks->segments.end - tracks->segments.begin;
}

/* ---- counts ---- */

/* The fewest blocks that make up the window; returns how many. */
static uint32_t cover(const sf_tracks *t, const sf_backend_table **tables)
{
    uint32_t count = 0;
    for (uint64_t at = t->segments.begin; at < t->segments.end;) {
        unsigned length = 0;
        while (length + 1 < LENGTHS && at % (UINT64_C(2) << length) == 0 &&
               at + (UINT64_C(2) << length) <= t->segments.end)
            length++;
        tables[count++] = *block_at(&t->present, length, at >> length);
        at += UINT64_C(1) << length;
    }
    return count;
}

typedef struct counting {
    sf_tracks *tracks;
    const sf_backend_table *tables[SF_BACKEND_MOST_TABLES];
    uint32_t table_count;
    uint64_t from;
} counting;

static int count_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    const counting *c = context;
    sf_tracks *t = c->tracks;
    return t->backend->count(t->present.tracks, c->tables, c->table_count, c->from, t->counted, failure);
}

int sf_tracks_counts(sf_tracks *t, uint64_t *counts, sf_error *error)
{
    counting c = {.tracks = t};
    if (sf_reserve(&t->counted, &t->counted_room, t->present.count, sizeof *t->counted) != 0)
        return sf_fail_memory(error);
    if (t->segments.begin < t->segments.end) {
        const sf_segment *oldest = sf_queue_at(&t->segments, t->segments.begin),
                         *newest = sf_queue_at(&t->segments, t->segments.end - 1);
        c.from = oldest->begin;
        if (newest->end - oldest->begin > MOST_SPIKES)
            return sf_fail(error, SF_UNAVAILABLE, NULL, "the window has more spikes than a device counts");
    }
    if (t->present.count == 0)
        return SF_OK;
    c.table_count = cover(t, c.tables);
    int status = sf_device_do(t->device, count_there, &c, error);
    for (size_t i = 0; status == SF_OK && i < t->present.count; i++)
        counts[t->present.order[i]] = t->counted[i];
    return status;
}
