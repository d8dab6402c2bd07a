/* SPDX-License-Identifier: Apache-2.0 */
#include "window/history.h"

#include "core/ahead.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

#define LEAST_CAPACITY 1024

void sf_history_free(sf_history *history)
{
    sf_free(history->spikes);
    *history = (sf_history){0};
}

/* Writes both copies, in pieces where the first one wraps. */
static void store(sf_history *history, uint64_t position, const sf_spike *spikes, size_t count)
{
    while (count > 0) {
        uint64_t slot = position % history->capacity;
        size_t piece = count < history->capacity - slot ? count : (size_t)(history->capacity - slot);
        memcpy(history->spikes + slot, spikes, piece * sizeof *spikes);
        memcpy(history->spikes + slot + history->capacity, spikes, piece * sizeof *spikes);
        position += piece;
        spikes += piece;
        count -= piece;
    }
}

int sf_history_reserve(sf_history *history, uint64_t capacity, sf_error *error)
{
    sf_history grown = *history;
    if (capacity <= history->capacity) return SF_OK;
    grown.capacity = capacity > LEAST_CAPACITY ? capacity : LEAST_CAPACITY;
    grown.spikes = sf_resize(NULL, grown.capacity, 2 * sizeof *grown.spikes);
    if (grown.spikes == NULL) return sf_fail_memory(error);
    if (history->end > history->begin)
        store(&grown, history->begin, sf_history_view(history, history->begin),
              (size_t)(history->end - history->begin));
    sf_free(history->spikes);
    *history = grown;
    return SF_OK;
}

/* Half more at least. */
static uint64_t grown_capacity(const sf_history *history, const sf_spike *spikes, size_t count)
{
    uint64_t needed = history->end - history->begin + count,
             half_more = history->capacity + history->capacity / 2;
    int64_t first_ns = needed > count ? sf_history_time(history, history->begin) : spikes[0].time_ns;
    uint64_t ahead = sf_room_ahead(needed, spikes[count - 1].time_ns - first_ns, history->span_ns);
    return ahead > half_more ? ahead : half_more;
}

int sf_history_append(sf_history *history, const sf_spike *spikes, size_t count, sf_error *error)
{
    uint64_t needed = history->end - history->begin + count;
    if (needed > history->capacity) {
        uint64_t grown = grown_capacity(history, spikes, count);
        if (sf_history_reserve(history, grown, NULL) != SF_OK &&
            sf_history_reserve(history, needed, error) != SF_OK)
            return SF_NO_MEMORY;
    }
    store(history, history->end, spikes, count);
    history->end += count;
    return SF_OK;
}

const sf_spike *sf_history_view(const sf_history *history, uint64_t position)
{
    if (history->capacity == 0) return NULL;
    /* From the slot of `begin`, so that the view of `end` itself still lies behind the others. */
    return history->spikes + history->begin % history->capacity + (position - history->begin);
}

uint64_t sf_history_find(const sf_history *history, int64_t time_ns)
{
    if (history->end == history->begin) return history->end;
    return history->begin + sf_spikes_lower_bound(sf_history_view(history, history->begin),
                                                  (size_t)(history->end - history->begin), time_ns);
}

void sf_history_drop_before(sf_history *history, uint64_t position)
{
    if (position > history->begin) history->begin = position < history->end ? position : history->end;
}
