/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Units that are classes of electrodes, as of files that say of each spike on which electrode it was and
 * which class a sorter gave it. While such a file is read a spike has a key in place of its unit; which
 * classes there are is known at its end, and keys become units.
 */
#ifndef SF_REPLAY_CLASSES_H
#define SF_REPLAY_CLASSES_H

#include "core/recording.h"

#include <string.h>

#define SF_CLASSES 256 /**< of an electrode */

/** Zero-initialise; sf_classes_free. */
typedef struct sf_classes {
    uint8_t *seen;     /**< by key: there were spikes */
    size_t electrodes; /**< numbered from 0 */
} sf_classes;

/** SF_NO_MEMORY. */
int sf_classes_open(sf_classes *classes, size_t electrodes, sf_error *error);

/** The key of a spike. */
static inline uint32_t sf_classes_key(const sf_classes *classes, size_t electrode, unsigned class)
{
    uint32_t key = (uint32_t)(electrode * SF_CLASSES + class);
    classes->seen[key] = 1;
    return key;
}

static inline size_t sf_classes_count(const sf_classes *classes)
{
    return classes->electrodes * SF_CLASSES;
}

/** True where any spike was on this electrode. */
static inline bool sf_classes_has(const sf_classes *classes, size_t electrode)
{
    return memchr(classes->seen + electrode * SF_CLASSES, 1, SF_CLASSES) != NULL;
}

/** What was read so far is no part of the recording. */
void sf_classes_forget(sf_classes *classes);

/** Takes in what others saw of as many electrodes, or of none. */
void sf_classes_join(sf_classes *classes, const sf_classes *others);

/**
 * Spikes get units in place of keys, and those of one tick the order of their units: in a file that is in the
 * order of time nothing is left to sort. Spikes whose unit is SF_NO_UNIT are taken out.
 */
void sf_classes_take_units(sf_recording *recording, const uint32_t *units);

void sf_classes_free(sf_classes *classes);

#endif
