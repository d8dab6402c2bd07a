/* SPDX-License-Identifier: Apache-2.0 */
/* What the page is sent, piece by piece; the whole of it in a run is in tests/e2e/test_web.py. */
#include "sinks/web_board.h"
#include "sinks/web_edges.h"
#include "sinks/web_raster.h"
#include "sinks/web_request.h"
#include "support/messages.h"

#include "core/clock.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* ---- who may ask ---- */

static void hosts_are_numbers_or_known_by_name(void **state)
{
    (void)state;
    static const char *const known[] = {"127.0.0.1",      "127.0.0.1:7730", "localhost:9000", "LOCALHOST",
                                        "[::1]:7730",     "[::1]",          "192.168.1.5:80", "rig.example",
                                        "Rig.Example:80", "10.0.0.1:"};
    static const char *const others[] = {"",
                                         "evil.example",
                                         "127.0.0.1.evil.example",
                                         "localhost.evil.example",
                                         "evil.example:7730",
                                         "127.0.0.1:80@evil.example",
                                         "[::1",
                                         "[localhost]",
                                         "[]:80",
                                         ":7730",
                                         "::1",
                                         "localhost/",
                                         "localhost:80:80",
                                         "127.1"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!sf_web_host_is_known(known[i], "rig.example")) fail_msg("refused %s", known[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (sf_web_host_is_known(others[i], "rig.example")) fail_msg("took %s", others[i]);
    assert_false(sf_web_host_is_known(NULL, "rig.example"));
    assert_false(sf_web_host_is_known("rig.example", "localhost"));
}

static void origins_are_the_own_page(void **state)
{
    (void)state;
    assert_true(sf_web_origin_is_own("http://localhost:7730", "localhost:7730"));
    assert_true(sf_web_origin_is_own("http://LOCALHOST:7730", "localhost:7730"));
    assert_false(sf_web_origin_is_own("http://localhost", "localhost:7730"));
    assert_false(sf_web_origin_is_own("https://localhost:7730", "localhost:7730"));
    assert_false(sf_web_origin_is_own("http://localhost:7730.evil.example", "localhost:7730"));
    assert_false(sf_web_origin_is_own("null", "localhost:7730"));
    assert_false(sf_web_origin_is_own(NULL, "localhost:7730"));
    assert_false(sf_web_origin_is_own("http://", NULL));
}

static void requests_are_three_words(void **state)
{
    (void)state;
    sf_web_request request;
    sf_error error;
    static const char token[] = "token 0123456789abcdef0123456789abcdef", mark[] = "mark 0123456789abcdef";
    assert_int_equal(sf_web_request_read(&request, token, sizeof token - 1, &error), SF_OK);
    assert_int_equal(request.word, SF_WEB_TRUST);
    assert_string_equal(request.token, token + 6);
    assert_int_equal(sf_web_request_read(&request, mark, sizeof mark - 1, &error), SF_OK);
    assert_int_equal(request.word, SF_WEB_MARK);
    assert_string_equal(request.id, mark + 5);
    assert_int_equal(sf_web_request_read(&request, "unmark", 6, &error), SF_OK);
    assert_int_equal(request.word, SF_WEB_UNMARK);
    static const char *const others[] = {
        "", "mark", "unmark ", "mark 0123456789ABCDEF", "token", "mark 01234567", "mark 0123456789abcdef0"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(sf_web_request_read(&request, others[i], strlen(others[i]), &error), SF_DATA);
    assert_int_equal(sf_web_request_read(&request, token, sizeof token - 2, &error), SF_DATA);
    assert_int_equal(sf_web_request_read(&request, "mark 0123\0009abcdef01", 21, &error), SF_DATA);
}

/* ---- raster ---- */

#define UNITS 1100 /* three a row */

/* Fetches in parts of random length what a browser would, and holds every cell against a count of its own. */
static void columns_hold_every_spike(void **state)
{
    (void)state;
    test_random random = test_random_start("columns", 5);
    for (int round = 0; round < 20; round++) {
        sf_web_raster raster;
        size_t units = round % 2 == 0 ? UNITS : 1 + test_random_below(&random, 40);
        assert_int_equal(sf_web_raster_open(&raster, units, 10 * SF_MILLISECOND, NULL), SF_OK);
        assert_true(raster.rows <= SF_WEB_ROWS && (size_t)raster.rows * raster.per_row >= units);
        enum { COLUMNS = 3000 };
        uint32_t *counts = sf_alloc(COLUMNS * (size_t)raster.rows, sizeof *counts);
        int64_t begin = -(int64_t)test_random_below(&random, 2000), next = INT64_MIN,
                time_ns = begin * raster.column_ns;
        sf_text frame = {0};
        uint64_t spikes = 0;
        for (bool over = false; !over;) {
            for (uint64_t i = test_random_below(&random, 2000); i > 0 && !over; i--) {
                time_ns += (int64_t)test_random_below(&random, i % 97 == 0 ? 1000000000 : 1000000);
                int64_t column = (time_ns - begin * raster.column_ns) / raster.column_ns;
                over = column >= COLUMNS;
                sf_spike spike = {.time_ns = time_ns, .unit = (uint32_t)test_random_below(&random, units)};
                if (over) break;
                sf_web_raster_add(&raster, &spike);
                counts[(size_t)column * raster.rows + spike.unit / raster.per_row]++;
                spikes++;
            }
            if (over)
                sf_web_raster_end(&raster);
            else if (test_random_below(&random, 3) == 0)
                sf_web_raster_pass(&raster, time_ns);
            while (sf_web_raster_lacks(&raster, next)) {
                int64_t first;
                uint32_t size[2];
                sf_text_clear(&frame);
                int64_t after = sf_web_raster_encode(&raster, next, &frame);
                memcpy(&first, frame.data, 8);
                memcpy(size, frame.data + 8, 8);
                assert_int_equal(first + size[0], after);
                assert_int_equal(frame.length, 24 + (size_t)size[0] * size[1]);
                assert_true(next == INT64_MIN || first == next);
                for (size_t c = 0; c < size[0]; c++)
                    for (size_t row = 0; row < size[1]; row++) {
                        uint32_t *count = &counts[(size_t)(first - begin + (int64_t)c) * raster.rows + row];
                        assert_int_equal((unsigned char)frame.data[24 + c * size[1] + row],
                                         *count < 255 ? *count : 255);
                        *count = 0;
                    }
                next = after;
            }
        }
        for (size_t i = 0; i < COLUMNS * (size_t)raster.rows; i++)
            assert_int_equal(counts[i], 0); /* each was told, once */
        assert_int_equal(raster.spikes, spikes);
        sf_text_free(&frame);
        sf_free(counts);
        sf_web_raster_close(&raster);
    }
}

/* Time goes on in silence: its columns are told, and are empty; a spike that comes then is told once. */
static void columns_pass_without_spikes(void **state)
{
    (void)state;
    sf_web_raster raster;
    assert_int_equal(sf_web_raster_open(&raster, 1, 10 * SF_MILLISECOND, NULL), SF_OK);
    sf_web_raster_pass(&raster, SF_SECOND);
    assert_false(sf_web_raster_lacks(&raster, INT64_MIN)); /* nothing before the first spike */
    sf_web_raster_add(&raster, &(sf_spike){.time_ns = 2 * SF_SECOND});
    sf_web_raster_pass(&raster, 2 * SF_SECOND + 5 * SF_MILLISECOND);
    assert_false(sf_web_raster_lacks(&raster, 200)); /* more may come into this column */
    sf_web_raster_pass(&raster, 3 * SF_SECOND);
    sf_web_raster_pass(&raster, SF_SECOND); /* and never back */
    sf_text frame = {0};
    assert_int_equal(sf_web_raster_encode(&raster, 200, &frame), 300);
    assert_int_equal(frame.length, 24 + 100);
    assert_int_equal(frame.data[24], 1);
    for (size_t i = 1; i < 100; i++)
        assert_int_equal(frame.data[24 + i], 0);
    sf_web_raster_add(&raster, &(sf_spike){.time_ns = 3 * SF_SECOND});
    sf_web_raster_end(&raster);
    sf_text_clear(&frame);
    assert_int_equal(sf_web_raster_encode(&raster, 300, &frame), 301);
    assert_int_equal(frame.data[24], 1);
    sf_text_free(&frame);
    sf_web_raster_close(&raster);
}

/* A browser that was away gets the newest columns and no more; a leap of the stream keeps nothing old. */
static void old_columns_go(void **state)
{
    (void)state;
    sf_web_raster raster;
    sf_text frame = {0};
    assert_int_equal(sf_web_raster_open(&raster, 2, SF_MILLISECOND, NULL), SF_OK);
    assert_false(sf_web_raster_lacks(&raster, INT64_MIN));
    for (int64_t i = 0; i < 3 * SF_WEB_COLUMNS; i++)
        sf_web_raster_add(&raster, &(sf_spike){.time_ns = i * SF_MILLISECOND, .unit = (uint32_t)(i % 2)});
    int64_t first;
    sf_web_raster_encode(&raster, 5, &frame);
    memcpy(&first, frame.data, 8);
    assert_int_equal(first, 2 * SF_WEB_COLUMNS);
    for (size_t i = 0; i + 1 < SF_WEB_COLUMNS; i++) {
        assert_int_equal(frame.data[24 + 2 * i], i % 2 == 0 ? 1 : 0);
        assert_int_equal(frame.data[25 + 2 * i], i % 2 == 0 ? 0 : 1);
    }
    sf_web_raster_add(&raster, &(sf_spike){.time_ns = 1000 * SF_SECOND, .unit = 1});
    sf_web_raster_add(&raster, &(sf_spike){.time_ns = 0, .unit = 1}); /* its column is gone */
    sf_web_raster_end(&raster);
    sf_text_clear(&frame);
    assert_int_equal(sf_web_raster_encode(&raster, 0, &frame), 1000000 + 1);
    unsigned seen = 0;
    for (size_t i = 24; i < frame.length; i++)
        seen += (unsigned char)frame.data[i];
    assert_int_equal(seen, 1);
    sf_text_free(&frame);
    sf_web_raster_close(&raster);
}

/* ---- the graph ---- */

/* The graph after many random changes is what a table of all pairs says. */
static void edges_are_what_the_changes_leave(void **state)
{
    (void)state;
    enum { N = 12 };
    test_random random = test_random_start("edges", 7);
    double weights[N][N];
    for (size_t i = 0; i < N * N; i++)
        weights[i / N][i % N] = NAN;
    sf_web_edges edges = {0};
    for (int round = 0; round < 300; round++) {
        sf_edge_change changes[N * N];
        size_t count = 0;
        for (uint32_t pair = N * N; pair-- > 0;) {
            uint32_t from = pair / N, to = pair % N;
            if (test_random_below(&random, 4) != 0) continue;
            bool removed = !isnan(weights[from][to]) && test_random_below(&random, 2) == 0;
            double weight = (double)test_random_below(&random, 1000);
            weights[from][to] = removed ? NAN : weight;
            changes[count++] = (sf_edge_change){.from = from,
                                                .to = to,
                                                .delay = {1000, 5000000},
                                                .count = 7,
                                                .weight = weight,
                                                .p = NAN,
                                                .q = weight < 500 ? weight * 1e-3 : (double)NAN,
                                                .least_q = weight * 1e-3,
                                                .removed = removed};
        }
        sf_graph_message graph = {.change_count = count, .changes = changes};
        assert_int_equal(sf_web_edges_apply(&edges, &graph, NULL), SF_OK);
        sf_text frame = {0};
        sf_web_edges_encode(&edges, &frame);
        uint32_t counts[2];
        memcpy(counts, frame.data, sizeof counts);
        size_t expected = 0;
        for (size_t i = 0; i < N * N; i++)
            expected += isnan(weights[i / N][i % N]) ? 0 : 1;
        assert_int_equal(counts[0], expected);
        assert_int_equal(counts[1], expected);
        double before = -1;
        for (uint32_t i = 0; i < counts[1]; i++) {
            float row[9];
            memcpy(row, frame.data + 8 + i * sizeof row, sizeof row);
            assert_true((double)row[5] == weights[(size_t)row[0]][(size_t)row[1]]);
            double worth =
                isnan(row[7]) ? 2000 - (double)row[5] : (double)row[7]; /* ascending, as they come */
            assert_true(worth >= before);
            assert_true(row[8] == (float)((double)row[5] * 1e-3));
            before = worth;
        }
        sf_text_free(&frame);
    }
    sf_web_edges_free(&edges);
}

/* ---- the board ---- */

/* Whatever comes, every browser gets the newest of each, and none of it twice. */
static void views_get_the_newest_once(void **state)
{
    (void)state;
    test_random random = test_random_start("views", 11);
    test_stream stream;
    test_stream_make(&stream, &random, 9);
    sf_web_board *board;
    assert_int_equal(sf_web_board_open(&board, &stream.info, 10, 100, NULL), SF_OK);
    sf_web_view views[3] = {{0}};
    uint64_t sequence[SF_TOPIC_COUNT] = {0};
    sf_text frame = {0};
    for (int i = 0; i < 2000; i++) {
        sf_message *message =
            test_message_random(&random, (sf_topic)test_random_below(&random, SF_TOPIC_COUNT), &stream.units);
        message->seq = ++sequence[message->topic];
        if (message->topic == SF_TOPIC_GRAPH) message->graph.change_count = 0;
        assert_int_equal(sf_web_board_take(board, message, NULL), SF_OK);
        sf_message_release(message);
        sf_web_view *view = &views[test_random_below(&random, 3)];
        uint64_t version = view->version;
        size_t frames = 0;
        for (sf_text_clear(&frame); sf_web_board_next(board, view, &frame); sf_text_clear(&frame)) {
            assert_int_equal(frame.data[0], SF_WEB_VERSION);
            assert_true(view->version > version || frames == 0);
            version = view->version;
            frames++;
            char wanted[64];
            snprintf(wanted, sizeof wanted, "\"seq\":%llu,", (unsigned long long)sequence[SF_TOPIC_STATUS]);
            if (strstr(frame.data + SF_WEB_HEADER, "\"topic\":\"status\"") != NULL)
                assert_non_null(strstr(frame.data + SF_WEB_HEADER, wanted));
        }
        sf_text_clear(&frame);
        assert_false(sf_web_board_next(board, view, &frame));
    }
    sf_text_free(&frame);
    for (int i = 0; i < 3; i++)
        sf_web_view_close(&views[i]);
    sf_web_board_close(board);
    test_stream_free(&stream);
}

/* A window of so many episodes, the last of them the least remarkable. */
static sf_message *window_of(size_t count, uint64_t seq)
{
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->seq = seq;
    message->episodes.items = sf_alloc(count, sizeof *message->episodes.items);
    message->episodes.rules = sf_alloc(0, sizeof *message->episodes.rules);
    message->episodes.count = message->episodes.counted = count;
    for (size_t i = 0; i < count; i++) {
        sf_episode_count *item = &message->episodes.items[i];
        *item = (sf_episode_count){.episode = {.size = 2}, .count = count - i, .q = NAN, .expected = 1};
        item->episode.units[1] = 1;
        item->episode.delays[0] = (sf_delay){0, SF_MILLISECOND};
        snprintf(item->id, sizeof item->id, "%016zx", i);
    }
    assert_int_equal(sf_message_rank(message, NULL, NULL), SF_OK);
    return message;
}

static void take_and_release(sf_web_board *board, sf_message *message)
{
    assert_int_equal(sf_web_board_take(board, message, NULL), SF_OK);
    sf_message_release(message);
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

/* Of many episodes those that stand out are shown, and the one that a browser has marked. */
static void what_stands_out_is_shown(void **state)
{
    (void)state;
    enum { COUNT = 5000, TOP = 100 };
    test_random random = test_random_start("top", 19);
    test_stream stream;
    test_stream_make(&stream, &random, 4);
    sf_web_board *board;
    assert_int_equal(sf_web_board_open(&board, &stream.info, 10, TOP, NULL), SF_OK);
    sf_web_view view = {0};
    sf_text frame = {0};
    for (int round = 0; round < 3; round++) {
        take_and_release(board, window_of(COUNT, (uint64_t)round + 1));
        sf_web_board_end(board); /* nothing waits */
        size_t rows = 0, marked = 0;
        for (sf_text_clear(&frame); sf_web_board_next(board, &view, &frame); sf_text_clear(&frame)) {
            if (frame.data[1] != SF_WEB_MESSAGE) continue;
            rows = count_of(frame.data + SF_WEB_HEADER, "\"id\":");
            marked = count_of(frame.data + SF_WEB_HEADER, "\"id\":\"0000000000000063\"");
            assert_non_null(strstr(frame.data + SF_WEB_HEADER, "\"counted\":5000,"));
            assert_true(frame.length < 60000);
        }
        assert_int_equal(marked, 1);
        assert_int_equal(rows, TOP + (round == 1));
        assert_int_equal(sf_web_board_mark(board, &view, round == 0 ? "0000000000000063" : NULL, NULL),
                         SF_OK);
        if (round == 0) /* one that is not among them from now on, in place of one that is */
            memcpy(view.id, "0000000000001000", 16);
    }
    sf_text_free(&frame);
    sf_web_view_close(&view);
    sf_web_board_close(board);
    test_stream_free(&stream);
}

/* A status of 18 MB: two minutes' worth. */
static void large_frames_come_rarely(void **state)
{
    (void)state;
    enum { UNITS_OF_IT = 1000000 };
    test_random random = test_random_start("rarely", 23);
    test_stream stream;
    test_stream_make(&stream, &random, 4);
    sf_web_board *board;
    assert_int_equal(sf_web_board_open(&board, &stream.info, 10, 100, NULL), SF_OK);
    sf_web_view view = {0};
    sf_text frame = {0};
    for (uint64_t seq = 1; seq <= 3; seq++) {
        sf_message *message = sf_message_new(SF_TOPIC_STATUS);
        message->seq = seq;
        message->status.unit_count = UNITS_OF_IT;
        message->status.unit_rates_hz = sf_alloc(UNITS_OF_IT, sizeof(double));
        for (size_t i = 0; i < UNITS_OF_IT; i++)
            message->status.unit_rates_hz[i] = 1.0 / 3;
        take_and_release(board, message);
        size_t frames = 0;
        for (sf_text_clear(&frame); sf_web_board_next(board, &view, &frame); sf_text_clear(&frame))
            frames += frame.data[1] == SF_WEB_MESSAGE;
        assert_int_equal(frames, seq == 1);
        take_and_release(board, window_of(3, seq)); /* which is small, and comes at once */
        sf_text_clear(&frame);
        assert_true(sf_web_board_next(board, &view, &frame));
    }
    sf_web_board_end(board); /* with the newest */
    sf_text_clear(&frame);
    assert_true(sf_web_board_next(board, &view, &frame));
    assert_non_null(strstr(frame.data + SF_WEB_HEADER, "\"seq\":3,"));
    sf_text_free(&frame);
    sf_web_view_close(&view);
    sf_web_board_close(board);
    test_stream_free(&stream);
}

/* A graph that stays as it is has no edges to send. */
static void edges_come_when_they_change(void **state)
{
    (void)state;
    test_random random = test_random_start("unchanged", 29);
    test_stream stream;
    test_stream_make(&stream, &random, 4);
    sf_web_board *board;
    assert_int_equal(sf_web_board_open(&board, &stream.info, 10, 100, NULL), SF_OK);
    sf_web_view view = {0};
    sf_text frame = {0};
    for (int i = 0; i < 4; i++) {
        sf_message *message = sf_message_new(SF_TOPIC_GRAPH);
        message->graph.change_count = i == 2 ? 1 : 0;
        message->graph.changes = sf_alloc(1, sizeof *message->graph.changes);
        message->graph.changes[0] = (sf_edge_change){.from = 0, .to = 1, .weight = 1};
        take_and_release(board, message);
        size_t frames = 0;
        for (sf_text_clear(&frame); sf_web_board_next(board, &view, &frame); sf_text_clear(&frame))
            frames += frame.data[1] == SF_WEB_EDGES;
        assert_int_equal(frames, i == 0 || i == 2); /* that there are none is news at first */
    }
    sf_text_free(&frame);
    sf_web_view_close(&view);
    sf_web_board_close(board);
    test_stream_free(&stream);
}

/* A browser's raster goes on in silence: by the windows' ends. */
static void silence_is_drawn(void **state)
{
    (void)state;
    test_random random = test_random_start("silence", 17);
    test_stream stream;
    test_stream_make(&stream, &random, 3);
    sf_web_board *board;
    assert_int_equal(sf_web_board_open(&board, &stream.info, 10, 100, NULL), SF_OK);
    sf_web_board_draw(board, &(sf_raw_batch){.spikes = &(sf_spike){.time_ns = 0}, .spike_count = 1});
    sf_message *message = test_message_random(&random, SF_TOPIC_EPISODES, &stream.units);
    message->time_ns = SF_SECOND;
    assert_int_equal(sf_web_board_take(board, message, NULL), SF_OK);
    sf_message_release(message);
    sf_web_view view = {0};
    sf_text frame = {0};
    uint32_t columns = 0;
    for (; sf_web_board_next(board, &view, &frame); sf_text_clear(&frame))
        if (frame.data[1] == SF_WEB_RASTER) memcpy(&columns, frame.data + SF_WEB_HEADER + 8, sizeof columns);
    assert_int_equal(columns, 100);
    sf_text_free(&frame);
    sf_web_view_close(&view);
    sf_web_board_close(board);
    test_stream_free(&stream);
}

/* Names of a sender reach the page of Prometheus escaped: one line, quotes and backslashes behind
 * backslashes. */
static void metrics_escape_names(void **state)
{
    (void)state;
    test_random random = test_random_start("metrics", 13);
    test_stream stream;
    test_stream_make(&stream, &random, 2);
    stream.info.name = "a\"b\\c\nd";
    sf_web_board *board;
    assert_int_equal(sf_web_board_open(&board, &stream.info, 10, 100, NULL), SF_OK);
    sf_text text = {0};
    sf_web_board_metrics(board, &text);
    assert_non_null(strstr(text.data, "stream=\"a\\\"b\\\\c\\\\x0ad\"} 1\n"));
    sf_text_free(&text);
    sf_web_board_close(board);
    test_stream_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_numbers_or_known_by_name), cmocka_unit_test(origins_are_the_own_page),
        cmocka_unit_test(requests_are_three_words),           cmocka_unit_test(columns_hold_every_spike),
        cmocka_unit_test(columns_pass_without_spikes),        cmocka_unit_test(old_columns_go),
        cmocka_unit_test(edges_are_what_the_changes_leave),   cmocka_unit_test(silence_is_drawn),
        cmocka_unit_test(views_get_the_newest_once),          cmocka_unit_test(metrics_escape_names),
        cmocka_unit_test(what_stands_out_is_shown),           cmocka_unit_test(large_frames_come_rarely),
        cmocka_unit_test(edges_come_when_they_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
