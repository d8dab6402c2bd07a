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
    SF_COLUMN_ENTRY,   /**< sf_value.text: one of a list, which is written as a map, with its sf_value.key */
    SF_COLUMN_NUMBERS, /**< sf_value.real, or sf_value.numbers: a list of them or a list of such lists */
    SF_COLUMN_RECORD   /**< sf_value.record: a row with columns of its own */
} sf_column_type;

typedef struct sf_column {
    /** The same in JSON, CSV, NWB and Python, but for `id`, which is `episode_id` in NWB. NULL, of a record
     * in a document: the columns of the record are columns of the row. */
    const char *name;
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
    const sf_units *units;    /**< whose names those of a group are, ... */
    const char *const *names; /**< ... where it is NULL, names by the same index */
    const void *with;      /**< given: what columns that name their values go by; what it is, a table says */
    const double *numbers; /**< group_size of them, null where not finite; NULL: all are null */
    unsigned depth;        /**< of these lists: 0 without, 1, or 2 where each row_length are a list */
    size_t row_length;
    const char *text; /**< valid until the value is used again */
    const char *key;  /**< of an entry */
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

/** How a struct has a value, where its type does not tell. */
typedef enum sf_column_form {
    SF_FORM_OF_ITS_TYPE, /**< const char *, uint64_t, double, bool, uint32_t of a unit, int64_t, double[2] */
    SF_FORM_WHOLE,       /**< a count in a uint32_t */
    SF_FORM_SIGNED,      /**< a count in an int64_t; negative: null */
    SF_FORM_LETTERS      /**< a text in an array of char; empty: null, where the column may be */
} sf_column_form;

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
    sf_column_form form; /**< how the struct has it */
    size_t member; /**< the offset of the pointer to the array, SF_ROWS_THEMSELVES, or a number for `get` */
    size_t element, within; /**< of an array of structs: their size, and the offset in them */
    size_t count;           /**< of a list: the offset of its length in them, a size_t */
    size_t item;            /**< of a list of structs: their size; or a number for `length` */
    bool through; /**< of structs that hold a pointer to another one, `within`: the value is `inside` that */
    size_t inside;
    const char *(*word)(
        const void *element);    /**< what an element is called; NULL: null, or it is its value */
    const sf_column_row *record; /**< the columns of a record ... */
    size_t record_count;         /**< ... and their number */
    const sf_table *table;       /**< or the table that has them */
};

/** The head of a function that is `get` of a row, which need not use all that it is given:
 *     SF_GETTER(get_ok)
 *     {
 *         sf_value_set_flag(value, ((const sf_finding *)of)->level != SF_FINDING_BAD);
 *     }
 * of one that other files use, too, and of one that is its `length`. */
#define SF_MAYBE_UNUSED __attribute__((unused))
#define SF_GETTER(name) static SF_SHARED_GETTER(name)
#define SF_SHARED_GETTER(name)                                                                               \
    void name(SF_MAYBE_UNUSED const sf_column_row *column, SF_MAYBE_UNUSED const void *of,                   \
              SF_MAYBE_UNUSED size_t row, SF_MAYBE_UNUSED size_t item, sf_value *value)
#define SF_LENGTH(name)                                                                                      \
    static bool name(SF_MAYBE_UNUSED const sf_column_row *column, SF_MAYBE_UNUSED const void *of,            \
                     SF_MAYBE_UNUSED size_t row, size_t *length)

/** `member` of a table whose `of` is itself the array. */
#define SF_ROWS_THEMSELVES SIZE_MAX

/** A list that is an element of such an array and is not stored as two members. */
typedef struct sf_column_list {
    const void *items; /**< NULL: null */
    size_t count;
} sf_column_list;

/** An element of a member, in its form, or the struct of a record. Where the column may be null it is so of
 * a null pointer, NaN and SF_NO_COUNT, and of the unit UINT32_MAX; where the member itself is, all rows are.
 */
