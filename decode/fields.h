/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Extracts the fields that a table lists from an untrusted JSON or MessagePack document, without a library
 * and without allocating memory. A row gives the path of a key, such as "spike.sample_num", and the offset in
 * a struct where its value goes; all other keys are skipped. Keys may come in any order; the last of
 * duplicate keys counts. Lists are skipped.
 */
#ifndef SF_DECODE_FIELDS_H
#define SF_DECODE_FIELDS_H

#include "core/part.h"

#include <stdbool.h>
#include <stdint.h>

/** Maximum text size with its NUL; a longer text is skipped, and is_long is set. */
#define SF_FIELD_TEXT_SIZE 512
#define SF_FIELD_PATH_SIZE 128 /**< maximum path size with its NUL; no row has a longer one */
#define SF_FIELD_DEPTH 32      /**< maximum nesting depth of objects and lists */

typedef enum sf_field_type {
    SF_FIELD_WHOLE, /**< int64_t: a number without a fraction; true is 1 and false 0 */
    SF_FIELD_REAL,  /**< double */
    SF_FIELD_TEXT   /**< char[SF_FIELD_TEXT_SIZE], UTF-8, without a NUL inside */
} sf_field_type;

typedef struct sf_field {
    const char *path;
    sf_field_type type;
    size_t offset;
} sf_field;

typedef enum sf_document {
    SF_DOCUMENT_WHOLE,
    SF_DOCUMENT_CUT, /**< ends too early; fields that are complete before the cut were taken */
    SF_DOCUMENT_BAD  /**< not a document of this format, or a value does not fit its row */
} sf_document;

/** Which rows were found, one bit each; at most 32 rows. */
typedef struct sf_fields {
    const sf_field *rows;
    size_t count;
    uint32_t found;
    bool is_long; /**< a text that a row asks for was too long, and counts as not found */
} sf_fields;

/** *to is not cleared before. */
sf_document sf_fields_from_json(sf_fields *fields, void *to, sf_part text);
sf_document sf_fields_from_msgpack(sf_fields *fields, void *to, sf_part bytes);

#endif
