/* SPDX-License-Identifier: Apache-2.0 */
#include "io/journal.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/thread.h"
#include "io/crc32c.h"
#include "io/journal_head.h"
#include "io/output_file.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct sf_journal {
    const sf_disk *disk;
    sf_output_file file;
    sf_thread thread;
    sf_bell bell; /* the end is near */
    atomic_bool stopping;
    int64_t sync_ns; /* 0: never */
    uint32_t id;
    uint64_t number;
    unsigned char *block; /* one record */
    size_t capacity;
    bool broken;
    bool retired;
    int successor; /* retired journal: file that must be on the disk before it is deleted */
    _Atomic uint64_t bytes, synced, syncs;
    _Atomic int64_t worst_ns;
    atomic_int sync_reason; /* errno of the first sync that failed */
    bool told;
};

uint32_t sf_journal_id(const char *identity)
{
    return sf_crc32c(0, identity, strlen(identity));
}

/* ---- records ---- */

static int append(sf_journal *journal, sf_journal_head head, const void *rows, sf_error *error)
{
    size_t padded = sf_journal_padded(head.length), size = sizeof head + padded;
    if (sf_reserve(&journal->block, &journal->capacity, size, 1) != 0) return sf_fail_memory(error);
    head.magic = SF_JOURNAL_MAGIC;
    head.sum = sf_crc32c(0, rows, head.length);
    head.number = journal->number;
    head.id = journal->id;
    head.head_sum = sf_journal_head_sum(&head);
    memcpy(journal->block, &head, sizeof head);
    memcpy(journal->block + sizeof head, rows, head.length);
    memset(journal->block + sizeof head + head.length, 0, padded - head.length);
    int reason = journal->disk->write(journal->disk->user, journal->file.fd, journal->block, size);
    if (reason != 0) {
        journal->broken = true;
        return sf_fail(error, SF_IO, journal->file.path, "cannot write to the journal: %s", strerror(reason));
    }
    journal->number++;
    journal->file.length = (int64_t)(atomic_fetch_add(&journal->bytes, size) + size);
    return SF_OK;
}

int sf_journal_append(sf_journal *journal, sf_journal_kind kind, unsigned table, uint64_t first,
                      const void *rows, size_t size, sf_error *error)
{
    if (journal->broken || size > UINT32_MAX - 8)
        return sf_fail(error, SF_IO, journal->file.path, "the journal broke off earlier");
    sf_journal_head head = {
        .kind = (uint16_t)kind, .table = (uint16_t)table, .length = (uint32_t)size, .first = first};
    return append(journal, head, rows, error);
}

/* ---- what is recorded ---- */

static void put_number(sf_text *to, uint64_t number)
{
    sf_text_append(to, (const char *)&number, sizeof number);
}

static void put_text(sf_text *to, const char *text)
{
    uint64_t length = text != NULL ? strlen(text) : 0;
    put_number(to, text != NULL ? length + 1 : 0);
    sf_text_append(to, text != NULL ? text : "", length);
}

static void put_unit(sf_text *to, const sf_unit *unit)
{
    put_text(to, unit->name);
    put_text(to, unit->well);
    sf_text_append(to, (const char *)&unit->x_um, sizeof unit->x_um);
    sf_text_append(to, (const char *)&unit->y_um, sizeof unit->y_um);
    put_number(to, (uint64_t)unit->kind);
    put_number(to, (uint64_t)(int64_t)unit->electrode);
}

static void put_span(sf_text *to, const sf_span *span)
{
    put_number(to, (uint64_t)span->start_ns);
    put_number(to, (uint64_t)span->stop_ns);
}

/* Writes fields in the order in which sf_journal_about_read reads them. */
static void put_about(sf_text *to, const sf_journal_about *about)
{
    const sf_recording *of = &about->recording;
    put_number(to, SF_JOURNAL_VERSION);
    put_text(to, about->file);
    put_text(to, about->program);
    put_text(to, about->configuration);
    put_text(to, about->provenance);
    put_number(to, about->part);
    put_number(to, of->units.count);
    for (size_t i = 0; i < of->units.count; i++)
        put_unit(to, &of->units.items[i]);
    put_number(to, of->metadata_count);
    for (size_t i = 0; i < of->metadata_count; i++) {
        put_text(to, of->metadata[i].key);
        put_text(to, of->metadata[i].value);
    }
    put_number(to, of->declared);
    put_span(to, &of->recorded);
    put_number(to, of->observed_count);
    for (size_t i = 0; i < of->observed_count; i++)
        put_span(to, &of->observed[i]);
    put_number(to, about->table_count);
    for (size_t i = 0; i < about->table_count; i++) {
        put_text(to, about->tables[i].name);
        put_number(to, about->tables[i].row_size);
        put_number(to, about->tables[i].form);
    }
    put_text(to, about->identity);
}

static int append_about(sf_journal *journal, const sf_journal_about *about, sf_error *error)
{
    sf_text text = {0};
    put_about(&text, about);
    int status = text.failed
                     ? sf_fail_memory(error)
                     : sf_journal_append(journal, SF_JOURNAL_BEGIN, 0, 0, text.data, text.length, error);
    sf_text_free(&text);
    return status;
}

/* ---- syncing ---- */

static int sync_now(sf_journal *journal)
{
    uint64_t bytes = atomic_load(&journal->bytes);
    int64_t since = sf_clock_monotonic_ns();
    int reason = journal->disk->sync(journal->disk->user, journal->file.fd);
    int64_t took = sf_clock_monotonic_ns() - since;
    int64_t worst = atomic_load(&journal->worst_ns);
    while (took > worst && !atomic_compare_exchange_weak(&journal->worst_ns, &worst, took))
        ;
    atomic_fetch_add(&journal->syncs, 1);
    int none = 0;
    if (reason == 0)
        atomic_store(&journal->synced, bytes);
    else
        atomic_compare_exchange_strong(&journal->sync_reason, &none, reason);
    return reason;
}

