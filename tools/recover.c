/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sound recording of what a recorder left when it was killed, lost its power or its disk: the journal
 * (io/journal.h) first, since it got everything first; where it has holes, and behind its end, the HDF5 file,
 * as far as that can be read. Rows have numbers, so nothing is taken twice, and what is in neither is
 * counted.
 */
#include "tools/recover.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/text.h"
#include "io/hdf.h"
#include "io/journal.h"
#include "io/output_file.h"
#include "replay/recording_file.h"
#include "sinks/recorder_file.h"
#include "tools/journals.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".journal"

typedef struct recovery {
    sf_recovered *told;
    const sf_progress *progress;
    sf_recording file; /* what could be read of the HDF5 file */
    bool has_file;
    bool is_same; /* file and journal carry one identity */
    int fd;       /* of the journal; -1: none */
    sf_journal_reader reader;
    sf_journal_about about;
    bool has_about;
    sf_recorder_file *out;
    sf_recorder_table tables[SF_RECORDER_TABLES]; /* by number of the journal's tables; SF_RECORDER_TABLES: a
                                                     table unknown to this version */
    size_t table_count;
    uint64_t spikes, markers, rows[SF_RECORDER_TABLES]; /* rows so far, with those that are missing */
    sf_span seen;
    bool has_seen;
    int64_t last_ns; /* of the newest spike */
    sf_span *holes;
    size_t hole_count, hole_capacity;
} recovery;

/* ---- what there is ---- */

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcmp(path + length - size, ending) == 0;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Either of the two was named. */
static int name_files(sf_recovered *told, const char *path, sf_error *error)
{
    sf_kinship kinship;
    bool is_journal = ends_with(path, SUFFIX);
    char *named = sf_copy_string(path);
    *(is_journal ? &told->journal : &told->file) = named;
    if (named == NULL) return sf_fail_memory(error);
    int status = is_journal ? sf_journal_recording(&told->file, path, error)
                            : sf_journal_find(&told->journal, &kinship, path, error);
    if (status != SF_OK) return status;
    if (told->journal != NULL && !is_there(told->journal)) {
        sf_free(told->journal);
        told->journal = NULL;
    }
    if (told->journal == NULL && !is_there(told->file))
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(ENOENT));
    if (sf_output_file_is_busy(told->file) ||
        (told->journal != NULL && sf_output_file_is_busy(told->journal)))
        return sf_fail(error, SF_UNAVAILABLE, path,
                       "is being recorded: recover it once the recorder has ended");
    return SF_OK;
}

static int set_aside(recovery *self, const char *reason, sf_error *error)
{
    if (self->has_file) sf_recording_clear(&self->file);
    self->has_file = false;
    sf_free(self->told->file_note);
    self->told->file_note = sf_copy_string(reason);
    return self->told->file_note != NULL ? SF_OK : sf_fail_memory(error);
}

static int read_file(recovery *self, sf_error *error)
{
    sf_error reason = {0};
    if (!is_there(self->told->file)) return set_aside(self, "there is none", error);
    int status = sf_recording_read(&self->file, self->told->file, NULL, self->progress, &reason);
    self->has_file = status == SF_OK;
    if (status == SF_OK) return SF_OK;
    if (status != SF_NO_MEMORY && status != SF_CANCELLED && status != SF_UNAVAILABLE)
        return set_aside(self, reason.text, error);
    if (error != NULL) *error = reason;
    return status;
}

/* Data of two recordings are never put together, nor is one handed out for the other. */
static int refuse_foreign(const sf_recovered *told, sf_error *error)
{
    return sf_fail(
        error, SF_DATA, told->file,
        "is not the recording that the journal %s is of: move one of the two to another folder, and "
        "recover each by itself",
        told->journal);
}

static int compare_identities(recovery *self, sf_error *error)
{
    const sf_recovered *told = self->told;
    sf_kinship kinship =
        told->journal != NULL ? sf_journal_kinship(told->file, told->journal) : SF_KIN_UNKNOWN;
    self->is_same = kinship == SF_KIN_SAME;
    return kinship == SF_KIN_OTHER ? refuse_foreign(told, error) : SF_OK;
}

