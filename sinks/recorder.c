/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/recorder.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "io/journal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define RATE_OVER_S 10.0 /* the present rate is smoothed so */
#define ROTATE_AGAIN_NS (60 * SF_SECOND)
#define TELL_AFTER_S 3.0 /* before that it is no rate */

/* The file that grows, and its journal. */
typedef struct growing {
    unsigned part;                   /* number of the file, from 1 */
    char identity[SF_IDENTITY_SIZE]; /* in both */
    char *path;
    sf_recorder_file *file;
    sf_journal *journal; /* NULL: none, or it has failed */
} growing;

struct sf_recorder {
    sf_recorder_settings settings; /* without texts */
    const sf_disk *disk;
    const sf_stream_info *stream;
    sf_text provenance;
    char *path; /* of the first file */
    growing at;
    sf_journal *retiring;    /* of the file before, until that is on the disk */
    int64_t rotate_again_ns; /* monotonic: before that no next file is tried again */
    uint64_t rows[SF_RECORDER_TABLES], spikes, markers; /* of this file */
    uint64_t part_bytes, closed_bytes;
    uint64_t journal_before; /* bytes and syncs of journals of earlier files */
    uint64_t syncs_before;
    int64_t worst_before_ns;
    sf_journal_lost lost;
    sf_span seen; /* from the first spike or marker of this file to the newest time of anything */
    bool has_seen;
    bool begun;
    bool broken;            /* nothing is recorded any more */
    bool is_damaged;        /* the file is left as the last flush put it */
    sf_error journal_error; /* of a journal or a file before, to be told by the next flush */
    int64_t began_ns, watched_ns;
    uint64_t watched_bytes;
    double rate; /* bytes a second */
    double warned_s;
    _Atomic uint64_t journal_bytes, syncs;
    _Atomic int64_t worst_ns;
    _Atomic double left_s;
};

/* ---- files ---- */

/* Borrows what the stream has. A live stream has units and nothing else. */
static sf_recording about(const sf_recorder *self)
{
    if (self->stream->origin != NULL) return *self->stream->origin;
    return (sf_recording){.units = *self->stream->units};
}

static bool rotates(const sf_recorder *self)
{
    return self->settings.rotate_mb > 0 || self->settings.rotate_min > 0;
}

/* "run-part2.h5" of "run.h5", in the folder of `beside`; NULL where memory is out. */
static char *part_name(const char *path, const char *beside, unsigned part)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.'), *end = strrchr(beside, '/');
    int stem = (int)(dot != NULL && dot != base ? dot - base : (ptrdiff_t)strlen(base));
    sf_text name = {0};
    sf_text_printf(&name, "%.*s%.*s-part%u%s", end != NULL ? (int)(end + 1 - beside) : 0, beside, stem, base,
                   part, base + stem);
    if (name.failed) sf_text_free(&name);
    return name.data;
}

static void draw_identity(char identity[SF_IDENTITY_SIZE])
{
    uint64_t drawn[2];
    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn) {
        drawn[0] = (uint64_t)sf_clock_monotonic_ns();
        drawn[1] = (uint64_t)getpid();
    }
    snprintf(identity, SF_IDENTITY_SIZE, "%016" PRIx64 "%016" PRIx64, drawn[0], drawn[1]);
}

/* next->part is known; only the first file may replace another. */
static int create_file(const sf_recorder *self, growing *next, const char *path, sf_error *error)
{
    draw_identity(next->identity);
    const sf_recording of = about(self);
    const sf_layout_options options = {.kind = "recording",
                                       .configuration = self->stream->configuration,
                                       .provenance = self->provenance.data,
                                       .live = true,
                                       .overwrite = self->settings.sink.overwrite && next->part == 1,
                                       .identity = next->identity,
                                       .numbered = true,
                                       .part = rotates(self) ? next->part : 0};
    int status = sf_recorder_file_create(&next->file, path, &of, &options, error);
    if (status != SF_OK) return status;
    next->path = sf_copy_string(sf_layout_path(sf_recorder_file_layout(next->file)));
    return next->path != NULL ? SF_OK : sf_fail_memory(error);
}

