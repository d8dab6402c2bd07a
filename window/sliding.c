/* SPDX-License-Identifier: Apache-2.0 */
#include "window/sliding.h"

#include "core/error.h"

void sf_sliding_open(sf_sliding *sliding)
{
    *sliding = (sf_sliding){.slots.item_size = sizeof(sf_summary)};
}

void sf_sliding_close(sf_sliding *sliding)
{
    for (uint64_t i = 0; i < sliding->slots.capacity; i++)
        sf_summary_free(sf_queue_at(&sliding->slots, i));
    sf_queue_free(&sliding->slots);
    sf_summary_free(&sliding->across);
    sf_summary_free(&sliding->recent);
    sf_summary_free(&sliding->spare);
}

static sf_summary *slot(const sf_sliding *sliding, uint64_t index)
{
    return sf_queue_at(&sliding->slots, index);
}

static void swap(sf_summary *a, sf_summary *b)
{
    sf_summary other = *a;
    *a = *b;
    *b = other;
}

/* Puts the composition of left and right in place of either. */
static int combine(sf_sliding *sliding, sf_summary *place, const sf_summary *left, const sf_summary *right,
                   sf_error *error)
{
    int status = sf_summary_compose(&sliding->spare, left, right, error);
    swap(place, &sliding->spare);
    sliding->compositions++;
    return status;
}

/* The back list becomes the half that is still to be turned over. */
static void flip(sf_sliding *sliding)
{
    sliding->left = sliding->slots.begin;
    sliding->accumulated = sliding->back = sliding->slots.end;
    swap(&sliding->across, &sliding->recent);
}

/* One step of the turning-over, after every push and drop. */
static int step(sf_sliding *sliding, sf_error *error)
{
    if (sliding->slots.begin == sliding->back) { /* at most one segment is left: it is its own total */
        sliding->left = sliding->right = sliding->accumulated = sliding->back = sliding->slots.end;
        return SF_OK;
    }
    if (sliding->left == sliding->back) flip(sliding);
    if (sliding->left == sliding->right) { /* all is turned over: only move along */
        sliding->left++;
        sliding->right++;
        sliding->accumulated++;
        return SF_OK;
    }
    sf_summary *left = slot(sliding, sliding->left++);
    int status = combine(sliding, left, left, &sliding->across, error);
    sliding->accumulated--;
    sf_summary *next = slot(sliding, sliding->accumulated);
    if (status == SF_OK && sliding->accumulated + 1 < sliding->back)
        status = combine(sliding, next, next, slot(sliding, sliding->accumulated + 1), error);
    return status;
}

int sf_sliding_push(sf_sliding *sliding, sf_summary *summary, sf_error *error)
{
    if (sf_queue_reserve(&sliding->slots) != 0) return sf_fail_memory(error);
    if (sliding->back == sliding->slots.end)
        sf_summary_clear(&sliding->recent, summary->begin, summary->begin);
    int status = combine(sliding, &sliding->recent, &sliding->recent, summary, error);
    swap(slot(sliding, sliding->slots.end++), summary);
    return status == SF_OK ? step(sliding, error) : status;
}

int sf_sliding_drop(sf_sliding *sliding, sf_error *error)
{
    if (sf_sliding_length(sliding) == 0) return SF_OK;
    sliding->slots.begin++;
    return step(sliding, error);
}

uint64_t sf_sliding_count(const sf_sliding *sliding)
{
    uint64_t begin = sliding->slots.begin;
    if (begin == sliding->back) /* then there is no segment: a single one is the front */
        return 0;
    sf_passage front = sf_summary_pass(slot(sliding, begin), slot(sliding, begin)->begin);
    if (sliding->back == sliding->slots.end) return front.count;
    return front.count + sf_summary_pass(&sliding->recent, front.exit).count;
}