/* The first record; without it the HDF5 file has to tell what was recorded. */
static int read_about(recovery *self, sf_error *error)
{
    const char *path = self->told->journal;
    sf_journal_record record;
    int status = sf_journal_reader_open(&self->reader, self->fd, path, error);
    self->told->journal_bytes = self->reader.length;
    if (status == SF_OK) status = sf_journal_next(&self->reader, &record, error);
    if (status == SF_OK && record.kind == SF_JOURNAL_BEGIN) {
        status = sf_journal_about_read(&self->about, &record, path, error);
        self->has_about = status == SF_OK;
        return status;
    }
    if (status == SF_OK) { /* it is read again */
        sf_journal_reader_close(&self->reader);
        return sf_journal_reader_open(&self->reader, self->fd, path, error);
    }
    return status == SF_END ? SF_OK : status;
}

static int open_journal(recovery *self, sf_error *error)
{
    if (self->told->journal == NULL) return SF_OK;
    self->fd = open(self->told->journal, O_RDONLY | O_CLOEXEC);
    if (self->fd < 0)
        return sf_fail(error, SF_NO_INPUT, self->told->journal, "cannot open: %s", strerror(errno));
    return read_about(self, error);
}

static bool same_units(const sf_units *one, const sf_units *other)
{
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++)
        same = strcmp(one->items[i].name, other->items[i].name) == 0;
    return same;
}

static int take_stock(recovery *self, sf_error *error)
{
    int status = compare_identities(self, error);
    if (status == SF_OK) status = read_file(self, error);
    if (status == SF_OK) status = open_journal(self, error);
    if (status == SF_OK && self->has_about && self->has_file &&
        !same_units(&self->about.recording.units, &self->file.units))
        status = self->is_same ? set_aside(self, "its units are not those of the journal", error)
                               : refuse_foreign(self->told, error);
    if (status == SF_OK && !self->has_about && !self->has_file)
        status = sf_fail(
            error, SF_DATA, self->told->file,
            self->told->journal != NULL
                ? "nothing tells what was recorded: the journal has lost its beginning, and of the file: %s"
                : "there is no journal (%s" SUFFIX "), and of the file: %s",
            self->told->journal != NULL ? self->told->file_note : self->told->file, self->told->file_note);
    for (size_t i = 0; status == SF_OK && i < self->about.table_count && i < SF_RECORDER_TABLES; i++) {
        const sf_journal_table *table = &self->about.tables[i];
        int known = 0;
        while (known < SF_RECORDER_TABLES &&
               (strcmp(sf_recorder_form_of((sf_recorder_table)known)->name, table->name) != 0 ||
                sf_recorder_row_size((sf_recorder_table)known) != table->row_size ||
                sf_recorder_table_form((sf_recorder_table)known) != table->form))
            known++;
        self->tables[self->table_count++] = (sf_recorder_table)known;
    }
    return status;
}

/* ---- the new file ---- */

static char *new_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    int stem = (int)(dot != NULL && dot != base ? dot - path : (ptrdiff_t)strlen(path));
    sf_text name = {0};
    sf_text_printf(&name, "%.*s-recovered%s", stem, path, path[stem] != '\0' ? path + stem : ".h5");
    if (name.failed) sf_text_free(&name);
    return name.data;
}

static int create_out(recovery *self, const char *out, sf_error *error)
{
    self->told->out = out != NULL ? sf_copy_string(out) : new_name(self->told->file);
    if (self->told->out == NULL) return sf_fail_memory(error);
    sf_recording of = self->has_about ? self->about.recording : self->file; /* borrowed */
    of.observed_count = 0;                                                  /* which are known at the end */
    const sf_layout_options options = {.kind = "recording",
                                       .configuration = self->about.configuration,
                                       .provenance = self->about.provenance,
                                       .part = self->about.part > 1 ? (uint32_t)self->about.part : 0};
    return sf_recorder_file_create(&self->out, self->told->out, &of, &options, error);
}

static void see(recovery *self, int64_t first_ns, int64_t last_ns)
{
    if (!self->has_seen || first_ns < self->seen.start_ns) self->seen.start_ns = first_ns;
    if (!self->has_seen || last_ns >= self->seen.stop_ns) self->seen.stop_ns = last_ns + 1;
    self->has_seen = true;
}

static int add_spikes(recovery *self, const sf_spike *spikes, size_t count, sf_error *error)
{
    if (count == 0) return SF_OK;
    see(self, spikes[0].time_ns, spikes[count - 1].time_ns);
    self->last_ns = spikes[count - 1].time_ns;
    self->spikes += count;
    self->told->spikes += count;
    return sf_layout_append_spikes(sf_recorder_file_layout(self->out), spikes, count, error);
}