/* A journal of this name is another recording's, which broke off. */
static void warn_of_foreign(const char *wanted, const char *path)
{
    if (strcmp(wanted, path) != 0)
        sf_log(
            SF_LOG_WARNING,
            "%s is the journal of an earlier recording that broke off, and stays: move it to another folder "
            "and `synfire recover` it there; this recording's journal is %s",
            wanted, path);
    else
        sf_log(SF_LOG_WARNING, "%s was the journal of an earlier recording that broke off: it is replaced",
               wanted);
}

static int create_journal(const sf_recorder *self, growing *next, sf_error *error)
{
    if (!self->settings.journal) return SF_OK;
    const char *slash = strrchr(next->path, '/');
    char program[64];
    snprintf(program, sizeof program, "synfire %s", sf_version());
    sf_journal_table tables[SF_RECORDER_TABLES];
    for (int i = 0; i < SF_RECORDER_TABLES; i++)
        tables[i] = (sf_journal_table){sf_recorder_form_of((sf_recorder_table)i)->name,
                                       sf_recorder_row_size((sf_recorder_table)i),
                                       sf_recorder_table_form((sf_recorder_table)i)};
    const sf_journal_about of = {.file = slash != NULL ? slash + 1 : next->path,
                                 .identity = next->identity,
                                 .program = program,
                                 .configuration = self->stream->configuration,
                                 .provenance = self->provenance.data,
                                 .part = next->part,
                                 .recording = about(self),
                                 .tables = tables,
                                 .table_count = SF_RECORDER_TABLES};
    const sf_journal_options options = {.sync_s = self->settings.sync_s,
                                        .overwrite = self->settings.sink.overwrite && next->part == 1,
                                        .disk = self->disk};
    sf_text path = {0};
    sf_text_printf(&path, "%s.journal", next->path);
    bool is_there = !path.failed && access(path.data, F_OK) == 0;
    int status = path.failed ? sf_fail_memory(error)
                             : sf_journal_create(&next->journal, path.data, &of, &options, error);
    if (status == SF_OK && is_there) warn_of_foreign(path.data, sf_journal_path(next->journal));
    sf_text_free(&path);
    return status;
}

static void close_journal(sf_journal **journal)
{
    sf_journal_close(*journal, NULL);
    *journal = NULL;
}

static void count_journal(sf_recorder *self)
{
    sf_journal_counts now = {0};
    if (self->at.journal != NULL) now = sf_journal_count(self->at.journal);
    if (now.worst_sync_ns > self->worst_before_ns) self->worst_before_ns = now.worst_sync_ns;
    atomic_store(&self->journal_bytes, self->journal_before + now.bytes);
    atomic_store(&self->syncs, self->syncs_before + now.syncs);
    atomic_store(&self->worst_ns, self->worst_before_ns);
}

/* The journal of this file is needed no more, or is all there is. */
static void let_journal_go(sf_recorder *self)
{
    count_journal(self);
    self->journal_before = atomic_load(&self->journal_bytes);
    self->syncs_before = atomic_load(&self->syncs);
}

/* What the file covers: the first one from the declared start of the recording where there is one, else from
 * the first spike or marker, to where the run or the file ended. */
static sf_span recorded_span(const sf_recorder *self)
{
    sf_span span = self->seen;
    const sf_recording *origin = self->stream->origin;
    if (origin == NULL || !origin->declared) return span;
    if (self->at.part == 1 && origin->recorded.start_ns < span.start_ns)
        span.start_ns = origin->recorded.start_ns;
    if (origin->recorded.stop_ns < span.stop_ns && origin->recorded.stop_ns >= span.start_ns)
        span.stop_ns = origin->recorded.stop_ns;
    return span;
}

/* Closes the file that grows; once it is on the disk its journal goes, which is waited for with the next one.
 */
