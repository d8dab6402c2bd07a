/* SPDX-License-Identifier: Apache-2.0 */
/** Reads MessagePack value by value, without a library and without memory of its own. Any thread. */
#ifndef SF_CORE_MSGPACK_H
#define SF_CORE_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sf_msgpack_type {
    SF_MSGPACK_OTHER, /**< nil, bytes or an extension */
    SF_MSGPACK_WHOLE,
    SF_MSGPACK_REAL, /**< or a whole number of 2^63 and more */
    SF_MSGPACK_TEXT,
    SF_MSGPACK_MAP,
    SF_MSGPACK_LIST
} sf_msgpack_type;

/** One value. Of a map or a list it is the head, and its values follow. */
typedef struct sf_msgpack_value {
    sf_msgpack_type type;
    bool is_boolean; /**< whole, 1 or 0 */
    int64_t whole;
    double real;
    const char *text; /**< borrowed from the bytes; not terminated */
    size_t length;    /**< of a text; of a list its values, of a map its keys and values */
} sf_msgpack_value;

/** What is left of the bytes. */
typedef struct sf_msgpack {
    const unsigned char *at, *end;
} sf_msgpack;

/** Takes the next value; false where it is cut or damaged, or says to hold more values than there are bytes.
 */
bool sf_msgpack_take(sf_msgpack *from, sf_msgpack_value *value);

/** Skips this many values with everything nested in them, at any depth. */
bool sf_msgpack_pass_over(sf_msgpack *from, uint64_t count);

#endif