static int add_markers(recovery *self, const sf_marker *markers, size_t count, sf_error *error)
{
    if (count == 0) return SF_OK;
    see(self, markers[0].time_ns, markers[count - 1].time_ns);
    self->markers += count;
    self->told->markers += count;
    return sf_layout_append_markers(sf_recorder_file_layout(self->out), markers, count, error);
}

/* ---- holes ---- */

/* Rows up to `to` from the HDF5 file. */
static int fill_spikes(recovery *self, uint64_t to, sf_error *error)
{
    uint64_t there = self->has_file ? self->file.spike_count : 0;
    to = to < there ? to : there;
    if (self->spikes >= to) return SF_OK;
    self->told->spikes_of_file += to - self->spikes;
    return add_spikes(self, self->file.spikes + self->spikes, (size_t)(to - self->spikes), error);
}

static int fill_markers(recovery *self, uint64_t to, sf_error *error)
{
    uint64_t there = self->has_file ? self->file.marker_count : 0;
    to = to < there ? to : there;
    if (self->markers >= to) return SF_OK;
    self->told->markers_of_file += to - self->markers;
    return add_markers(self, self->file.markers + self->markers, (size_t)(to - self->markers), error);
}

/* Between the spikes on either side nothing is known. */
static int add_hole(recovery *self, int64_t next_ns, sf_error *error)
{
    sf_span hole = {self->has_seen ? self->last_ns + 1 : INT64_MIN, next_ns};
    if (self->told->spikes == 0) hole.start_ns = INT64_MIN;
    if (sf_reserve(&self->holes, &self->hole_capacity, self->hole_count + 1, sizeof *self->holes) != 0)
        return sf_fail_memory(error);
    if (hole.stop_ns > hole.start_ns) self->holes[self->hole_count++] = hole;
    return SF_OK;
}

/* ---- records ---- */

static bool are_spikes(const recovery *self, const sf_spike *spikes, size_t count)
{
    size_t units = self->has_about ? self->about.recording.units.count : self->file.units.count;
    int64_t before = self->told->spikes > 0 ? self->last_ns : INT64_MIN;
    for (size_t i = 0; i < count; before = spikes[i++].time_ns)
        if (spikes[i].unit >= units || spikes[i].time_ns < before || spikes[i].time_ns <= -SF_TIME_LIMIT_NS ||
            spikes[i].time_ns >= SF_TIME_LIMIT_NS)
            return false;
    return true;
}

/* Whether file and journal have the same spikes where both have rows. */
static bool agrees(const recovery *self, const sf_spike *spikes, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count && first + i < self->file.spike_count; i++) {
        const sf_spike *other = &self->file.spikes[first + i];
        if (other->time_ns != spikes[i].time_ns || other->unit != spikes[i].unit) return false;
    }
    return true;
}

/* Of `count` rows from `first` on, *known is the number that the file already has; true if some are new. */
static bool pass_known(uint64_t have, uint64_t first, size_t count, size_t *known)
{
    *known = first >= have ? 0 : have - first < count ? (size_t)(have - first) : count;
    return *known < count;
}

static int take_spikes(recovery *self, const sf_journal_record *record, sf_error *error)
{
    const sf_spike *spikes = record->rows;
    size_t count = record->size / sizeof *spikes, known;
    if (!pass_known(self->spikes, record->first, count, &known)) return SF_OK;
    int status = SF_OK;
    if (self->has_file && !agrees(self, spikes, record->first, count))
        status = self->is_same ? set_aside(self, "its spikes are not those of the journal", error)
                               : refuse_foreign(self->told, error);
    if (status == SF_OK) status = fill_spikes(self, record->first, error);
    if (status != SF_OK || !are_spikes(self, spikes + known, count - known)) return status;
    if (record->first > self->spikes) {
        self->told->spikes_missing += record->first - self->spikes;
        self->spikes = record->first;
        status = add_hole(self, spikes[known].time_ns, error);
    }
    return status == SF_OK ? add_spikes(self, spikes + known, count - known, error) : status;
}

static int take_markers(recovery *self, const sf_journal_record *record, sf_error *error)
{
    const sf_marker *markers = record->rows;
    size_t count = record->size / sizeof *markers, known;
    if (!pass_known(self->markers, record->first, count, &known)) return SF_OK;
    int status = fill_markers(self, record->first, error);
    for (size_t i = known; i < count; i++)
        if (markers[i].time_ns <= -SF_TIME_LIMIT_NS || markers[i].time_ns >= SF_TIME_LIMIT_NS ||
            memchr(markers[i].text, '\0', sizeof markers[i].text) == NULL)
            return status;
    if (status == SF_OK && record->first > self->markers) {
        self->told->markers_missing += record->first - self->markers;
        self->markers = record->first;
    }
    return status == SF_OK ? add_markers(self, markers + known, count - known, error) : status;
}

