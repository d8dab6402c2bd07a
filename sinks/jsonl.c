/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON lines: every message one line, written whole as it comes, to a file, a pipe or standard output.
 * A failed write to a file is cut back to the last whole line, so that every line of the file is one message;
 * where somebody else cuts the file, as those do who keep logs short, lines go on at its end.
 * Who reads standard output may leave, as `head` does: nothing has failed then, and what comes after goes
 * nowhere.
 */
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/output_file.h"
#include "sinks/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 50

typedef struct jsonl_sink {
    const sf_stream_info *stream;
    const char *path;
    sf_output_file output; /* not open where lines go to standard output */
    bool begun;
    int fd;
    bool is_file; /* a regular file, which always has room or fails */
    off_t whole;  /* of a regular file: length up to the last whole line */
    sf_text line;
    size_t written; /* of the line, where a pipe had no room for all of it */
    bool reader_left;
} jsonl_sink;

static int close_jsonl(void *self, sf_error *error)
{
    jsonl_sink *sink = self;
    (void)error;
    sf_output_file_close(&sink->output, sink->begun);
    sf_text_free(&sink->line);
    sf_free(sink);
    return SF_OK;
}

static int open_file(jsonl_sink *sink, const char *path, bool overwrite, sf_error *error)
{
    sf_existing existing = overwrite ? SF_EXISTING_REPLACE : SF_EXISTING_NUMBER;
    int status = sf_output_file_open(&sink->output, path, existing, error);
    sink->path = sink->output.path;
    sink->fd = sink->output.fd;
    return status;
}

static int examine_jsonl(const sf_sink_settings *settings, sf_error *error)
{
    sf_existing existing = settings->overwrite ? SF_EXISTING_REPLACE : SF_EXISTING_NUMBER;
    if (settings->path == NULL || settings->path[0] == '\0')
        return sf_fail(error, SF_CONFIG, "path",
                       "a jsonl sink needs the path of a file, or - for standard output");
    return strcmp(settings->path, "-") == 0 ? SF_OK : sf_output_file_may_be(settings->path, existing, error);
}

static int open_jsonl(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                      sf_error *error)
{
    jsonl_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->stream = stream;
    sink->fd = STDOUT_FILENO;
    sink->path = "standard output";
    int status = SF_OK;
    if (strcmp(settings->path, "-") != 0)
        status = open_file(sink, settings->path, settings->overwrite, error);
    if (status != SF_OK) {
        close_jsonl(sink, NULL);
        return status;
    }
    struct stat about;
    sink->is_file = fstat(sink->fd, &about) == 0 && S_ISREG(about.st_mode);
    sink->whole = sink->is_file ? lseek(sink->fd, 0, SEEK_CUR) : 0;
    *self = sink;
    return SF_OK;
}

/* Readers follow the file from its first line on. */
static int begin_jsonl(void *self, sf_error *error)
{
    jsonl_sink *sink = self;
    int status = sink->output.is_open ? sf_output_file_commit(&sink->output, error) : SF_OK;
    sink->begun = status == SF_OK;
    return status;
}

static int encode(jsonl_sink *sink, const sf_message *message, sf_error *error)
{
    sf_text_clear(&sink->line);
    sf_message_to_json(&sink->line, message, sink->stream);
    sf_text_append(&sink->line, "\n", 1);
    if (!sink->line.failed) return SF_OK;
    sf_text_free(&sink->line);
    return sf_fail_memory(error);
}

/* Continues at the end of an existing file. That is the end of the last whole line, unless somebody else has
 * cut the file. */
static void seek_end(jsonl_sink *sink)
{
    off_t end = sink->is_file && sink->output.is_open ? lseek(sink->fd, 0, SEEK_END) : sink->whole;
    if (end >= 0 && end < sink->whole)
        sf_log(SF_LOG_WARNING, "%s was cut while it was being written: lines go on at its end", sink->path);
    if (end >= 0) sink->whole = end;
}

static int fail_write(jsonl_sink *sink, sf_error *error)
{
    int cause = errno;
    if (sink->is_file && ftruncate(sink->fd, sink->whole) == 0) lseek(sink->fd, sink->whole, SEEK_SET);
    sink->written = 0;
    return sf_fail(error, SF_IO, sink->path, "cannot write to %s: %s", sink->path, strerror(cause));
}

/* A pipe that is ready for writing takes PIPE_BUF bytes without blocking, so the thread never hangs in write.
 */
static int publish_jsonl(void *self, const sf_message *message, sf_error *error)
{
    jsonl_sink *sink = self;
    if (sink->reader_left) return SF_PUBLISH_TAKEN;
    if (sink->written == 0 && encode(sink, message, error) != SF_OK) return SF_NO_MEMORY;
    if (sink->written == 0) seek_end(sink);
    while (sink->written < sink->line.length) {
        struct pollfd room = {.fd = sink->fd, .events = POLLOUT};
        if (!sink->is_file && poll(&room, 1, WAIT_MS) == 0) return SF_PUBLISH_AGAIN;
        size_t left = sink->line.length - sink->written;
        ssize_t count = write(sink->fd, sink->line.data + sink->written,
                              sink->is_file || left < PIPE_BUF ? left : PIPE_BUF);
        if (count >= 0)
            sink->written += (size_t)count;
        else if (errno == EPIPE && !sink->output.is_open) {
            sink->reader_left = true;
            return SF_PUBLISH_TAKEN;
        } else if (errno != EINTR && errno != EAGAIN)
            return fail_write(sink, error);
    }
    sink->written = 0;
    sink->whole += (off_t)sink->line.length;
    return SF_PUBLISH_TAKEN;
}

static int check_jsonl(void *self, sf_error *error)
{
    jsonl_sink *sink = self;
    return sink->output.is_open ? sf_output_file_check(&sink->output, error) : SF_OK;
}

static int flush_jsonl(void *self, sf_error *error)
{
    jsonl_sink *sink = self;
    return sink->output.is_open ? sf_output_file_sync(&sink->output, error) : SF_OK;
}

static const char *address_jsonl(void *self)
{
    return ((jsonl_sink *)self)->path;
}

static const sf_sink_settings defaults = {SF_SINK_DEFAULTS, .path = "-"};

#define ROW sf_sink_settings
static const sf_key keys[] = {
    TEXT("path", path, .use = SF_KEY_WRITES, .what = "a file, or - for standard output"),
    SWITCH("overwrite", overwrite,
           .what = "a file that exists is kept, and run-2.jsonl or the next free number is written; true: it "
                   "is replaced, unless another program is writing it"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_jsonl = {
    .settings = {"jsonl", keys, sizeof(sf_sink_settings), &defaults, "JSON lines"},
    .descriptors = 4,
    .keeps = true,
    .open = open_jsonl,
    .examine = examine_jsonl,
    .begin = begin_jsonl,
    .publish = publish_jsonl,
    .check = check_jsonl,
    .flush = flush_jsonl,
    .close = close_jsonl,
    .address = address_jsonl,
};
