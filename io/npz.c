/* SPDX-License-Identifier: Apache-2.0 */
#include "io/npz.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/compression.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static uint64_t number_at(const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

#define LONGEST_END (22 + 65535)
#define MOST_DIRECTORY (1 << 20)

/* Reads the archive's directory, to which its end record points. */
static int read_directory(unsigned char **directory, size_t *size, int file, const char *path,
                          sf_error *error)
{
    struct stat about;
    *directory = NULL;
    if (fstat(file, &about) != 0) return sf_fail(error, SF_IO, path, "cannot read: %s", strerror(errno));
    size_t length = about.st_size < LONGEST_END ? (size_t)about.st_size : LONGEST_END, at = 0;
    unsigned char *tail = sf_resize(NULL, length, 1);
    int status = tail != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && pread(file, tail, length, about.st_size - (off_t)length) == (ssize_t)length)
        for (at = length >= 22 ? length - 21 : 0; at > 0 && memcmp(tail + at - 1, "PK\5\6", 4) != 0;)
            at--;
    uint64_t start = 0;
    *size = 0;
    if (at > 0) {
        *size = (size_t)number_at(tail + at - 1 + 12, 4);
        start = number_at(tail + at - 1 + 16, 4);
    }
    sf_free(tail);
    if (status == SF_OK && (at == 0 || *size > MOST_DIRECTORY || start + *size > (uint64_t)about.st_size))
        status = sf_fail(error, SF_DATA, path, "damaged: this is no whole archive of arrays (.npz)");
    if (status == SF_OK && (*directory = sf_resize(NULL, *size, 1)) == NULL) status = sf_fail_memory(error);
    if (status == SF_OK && pread(file, *directory, *size, (off_t)start) != (ssize_t)*size)
        status = sf_fail(error, SF_IO, path, "cannot read the end of it");
    return status;
}

enum { STORED = 0, DEFLATED = 8, IS_ENCRYPTED = 1 };

/* As the archive's list has it. */
typedef struct member {
    bool found;
    unsigned method, flags;
    uint32_t checksum;
    uint64_t header;         /* where its own header begins */
    uint64_t packed, length; /* bytes in the archive; of the array */
} member;

static int look_up(member *it, int file, const char *path, const char *name, sf_error *error)
{
    unsigned char *directory;
    size_t size = 0, at = 0;
    *it = (member){0};
    int status = read_directory(&directory, &size, file, path, error);
    while (status == SF_OK && !it->found && at + 46 <= size && memcmp(directory + at, "PK\1\2", 4) == 0) {
        const unsigned char *entry = directory + at;
        size_t name_length = number_at(entry + 28, 2);
        at += 46 + name_length + number_at(entry + 30, 2) + number_at(entry + 32, 2);
        it->found = at <= size && strlen(name) == name_length && memcmp(entry + 46, name, name_length) == 0;
        if (it->found) {
            it->flags = (unsigned)number_at(entry + 8, 2);
            it->method = (unsigned)number_at(entry + 10, 2);
            it->checksum = (uint32_t)number_at(entry + 16, 4);
            it->packed = number_at(entry + 20, 4);
            it->length = number_at(entry + 24, 4);
            it->header = number_at(entry + 42, 4);
        }
    }
    sf_free(directory);
    return status;
}

bool sf_npz_has(const char *path, const char *name)
{
    struct stat about;
    member it = {0};
    int file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return false;
    look_up(&it, file, path, name, NULL);
    close(file);
    return it.found;
}

