/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Results as tables. The library describes every column once: its name, content and unit, and what null means
 * in it; `synfire describe` prints that. JSON, CSV, NWB and Python have the same columns by the same names,
 * except `id`, which is `episode_id` in NWB.
 */
#ifndef SYNFIRE_TABLE_H
#define SYNFIRE_TABLE_H

#include <synfire/error.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A result as a table. The table borrows the result: it is valid as long as the result and its recording
 * live. Copy it freely. One thread at a time.
 */
typedef struct sf_table {
    const char *name;    /**< "episodes" */
    const char *row;     /**< what one row is: "episode" */
    const char *about;   /**< a phrase */
    size_t column_count; /**< columns have this order in every output */
    size_t row_count;
    const void *columns; /**< opaque */
    const void *of;      /**< opaque */
} sf_table;

/** Writes the table as JSON: an array with one object per row; or, `by_column`, an object with one member per
 * CSV column (so without lists, and pairs as two), with its `type`, whether it is `nullable`, and its
 * `values`. Release *text with sf_release. SF_NO_MEMORY. */
SF_API int sf_table_json(const sf_table *table, bool by_column, char **text, sf_error *error);

#ifdef __cplusplus
}
#endif

#endif
