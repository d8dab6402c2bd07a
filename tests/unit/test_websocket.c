/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket by the examples of RFC 6455, and what an end may do to the other. */
#include "support/support.h"

#include "core/text.h"
#include "ingest/websocket.h"

#include <stdlib.h>
#include <string.h>

/* Reads all there is, a byte at a time or at once: "1 5 Hello" a line for each message; the status it ends
 * with. */
static int read_all(sf_text *told, sf_websocket *it, const void *bytes, size_t size, size_t piece)
{
    int status = SF_AGAIN;
    sf_text_clear(told);
    for (size_t at = 0; at < size && status >= 0;) {
        size_t count = size - at < piece ? size - at : piece, used;
        char *cut = malloc(count);
        sf_websocket_message message;
        memcpy(cut, (const char *)bytes + at, count);
        status = sf_websocket_read(it, cut, count, &used, &message, NULL);
        if (status == SF_OK)
            sf_text_printf(told, "%d %d %.*s\n", (int)message.kind, (int)message.length,
                           message.bytes != NULL ? (int)message.length : 3,
                           message.bytes != NULL ? (const char *)message.bytes : "...");
        free(cut);
        at += used;
    }
    return status;
}

#define REQUIRE(is_server, most, bytes, told) require(is_server, most, bytes, sizeof bytes - 1, told)

static void require(bool is_server, size_t most, const char *bytes, size_t size, const char *told)
{
    sf_text text = {0};
    for (size_t piece = 1; piece <= size; piece = piece == 1 ? size : size + 1) {
        sf_websocket it = {.is_server = is_server, .most = most};
        int status = read_all(&text, &it, bytes, size, piece);
        assert_string_equal(text.length > 0 ? text.data : "", told != NULL ? told : "");
        assert_int_equal(status < 0, told == NULL);
        sf_websocket_clear(&it);
    }
    sf_text_free(&text);
}

/* Section 5.7 of the RFC. */
static void messages_are_read(void **state)
{
    (void)state;
    REQUIRE(false, 100, "\x81\x05Hello", "1 5 Hello\n");
    REQUIRE(true, 100, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "1 5 Hello\n");
    REQUIRE(false, 100, "\x01\x03Hel\x80\x02lo", "1 5 Hello\n");
    REQUIRE(false, 100, "\x89\x05Hello", "9 5 Hello\n");
    REQUIRE(true, 100, "\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "10 5 Hello\n");
    REQUIRE(false, 100, "\x82\x00\x81\x00", "2 0 \n1 0 \n");
    /* A ping among the frames of a message. */
    REQUIRE(false, 100, "\x02\x01x\x89\x01p\x00\x01y\x80\x01z", "9 1 p\n2 3 xyz\n");
    REQUIRE(false, 100, "\x88\x02\x03\xe8", "8 2 \x03\xe8\n");
}

static void lengths_of_every_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 125, 126, 127, 65535, 65536, 100000};
    static const unsigned char mask[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        size_t size = sizes[i / 2], used = 0;
        const unsigned char *masked = i % 2 == 0 ? NULL : mask;
        unsigned char *frame = malloc(SF_WEBSOCKET_HEAD + size);
        size_t head = sf_websocket_put_head(frame, SF_WEBSOCKET_BINARY, size, masked);
        for (size_t k = 0; k < size; k++)
            frame[head + k] = (unsigned char)(k * 7);
        if (masked != NULL) { /* as a whole and in pieces */
            sf_websocket_mask(frame + head, size / 3, mask, 0);
            sf_websocket_mask(frame + head + size / 3, size - size / 3, mask, size / 3);
        }
        sf_websocket it = {.is_server = masked != NULL, .most = size};
        sf_websocket_message message = {0};
        assert_int_equal(sf_websocket_read(&it, frame, head + size, &used, &message, NULL), SF_OK);
        assert_int_equal(used, head + size);
        assert_int_equal(message.length, size);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(message.bytes[k], (unsigned char)(k * 7));
        sf_websocket_clear(&it);
        free(frame);
    }
}

/* What is longer than is kept is passed over, and the next message is read. */
static void what_is_too_long_is_passed_over(void **state)
{
    (void)state;
    REQUIRE(false, 4, "\x81\x04more\x81\x05Hello\x81\x02ok", "1 4 more\n1 5 ...\n1 2 ok\n");
    REQUIRE(false, 4, "\x01\x03Hel\x80\x02lo\x81\x02ok", "1 5 ...\n1 2 ok\n");
}

/* A head takes no memory, whatever it announces. */
static void memory_is_for_bytes_that_came(void **state)
{
    (void)state;
    sf_websocket it = {.most = 1 << 20};
    sf_text told = {0};
    assert_int_equal(read_all(&told, &it,
                              "\x82\x7f\0\0\0\0\0\x0f\xff\xff"
                              "abc",
                              13, 13),
                     SF_AGAIN);
    assert_in_range(it.capacity, 3, 100);
    sf_websocket_clear(&it);
    sf_text_free(&told);
}

