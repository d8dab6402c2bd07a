/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A count for each unit, in the room that the counts above zero need: a hash table of them, or, where that
 * would be as large, an array of all units. One thread.
 */
#ifndef SF_WINDOW_TALLY_H
#define SF_WINDOW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sf_tally_slot {
    uint32_t key; /**< the unit plus one; 0: free */
    uint32_t count;
} sf_tally_slot;

/** Zero-initialised, all counts are 0. No larger than its array: 2 bytes a unit, 4 once it is wide. */
typedef struct sf_tally {
    uint16_t *narrow;        /**< by unit, or NULL */
    uint32_t *wide;          /**< by unit, or NULL */
    sf_tally_slot *slots;    /**< else the hash table, or NULL */
    uint32_t capacity, used; /**< of it: a power of two, and slots that are not free */
    bool is_wide;            /**< an array is `wide` */
} sf_tally;

/** All counts are 0 then. */
void sf_tally_free(sf_tally *tally);

/** To be called before a count goes above 65,535: from now on counts have 32 bits. 0, or -1 where memory is
 * out. */
int sf_tally_widen(sf_tally *tally, size_t unit_count);

/** Adds one to each of these units, of `unit_count` there are. 0, or -1 where memory is out, after which the
 * tally can only be freed. */
int sf_tally_add(sf_tally *tally, const uint32_t *units, size_t count, size_t unit_count);

/** Takes one from each of these units, whose counts are above 0 as often as they occur. */
void sf_tally_subtract(sf_tally *tally, const uint32_t *units, size_t count);

typedef struct sf_tally_entry {
    uint32_t unit, count;
} sf_tally_entry;

/** Fills `entries` with the units whose count is `least`, 1 or more, in no order; returns how many. There is
 * room for all units. */
size_t sf_tally_reaching(const sf_tally *tally, size_t unit_count, uint32_t least, sf_tally_entry *entries);

#endif
