/* SPDX-License-Identifier: Apache-2.0 */
/** A surrogate as a count sees it: the shifted spikes in order, by their places among those recorded. */
#ifndef SF_MINE_SURROGATE_IMAGE_H
#define SF_MINE_SURROGATE_IMAGE_H

#include "core/backend/surrogates.h"
#include "mine/dither.h"
#include "mine/events.h"
#include "mine/positions.h"

/** A spike of a surrogate. */
typedef struct sf_image_spike {
    uint32_t owner; /**< the unit */
    uint32_t after; /**< recorded spikes with (time, unit) <= its own */
} sf_image_spike;

/** All spikes of the events, moved, ordered by (time, unit): an image position is a place in that order. */
typedef struct sf_image {
    sf_image_spike *spikes; /**< by image position */
    uint32_t *positions;    /**< by unit, where sf_events.first says: image positions, ascending */
    sf_followers **reaches; /**< [delay][recorded position]: the image positions that follow by the delay */
} sf_image;

int sf_image_open(sf_image *image, const sf_events *events, uint32_t delay_count); /**< SF_NO_MEMORY */
void sf_image_close(sf_image *image, uint32_t delay_count); /**< a zeroed object is allowed */

/** Bytes that an image takes. */
size_t sf_image_bytes(const sf_events *events, uint32_t delay_count);

/** A train of a surrogate that is made. */
typedef struct sf_moving_train {
    uint32_t number;
    uint32_t taken, dealt; /**< places by unit: of the next spike to move, of the next image position */
    int64_t seam;
    int64_t begin, end, offset; /**< the segment of the newest spike, and how far it moves */
} sf_moving_train;

/** What one thread makes images with. */
typedef struct sf_image_room {
    sf_spike *moved, *sorted;
    int64_t *times;          /**< by image position */
    sf_moving_train *trains; /**< by unit */
    uint32_t *followed;      /**< by delay: recorded positions whose followers are known */
    int64_t *fired, *goes; /**< of dithered trains, by unit: times of the rule, recorded and moved; or NULL */
} sf_image_room;

int sf_image_room_open(sf_image_room *room, const sf_events *events,
                       const sf_surrogate_plan *plan); /**< SF_NO_MEMORY */
void sf_image_room_close(sf_image_room *room);         /**< a zeroed object is allowed */

/** What dithered trains are moved by, by unit: *dithers is NULL where the plan's rule has another kind.
 * `trains` are the times by unit, where sf_events.first says. SF_NO_MEMORY; sf_image_dithers_close in any
 * case. */
int sf_image_dithers_open(sf_dither **dithers, const sf_events *events, const int64_t *trains,
                          const sf_surrogate_plan *plan);
void sf_image_dithers_close(sf_dither *dithers, const sf_events *events); /**< NULL is allowed */

/** Makes the image of a surrogate by the plan's rule; trains and dithers as above. Cost: linear in the
 * spikes.
 */
void sf_image_make(sf_image *image, const sf_events *events, const int64_t *trains, const sf_dither *dithers,
                   const sf_surrogate_plan *plan, uint32_t surrogate, sf_image_room *room);

#endif
