/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A serial line, by which a stimulator, a pulse box or a microcontroller hears of triggers: bytes at the
 * moment of the trigger, and others a while later, which end a pulse. Eight bits, no parity, one stop bit, no
 * flow control.
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/last_words.h"
#include "sinks/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define WRITE_MS 200 /* a line that takes nothing for so long is stuck */

typedef struct serial_settings {
    sf_output_settings output;
    int baud; /* of bauds */
} serial_settings;

typedef struct serial_sink {
    sf_output output; /* first */
    char *path;
    int fd;
    sf_last_words *owed; /* `then`, while the line is up: it goes out even where a signal ends the program */
} serial_sink;

static const char *const bauds[] = {"9600",   "19200",  "38400",   "57600",   "115200", "230400",
                                    "460800", "921600", "1000000", "2000000", NULL};
static const speed_t speeds[] = {B9600,   B19200,  B38400,  B57600,   B115200,
                                 B230400, B460800, B921600, B1000000, B2000000};

#define USUAL_BAUD 4

static int close_serial(void *self, sf_error *error)
{
    (void)error;
    serial_sink *sink = self;
    sf_last_words_release(sink->owed);
    if (sink->fd >= 0) close(sink->fd);
    sf_output_close(&sink->output);
    sf_free(sink->path);
    sf_free(sink);
    return SF_OK;
}

static int refuse_line(const char *path, const char *why, sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, path, "is no serial line: %s", why);
}

/* What is not plugged in may come before the run. */
static int examine_serial(const sf_sink_settings *settings, sf_error *error)
{
    struct stat about;
    if (stat(settings->path, &about) == 0 && !S_ISCHR(about.st_mode))
        return refuse_line(settings->path, strerror(ENOTTY), error);
    return sf_output_check(&((const serial_settings *)settings)->output, error);
}

static int open_line(serial_sink *sink, speed_t speed, sf_error *error)
{
    sink->fd = open(sink->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (sink->fd < 0)
        return sf_fail(error, SF_UNAVAILABLE, sink->path, "cannot open the serial line: %s", strerror(errno));
    struct termios line;
    if (tcgetattr(sink->fd, &line) != 0) return refuse_line(sink->path, strerror(errno), error);
    cfmakeraw(&line);
    line.c_cflag |= CLOCAL | CREAD;
    line.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS | HUPCL); /* hanging up would reset many a board */
    if (cfsetospeed(&line, speed) != 0 || cfsetispeed(&line, speed) != 0 ||
        tcsetattr(sink->fd, TCSANOW, &line) != 0)
        return sf_fail(error, SF_UNAVAILABLE, sink->path, "cannot set up the serial line: %s",
                       strerror(errno));
    return SF_OK;
}

static int open_serial(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                       sf_error *error)
{
    (void)stream;
    const serial_settings *wanted = (const serial_settings *)settings;
    serial_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->fd = -1;
    sink->owed = sf_last_words_claim();
    sink->path = sf_copy_string(settings->path);
    int status = sf_output_open(&sink->output, &wanted->output, error);
    if (status == SF_OK && sink->path == NULL) status = sf_fail_memory(error);
    if (status == SF_OK) status = open_line(sink, speeds[wanted->baud], error);
    if (status != SF_OK) {
        close_serial(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

static int write_all(serial_sink *sink, const sf_text *bytes, sf_error *error)
{
    for (size_t done = 0; done < bytes->length;) {
        ssize_t count = write(sink->fd, bytes->data + done, bytes->length - done);
        struct pollfd room = {.fd = sink->fd, .events = POLLOUT};
        if (count > 0)
            done += (size_t)count;
        else if (count < 0 && errno != EAGAIN && errno != EINTR)
            return sf_fail(error, SF_IO, sink->path, "cannot write to the serial line: %s", strerror(errno));
        else if (poll(&room, 1, WRITE_MS) == 0)
            return sf_fail(error, SF_IO, sink->path, "the serial line takes nothing for %d ms", WRITE_MS);
    }
    return SF_OK;
}

static int end_pulse(void *self, sf_error *error)
{
    serial_sink *sink = self;
    int status = write_all(sink, &sink->output.after, error);
    sf_last_words_clear(sink->owed);
    return status;
}

static int publish_serial(void *self, const sf_message *message, sf_error *error)
{
    serial_sink *sink = self;
    if (!sf_output_takes(&sink->output, message)) return SF_PUBLISH_PASSED;
    const sf_text *bytes = sf_output_text(&sink->output, message, error);
    if (bytes == NULL) return SF_NO_MEMORY;
    if (sink->output.pulse_ms > 0)
        sf_last_words_owe(sink->owed, sink->fd, sink->output.after.data, sink->output.after.length);
    int status = write_all(sink, bytes, error);
    if (status != SF_OK && sink->output.pulse_ms > 0)
        end_pulse(sink, NULL); /* a part may have raised the line */
    return status;
}

static const char *address_serial(void *self)
{
    return ((serial_sink *)self)->path;
}

static const serial_settings defaults = {
    .output = {SF_OUTPUT_DEFAULTS, .send = "\\x01", .pulse_ms = 1, .then = "\\x00"}, .baud = USUAL_BAUD};

#define ROW serial_settings
static const sf_key keys[] = {
    TEXT("path", output.sink.path, .needed = true, .use = SF_KEY_WRITES, .example = "/dev/ttyACM0",
         .what = "the line"),
    TEXT("trigger", output.trigger, .what = "the name of the one that is sent; \"*\": all"),
    CHOICE("baud", baud, bauds, .what = "of the line"),
    TEXT("send", output.send, .what = "{name}, {occurrence}, ...: docs/closed-loop.md"),
    SF_OUTPUT_PULSE_KEYS,
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_serial = {
    .settings = {"serial", keys, sizeof(serial_settings), &defaults,
                 "bytes on a serial line for each trigger with a name"},
    .descriptors = 1,
    .is_tried = true,
    .acts = true,
    .open = open_serial,
    .examine = examine_serial,
    .publish = publish_serial,
    .pulse_ms = sf_output_pulse_ms,
    .end_pulse = end_pulse,
    .close = close_serial,
    .address = address_serial,
};