static void wait_until(sf_journal *journal, int64_t due_ns)
{
    int64_t left = due_ns - sf_clock_monotonic_ns();
    if (journal->sync_ns == 0)
        sf_bell_wait(&journal->bell, -1);
    else if (left > 0)
        sf_bell_wait(&journal->bell, (int)(left / SF_MILLISECOND + 1));
}

static void *run_thread(void *argument)
{
    sf_journal *journal = argument;
    for (int64_t due_ns = sf_clock_monotonic_ns() + journal->sync_ns; !atomic_load(&journal->stopping);) {
        wait_until(journal, due_ns);
        int64_t now_ns = sf_clock_monotonic_ns();
        if (journal->sync_ns == 0 || now_ns < due_ns) continue;
        due_ns = now_ns + journal->sync_ns;
        if (atomic_load(&journal->bytes) > atomic_load(&journal->synced)) sync_now(journal);
    }
    if (!journal->retired || journal->disk->sync(journal->disk->user, journal->successor) != 0)
        sync_now(journal);
    else
        sf_output_file_close(&journal->file, false);
    if (journal->retired) close(journal->successor);
    return NULL;
}

int sf_journal_check(sf_journal *journal, sf_error *error)
{
    int reason = atomic_load(&journal->sync_reason);
    if (journal->told) return SF_OK;
    int status = journal->retired ? SF_OK : sf_output_file_check(&journal->file, error);
    journal->told = reason != 0 || status != SF_OK;
    if (reason == 0) return status;
    return sf_fail(error, SF_IO, journal->file.path, "cannot write the journal to the disk: %s",
                   strerror(reason));
}

int sf_journal_sync(sf_journal *journal, sf_error *error)
{
    int reason = sync_now(journal);
    return reason == 0 ? SF_OK
                       : sf_fail(error, SF_IO, journal->file.path, "cannot write the journal to the disk: %s",
                                 strerror(reason));
}

sf_journal_counts sf_journal_count(const sf_journal *journal)
{
    return (sf_journal_counts){.bytes = atomic_load(&journal->bytes),
                               .syncs = atomic_load(&journal->syncs),
                               .worst_sync_ns = atomic_load(&journal->worst_ns)};
}

/* ---- opening and closing ---- */

/* The first record, and the name, are on the disk before anything is recorded. */
static int begin(sf_journal *journal, const sf_journal_about *about, sf_error *error)
{
    if (about->identity != NULL)
        journal->id = sf_journal_id(about->identity);
    else if (getrandom(&journal->id, sizeof journal->id, 0) != sizeof journal->id)
        journal->id = (uint32_t)sf_clock_monotonic_ns();
    int status = append_about(journal, about, error);
    if (status == SF_OK) status = sf_journal_sync(journal, error);
    if (status == SF_OK) status = sf_output_file_commit(&journal->file, error);
    if (status != SF_OK) return status;
    int reason = journal->disk->sync_name(journal->disk->user, journal->file.path);
    return reason == 0 ? SF_OK
                       : sf_fail(error, SF_IO, journal->file.path, "cannot write its name to the disk: %s",
                                 strerror(reason));
}

static void free_journal(sf_journal *journal, bool keep)
{
    sf_bell_close(&journal->bell);
    sf_output_file_close(&journal->file, keep);
    sf_free(journal->block);
    sf_free(journal);
}

int sf_journal_create(sf_journal **out, const char *path, const sf_journal_about *about,
                      const sf_journal_options *options, sf_error *error)
{
    *out = NULL;
    sf_journal *journal = sf_alloc(1, sizeof *journal);
    if (journal == NULL) return sf_fail_memory(error);
    journal->disk = options->disk != NULL ? options->disk : &sf_disk_real;
    journal->sync_ns = sf_seconds_to_ns(options->sync_s);
    struct stat about_path;
    int status = SF_OK;
    if (lstat(path, &about_path) == 0 && !S_ISREG(about_path.st_mode)) /* it goes with the recording's end */
        status =
            sf_fail(error, SF_CANNOT_CREATE, path,
                    "is a symbolic link or no file, where a journal is to be: expected nothing of that name");
    if (status == SF_OK &&
        sf_reserve(&journal->block, &journal->capacity, SF_JOURNAL_ROOM + sizeof(sf_journal_head), 1) != 0)
        status = sf_fail_memory(error);
    sf_existing existing = options->overwrite ? SF_EXISTING_REPLACE : SF_EXISTING_NUMBER;
    if (status == SF_OK) status = sf_output_file_open(&journal->file, path, existing, error);
    if (status == SF_OK) status = begin(journal, about, error);
    if (status == SF_OK) status = sf_bell_open(&journal->bell, error);
    if (status == SF_OK)
        status = sf_thread_start(&journal->thread, "synfire-journal", run_thread, journal, error);
    if (status != SF_OK)
        free_journal(journal, false);
    else
        *out = journal;
    return status;
}

const char *sf_journal_path(const sf_journal *journal)
{
    return journal->file.path;
}

static void stop(sf_journal *journal)
{
    atomic_store(&journal->stopping, true);
    sf_bell_ring(&journal->bell);
}

void sf_journal_retire(sf_journal *journal, int file)
{
    journal->retired = true;
    journal->successor = file;
    stop(journal);
}

int sf_journal_close(sf_journal *journal, sf_error *error)
{
    if (journal == NULL) return SF_OK;
    if (!journal->retired) stop(journal);
    sf_thread_join(&journal->thread);
    int status = sf_journal_check(journal, error);
    free_journal(journal, true);
    return status;
}
