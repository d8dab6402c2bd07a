/* SPDX-License-Identifier: Apache-2.0 */
/** The units (sorted neurons, or electrodes where nothing was sorted) that spikes refer to by index. */
#ifndef SF_CORE_UNITS_H
#define SF_CORE_UNITS_H

#include <synfire/recording.h>

/** Zero-initialise, add, finish; read-only after that and then safe to share between threads. */
typedef struct sf_units {
    sf_unit *items;
    size_t count;
    size_t capacity;
    uint32_t *slots; /**< hash of names; built by sf_units_finish */
    size_t slot_count;
} sf_units;

/** Appends a unit; name and well are copied. name NULL or "" gives e1, e2, ... by index. */
int sf_units_add(sf_units *units, const sf_unit *unit, sf_error *error);

/** Makes names unique (a repeated name gets _2, _3, ...) and builds the look-up. */
int sf_units_finish(sf_units *units, sf_error *error);

/**
 * Index of the unit with exactly this name, which is appended without a position where there is none yet.
 * Keeps the look-up as sf_units_finish would.
 */
int sf_units_intern(sf_units *units, const char *name, uint32_t *index, sf_error *error);

/**
 * The kind that a label of a sorter, a curator or a caller means, as good, mua, multi-unit, noise; false
 * where it is none of them. unsorted, unclassified and unknown mean SF_UNIT_UNKNOWN.
 */
bool sf_unit_kind_of(const char *label, sf_unit_kind *kind);

int sf_units_copy(sf_units *to, const sf_units *from, sf_error *error);
void sf_units_free(sf_units *units);

#define SF_NO_UNIT UINT32_MAX

/** Puts them in the order of their names, as people count (sf_text_compare), and builds the look-up anew.
 * Unit i is at places[i] then, of which there is one for each unit. SF_NO_MEMORY. */
int sf_units_sort(sf_units *units, uint32_t *places, sf_error *error);

/** Index of the unit with exactly this name, or SF_NO_UNIT. */
uint32_t sf_units_find(const sf_units *units, const char *name);

/** Reads a unit as people write it: by its name, or `#2` for index 2 (core/named.h). Fails with SF_USAGE. */
int sf_units_resolve(const sf_units *units, const char *text, uint32_t *index, sf_error *error);

/** Reads a unit as sf_units_resolve does, but adds what is not there: the name, or units without names up to
 * the index, which is at most SF_UNITS_LEARNT. SF_USAGE, SF_NO_MEMORY. */
#define SF_UNITS_LEARNT 1000000
int sf_units_learn(sf_units *units, const char *text, uint32_t *index, sf_error *error);

/** True where at least two units have different, known positions: distances on the array mean something. */
bool sf_units_have_geometry(const sf_units *units);

/** Both are of one well, or of one of them it is not known. */
bool sf_units_share_well(const sf_units *units, uint32_t one, uint32_t other);

/**
 * True where two different units were seen by one electrode: by its number, or where the source has none by
 * their position, on an array with several.
 */
bool sf_units_share_electrode(const sf_units *units, uint32_t one, uint32_t other);

#endif
