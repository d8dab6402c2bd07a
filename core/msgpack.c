/* SPDX-License-Identifier: Apache-2.0 */
#include "core/msgpack.h"

#include <string.h>

/* A big-endian number of so many bytes. */
static bool take_number(sf_msgpack *it, size_t bytes, uint64_t *number)
{
    *number = 0;
    if ((size_t)(it->end - it->at) < bytes) return false;
    for (size_t i = 0; i < bytes; i++)
        *number = *number << 8 | *it->at++;
    return true;
}

static bool take_bytes(sf_msgpack *it, sf_msgpack_value *of, sf_msgpack_type type, uint64_t length)
{
    if ((uint64_t)(it->end - it->at) < length) return false;
    of->type = type;
    of->text = (const char *)it->at;
    of->length = (size_t)length;
    it->at += length;
    return true;
}

/* More than one value for each byte that is left are not there. */
static bool take_many(const sf_msgpack *it, sf_msgpack_value *of, sf_msgpack_type type, uint64_t count)
{
    of->type = type;
    of->length = (size_t)count;
    return count <= (uint64_t)(it->end - it->at);
}

static bool take_whole(sf_msgpack_value *of, int64_t whole)
{
    of->type = SF_MSGPACK_WHOLE;
    of->whole = whole;
    return true;
}

static bool take_float(sf_msgpack *it, sf_msgpack_value *of, size_t bytes)
{
    uint64_t bits;
    float single;
    of->type = SF_MSGPACK_REAL;
    if (!take_number(it, bytes, &bits)) return false;
    if (bytes == 8) {
        memcpy(&of->real, &bits, sizeof bits);
    } else {
        const uint32_t low = (uint32_t)bits;
        memcpy(&single, &low, sizeof low);
        of->real = single;
    }
    return true;
}

/* 0xcc to 0xd3: unsigned and signed numbers of 1, 2, 4, 8 bytes. */
static bool take_integer(sf_msgpack *it, sf_msgpack_value *of, unsigned char head)
{
    size_t bytes = (size_t)1 << (head & 3);
    unsigned shift = (unsigned)(64 - 8 * bytes);
    uint64_t bits;
    if (!take_number(it, bytes, &bits)) return false;
    if (head >= 0xd0) return take_whole(of, (int64_t)(bits << shift) >> shift);
    if (bits <= INT64_MAX) return take_whole(of, (int64_t)bits);
    of->type = SF_MSGPACK_REAL;
    of->real = (double)bits;
    return true;
}

/* What has its length in so many bytes after its head. */
static bool take_long(sf_msgpack *it, sf_msgpack_value *of, sf_msgpack_type type, size_t bytes,
                      uint64_t extra)
{
    uint64_t length;
    if (!take_number(it, bytes, &length)) return false;
    return type == SF_MSGPACK_MAP || type == SF_MSGPACK_LIST
               ? take_many(it, of, type, type == SF_MSGPACK_MAP ? 2 * length : length)
               : take_bytes(it, of, type, length + extra);
}

bool sf_msgpack_take(sf_msgpack *it, sf_msgpack_value *of)
{
    *of = (sf_msgpack_value){0};
    if (it->at == it->end) return false;
    unsigned char head = *it->at++;
    if (head < 0x80 || head >= 0xe0) return take_whole(of, (int8_t)head);
    if (head < 0x90) return take_many(it, of, SF_MSGPACK_MAP, 2u * (head & 15u));
    if (head < 0xa0) return take_many(it, of, SF_MSGPACK_LIST, head & 15u);
    if (head < 0xc0) return take_bytes(it, of, SF_MSGPACK_TEXT, head & 31u);
    switch (head) {
    case 0xc0:
        return true;
    case 0xc2:
    case 0xc3:
        of->is_boolean = true;
        return take_whole(of, head & 1);
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return take_long(it, of, SF_MSGPACK_OTHER, (size_t)1 << (head - 0xc4), 0);
    case 0xc7:
    case 0xc8:
    case 0xc9:
        return take_long(it, of, SF_MSGPACK_OTHER, (size_t)1 << (head - 0xc7), 1);
    case 0xca:
    case 0xcb:
        return take_float(it, of, head == 0xca ? 4 : 8);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return take_bytes(it, of, SF_MSGPACK_OTHER, 1 + ((uint64_t)1 << (head - 0xd4)));
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_long(it, of, SF_MSGPACK_TEXT, (size_t)1 << (head - 0xd9), 0);
    case 0xdc:
    case 0xdd:
        return take_long(it, of, SF_MSGPACK_LIST, head == 0xdc ? 2 : 4, 0);
    case 0xde:
    case 0xdf:
        return take_long(it, of, SF_MSGPACK_MAP, head == 0xde ? 2 : 4, 0);
    default:
        return head != 0xc1 && take_integer(it, of, head);
    }
}

bool sf_msgpack_pass_over(sf_msgpack *it, uint64_t left)
{
    while (left > 0) {
        sf_msgpack_value next;
        if (!sf_msgpack_take(it, &next)) return false;
        left += (next.type == SF_MSGPACK_MAP || next.type == SF_MSGPACK_LIST ? next.length : 0) - 1;
    }
    return true;
}
