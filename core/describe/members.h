/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the columns of a struct are written, in sources alone (as core/row_macros.h, for options): ROW is the
 * struct, whose members they are named after unless said otherwise.
 *
 *   #define ROW sf_took
 *   static const sf_column_row took_rows[] = {
 *       MEMBER(count, "times that it was done"),
 *       MEMBER(p50_ms, "half of them took at most so long", .is.unit = "ms", .is.null = "it never was done"),
 *   };
 *   #undef ROW
 */
#ifndef SF_CORE_DESCRIBE_MEMBERS_H
#define SF_CORE_DESCRIBE_MEMBERS_H

#include "core/describe/column.h"

#include <stddef.h>

#define SF_TYPE_OF_MEMBER(member)                                                                            \
    _Generic(((ROW *)0)->member,                                                                             \
        uint64_t: SF_COLUMN_COUNT,                                                                           \
        uint32_t: SF_COLUMN_COUNT,                                                                           \
        int64_t: SF_COLUMN_INTEGER,                                                                          \
        double: SF_COLUMN_REAL,                                                                              \
        bool: SF_COLUMN_FLAG,                                                                                \
        char *: SF_COLUMN_TEXT,                                                                              \
        const char *: SF_COLUMN_TEXT)
/* An array of letters decays to a pointer to them; a pointer to others is one to a literal, of 24 at most. */
#define SF_GET_OF_MEMBER(member)                                                                             \
    _Generic(((ROW *)0)->member,                                                                             \
        uint64_t: sf_member_natural,                                                                         \
        uint32_t: sf_member_whole,                                                                           \
        int64_t: sf_member_integer,                                                                          \
        double: sf_member_real,                                                                              \
        bool: sf_member_flag,                                                                                \
        char *: sf_member_letters,                                                                           \
        const char *: sf_member_text)

#define SF_BYTES_OF_MEMBER(member)                                                                           \
    _Generic(((ROW *)0)->member, char * : sizeof(((ROW *)0)->member) - 1, const char * : 24, default : 0)
/* What follows the type is the phrase that says what it is, and further members of the column. */
#define MEMBER_OF(kind, called, part, ...)                                                                   \
    {                                                                                                        \
        .is.name = called, .is.type = kind, .get = SF_GET_OF_MEMBER(part), .member = offsetof(ROW, part),    \
        .is.bytes = SF_BYTES_OF_MEMBER(part), .is.about = __VA_ARGS__                                        \
    }
#define MEMBER_AS(called, part, ...) MEMBER_OF(SF_TYPE_OF_MEMBER(part), called, part, __VA_ARGS__)
#define MEMBER(part, ...) MEMBER_AS(#part, part, __VA_ARGS__)
/* Nanoseconds that are written in the unit of the name. */
#define MEMBER_TIME(called, part, in, ...) MEMBER_OF(SF_COLUMN_TIME, called, part, __VA_ARGS__, .is.unit = in)
/* What a function reads. */
#define READ(called, kind, function, ...)                                                                    \
    {                                                                                                        \
        .is.name = called, .is.type = kind, .get = function, .is.about = __VA_ARGS__                         \
    }
#define READ_LIST(called, kind, function, how_many, ...)                                                     \
    READ(called, kind, function, __VA_ARGS__, .is.list = true, .length = how_many)
/* An array that a member points to, of so many as another member says. */
#define MEMBERS(called, kind, function, array, number, ...)                                                  \
    READ_LIST(called, kind, function, sf_members_length, __VA_ARGS__, .member = offsetof(ROW, array),        \
              .count = offsetof(ROW, number))
#define OF_ROWS(rows) .record = (rows), .record_count = sizeof(rows) / sizeof *(rows)
/* A struct within, with columns of its own. */
#define MEMBER_RECORD(called, part, rows, ...)                                                               \
    READ(called, SF_COLUMN_RECORD, sf_member_record, __VA_ARGS__, .member = offsetof(ROW, part),             \
         OF_ROWS(rows))
/* An array of structs that a member points to. */
#define MEMBER_RECORDS(called, array, number, rows, ...)                                                     \
    MEMBERS(called, SF_COLUMN_RECORD, sf_members_record, array, number, __VA_ARGS__,                         \
            .element = sizeof *((ROW *)0)->array, OF_ROWS(rows))

#endif
