/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/fields.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

#define NUMBER_LONGEST 64

typedef struct reader {
    const char *at, *end;
    sf_fields *fields;
    char *to;
    char path[SF_FIELD_PATH_SIZE]; /* path of the next value; empty if too long for any row */
    int depth;
} reader;

static void skip_blanks(reader *it)
{
    while (it->at < it->end && (*it->at == ' ' || *it->at == '\t' || *it->at == '\r' || *it->at == '\n'))
        it->at++;
}

/* ---- texts ---- */

static size_t put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00u >> length) | code);
    return length;
}

static sf_document read_hex(reader *it, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, it->at++) {
        if (it->at == it->end) return SF_DOCUMENT_CUT;
        char c = *it->at;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) return SF_DOCUMENT_BAD;
        *code = *code << 4 | digit;
    }
    return SF_DOCUMENT_WHOLE;
}

static bool is_utf8(const char *text)
{
    size_t length = 1;
    for (; *text != '\0' && length > 0; text += length)
        length = sf_utf8_length(text);
    return length > 0;
}

/* Hexadecimal digits after \u; characters beyond 16 bits are two such codes. */
static sf_document read_code(reader *it, uint32_t *code)
{
    sf_document state = read_hex(it, code);
    if (state != SF_DOCUMENT_WHOLE || *code < 0xd800 || *code >= 0xe000)
        return state != SF_DOCUMENT_WHOLE || *code != 0 ? state : SF_DOCUMENT_BAD;
    uint32_t low = 0;
    if (it->end - it->at < 2) return SF_DOCUMENT_CUT;
    if (*code >= 0xdc00 || it->at[0] != '\\' || it->at[1] != 'u') return SF_DOCUMENT_BAD;
    it->at += 2;
    state = read_hex(it, &low);
    if (state == SF_DOCUMENT_WHOLE && (low < 0xdc00 || low >= 0xe000)) return SF_DOCUMENT_BAD;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return state;
}

static sf_document read_escape(reader *it, char *to, size_t *length)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (it->at == it->end) return SF_DOCUMENT_CUT;
    char c = *it->at++;
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    if (name != NULL) {
        *to = meant[name - names];
        *length = 1;
        return SF_DOCUMENT_WHOLE;
    }
    if (c != 'u') return SF_DOCUMENT_BAD;
    uint32_t code = 0;
    sf_document state = read_code(it, &code);
    if (state == SF_DOCUMENT_WHOLE) *length = put_code(to, code);
    return state;
}

/* Reads a text, starting at the quote. Text that exceeds `size` is skipped, and *fits is false. */
static sf_document read_text(reader *it, char *to, size_t size, bool *fits)
{
    size_t length = 0;
    *fits = true;
    it->at++;
    while (it->at < it->end && *it->at != '"') {
        char piece[4] = {*it->at++};
        size_t count = 1;
        if (piece[0] == '\\') {
            sf_document state = read_escape(it, piece, &count);
            if (state != SF_DOCUMENT_WHOLE) return state;
        } else if ((unsigned char)piece[0] < 0x20) {
            return SF_DOCUMENT_BAD;
        }
        *fits = *fits && length + count < size;
        if (*fits) {
            memcpy(to + length, piece, count);
            length += count;
        }
    }
    to[length] = '\0';
    if (it->at == it->end) return SF_DOCUMENT_CUT;
    it->at++;
    return SF_DOCUMENT_WHOLE;
}

/* ---- values ---- */

static const sf_field *find_row(const reader *it)
{
    for (size_t i = 0; it->path[0] != '\0' && i < it->fields->count; i++)
        if (strcmp(it->fields->rows[i].path, it->path) == 0) return &it->fields->rows[i];
    return NULL;
}

static sf_document took(reader *it, const sf_field *row)
{
    it->fields->found |= UINT32_C(1) << (row - it->fields->rows);
    return SF_DOCUMENT_WHOLE;
}

static sf_document take_text(reader *it, const sf_field *row)
{
    char text[SF_FIELD_TEXT_SIZE];
    bool fits;
    sf_document state = read_text(it, text, sizeof text, &fits);
    if (state != SF_DOCUMENT_WHOLE || row == NULL) return state;
    if (row->type != SF_FIELD_TEXT || (fits && !is_utf8(text))) return SF_DOCUMENT_BAD;
    it->fields->is_long = it->fields->is_long || !fits;
    if (!fits) return SF_DOCUMENT_WHOLE;
    memcpy(it->to + row->offset, text, strlen(text) + 1);
    return took(it, row);
}

static sf_document take_whole(reader *it, const sf_field *row, int64_t value)
{
    if (row == NULL) return SF_DOCUMENT_WHOLE;
    if (row->type == SF_FIELD_TEXT) return SF_DOCUMENT_BAD;
    double real = (double)value;
    memcpy(it->to + row->offset, row->type == SF_FIELD_WHOLE ? (void *)&value : (void *)&real, 8);
    return took(it, row);
}

