/* SPDX-License-Identifier: Apache-2.0 */
/** A surrogate as a count sees it: the shifted spikes in order, by their places among those recorded. */
#ifndef SF_MINE_SURROGATE_IMAGE_H
#define SF_MINE_SURROGATE_IMAGE_H

#include "mine/positions.h"
#include "mine/surrogate_move.h"

/** A spike of a surrogate. */
typedef struct sf_image_spike {
    uint32_t owner; /**< the unit */
    uint32_t after; /**< recorded spikes with (time, unit) <= its own */
} sf_image_spike;

/** All spikes of the events, moved, ordered by (time, unit): an image position is a place in that order. */
typedef struct sf_image {
    sf_image_spike *spikes;    /**< by image position */
    const uint32_t *positions; /**< by unit, where sf_events.first says: image positions, ascending */
    uint32_t *dealt;           /**< the same; NULL: they are the recorded ones */
    sf_followers **reaches; /**< [delay][recorded position]: the image positions that follow by the delay */
} sf_image;

int sf_image_open(sf_image *image, const sf_mover *mover);  /**< SF_NO_MEMORY; close in any case */
void sf_image_close(sf_image *image, uint32_t delay_count); /**< a zeroed object is allowed */

/** Bytes that an image takes. */
size_t sf_image_bytes(const sf_events *events, uint32_t delay_count);

/** What one thread makes images with; nothing where spikes keep their order. */
typedef struct sf_image_room {
    sf_mover_room mover;
    sf_spike *moved, *sorted;
    int64_t *times;  /**< of a train, and then by image position */
    uint32_t *dealt; /**< by unit: where its next image position goes */
} sf_image_room;

int sf_image_room_open(sf_image_room *room, const sf_mover *mover); /**< SF_NO_MEMORY */
void sf_image_room_close(sf_image_room *room);                      /**< a zeroed object is allowed */

/** Makes the image of a surrogate. Cost: linear in the spikes. */
void sf_image_make(sf_image *image, const sf_mover *mover, uint32_t surrogate, sf_image_room *room);

#endif
