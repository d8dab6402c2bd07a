/* SPDX-License-Identifier: Apache-2.0 */
#include "window/tracks.h"

#include "core/clock.h"
#include "core/error.h"
#include "window/queue.h"

/* Lengths of blocks: 2^0, 2^1, ... segments. */
#define LENGTHS 32

/* The number of segments that are laid out at once while a list is prepared. */
#define SEGMENTS_AT_ONCE 4

/* More spikes than these are not counted in a window. */
#define MOST_SPIKES ((uint64_t)INT32_MAX)

typedef struct list {
    sf_backend_tracks *tracks;
    sf_track_list episodes;   /* as the device has them */
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
    if (closed->tracks != NULL) sf_device_discard(t->device, close_there, &(closing){t, closed});
    for (unsigned length = 0; length < LENGTHS; length++)
        sf_queue_free(&closed->blocks[length]);
    sf_track_list_free(&closed->episodes);
    *closed = (list){0};
}

typedef struct opening {
    sf_tracks *tracks;
    list *list;
    const uint32_t *known;
} opening;

static int open_there(void *context, sf_device *device, sf_error *failure)
{
    const opening *o = context;
    return o->tracks->backend->open(&o->list->tracks, sf_device_opened(device), &o->list->episodes.spelt,
                                    o->known, failure);
}

/* Takes the episodes over. */
static int open_list(sf_tracks *t, list *l, sf_track_list *episodes, sf_error *error)
{
    for (unsigned length = 0; length < LENGTHS; length++)
        l->blocks[length].item_size = sizeof(sf_backend_table *);
    l->episodes = *episodes;
    *episodes = (sf_track_list){0};
    uint32_t *known = sf_resize(NULL, l->episodes.spelt.count, sizeof *known);
    int status = known != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        sf_track_list_find_known(known, &l->episodes, &t->present.episodes);
        status = sf_device_do(t->device, open_there, &(opening){t, l, known}, error);
    }
    sf_free(known);
    return status;
}

/* ---- opening ---- */

void sf_tracks_close(sf_tracks *tracks)
{
    if (tracks == NULL) return;
    close_list(tracks, &tracks->present);
    close_list(tracks, &tracks->next);
    sf_queue_free(&tracks->segments);
    sf_free(tracks->counted);
    sf_free(tracks);
}

static int take_segments(sf_tracks *t, const sf_queue *segments)
{
    for (uint64_t i = segments->begin; i < segments->end; i++) {
        if (sf_queue_reserve(&t->segments) != 0) return SF_NO_MEMORY;
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
    if (t == NULL) return sf_fail_memory(error);
    *t = (sf_tracks){.resident = resident,
                     .device = device,
                     .backend = backend,
                     .unit_count = (uint32_t)unit_count,
                     .segments = {.item_size = sizeof(sf_segment)}};
    int status = take_segments(t, segments) == SF_OK ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = open_list(t, &t->present, &(sf_track_list){0}, error);
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
    if (from->begin == to->end) return SF_OK;
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
    if (sf_queue_reserve(blocks) != 0) return SF_NO_MEMORY;
    if (blocks->begin == blocks->end) blocks->begin = blocks->end = i;
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
    if (!*composed) return SF_OK;
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
    if (sf_queue_reserve(&t->segments) != 0) return sf_fail_memory(error);
    int status = SF_OK;
    if (t->present.episodes.spelt.count > 0)
        status = lay_out(t, &there, history, segment, segment, t->present.episodes.reach_ns, error);
    if (status == SF_OK && t->present.episodes.spelt.count > 0)
        status = push(t, &t->present, t->segments.end, segment, &there, NULL, error);
    sf_device_stream_close(there.stream);
    if (status == SF_OK) *(sf_segment *)sf_queue_at(&t->segments, t->segments.end++) = *segment;
    return status;
}

static int drop_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    (void)failure;
    sf_tracks *t = context;
    drop_blocks(t, &t->present, t->segments.begin);
    if (t->preparing) drop_blocks(t, &t->next, t->segments.begin);
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
    if (t->prepared < segments->begin) t->prepared = segments->begin;
}

/* ---- another list ---- */

int sf_tracks_prepare(sf_tracks *t, sf_track_list *episodes, sf_error *error)
{
    close_list(t, &t->next);
    t->preparing = false;
    t->prepared = t->segments.begin;
    int status = open_list(t, &t->next, episodes, error);
    t->preparing = status == SF_OK;
    if (status != SF_OK) close_list(t, &t->next);
    return status;
}

/* The segments that the next list lacks, some of them. */
static int prepare_some(sf_tracks *t, const sf_history *history, sf_error *error)
{
    laid_out there;
    uint64_t last =
        t->segments.end - t->prepared > SEGMENTS_AT_ONCE ? t->prepared + SEGMENTS_AT_ONCE : t->segments.end;
    int status = lay_out(t, &there, history, sf_queue_at(&t->segments, t->prepared),
                         sf_queue_at(&t->segments, last - 1), t->next.episodes.reach_ns, error);
    for (; status == SF_OK && t->prepared < last; t->prepared++)
        status =
            push(t, &t->next, t->prepared, sf_queue_at(&t->segments, t->prepared), &there,
                 t->present.episodes.spelt.count > 0 ? *block_at(&t->present, 0, t->prepared) : NULL, error);
    sf_device_stream_close(there.stream);
    return status;
}

int sf_tracks_go_on(sf_tracks *t, const sf_history *history, int64_t until_ns, bool *ready, sf_error *error)
{
    *ready = false;
    if (!t->preparing) return SF_OK;
    int64_t now_ns = sf_clock_monotonic_ns(), took_ns = 0;
    while (t->prepared < t->segments.end && (took_ns == 0 || now_ns <= until_ns - took_ns)) {
        int status = prepare_some(t, history, error);
        if (status != SF_OK) return status;
        took_ns = sf_clock_monotonic_ns() - now_ns;
        now_ns += took_ns;
    }
    *ready = t->prepared == t->segments.end;
    if (!*ready) return SF_OK;
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
    if (sf_reserve(&t->counted, &t->counted_room, t->present.episodes.spelt.count, sizeof *t->counted) != 0)
        return sf_fail_memory(error);
    if (t->segments.begin < t->segments.end) {
        const sf_segment *oldest = sf_queue_at(&t->segments, t->segments.begin),
                         *newest = sf_queue_at(&t->segments, t->segments.end - 1);
        c.from = oldest->begin;
        if (newest->end - oldest->begin > MOST_SPIKES)
            return sf_fail(error, SF_UNAVAILABLE, NULL, "the window has more spikes than a device counts");
    }
    if (t->present.episodes.spelt.count == 0) return SF_OK;
    c.table_count = cover(t, c.tables);
    int status = sf_device_do(t->device, count_there, &c, error);
    for (size_t i = 0; status == SF_OK && i < t->present.episodes.spelt.count; i++)
        counts[t->present.episodes.order[i]] = t->counted[i];
    return status;
}
