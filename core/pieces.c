/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pieces.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"

#include <string.h>

/* ---- walking ---- */

typedef struct held {
    sf_spike *spikes;
    size_t count, capacity;
    sf_drop dropped[SF_DROP_CAUSES]; /* of the rank's own pieces so far */
    size_t dropped_count;
} held;

/* No more than is needed: what a rank holds is counted. */
static int make_room(held *h, size_t count, sf_error *error)
{
    if (count <= h->capacity) return SF_OK;
    sf_spike *spikes = sf_resize(h->spikes, count, sizeof *spikes);
    if (spikes == NULL) return sf_fail_memory(error);
    h->spikes = spikes;
    h->capacity = count;
    return SF_OK;
}

static bool is_before(const sf_spike *a, const sf_spike *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->unit < b->unit;
}

/* What was lost is told of the whole, not of pieces. */
static void add_drops(sf_drop drops[SF_DROP_CAUSES], size_t *drop_count, const sf_drop *more,
                      size_t more_count)
{
    for (size_t i = 0; i < more_count; i++)
        if (more[i].kind != SF_DROP_LOST)
            sf_drops_add(drops, drop_count, more[i].cause, more[i].count)->kind = more[i].kind;
}

/* Reads a piece and puts it at the end of what is held, or in front of it. */
static int add_piece(held *h, const sf_pieces *pieces, uint32_t piece, bool in_front, sf_error *error)
{
    sf_recording read;
    int status = pieces->read(pieces, piece, &read, error);
    if (status != SF_OK) return status;
    size_t count = read.spike_count;
    status = make_room(h, h->count + count, error);
    if (status == SF_OK && count > 0) {
        memmove(h->spikes + (in_front ? count : 0), h->spikes, h->count * sizeof *h->spikes);
        memcpy(h->spikes + (in_front ? 0 : h->count), read.spikes, count * sizeof *h->spikes);
        size_t seam = in_front ? count : h->count;
        h->count += count;
        if (seam > 0 && seam < h->count && is_before(&h->spikes[seam], &h->spikes[seam - 1]))
            status = sf_fail(error, SF_DATA, read.path,
                             "its spikes are not in the order of time: such a file is not read in pieces");
    }
    if (!in_front) add_drops(h->dropped, &h->dropped_count, read.dropped, read.dropped_count);
    sf_recording_clear(&read);
    return status;
}

/* Keeps what lies within the reach of its end, and of what comes next; true where anything was left out. */
static bool forget(held *h, int64_t reach_ns)
{
    if (h->count == 0) return false;
    int64_t from_ns = sf_time_plus(h->spikes[h->count - 1].time_ns, -reach_ns);
    size_t first = sf_spikes_lower_bound(h->spikes, h->count, from_ns);
    h->count -= first;
    memmove(h->spikes, h->spikes + first, h->count * sizeof *h->spikes);
    return first > 0;
}

static int walk_share(held *h, const sf_pieces *pieces, sf_ranks_part own, int64_t reach_ns,
                      int (*body)(void *context, const sf_piece *piece, sf_error *error), void *context,
                      sf_error *error)
{
    int status = SF_OK;
    bool reaches = own.first == own.last;
    for (size_t p = own.first; status == SF_OK && !reaches && p-- > 0; reaches = forget(h, reach_ns))
        status = add_piece(h, pieces, (uint32_t)p, true, error);
    for (size_t p = own.first; status == SF_OK && p < own.last; p++) {
        size_t before = h->count;
        status = add_piece(h, pieces, (uint32_t)p, false, error);
        if (status == SF_OK && h->count > before)
            status = body(context, &(sf_piece){h->spikes, before, h->count}, error);
        forget(h, reach_ns);
    }
    return status;
}

int sf_pieces_walk(const sf_pieces *pieces, int64_t reach_ns,
                   int (*body)(void *context, const sf_piece *piece, sf_error *error), void *context,
                   sf_error *error)
{
    held h = {0};
    int status = walk_share(&h, pieces, sf_ranks_share(pieces->count), reach_ns, body, context, error);
    sf_free(h.spikes);
    return status;
}

/* ---- what is known of all ---- */

typedef struct found {
    sf_tick tick;
    sf_digest digest;
    sf_drop dropped[SF_DROP_CAUSES];
    size_t dropped_count;
} found;

typedef struct survey {
    sf_pieces *pieces;
    const sf_progress *progress;
    double done, own;
    found found;
} survey;

static int look_at(void *context, const sf_piece *piece, sf_error *error)
{
    survey *s = context;
    for (size_t i = piece->before; i < piece->count; i++) {
        const sf_spike *spike = &piece->spikes[i];
        s->pieces->own_spikes[spike->unit]++;
        sf_spikes_digest(&s->found.digest, spike, i > 0);
        if (i > 0) sf_tick_add(&s->found.tick, spike->time_ns - spike[-1].time_ns);
    }
    if (!sf_progress_update(s->progress, "reading", ++s->done, s->own))
        return sf_fail(error, SF_CANCELLED, NULL, "stopped while reading");
    return SF_OK;
}

static int join_found(survey *s, int status, sf_error *error)
{
    void *all;
    size_t bytes;
    status = sf_ranks_append(&all, &bytes, &s->found, sizeof s->found, status, error);
    if (status != SF_OK) return status;
    found joined = {.digest = SF_DIGEST_EMPTY};
    for (size_t r = 0; r < bytes / sizeof joined; r++) {
        const found *of = &((const found *)all)[r];
        for (uint32_t k = 0; k < of->tick.count; k++)
            sf_tick_add(&joined.tick, of->tick.steps[k]);
        joined.digest = sf_digest_join(joined.digest, of->digest);
        add_drops(s->pieces->dropped, &s->pieces->dropped_count, of->dropped, of->dropped_count);
    }
    s->pieces->tick = joined.tick;
    s->pieces->digest = joined.digest;
    sf_free(all);
    return SF_OK;
}

int sf_pieces_survey(sf_pieces *pieces, size_t unit_count, const sf_progress *progress, sf_error *error)
{
    sf_ranks_part own = sf_ranks_share(pieces->count);
    survey s = {.pieces = pieces,
                .progress = progress,
                .own = (double)(own.last - own.first),
                .found.digest = SF_DIGEST_EMPTY};
    pieces->own_spikes = sf_alloc(unit_count, sizeof *pieces->own_spikes);
    pieces->unit_spikes = sf_resize(NULL, unit_count, sizeof *pieces->unit_spikes);
    int status = pieces->own_spikes != NULL && pieces->unit_spikes != NULL ? SF_OK : sf_fail_memory(error);
    held h = {0};
    if (status == SF_OK) status = walk_share(&h, pieces, own, 0, look_at, &s, error);
    add_drops(s.found.dropped, &s.found.dropped_count, h.dropped, h.dropped_count);
    sf_free(h.spikes);
    if (status == SF_OK && unit_count > 0)
        memcpy(pieces->unit_spikes, pieces->own_spikes, unit_count * sizeof *pieces->unit_spikes);
    status = sf_ranks_add(pieces->unit_spikes, unit_count, status, error);
    status = join_found(&s, status, error);
    for (size_t u = 0; status == SF_OK && u < unit_count; u++)
        pieces->spike_count += pieces->unit_spikes[u];
    return status;
}