static int finish_file(sf_recorder *self, sf_error *error)
{
    const sf_span span = recorded_span(self);
    int fd = dup(sf_layout_descriptor(sf_recorder_file_layout(self->at.file)));
    int status = sf_recorder_file_close(self->at.file, self->has_seen ? &span : NULL, error);
    self->at.file = NULL;
    self->closed_bytes += self->part_bytes;
    sf_journal *journal = self->at.journal;
    if (journal != NULL) let_journal_go(self);
    self->at.journal = NULL;
    close_journal(&self->retiring);
    if (journal == NULL || status != SF_OK || fd < 0) {
        if (fd >= 0) close(fd);
        close_journal(&journal);
        return status;
    }
    sf_journal_append(journal, SF_JOURNAL_END, 0, 0, &span, sizeof span, NULL);
    sf_journal_retire(journal, fd);
    self->retiring = journal;
    return status;
}

static void leave_damaged(sf_recorder *self)
{
    sf_recorder_file_abandon(self->at.file);
    self->at.file = NULL;
    if (self->at.journal == NULL) return;
    sf_log(SF_LOG_WARNING, "%s stays: `synfire recover %s` makes a sound recording of both",
           sf_journal_path(self->at.journal), self->at.path);
    let_journal_go(self);
    close_journal(&self->at.journal);
}

/* After a failure the file is left as the last flush put it: HDF5 promises nothing about appending after an
 * append failed. Where memory ran out nothing was half appended, and the next message may go well. */
static int break_off(sf_recorder *self, int status, sf_error *error)
{
    self->broken = self->is_damaged = status != SF_NO_MEMORY;
    if (error != NULL) snprintf(error->place, sizeof error->place, "%s", self->at.path);
    return status;
}

/* A file that somebody else removed or cut is written no more: HDF5 would read in it, and write where nothing
 * is. */
static int check_file(sf_recorder *self, sf_error *error)
{
    int status = sf_layout_check(sf_recorder_file_layout(self->at.file), error);
    return status == SF_OK ? SF_OK : break_off(self, status, error);
}

int sf_recorder_open(sf_recorder **out, const sf_recorder_settings *settings, const sf_stream_info *stream,
                     sf_error *error)
{
    sf_recorder *self = sf_alloc(1, sizeof *self);
    if (self == NULL) return sf_fail_memory(error);
    self->settings = *settings;
    self->disk = settings->disk != NULL ? settings->disk : &sf_disk_real;
    self->stream = stream;
    self->at.part = 1;
    self->warned_s = INFINITY;
    atomic_init(&self->left_s, NAN);
    if (stream->provenance != NULL) sf_provenance_print(&self->provenance, stream->provenance);
    int status = self->provenance.failed ? sf_fail_memory(error)
                                         : create_file(self, &self->at, settings->sink.path, error);
    if (status == SF_OK && (self->path = sf_copy_string(self->at.path)) == NULL)
        status = sf_fail_memory(error);
    if (status != SF_OK)
        sf_recorder_close(self, NULL);
    else
        *out = self;
    return status;
}

int sf_recorder_begin(sf_recorder *self, sf_error *error)
{
    int status = sf_layout_commit(sf_recorder_file_layout(self->at.file), error);
    if (status == SF_OK) status = create_journal(self, &self->at, error);
    self->began_ns = self->watched_ns = sf_clock_monotonic_ns();
    self->begun = status == SF_OK;
    return status;
}

int sf_recorder_close(sf_recorder *self, sf_error *error)
{
    int status = SF_OK;
    if (self->begun && self->at.file != NULL && !self->broken) status = check_file(self, error);
    if (!self->begun)
        sf_recorder_file_discard(self->at.file);
    else if (self->is_damaged)
        leave_damaged(self);
    else if (self->at.file != NULL)
        status = finish_file(self, error);
    close_journal(&self->retiring);
    sf_text_free(&self->provenance);
    sf_free(self->path);
    sf_free(self->at.path);
    sf_free(self);
    return status;
}

