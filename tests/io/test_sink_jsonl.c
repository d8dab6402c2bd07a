/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/sink.h"
#include "support/messages.h"
#include "support/published.h"
#include "support/sinks.h"

#include "core/clock.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MESSAGES 200

static int open_jsonl(sf_sink **sink, const char *path, const sf_stream_info *stream, bool overwrite,
                      sf_error *error)
{
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.type = "jsonl";
    settings.path = path;
    settings.policy = SF_RING_BLOCK;
    settings.overwrite = overwrite;
    return test_sink_open(sink, &settings, stream, NULL, error);
}

/* Opens, publishes what is given and closes; returns the status of close. */
static int publish_all(const char *path, const sf_stream_info *stream, sf_message *const *messages,
                       size_t count, sf_error *error)
{
    sf_sink *sink;
    assert_int_equal(open_jsonl(&sink, path, stream, true, error), SF_OK);
    for (size_t i = 0; i < count; i++)
        sf_sink_publish(sink, messages[i]);
    return sf_sink_close(sink, error);
}

/* Every line of the file is one of the messages, told by its seq, each later than the one before. Returns how
 * many lines there are. */
static size_t check_lines(const char *path, sf_message *const *messages, const sf_stream_info *stream)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t room = 0, lines = 0;
    json_int_t last = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0; lines++) {
        assert_int_equal(line[length - 1], '\n');
        json_t *map = test_parse_json(line, (size_t)length);
        json_int_t seq = json_integer_value(json_object_get(map, "seq"));
        assert_true(seq > last && seq <= MESSAGES);
        last = seq;
        test_check_published(map, messages[seq - 1], stream);
        json_decref(map);
    }
    free(line);
    fclose(file);
    return lines;
}

typedef struct fixture {
    test_stream stream;
    sf_message *messages[MESSAGES];
    char *path;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    test_random random = test_random_start("jsonl", 31);
    test_stream_make(&f->stream, &random, 9);
    for (size_t i = 0; i < MESSAGES; i++) {
        f->messages[i] = test_message_random(&random, (sf_topic)(i % SF_TOPIC_COUNT), &f->stream.units);
        f->messages[i]->seq = i + 1;
    }
    f->path = test_temporary_path(".jsonl");
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < MESSAGES; i++)
        sf_message_release(f->messages[i]);
    test_stream_free(&f->stream);
    unlink(f->path);
    free(f->path);
    free(f);
    return 0;
}

static void every_line_is_a_message(void **state)
{
    fixture *f = *state;
    assert_int_equal(publish_all(f->path, &f->stream.info, f->messages, MESSAGES, NULL), SF_OK);
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), MESSAGES);
}

/* A line is there as soon as its message was published: nothing waits in a buffer of ours. */
static void lines_are_written_as_they_come(void **state)
{
    fixture *f = *state;
    sf_sink *sink;
    assert_int_equal(open_jsonl(&sink, f->path, &f->stream.info, false, NULL), SF_OK);
    assert_string_equal(sf_sink_address(sink), f->path);
    for (size_t i = 0; i < 20; i++) {
        sf_sink_publish(sink, f->messages[i]);
        sf_sink_status status;
        do
            sf_sink_status_get(sink, &status);
        while (status.published < i + 1);
        assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), i + 1);
    }
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
}

/* As those do who keep logs short. */
static void lines_go_on_in_a_file_that_was_cut(void **state)
{
    fixture *f = *state;
    sf_sink *sink;
    sf_sink_status status;
    assert_int_equal(open_jsonl(&sink, f->path, &f->stream.info, false, NULL), SF_OK);
    for (size_t i = 0; i < 20; i++) {
        sf_sink_publish(sink, f->messages[i]);
        do
            sf_sink_status_get(sink, &status);
        while (status.published < i + 1);
        if (i == 9) assert_int_equal(truncate(f->path, 0), 0);
    }
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), 10);
}

static void existing_files_are_kept(void **state)
{
    fixture *f = *state;
    sf_sink *sink;
    assert_int_equal(publish_all(f->path, &f->stream.info, f->messages, 3, NULL), SF_OK);
    assert_int_equal(open_jsonl(&sink, f->path, &f->stream.info, false, NULL), SF_OK);
    char *successor = test_successor(f->path, 2);
    assert_string_equal(sf_sink_address(sink), successor);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    unlink(successor);
    free(successor);
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), 3);
    assert_int_equal(publish_all(f->path, &f->stream.info, f->messages, 1, NULL), SF_OK);
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), 1);
}

static void files_that_cannot_be_written_are_refused(void **state)
{
    fixture *f = *state;
    sf_sink *sink;
    sf_error error;
    test_assert_fails(open_jsonl(&sink, "/nowhere/x.jsonl", &f->stream.info, false, &error), &error,
                      SF_CANNOT_CREATE, strerror(ENOENT));
    test_assert_fails(open_jsonl(&sink, "/", &f->stream.info, true, &error), &error, SF_CANNOT_CREATE,
                      "is a directory");
    test_assert_fails(open_jsonl(&sink, NULL, &f->stream.info, false, &error), &error, SF_CONFIG, "path");
}

