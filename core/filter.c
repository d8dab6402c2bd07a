/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/marker.h"
#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

/* ---- markers ---- */

bool sf_blank_span(const sf_blank *blank, const sf_marker *marker, sf_span *span)
{
    *span =
        (sf_span){sf_time_plus(marker->time_ns, blank->from_ns), sf_time_plus(marker->time_ns, blank->to_ns)};
    return sf_marker_is(marker, blank->marker);
}

/* ---- duplicates ---- */

int sf_dedup_open(sf_dedup *dedup, const sf_units *units, int64_t within_ns, double within_um,
                  sf_error *error)
{
    *dedup = (sf_dedup){.units = units->items, .within_ns = within_ns, .within_um = within_um};
    if (within_um > 0 && !sf_units_have_geometry(units))
        return sf_fail(
            error, SF_DATA, "dedup",
            "this recording has no positions, so no distances; with 0 um only repeats within a unit go");
    dedup->room = units->count;
    dedup->kept = sf_alloc(dedup->room, sizeof *dedup->kept);
    return dedup->kept != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_dedup_close(sf_dedup *dedup)
{
    sf_free(dedup->kept);
    *dedup = (sf_dedup){0};
}

static size_t place_of(size_t first, size_t index, size_t room)
{
    return first + index < room ? first + index : first + index - room;
}

static bool is_past(const sf_dedup *dedup, const sf_spike *kept, int64_t time_ns)
{
    /* Unsigned: the difference of two times may exceed int64. */
    return (uint64_t)time_ns - (uint64_t)kept->time_ns > (uint64_t)dedup->within_ns;
}

static bool are_near(const sf_unit *a, const sf_unit *b, double most_um)
{
    return a == b || hypot(a->x_um - b->x_um, a->y_um - b->y_um) <= most_um; /* false where one is NaN */
}

bool sf_dedup_keeps(sf_dedup *dedup, const sf_spike *spike)
{
    while (dedup->count > 0 && is_past(dedup, &dedup->kept[dedup->first], spike->time_ns)) {
        dedup->first = place_of(dedup->first, 1, dedup->room);
        dedup->count--;
    }
    const sf_unit *unit = &dedup->units[spike->unit];
    for (size_t k = dedup->count; k > 0; k--) {
        const sf_spike *kept = &dedup->kept[place_of(dedup->first, k - 1, dedup->room)];
        if (are_near(unit, &dedup->units[kept->unit], dedup->within_um)) return false;
    }
    dedup->kept[place_of(dedup->first, dedup->count++, dedup->room)] = *spike;
    return true;
}

/* ---- spans that are not over ---- */

/* Disjoint, ascending. */
typedef struct queue {
    sf_span *spans;
    size_t room, first, count;
} queue;

static int open_queue(queue *q, size_t room, sf_error *error)
{
    *q = (queue){.room = room};
    q->spans = sf_alloc(room, sizeof *q->spans);
    return q->spans != NULL ? SF_OK : sf_fail_memory(error);
}

static void forget(queue *q, int64_t time_ns)
{
    while (q->count > 0 && q->spans[q->first].stop_ns <= time_ns) {
        q->first = place_of(q->first, 1, q->room);
        q->count--;
    }
}

/* The stream is at time_ns. Where there is no room, what lies between the last two is blanked as well: rather
 * that than an artefact. Returns the span that the new one is now part of. */
static sf_span add(queue *q, sf_span span, int64_t time_ns)
{
    if (q->count == q->room) forget(q, time_ns);
    sf_span *last = q->count > 0 ? &q->spans[place_of(q->first, q->count - 1, q->room)] : NULL;
    if (last != NULL && (span.start_ns <= last->stop_ns || q->count == q->room)) {
        last->start_ns = span.start_ns < last->start_ns ? span.start_ns : last->start_ns;
        last->stop_ns = span.stop_ns > last->stop_ns ? span.stop_ns : last->stop_ns;
        return *last;
    }
    q->spans[place_of(q->first, q->count++, q->room)] = span;
    return span;
}

static bool covers(queue *q, int64_t time_ns)
{
    forget(q, time_ns);
    return q->count > 0 && q->spans[q->first].start_ns <= time_ns;
}

/* ---- a stream ---- */

struct sf_filter {
    sf_filter_settings settings;
    sf_dedup dedup;
    queue own;
    queue *marked; /* by blank */
};

#define MOST_OWN 64 /* spans of one's own that the stream has not passed */

int sf_filter_open(sf_filter **filter, const sf_filter_settings *settings, sf_error *error)
{
    sf_filter *made = *filter = sf_alloc(1, sizeof *made);
    if (made == NULL) return sf_fail_memory(error);
    made->settings = *settings;
    made->marked = sf_alloc(settings->blank_count, sizeof *made->marked);
    int status = made->marked != NULL ? open_queue(&made->own, MOST_OWN, error) : sf_fail_memory(error);
    /* Disjoint ones begin at least a length apart, so more do not fit in before the first is over. */
    for (size_t i = 0; i < settings->blank_count && status == SF_OK; i++)
        status = open_queue(&made->marked[i], SF_BLANK_LEAD + 3, error);
    if (settings->dedup_ns > 0 && status == SF_OK)
        status = sf_dedup_open(&made->dedup, settings->units, settings->dedup_ns, settings->dedup_um, error);
    if (status != SF_OK) {
        sf_filter_close(made);
        *filter = NULL;
    }
    return status;
}

void sf_filter_close(sf_filter *filter)
{
    if (filter == NULL) return;
    for (size_t i = 0; i < filter->settings.blank_count && filter->marked != NULL; i++)
        sf_free(filter->marked[i].spans);
    sf_free(filter->marked);
    sf_free(filter->own.spans);
    sf_dedup_close(&filter->dedup);
    sf_free(filter);
}

static void blank(sf_filter *filter, queue *q, sf_span span, int64_t time_ns)
{
    sf_span blanked = add(q, span, time_ns);
    if (filter->settings.blanked != NULL) filter->settings.blanked(filter->settings.user, blanked);
}

void sf_filter_mark(sf_filter *filter, const sf_marker *marker)
{
    for (size_t i = 0; i < filter->settings.blank_count; i++) {
        sf_span span;
        if (sf_blank_span(&filter->settings.blanks[i], marker, &span))
            blank(filter, &filter->marked[i], span, marker->time_ns);
    }
}

void sf_filter_blank(sf_filter *filter, sf_span span)
{
    blank(filter, &filter->own, span, span.start_ns);
}

/* In the order of a selection: what is blanked may still have been the first of two. */
sf_filter_cause sf_filter_take(sf_filter *filter, const sf_spike *spike)
{
    if (filter->settings.dedup_ns > 0 && !sf_dedup_keeps(&filter->dedup, spike)) return SF_FILTER_DUPLICATE;
    for (size_t i = 0; i < filter->settings.blank_count; i++)
        if (covers(&filter->marked[i], spike->time_ns)) return SF_FILTER_MARKER;
    return covers(&filter->own, spike->time_ns) ? SF_FILTER_OWN : SF_FILTER_KEPT;
}
