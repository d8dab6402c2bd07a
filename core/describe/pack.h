/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows of a table as bytes, every row of one length, field after field without gaps, as HDF5 and journals
 * take them. A column that is one value is one field, a record one for each of its columns with its name
 * before, a pair two; of a list there is how many it holds, or, packed by item, the item; one that holds few
 * is an array. Texts of no bounded length, lists of texts, lists in records, and what says another column
 * again have no field.
 *
 * Where there is null: NaN, an empty text, -1 of a count that may be null, INT64_MIN of other integers,
 * UINT32_MAX of a unit; counts of a record that is null are 0. A flag is 0 or 1.
 */
#ifndef SF_CORE_DESCRIBE_PACK_H
#define SF_CORE_DESCRIBE_PACK_H

#include "core/describe/column.h"

typedef enum sf_packed_type {
    SF_PACKED_FLAG,    /**< uint8_t */
    SF_PACKED_WHOLE,   /**< uint32_t */
    SF_PACKED_COUNT,   /**< uint64_t */
    SF_PACKED_INTEGER, /**< int64_t */
    SF_PACKED_REAL,    /**< double */
    SF_PACKED_TEXT     /**< bytes, with zeros behind where it is shorter */
} sf_packed_type;

typedef struct sf_packed_field {
    char name[64];
    sf_packed_type type;
    size_t bytes;        /**< of all of it */
    size_t items, parts; /**< of an array its length, and 2 of pairs; else 0 and 1 */
} sf_packed_field;

/** That of a column, but for its name; of a text without a bound it has no bytes. */
sf_packed_field sf_pack_field(const sf_column_row *column);

/** Appends one value as that type, which need not be the one of its field: a count may be a real. */
char *sf_pack_value(char *to, sf_packed_type type, const sf_column *is, const sf_value *value);

#define SF_WHOLE_ROW SIZE_MAX

/** The fields of a row, by item or not: their number, of which at most `most` are written. */
size_t sf_pack_fields(const sf_table *table, bool by_item, sf_packed_field *fields, size_t most);

/** Appends a row of the table, or one item of its lists; gives the place behind it. `with`: as of
 * sf_table_tell_row. */
char *sf_pack_row(char *to, const sf_table *table, size_t row, size_t item, const void *with);

#endif
