/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/fields.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

typedef enum value_type { OTHER, WHOLE, REAL, TEXT, MAP, LIST } value_type;

/* A value's head: what is in it, or how many values follow. */
typedef struct value {
    value_type type;
    int64_t whole;
    double real;
    const char *text;
    size_t length; /* of a text; of a map its keys and values */
} value;

typedef struct reader {
    const unsigned char *at, *end;
    sf_fields *fields;
    char *to;
} reader;

/* A big-endian number of so many bytes. */
static bool take_number(reader *it, size_t bytes, uint64_t *number)
{
    *number = 0;
    if ((size_t)(it->end - it->at) < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        *number = *number << 8 | *it->at++;
    return true;
}

static bool take_bytes(reader *it, value *of, value_type type, uint64_t length)
{
    if ((uint64_t)(it->end - it->at) < length)
        return false;
    of->type = type;
    of->text = (const char *)it->at;
    of->length = (size_t)length;
    it->at += length;
    return true;
}

/* More than one value for each byte that is left are not there. */
static bool take_many(const reader *it, value *of, value_type type, uint64_t count)
{
    of->type = type;
    of->length = (size_t)count;
    return count <= (uint64_t)(it->end - it->at);
}

static bool take_whole(value *of, int64_t whole)
{
    of->type = WHOLE;
    of->whole = whole;
    return true;
}

static bool take_float(reader *it, value *of, size_t bytes)
{
    uint64_t bits;
    float single;
    of->type = REAL;
    if (!take_number(it, bytes, &bits))
        return false;
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
static bool take_integer(reader *it, value *of, unsigned char head)
{
    size_t bytes = (size_t)1 << (head & 3);
    unsigned shift = (unsigned)(64 - 8 * bytes);
    uint64_t bits;
    if (!take_number(it, bytes, &bits))
        return false;
    if (head >= 0xd0)
        return take_whole(of, (int64_t)(bits << shift) >> shift);
    if (bits > INT64_MAX)
        return false;
    return take_whole(of, (int64_t)bits);
}

/* What has its length in so many bytes after its head. */
static bool take_long(reader *it, value *of, value_type type, size_t bytes, uint64_t extra)
{
    uint64_t length;
    if (!take_number(it, bytes, &length))
        return false;
    return type == MAP || type == LIST ? take_many(it, of, type, type == MAP ? 2 * length : length)
                                       : take_bytes(it, of, type, length + extra);
}

static bool take_head(reader *it, value *of)
{
    *of = (value){0};
    if (it->at == it->end)
        return false;
    unsigned char head = *it->at++;
    if (head < 0x80 || head >= 0xe0)
        return take_whole(of, (int8_t)head);
    if (head < 0x90)
        return take_many(it, of, MAP, 2u * (head & 15u));
    if (head < 0xa0)
        return take_many(it, of, LIST, head & 15u);
    if (head < 0xc0)
        return take_bytes(it, of, TEXT, head & 31u);
    switch (head) {
    case 0xc0:
        return true;
    case 0xc2:
    case 0xc3:
        return take_whole(of, head & 1);
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return take_long(it, of, OTHER, (size_t)1 << (head - 0xc4), 0);
    case 0xc7:
    case 0xc8:
    case 0xc9:
        return take_long(it, of, OTHER, (size_t)1 << (head - 0xc7), 1);
    case 0xca:
    case 0xcb:
        return take_float(it, of, head == 0xca ? 4 : 8);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return take_bytes(it, of, OTHER, 1 + ((uint64_t)1 << (head - 0xd4)));
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_long(it, of, TEXT, (size_t)1 << (head - 0xd9), 0);
    case 0xdc:
    case 0xdd:
        return take_long(it, of, LIST, head == 0xdc ? 2 : 4, 0);
    case 0xde:
    case 0xdf:
        return take_long(it, of, MAP, head == 0xde ? 2 : 4, 0);
    default:
        return head != 0xc1 && take_integer(it, of, head);
    }
}

/* Passes over what is in a map or list, whatever its depth: `left` counts values that are to come. */
static bool pass_over(reader *it, uint64_t left)
{
    while (left > 0) {
        value next;
        if (!take_head(it, &next))
            return false;
        left += (next.type == MAP || next.type == LIST ? next.length : 0) - 1;
    }
    return true;
}

static const sf_field *find_row(const reader *it, const value *key)
{
    for (size_t i = 0; key->type == TEXT && i < it->fields->count; i++)
        if (strlen(it->fields->rows[i].path) == key->length &&
            memcmp(it->fields->rows[i].path, key->text, key->length) == 0)
            return &it->fields->rows[i];
    return NULL;
}

static bool put_text(char *to, const value *of)
{
    if (memchr(of->text, '\0', of->length) != NULL)
        return false;
    memcpy(to, of->text, of->length);
    to[of->length] = '\0';
    size_t length = 1;
    for (const char *at = to; *at != '\0' && length > 0; at += length)
        length = sf_utf8_length(at);
    return length > 0;
}

static bool put_value(reader *it, const sf_field *row, const value *of)
{
    char *to = it->to + row->offset;
    double real = of->type == WHOLE ? (double)of->whole : of->real;
    bool is_number = of->type == WHOLE || of->type == REAL;
    bool is_whole = of->type == WHOLE || (is_number && real == floor(real) && fabs(real) < 0x1p53);
    int64_t whole = of->type == WHOLE ? of->whole : is_whole ? (int64_t)real : 0;
    if (row->type == SF_FIELD_TEXT ? of->type != TEXT || !put_text(to, of)
                                   : !(row->type == SF_FIELD_WHOLE ? is_whole : is_number && isfinite(real)))
        return false;
    if (row->type == SF_FIELD_WHOLE)
        memcpy(to, &whole, sizeof whole);
    else if (row->type == SF_FIELD_REAL)
        memcpy(to, &real, sizeof real);
    it->fields->found |= UINT32_C(1) << (row - it->fields->rows);
    return true;
}

/* A key of the outermost map, and its value. */
static bool take_member(reader *it)
{
    value key, of;
    if (!take_head(it, &key) || !pass_over(it, key.type == MAP || key.type == LIST ? key.length : 0) ||
        !take_head(it, &of))
        return false;
    const sf_field *row = find_row(it, &key);
    if (row != NULL && row->type == SF_FIELD_TEXT && of.type == TEXT && of.length >= SF_FIELD_TEXT_SIZE) {
        it->fields->is_long = true;
        return true;
    }
    if (of.type == MAP || of.type == LIST)
        return row == NULL && pass_over(it, of.length);
    return row == NULL || put_value(it, row, &of);
}

sf_document sf_fields_from_msgpack(sf_fields *fields, void *to, sf_part bytes)
{
    reader it = {.at = bytes.data, .fields = fields, .to = to};
    value map;
    fields->found = 0;
    fields->is_long = false;
    it.end = bytes.size > 0 ? it.at + bytes.size : it.at;
    if (!take_head(&it, &map) || map.type != MAP)
        return SF_DOCUMENT_BAD;
    for (size_t i = 0; i < map.length; i += 2)
        if (!take_member(&it))
            return SF_DOCUMENT_BAD;
    return it.at == it.end ? SF_DOCUMENT_WHOLE : SF_DOCUMENT_BAD;
}