const char *sf_recorder_path(const sf_recorder *self)
{
    return self->path;
}

/* ---- appending ---- */

/* The file goes on without its journal. */
static void lose_journal(sf_recorder *self, const sf_error *reason)
{
    self->journal_error = *reason;
    let_journal_go(self);
    close_journal(&self->at.journal);
}

/* Into the journal, if there is one. SF_NO_MEMORY, which no batch of raw spikes or markers meets. */
static int note(sf_recorder *self, sf_journal_kind kind, unsigned table, uint64_t first, const void *rows,
                size_t size)
{
    sf_error reason = {0};
    if (self->at.journal == NULL || size == 0) return SF_OK;
    int status = sf_journal_append(self->at.journal, kind, table, first, rows, size, &reason);
    if (status != SF_OK && status != SF_NO_MEMORY) lose_journal(self, &reason);
    return status == SF_NO_MEMORY ? status : SF_OK;
}

/* Extends what the file covers to [start, stop). */
static void see(sf_recorder *self, int64_t start_ns, int64_t stop_ns)
{
    if (!self->has_seen || start_ns < self->seen.start_ns) self->seen.start_ns = start_ns;
    if (!self->has_seen || stop_ns > self->seen.stop_ns) self->seen.stop_ns = stop_ns;
    self->has_seen = true;
}

void sf_recorder_reach(sf_recorder *self, int64_t time_ns)
{
    if (self->has_seen && time_ns > self->seen.stop_ns) self->seen.stop_ns = time_ns;
}

static void note_raw(sf_recorder *self, const sf_raw_batch *batch)
{
    const sf_journal_lost lost = {batch->spikes_lost, batch->markers_lost};
    if (lost.spikes != self->lost.spikes || lost.markers != self->lost.markers)
        note(self, SF_JOURNAL_LOST, 0, 0, &lost, sizeof lost);
    self->lost = lost;
    note(self, SF_JOURNAL_SPIKES, 0, self->spikes, batch->spikes, batch->spike_count * sizeof *batch->spikes);
    note(self, SF_JOURNAL_MARKERS, 0, self->markers, batch->markers,
         batch->marker_count * sizeof *batch->markers);
}

int sf_recorder_raw(sf_recorder *self, const sf_raw_batch *batch, sf_error *error)
{
    const sf_spike *spikes = batch->spikes;
    const sf_marker *markers = batch->markers;
    sf_layout *layout = sf_recorder_file_layout(self->at.file);
    note_raw(self, batch);
    if (batch->spike_count > 0) see(self, spikes[0].time_ns, spikes[batch->spike_count - 1].time_ns + 1);
    if (batch->marker_count > 0) see(self, markers[0].time_ns, markers[batch->marker_count - 1].time_ns + 1);
    int status = sf_layout_append_spikes(layout, spikes, batch->spike_count, error);
    if (status == SF_OK) status = sf_layout_append_markers(layout, markers, batch->marker_count, error);
    if (status != SF_OK) return break_off(self, status, error);
    self->spikes += batch->spike_count;
    self->markers += batch->marker_count;
    self->part_bytes += batch->spike_count * sizeof *spikes + batch->marker_count * sizeof *markers;
    return SF_OK;
}

uint64_t sf_recorder_rows(const sf_recorder *self, sf_recorder_table table)
{
    return self->rows[table];
}

int sf_recorder_append(sf_recorder *self, sf_recorder_table table, const void *rows, size_t count,
                       sf_error *error)
{
    size_t size = count * sf_recorder_row_size(table);
    if (note(self, SF_JOURNAL_ROWS, table, self->rows[table], rows, size) != SF_OK)
        return sf_fail_memory(error);
    int status = sf_recorder_file_append(self->at.file, table, rows, count, error);
    if (status != SF_OK) return break_off(self, status, error);
    self->rows[table] += count;
    self->part_bytes += size;
    return SF_OK;
}

