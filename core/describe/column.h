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

#include <stddef.h>
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
    const char *item_null;    /**< what null means of one of these, or of a pair; NULL: none is */
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
    sf_table record;  /**< its row is record_row */
    size_t record_row;
    sf_text room; /**< for a text that is not in memory */
    bool failed;  /**< memory was lacking for it; the value is null */
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
    size_t member;          /**< the offset of the pointer to the array, SF_ROWS_THEMSELVES, or a number for
                                 `get` */
    size_t count;           /**< the offset of the number of items, a size_t: sf_members_length */
    size_t element, within; /**< of an array of structs: their size, and the offset in them */
    size_t item;            /**< of an sf_column_list of structs: their size; or a number for `length` */
    bool through; /**< of structs that hold a pointer to another one, `within`: the value is `inside` that */
    size_t inside;
    const char *(*word)(
        const void *element);    /**< what an element is called; NULL: null, or it is its value */
    const sf_column_row *record; /**< the columns of a record ... */
    size_t record_count;         /**< ... and their number */
};

/** `member` of a table whose `of` is itself the array. */
#define SF_ROWS_THEMSELVES SIZE_MAX

/** A list in a struct of such an array. */
typedef struct sf_column_list {
    const void *items; /**< NULL: null */
    size_t count;
} sf_column_list;

/** An element of a member, of the type that the column has: const char *, uint64_t, double, bool, uint32_t of
 * a unit, int64_t, double[2], or the struct of a record. Null are a null pointer, NaN, SF_NO_COUNT and the
 * unit UINT32_MAX; where the member itself is, all rows are. */
void sf_column_value(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/** `length` and `get` of an element that is an sf_column_list. */
bool sf_column_list_length(const sf_column_row *column, const void *of, size_t row, size_t *length);
void sf_column_list_item(const sf_column_row *column, const void *of, size_t row, size_t item,
                         sf_value *value);

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
void sf_value_set_time(sf_value *value, const sf_column *is, int64_t time_ns);
void sf_value_set_text(sf_value *value, const char *text); /**< borrowed; NULL: null */
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

/** In place of a row: every column is null. */
#define SF_NO_ROW SIZE_MAX

/** Reads one value, as sf_table_get does. */
static inline void sf_table_read(const sf_table *table, const sf_column_row *column, size_t row, size_t item,
                                 sf_value *value)
{
    value->known = false;
    value->failed = false;
    value->record_row = 0;
    if (row != SF_NO_ROW)
        column->get(column, table->of, row, item, value);
    if (column->is.type == SF_COLUMN_RECORD) {
        const void *record = value->record.of;
        value->record = sf_column_record(column);
        value->record.row_count = value->record_row + 1;
        value->record.of = record;
    }
}

/** What a column is; what follows the type names further members. */
#define SF_IS(column, phrase, of, means, kind, ...)                                                          \
    {                                                                                                        \
        .name = column, .about = phrase, .unit = of, .null = means, .type = kind, __VA_ARGS__                \
    }

/* Columns of a table of the struct ROW: an element of its member `of`, an array, ... */
#define SF_ARRAY_IS(kind, column, of, phrase, ...)                                                           \
    {                                                                                                        \
        .is = {.name = column, .type = SF_COLUMN_##kind, .about = phrase, __VA_ARGS__},                      \
        .get = sf_column_value, .member = offsetof(ROW, of)                                                  \
    }
/** ... what a function gives, and a list of which one gives the items and another the length. */
#define SF_GOT_BY(kind, column, getter, phrase, ...)                                                         \
    {                                                                                                        \
        .is = {.name = column, .type = SF_COLUMN_##kind, .about = phrase, __VA_ARGS__}, .get = (getter)      \
    }
#define SF_LIST_BY(kind, column, getter, counter, phrase, ...)                                               \
    {                                                                                                        \
        .is = {.name = column, .type = SF_COLUMN_##kind, .about = phrase, .list = true, __VA_ARGS__},        \
        .get = (getter), .length = (counter)                                                                 \
    }

/* Columns of a table whose rows are an array of the struct ROW. */
#define SF_ROW_ELEMENT(of) .member = SF_ROWS_THEMSELVES, .element = sizeof(ROW), .within = offsetof(ROW, of)
/** What the member `of` of that struct holds. */
#define SF_FIELD_IS(kind, column, of, phrase, ...)                                                           \
    {                                                                                                        \
        .is = {.name = column, .type = SF_COLUMN_##kind, .about = phrase, __VA_ARGS__},                      \
        .get = sf_column_value, SF_ROW_ELEMENT(of)                                                           \
    }
/** The same where the column has the name of the member. */
#define SF_MEMBER_IS(kind, column, ...) SF_FIELD_IS(kind, #column, column, __VA_ARGS__)
/** And of a member of the struct that the pointer `through_it` of ROW is to; null where that is NULL. */
#define SF_INSIDE_IS(kind, column, through_it, of, in, phrase, ...)                                          \
    {                                                                                                        \
        .is = {.name = column, .type = SF_COLUMN_##kind, .about = phrase, __VA_ARGS__},                      \
        .get = sf_column_value, SF_ROW_ELEMENT(through_it), .through = true, .inside = offsetof(of, in)      \
    }
/** The same of a member that is an sf_column_list of elements of this type, ... */
#define SF_LIST_IS(kind, column, phrase, ...)                                                                \
    {                                                                                                        \
        .is = {.name = #column, .type = SF_COLUMN_##kind, .about = phrase, .list = true, __VA_ARGS__},       \
        .get = sf_column_list_item, .length = sf_column_list_length, SF_ROW_ELEMENT(column)                  \
    }
/** ... and of structs, which `rows` describe. */
#define SF_RECORDS_ARE(column, of, rows, phrase, ...)                                                        \
    {                                                                                                        \
        .is = {.name = #column, .type = SF_COLUMN_RECORD, .about = phrase, .list = true, __VA_ARGS__},       \
        .get = sf_column_list_item, .length = sf_column_list_length, SF_ROW_ELEMENT(column),                 \
        .item = sizeof(of), .record = (rows), .record_count = sizeof(rows) / sizeof *(rows)                  \
    }

/** A table of the rows of columns, which are an array. */
#define SF_TABLE_OF(rows) .columns = (rows), .column_count = sizeof(rows) / sizeof *(rows)

#endif