static void what_is_no_websocket_is_refused(void **state)
{
    (void)state;
    REQUIRE(false, 100, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", NULL); /* a server masks */
    REQUIRE(true, 100, "\x81\x05Hello", NULL);                                 /* a client does not */
    REQUIRE(false, 100, "\xc1\x05Hello", NULL);                                /* an extension */
    REQUIRE(false, 100, "\x83\x05Hello", NULL);                                /* an unknown kind */
    REQUIRE(false, 100, "\x09\x01x", NULL);                                    /* a ping in pieces */
    REQUIRE(false, 1000, "\x89\x7e\x00\x7e", NULL);                            /* a long ping */
    REQUIRE(false, 100, "\x80\x01x", NULL);                                    /* goes on from nothing */
    REQUIRE(false, 100, "\x01\x01x\x01\x01y", NULL);                           /* begins in another */
    REQUIRE(false, 100, "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", NULL);
    REQUIRE(false, 100, "\x82\x7f\x00\x00\x00\x00\x04\x00\x00\x01", NULL); /* 64 MiB and a byte */
    REQUIRE(false, 100, "\xff\xff", NULL);                                 /* as soon as it is known */
    REQUIRE(false, 100, "HTTP/1.1 200 OK\r\n\r\n", NULL);
}

/* ---- the handshake ---- */

#define ANSWER                                                                                               \
    "HTTP/1.1 101 Switching Protocols\r\nDate: today\r\nupgrade: WebSocket\r\nConnection:  keep-alive, "     \
    "Upgrade \r\n"                                                                                           \
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define REQUEST                                                                                              \
    "GET /chat?a=b HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"    \
    "Sec-WebSocket-Key: " KEY "\r\nOrigin: http://example.com\r\nSec-WebSocket-Version: 13\r\n\r\n"

/* Section 1.3 of the RFC. */
static void keys_are_answered(void **state)
{
    (void)state;
    char key[SF_WEBSOCKET_KEY_SIZE], accept[SF_WEBSOCKET_ACCEPT_SIZE];
    sf_websocket_key(key, (const unsigned char *)"the sample nonce");
    assert_string_equal(key, KEY);
    sf_websocket_accept(accept, key);
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

static int check(const char *answer)
{
    sf_error error = {0};
    int status = sf_websocket_check_answer((sf_part){answer, strlen(answer)}, KEY, &error);
    assert_int_equal(status != SF_OK, error.text[0] != '\0');
    return status;
}

/* `text` with one piece of it instead of another; Until the next call. */
static const char *with(const char *text, const char *piece, const char *other)
{
    static char room[1024];
    const char *at = strstr(text, piece);
    assert_non_null(at);
    snprintf(room, sizeof room, "%.*s%s%s", (int)(at - text), text, other, at + strlen(piece));
    return room;
}

static void answers_are_held_against_the_key(void **state)
{
    (void)state;
    assert_int_equal(check(ANSWER), SF_OK);
    assert_int_equal(check(with(ANSWER, "101 Switching Protocols", "404 Not Found")), SF_DATA);
    assert_int_equal(check(with(ANSWER, "s3p", "S3p")), SF_DATA);
    assert_int_equal(check(with(ANSWER, "keep-alive, Upgrade", "keep-alive, Upgraded")), SF_DATA);
    assert_int_equal(check(with(ANSWER, "upgrade: WebSocket\r\n", "")), SF_DATA);
    assert_int_equal(check(with(ANSWER, "Sec-WebSocket-Accept", "Sec-WebSocket-Accepted")), SF_DATA);
    assert_int_equal(check("\r\n\r\n"), SF_DATA);
    assert_int_equal(sf_websocket_head_length(ANSWER "\x81", sizeof ANSWER), sizeof ANSWER - 1);
    assert_int_equal(sf_websocket_head_length(ANSWER, sizeof ANSWER - 2), 0);
}

static int ask(const char *request, char path[16], char key[SF_WEBSOCKET_KEY_SIZE])
{
    return sf_websocket_take_request((sf_part){request, strlen(request)}, path, 16, key, NULL);
}

static void requests_are_read(void **state)
{
    (void)state;
    char path[16] = "", key[SF_WEBSOCKET_KEY_SIZE] = "";
    assert_int_equal(ask(REQUEST, path, key), SF_OK);
    assert_string_equal(path, "/chat?a=b");
    assert_string_equal(key, KEY);
    assert_int_equal(ask(with(REQUEST, "GET", "POS"), path, key), SF_DATA);
    assert_int_equal(ask(with(REQUEST, "/chat?a=b", "/a/path/that/is/too/long"), path, key), SF_DATA);
    assert_int_equal(ask(with(REQUEST, "==", "="), path, key), SF_DATA);
    assert_int_equal(ask(with(REQUEST, ": 13", ": 8"), path, key), SF_DATA);
    assert_int_equal(ask("GET /", path, key), SF_DATA);
    assert_int_equal(ask("", path, key), SF_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read),
        cmocka_unit_test(lengths_of_every_size),
        cmocka_unit_test(what_is_too_long_is_passed_over),
        cmocka_unit_test(memory_is_for_bytes_that_came),
        cmocka_unit_test(what_is_no_websocket_is_refused),
        cmocka_unit_test(keys_are_answered),
        cmocka_unit_test(answers_are_held_against_the_key),
        cmocka_unit_test(requests_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
