/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/journal.h"
#include "io/journal_head.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCAN 65536 /* bytes read at once when searching for the next record */
#define SECTOR 4096

/* ---- records ---- */

int sf_journal_reader_open(sf_journal_reader *reader, int fd, const char *path, sf_error *error)
{
    struct stat about;
    *reader = (sf_journal_reader){.fd = fd};
    if (fstat(fd, &about) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot be reached: %s", strerror(errno));
    reader->length = (uint64_t)about.st_size;
    return SF_OK;
}

void sf_journal_reader_close(sf_journal_reader *reader)
{
    sf_free(reader->block);
    reader->block = NULL;
}

/* False if the disk cannot read it, or the file ends earlier. */
static bool read_at(const sf_journal_reader *reader, uint64_t at, void *to, size_t size)
{
    return sf_file_read_at(reader->fd, to, size, at) == size;
}

static bool is_head(const sf_journal_reader *reader, const sf_journal_head *head)
{
    return head->magic == SF_JOURNAL_MAGIC && head->head_sum == sf_journal_head_sum(head) &&
           (reader->records == 0 || head->id == reader->id) && head->number >= reader->next;
}

/* Offset of the next head at or after `at`, in steps of 8; the length of the file if there is none. */
static uint64_t find_head(const sf_journal_reader *reader, uint64_t at)
{
    union {
        unsigned char bytes[SCAN];
        uint64_t aligned;
    } part;
    size_t most = sizeof(sf_journal_head); /* first reads one head, which suffices if nothing is damaged */
    for (; at + sizeof(sf_journal_head) <= reader->length; most = SCAN) {
        size_t left = reader->length - at < most ? (size_t)(reader->length - at) : most;
        if (!read_at(reader, at, part.bytes, left)) {
            left = left < SECTOR ? left : SECTOR;
            if (!read_at(reader, at, part.bytes, left)) { /* a bad sector */
                at += SECTOR;
                continue;
            }
        }
        size_t i = 0;
        for (; i + sizeof(sf_journal_head) <= left; i += 8)
            if (is_head(reader, (const sf_journal_head *)(const void *)(part.bytes + i))) return at + i;
        at += i;
    }
    return reader->length;
}

/* Reads the data of a record, and checks that they are complete and sound. */
static int read_rows(sf_journal_reader *reader, const sf_journal_head *head, bool *is_whole, sf_error *error)
{
    uint64_t at = reader->at + sizeof *head;
    size_t padded = sf_journal_padded(head->length);
    *is_whole = false;
    if (padded > reader->length - at) return SF_OK;
    if (sf_reserve(&reader->block, &reader->capacity, padded + 1, 1) != 0) return sf_fail_memory(error);
    *is_whole =
        read_at(reader, at, reader->block, padded) && sf_crc32c(0, reader->block, head->length) == head->sum;
    return SF_OK;
}

static void pass_over(sf_journal_reader *reader, uint64_t bytes)
{
    uint64_t left = reader->length - reader->at;
    bytes = bytes < left ? bytes : left;
    reader->damaged += bytes;
    reader->at += bytes;
}

int sf_journal_next(sf_journal_reader *reader, sf_journal_record *record, sf_error *error)
{
    for (;;) {
        uint64_t found = find_head(reader, reader->at);
        pass_over(reader, found - reader->at);
        sf_journal_head head;
        bool is_whole;
        if (reader->at >= reader->length || !read_at(reader, reader->at, &head, sizeof head)) return SF_END;
        int status = read_rows(reader, &head, &is_whole, error);
        if (status != SF_OK) return status;
        uint64_t size = sizeof head + sf_journal_padded(head.length);
        if (!is_whole) { /* trust its length and skip it, so that each byte is scanned once */
            pass_over(reader, size);
            continue;
        }
        reader->at += size;
        reader->records++;
        reader->records_lost += head.number - reader->next;
        reader->next = head.number + 1;
        reader->id = head.id;
        *record = (sf_journal_record){(sf_journal_kind)head.kind, head.table, head.first, reader->block,
                                      head.length};
        return SF_OK;
    }
}

/* ---- what is recorded ---- */

typedef struct fields {
    const unsigned char *at;
    size_t left;
    bool damaged;
} fields;

static void take_bytes(fields *from, void *to, size_t size)
{
    from->damaged = from->damaged || size > from->left;
    if (from->damaged) {
        memset(to, 0, size);
        return;
    }
    memcpy(to, from->at, size);
    from->at += size;
    from->left -= size;
}

static uint64_t take_number(fields *from)
{
    uint64_t number;
    take_bytes(from, &number, sizeof number);
    return number;
}

/* Number of items that follow, each of at least `least` bytes. */
static size_t take_count(fields *from, size_t least)
{
    uint64_t count = take_number(from);
    from->damaged = from->damaged || count > from->left / least;
    return from->damaged ? 0 : (size_t)count;
}

/* NULL if there is none or memory is out, which also sets *status. */
static char *take_text(fields *from, int *status)
{
    uint64_t length = take_number(from);
    if (length == 0 || from->damaged) return NULL;
    from->damaged = --length > from->left;
    if (from->damaged) return NULL;
    char *text = sf_resize(NULL, (size_t)length + 1, 1);
    if (text == NULL) {
        *status = SF_NO_MEMORY;
        return NULL;
    }
    take_bytes(from, text, (size_t)length);
    text[length] = '\0';
    return text;
}

static int take_unit(fields *from, sf_units *units)
{
    int status = SF_OK;
    char *name = take_text(from, &status), *well = take_text(from, &status);
    sf_unit unit = {.name = name, .well = well};
    take_bytes(from, &unit.x_um, sizeof unit.x_um);
    take_bytes(from, &unit.y_um, sizeof unit.y_um);
    uint64_t kind = take_number(from);
    unit.kind = kind <= SF_UNIT_NOISE ? (sf_unit_kind)kind : SF_UNIT_UNKNOWN;
    unit.electrode = (int32_t)take_number(from);
    from->damaged = from->damaged || (name == NULL && status == SF_OK);
    if (status == SF_OK && !from->damaged) status = sf_units_add(units, &unit, NULL);
    sf_free(name);
    sf_free(well);
    return status;
}

static int take_metadata(fields *from, sf_recording *recording)
{
    int status = SF_OK;
    char *key = take_text(from, &status), *value = take_text(from, &status);
    from->damaged = from->damaged || (status == SF_OK && (key == NULL || value == NULL));
    if (status == SF_OK && !from->damaged) status = sf_recording_set_metadata(recording, key, value, NULL);
    sf_free(key);
    sf_free(value);
    return status;
}

static sf_span take_span(fields *from)
{
    sf_span span = {.start_ns = (int64_t)take_number(from)};
    span.stop_ns = (int64_t)take_number(from);
    from->damaged = from->damaged || span.stop_ns < span.start_ns;
    return span;
}

static int take_recording(fields *from, sf_recording *recording)
{
    int status = SF_OK;
    for (size_t left = take_count(from, 48); status == SF_OK && left > 0; left--)
        status = take_unit(from, &recording->units);
    for (size_t left = take_count(from, 16); status == SF_OK && left > 0; left--)
        status = take_metadata(from, recording);
    recording->declared = take_number(from) != 0;
    recording->recorded = take_span(from);
    size_t count = take_count(from, sizeof(sf_span));
    recording->observed = status == SF_OK ? sf_alloc(count, sizeof *recording->observed) : NULL;
    if (recording->observed == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        recording->observed[i] = take_span(from);
        from->damaged =
            from->damaged || (i > 0 && recording->observed[i].start_ns < recording->observed[i - 1].stop_ns);
    }
    recording->observed_count = count;
    return sf_units_finish(&recording->units, NULL);
}

static int take_tables(fields *from, sf_journal_about *about)
{
    int status = SF_OK;
    size_t count = take_count(from, 24);
    about->tables = sf_alloc(count, sizeof *about->tables);
    if (about->tables == NULL) return SF_NO_MEMORY;
    for (; status == SF_OK && about->table_count < count; about->table_count++) {
        sf_journal_table *table = &about->tables[about->table_count];
        table->name = take_text(from, &status);
        table->row_size = take_number(from);
        table->form = take_number(from);
        from->damaged = from->damaged || (status == SF_OK && table->name == NULL);
    }
    return status;
}

static int take_about(fields *from, sf_journal_about *about)
{
    int status = SF_OK;
    about->file = take_text(from, &status);
    about->program = take_text(from, &status);
    about->configuration = take_text(from, &status);
    about->provenance = take_text(from, &status);
    about->part = take_number(from);
    from->damaged = from->damaged || (status == SF_OK && about->file == NULL);
    if (status == SF_OK) status = take_recording(from, &about->recording);
    if (status == SF_OK) status = take_tables(from, about);
    if (status == SF_OK && from->left > 0) /* older programs end before it */
        about->identity = take_text(from, &status);
    return status;
}

int sf_journal_about_read(sf_journal_about *about, const sf_journal_record *record, const char *path,
                          sf_error *error)
{
    *about = (sf_journal_about){0};
    fields from = {record->rows, record->size, false};
    uint64_t version = take_number(&from);
    if (!from.damaged && version > SF_JOURNAL_VERSION)
        return sf_fail(error, SF_DATA, path,
                       "written by a later synfire: its journal is version %" PRIu64
                       ", this program reads up to %d",
                       version, SF_JOURNAL_VERSION);
    int status = take_about(&from, about);
    if (status == SF_NO_MEMORY)
        sf_fail_memory(error);
    else if (status != SF_OK || from.damaged)
        status = sf_fail(error, SF_DATA, path, "damaged: its first record makes no sense");
    if (status != SF_OK) sf_journal_about_free(about);
    return status;
}

void sf_journal_about_free(sf_journal_about *about)
{
    sf_free((char *)about->file);
    sf_free((char *)about->program);
    sf_free((char *)about->identity);
    sf_free((char *)about->configuration);
    sf_free((char *)about->provenance);
    for (size_t i = 0; i < about->table_count; i++)
        sf_free((char *)about->tables[i].name);
    sf_free(about->tables);
    sf_recording_clear(&about->recording);
    *about = (sf_journal_about){0};
}
