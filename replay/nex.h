/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Headers of NeuroExplorer's files: .nex (NEX1, timestamps of 32 bits) and .nex5 (NEX5, of 32 or 64 bits,
 * with JSON after the data). A header of the file is followed by one of each variable, which says where its
 * data are; all is little-endian. The layouts are those of NexFileHeader and NexVarHeader in NeuroExplorer's
 * published readers. What the variables mean is in nex.c.
 */
#ifndef SF_REPLAY_NEX_H
#define SF_REPLAY_NEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <synfire/error.h>

typedef enum sf_nex_type {
    SF_NEX_NEURON = 0,
    SF_NEX_EVENT = 1,
    SF_NEX_INTERVAL = 2,
    SF_NEX_WAVEFORM = 3,
    SF_NEX_POPULATION_VECTOR = 4,
    SF_NEX_CONTINUOUS = 5,
    SF_NEX_MARKER = 6,
    SF_NEX_TYPES
} sf_nex_type;

#define SF_NEX_FIELD_NAME 64 /**< bytes of the name before the values of a marker's field */

typedef struct sf_nex_variable {
    char name[136]; /**< UTF-8 */
    int32_t type;   /**< sf_nex_type, or one that nobody knows */
    uint64_t offset, count;
    uint32_t width;     /**< bytes of a timestamp: 4 or 8 */
    bool is_whole;      /**< what of it is not read lies in the file, too */
    bool has_numbers;   /**< wire and unit mean something */
    int32_t wire, unit; /**< the electrode's channel; 0: what was not sorted there */
    double x, y;        /**< NaN: not known */
    uint32_t fields;    /**< of a marker */
    uint32_t length;    /**< bytes of a marker's value */
    bool is_numeric;    /**< its values are integers, not text */
} sf_nex_variable;

typedef struct sf_nex {
    const char *path; /**< the caller's */
    int file;
    uint64_t size; /**< of the file */
    bool is_nex5;
    int32_t version;
    double rate_hz;    /**< timestamps in a second */
    char comment[520]; /**< UTF-8 */
    bool has_span;
    int64_t begin, end; /**< the least and the greatest timestamp, where has_span */
    char trouble[160];  /**< why the JSON was not read; "": it was, or there is none */
    sf_nex_variable *variables;
    size_t count;
} sf_nex;

/** True where the file begins as one of these does. */
bool sf_nex_has_signature(const char *path);

/** Reads the headers and the JSON, and holds counts and offsets of what will be read against the file's size.
 * SF_DATA; SF_IO, SF_NO_INPUT, SF_NO_MEMORY. sf_nex_close, on failure too. */
int sf_nex_open(sf_nex *nex, const char *path, sf_error *error);
void sf_nex_close(sf_nex *nex);

/** `count` timestamps of the file from byte `offset`, each of `width` bytes. SF_IO. */
int sf_nex_read_times(int64_t *times, const sf_nex *nex, uint64_t offset, uint32_t width, size_t count,
                      sf_error *error);

/** `size` bytes of the file. SF_IO. */
int sf_nex_read(void *bytes, const sf_nex *nex, uint64_t offset, size_t size, sf_error *error);

#endif
