/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/unit_bursts.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/poisson.h"

#include <math.h>

const char *const sf_burst_method_names[] = {"max-interval", "logisi", "cma", "surprise", NULL};

/* ---- all definitions ---- */

/* What is being looked for, and where. */
typedef struct search {
    sf_unit_bursts *bursts;
    const int64_t *times_ns;
    size_t count;
    const sf_burst_rule *rule;
    const sf_burst_limits *limits;
    sf_error *error;
} search;

static int add_burst(const search *s, size_t first, size_t spikes)
{
    sf_unit_bursts *bursts = s->bursts;
    if (spikes < s->rule->least_spikes) return SF_OK;
    if (sf_reserve(&bursts->items, &bursts->capacity, bursts->count + 1, sizeof *bursts->items) != 0)
        return sf_fail_memory(s->error);
    bursts->items[bursts->count++] =
        (sf_unit_burst){first, spikes, s->times_ns[first], s->times_ns[first + spikes - 1]};
    return SF_OK;
}

static int64_t interval_after(const search *s, size_t spike)
{
    return s->times_ns[spike + 1] - s->times_ns[spike];
}

/* The last spike of a run from this one on that no interval over `most_ns` parts. */
static size_t end_of_run(const search *s, size_t from, int64_t most_ns)
{
    while (from + 1 < s->count && interval_after(s, from) <= most_ns)
        from++;
    return from;
}

/* ---- maximum interval ---- */

typedef struct run {
    size_t first, spikes; /* 0 spikes: there is none */
} run;

/* The run that begins with the first short interval from *next on. */
static run next_run(const search *s, size_t *next)
{
    size_t first = *next;
    while (first + 1 < s->count && interval_after(s, first) > s->rule->begin_ns)
        first++;
    if (first + 1 >= s->count) return (run){.spikes = 0};
    size_t last = end_of_run(s, first + 1, s->rule->within_ns);
    *next = last + 1;
    return (run){first, last - first + 1};
}

static int64_t pause_ns(const search *s, const run *before, const run *after)
{
    return s->times_ns[after->first] - s->times_ns[before->first + before->spikes - 1];
}

static int64_t length_ns(const search *s, const run *r)
{
    return s->times_ns[r->first + r->spikes - 1] - s->times_ns[r->first];
}

static int find_max_interval(const search *s)
{
    size_t next = 0;
    int status = SF_OK;
    run before = next_run(s, &next);
    while (before.spikes > 0 && status == SF_OK) {
        run after = next_run(s, &next);
        if (after.spikes > 0 && pause_ns(s, &before, &after) < s->rule->apart_ns) {
            before.spikes = after.first + after.spikes - before.first;
            continue;
        }
        if (length_ns(s, &before) >= s->rule->least_ns) status = add_burst(s, before.first, before.spikes);
        before = after;
    }
    return status;
}

/* ---- limits of a core and of what goes on around it: logISI, CMA ---- */

static bool has_core(const search *s, size_t first, size_t last)
{
    for (size_t from = first, to; from <= last; from = to + 1) {
        to = end_of_run(s, from, s->limits->intervals.core_ns);
        if (to - from + 1 >= s->rule->least_spikes) return true;
    }
    return false;
}

static int find_cores(const search *s)
{
    int status = SF_OK;
    for (size_t from = 0, to; from < s->count && status == SF_OK; from = to + 1) {
        to = end_of_run(s, from, s->limits->intervals.extend_ns);
        if (has_core(s, from, to)) status = add_burst(s, from, to - from + 1);
    }
    return status;
}

/* ---- Poisson surprise ---- */

static double surprise_in(const search *s, run r)
{
    return sf_poisson_surprise((double)length_ns(s, &r) / s->limits->mean_ns, (double)(r.spikes - 1));
}

#define LOOK_AHEAD 10 /* spikes by which a burst may lose surprise before it gains */

/* Whether some of the next spikes make the burst more surprising; they are its own then. */
static bool extend(const search *s, run *r, double *surprise)
{
    run longer = *r;
    for (int i = 0; i < LOOK_AHEAD && longer.first + longer.spikes < s->count; i++) {
        longer.spikes++;
        double found = surprise_in(s, longer);
        if (found > *surprise) {
            *r = longer;
            *surprise = found;
            return true;
        }
        if ((double)interval_after(s, longer.first + longer.spikes - 2) > 2 * s->limits->mean_ns)
            return false;
    }
    return false;
}

/* Whether it is more surprising without its first spike, which it loses then. */
static bool shorten(const search *s, run *r, double *surprise)
{
    const run shorter = {r->first + 1, r->spikes - 1};
    if (r->spikes <= 3) return false;
    double found = surprise_in(s, shorter);
    if (found <= *surprise) return false;
    *r = shorter;
    *surprise = found;
    return true;
}

static int find_surprising(const search *s)
{
    int status = SF_OK;
    double half = s->limits->mean_ns / 2;
    for (size_t from = 0; from + 2 < s->count && status == SF_OK;) {
        if ((double)interval_after(s, from) >= half || (double)interval_after(s, from + 1) >= half) {
            from++;
            continue;
        }
        run r = {from, 3};
        double surprise = surprise_in(s, r);
        while (extend(s, &r, &surprise))
            ;
        while (shorten(s, &r, &surprise))
            ;
        if (surprise >= s->rule->least_surprise) status = add_burst(s, r.first, r.spikes);
        from = r.first + r.spikes;
    }
    return status;
}

/* ---- any of them ---- */

sf_burst_limits sf_burst_limits_find(const int64_t *intervals_ns, size_t count, const sf_burst_rule *rule)
{
    sf_burst_limits limits = {.intervals = {-1, -1}};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)intervals_ns[i];
    limits.mean_ns = count > 0 ? sum / (double)count : 0;
    if (rule->method == SF_BURSTS_LOG_ISI) limits.intervals = sf_interval_limits_log(intervals_ns, count);
    if (rule->method == SF_BURSTS_CMA) limits.intervals = sf_interval_limits_cma(intervals_ns, count);
    return limits;
}

int sf_unit_bursts_find(sf_unit_bursts *bursts, const int64_t *times_ns, size_t count,
                        const sf_burst_rule *rule, const sf_burst_limits *limits, sf_error *error)
{
    const search s = {bursts, times_ns, count, rule, limits, error};
    switch (rule->method) {
    case SF_BURSTS_MAX_INTERVAL:
        return find_max_interval(&s);
    case SF_BURSTS_SURPRISE:
        return find_surprising(&s);
    default:
        return limits->intervals.core_ns < 0 ? SF_OK : find_cores(&s);
    }
}
