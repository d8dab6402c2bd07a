/* SPDX-License-Identifier: Apache-2.0 */
#include "core/message_rows.h"
#include "sinks/sink.h"

#include <math.h>
#include <msgpack.h>
#include <string.h>

/* The packer appends to a text of ours, so that memory comes from core/memory.h. A failure to grow stays in
 * text->failed, so what the packing functions return is not needed. */
static int append(void *text, const char *data, size_t length)
{
    sf_text_append(text, data, length);
    return ((sf_text *)text)->failed ? -1 : 0;
}

/* MessagePack readers refuse a string that is not UTF-8 along with the whole message: bytes that are not
 * UTF-8 become U+FFFD, as in JSON. */
static void pack_string(msgpack_packer *packer, const char *value)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t length = 0;
    for (const char *s = value; *s != '\0';) {
        size_t bytes = sf_utf8_length(s);
        length += bytes != 0 ? bytes : sizeof replacement - 1;
        s += bytes != 0 ? bytes : 1;
    }
    msgpack_pack_str(packer, length);
    if (length == strlen(value)) {
        msgpack_pack_str_body(packer, value, length);
        return;
    }
    for (const char *s = value; *s != '\0';) {
        size_t bytes = sf_utf8_length(s);
        msgpack_pack_str_body(packer, bytes != 0 ? s : replacement,
                              bytes != 0 ? bytes : sizeof replacement - 1);
        s += bytes != 0 ? bytes : 1;
    }
}

/* With its length in one piece, as every key that there is has a short one. */
static void pack_key(msgpack_packer *packer, const char *key)
{
    enum { MOST = 31 }; /* bytes of what MessagePack calls a fixstr */
    char piece[1 + MOST];
    size_t length = 0;
    if (key == NULL) return;
    for (; length < MOST && key[length] != '\0'; length++)
        piece[1 + length] = key[length];
    if (key[length] != '\0') {
        msgpack_pack_str_with_body(packer, key, strlen(key));
        return;
    }
    piece[0] = (char)(0xa0 | length);
    append(packer->data, piece, 1 + length);
}

static void map(void *to, const char *key, size_t fields)
{
    pack_key(to, key);
    msgpack_pack_map(to, fields);
}

static void list(void *to, const char *key, size_t items)
{
    pack_key(to, key);
    msgpack_pack_array(to, items);
}

static void end_nothing(void *to)
{
    (void)to; /* MessagePack gives the size at the start and needs no end */
}

static void string(void *to, const char *key, const char *value)
{
    pack_key(to, key);
    if (value != NULL)
        pack_string(to, value);
    else
        msgpack_pack_nil(to);
}

static void integer(void *to, const char *key, int64_t value)
{
    pack_key(to, key);
    msgpack_pack_int64(to, value);
}

static void natural(void *to, const char *key, uint64_t value)
{
    pack_key(to, key);
    msgpack_pack_uint64(to, value);
}

static void real(void *to, const char *key, double value)
{
    pack_key(to, key);
    if (isfinite(value))
        msgpack_pack_double(to, value);
    else
        msgpack_pack_nil(to);
}

static void boolean(void *to, const char *key, bool value)
{
    pack_key(to, key);
    if (value)
        msgpack_pack_true(to);
    else
        msgpack_pack_false(to);
}

static void seconds(void *to, const char *key, int64_t time_ns)
{
    real(to, key, (double)time_ns / 1e9);
}

static void milliseconds(void *to, const char *key, int64_t time_ns)
{
    real(to, key, (double)time_ns / 1e6);
}

void sf_message_to_msgpack(sf_text *text, const sf_message *message, const sf_stream_info *stream)
{
    static const sf_encoding encoding = {
        .map = map,
        .end_map = end_nothing,
        .list = list,
        .end_list = end_nothing,
        .string = string,
        .integer = integer,
        .natural = natural,
        .real = real,
        .boolean = boolean,
        .seconds = seconds,
        .milliseconds = milliseconds,
    };
    msgpack_packer packer;
    msgpack_packer_init(&packer, text, append);
    if (!sf_message_tell(message, stream, &encoding, &packer)) text->failed = true;
}
