/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/aligned.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define MOST_HELD (1u << 20)
#define PIECE 1024 /* spikes that go on at once */

struct sf_aligned {
    sf_aligned_settings settings;
    sf_pulses *pulses; /* NULL: the reference */
    sf_spike *spikes;  /* held or, from `spike` on, going on with times of the reference */
    sf_marker *markers;
    size_t spike_count, spike_capacity, marker_count, marker_capacity;
    bool goes_on;
    size_t spike, marker;
    sf_batch rest; /* what the batch says beside these */
    const char *told;
    _Atomic uint64_t held, left_out, markers_left_out;
};

int sf_aligned_open(sf_aligned **aligned, const sf_aligned_settings *settings, sf_error *error)
{
    *aligned = sf_alloc(1, sizeof **aligned);
    if (*aligned == NULL) return sf_fail_memory(error);
    (*aligned)->settings = *settings;
    return settings->reference != NULL ? sf_pulses_open(&(*aligned)->pulses, settings->train, error) : SF_OK;
}

void sf_aligned_close(sf_aligned *it)
{
    if (it == NULL) return;
    sf_pulses_close(it->pulses);
    sf_free(it->spikes);
    sf_free(it->markers);
    sf_free(it);
}

/* ---- pulses ---- */

static void note_pulses(sf_aligned *it, const sf_batch *batch)
{
    for (size_t i = 0; i < batch->marker_count; i++) {
        const sf_marker *marker = &batch->markers[i];
        if (marker->kind != SF_MARKER_TTL || marker->state == 0 || marker->line != it->settings.line)
            continue;
        if (it->pulses != NULL)
            sf_pulses_put(it->pulses, marker->time_ns);
        else
            sf_pulse_train_put(it->settings.train, marker->time_ns);
    }
}

static void log_state(sf_aligned *it)
{
    sf_pulses_status now = sf_pulses_look(it->pulses);
    if (now.state == it->told) return;
    it->told = now.state;
    if (strcmp(now.state, "locked") == 0)
        sf_log(SF_LOG_INFO, "%s: by its pulses %.6f s and %.2f ppm from the reference's clock",
               it->settings.name, (double)now.offset_ns * 1e-9, now.drift_ppm);
    else if (strcmp(now.state, "ambiguous") == 0)
        sf_log(SF_LOG_WARNING,
               "%s: its pulses fit the reference's in more than one way; make their intervals differ",
               it->settings.name);
    else if (strcmp(now.state, "lost") == 0)
        sf_log(SF_LOG_WARNING, "%s: its pulses no longer fit the reference's; its times go on as they did",
               it->settings.name);
}

/* ---- holding ---- */

static void leave_out(sf_aligned *it, size_t spikes, size_t markers)
{
    atomic_fetch_add(&it->left_out, spikes);
    atomic_fetch_add(&it->markers_left_out, markers);
    it->spike_count -= spikes;
    it->marker_count -= markers;
    if (it->spike_count > 0) memmove(it->spikes, it->spikes + spikes, it->spike_count * sizeof *it->spikes);
    if (it->marker_count > 0)
        memmove(it->markers, it->markers + markers, it->marker_count * sizeof *it->markers);
}

static int hold(sf_aligned *it, const sf_batch *batch, sf_error *error)
{
    size_t spikes = it->spike_count + batch->spike_count, markers = it->marker_count + batch->marker_count;
    if (sf_reserve(&it->spikes, &it->spike_capacity, spikes, sizeof *it->spikes) != 0 ||
        sf_reserve(&it->markers, &it->marker_capacity, markers, sizeof *it->markers) != 0)
        return sf_fail_memory(error);
    if (batch->spike_count > 0)
        memcpy(it->spikes + it->spike_count, batch->spikes, batch->spike_count * sizeof *batch->spikes);
    if (batch->marker_count > 0)
        memcpy(it->markers + it->marker_count, batch->markers, batch->marker_count * sizeof *batch->markers);
    it->spike_count = spikes;
    it->marker_count = markers;
    return SF_OK;
}

/* ---- times ---- */

