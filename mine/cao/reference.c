/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Algorithm 1 of Cao et al., Parallel Mining of Neuronal Spike Streams on Graphics Processing Units, with
 * lists of any length: the oracle. A list per node holds the spikes at which an occurrence has come as far as
 * that node. A spike of node i's unit joins list i if some spike of list i - 1 lies the right time before it;
 * at the last node that completes an occurrence, and all lists are emptied.
 *
 * It looks at the spikes of the episode's own units only. Cost: spikes of these units times the spikes within
 * a delay. One thread.
 */
#include "core/error.h"
#include "core/memory.h"
#include "mine/engine.h"

#include <string.h>

typedef struct list {
    int64_t *times;
    size_t count;
} list;

/* An episode being counted: its nodes, their lists, and its distinct units with their spikes to come. */
typedef struct machine {
    uint32_t size;
    const uint32_t *units;
    sf_delay delays[SF_EPISODE_MAX_SIZE];
    list lists[SF_EPISODE_MAX_SIZE];
    uint32_t source_count;
    uint32_t source_units[SF_EPISODE_MAX_SIZE];
    sf_unit_events sources[SF_EPISODE_MAX_SIZE];
} machine;

/* Whether a spike at `time` follows one of the list by the delay. Newer spikes stand later in the list. */
static bool follows(const list *before, sf_delay delay, int64_t time)
{
    for (size_t k = before->count; k-- > 0;) {
        int64_t dt = time - before->times[k];
        if (dt > delay.high_ns) return false;
        if (dt > delay.low_ns) return true;
    }
    return false;
}

/* Returns true where the spike completes an occurrence. Later nodes first, so that no spike follows itself.
 */
static bool advance(machine *m, uint32_t unit, int64_t time)
{
    for (uint32_t node = m->size; node-- > 0;) {
        if (m->units[node] != unit) continue;
        if (node > 0 && !follows(&m->lists[node - 1], m->delays[node - 1], time)) continue;
        if (node + 1 == m->size) return true;
        m->lists[node].times[m->lists[node].count++] = time;
    }
    return false;
}

/* The distinct unit whose next spike comes first, or source_count at the end. */
static uint32_t next_source(const machine *m)
{
    uint32_t next = m->source_count;
    for (uint32_t s = 0; s < m->source_count; s++)
        if (m->sources[s].count > 0 &&
            (next == m->source_count || *m->sources[s].positions < *m->sources[next].positions))
            next = s;
    return next;
}

static uint32_t run(machine *m)
{
    uint32_t count = 0;
    for (uint32_t s; (s = next_source(m)) < m->source_count;) {
        if (advance(m, m->source_units[s], *m->sources[s].times)) {
            count++;
            for (uint32_t node = 0; node < m->size; node++)
                m->lists[node].count = 0;
        }
        m->sources[s].times++;
        m->sources[s].positions++;
        m->sources[s].count--;
    }
    return count;
}

static void set_up(machine *m, const sf_count_job *job, size_t episode)
{
    const sf_candidates *c = job->candidates;
    m->size = c->size;
    m->units = c->units + episode * c->size;
    m->source_count = 0;
    for (uint32_t node = 0; node < m->size; node++) {
        if (node > 0) m->delays[node - 1] = c->intervals[c->delays[episode * (c->size - 1) + node - 1]];
        m->lists[node].count = 0;
        uint32_t s = 0;
        while (s < m->source_count && m->source_units[s] != m->units[node])
            s++;
        if (s < m->source_count) continue;
        m->source_units[s] = m->units[node];
        m->sources[s] = sf_events_unit(job->events, m->units[node], job->first, job->last);
        m->source_count++;
    }
}

/* No list grows beyond the spikes of its unit. */
static size_t longest_train(const sf_events *events)
{
    size_t longest = 0;
    for (uint32_t u = 0; u < events->unit_count; u++)
        if (events->first[u + 1] - events->first[u] > longest)
            longest = events->first[u + 1] - events->first[u];
    return longest;
}

static int count_all(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    size_t room = longest_train(job->events);
    int64_t *times = sf_resize(NULL, room * job->candidates->size, sizeof *times);
    if (times == NULL) return sf_fail_memory(error);
    machine m = {0};
    for (uint32_t node = 0; node < job->candidates->size; node++)
        m.lists[node].times = times + node * room;
    for (size_t i = 0; i < job->candidates->count; i++) {
        set_up(&m, job, i);
        counts[i] = run(&m);
    }
    sf_free(times);
    return SF_OK;
}

const sf_engine sf_engine_reference = {
    .name = "reference",
    .count = count_all,
};
