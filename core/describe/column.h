/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a column of a result is read: a row beside the struct that it describes. A row that names a member of
 * that struct, an array with one element for each row of the table, needs no function of its own.
 */
#ifndef SF_CORE_DESCRIBE_COLUMN_H
#define SF_CORE_DESCRIBE_COLUMN_H

#include "core/text.h"
#include "core/units.h"

#include <synfire/table.h>

#include <stdint.h>

typedef enum sf_column_type {
    SF_COLUMN_TEXT,    /**< sf_value.text */
    SF_COLUMN_COUNT,   /**< sf_value.count */
    SF_COLUMN_INTEGER, /**< sf_value.integer, of either sign: times in ns */
    SF_COLUMN_REAL,    /**< sf_value.real, finite */
    SF_COLUMN_TIME,    /**< sf_value.integer, ns, which is written exactly in its unit: "s" or "ms" */
    SF_COLUMN_FLAG,    /**< sf_value.flag */
    SF_COLUMN_UNIT,    /**< sf_value.count: the index of a unit of the recording */
    SF_COLUMN_ROW,     /**< sf_value.count: the row of the result's first table that this one belongs to */
    SF_COLUMN_PAIR,    /**< sf_value.real and .second: the ends of an interval, a position */
    SF_COLUMN_UNITS,   /**< sf_value.group: indices of units */
    SF_COLUMN_NAMES,   /**< sf_value.group, which is written as the names of these units, of sf_value.units */
    SF_COLUMN_RECORD   /**< sf_value.record: a row with columns of its own */
} sf_column_type;

typedef struct sf_column {
    const char
        *name; /**< the same in JSON, CSV, NWB and Python, but for `id`, which is `episode_id` in NWB */
    const char *about; /**< what it is: a phrase */
    const char *unit;  /**< "ms", "um", "probability"; NULL: none */
    const char *null;  /**< what null means: a phrase; NULL: the column is never null */
    sf_column_type type;
    bool list;                /**< each row has a list of such values */
    const char *item_null;    /**< what null means of one of these; NULL: none is */
    size_t most;              /**< how many they are at most, where they are few; 0: any number */
    bool again;               /**< it says in other words, for people, what another column says exactly */
    size_t bytes;             /**< of a text, at most, without its end; 0: any number */
    const char *const *words; /**< of a text, all that it may be, up to NULL; NULL: anything */
    /** Of a pair, its two columns where a column holds one number: "ratio_low", "ratio_high". Of a list, the
     * first is that of one item where a row holds one: "unit". */
    const char *first_name, *second_name;
} sf_column;

/** What stands in one place of a table. Zero-initialise; use it for one place after the other. */
typedef struct sf_value {
    bool known; /**< false: null, and the other members mean nothing */
    bool flag;
    uint64_t count;
    int64_t integer;
    double real, second;
    const uint32_t *group;
    size_t group_size;
    const sf_units *units;
    const void *with; /**< given: what columns that name their values go by; what it is, a table says */
    const char *text; /**< valid until the value is used again */
    sf_table record;  /**< of one row */
    sf_text room;     /**< for a text that is not in memory */
    bool failed;      /**< memory was lacking for it; the value is null */
} sf_value;

/** Whether it has a place among columns of single values, as in CSV. */
static inline bool sf_column_is_single(const sf_column *column)
{
    return !column->list && column->type < SF_COLUMN_UNITS;
}

typedef struct sf_column_row sf_column_row;

struct sf_column_row {
    sf_column is;
    /** Reads a value into *value, which is null before. `of` is that of the table. */
    void (*get)(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
    /** Of a list its length; false: it is null. */
    bool (*length)(const sf_column_row *column, const void *of, size_t row, size_t *length);
    /** Whether a result has the column: false where it was not asked for, and it is null in every row. NULL:
     * it does. */
    bool (*applies)(const sf_column_row *column, const void *of);
    size_t member;          /**< the offset of the pointer to the array; or a number for `get` */
    size_t count;           /**< the offset of the number of items, a size_t: sf_members_length */
    size_t element, within; /**< of an array of structs: their size, and the offset in them */
    const char *(*word)(const void *element); /**< sf_column_word: what an element is called; NULL: null */
    const sf_column_row *record;              /**< the columns of a record ... */
    size_t record_count;                      /**< ... and their number */
};

/** Elements of a member: a null pointer is null in every row. */
void sf_column_count(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
/** NaN is null. */
void sf_column_real(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_column_flag(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_column_unit(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_column_text(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_column_word(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/**
 * A member of a struct, which `of` is: the table has one row. Where the column may be null it is so of an
 * empty text, no text, a negative number, and NaN.
 */
void sf_member_natural(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_whole(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_integer(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_real(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_flag(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_letters(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_text(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_member_record(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
/** `item` of an array that a member points to. */
void sf_members_whole(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_members_real(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_members_text(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
void sf_members_record(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);
bool sf_members_length(const sf_column_row *column, const void *of, size_t row, size_t *length);

/** Sets the value. */
void sf_value_set_count(sf_value *value, uint64_t count);
void sf_value_set_real(sf_value *value, double real);                 /**< not finite: null */
void sf_value_set_pair(sf_value *value, double first, double second); /**< one is not finite: null */
void sf_value_set_text(sf_value *value, const char *text);            /**< borrowed; NULL: null */
/** An empty text of the value's own, to be appended to, and the value set to what was. */
sf_text *sf_value_room(sf_value *value);
void sf_value_set_room(sf_value *value);
void sf_value_set_delay(sf_value *value, int64_t low_ns, int64_t high_ns); /**< in ms */

/** Releases the memory that a column put into it. */
void sf_value_free(sf_value *value);

/** The columns of its records, as a table without rows. */
static inline sf_table sf_column_record(const sf_column_row *column)
{
    return (sf_table){.name = column->is.name,
                      .row = column->is.name,
                      .about = column->is.about,
                      .columns = column->record,
                      .column_count = column->record_count};
}

/** Reads one value, as sf_table_get does. */
static inline void sf_table_read(const sf_table *table, const sf_column_row *column, size_t row, size_t item,
                                 sf_value *value)
{
    value->known = false;
    value->failed = false;
    column->get(column, table->of, row, item, value);
    if (column->is.type == SF_COLUMN_RECORD) {
        const void *record = value->record.of;
        value->record = sf_column_record(column);
        value->record.row_count = 1;
        value->record.of = record;
    }
}

/** What a column is; what follows the type names further members. */
#define SF_IS(column, phrase, of, means, kind, ...)                                                          \
    {                                                                                                        \
        .name = column, .about = phrase, .unit = of, .null = means, .type = kind, __VA_ARGS__                \
    }

/** A table of the rows, which are an array. */
#define SF_TABLE_OF(rows) .columns = (rows), .column_count = sizeof(rows) / sizeof *(rows)

#endif