/* Parses plain digits as an integer, anything else as a real number, which may be integral. */
static sf_document take_number(reader *it, const sf_field *row)
{
    char text[NUMBER_LONGEST];
    size_t length = 0;
    while (it->at < it->end && *it->at != '\0' && strchr("+-.0123456789eE", *it->at) != NULL) {
        if (length == sizeof text - 1) return SF_DOCUMENT_BAD;
        text[length++] = *it->at++;
    }
    if (it->at == it->end) return SF_DOCUMENT_CUT; /* more digits may have followed */
    text[length] = '\0';
    int64_t whole;
    double real;
    if (text[0] != '+' && strpbrk(text, ".eE") == NULL && sf_parse_scaled(text, 0, &whole))
        return take_whole(it, row, whole);
    if (text[0] == '+' || !sf_parse_real(text, &real)) return SF_DOCUMENT_BAD;
    if (row == NULL) return SF_DOCUMENT_WHOLE;
    if (row->type == SF_FIELD_WHOLE && real == floor(real) && fabs(real) < 0x1p53)
        return take_whole(it, row, (int64_t)real);
    if (row->type != SF_FIELD_REAL) return SF_DOCUMENT_BAD;
    memcpy(it->to + row->offset, &real, sizeof real);
    return took(it, row);
}

static sf_document take_word(reader *it, const sf_field *row)
{
    static const char *const words[] = {"false", "true", "null"};
    size_t left = (size_t)(it->end - it->at);
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (memcmp(it->at, words[i], left < length ? left : length) != 0) continue;
        if (left < length) return SF_DOCUMENT_CUT;
        it->at += length;
        return i < 2 ? take_whole(it, row, (int64_t)i) : SF_DOCUMENT_WHOLE;
    }
    return SF_DOCUMENT_BAD;
}

static sf_document take_value(reader *it);

/* Appends a key to the path of its object; the caller cuts the path back to the previous length. */
static void enter_key(reader *it, size_t within, const char *key, bool fits)
{
    size_t length = strlen(key);
    if (!fits || (within > 0 && it->path[0] == '\0') || within + length + 2 > sizeof it->path) {
        it->path[0] = '\0';
        return;
    }
    if (within > 0) it->path[within++] = '.';
    memcpy(it->path + within, key, length + 1);
}

/* One key and its value. */
static sf_document take_member(reader *it, const char *within, size_t length)
{
    char key[SF_FIELD_PATH_SIZE];
    bool fits;
    if (*it->at != '"') return SF_DOCUMENT_BAD;
    sf_document state = read_text(it, key, sizeof key, &fits);
    skip_blanks(it);
    if (state != SF_DOCUMENT_WHOLE || it->at == it->end)
        return state != SF_DOCUMENT_WHOLE ? state : SF_DOCUMENT_CUT;
    if (*it->at++ != ':') return SF_DOCUMENT_BAD;
    memcpy(it->path, within, length);
    enter_key(it, length, key, fits && (it->depth == 1 || length > 0));
    return take_value(it);
}

/* At the bracket: members up to the one that closes it. */
static sf_document take_items(reader *it, bool is_object)
{
    const char close = is_object ? '}' : ']';
    char within[SF_FIELD_PATH_SIZE];
    size_t length = is_object ? strlen(it->path) : 0;
    memcpy(within, it->path, length);
    bool known = it->depth == 0 || length > 0;
    if (it->depth++ == SF_FIELD_DEPTH) return SF_DOCUMENT_BAD;
    it->at++;
    skip_blanks(it);
    if (it->at < it->end && *it->at == close) {
        it->at++;
        it->depth--;
        return SF_DOCUMENT_WHOLE;
    }
    for (;;) {
        skip_blanks(it);
        if (it->at == it->end) return SF_DOCUMENT_CUT;
        it->path[0] = '\0';
        sf_document state = is_object ? take_member(it, within, known ? length : 0) : take_value(it);
        skip_blanks(it);
        if (state != SF_DOCUMENT_WHOLE || it->at == it->end)
            return state != SF_DOCUMENT_WHOLE ? state : SF_DOCUMENT_CUT;
        char c = *it->at++;
        if (c == close) break;
        if (c != ',') return SF_DOCUMENT_BAD;
    }
    it->depth--;
    return SF_DOCUMENT_WHOLE;
}

static sf_document take_value(reader *it)
{
    skip_blanks(it);
    if (it->at == it->end) return SF_DOCUMENT_CUT;
    const sf_field *row = find_row(it);
    switch (*it->at) {
    case '{':
    case '[':
        return take_items(it, *it->at == '{');
    case '"':
        return take_text(it, row);
    case 't':
    case 'f':
    case 'n':
        return take_word(it, row);
    default:
        return take_number(it, row);
    }
}

sf_document sf_fields_from_json(sf_fields *fields, void *to, sf_part text)
{
    reader it = {.at = text.data, .fields = fields, .to = to};
    fields->found = 0;
    fields->is_long = false;
    if (text.size == 0) return SF_DOCUMENT_CUT;
    it.end = it.at + text.size;
    skip_blanks(&it);
    if (it.at < it.end && *it.at != '{') return SF_DOCUMENT_BAD;
    sf_document state = take_value(&it);
    if (state != SF_DOCUMENT_WHOLE) return state;
    while (it.at < it.end && *it.at == '\0') /* some senders count their NUL */
        it.at++;
    skip_blanks(&it);
    return it.at == it.end ? SF_DOCUMENT_WHOLE : SF_DOCUMENT_BAD;
}
