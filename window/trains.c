/* SPDX-License-Identifier: Apache-2.0 */
#include "window/trains.h"

#include "core/ahead.h"
#include "core/error.h"

#include <inttypes.h>

#define LEAST_AHEAD 16 /* spikes tell a pace, ... */
#define DOUBLINGS 4    /* ... or 2, 4 and 8 times as many, by unit: units of one rate would grow in one hop */
#define MOST_AHEAD 4096 /* of one unit: there are many, and a burst may have been its first spikes */

int sf_trains_open(sf_trains *trains, size_t unit_count, sf_error *error)
{
    *trains = (sf_trains){.unit_count = unit_count};
    trains->units = sf_alloc(unit_count, sizeof *trains->units);
    if (trains->units == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < unit_count; i++)
        trains->units[i].item_size = sizeof(sf_train_event);
    return SF_OK;
}

void sf_trains_clear(sf_trains *trains)
{
    for (size_t i = 0; trains->units != NULL && i < trains->unit_count; i++)
        sf_queue_free(&trains->units[i]);
}

void sf_trains_close(sf_trains *trains)
{
    sf_trains_clear(trains);
    sf_free(trains->units);
    *trains = (sf_trains){0};
}

/* Room for one more, and for the whole window once the pace is known. */
static int make_room(sf_queue *train, uint32_t unit, int64_t time_ns, int64_t span_ns)
{
    uint64_t count = train->end - train->begin;
    if (count < train->capacity) return 0;
    int64_t passed_ns = count > 0 ? time_ns - sf_train_at(train, train->begin)->time_ns : 0;
    bool is_known = count >= (uint64_t)LEAST_AHEAD << unit % DOUBLINGS;
    uint64_t ahead = sf_room_ahead(count + 1, passed_ns, is_known ? span_ns : 0),
             most = count < MOST_AHEAD ? MOST_AHEAD : count + 1;
    return sf_queue_grow_plain(train, ahead < most ? ahead : most);
}

int sf_trains_append(sf_trains *trains, const sf_spike *spikes, size_t count, uint64_t position,
                     sf_error *error)
{
    int status = SF_OK;
    size_t done = 0;
    for (; done < count; done++) {
        const sf_spike *spike = &spikes[done];
        if (spike->unit >= trains->unit_count) {
            status = sf_fail(error, SF_DATA, NULL, "a spike is of unit #%" PRIu32 ", but there are %zu units",
                             spike->unit, trains->unit_count);
            break;
        }
        sf_queue *train = &trains->units[spike->unit];
        if (make_room(train, spike->unit, spike->time_ns, trains->span_ns) != 0) {
            status = sf_fail_memory(error);
            break;
        }
        ((sf_train_event *)(void *)train->items)[train->end++ & (train->capacity - 1)] =
            (sf_train_event){spike->time_ns, position + done};
    }
    while (status != SF_OK && done-- > 0)
        trains->units[spikes[done].unit].end--;
    return status;
}

void sf_trains_drop_before(sf_trains *trains, uint64_t position)
{
    for (size_t i = 0; i < trains->unit_count; i++) {
        sf_queue *train = &trains->units[i];
        while (train->begin < train->end && sf_train_at(train, train->begin)->position < position)
            train->begin++;
    }
}

uint64_t sf_train_find_position(const sf_queue *train, uint64_t position)
{
    uint64_t low = train->begin, high = train->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sf_train_at(train, middle)->position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t sf_train_find_time(const sf_queue *train, int64_t time_ns)
{
    uint64_t low = train->begin, high = train->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sf_train_at(train, middle)->time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
