/* SPDX-License-Identifier: Apache-2.0 */
#include "io/parcel.h"

#include "core/error.h"
#include "io/apart_process.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Version of the field layout; increase it when the content of any kind of parcel changes. */
#define FORM "synfire parcel 1 " SYNFIRE_VERSION

enum { ALIGNMENT = 16 };

/* The first bytes of a parcel, written last: without it there is none. */
typedef struct parcel_head {
    char form[48];
    uint64_t length; /* of the fields */
    sf_error error;  /* code SF_OK: the fields count */
} parcel_head;

typedef struct field_head {
    uint64_t count, size;
} field_head;

#define FIELDS_AT ((sizeof(parcel_head) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* ---- writing ---- */

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
    const char *rest = bytes;
    while (size > 0) {
        ssize_t written = pwrite(fd, rest, size, (off_t)at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        rest += written;
        at += (uint64_t)written;
        size -= (size_t)written;
    }
    return true;
}

static void flush(sf_parcel_writer *writer)
{
    if (!writer->failed)
        writer->failed =
            !write_at(writer->fd, writer->block, writer->held, FIELDS_AT + writer->length - writer->held);
    writer->held = 0;
}

static void put_bytes(sf_parcel_writer *writer, const void *bytes, size_t size)
{
    if (size > SF_PARCEL_BLOCK - writer->held) flush(writer);
    if (size > SF_PARCEL_BLOCK) {
        writer->failed = writer->failed || !write_at(writer->fd, bytes, size, FIELDS_AT + writer->length);
    } else if (size > 0) {
        memcpy(writer->block + writer->held, bytes, size);
        writer->held += size;
    }
    writer->length += size;
}

static void put_padding(sf_parcel_writer *writer)
{
    static const char padding[ALIGNMENT] = "";
    put_bytes(writer, padding, (ALIGNMENT - writer->length % ALIGNMENT) % ALIGNMENT);
}

void sf_parcel_put(sf_parcel_writer *writer, const void *values, size_t count, size_t size)
{
    field_head head = {count, size};
    put_bytes(writer, &head, sizeof head);
    put_bytes(writer, values, count * size);
    put_padding(writer);
}

uint64_t sf_parcel_put_empty(sf_parcel_writer *writer, size_t count, size_t size)
{
    field_head head = {count, size};
    put_bytes(writer, &head, sizeof head);
    flush(writer);
    uint64_t at = FIELDS_AT + writer->length;
    writer->length += count * size;
    put_padding(writer);
    return at;
}

bool sf_parcel_fill(const sf_parcel_writer *writer, uint64_t at, const void *values, size_t bytes)
{
    return write_at(writer->fd, values, bytes, at);
}

void sf_parcel_put_number(sf_parcel_writer *writer, uint64_t number)
{
    sf_parcel_put(writer, &number, 1, sizeof number);
}

void sf_parcel_put_text(sf_parcel_writer *writer, const char *text)
{
    sf_parcel_put(writer, text, text != NULL ? strlen(text) + 1 : 0, 1);
}

bool sf_parcel_finish(sf_parcel_writer *writer, int status, const sf_error *error)
{
    parcel_head head = {.form = FORM, .error = {.code = status}};
    flush(writer);
    if (status != SF_OK) {
        head.error = *error;
        head.error.code = status;
    } else if (writer->failed) {
        return false;
    }
    head.length = status == SF_OK ? writer->length : 0;
    return write_at(writer->fd, &head, sizeof head, 0);
}

/* ---- reading ---- */

int sf_parcel_refuse(const char *path, sf_error *error)
{
    return sf_fail(error, SF_DATA, path, "damaged: what was read of it makes no sense");
}

/* The writer's error message is untrusted text. */
static int pass_error(const parcel_head *head, const char *path, sf_error *error)
{
    const sf_error *said = &head->error;
    bool known = said->code >= SF_CONFIG && said->code < SF_OK && said->text[0] != '\0' &&
                 memchr(said->place, '\0', sizeof said->place) != NULL &&
                 memchr(said->text, '\0', sizeof said->text) != NULL;
    return known ? sf_fail(error, said->code, said->place, "%s", said->text) : sf_parcel_refuse(path, error);
}

static int check_head(const parcel_head *head, uint64_t size, const char *path, sf_error *error)
{
    static const parcel_head ours = {.form = FORM};
    if (memcmp(head->form, "synfire parcel ", strlen("synfire parcel ")) != 0)
        return sf_parcel_refuse(path, error);
    if (memcmp(head->form, ours.form, sizeof ours.form) != 0)
        return sf_fail(
            error, SF_UNAVAILABLE, path,
            "the program that reads files is of another version of synfire: install both together");
    if (head->error.code != SF_OK) return pass_error(head, path, error);
    return head->length == size - FIELDS_AT ? SF_OK : sf_parcel_refuse(path, error);
}

int sf_parcel_map(sf_parcel *parcel, int fd, const char *path, sf_error *error)
{
    *parcel = (sf_parcel){0};
    if (!sf_apart_is_sealed(fd)) return sf_parcel_refuse(path, error);
    struct stat about;
    if (fstat(fd, &about) != 0 || about.st_size < (off_t)sizeof(parcel_head))
        return sf_parcel_refuse(path, error);
    size_t size = (size_t)about.st_size;
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED) return sf_fail_memory(error);
    parcel_head head;
    memcpy(&head, mapping, sizeof head);
    int status = check_head(&head, size > FIELDS_AT ? size : FIELDS_AT, path, error);
    if (status != SF_OK) {
        munmap(mapping, size);
        return status;
    }
    const char *fields = (const char *)mapping + FIELDS_AT;
    *parcel = (sf_parcel){.at = fields, .end = fields + head.length, .mapping = mapping, .mapped = size};
    return SF_OK;
}

void sf_parcel_close(sf_parcel *parcel)
{
    if (parcel->mapping != NULL) munmap(parcel->mapping, parcel->mapped);
    *parcel = (sf_parcel){0};
}

void *sf_parcel_take(sf_parcel *parcel, size_t size, size_t *count)
{
    *count = 0;
    field_head head;
    size_t left = parcel->damaged ? 0 : (size_t)(parcel->end - parcel->at);
    if (left >= sizeof head) {
        memcpy(&head, parcel->at, sizeof head);
        left -= sizeof head;
        parcel->damaged = head.size != size || head.count > left / size;
    } else {
        parcel->damaged = true;
    }
    if (parcel->damaged) return NULL;
    const char *values = parcel->at + sizeof head;
    size_t bytes = head.count * size, padding = (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
    parcel->at = values + (padding <= left - bytes ? bytes + padding : left);
    *count = head.count;
    return head.count > 0 ? (void *)(uintptr_t)values : NULL;
}

void *sf_parcel_take_exactly(sf_parcel *parcel, size_t size, size_t count)
{
    size_t found;
    void *values = sf_parcel_take(parcel, size, &found);
    parcel->damaged = parcel->damaged || found != count;
    return parcel->damaged ? NULL : values;
}

uint64_t sf_parcel_take_number(sf_parcel *parcel)
{
    uint64_t number = 0;
    const void *value = sf_parcel_take_exactly(parcel, sizeof number, 1);
    if (value != NULL) memcpy(&number, value, sizeof number);
    return number;
}

const char *sf_parcel_take_text(sf_parcel *parcel)
{
    size_t count;
    const char *text = sf_parcel_take(parcel, 1, &count);
    if (text != NULL && memchr(text, '\0', count) != text + count - 1) {
        parcel->damaged = true;
        text = NULL;
    }
    return text;
}
