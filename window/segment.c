/* SPDX-License-Identifier: Apache-2.0 */
#include "window/segment.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"

/* ---- cutting */

int sf_cutter_open(sf_cutter *cutter, int64_t anchor_ns, int64_t window_ns, int64_t hop_ns, sf_error *error)
{
    *cutter = (sf_cutter){.window_ns = window_ns, .hop_ns = hop_ns, .anchor_ns = anchor_ns};
    if (window_ns <= 0 || hop_ns <= 0)
        return sf_fail(error, SF_USAGE, NULL, "the %s must be longer than 0",
                       window_ns <= 0 ? "window" : "hop");
    return SF_OK;
}

/* False while there is nothing to anchor at. */
static bool anchor(sf_cutter *cutter, const sf_history *history, int64_t watermark_ns)
{
    if (cutter->anchored) return true;
    if (cutter->anchor_ns == INT64_MIN) {
        if (history->begin == history->end) return false;
        cutter->anchor_ns = sf_history_time(history, history->begin);
    }
    if (cutter->anchor_ns > watermark_ns) return false; /* spikes before it are still to come */
    cutter->anchored = true;
    int64_t remainder = cutter->window_ns % cutter->hop_ns;
    cutter->last_cut_ns = cutter->anchor_ns;
    cutter->last_position = sf_history_find(history, cutter->anchor_ns);
    cutter->next_start_ns = sf_time_plus(cutter->anchor_ns, cutter->hop_ns);
    cutter->next_stop_ns = sf_time_plus(cutter->anchor_ns, remainder != 0 ? remainder : cutter->hop_ns);
    return true;
}

static void cut(sf_cutter *cutter, const sf_history *history, int64_t at_ns, sf_segment *segment)
{
    *segment = (sf_segment){.begin = cutter->last_position,
                            .end = sf_history_find(history, at_ns),
                            .span = {cutter->last_cut_ns, at_ns}};
    cutter->last_position = segment->end;
    cutter->last_cut_ns = at_ns;
}

static void close_window(sf_cutter *cutter, int64_t start_ns, int64_t stop_ns, sf_segment *segment)
{
    segment->closes = true;
    segment->hop = cutter->hops++;
    segment->partial = start_ns < cutter->anchor_ns;
    segment->window = (sf_span){segment->partial ? cutter->anchor_ns : start_ns, stop_ns};
}

bool sf_cutter_next(sf_cutter *cutter, const sf_history *history, int64_t watermark_ns, sf_segment *segment)
{
    if (!anchor(cutter, history, watermark_ns)) return false;
    int64_t start = cutter->next_start_ns, stop = cutter->next_stop_ns;
    int64_t at = start < stop ? start : stop;
    if (at > watermark_ns || at == INT64_MAX) return false;
    cut(cutter, history, at, segment);
    if (at == start) cutter->next_start_ns = sf_time_plus(start, cutter->hop_ns);
    if (at == stop) {
        close_window(cutter, sf_time_plus(stop, -cutter->window_ns), stop, segment);
        cutter->next_stop_ns = sf_time_plus(stop, cutter->hop_ns);
    }
    return true;
}

/* How long after a comes b, where it does. */
static uint64_t later_by(int64_t a, int64_t b)
{
    return b > a ? (uint64_t)b - (uint64_t)a : 0;
}

uint64_t sf_cutter_skip(sf_cutter *cutter, const sf_history *history, int64_t watermark_ns,
                        int64_t silence_ns)
{
    if (!anchor(cutter, history, watermark_ns) || silence_ns == 0) return 0;
    uint64_t position = cutter->last_position;
    int64_t until_ns = watermark_ns, since_ns = INT64_MIN;
    if (position < history->end && sf_history_time(history, position) < watermark_ns)
        until_ns = sf_history_time(history, position);
    if (position > history->begin) since_ns = sf_history_time(history, position - 1);
    bool window_is_empty = sf_time_plus(cutter->next_stop_ns, -cutter->window_ns) > since_ns;
    if (!window_is_empty || until_ns < cutter->next_stop_ns ||
        later_by(cutter->last_cut_ns, until_ns) <= (uint64_t)silence_ns)
        return 0;
    /* Starts and stops of windows are a hop apart: all places move on alike. */
    uint64_t windows = later_by(cutter->next_stop_ns, until_ns) / (uint64_t)cutter->hop_ns + 1;
    int64_t ahead_ns = (int64_t)(windows * (uint64_t)cutter->hop_ns);
    cutter->last_cut_ns = sf_time_plus(cutter->last_cut_ns, ahead_ns);
    cutter->next_start_ns = sf_time_plus(cutter->next_start_ns, ahead_ns);
    cutter->next_stop_ns = sf_time_plus(cutter->next_stop_ns, ahead_ns);
    cutter->hops += windows;
    return windows;
}