static void a_full_device_is_told_once_and_counted(void **state)
{
    fixture *f = *state;
    sf_sink *sink;
    sf_error error;
    assert_int_equal(open_jsonl(&sink, "/dev/full", &f->stream.info, false, &error), SF_OK);
    for (size_t i = 0; i < 50; i++)
        sf_sink_publish(sink, f->messages[i]);
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.failed < 50);
    assert_int_equal(status.published, 0);
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, strerror(ENOSPC));
}

static sf_sink_status settled_status(sf_sink *sink, uint64_t accepted)
{
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.published + status.failed < accepted);
    return status;
}

/* A line that the disk has no room for leaves no part of itself; when there is room again, the file goes on.
 */
static void a_full_disk_leaves_whole_lines(void **state)
{
    fixture *f = *state;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    struct rlimit unlimited, limit;
    getrlimit(RLIMIT_FSIZE, &unlimited);
    limit = unlimited;
    limit.rlim_cur = 20000;
    sf_sink *sink;
    sf_error error;
    assert_int_equal(open_jsonl(&sink, f->path, &f->stream.info, false, &error), SF_OK);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (size_t i = 0; i + 1 < MESSAGES; i++)
        sf_sink_publish(sink, f->messages[i]);
    sf_sink_status full = settled_status(sink, MESSAGES - 1);
    setrlimit(RLIMIT_FSIZE, &unlimited);
    assert_true(full.published > 0 && full.failed > 0);
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), full.published);
    sf_sink_publish(sink, f->messages[MESSAGES - 1]);
    sf_sink_status status = settled_status(sink, MESSAGES);
    assert_int_equal(status.published, full.published + 1);
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, strerror(EFBIG));
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), full.published + 1);
    signal(SIGXFSZ, before);
}

/* A reader that went away must not end the run by a signal. */
static void a_closed_pipe_is_counted(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkfifo(f->path, 0600), 0);
    int reader = open(f->path, O_RDONLY | O_NONBLOCK);
    sf_sink *sink;
    sf_error error;
    assert_int_equal(open_jsonl(&sink, f->path, &f->stream.info, false, &error), SF_OK);
    close(reader);
    sf_sink_publish(sink, f->messages[0]);
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.failed < 1);
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, strerror(EPIPE));
}

/* A pipe takes a long line in pieces; the lines come out whole, however slowly they are read. */
static void a_slow_pipe_gets_whole_lines(void **state)
{
    fixture *f = *state;
    assert_int_equal(mkfifo(f->path, 0600), 0);
    int reader = open(f->path, O_RDONLY | O_NONBLOCK);
    sf_sink *sink;
    assert_int_equal(open_jsonl(&sink, f->path, &f->stream.info, false, NULL), SF_OK);
    sf_message *large = sf_message_new(SF_TOPIC_DENSITY);
    large->seq = 1;
    large->density.count = 40000;
    large->density.values = sf_alloc(large->density.count, sizeof(double));
    sf_sink_publish(sink, large);
    sf_sink_publish(sink, f->messages[1]);
    char *path = test_temporary_path(".jsonl");
    FILE *copy = fopen(path, "w");
    size_t lines = 0;
    while (lines < 2) {
        char piece[3000];
        ssize_t count = read(reader, piece, sizeof piece);
        if (count < 0) continue; /* nothing there yet */
        fwrite(piece, 1, (size_t)count, copy);
        for (ssize_t i = 0; i < count; i++)
            lines += piece[i] == '\n';
    }
    fclose(copy);
    close(reader);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    sf_message *const expected[] = {large, f->messages[1]};
    assert_int_equal(check_lines(path, expected, &f->stream.info), 2);
    sf_message_release(large);
    unlink(path);
    free(path);
}

static void standard_output_is_a_dash(void **state)
{
    fixture *f = *state;
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    int file = open(f->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    dup2(file, STDOUT_FILENO);
    close(file);
    int status = publish_all("-", &f->stream.info, f->messages, 10, NULL);
    bool still_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(status, SF_OK);
    assert_true(still_open);
    assert_int_equal(check_lines(f->path, f->messages, &f->stream.info), 10);
}

static int open_and_close(void *context)
{
    const fixture *f = context;
    sf_sink *sink;
    int status = open_jsonl(&sink, f->path, &f->stream.info, true, NULL);
    sf_sink_close(sink, NULL);
    return status;
}

static int publish_one(void *context)
{
    const fixture *f = context;
    sf_sink *sink;
    int status = open_jsonl(&sink, f->path, &f->stream.info, true, NULL);
    if (status != SF_OK) return status;
    sf_sink_publish(sink, f->messages[4]);
    return sf_sink_close(sink, NULL);
}

static void failed_allocations_leak_nothing(void **state)
{
    test_fail_every_allocation(open_and_close, *state);
    test_fail_every_allocation(publish_one, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_line_is_a_message, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(lines_are_written_as_they_come, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(lines_go_on_in_a_file_that_was_cut, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(existing_files_are_kept, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(files_that_cannot_be_written_are_refused, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(a_full_device_is_told_once_and_counted, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_lines, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(a_closed_pipe_is_counted, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(a_slow_pipe_gets_whole_lines, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(standard_output_is_a_dash, make_fixture, free_fixture),
        cmocka_unit_test_setup_teardown(failed_allocations_leak_nothing, make_fixture, free_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