/* ---- one file after the other ---- */

unsigned sf_recorder_part(const sf_recorder *self)
{
    return self->at.part;
}

static bool is_due(const sf_recorder *self)
{
    const sf_recorder_settings *settings = &self->settings;
    double covered_ns = (double)(self->seen.stop_ns - self->seen.start_ns);
    bool is_full = (settings->rotate_mb > 0 && (double)self->part_bytes >= settings->rotate_mb * 1e6) ||
                   (settings->rotate_min > 0 && self->has_seen && covered_ns >= settings->rotate_min * 60e9);
    return is_full && sf_clock_monotonic_ns() >= self->rotate_again_ns;
}

/* The next file is open before this one ends; where it cannot be, this one goes on. */
static int open_next(sf_recorder *self, growing *next, sf_error *error)
{
    sf_error reason = {0};
    sf_layout *layout = sf_recorder_file_layout(self->at.file);
    sf_layout_follow(layout);
    *next = (growing){.part = self->at.part + 1};
    char *path = part_name(self->path, sf_layout_path(layout), next->part);
    int status = path != NULL ? create_file(self, next, path, error) : sf_fail_memory(error);
    sf_free(path);
    if (status == SF_OK) status = sf_layout_commit(sf_recorder_file_layout(next->file), error);
    if (status != SF_OK) {
        sf_recorder_file_discard(next->file);
        sf_free(next->path);
        return status;
    }
    if (create_journal(self, next, &reason) != SF_OK) self->journal_error = reason;
    return SF_OK;
}

/* Nothing of one file refers to another: rows are counted anew, and what is covered goes on where it ended.
 */
static int rotate(sf_recorder *self, sf_error *error)
{
    growing next;
    sf_error reason = {0};
    int status = open_next(self, &next, error);
    if (status != SF_OK) return status;
    if (finish_file(self, &reason) != SF_OK) self->journal_error = reason;
    sf_free(self->at.path);
    self->at = next;
    self->spikes = self->markers = self->part_bytes = 0;
    memset(self->rows, 0, sizeof self->rows);
    self->seen.start_ns = self->seen.stop_ns;
    return SF_OK;
}

int sf_recorder_turn(sf_recorder *self, sf_error *error)
{
    if (self->broken) return sf_fail(error, SF_IO, self->at.path, "recording broke off earlier");
    sf_error reason = {0};
    int status = check_file(self, error);
    if (status != SF_OK) return status;
    if (is_due(self) && rotate(self, &reason) != SF_OK) {
        self->rotate_again_ns = sf_clock_monotonic_ns() + ROTATE_AGAIN_NS;
        sf_log(SF_LOG_WARNING, "%s goes on: its next file cannot be begun: %s", self->at.path, reason.text);
    }
    return SF_OK;
}

/* ---- once a second ---- */

static void tell_room(sf_recorder *self, uint64_t room, double left_s)
{
    static const double warnings[] = {1800, 600, 120};
    for (size_t i = 0; i < sizeof warnings / sizeof warnings[0]; i++) {
        if (left_s >= warnings[i] || warnings[i] >= self->warned_s) continue;
        self->warned_s = warnings[i];
        if (i + 1 == sizeof warnings / sizeof warnings[0] || left_s >= warnings[i + 1])
            sf_log(SF_LOG_WARNING,
                   "the disk of %s has room for %.0f %s more at the present rate, %.3g MB/s: %.3g MB are "
                   "left, and "
                   "recording ends in order at %.3g MB",
                   self->at.path, left_s < 120 ? left_s : left_s / 60, left_s < 120 ? "seconds" : "minutes",
                   self->rate / 1e6, (double)room / 1e6, self->settings.reserve_mb);
    }
    if (left_s > 3600) self->warned_s = INFINITY;
}

