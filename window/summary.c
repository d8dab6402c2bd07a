/* SPDX-License-Identifier: Apache-2.0 */
#include "window/summary.h"

#include "core/error.h"
#include "core/memory.h"

void sf_summary_free(sf_summary *summary)
{
    sf_free(summary->steps);
    *summary = (sf_summary){0};
}

void sf_summary_clear(sf_summary *summary, uint64_t begin, uint64_t end)
{
    summary->begin = begin;
    summary->end = end;
    summary->step_count = 0;
}

/* Most summaries have no step or one, and there are many of them: room grows from one. */
static int append(sf_summary *summary, uint64_t until, sf_passage passage, sf_error *error)
{
    sf_summary_step *last = summary->step_count > 0 ? &summary->steps[summary->step_count - 1] : NULL;
    if (last != NULL && last->count == passage.count && last->exit == passage.exit) {
        last->until = until;
        return SF_OK;
    }
    if (summary->step_count == summary->capacity) {
        uint32_t capacity = summary->capacity == 0 ? 1 : 2 * summary->capacity;
        sf_summary_step *steps = sf_resize(summary->steps, capacity, sizeof *steps);
        if (steps == NULL) return sf_fail_memory(error);
        summary->steps = steps;
        summary->capacity = capacity;
    }
    summary->steps[summary->step_count++] = (sf_summary_step){until, passage.count, passage.exit};
    return SF_OK;
}

/* For each interval, what follows when it is taken: from the last to the first, since the next one that can
 * be taken after an interval lies behind it. */
static void chain(sf_interval *intervals, size_t count)
{
    size_t next = count;
    for (size_t i = count; i-- > 0;) {
        sf_interval *taken = &intervals[i];
        while (next - 1 > i && intervals[next - 1].start > taken->end)
            next--;
        bool last = next == count;
        taken->count = last ? 1 : 1 + intervals[next].count;
        taken->exit = last ? taken->end + 1 : intervals[next].exit;
    }
}

int sf_summary_build(sf_summary *summary, uint64_t begin, uint64_t end, sf_interval *intervals, size_t count,
                     sf_error *error)
{
    sf_summary_clear(summary, begin, end);
    chain(intervals, count);
    for (size_t i = 0; i < count; i++) {
        const sf_interval *first = &intervals[i];
        if (i > 0 && first->start == intervals[i - 1].start) continue; /* the earlier end is taken */
        bool past_begin = first->start >= begin;
        sf_passage passage = {first->count, first->exit};
        int status = append(summary, past_begin ? begin : first->start, passage, error);
        if (status != SF_OK || past_begin) return status;
    }
    return SF_OK;
}

/* Index of the step that holds for an entry, or step_count. */
static uint32_t find_step(const sf_summary *summary, uint64_t entry)
{
    uint32_t low = 0, high = summary->step_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (summary->steps[middle].until < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

sf_passage sf_summary_pass(const sf_summary *summary, uint64_t entry)
{
    uint32_t step = find_step(summary, entry);
    if (step == summary->step_count) return (sf_passage){0, entry};
    return (sf_passage){summary->steps[step].count, summary->steps[step].exit};
}

int sf_summary_compose(sf_summary *to, const sf_summary *left, const sf_summary *right, sf_error *error)
{
    sf_summary_clear(to, left->begin, right->end);
    for (uint32_t i = 0; i < left->step_count; i++) {
        const sf_summary_step *step = &left->steps[i];
        sf_passage passage = sf_summary_pass(right, step->exit);
        passage.count += step->count;
        if (append(to, step->until, passage, error) != SF_OK) return SF_NO_MEMORY;
    }
    /* Later entries pass the left segment unchanged and meet the right one as they are. */
    uint64_t from = left->step_count > 0 ? left->steps[left->step_count - 1].until + 1 : 0;
    for (uint32_t i = find_step(right, from); i < right->step_count && from <= left->begin; i++) {
        const sf_summary_step *step = &right->steps[i];
        uint64_t until = step->until < left->begin ? step->until : left->begin;
        if (append(to, until, (sf_passage){step->count, step->exit}, error) != SF_OK) return SF_NO_MEMORY;
        from = until + 1;
    }
    return SF_OK;
}
