/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/sink.h"
#include "support/messages.h"
#include "support/published.h"

#include "core/memory.h"

#include <math.h>
#include <msgpack.h>

static void every_message_reads_back_in_both_encodings(void **state)
{
    (void)state;
    test_random random = test_random_start("encodings", 21);
    test_stream stream;
    test_stream_make(&stream, &random, 12);
    sf_text text = {0};
    for (int round = 0; round < 400; round++) {
        sf_topic topic = (sf_topic)(round % SF_TOPIC_COUNT);
        sf_message *message = test_message_random(&random, topic, &stream.units);
        message->seq = (uint64_t)round + 1;
        sf_text_clear(&text);
        sf_message_to_json(&text, message, &stream.info);
        assert_null(memchr(text.data, '\n', text.length));
        json_t *map = test_parse_json(text.data, text.length);
        test_check_published(map, message, &stream.info);
        json_decref(map);
        sf_text_clear(&text);
        sf_message_to_msgpack(&text, message, &stream.info);
        map = test_parse_msgpack(text.data, text.length);
        test_check_published(map, message, &stream.info);
        json_decref(map);
        sf_message_release(message);
    }
    sf_text_free(&text);
    test_stream_free(&stream);
}

/* A reader with a strict decoder loses the whole message to one bad name. */
static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    sf_units units = {0};
    const sf_unit unit = {.name = (char[]){"\xc3(\xff\xe2\x82 ok"}, .electrode = -1};
    assert_int_equal(sf_units_add(&units, &unit, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    const sf_stream_info stream = {.name = "s", .units = &units};
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->episodes.items = sf_alloc(1, sizeof *message->episodes.items);
    message->episodes.count = 1;
    message->episodes.items[0].episode.size = 1;
    const char *expected = "\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ok";
    for (int encoding = 0; encoding < 2; encoding++) {
        sf_text text = {0};
        (encoding == 0 ? sf_message_to_json : sf_message_to_msgpack)(&text, message, &stream);
        json_t *map = (encoding == 0 ? test_parse_json(text.data, text.length)
                                     : test_parse_msgpack(text.data, text.length));
        const json_t *item = json_array_get(json_object_get(map, "episodes"), 0);
        assert_string_equal(json_string_value(json_array_get(json_object_get(item, "names"), 0)), expected);
        json_decref(map);
        sf_text_free(&text);
    }
    sf_message_release(message);
    sf_units_free(&units);
}

/* As long as there is room for, and cut in the middle of a letter, as an endpoint or a path may be: whole in
 * both encodings but for that letter. */
static void long_names_stay_whole(void **state)
{
    (void)state;
    static const char cut[] = "\xe6\x97";
    enum { LAST = SF_STATUS_NAME_SIZE - 1 - 2 };
    const sf_stream_info stream = {.name = "s", .units = &(const sf_units){0}};
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    sf_status_message *status = &message->status;
    status->source_count = status->sink_count = status->trigger_count = 1;
    status->sources = sf_alloc(1, sizeof *status->sources);
    status->sinks = sf_alloc(1, sizeof *status->sinks);
    status->triggers = sf_alloc(1, sizeof *status->triggers);
    char expected[SF_STATUS_NAME_SIZE + 8], trigger[SF_TRIGGER_NAME_SIZE];
    memset(status->sources[0].name, 'x', LAST);
    strcpy(status->sources[0].name + LAST, cut);
    strcpy(status->sinks[0].name, status->sources[0].name);
    memset(trigger, 't', sizeof trigger - 1);
    trigger[sizeof trigger - 1] = '\0';
    strcpy(status->triggers[0].name, trigger);
    memset(expected, 'x', LAST);
    strcpy(expected + LAST, "\xef\xbf\xbd\xef\xbf\xbd");
    for (int encoding = 0; encoding < 2; encoding++) {
        sf_text text = {0};
        (encoding == 0 ? sf_message_to_json : sf_message_to_msgpack)(&text, message, &stream);
        json_t *map = encoding == 0 ? test_parse_json(text.data, text.length)
                                    : test_parse_msgpack(text.data, text.length);
        static const char *const lists[] = {"sources", "sinks", "triggers"};
        for (size_t i = 0; i < 3; i++) {
            const json_t *item = json_array_get(json_object_get(map, lists[i]), 0);
            assert_string_equal(json_string_value(json_object_get(item, "name")), i < 2 ? expected : trigger);
        }
        json_decref(map);
        sf_text_free(&text);
    }
    sf_message_release(message);
}

/* Counts use all of 64 bits; seconds in JSON are exact decimals. */
static void extremes_are_exact(void **state)
{
    (void)state;
    test_random random = test_random_start("extremes", 3);
    test_stream stream;
    test_stream_make(&stream, &random, 1);
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->seq = UINT64_MAX;
    message->time_ns = INT64_MIN;
    message->episodes.window = (sf_span){INT64_C(3600022000001), INT64_MAX};
    sf_text text = {0};
    sf_message_to_json(&text, message, &stream.info);
    assert_non_null(strstr(text.data, "\"seq\":18446744073709551615,"));
    assert_non_null(strstr(text.data, "\"time_ns\":-9223372036854775808,"));
    assert_non_null(strstr(text.data, "\"from_s\":3600.022000001,\"to_s\":9223372036.854775807,"));
    sf_text_clear(&text);
    sf_message_to_msgpack(&text, message, &stream.info);
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    assert_int_equal(msgpack_unpack_next(&unpacked, text.data, text.length, NULL), MSGPACK_UNPACK_SUCCESS);
    assert_true(unpacked.data.via.map.ptr[2].val.via.u64 == UINT64_MAX);
    assert_true(unpacked.data.via.map.ptr[4].val.via.i64 == INT64_MIN);
    msgpack_unpacked_destroy(&unpacked);
    sf_text_free(&text);
    sf_message_release(message);
    test_stream_free(&stream);
}

static void check_documented(json_t *value)
{
    const char *key;
    json_t *field;
    json_object_foreach(value, key, field)
    {
        test_assert_documented("messages.md", key);
        check_documented(field);
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        check_documented(json_array_get(value, i));
}

static void every_field_is_documented(void **state)
{
    (void)state;
    test_random random = test_random_start("documented", 2);
    test_stream stream;
    test_stream_make(&stream, &random, 3);
    for (int round = 0; round < 4 * SF_TOPIC_COUNT; round++) {
        sf_message *message = test_message_random(&random, (sf_topic)(round % SF_TOPIC_COUNT), &stream.units);
        sf_text text = {0};
        sf_message_to_json(&text, message, &stream.info);
        json_t *map = test_parse_json(text.data, text.length);
        check_documented(map);
        json_decref(map);
        sf_text_free(&text);
        sf_message_release(message);
    }
    test_stream_free(&stream);
}

typedef struct encode_case {
    void (*encode)(sf_text *text, const sf_message *message, const sf_stream_info *stream);
    const sf_message *message;
    const sf_stream_info *stream;
} encode_case;

static int encode_once(void *context)
{
    const encode_case *which = context;
    sf_text text = {0};
    which->encode(&text, which->message, which->stream);
    int status = text.failed ? SF_NO_MEMORY : SF_OK;
    sf_text_free(&text);
    return status;
}

static void failed_allocations_are_told(void **state)
{
    (void)state;
    test_random random = test_random_start("allocations", 8);
    test_stream stream;
    test_stream_make(&stream, &random, 5);
    for (int topic = 0; topic < SF_TOPIC_COUNT; topic++) {
        sf_message *message = test_message_random(&random, (sf_topic)topic, &stream.units);
        encode_case which = {sf_message_to_json, message, &stream.info};
        test_fail_every_allocation(encode_once, &which);
        which.encode = sf_message_to_msgpack;
        test_fail_every_allocation(encode_once, &which);
        sf_message_release(message);
    }
    test_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_reads_back_in_both_encodings),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(long_names_stay_whole),
        cmocka_unit_test(extremes_are_exact),
        cmocka_unit_test(every_field_is_documented),
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
