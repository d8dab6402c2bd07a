/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How rows (core/keys.h) are written, in sources alone: ROW is the struct whose members they describe.
 *
 *   #define ROW sf_match_options
 *   static const sf_key match_rows[] = {
 *       SWITCH("distinct", distinct, .what = "count embeddings that differ by a symmetry once"),
 *       {SF_ROW_THREADS, AT(threads)},
 *       {0},
 *   };
 *   #undef ROW
 */
#ifndef SF_CORE_ROW_MACROS_H
#define SF_CORE_ROW_MACROS_H

#include "core/rows.h"

#include <stddef.h>

#define AT(member) .offset = offsetof(ROW, member)
#define GROUP(key, below, ...)                                                                               \
    {                                                                                                        \
        .name = key, .type = SF_KEY_GROUP, .table = &(below), __VA_ARGS__                                    \
    }
#define LIST(key, member, count, limit, below, ...)                                                          \
    {                                                                                                        \
        .name = key, .type = SF_KEY_LIST, AT(member), .count_offset = offsetof(ROW, count), .most = limit,   \
        .table = below, __VA_ARGS__                                                                          \
    }
#define TEXT(key, member, ...)                                                                               \
    {                                                                                                        \
        .name = key, .type = SF_KEY_TEXT, AT(member), __VA_ARGS__                                            \
    }
#define SWITCH(key, member, ...)                                                                             \
    {                                                                                                        \
        .name = key, .type = SF_KEY_SWITCH, AT(member), __VA_ARGS__                                          \
    }
#define CHOICE(key, member, among, ...)                                                                      \
    {                                                                                                        \
        .name = key, .type = SF_KEY_CHOICE, AT(member), .words = among, __VA_ARGS__                          \
    }
#define WHOLE(key, member, from, to, ...)                                                                    \
    {                                                                                                        \
        .name = key, .type = SF_KEY_WHOLE, AT(member), .least = from, .most = to, __VA_ARGS__                \
    }
#define REAL(key, member, from, to, ...)                                                                     \
    {                                                                                                        \
        .name = key, .type = SF_KEY_REAL, AT(member), .least = from, .most = to, __VA_ARGS__                 \
    }
#define COUNT(key, member, from, to, ...)                                                                    \
    {                                                                                                        \
        .name = key, .type = SF_KEY_COUNT, AT(member), .least = from, .most = to, __VA_ARGS__                \
    }
#define TIME(key, member, from, to, ...)                                                                     \
    {                                                                                                        \
        .name = key, .type = SF_KEY_TIME, AT(member), .least = from, .most = to, __VA_ARGS__                 \
    }

#define SET(key, member, among, ...)                                                                         \
    {                                                                                                        \
        .name = key, .type = SF_KEY_SET, AT(member), .words = among, __VA_ARGS__                             \
    }
#define FORM(key, reader, ...)                                                                               \
    {                                                                                                        \
        .name = key, .type = SF_KEY_FORM, .read = reader, __VA_ARGS__                                        \
    }

/** A table of these rows for structs that begin as `initial`. */
#define SF_KEY_TABLE(rows, initial)                                                                          \
    {                                                                                                        \
        .parts = {rows}, .size = sizeof(initial), .defaults = &(initial)                                     \
    }

#endif
