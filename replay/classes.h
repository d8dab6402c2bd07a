/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Units that are sorter classes of electrodes, for files that store, for each spike, its electrode and class.
 * While such a file is read a spike has a key in place of its unit. Only at the end are all classes known,
 * and keys are replaced by units.
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

/** Whether any spike was on this electrode. */
static inline bool sf_classes_has(const sf_classes *classes, size_t electrode)
{
    return memchr(classes->seen + electrode * SF_CLASSES, 1, SF_CLASSES) != NULL;
}

/** Forgets all classes read so far, which are not part of the recording. */
void sf_classes_forget(sf_classes *classes);

/** Adds the classes that another reader (thread) has seen; `others` has the same number of electrodes, or
 * none. */
void sf_classes_join(sf_classes *classes, const sf_classes *others);

/**
 * Replaces the keys of spikes by units, orders spikes of one tick by unit, and removes spikes whose unit is
 * SF_NO_UNIT. The spikes of a file in time order then need no sorting.
 */
void sf_classes_take_units(sf_recording *recording, const uint32_t *units);

void sf_classes_free(sf_classes *classes);

#endif
