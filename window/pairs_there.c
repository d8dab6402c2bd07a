/* SPDX-License-Identifier: Apache-2.0 */
#include "window/pairs_there.h"

#include "core/backend/pairs.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

/* Where spikes go, as much of the window is laid out again as went; for pairs that this does not tell the
 * counts of, so many times as much, and so on. */
#define GROWTH 8

/* Beyond 2^31, the numbers of spikes do not fit. */
#define MOST_SPIKES ((uint64_t)INT32_MAX)

struct sf_pairs_there {
    /* Spikes on the device: those that come, and those that go. Each lie side by side in the stream, so a few
     * are copied at a time. */
    sf_resident *coming, *going;
    sf_device *device;
    const struct sf_backend_pair_counting *backend;
    sf_backend_pairs *pairs;
    uint32_t unit_count;
    int64_t longest_ns;  /* delay */
    uint64_t piece;      /* as at open */
    uint64_t begin, end; /* the window */
    sf_backend_pair *there;
    sf_pair_count *found;
    uint64_t found_count, most;
};

/* ---- opening and closing ---- */

static void close_there(void *context)
{
    sf_pairs_there *p = context;
    p->backend->close(p->pairs);
}

void sf_pairs_there_close(sf_pairs_there *pairs)
{
    if (pairs == NULL) return;
    if (pairs->pairs != NULL) sf_device_discard(pairs->device, close_there, pairs);
    sf_resident_close(pairs->coming);
    sf_resident_close(pairs->going);
    sf_free(pairs->there);
    sf_free(pairs->found);
    sf_free(pairs);
}

typedef struct opening {
    sf_pairs_there *pairs;
    const sf_delay *delays;
    uint32_t delay_count;
    bool self;
} opening;

static int open_there(void *context, sf_device *device, sf_error *failure)
{
    const opening *o = context;
    return o->pairs->backend->open(&o->pairs->pairs, sf_device_opened(device), o->pairs->unit_count,
                                   o->delays, o->delay_count, o->self, failure);
}

int sf_pairs_there_open(sf_pairs_there **opened, sf_device *device, size_t unit_count, const sf_delay *delays,
                        size_t delay_count, bool self, size_t most, uint64_t piece, uint64_t position,
                        sf_error *error)
{
    *opened = NULL;
    const struct sf_backend_pair_counting *backend = sf_device_backend(device)->pairs;
    if (backend == NULL || unit_count > UINT16_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s counts no pairs of %zu units", sf_device_name(device),
                       unit_count);
    sf_pairs_there *p = sf_alloc(1, sizeof *p);
    if (p == NULL) return sf_fail_memory(error);
    *p = (sf_pairs_there){.device = device,
                          .backend = backend,
                          .unit_count = (uint32_t)unit_count,
                          .begin = position,
                          .end = position,
                          .most = most,
                          .piece = piece,
                          .there = sf_resize(NULL, most, sizeof *p->there),
                          .found = sf_resize(NULL, most, sizeof *p->found)};
    for (size_t i = 0; i < delay_count; i++)
        p->longest_ns = delays[i].high_ns > p->longest_ns ? delays[i].high_ns : p->longest_ns;
    opening o = {p, delays, (uint32_t)delay_count, self};
    int status = p->there != NULL && p->found != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = sf_resident_open(&p->coming, device, error);
    if (status == SF_OK) status = sf_resident_open(&p->going, device, error);
    if (status == SF_OK) status = sf_device_do(device, open_there, &o, error);
    if (status == SF_OK)
        *opened = p;
    else
        sf_pairs_there_close(p);
    return status;
}

/* ---- the window moves ---- */

/* What one job is asked for. */
typedef struct moving {
    sf_pairs_there *pairs;
    sf_backend_stream *stream;
    sf_backend_segment segment;
    bool rest, whole; /* of what leaves */
    uint64_t left;
    uint32_t least; /* of what is found */
} moving;

static int enter_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    const moving *m = context;
    return m->pairs->backend->enter(m->pairs->pairs, m->stream, &m->segment, failure);
}