/* Offset of an array's bytes, after its local header. */
static int find_array(uint64_t *offset, const member *it, int file, const char *path, const char *name,
                      sf_error *error)
{
    unsigned char head[30];
    if (!it->found) return sf_fail(error, SF_DATA, path, "damaged: it holds no array %s", name);
    if ((it->method != STORED && it->method != DEFLATED) || (it->flags & IS_ENCRYPTED) != 0 ||
        it->length == UINT32_MAX || it->packed == UINT32_MAX || it->length == 0)
        return sf_fail(error, SF_DATA, path,
                       "holds %s encrypted, packed by method %u or of more than 4 GiB; expected what "
                       "numpy.savez or numpy.savez_compressed writes: in Python, "
                       "numpy.savez('new.npz', **numpy.load('old.npz')) does",
                       name, it->method);
    if (pread(file, head, sizeof head, (off_t)it->header) != sizeof head || memcmp(head, "PK\3\4", 4) != 0)
        return sf_fail(error, SF_DATA, path, "damaged: %s is not where the archive says", name);
    *offset = it->header + sizeof head + number_at(head + 26, 2) + number_at(head + 28, 2);
    return SF_OK;
}

/* ---- members that are compressed ---- */

/* Inflates an array while it is read; restarts if earlier bytes are requested. */
typedef struct inflater {
    sf_npy_source base;
    const char *path, *name; /* the caller's */
    int file;
    uint64_t offset; /* of the packed bytes in the file */
    member it;
    z_stream stream;
    uint64_t taken, given; /* packed bytes read; bytes of the array inflated */
    uLong checksum;        /* of those */
    unsigned char input[16384];
} inflater;

static void *take_memory(void *context, uInt items, uInt size)
{
    (void)context;
    return sf_resize(NULL, items, size);
}

static void give_memory(void *context, void *memory)
{
    (void)context;
    sf_free(memory);
}

static int begin_anew(inflater *in)
{
    in->stream.avail_in = 0;
    in->taken = in->given = 0;
    in->checksum = crc32(0, NULL, 0);
    return inflateReset(&in->stream) == Z_OK ? SF_OK : SF_DATA;
}

static int fill_input(inflater *in, sf_error *error)
{
    uint64_t left = in->it.packed - in->taken;
    size_t size = left < sizeof in->input ? (size_t)left : sizeof in->input;
    int status = sf_file_read_all_at(in->file, in->input, size, in->offset + in->taken, in->path, error);
    if (status != SF_OK) return status;
    in->taken += size;
    in->stream.next_in = in->input;
    in->stream.avail_in = (uInt)size;
    return SF_OK;
}

static int refuse_packed(const inflater *in, sf_error *error)
{
    return sf_fail(error, SF_DATA, in->path, "damaged: %s cannot be unpacked (%s after %" PRIu64 " bytes)",
                   in->name, in->stream.msg != NULL ? in->stream.msg : "it ends", in->given);
}

/* Inflates up to `size` bytes, or to the end of the stream; *got is the number. */
static int inflate_some(inflater *in, unsigned char *to, size_t size, size_t *got, bool *ended,
                        sf_error *error)
{
    in->stream.next_out = to;
    in->stream.avail_out = (uInt)size;
    *ended = false;
    while (in->stream.avail_out > 0 && !*ended) {
        int status = in->stream.avail_in == 0 && in->taken < in->it.packed ? fill_input(in, error) : SF_OK;
        if (status != SF_OK) return status;
        int step = inflate(&in->stream, Z_NO_FLUSH);
        if (step == Z_MEM_ERROR) return sf_fail_memory(error);
        if (step != Z_OK && step != Z_STREAM_END) return refuse_packed(in, error);
        *ended = step == Z_STREAM_END;
    }
    *got = size - in->stream.avail_out;
    return SF_OK;
}

/* The stream must end where the archive's directory says that the array ends. */
static int check_end(inflater *in, sf_error *error)
{
    unsigned char more;
    size_t got = 0;
    bool ended = false;
    int status = inflate_some(in, &more, 1, &got, &ended, error);
    if (status == SF_OK && got > 0)
        return sf_fail(error, SF_DATA, in->path,
                       "damaged: %s unpacks to more than the %" PRIu64 " bytes that the archive says",
                       in->name, in->it.length);
    if (status == SF_OK && (uint32_t)in->checksum != in->it.checksum)
        return sf_fail(error, SF_DATA, in->path, "damaged: %s is not what its checksum says", in->name);
    return status;
}

