/* SPDX-License-Identifier: Apache-2.0 */
#include "window/tracker.h"

#include "core/episode.h"
#include "core/error.h"
#include "window/sliding.h"

#include <stdlib.h>

typedef struct tracked {
    sf_episode episode;
    sf_sliding sliding;
    bool moved; /* while a new list is made: both the old and the new one hold it */
} tracked;

struct sf_tracker {
    sf_trains trains;
    sf_queue segments; /* of sf_segment: those in the window */
    tracked *episodes;
    size_t count;
    sf_segment_scratch scratch;
    sf_summary summary; /* of the segment at hand */
};

int sf_tracker_open(sf_tracker **tracker, size_t unit_count, sf_error *error)
{
    *tracker = NULL;
    sf_tracker *made = sf_alloc(1, sizeof *made);
    if (made == NULL)
        return sf_fail_memory(error);
    made->segments.item_size = sizeof(sf_segment);
    int status = sf_trains_open(&made->trains, unit_count, error);
    if (status != SF_OK) {
        sf_tracker_close(made);
        return status;
    }
    *tracker = made;
    return SF_OK;
}

void sf_tracker_close(sf_tracker *tracker)
{
    if (tracker == NULL)
        return;
    for (size_t i = 0; i < tracker->count; i++)
        sf_sliding_close(&tracker->episodes[i].sliding);
    sf_free(tracker->episodes);
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

int sf_tracker_push(sf_tracker *tracker, const sf_segment *segment, const sf_spike *spikes, sf_error *error)
{
    if (sf_queue_reserve(&tracker->segments) != 0)
        return sf_fail_memory(error);
    int status = sf_trains_append(&tracker->trains, spikes, (size_t)(segment->end - segment->begin),
                                  segment->begin, error);
    for (size_t i = 0; status == SF_OK && i < tracker->count; i++)
        status = push_summary(tracker, &tracker->episodes[i], segment, error);
    if (status == SF_OK)
        *(sf_segment *)sf_queue_at(&tracker->segments, tracker->segments.end++) = *segment;
    return status;
}

int sf_tracker_drop_before(sf_tracker *tracker, int64_t window_start_ns, sf_error *error)
{
    sf_queue *segments = &tracker->segments;
    uint64_t position = 0;
    for (; segments->begin < segments->end; segments->begin++) {
        const sf_segment *oldest = sf_queue_at(segments, segments->begin);
        if (oldest->span.start_ns >= window_start_ns)
            break;
        for (size_t i = 0; i < tracker->count; i++) {
            int status = sf_sliding_drop(&tracker->episodes[i].sliding, error);
            if (status != SF_OK)
                return status;
        }
        position = oldest->end;
    }
    sf_trains_drop_before(&tracker->trains, position);
    return SF_OK;
}

/* Tracks an episode from the beginning of the window. */
static int begin_tracking(sf_tracker *tracker, tracked *item, const sf_episode *episode, sf_error *error)
{
    *item = (tracked){.episode = *episode};
    sf_sliding_open(&item->sliding);
    int status = sf_episode_check(episode, tracker->trains.unit_count, error);
    for (uint64_t i = tracker->segments.begin; status == SF_OK && i < tracker->segments.end; i++)
        status = push_summary(tracker, item, sf_queue_at(&tracker->segments, i), error);
    if (status != SF_OK)
        sf_sliding_close(&item->sliding);
    return status;
}

static int compare_tracked(const void *a, const void *b)
{
    const tracked *const *x = a, *const *y = b;
    return sf_episode_compare(&(*x)->episode, &(*y)->episode);
}

/* The tracked episode equal to this one among those sorted, or NULL. */
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
        if (!sorted[low]->moved)
            return sorted[low];
    return NULL;
}

/* Fills `list`: what is tracked already is copied, and marked in both places. Returns how many it filled. */
static size_t fill_list(sf_tracker *tracker, tracked *list, tracked **sorted, const sf_episode *episodes,
                        size_t count, int *status, sf_error *error)
{
    for (size_t i = 0; i < tracker->count; i++)
        sorted[i] = &tracker->episodes[i];
    qsort(sorted, tracker->count, sizeof *sorted, compare_tracked);
    for (size_t i = 0; i < count; i++) {
        tracked *known = find_tracked(sorted, tracker->count, &episodes[i]);
        if (known == NULL) {
            *status = begin_tracking(tracker, &list[i], &episodes[i], error);
            if (*status != SF_OK)
                return i;
        } else {
            known->moved = true;
            list[i] = *known;
        }
    }
    return count;
}

/* Closes what the other list has not taken over, and frees the list. */
static void close_list(tracked *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!list[i].moved)
            sf_sliding_close(&list[i].sliding);
    sf_free(list);
}

static void clear_marks(tracked *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list[i].moved = false;
}

int sf_tracker_set(sf_tracker *tracker, const sf_episode *episodes, size_t count, sf_error *error)
{
    tracked *list = sf_alloc(count, sizeof *list);
    tracked **sorted = sf_alloc(tracker->count, sizeof *sorted);
    int status = list != NULL && sorted != NULL ? SF_OK : sf_fail_memory(error);
    size_t filled = 0;
    if (status == SF_OK)
        filled = fill_list(tracker, list, sorted, episodes, count, &status, error);
    sf_free(sorted);
    if (status != SF_OK) {
        close_list(list, filled);
        clear_marks(tracker->episodes, tracker->count);
        return status;
    }
    close_list(tracker->episodes, tracker->count);
    clear_marks(list, count);
    tracker->episodes = list;
    tracker->count = count;
    return SF_OK;
}

size_t sf_tracker_size(const sf_tracker *tracker)
{
    return tracker->count;
}

const sf_episode *sf_tracker_episode(const sf_tracker *tracker, size_t index)
{
    return &tracker->episodes[index].episode;
}

uint64_t sf_tracker_count(const sf_tracker *tracker, size_t index)
{
    return sf_sliding_count(&tracker->episodes[index].sliding);
}
