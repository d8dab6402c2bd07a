/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/past.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"

#include <string.h>

/* A shape is measured of as many units. */
#define BUSIEST 64

/* ---- stretches ---- */

/* Index of the first spike of stretches from this one on. */
static size_t first_since(const sf_past_spikes *all, uint64_t number)
{
    for (size_t i = 0; i < all->mark_count; i++)
        if (all->marks[i].number >= number) return all->marks[i].first;
    return all->count;
}

static void drop_before(sf_past_spikes *all, uint64_t number)
{
    size_t gone = 0, first = first_since(all, number);
    while (gone < all->mark_count && all->marks[gone].number < number)
        gone++;
    all->count -= first;
    all->mark_count -= gone;
    if (first > 0) memmove(all->spikes, all->spikes + first, all->count * sizeof *all->spikes);
    if (gone > 0) memmove(all->marks, all->marks + gone, all->mark_count * sizeof *all->marks);
    for (size_t i = 0; i < all->mark_count; i++)
        all->marks[i].first -= first;
}

/* Of units for which `keep` says so. */
static void drop_units(sf_past_spikes *all, const bool *keep)
{
    size_t kept = 0, mark = 0;
    for (size_t i = 0; i <= all->count; i++) {
        for (; mark < all->mark_count && all->marks[mark].first == i; mark++)
            all->marks[mark].first = kept;
        if (i < all->count && keep[all->spikes[i].unit]) all->spikes[kept++] = all->spikes[i];
    }
    all->count = kept;
}

/* `keep` NULL: of all units. */
static int append(sf_past_spikes *all, uint64_t number, const sf_spike *spikes, size_t count,
                  const bool *keep)
{
    void *room = all->spikes, *marks = all->marks;
    if (sf_reserve(&room, &all->capacity, all->count + count + 1, sizeof *all->spikes) != 0)
        return SF_NO_MEMORY;
    all->spikes = room;
    if (sf_reserve(&marks, &all->mark_capacity, all->mark_count + 1, sizeof *all->marks) != 0)
        return SF_NO_MEMORY;
    all->marks = marks;
    all->marks[all->mark_count++] = (struct sf_stretch_mark){number, all->count};
    for (size_t i = 0; i < count; i++)
        if (keep == NULL || keep[spikes[i].unit]) all->spikes[all->count++] = spikes[i];
    return SF_OK;
}

static void free_stretches(sf_past_spikes *all)
{
    sf_free(all->spikes);
    sf_free(all->marks);
}

/* ---- the past ---- */

void sf_past_free(sf_past *past)
{
    free_stretches(&past->waiting);
    free_stretches(&past->shaping);
    for (size_t i = 0; i < past->shape_count; i++)
        sf_test_shape_free(&past->shapes[i].shape);
    sf_free(past->shapes);
    *past = (sf_past){0};
}

void sf_past_forget(sf_past *past, uint64_t oldest, const bool *waits)
{
    size_t kept = 0;
    drop_before(&past->waiting, oldest);
    drop_units(&past->waiting, waits);
    for (size_t i = 0; i < past->shape_count; i++)
        if (past->shapes[i].since >= oldest)
            past->shapes[kept++] = past->shapes[i];
        else
            sf_test_shape_free(&past->shapes[i].shape);
    past->shape_count = kept;
}

int sf_past_append(sf_past *past, uint64_t number, const sf_spike *spikes, size_t count, sf_error *error)
{
    return append(&past->waiting, number, spikes, count, NULL) == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* keep[unit]: it is among those that fire most. */
static int find_busiest(bool *keep, const sf_spike *spikes, size_t count, size_t unit_count)
{
    sf_rank *ranked = sf_alloc(unit_count, sizeof *ranked);
    if (ranked == NULL) return SF_NO_MEMORY;
    for (size_t u = 0; u < unit_count; u++)
        ranked[u].index = u;
    for (size_t i = 0; i < count; i++)
        ranked[spikes[i].unit].amount--;
    sf_ranks_sort(ranked, unit_count);
    for (size_t u = 0; u < unit_count && u < BUSIEST; u++)
        keep[ranked[u].index] = true;
    sf_free(ranked);
    return SF_OK;
}

int sf_past_learn(sf_past *past, uint64_t number, const sf_spike *spikes, size_t count, size_t unit_count,
                  sf_error *error)
{
    sf_past_spikes *all = &past->shaping;
    bool *keep = sf_alloc(unit_count, sizeof *keep);
    int status = keep != NULL ? find_busiest(keep, spikes, count, unit_count) : SF_NO_MEMORY;
    if (status == SF_OK) status = append(all, number, spikes, count, keep);
    sf_free(keep);
    while (all->count > SF_PAST_MOST_SPIKES && all->mark_count > 1)
        drop_before(all, all->marks[1].number);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

const sf_spike *sf_past_since(const sf_past *past, uint64_t since, size_t *count)
{
    size_t first = first_since(&past->waiting, since);
    *count = past->waiting.count - first;
    return past->waiting.spikes + first;
}

int sf_past_find_shape(sf_past *past, const sf_test_shape **shape, uint64_t since, size_t unit_count,
                       sf_delay span, const sf_significance_options *options, const sf_progress *progress,
                       sf_error *error)
{
    *shape = NULL;
    for (size_t i = 0; i < past->shape_count; i++) {
        const sf_past_shape *known = &past->shapes[i];
        if (known->since == since && known->span.low_ns == span.low_ns &&
            known->span.high_ns == span.high_ns) {
            *shape = &known->shape;
            return SF_OK;
        }
    }
    size_t before = first_since(&past->shaping, since);
    if (before == 0) return SF_OK;
    void *room = past->shapes;
    if (sf_reserve(&room, &past->shape_capacity, past->shape_count + 1, sizeof *past->shapes) != 0)
        return sf_fail_memory(error);
    past->shapes = room;
    sf_past_shape *made = &past->shapes[past->shape_count];
    made->since = since;
    made->span = span;
    const sf_survey_job job = {.spikes = past->shaping.spikes,
                               .count = before,
                               .unit_count = unit_count,
                               .delay = span,
                               .threads = options->threads,
                               .progress = progress};
    int status = sf_significance_shape(&made->shape, &job, options, error);
    if (status != SF_OK) {
        sf_test_shape_free(&made->shape);
        return status;
    }
    past->shape_count++;
    *shape = &made->shape;
    return SF_OK;
}
