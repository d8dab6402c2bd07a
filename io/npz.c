/* SPDX-License-Identifier: Apache-2.0 */
#include "io/npz.h"

#include "core/error.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t number_at(const unsigned char *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

#define LONGEST_END (22 + 65535)
#define MOST_DIRECTORY (1 << 20)

/* The archive's list of members, which its end points to. */
static int read_directory(unsigned char **directory, size_t *size, int file, const char *path,
                          sf_error *error)
{
    struct stat about;
    *directory = NULL;
    if (fstat(file, &about) != 0)
        return sf_fail(error, SF_IO, path, "cannot read: %s", strerror(errno));
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
    if (status == SF_OK && (*directory = sf_resize(NULL, *size, 1)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK && pread(file, *directory, *size, (off_t)start) != (ssize_t)*size)
        status = sf_fail(error, SF_IO, path, "cannot read the end of it");
    return status;
}

/* As the archive's list has it. */
typedef struct member {
    bool found, stored; /* stored: not compressed */
    uint64_t header, length;
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
            it->stored = number_at(entry + 10, 2) == 0;
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
    if (file < 0)
        return false;
    look_up(&it, file, path, name, NULL);
    close(file);
    return it.found;
}

/* Where the array itself begins: behind a header of its own. */
static int find_array(uint64_t *offset, const member *it, int file, const char *path, const char *name,
                      sf_error *error)
{
    unsigned char head[30];
    if (!it->found)
        return sf_fail(error, SF_DATA, path, "damaged: it holds no array %s", name);
    if (!it->stored || it->length == UINT32_MAX || it->length == 0)
        return sf_fail(
            error, SF_DATA, path,
            "holds %s compressed, or more than 4 GiB; expected what numpy.savez writes: in Python, "
            "numpy.savez('new.npz', **numpy.load('old.npz')) does",
            name);
    if (pread(file, head, sizeof head, (off_t)it->header) != sizeof head || memcmp(head, "PK\3\4", 4) != 0)
        return sf_fail(error, SF_DATA, path, "damaged: %s is not where the archive says", name);
    *offset = it->header + sizeof head + number_at(head + 26, 2) + number_at(head + 28, 2);
    return SF_OK;
}

int sf_npz_open(sf_npy *npy, const char *path, const char *name, sf_error *error)
{
    member it;
    uint64_t offset = 0;
    npy->file = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    int status = look_up(&it, file, path, name, error);
    if (status == SF_OK)
        status = find_array(&offset, &it, file, path, name, error);
    close(file);
    return status == SF_OK ? sf_npy_open(npy, path, offset, it.length, error) : status;
}