void sf_column_value(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/** The struct of a record that an element points to; null where the pointer is. */
void sf_column_pointed(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/** The row `item` of what `of` is itself: of a record that is no list, the struct whose column it is. */
void sf_column_own_row(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/** `length` and `get` of an element that is an sf_table, whose rows are the list. Where the column may be
 * null it is so of a table without columns. */
bool sf_column_rows_length(const sf_column_row *column, const void *of, size_t row, size_t *length);
void sf_column_row_of(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/** `length` and `get` of an array that an element points to. Where the column may be null it is so of a null
 * pointer. */
bool sf_column_items_length(const sf_column_row *column, const void *of, size_t row, size_t *length);
void sf_column_item(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value);

/** Sets the value. */
static inline void sf_value_set_flag(sf_value *value, bool flag)
{
    value->known = true;
    value->flag = flag;
}

/** To a record: row `row` of what `of` is. NULL: null. */
static inline void sf_value_set_record(sf_value *value, const void *of, size_t row)
{
    value->known = of != NULL;
    value->record.of = of;
    value->record_row = row;
}

void sf_value_set_count(sf_value *value, uint64_t count);
void sf_value_set_real(sf_value *value, double real);                 /**< not finite: null */
void sf_value_set_pair(sf_value *value, double first, double second); /**< one is not finite: null */
void sf_value_set_time(sf_value *value, const sf_column *is, int64_t time_ns);
void sf_value_set_text(sf_value *value, const char *text); /**< borrowed; NULL: null */
/** An empty text of the value's own, to be appended to, and the value set to what was. */
sf_text *sf_value_room(sf_value *value);
void sf_value_set_room(sf_value *value);
void sf_value_set_delay(sf_value *value, int64_t low_ns, int64_t high_ns); /**< in ms */

/** To a list of `count` numbers; row_length > 0: to a list of lists of so many each. */
static inline void sf_value_set_numbers(sf_value *value, const double *numbers, size_t count,
                                        size_t row_length)
{
    value->known = true;
    value->numbers = numbers;
    value->group_size = count;
    value->row_length = row_length;
    value->depth = row_length > 0 ? 2 : 1;
}

/** Releases the memory that a column put into it. */
void sf_value_free(sf_value *value);

/** The columns of its records, as a table without rows. */
static inline sf_table sf_column_record(const sf_column_row *column)
{
    return (sf_table){.name = column->is.name,
                      .row = column->is.name,
                      .about = column->is.about,
                      .columns = column->table != NULL ? column->table->columns : column->record,
                      .column_count =
                          column->table != NULL ? column->table->column_count : column->record_count};
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
    value->depth = 0;
    if (row != SF_NO_ROW) column->get(column, table->of, row, item, value);
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

/*
 * How columns are written: ROW is the struct whose members they are of, `kind` is the end of the name of
 * their type, and behind the phrase follow further members of sf_column.
 *
 *   #define ROW sf_took
 *   static const sf_column_row took_rows[] = {
 *       SF_MEMBER_IS(COUNT, count, "times that it was done"),
 *       SF_MEMBER_IS(REAL, p50_ms, "half of them took so long", .unit = "ms", .null = "it was not done"),
 *   };
 *   #undef ROW
 */
#define SF_WHAT_IS(kind, column, ...)                                                                        \
    {                                                                                                        \
        .name = column, .type = SF_COLUMN_##kind, .about = __VA_ARGS__                                       \
    }
#define SF_WHAT_LIST(kind, column, ...)                                                                      \
    {                                                                                                        \
        .list = true, .name = column, .type = SF_COLUMN_##kind, .about = __VA_ARGS__                         \
    }
#define SF_ROWS_ARE(rows) .record = (rows), .record_count = sizeof(rows) / sizeof *(rows)

/* Of a table whose rows are in arrays: an element of the member `of` of ROW, which is one. */
#define SF_ARRAY_IS(kind, column, of, ...)                                                                   \
    {                                                                                                        \
        .is = SF_WHAT_IS(kind, column, __VA_ARGS__), .get = sf_column_value, .member = offsetof(ROW, of)     \
    }

/* What a function gives; and from which member, whose offset is column->member. */
#define SF_GOT_BY(kind, column, getter, ...)                                                                 \
    {                                                                                                        \
        .is = SF_WHAT_IS(kind, column, __VA_ARGS__), .get = (getter)                                         \
    }
#define SF_GOT_FROM(kind, column, getter, of, ...)                                                           \
    {                                                                                                        \
        .is = SF_WHAT_IS(kind, column, __VA_ARGS__), .get = (getter), .member = offsetof(ROW, of)            \
    }
#define SF_RECORD_BY(column, getter, rows, ...)                                                              \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, column, __VA_ARGS__), .get = (getter), SF_ROWS_ARE(rows)                    \
    }
#define SF_RECORD_FROM(column, getter, of, rows, ...)                                                        \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, column, __VA_ARGS__), .get = (getter), .member = offsetof(ROW, of),         \
        SF_ROWS_ARE(rows)                                                                                    \
    }
/* A list of which one function gives the items and another the length. */
#define SF_LIST_BY(kind, column, getter, counter, ...)                                                       \
    {                                                                                                        \
        .is = SF_WHAT_LIST(kind, column, __VA_ARGS__), .get = (getter), .length = (counter)                  \
    }
#define SF_RECORDS_BY(column, getter, counter, rows, ...)                                                    \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = (getter), .length = (counter),               \
        SF_ROWS_ARE(rows)                                                                                    \
    }

/* Of a table whose rows are structs ROW, one or an array of them: what the member `of` holds. An array of
 * letters is no pointer to them, and a pointer to const ones is one to a literal, of at most 24. */
#define SF_ROW_ELEMENT(of) .member = SF_ROWS_THEMSELVES, .element = sizeof(ROW), .within = offsetof(ROW, of)
#define SF_FORM_BY(value)                                                                                    \
    _Generic((value), uint32_t : SF_FORM_WHOLE, int64_t : SF_FORM_SIGNED, default : SF_FORM_OF_ITS_TYPE)
#define SF_FORM_IN(of)                                                                                       \
    _Generic(&((ROW *)0)->of,                                                                                \
        char **: SF_FORM_OF_ITS_TYPE,                                                                        \
        const char **: SF_FORM_OF_ITS_TYPE,                                                                  \
        default: _Generic(((ROW *)0)->of, char *: SF_FORM_LETTERS, default: SF_FORM_BY(((ROW *)0)->of)))
#define SF_BYTES_IN(of)                                                                                      \
    _Generic(&((ROW *)0)->of,                                                                                \
        char **: 0,                                                                                          \
        const char **: 24,                                                                                   \
        default: _Generic(((ROW *)0)->of, char *: sizeof(((ROW *)0)->of) - 1, default: 0))
#define SF_FIELD_IS(kind, column, of, ...)                                                                   \
    {                                                                                                        \
        .is = {.bytes = SF_BYTES_IN(of), .name = column, .type = SF_COLUMN_##kind, .about = __VA_ARGS__},    \
        .get = sf_column_value, .form = SF_FORM_IN(of), SF_ROW_ELEMENT(of)                                   \
    }
/* The same where the column has the name of the member, of which it may be a struct. */
#define SF_MEMBER_IS(kind, column, ...) SF_FIELD_IS(kind, #column, column, __VA_ARGS__)
#define SF_RECORD_IS(column, of, rows, ...)                                                                  \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, column, __VA_ARGS__), .get = sf_column_value, SF_ROW_ELEMENT(of),           \
        SF_ROWS_ARE(rows)                                                                                    \
    }
/* And of a member of the struct that the pointer `through_it` of ROW is to; null where that is NULL. */
#define SF_INSIDE_IS(kind, column, through_it, of, in, ...)                                                  \
    {                                                                                                        \
        .is = SF_WHAT_IS(kind, column, __VA_ARGS__), .get = sf_column_value, SF_ROW_ELEMENT(through_it),     \
        .through = true, .inside = offsetof(of, in)                                                          \
    }

/* A list: what the member `of` points to, of so many as the member `number` says; ... */
#define SF_ITEMS_LENGTH(of, number)                                                                          \
    .length = sf_column_items_length, SF_ROW_ELEMENT(of), .count = offsetof(ROW, number)
#define SF_ITEMS_ARE(kind, column, of, number, ...)                                                          \
    {                                                                                                        \
        .is = SF_WHAT_LIST(kind, column, __VA_ARGS__), .get = sf_column_item,                                \
        .form = SF_FORM_BY(*((ROW *)0)->of), SF_ITEMS_LENGTH(of, number)                                     \
    }
/* ... of structs; ... */
#define SF_RECORDS_OF(column, of, number, rows, ...)                                                         \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = sf_column_item,                              \
        .item = sizeof *((ROW *)0)->of, SF_ITEMS_LENGTH(of, number), SF_ROWS_ARE(rows)                       \
    }
/* ... of which a function gives the items. */
#define SF_ITEMS_BY(kind, column, getter, of, number, ...)                                                   \
    {                                                                                                        \
        .is = SF_WHAT_LIST(kind, column, __VA_ARGS__), .get = (getter), SF_ITEMS_LENGTH(of, number)          \
    }
/* The same of a member that is an sf_column_list. */
#define SF_LIST_IS(kind, column, ...)                                                                        \
    {                                                                                                        \
        .is = SF_WHAT_LIST(kind, #column, __VA_ARGS__), .get = sf_column_item,                               \
        SF_ITEMS_LENGTH(column.items, column.count)                                                          \
    }
#define SF_RECORDS_ARE(column, of, rows, ...)                                                                \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, #column, __VA_ARGS__), .get = sf_column_item, .item = sizeof(of),         \
        SF_ITEMS_LENGTH(column.items, column.count), SF_ROWS_ARE(rows)                                       \
    }

/* What an element of the member `of` is called. */
#define SF_WORD_IS(column, of, spell, ...)                                                                   \
    {                                                                                                        \
        .is = SF_WHAT_IS(TEXT, column, __VA_ARGS__), .get = sf_column_value, .word = (spell),                \
        SF_ROW_ELEMENT(of)                                                                                   \
    }

/* The columns of the member `of`, a row of a table with the columns of that at `like`, or of what a function
 * gives, which are columns of the document. */
#define SF_COLUMNS_OF(of, like)                                                                              \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, NULL, NULL), .get = sf_column_value, SF_ROW_ELEMENT(of), .table = (like)    \
    }