/* Rows refer to rows by number: those that are missing become rows of zeros, as in a file that was killed.
 * What is missing lay in what is damaged, so it is no more than that. */
static int pad_rows(recovery *self, sf_recorder_table table, uint64_t to, sf_error *error)
{
    static const unsigned char zeros[4096];
    size_t row_size = sf_recorder_row_size(table), most = sizeof zeros / row_size;
    self->told->rows_missing += to - self->rows[table];
    int status = SF_OK;
    while (status == SF_OK && self->rows[table] < to) {
        uint64_t left = to - self->rows[table];
        size_t count = left < most ? (size_t)left : most;
        status = sf_recorder_file_append(self->out, table, zeros, count, error);
        self->rows[table] += count;
    }
    return status;
}

/* Rows of a form that this version does not have, as the recorder of another one wrote them. */
static int leave_out(recovery *self, const sf_journal_record *record)
{
    const sf_journal_about *about = &self->about;
    if (record->table < about->table_count && about->tables[record->table].row_size > 0)
        self->told->rows_of_others += record->size / about->tables[record->table].row_size;
    return SF_OK;
}

static int take_rows(recovery *self, const sf_journal_record *record, sf_error *error)
{
    sf_recorder_table table =
        record->table < self->table_count ? self->tables[record->table] : SF_RECORDER_TABLES;
    if (table == SF_RECORDER_TABLES) return leave_out(self, record);
    size_t row_size = sf_recorder_row_size(table), count = record->size / row_size, known;
    if (!pass_known(self->rows[table], record->first, count, &known)) return SF_OK;
    int status = SF_OK;
    if (record->first > self->rows[table]) {
        if (record->first - self->rows[table] > self->reader.damaged / row_size) return SF_OK;
        status = pad_rows(self, table, record->first, error);
    }
    if (status != SF_OK) return status;
    const char *rows = record->rows;
    self->rows[table] += count - known;
    self->told->rows += count - known;
    return sf_recorder_file_append(self->out, table, rows + known * row_size, count - known, error);
}

static int take_record(recovery *self, const sf_journal_record *record, sf_error *error)
{
    sf_journal_lost lost;
    switch (record->kind) {
    case SF_JOURNAL_SPIKES:
        return take_spikes(self, record, error);
    case SF_JOURNAL_MARKERS:
        return take_markers(self, record, error);
    case SF_JOURNAL_ROWS:
        return take_rows(self, record, error);
    case SF_JOURNAL_LOST:
        if (record->size >= sizeof lost) {
            memcpy(&lost, record->rows, sizeof lost);
            self->told->spikes_lost = lost.spikes;
            self->told->markers_lost = lost.markers;
        }
        return SF_OK;
    case SF_JOURNAL_END:
        if (record->size >= sizeof(sf_span)) {
            sf_span span;
            memcpy(&span, record->rows, sizeof span);
            self->told->ended = span.start_ns <= span.stop_ns;
            self->told->recorded = span;
        }
        return SF_OK;
    case SF_JOURNAL_BEGIN:
        break;
    }
    return SF_OK;
}

static int take_journal(recovery *self, sf_error *error)
{
    int status = SF_OK;
    sf_journal_record record;
    while (status == SF_OK && (status = sf_journal_next(&self->reader, &record, error)) == SF_OK) {
        status = take_record(self, &record, error);
        if (status == SF_OK && !sf_progress_update(self->progress, "recovering", (double)self->reader.at,
                                                   (double)self->reader.length))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped");
    }
    self->told->records = self->reader.records;
    self->told->records_lost = self->reader.records_lost;
    self->told->damaged_bytes = self->reader.damaged;
    return status == SF_END ? SF_OK : status;
}

/* ---- the end ---- */

static sf_span recorded_span(const recovery *self)
{
    const sf_recording *of = self->has_about ? &self->about.recording : &self->file;
    sf_span span = self->told->ended ? self->told->recorded : self->seen;
    if (!self->has_about && self->file.declared)
        span = of->recorded;
    else if (!self->told->ended && of->declared && self->about.part <= 1 &&
             of->recorded.start_ns < span.start_ns)
        span.start_ns = of->recorded.start_ns;
    if (self->seen.start_ns < span.start_ns) span.start_ns = self->seen.start_ns;
    if (self->seen.stop_ns > span.stop_ns) span.stop_ns = self->seen.stop_ns;
    return span;
}

