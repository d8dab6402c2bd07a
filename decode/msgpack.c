/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/fields.h"

#include "core/msgpack.h"
#include "core/text.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    sf_msgpack bytes;
    sf_fields *fields;
    char *to;
} reader;

static const sf_field *find_row(const reader *it, const sf_msgpack_value *key)
{
    for (size_t i = 0; key->type == SF_MSGPACK_TEXT && i < it->fields->count; i++)
        if (strlen(it->fields->rows[i].path) == key->length &&
            memcmp(it->fields->rows[i].path, key->text, key->length) == 0)
            return &it->fields->rows[i];
    return NULL;
}

static bool put_text(char *to, const sf_msgpack_value *of)
{
    if (memchr(of->text, '\0', of->length) != NULL) return false;
    memcpy(to, of->text, of->length);
    to[of->length] = '\0';
    size_t length = 1;
    for (const char *at = to; *at != '\0' && length > 0; at += length)
        length = sf_utf8_length(at);
    return length > 0;
}

static bool put_value(reader *it, const sf_field *row, const sf_msgpack_value *of)
{
    char *to = it->to + row->offset;
    double real = of->type == SF_MSGPACK_WHOLE ? (double)of->whole : of->real;
    bool is_number = of->type == SF_MSGPACK_WHOLE || of->type == SF_MSGPACK_REAL;
    bool is_whole = of->type == SF_MSGPACK_WHOLE || (is_number && real == floor(real) && fabs(real) < 0x1p53);
    int64_t whole = of->type == SF_MSGPACK_WHOLE ? of->whole : is_whole ? (int64_t)real : 0;
    if (row->type == SF_FIELD_TEXT ? of->type != SF_MSGPACK_TEXT || !put_text(to, of)
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
    sf_msgpack_value key, of;
    if (!sf_msgpack_take(&it->bytes, &key) ||
        !sf_msgpack_pass_over(&it->bytes,
                              key.type == SF_MSGPACK_MAP || key.type == SF_MSGPACK_LIST ? key.length : 0) ||
        !sf_msgpack_take(&it->bytes, &of))
        return false;
    const sf_field *row = find_row(it, &key);
    if (row != NULL && row->type == SF_FIELD_TEXT && of.type == SF_MSGPACK_TEXT &&
        of.length >= SF_FIELD_TEXT_SIZE) {
        it->fields->is_long = true;
        return true;
    }
    if (of.type == SF_MSGPACK_MAP || of.type == SF_MSGPACK_LIST)
        return row == NULL && sf_msgpack_pass_over(&it->bytes, of.length);
    return row == NULL || put_value(it, row, &of);
}

sf_document sf_fields_from_msgpack(sf_fields *fields, void *to, sf_part bytes)
{
    reader it = {.bytes = {.at = bytes.data}, .fields = fields, .to = to};
    sf_msgpack_value map;
    fields->found = 0;
    fields->is_long = false;
    it.bytes.end = bytes.size > 0 ? it.bytes.at + bytes.size : it.bytes.at;
    if (!sf_msgpack_take(&it.bytes, &map) || map.type != SF_MSGPACK_MAP) return SF_DOCUMENT_BAD;
    for (size_t i = 0; i < map.length; i += 2)
        if (!take_member(&it)) return SF_DOCUMENT_BAD;
    return it.bytes.at == it.bytes.end ? SF_DOCUMENT_WHOLE : SF_DOCUMENT_BAD;
}
