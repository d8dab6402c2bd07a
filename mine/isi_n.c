/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/isi_n.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

int sf_isi_n_open(sf_isi_n *bursts, uint64_t spikes_needed, int64_t within_ns, size_t unit_count,
                  sf_error *error)
{
    uint64_t room = 2;
    while (room < 2 * spikes_needed)
        room *= 2;
    *bursts = (sf_isi_n){.spikes_needed = spikes_needed,
                         .within_ns = within_ns,
                         .mask = room - 1,
                         .times_ns = sf_alloc(room, sizeof *bursts->times_ns),
                         .units = sf_alloc(room, sizeof *bursts->units),
                         .seen = sf_alloc(unit_count, sizeof *bursts->seen)};
    bool whole = bursts->times_ns != NULL && bursts->units != NULL && bursts->seen != NULL;
    return whole ? SF_OK : sf_fail_memory(error);
}

void sf_isi_n_close(sf_isi_n *bursts)
{
    sf_free(bursts->times_ns);
    sf_free(bursts->units);
    sf_free(bursts->seen);
    *bursts = (sf_isi_n){0};
}

static int64_t time_of(const sf_isi_n *bursts, uint64_t spike)
{
    return bursts->times_ns[spike & bursts->mask];
}

/* The burst has this spike, too. */
static void add(sf_isi_n *bursts, uint64_t spike)
{
    sf_network_burst *burst = &bursts->burst;
    uint64_t *seen = &bursts->seen[bursts->units[spike & bursts->mask]];
    burst->units += *seen != burst->number + 1;
    *seen = burst->number + 1;
    burst->last_ns = time_of(bursts, spike);
    burst->spikes++;
}

static unsigned end(sf_isi_n *bursts, uint64_t next)
{
    bursts->in_burst = false;
    bursts->start = next;
    return SF_BURST_ENDED;
}

/* The burst that starts at `start` is known by this spike. */
static unsigned begin(sf_isi_n *bursts, uint64_t spike)
{
    uint64_t number = bursts->known++;
    uint64_t past = bursts->start + bursts->spikes_needed; /* it has N spikes before this one */
    bursts->burst = (sf_network_burst){.number = number, .first_ns = time_of(bursts, bursts->start)};
    bursts->in_burst = true;
    for (uint64_t i = bursts->start; i < past; i++)
        add(bursts, i);
    if (past > spike) return SF_BURST_BEGAN;
    if (past == spike) { /* the N spikes that end with this one are close enough */
        add(bursts, spike);
        return SF_BURST_BEGAN;
    }
    return SF_BURST_BEGAN | end(bursts, past);
}

unsigned sf_isi_n_take(sf_isi_n *bursts, int64_t time_ns, uint32_t unit)
{
    uint64_t spike = bursts->taken++, needed = bursts->spikes_needed;
    bursts->times_ns[spike & bursts->mask] = time_ns;
    bursts->units[spike & bursts->mask] = unit;
    bool close = spike + 1 >= needed && time_ns - time_of(bursts, spike + 1 - needed) <= bursts->within_ns;
    if (bursts->in_burst && close) {
        add(bursts, spike);
        bursts->covered = spike + 1;
        return SF_BURST_GREW;
    }
    if (bursts->in_burst) {
        bursts->covered = spike;
        return end(bursts, spike);
    }
    if (!close) return 0;
    if (spike + 1 - needed > bursts->covered) /* a spike in between does not meet the criterion */
        bursts->start = spike + 1 - needed;
    bursts->covered = spike + 1;
    return bursts->covered - bursts->start >= needed ? begin(bursts, spike) : 0;
}

int64_t sf_isi_n_open_until_ns(const sf_isi_n *bursts)
{
    return bursts->in_burst
               ? sf_time_plus(time_of(bursts, bursts->taken + 1 - bursts->spikes_needed), bursts->within_ns)
               : INT64_MAX;
}

unsigned sf_isi_n_reach(sf_isi_n *bursts, int64_t time_ns)
{
    return bursts->in_burst && time_ns > sf_isi_n_open_until_ns(bursts) ? sf_isi_n_finish(bursts) : 0;
}

unsigned sf_isi_n_finish(sf_isi_n *bursts)
{
    if (!bursts->in_burst) return 0;
    bursts->covered = bursts->taken;
    return end(bursts, bursts->taken);
}
