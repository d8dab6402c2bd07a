/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/classes.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "replay/spike_parts.h"

#define MOST_TIES 64

int sf_classes_open(sf_classes *classes, size_t electrodes, sf_error *error)
{
    classes->seen = sf_alloc(electrodes, SF_CLASSES);
    classes->electrodes = electrodes;
    return classes->seen != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_classes_forget(sf_classes *classes)
{
    memset(classes->seen, 0, sf_classes_count(classes));
}

void sf_classes_join(sf_classes *classes, const sf_classes *others)
{
    for (size_t key = 0; key < sf_classes_count(others); key++)
        classes->seen[key] |= others->seen[key];
}

/* Inserts a spike after the first `count` spikes, ordered by unit within its tick. */
static void put_spike(sf_spike *spikes, size_t count, sf_spike spike)
{
    size_t at = count;
    while (at > 0 && count - at < MOST_TIES && spikes[at - 1].time_ns == spike.time_ns &&
           spikes[at - 1].unit > spike.unit) {
        spikes[at] = spikes[at - 1];
        at--;
    }
    spikes[at] = spike;
}

typedef struct numbering {
    sf_recording *recording;
    const uint32_t *units;
    sf_spike_part parts[SF_SPIKE_PARTS];
} numbering;

/* Spikes of one tick must be in one part: out of order, they would cause all spikes to be sorted. */
static size_t begin_of(const sf_recording *recording, size_t part)
{
    size_t at = sf_spikes_part(recording->spike_count, part);
    while (at > 0 && at < recording->spike_count &&
           recording->spikes[at].time_ns == recording->spikes[at - 1].time_ns)
        at++;
    return at;
}

static int take_part(void *context, unsigned worker, size_t index)
{
    numbering *n = context;
    sf_spike_part *part = &n->parts[index];
    sf_spike *to = n->recording->spikes + part->begin;
    size_t end =
        index + 1 < sf_spikes_parts(n->recording->spike_count) ? part[1].begin : n->recording->spike_count;
    (void)worker;
    for (size_t i = part->begin; i < end; i++) {
        sf_spike spike = n->recording->spikes[i];
        spike.unit = n->units[spike.unit];
        if (spike.unit != SF_NO_UNIT) put_spike(to, part->count++, spike);
    }
    return SF_OK;
}

void sf_classes_take_units(sf_recording *recording, const uint32_t *units)
{
    size_t count = recording->spike_count, parts = sf_spikes_parts(count);
    numbering n = {.recording = recording, .units = units};
    for (size_t i = 0; i < parts; i++)
        n.parts[i] = (sf_spike_part){.begin = begin_of(recording, i)};
    sf_parallel_for(sf_spikes_threads(count), parts, take_part, &n);
    recording->spike_count = sf_spike_parts_close(recording->spikes, n.parts, parts);
}

void sf_classes_free(sf_classes *classes)
{
    sf_free(classes->seen);
    *classes = (sf_classes){0};
}
