/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Results as tables. Every column is described once, in the library: its name, what it is, its unit, and what
 * it means where it is null; `synfire describe` prints that. JSON, CSV, NWB and Python have the same columns
 * by the same names, but for `id`, which is `episode_id` in NWB.
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
 * A result seen as a table. A function that gives one borrows the result: the table is valid as long as that
 * and the recording that it is of live. Copy it freely. One thread at a time.
 */
typedef struct sf_table {
    const char *name;    /**< "episodes" */
    const char *row;     /**< what one row is: "episode" */
    const char *about;   /**< a phrase */
    size_t column_count; /**< their order is that of every output */
    size_t row_count;
    const void *columns; /**< opaque */
    const void *of;      /**< opaque */
} sf_table;

/** All of it as JSON, which sf_release takes: an array with an object for each row, or `by_column` an object
 * with one for each column that CSV has (so without lists, and pairs in two), of its `type`, whether it is
 * `nullable`, and its `values`. SF_NO_MEMORY. */
SF_API int sf_table_json(const sf_table *table, bool by_column, char **text, sf_error *error);

#ifdef __cplusplus
}
#endif

#endif
