/* SPDX-License-Identifier: Apache-2.0 */
/* Journals of a recorder: every byte is of a whole record or damaged, rows lie in the file, and memory is
 * bounded by it. */
#include "core/memory.h"
#include "io/journal.h"
#include "io/journal_head.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const sf_journal_record *record, size_t size)
{
    unsigned char sum = 0;
    if (record->size > size) abort();
    for (size_t i = 0; i < record->size; i++)
        sum ^= ((const unsigned char *)record->rows)[i];
    sf_journal_about about;
    sf_error error = {0};
    if (sum == 0xff && record->kind != SF_JOURNAL_BEGIN)
        return; /* all bytes were looked at; any may pass for a first record */
    if (sf_journal_about_read(&about, record, "fuzz", &error) == SF_OK)
        sf_journal_about_free(&about);
    else if (error.text[0] == '\0')
        abort();
}

/* Right sums, which no fuzzer finds, but where a head asks for none. */
static void mend(unsigned char *bytes, size_t size)
{
    sf_journal_head head;
    for (size_t at = size & ~(size_t)7; at > 0;) {
        at -= 8;
        if (size - at < sizeof head) continue;
        memcpy(&head, bytes + at, sizeof head);
        if (head.magic != SF_JOURNAL_MAGIC || (head.table & 0x8000) != 0) continue;
        if (head.length <= size - at - sizeof head)
            head.sum = sf_crc32c(0, bytes + at + sizeof head, head.length);
        head.head_sum = sf_journal_head_sum(&head);
        memcpy(bytes + at, &head, sizeof head);
    }
}

static void read_all(const void *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size)) abort();
    sf_journal_reader reader;
    sf_journal_record record;
    sf_error error;
    if (sf_journal_reader_open(&reader, fd, "fuzz", &error) != SF_OK) abort();
    int status;
    uint64_t held = 0;
    while ((status = sf_journal_next(&reader, &record, &error)) == SF_OK) {
        held += 40 + ((record.size + 7) & ~(size_t)7);
        look_at(&record, size);
    }
    if (status != SF_END || reader.capacity > 2 * size + 64 || held + reader.damaged != size) abort();
    sf_journal_reader_close(&reader);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_all(data, size);
    uint64_t *bytes = malloc(size + 8);
    memcpy(bytes, data, size);
    look_at(&(sf_journal_record){.kind = SF_JOURNAL_BEGIN, .rows = bytes, .size = size}, size);
    mend((unsigned char *)bytes, size);
    read_all(bytes, size);
    free(bytes);
    if (sf_memory_live() != 0) abort();
    return 0;
}