static void measure_rate(sf_recorder *self, uint64_t bytes)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    double since_s = (double)(now_ns - self->watched_ns) * 1e-9;
    double running_s = (double)(now_ns - self->began_ns) * 1e-9;
    if (since_s <= 0) return;
    double share = since_s / (running_s < RATE_OVER_S ? running_s : RATE_OVER_S);
    double now = (double)(bytes - self->watched_bytes) / since_s;
    self->rate += (now - self->rate) * (share < 1 ? share : 1);
    self->watched_ns = now_ns;
    self->watched_bytes = bytes;
}

/* A journal that is large gives more room than is kept free, once its file is whole. */
static int end_in_order(sf_recorder *self, uint64_t room, sf_error *error)
{
    double reserve = self->settings.reserve_mb * 1e6;
    if (self->at.journal != NULL && (double)sf_journal_count(self->at.journal).bytes > 8 * reserve) {
        sf_log(SF_LOG_WARNING,
               "the disk of %s is nearly full: a new file begins, and this one's journal makes room",
               self->at.path);
        int status = rotate(self, error);
        close_journal(&self->retiring);
        if (status == SF_OK) return SF_OK;
    }
    self->broken = true;
    int status = finish_file(self, error);
    return status != SF_OK
               ? status
               : sf_fail(error, SF_IO, self->at.path,
                         "the disk is nearly full, %.3g MB are left: recording ended in order, and the "
                         "file is whole up to here",
                         (double)room / 1e6);
}

static int watch_room(sf_recorder *self, sf_error *error)
{
    uint64_t room;
    int fd = sf_layout_descriptor(sf_recorder_file_layout(self->at.file));
    if (self->disk->room(self->disk->user, fd, &room) != 0) return SF_OK;
    measure_rate(self, self->closed_bytes + self->part_bytes + atomic_load(&self->journal_bytes));
    double reserve = self->settings.reserve_mb * 1e6;
    double left = (double)room > reserve ? (double)room - reserve : 0;
    double left_s = self->rate > 0 ? left / self->rate : INFINITY;
    bool is_told = (double)(self->watched_ns - self->began_ns) >= TELL_AFTER_S * 1e9;
    atomic_store(&self->left_s, isfinite(left_s) && is_told ? left_s : NAN);
    if (is_told) tell_room(self, room, left_s);
    /* It is looked at once a second. A rate that was measured over almost no time is none. */
    bool is_full = reserve > 0 && left <= (is_told ? 2 * self->rate : 0);
    return is_full ? end_in_order(self, room, error) : SF_OK;
}

int sf_recorder_check(sf_recorder *self, sf_error *error)
{
    if (self->broken) return SF_OK;
    count_journal(self);
    int status = check_file(self, error);
    return status == SF_OK ? watch_room(self, error) : status;
}

/* With a journal that is on the disk the file itself need not be: readers see it, and a kill takes nothing.
 */
int sf_recorder_flush(sf_recorder *self, sf_error *error)
{
    if (self->broken) return SF_OK;
    sf_error reason = {0};
    if (self->at.journal != NULL && sf_journal_check(self->at.journal, &reason) != SF_OK)
        lose_journal(self, &reason);
    int status = check_file(self, error);
    if (status != SF_OK) return status;
    bool is_alone = self->at.journal == NULL || self->settings.sync_s == 0;
    status = sf_layout_flush(sf_recorder_file_layout(self->at.file), is_alone, error);
    if (status != SF_OK) return break_off(self, status, error);
    status = (int)self->journal_error.code;
    if (status != SF_OK && error != NULL) *error = self->journal_error;
    self->journal_error = (sf_error){0};
    return status;
}

void sf_recorder_account(const sf_recorder *self, sf_sink_status *status)
{
    status->journal_bytes = atomic_load(&self->journal_bytes);
    status->syncs = atomic_load(&self->syncs);
    status->sync_max_ms = status->syncs > 0 ? (double)atomic_load(&self->worst_ns) * 1e-6 : NAN;
    status->disk_left_s = atomic_load(&self->left_s);
}
