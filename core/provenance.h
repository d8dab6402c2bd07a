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

/** How a recording was cut down. Zero-initialise; it owns what it points to. Filled by whoever reads and
 * cuts; times are resolved to the recording's clock. */
typedef struct sf_selected {
    char *recording, *format; /**< path and layout */
    char *stream, *preset;    /**< or NULL */
    size_t unit_count;        /**< units looked at */
    size_t units_in_file;
    uint32_t *units;           /**< their indices; NULL: all */
    char **names;              /**< of these; unit_count where `units` is not NULL */
    bool from_given, to_given; /**< else the times of the recording */
    int64_t from_ns, to_ns;    /**< `to` is excluded */
    char *epochs_path;         /**< NULL: no epochs */
    sf_epoch *epochs;          /**< in order */
    size_t epoch_count;
    char
        *marker; /**< NULL: nothing is blanked; else from blank_from_ns to blank_to_ns around each of these */
    int64_t blank_from_ns, blank_to_ns;
    int64_t dedup_ns; /**< 0: duplicates stay */
    double dedup_um;
    double min_distance_um;          /**< units closer than this do not follow each other; 0: any do */
    uint64_t spikes, spikes_in_file; /**< looked at; read */
    sf_drop dropped[SF_DROP_CAUSES]; /**< what is not in the analysis, by cause */
    size_t dropped_count;
    int64_t duration_ns; /**< recorded time that was looked at */
    uint64_t data;       /**< sf_recording_hash of it */
} sf_selected;

/** Zero-initialise. */
typedef struct sf_provenance {
    char *command; /**< as a shell would take it, or NULL */
    bool drew;     /**< random numbers, from this seed */
    uint64_t seed;
    bool of_recording; /**< else `selected` says nothing */
    sf_selected selected;
} sf_provenance;

void sf_selected_free(sf_selected *selected);
void sf_provenance_free(sf_provenance *provenance);

/** The object `key` (NULL: at the top): program, command, seed, selection; null for what there is not. */
void sf_provenance_json(sf_json *json, const char *key, const sf_provenance *provenance);

/** Appends the same as a document of its own, on one line. */
void sf_provenance_print(sf_text *text, const sf_provenance *provenance);

/** Appends what was looked at in words: "812 spikes of 3 of 39 units (a, b, c) in 900 s (data ...), ...". */
void sf_selected_words(sf_text *text, const sf_selected *selected);

/** Words as a shell would take them: quotes where they are needed. */
void sf_command_print(sf_text *text, size_t count, char *const *words);

#endif