/* Appends the parts of a span outside the holes, as pairs. */
static int add_observed(const recovery *self, sf_text *pairs, sf_span span)
{
    for (size_t i = 0; i <= self->hole_count; i++) {
        bool is_last = i == self->hole_count;
        sf_span part = {span.start_ns, is_last ? span.stop_ns : self->holes[i].start_ns};
        if (part.stop_ns > span.stop_ns) part.stop_ns = span.stop_ns;
        if (part.stop_ns > part.start_ns) sf_text_append(pairs, (const char *)&part, sizeof part);
        if (!is_last && self->holes[i].stop_ns > span.start_ns) span.start_ns = self->holes[i].stop_ns;
    }
    return pairs->failed ? SF_NO_MEMORY : SF_OK;
}

/* Marks time with missing spikes as not observed, so that no rate is too low. */
static int write_observed(const recovery *self, sf_span recorded, sf_error *error)
{
    const sf_recording *of = self->has_about ? &self->about.recording : &self->file;
    if (self->hole_count == 0 && of->observed_count == 0) return SF_OK;
    sf_text pairs = {0};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < of->observed_count; i++)
        status = add_observed(self, &pairs, of->observed[i]);
    if (status == SF_OK && of->observed_count == 0) status = add_observed(self, &pairs, recorded);
    if (status != SF_OK)
        status = sf_fail_memory(error);
    else if (!sf_hdf_write_table(sf_layout_file(sf_recorder_file_layout(self->out)), "observed",
                                 H5T_NATIVE_INT64, pairs.length / sizeof(sf_span), 2, pairs.data))
        status = sf_hdf_fail(error, SF_IO, self->told->out, "cannot write the observation intervals");
    sf_text_free(&pairs);
    return status;
}

/* A file that says itself that it was put together, and what it lacks. */
static int write_account(const recovery *self, sf_error *error)
{
    const sf_recovered *told = self->told;
    char account[256];
    snprintf(account, sizeof account,
             "after recording broke off; missing inside: %" PRIu64 " spikes, %" PRIu64 " markers, %" PRIu64
             " rows of results",
             told->spikes_missing, told->markers_missing, told->rows_missing);
    return sf_hdf_write_text(sf_layout_file(sf_recorder_file_layout(self->out)), "recovered", account)
               ? SF_OK
               : sf_hdf_fail(error, SF_IO, told->out, "cannot write the file");
}

static int finish_out(recovery *self, sf_error *error)
{
    const sf_span span = recorded_span(self);
    int status = write_observed(self, span, error);
    if (status == SF_OK) status = write_account(self, error);
    if (status == SF_OK) status = sf_layout_flush(sf_recorder_file_layout(self->out), true, error);
    if (status != SF_OK) return status;
    self->told->recorded = span;
    status = sf_recorder_file_close(self->out, self->has_seen || self->told->ended ? &span : NULL, error);
    self->out = NULL;
    return status;
}

static int recover(recovery *self, const char *path, const char *out, sf_error *error)
{
    int status = name_files(self->told, path, error);
    if (status == SF_OK) status = take_stock(self, error);
    if (status != SF_OK || (self->told->journal == NULL && self->file.declared))
        return status; /* a whole file, and nothing beside it */
    status = create_out(self, out, error);
    if (status == SF_OK && self->fd >= 0) status = take_journal(self, error);
    if (status == SF_OK) status = fill_spikes(self, UINT64_MAX, error);
    if (status == SF_OK) status = fill_markers(self, UINT64_MAX, error);
    return status == SF_OK ? finish_out(self, error) : status;
}

int sf_recover(sf_recovered *told, const char *path, const char *out, const sf_progress *progress,
               sf_error *error)
{
    *told = (sf_recovered){0};
    recovery self = {.told = told, .progress = progress, .fd = -1};
    int status = recover(&self, path, out, error);
    sf_recorder_file_discard(self.out);
    sf_journal_reader_close(&self.reader);
    sf_journal_about_free(&self.about);
    if (self.has_file) sf_recording_clear(&self.file);
    if (self.fd >= 0) close(self.fd);
    sf_free(self.holes);
    if (status != SF_OK) sf_recovered_free(told);
    return status;
}

void sf_recovered_free(sf_recovered *told)
{
    sf_free(told->out);
    sf_free(told->file);
    sf_free(told->journal);
    sf_free(told->file_note);
    *told = (sf_recovered){0};
}