static int leave_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    moving *m = context;
    return m->pairs->backend->leave(m->pairs->pairs, m->stream, &m->segment, m->rest, m->whole, &m->left,
                                    failure);
}

static int find_there(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    const moving *m = context;
    sf_pairs_there *p = m->pairs;
    return p->backend->find(p->pairs, m->least, p->there, p->most, &p->found_count, failure);
}

/* Does the job on positions first .. last - 1, of which the segment begins at `at`. */
static int move(moving *m, sf_resident *resident, const sf_history *history, uint64_t first, uint64_t at,
                uint64_t last, sf_device_job *job, sf_error *error)
{
    sf_pairs_there *p = m->pairs;
    sf_device_stream *stream;
    int status = sf_resident_lay_out(&stream, resident, history, first, last, p->unit_count, error);
    if (status == SF_OK && stream != NULL) {
        m->stream = sf_device_stream_made(stream);
        m->segment = (sf_backend_segment){first, (uint32_t)(at - first), (uint32_t)(last - first)};
        status = sf_device_do(p->device, job, m, error);
    }
    sf_device_stream_close(stream);
    return status;
}

/* The spikes up to `end` come. */
static int enter(sf_pairs_there *p, const sf_history *history, uint64_t end, sf_error *error)
{
    uint64_t first = sf_history_find(history, sf_time_plus(sf_history_time(history, p->end), -p->longest_ns));
    first = first > p->begin ? first : p->begin;
    int status = move(&(moving){.pairs = p}, p->coming, history, first < p->end ? first : p->end, p->end, end,
                      enter_there, error);
    p->end = end;
    return status;
}

/* Those before `begin` go. */
static int leave(sf_pairs_there *p, const sf_history *history, uint64_t begin, sf_error *error)
{
    uint64_t end = p->end;
    moving m = {.pairs = p};
    int64_t last_ns = sf_history_time(history, begin - 1);
    int64_t ahead_ns = sf_time_plus(p->longest_ns, last_ns - sf_history_time(history, p->begin));
    int status = SF_OK;
    do {
        uint64_t last = sf_history_find(history, sf_time_plus(sf_time_plus(last_ns, ahead_ns), 1));
        m.whole = last >= end;
        status = move(&m, p->going, history, p->begin, begin, m.whole ? end : last, leave_there, error);
        m.rest = true;
        ahead_ns = ahead_ns > INT64_MAX / GROWTH ? INT64_MAX : GROWTH * ahead_ns;
    } while (status == SF_OK && m.left > 0);
    p->begin = begin;
    return status;
}

/* Where a piece ends that begins at a position and goes no further than `last`. */
static uint64_t piece_end(const sf_pairs_there *p, uint64_t from, uint64_t last)
{
    return p->piece > 0 && last - from > p->piece ? from + p->piece : last;
}

int sf_pairs_there_slide(sf_pairs_there *p, const sf_history *history, uint64_t begin, uint64_t end,
                         uint32_t least, sf_error *error)
{
    p->found_count = 0;
    if (end - p->begin > MOST_SPIKES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a window of 2^31 spikes is too long for a device");
    int status = SF_OK;
    while (p->end < end && status == SF_OK)
        status = enter(p, history, piece_end(p, p->end, end), error);
    while (p->begin < begin && status == SF_OK)
        status = leave(p, history, piece_end(p, p->begin, begin), error);
    if (status == SF_OK)
        status = sf_device_do(p->device, find_there, &(moving){.pairs = p, .least = least}, error);
    for (uint64_t i = 0; status == SF_OK && i < p->found_count && i < p->most; i++)
        p->found[i] = (sf_pair_count){p->there[i].from, p->there[i].to, p->there[i].delay, p->there[i].count};
    return status;
}

const sf_pair_count *sf_pairs_there_found(const sf_pairs_there *pairs, size_t *count)
{
    *count = (size_t)pairs->found_count;
    return pairs->found;
}
