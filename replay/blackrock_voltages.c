/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded time from voltage files (.ns1 to .ns6). NEURALSG (2.1) is one segment from time 0 on; NEURALCD
 * (2.2, 2.3) and BRSMPGRP (3.0) have a header before each uninterrupted segment: a byte 1, its time, and its
 * number of points. With a PTP clock each point has a header of its own.
 */
#include "replay/blackrock.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "replay/binary.h"
#include "replay/folder.h"
#include "replay/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_PAUSES 4096
#define PERIODS_HZ 30000 /* what the period of points counts */

typedef struct voltages {
    int file;
    uint64_t length, at; /* of the file; of the next header */
    size_t head_bytes, point_bytes;
    uint32_t ticks_hz, period;
    sf_span *spans;
    size_t count, capacity;
} voltages;

static bool read_exactly(const voltages *in, void *to, size_t size, uint64_t offset)
{
    return sf_file_read_at(in->file, to, size, offset) == size;
}

/* Reads the file's header; false if it is none of these formats. */
static bool read_head(voltages *in)
{
    unsigned char head[314];
    size_t got = sf_file_read_at(in->file, head, sizeof head, 0);
    if (got == SIZE_MAX || got < 32) return false;
    if (memcmp(head, "NEURALSG", 8) == 0) {
        uint32_t channels = sf_little_32(head + 28);
        in->period = sf_little_32(head + 24);
        in->ticks_hz = PERIODS_HZ;
        in->at = 32 + 4 * (uint64_t)channels;
        in->point_bytes = 2 * (size_t)channels;
        return channels > 0 && in->period > 0 && in->at < in->length;
    }
    bool is_3 = memcmp(head, "BRSMPGRP", 8) == 0;
    if ((!is_3 && memcmp(head, "NEURALCD", 8) != 0) || got < sizeof head) return false;
    in->at = sf_little_32(head + 10);
    in->period = sf_little_32(head + 286);
    in->ticks_hz = sf_little_32(head + 290);
    in->head_bytes = is_3 ? 13 : 9;
    in->point_bytes = 2 * (size_t)sf_little_32(head + 310);
    return in->period > 0 && in->ticks_hz > 0 && in->point_bytes > 0 && in->at >= sizeof head;
}

/* Reads the segment at in->at, and advances to the next one; false at the end, and if its header is invalid.
 */
static bool read_stretch(voltages *in, sf_span *span, uint64_t *points)
{
    unsigned char head[13];
    if (in->at >= in->length || in->length - in->at < in->head_bytes ||
        !read_exactly(in, head, in->head_bytes, in->at))
        return false;
    uint64_t room = (in->length - in->at - in->head_bytes) / in->point_bytes, start = 0;
    *points = room;
    if (in->head_bytes > 0) {
        start = in->head_bytes == 13 ? sf_little_64(head + 1) : sf_little_32(head + 1);
        *points = sf_little_32(head + in->head_bytes - 4);
    }
    if (in->head_bytes > 0 && head[0] != 1) return false;
    if (*points > room || *points == 0) /* 0 in a file that was not closed: the segment extends to the end */
        *points = room;
    int64_t lasts_ns;
    if (start > INT64_MAX || *points > INT64_MAX || *points == 0 ||
        !sf_samples_to_ns((int64_t)start, in->ticks_hz, &span->start_ns) ||
        !sf_samples_to_ns((int64_t)*points, (double)PERIODS_HZ / in->period, &lasts_ns))
        return false;
    span->stop_ns = span->start_ns + lasts_ns;
    in->at += in->head_bytes + *points * in->point_bytes;
    return true;
}

/* If each point has a header, the first and the last give the recorded span, and pauses are unknown. */
static bool read_last_point(voltages *in, sf_span *span)
{
    uint64_t points;
    size_t each = in->head_bytes + in->point_bytes;
    uint64_t more = (in->length - in->at) / each;
    sf_span last = in->spans[0];
    if (more > 0) in->at += (more - 1) * each;
    if (more > 0 && (!read_stretch(in, &last, &points) || points != 1 || last.start_ns < span->start_ns))
        return false;
    span->stop_ns = last.stop_ns;
    return true;
}

/* True if the segments are in time order. */
static bool read_stretches(voltages *in, sf_error *error, int *status)
{
    sf_span span;
    uint64_t points;
    while (in->count < MOST_PAUSES && read_stretch(in, &span, &points)) {
        const sf_span *last = in->count > 0 ? &in->spans[in->count - 1] : NULL;
        bool runs_back = last != NULL && span.start_ns < last->stop_ns;
        if (runs_back && last->stop_ns - in->spans[0].start_ns <= SF_BLACKROCK_START_NS)
            in->count = 0; /* the clock was reset at the start of the recording */
        else if (runs_back)
            return false;
        if (sf_reserve(&in->spans, &in->capacity, in->count + 1, sizeof *in->spans) != 0) {
            *status = sf_fail_memory(error);
            return false;
        }
        in->spans[in->count++] = span;
        if (in->count == 1 && points == 1 && in->head_bytes == 13) return read_last_point(in, &in->spans[0]);
    }
    return in->count > 0 && in->count < MOST_PAUSES;
}

static void declare(sf_recording *recording, voltages *in)
{
    recording->recorded = (sf_span){in->spans[0].start_ns, in->spans[in->count - 1].stop_ns};
    recording->declared = true;
    if (in->count > 1) {
        recording->observed = in->spans;
        recording->observed_count = in->count;
        in->spans = NULL;
    }
}

int sf_blackrock_recorded(sf_recording *recording, const char *path, sf_error *error)
{
    char beside[SF_FOLDER_PATH];
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int status = SF_OK, stem = (int)(dot != NULL ? dot - path : 0);
    if (dot == NULL || (slash != NULL && dot < slash)) return SF_OK;
    for (char which = '6'; status == SF_OK && which >= '1' && !recording->declared; which--) {
        struct stat about;
        voltages in = {.file = -1};
        if (snprintf(beside, sizeof beside, "%.*s.ns%c", stem, path, which) >= (int)sizeof beside ||
            stat(beside, &about) != 0 || !S_ISREG(about.st_mode) ||
            (in.file = open(beside, O_RDONLY | O_CLOEXEC)) < 0)
            continue;
        in.length = (uint64_t)about.st_size;
        if (read_head(&in) && read_stretches(&in, error, &status)) declare(recording, &in);
        sf_free(in.spans);
        close(in.file);
    }
    return status;
}
