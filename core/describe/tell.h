/* SPDX-License-Identifier: Apache-2.0 */
/** How a row of a table is written, whatever its columns are and in whatever encoding. */
#ifndef SF_CORE_DESCRIBE_TELL_H
#define SF_CORE_DESCRIBE_TELL_H

#include "core/describe/table.h"

/**
 * How one encoding writes values, one after the other. key is NULL inside lists and at the top; maps and
 * lists are told their size when they open. A number that is not finite, and no string, is written as the
 * encoding's null.
 */
typedef struct sf_encoding {
    void (*map)(void *to, const char *key, size_t fields);
    void (*end_map)(void *to);
    void (*list)(void *to, const char *key, size_t items);
    void (*end_list)(void *to);
    void (*string)(void *to, const char *key, const char *value);
    void (*integer)(void *to, const char *key, int64_t value);
    void (*natural)(void *to, const char *key, uint64_t value);
    void (*real)(void *to, const char *key, double value);
    void (*boolean)(void *to, const char *key, bool value);
    void (*seconds)(void *to, const char *key, int64_t time_ns);
    void (*milliseconds)(void *to, const char *key, int64_t time_ns);
} sf_encoding;

/** Into an sf_json. */
extern const sf_encoding sf_json_encoding;

/**
 * Writes the columns of a row as fields of the map that is open; `with` is what values are given to be named
 * by (sf_value). False where memory was lacking for a value, which is null then.
 */
bool sf_table_tell_row(const sf_table *table, size_t row, const void *with, const sf_encoding *as, void *to);

/** Writes one value. False as above. */
bool sf_value_tell(const sf_value *value, const char *key, const sf_column *column, const sf_encoding *as,
                   void *to);

#endif