bool sf_cutter_finish(sf_cutter *cutter, const sf_history *history, int64_t stop_ns, sf_segment *segment)
{
    if (!anchor(cutter, history, stop_ns) || stop_ns <= cutter->last_cut_ns) return false;
    int64_t start = sf_time_plus(cutter->next_stop_ns, -cutter->window_ns);
    if (start >= stop_ns) return false; /* between two windows */
    cut(cutter, history, stop_ns, segment);
    close_window(cutter, start, stop_ns, segment);
    segment->partial = true;
    return true;
}

/* ---- summarising */

/* An event that ends an occurrence of a prefix, and the latest position at which one starts. */
typedef struct sf_reach {
    int64_t time_ns;
    uint64_t position;
    uint64_t start;
} sf_reach;

void sf_segment_scratch_free(sf_segment_scratch *scratch)
{
    sf_free(scratch->reaches);
    sf_free(scratch->extended);
    sf_free(scratch->intervals);
    *scratch = (sf_segment_scratch){0};
}

/* A part of a unit's train: indexes first .. last - 1. */
typedef struct stretch {
    const sf_queue *train;
    uint64_t first, last;
} stretch;

static size_t begin_prefix(sf_reach *reaches, stretch part)
{
    size_t made = 0;
    for (uint64_t i = part.first; i < part.last; i++) {
        const sf_train_event *event = sf_train_at(part.train, i);
        reaches[made++] = (sf_reach){event->time_ns, event->position, event->position};
    }
    return made;
}

/* Extends the occurrences that `reaches` ends by one node with the events of `part`: each event follows the
 * latest of them that is early enough, if that is not too long ago. */
static size_t extend_prefix(sf_reach *extended, const sf_reach *reaches, size_t count, stretch part,
                            sf_delay delay)
{
    size_t made = 0, early = 0;
    for (uint64_t i = part.first; i < part.last; i++) {
        const sf_train_event *event = sf_train_at(part.train, i);
        while (early < count && sf_delay_over(delay, reaches[early].time_ns, event->time_ns))
            early++;
        if (early > 0 && sf_delay_holds(delay, reaches[early - 1].time_ns, event->time_ns))
            extended[made++] = (sf_reach){event->time_ns, event->position, reaches[early - 1].start};
    }
    return made;
}

/* Fills scratch->reaches for the whole episode and events in `ends`; *count is how many. */
static int find_reaches(sf_segment_scratch *scratch, size_t *count, const sf_trains *trains,
                        const sf_episode *episode, stretch ends, uint64_t end)
{
    int64_t first_ns = sf_train_at(ends.train, ends.first)->time_ns;
    int64_t ahead_ns = sf_episode_span_ns(episode);
    for (uint32_t node = 0; node < episode->size; node++) {
        const sf_queue *train = &trains->units[episode->units[node]];
        stretch part = ends;
        if (node + 1 < episode->size)
            part = (stretch){train, sf_train_find_time(train, sf_time_plus(first_ns, -ahead_ns)),
                             sf_train_find_position(train, end)};
        if (sf_reserve(&scratch->extended, &scratch->extended_capacity, (size_t)(part.last - part.first),
                       sizeof *scratch->extended) != 0)
            return SF_NO_MEMORY;
        if (node == 0)
            *count = begin_prefix(scratch->extended, part);
        else
            *count =
                extend_prefix(scratch->extended, scratch->reaches, *count, part, episode->delays[node - 1]);
        if (*count == 0) return SF_OK;
        sf_reach *reaches = scratch->extended;
        size_t capacity = scratch->extended_capacity;
        scratch->extended = scratch->reaches;
        scratch->extended_capacity = scratch->reach_capacity;
        scratch->reaches = reaches;
        scratch->reach_capacity = capacity;
        if (node + 1 < episode->size) ahead_ns -= episode->delays[node].high_ns;
    }
    return SF_OK;
}

int sf_segment_summarise(sf_summary *summary, const sf_trains *trains, const sf_episode *episode,
                         uint64_t begin, uint64_t end, sf_segment_scratch *scratch, sf_error *error)
{
    sf_summary_clear(summary, begin, end);
    const sf_queue *last = &trains->units[episode->units[episode->size - 1]];
    stretch ends = {last, sf_train_find_position(last, begin), sf_train_find_position(last, end)};
    if (ends.first == ends.last) return SF_OK;
    size_t count = 0;
    if (find_reaches(scratch, &count, trains, episode, ends, end) != SF_OK ||
        sf_reserve(&scratch->intervals, &scratch->interval_capacity, count, sizeof *scratch->intervals) != 0)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        scratch->intervals[i] =
            (sf_interval){.end = scratch->reaches[i].position, .start = scratch->reaches[i].start};
    return sf_summary_build(summary, begin, end, scratch->intervals, count, error);
}