#define SF_COLUMNS_BY(getter, like)                                                                          \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, NULL, NULL), .get = (getter), .table = (like)                               \
    }

/* What a document has of tables, of which `like` is the address of one with the same columns. A struct that
 * the member `of` points to; ... */
#define SF_POINTED_IS(column, of, like, ...)                                                                 \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, column, __VA_ARGS__), .get = sf_column_pointed, SF_ROW_ELEMENT(of),         \
        .table = (like)                                                                                      \
    }
/* ... a list of the structs that it points to; ... */
#define SF_STRUCTS_ARE(column, of, number, like, ...)                                                        \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = sf_column_item,                              \
        .item = sizeof *((ROW *)0)->of, SF_ITEMS_LENGTH(of, number), .table = (like)                         \
    }
/* ... a list of the rows of the member `of`, an sf_table; ... */
#define SF_TABLE_IS(column, of, like, ...)                                                                   \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = sf_column_row_of,                            \
        .length = sf_column_rows_length, SF_ROW_ELEMENT(of), .table = (like)                                 \
    }
/* ... likewise of two functions, or of one and the number of what a member points to; ... */
#define SF_STRUCTS_BY(column, getter, of, number, like, ...)                                                 \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = (getter), SF_ITEMS_LENGTH(of, number),       \
        .table = (like)                                                                                      \
    }
#define SF_TABLE_BY(column, getter, counter, like, ...)                                                      \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = (getter), .length = (counter),               \
        .table = (like)                                                                                      \
    }
/* ... and its first row. */
#define SF_FIRST_ROW_IS(column, of, like, ...)                                                               \
    {                                                                                                        \
        .is = SF_WHAT_IS(RECORD, column, __VA_ARGS__), .get = sf_column_row_of, SF_ROW_ELEMENT(of),          \
        .table = (like)                                                                                      \
    }

/** A table of the rows of columns, which are an array. */
#define SF_TABLE_OF(rows) .columns = (rows), .column_count = sizeof(rows) / sizeof *(rows)

#endif
