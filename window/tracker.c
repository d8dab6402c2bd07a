/* SPDX-License-Identifier: Apache-2.0 */
#include "window/tracker.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "window/sliding.h"

#include <stdlib.h>

#define NEW SIZE_MAX

typedef struct tracked {
    sf_episode episode;
    sf_sliding sliding;
    size_t known; /* in the list being prepared: where the present one has it, or NEW */
    bool wanted;  /* in the present list: the one being prepared takes it over */
} tracked;

typedef struct list {
    tracked *items;
    size_t count;
} list;

struct sf_tracker {
    sf_trains trains;
    sf_queue segments; /* of sf_segment: those in the window */
    list present, next;
    bool preparing;  /* there is a next list, which may be empty */
    size_t prepared; /* so many of it have all their summaries */
    bool rests;
    sf_segment_scratch scratch;
    sf_summary summary; /* of the segment at hand */
};

static void close_list(list *closed)
{
    for (size_t i = 0; i < closed->count; i++)
        sf_sliding_close(&closed->items[i].sliding);
    sf_free(closed->items);
    *closed = (list){0};
}

int sf_tracker_open(sf_tracker **tracker, size_t unit_count, int64_t window_ns, sf_error *error)
{
    *tracker = NULL;
    sf_tracker *made = sf_alloc(1, sizeof *made);
    if (made == NULL) return sf_fail_memory(error);
    made->segments.item_size = sizeof(sf_segment);
    int status = sf_trains_open(&made->trains, unit_count, error);
    made->trains.span_ns = window_ns;
    if (status != SF_OK) {
        sf_tracker_close(made);
        return status;
    }
    *tracker = made;
    return SF_OK;
}

void sf_tracker_close(sf_tracker *tracker)
{
    if (tracker == NULL) return;
    close_list(&tracker->present);
    close_list(&tracker->next);
    sf_trains_close(&tracker->trains);
    sf_queue_free(&tracker->segments);
    sf_segment_scratch_free(&tracker->scratch);
    sf_summary_free(&tracker->summary);
    sf_free(tracker);
}

static int push_summary(sf_tracker *tracker, tracked *item, const sf_segment *segment, sf_error *error)
{
    int status = sf_segment_summarise(&tracker->summary, &tracker->trains, &item->episode, segment->begin,
                                      segment->end, &tracker->scratch, error);
    return status == SF_OK ? sf_sliding_push(&item->sliding, &tracker->summary, error) : status;
}

/* Number i of all that is to have a summary of every segment: what is tracked, and what has been prepared. */
static tracked *summarised(sf_tracker *tracker, size_t i)
{
    return i < tracker->present.count ? &tracker->present.items[i]
                                      : &tracker->next.items[i - tracker->present.count];
}

static size_t summarised_count(const sf_tracker *tracker)
{
    return tracker->present.count + tracker->prepared;
}

static int append(sf_tracker *tracker, const sf_spike *spikes, uint64_t begin, uint64_t end, sf_error *error)
{
    return sf_trains_append(&tracker->trains, spikes, (size_t)(end - begin), begin, error);
}

int sf_tracker_push(sf_tracker *tracker, const sf_segment *segment, const sf_spike *spikes, sf_error *error)
{
    if (sf_queue_reserve(&tracker->segments) != 0) return sf_fail_memory(error);
    int status = tracker->rests ? SF_OK : append(tracker, spikes, segment->begin, segment->end, error);
    size_t count = summarised_count(tracker);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        if (summarised(tracker, i)->known == NEW)
            status = push_summary(tracker, summarised(tracker, i), segment, error);
    if (status == SF_OK) *(sf_segment *)sf_queue_at(&tracker->segments, tracker->segments.end++) = *segment;
    return status;
}

int sf_tracker_drop_before(sf_tracker *tracker, int64_t window_start_ns, sf_error *error)
{
    sf_queue *segments = &tracker->segments;
    uint64_t position = 0;
    size_t count = summarised_count(tracker);
    for (; segments->begin < segments->end; segments->begin++) {
        const sf_segment *oldest = sf_queue_at(segments, segments->begin);
        if (oldest->span.start_ns >= window_start_ns) break;
        for (size_t i = 0; i < count; i++) {
            int status = sf_sliding_drop(&summarised(tracker, i)->sliding, error);
            if (status != SF_OK) return status;
        }
        position = oldest->end;
    }
    sf_trains_drop_before(&tracker->trains, position);
    return SF_OK;
}

/* ---- another list ---- */

static int compare_tracked(const void *a, const void *b)
{
    const tracked *const *x = a, *const *y = b;
    return sf_episode_compare(&(*x)->episode, &(*y)->episode);
}