static void map_all(sf_aligned *it)
{
    int64_t shift_ns = sf_inlet_count(it->settings.reference).shift_ns; /* where its stream goes on */
    for (size_t i = 0; i < it->spike_count; i++)
        it->spikes[i].time_ns = sf_time_plus(sf_pulses_map(it->pulses, it->spikes[i].time_ns), shift_ns);
    for (size_t i = 0; i < it->marker_count; i++)
        it->markers[i].time_ns = sf_time_plus(sf_pulses_map(it->pulses, it->markers[i].time_ns), shift_ns);
    if (it->rest.clock_ns != INT64_MIN)
        it->rest.clock_ns = sf_time_plus(sf_pulses_map(it->pulses, it->rest.clock_ns), shift_ns);
}

int sf_aligned_take(sf_aligned *it, const sf_batch *batch, sf_error *error)
{
    it->rest = *batch;
    it->spike = it->marker = 0;
    it->goes_on = true;
    if (it->pulses == NULL) {
        if (batch->joins) sf_pulse_train_forget(it->settings.train);
        note_pulses(it, batch);
        return SF_OK;
    }
    if (batch->joins) { /* another clock: what is held of the one before has no place any more */
        sf_pulses_forget(it->pulses);
        leave_out(it, it->spike_count, it->marker_count);
    }
    it->rest.joins = false;
    it->rest.spike_count = it->rest.marker_count = 0;
    note_pulses(it, batch);
    bool ready = sf_pulses_update(it->pulses);
    log_state(it);
    int status = hold(it, batch, error);
    if (status != SF_OK) return status;
    if (ready) {
        map_all(it);
    } else {
        it->rest.clock_ns = INT64_MIN;
        if (it->spike_count + it->marker_count > MOST_HELD)
            leave_out(it, it->spike_count / 2, it->marker_count / 2);
        it->spike = it->spike_count;
        it->marker = it->marker_count;
    }
    atomic_store(&it->held, ready ? 0 : it->spike_count);
    return SF_OK;
}

/* Spikes piece by piece, each with the markers that are not after them; the rest with the last. */
bool sf_aligned_next(sf_aligned *it, sf_batch *batch)
{
    if (!it->goes_on) return false;
    *batch = it->rest;
    if (it->pulses == NULL) {
        it->goes_on = false;
        return true;
    }
    size_t spikes = it->spike_count - it->spike, markers = it->marker_count - it->marker;
    bool held = spikes + markers == 0;
    if (spikes > PIECE) {
        spikes = PIECE;
        int64_t last_ns = it->spikes[it->spike + PIECE - 1].time_ns;
        for (markers = 0;
             it->marker + markers < it->marker_count && it->markers[it->marker + markers].time_ns <= last_ns;)
            markers++;
        batch->clock_ns = INT64_MIN;
    }
    batch->spikes = spikes > 0 ? it->spikes + it->spike : NULL;
    batch->markers = markers > 0 ? it->markers + it->marker : NULL;
    batch->spike_count = spikes;
    batch->marker_count = markers;
    it->spike += spikes;
    it->marker += markers;
    it->goes_on = it->spike < it->spike_count;
    it->rest.gaps = it->rest.gap_lost = it->rest.malformed = it->rest.out_of_range = it->rest.restarts = 0;
    it->rest.other_streams = 0;
    if (!it->goes_on && !held) it->spike_count = it->marker_count = 0;
    return true;
}

void sf_aligned_end(sf_aligned *it)
{
    leave_out(it, it->spike_count, it->marker_count);
    atomic_store(&it->held, 0);
}

uint64_t sf_aligned_left_out(const sf_aligned *it)
{
    return atomic_load(&it->left_out);
}

void sf_aligned_look(sf_aligned *it, sf_source_status *status)
{
    uint64_t held = atomic_load(&it->held), left_out = sf_aligned_left_out(it);
    status->spikes += held + left_out;
    status->held += held;
    status->leaps += left_out;
    status->markers_left_out += atomic_load(&it->markers_left_out);
    status->pulses = "reference";
    if (it->pulses == NULL) return;
    sf_pulses_status now = sf_pulses_look(it->pulses);
    status->pulses = now.state;
    status->pulse_ns = now.newest_ns;
    if (now.newest_ns == INT64_MIN) return;
    status->offset_ns = now.offset_ns;
    status->drift_ppm = now.drift_ppm;
    status->residual_us = now.residual_us;
}
