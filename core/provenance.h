/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What made a result, and of what: version, command line, seed, and the part of a recording that was looked
 * at. Every result carries it, in the same form: an object of JSON, which is YAML too, and in words for the
 * methods of a paper.
 */
#ifndef SF_CORE_PROVENANCE_H
#define SF_CORE_PROVENANCE_H

#include "core/json.h"
#include "core/recording.h"

#include <synfire/table.h>

/** Zero-initialise. */
struct sf_provenance {
    char *command; /**< as a shell would take it, or NULL */
    bool drew;     /**< random numbers, from this seed */
    uint64_t seed;
    bool of_recording; /**< else `selected` says nothing */
    sf_selected selected;
    char *preset;           /**< whose defaults were used, or NULL */
    double min_distance_um; /**< units closer than this do not follow each other; 0: any do */
};

typedef struct sf_provenance sf_provenance;

/** Its columns: program, command, seed, selection. */
extern const sf_table sf_provenance_table;

/** These as the object `key` (NULL: at the top). */
void sf_provenance_json(sf_json *json, const char *key, const sf_provenance *provenance);

/** Appends the same as a document of its own, on one line. */
void sf_provenance_print(sf_text *text, const sf_provenance *provenance);

/** Appends what was looked at in words: "812 spikes of 3 of 39 units (a, b, c) in 900 s (data ...), ...". */
void sf_provenance_words(sf_text *text, const sf_provenance *provenance);

/** Appends "12 spikes were lost while it was recorded (9 came too late, 3 sent and not received)" of those of
 * the kind SF_DROP_LOST; nothing where there are none. */
void sf_losses_words(sf_text *text, const sf_drop *dropped, size_t count);

#endif
