/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rows of the recorder's tables, in the form they have in memory, in the file and in journals: the
 * columns of messages (core/message_rows.h), packed (core/describe/pack.h), after columns that identify the
 * message.
 */
#ifndef SF_SINKS_RECORDER_ROWS_H
#define SF_SINKS_RECORDER_ROWS_H

#include "core/describe/pack.h"
#include "core/message_rows.h"

/** The tables, in the order in which they are created. */
typedef enum sf_recorder_table {
    SF_TABLE_WINDOWS,
    SF_TABLE_EPISODES,
    SF_TABLE_COUNTS,
    SF_TABLE_TRIGGERS,
    SF_TABLE_DECISIONS,
    SF_TABLE_DELIVERIES,
    SF_TABLE_DENSITIES,
    SF_TABLE_GRAPHS,
    SF_TABLE_EDGES,
    SF_TABLE_REACH,
    SF_TABLE_REACH_ALL,
    SF_TABLE_COMPONENTS,
    SF_TABLE_MATCHES,
    SF_TABLE_TRIADS,
    SF_TABLE_STATUS,
    SF_TABLE_SOURCES,
    SF_TABLE_SINKS,
    SF_TABLE_CRITICALITY,
    SF_TABLE_CAUTIONS,
    SF_TABLE_DENSITY_VALUES, /**< a plain column of double */
    SF_TABLE_MATCH_UNITS,    /**< a plain column of uint32_t */
    SF_RECORDER_TABLES
} sf_recorder_table;

#define SF_RECORDER_EXTRAS 2
#define SF_RECORDER_FIELDS 128 /**< maximum number in a row */

/** What part of a message a table holds. */
typedef struct sf_recorder_form {
    const char *name;
    size_t chunk; /**< rows */
    sf_topic topic;
    const char *of; /**< the column of the message whose records are the rows; NULL: the message is one row */
    const char *first, *end; /**< first column, and the column before which to stop; NULL: all */
    bool by_item;            /**< one row for each item of its lists */
    bool timed;              /**< `time_ns` follows `seq` */
    const char *number;      /**< then the number of the record, or of the item, under this name; or NULL */
    const char *extras[SF_RECORDER_EXTRAS]; /**< then what only the recorder knows, as counts */
    sf_packed_type plain; /**< element type of a table without a topic, which is a plain column */
} sf_recorder_form;

const sf_recorder_form *sf_recorder_form_of(sf_recorder_table table);
bool sf_recorder_is_plain(sf_recorder_table table);

/** Lists all fields of a row and returns their number. One for a plain column. */
size_t sf_recorder_fields(sf_recorder_table table, sf_packed_field fields[SF_RECORDER_FIELDS]);

/** Row size, padded with zeros to a multiple of 8 bytes. */
size_t sf_recorder_row_size(sf_recorder_table table);

/** A hash of names, types and offsets of its fields: equal only for equal row layouts. */
uint64_t sf_recorder_table_form(sf_recorder_table table);

/** Whether the table gets rows for this record of the message, and their extras. */
typedef bool sf_recorder_take(void *self, const sf_message *message, size_t record,
                              uint64_t extras[SF_RECORDER_EXTRAS]);

/** Maximum number of rows that a message has for a table. */
size_t sf_recorder_count(sf_recorder_table table, const sf_message *message);

/** Packs the rows of all records, or of those that `take` accepts, each in sf_recorder_row_size bytes, and
 * returns their number. */
size_t sf_recorder_pack(char *to, sf_recorder_table table, const sf_message_names *names,
                        sf_recorder_take *take, void *self);

#endif