/* The present episode equal to this one that is not wanted yet, among those sorted, or NULL. */
static tracked *find_tracked(tracked **sorted, size_t count, const sf_episode *episode)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sf_episode_compare(&sorted[middle]->episode, episode) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && sf_episode_compare(&sorted[low]->episode, episode) == 0; low++)
        if (!sorted[low]->wanted) return sorted[low];
    return NULL;
}

static void forget_next(sf_tracker *tracker)
{
    close_list(&tracker->next);
    tracker->preparing = false;
    tracker->prepared = 0;
    for (size_t i = 0; i < tracker->present.count; i++)
        tracker->present.items[i].wanted = false;
}

static int fill_next(sf_tracker *tracker, tracked **sorted, const sf_episode *episodes, size_t count,
                     sf_error *error)
{
    for (size_t i = 0; i < tracker->present.count; i++)
        sorted[i] = &tracker->present.items[i];
    qsort(sorted, tracker->present.count, sizeof *sorted, compare_tracked);
    for (size_t i = 0; i < count; i++) {
        tracked *known = find_tracked(sorted, tracker->present.count, &episodes[i]);
        tracked *item = &tracker->next.items[tracker->next.count++];
        *item = (tracked){.episode = episodes[i], .known = NEW};
        sf_sliding_open(&item->sliding);
        if (known != NULL) {
            known->wanted = true;
            item->known = (size_t)(known - tracker->present.items);
        }
        int status = sf_episode_check(&item->episode, tracker->trains.unit_count, error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

int sf_tracker_prepare(sf_tracker *tracker, const sf_episode *episodes, size_t count, sf_error *error)
{
    forget_next(tracker);
    tracked **sorted = sf_alloc(tracker->present.count, sizeof *sorted);
    tracker->next.items = sf_alloc(count, sizeof *tracker->next.items);
    int status = sorted != NULL && tracker->next.items != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = fill_next(tracker, sorted, episodes, count, error);
    sf_free(sorted);
    tracker->preparing = status == SF_OK;
    if (status != SF_OK) forget_next(tracker);
    return status;
}

/* Summarises the segments that are in the window for the next of the new list. */
static int prepare_one(sf_tracker *tracker, sf_error *error)
{
    tracked *item = &tracker->next.items[tracker->prepared];
    int status = SF_OK;
    for (uint64_t i = tracker->segments.begin; item->known == NEW && i < tracker->segments.end; i++) {
        status = push_summary(tracker, item, sf_queue_at(&tracker->segments, i), error);
        if (status != SF_OK) return status;
    }
    tracker->prepared++;
    return status;
}

/* The new list takes over what both have, and the place of the other. */
static void take_next(sf_tracker *tracker)
{
    for (size_t i = 0; i < tracker->next.count; i++) {
        tracked *item = &tracker->next.items[i];
        if (item->known == NEW) continue;
        tracked *known = &tracker->present.items[item->known];
        item->sliding = known->sliding;
        sf_sliding_open(&known->sliding);
        item->known = NEW;
    }
    close_list(&tracker->present);
    tracker->present = tracker->next;
    tracker->next = (list){0};
    tracker->preparing = false;
    tracker->prepared = 0;
}

int sf_tracker_go_on(sf_tracker *tracker, int64_t until_ns, bool *ready, sf_error *error)
{
    *ready = false;
    if (!tracker->preparing) return SF_OK;
    while (tracker->prepared < tracker->next.count) {
        int status = prepare_one(tracker, error);
        if (status != SF_OK) {
            forget_next(tracker);
            return status;
        }
        if (sf_clock_monotonic_ns() > until_ns) break;
    }
    *ready = tracker->prepared == tracker->next.count;
    if (*ready) take_next(tracker);
    return SF_OK;
}

int sf_tracker_set(sf_tracker *tracker, const sf_episode *episodes, size_t count, sf_error *error)
{
    bool ready;
    int status = sf_tracker_prepare(tracker, episodes, count, error);
    return status == SF_OK ? sf_tracker_go_on(tracker, INT64_MAX, &ready, error) : status;
}

void sf_tracker_rest(sf_tracker *tracker)
{
    forget_next(tracker);
    close_list(&tracker->present);
    sf_trains_clear(&tracker->trains);
    tracker->rests = true;
}

int sf_tracker_wake(sf_tracker *tracker, const sf_history *history, sf_error *error)
{
    const sf_queue *segments = &tracker->segments;
    tracker->rests = false;
    if (segments->begin == segments->end) return SF_OK;
    const sf_segment *oldest = sf_queue_at(segments, segments->begin),
                     *newest = sf_queue_at(segments, segments->end - 1);
    return append(tracker, sf_history_view(history, oldest->begin), oldest->begin, newest->end, error);
}

const sf_queue *sf_tracker_segments(const sf_tracker *tracker)
{
    return &tracker->segments;
}

uint64_t sf_tracker_count(const sf_tracker *tracker, size_t index)
{
    return sf_sliding_count(&tracker->present.items[index].sliding);
}
