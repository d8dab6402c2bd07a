/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The crossover of the hybrid engine: from how many episodes of a size on `ptpe` is faster than `mtpe`.
 *
 * It is measured on the device at hand when it is first needed, for each size, with random episodes in a
 * stream that is always the same; then it is kept for the process and in a file of the user's cache, one line
 * for each size and device. A file belongs to one version of synfire. Where there is no cache, or it cannot
 * be written, each process measures anew.
 */
#ifndef SF_MINE_CAO_CROSSOVER_H
#define SF_MINE_CAO_CROSSOVER_H

#include "core/backend/stream.h"

typedef struct sf_crossover {
    uint32_t episodes; /**< ptpe from this many episodes on; at least 1 */
    bool measured;     /**< by this call, rather than kept from an earlier one */
    double seconds;    /**< that the measuring took; 0 where it was kept */
} sf_crossover;

/** The crossover of `size` (2 .. SF_EPISODE_MAX_SIZE) on the device, or on `threads` CPU threads if device is
 * NULL. Safe to call from any thread that does not hold the device. SF_NO_MEMORY, and errors of the device.
 */
int sf_crossover_find(sf_crossover *crossover, sf_device *device, unsigned threads, uint32_t size,
                      sf_error *error);

/** The same for a job of `spikes` spikes, without measuring where it would not pay: 0 (always ptpe) for few
 * spikes, episodes of one unit, and a single thread. */
int sf_crossover_for(uint32_t *episodes, sf_device *device, unsigned threads, uint32_t size, uint32_t spikes,
                     sf_error *error);

/** The file that crossovers are kept in, whether it is there or not; false where there is no place for one.
 */
bool sf_crossover_path(char *path, size_t size);

/** Forgets what this process knows; the file stays. */
void sf_crossover_forget(void);

#endif
