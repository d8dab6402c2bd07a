/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/classes.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

#define MOST_TIES 64

int sf_classes_add(sf_classes *classes, uint16_t *slot, sf_error *error)
{
    size_t used = classes->slots > 0 ? sf_classes_count(classes) : 0,
           needed = (classes->slots + 2) * SF_CLASSES;
    if (sf_reserve(&classes->seen, &classes->capacity, needed, 1) != 0)
        return sf_fail_memory(error);
    memset(classes->seen + used, 0, needed - used);
    *slot = (uint16_t)++classes->slots;
    return SF_OK;
}

void sf_classes_forget(sf_classes *classes)
{
    if (classes->slots > 0)
        memset(classes->seen, 0, sf_classes_count(classes));
}

/* Puts a spike behind the `count` of a recording, among those of its tick by its unit. */
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

void sf_classes_take_units(sf_recording *recording, const uint32_t *units)
{
    size_t count = 0;
    for (size_t i = 0; i < recording->spike_count; i++) {
        sf_spike spike = recording->spikes[i];
        spike.unit = units[spike.unit];
        if (spike.unit != SF_NO_UNIT)
            put_spike(recording->spikes, count++, spike);
    }
    recording->spike_count = count;
}

void sf_classes_free(sf_classes *classes)
{
    sf_free(classes->seen);
    *classes = (sf_classes){0};
}