static int inflate_next(inflater *in, unsigned char *to, size_t size, sf_error *error)
{
    size_t got = 0;
    bool ended = false;
    int status = inflate_some(in, to, size, &got, &ended, error);
    if (status != SF_OK) return status;
    in->checksum = crc32(in->checksum, to, (uInt)got);
    in->given += got;
    if (got < size)
        return sf_fail(error, SF_DATA, in->path,
                       "damaged: %s unpacks to %" PRIu64 " bytes, and the archive says %" PRIu64, in->name,
                       in->given, in->it.length);
    return in->given == in->it.length ? check_end(in, error) : SF_OK;
}

static int read_inflated(sf_npy_source *source, void *to, size_t size, uint64_t offset, sf_error *error)
{
    inflater *in = (inflater *)(void *)source;
    unsigned char passed[16384];
    int status = offset < in->given ? begin_anew(in) : SF_OK;
    while (status == SF_OK && in->given < offset) {
        uint64_t before = offset - in->given;
        status = inflate_next(in, passed, before < sizeof passed ? (size_t)before : sizeof passed, error);
    }
    return status == SF_OK && size > 0 ? inflate_next(in, to, size, error) : status;
}

static void close_inflater(sf_npy_source *source)
{
    inflater *in = (inflater *)(void *)source;
    inflateEnd(&in->stream);
    close(in->file);
    sf_free(in);
}

/* Refuses a small archive that claims a large amount of memory. */
static int check_size(const member *it, uint64_t offset, int file, const char *path, const char *name,
                      sf_error *error)
{
    struct stat about;
    if (fstat(file, &about) != 0) return sf_fail(error, SF_IO, path, "cannot read: %s", strerror(errno));
    uint64_t size = (uint64_t)about.st_size;
    if (offset > size || it->packed > size - offset)
        return sf_fail(error, SF_DATA, path,
                       "damaged: %s has %" PRIu64 " bytes from byte %" PRIu64
                       " and the file ends at byte %" PRIu64,
                       name, it->packed, offset, size);
    if (it->length > it->packed * SF_COMPRESSION_MOST ||
        (it->length > SF_COMPRESSION_ALWAYS_TAKEN && it->length / SF_COMPRESSION_MOST_OF_FILE > size))
        return sf_fail(error, SF_DATA, path,
                       "damaged: %s would unpack from %" PRIu64 " bytes to %" PRIu64
                       ", as no array of a recording does",
                       name, it->packed, it->length);
    return SF_OK;
}

/* Takes the file. */
static int open_inflater(sf_npy *npy, const member *it, uint64_t offset, int file, const char *path,
                         const char *name, sf_error *error)
{
    int status = check_size(it, offset, file, path, name, error);
    inflater *in = status == SF_OK ? sf_alloc(1, sizeof *in) : NULL;
    if (in == NULL) {
        close(file);
        return status == SF_OK ? sf_fail_memory(error) : status;
    }
    *in = (inflater){.base = {.read = read_inflated, .close = close_inflater},
                     .path = path,
                     .name = name,
                     .file = file,
                     .offset = offset,
                     .it = *it,
                     .stream = {.zalloc = take_memory, .zfree = give_memory},
                     .checksum = crc32(0, NULL, 0)};
    if (inflateInit2(&in->stream, -MAX_WBITS) != Z_OK) { /* deflate itself, without zlib's header */
        close(file);
        sf_free(in);
        return sf_fail_memory(error);
    }
    return sf_npy_open_source(npy, path, &in->base, it->length, error);
}

/* ---- an array ---- */

int sf_npz_open(sf_npy *npy, const char *path, const char *name, sf_error *error)
{
    member it;
    uint64_t offset = 0;
    *npy = (sf_npy){.path = path, .file = -1};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    int status = look_up(&it, file, path, name, error);
    if (status == SF_OK) status = find_array(&offset, &it, file, path, name, error);
    if (status == SF_OK && it.method == DEFLATED)
        return open_inflater(npy, &it, offset, file, path, name, error);
    close(file);
    return status == SF_OK ? sf_npy_open(npy, path, offset, it.length, error) : status;
}
