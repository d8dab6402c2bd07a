/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Takes what a table asks for out of a document in JSON or MessagePack that somebody else wrote, without a
 * library and without memory of its own. A row names a key by the path to it, as "spike.sample_num", and says
 * where in a struct its value goes; all else is passed over. Keys may come in any order; of one that is there
 * twice the last counts. Lists are passed over.
 */
#ifndef SF_DECODE_FIELDS_H
#define SF_DECODE_FIELDS_H

#include "core/part.h"

#include <stdbool.h>
#include <stdint.h>

#define SF_FIELD_TEXT_SIZE 512 /**< of a text, with its NUL; a longer one is passed over, and noted */
#define SF_FIELD_PATH_SIZE 128 /**< of a path, with its NUL; no row has a longer one */
#define SF_FIELD_DEPTH 32      /**< objects and lists in each other, at most */

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
    SF_DOCUMENT_CUT, /**< it ends too early; what stands wholly before that was taken */
    SF_DOCUMENT_BAD  /**< no such document, or a value that does not fit its row */
} sf_document;

/** Which rows were found, a bit each; at most 32 of them. */
typedef struct sf_fields {
    const sf_field *rows;
    size_t count;
    uint32_t found;
    bool is_long; /**< a text that a row asks for was too long, and is not among those found */
} sf_fields;

/** *to is not cleared before. */
sf_document sf_fields_from_json(sf_fields *fields, void *to, sf_part text);
sf_document sf_fields_from_msgpack(sf_fields *fields, void *to, sf_part bytes);

#endif
