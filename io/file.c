/* SPDX-License-Identifier: Apache-2.0 */
#include "io/file.h"

#include "core/error.h"
#include "core/ranks.h"
#include "io/output_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_AT_ONCE (1u << 30) /* which every system takes */

size_t sf_file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return SIZE_MAX;
        if (got == 0) break;
        done += (size_t)got;
    }
    return done;
}

int sf_file_read_all_at(int fd, void *to, size_t size, uint64_t offset, const char *path, sf_error *error)
{
    size_t got = sf_file_read_at(fd, to, size, offset);
    if (got == size) return SF_OK;
    return sf_fail(error, SF_IO, path, "cannot read: %s",
                   got == SIZE_MAX ? strerror(errno) : "it became shorter meanwhile");
}

void sf_file_append_to(sf_text *text, int fd)
{
    char part[65536];
    ssize_t size;
    for (off_t from = 0; (size = pread(fd, part, sizeof part, from)) > 0; from += size)
        sf_text_append(text, part, (size_t)size);
    text->failed = text->failed || size < 0;
}

int sf_file_write_all(int fd, const void *data, size_t length)
{
    const char *bytes = data;
    for (size_t done = 0; done < length;) {
        unsigned part = length - done < MOST_AT_ONCE ? (unsigned)(length - done) : MOST_AT_ONCE;
        ssize_t count = write(fd, bytes + done, part);
        if (count < 0 && errno != EINTR) return errno;
        done += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

int sf_file_write(const sf_text *text, const char *path, sf_error *error)
{
    if (text->failed) return sf_fail_memory(error);
    int status = sf_ranks_agree(SF_OK, error);
    if (status != SF_OK || sf_ranks_rank() > 0) return status;
    sf_output_file file;
    status = sf_output_file_open(&file, path, SF_EXISTING_REPLACE, error);
    if (status != SF_OK) return status;
    int reason = sf_file_write_all(file.fd, text->data, text->length);
    if (reason != 0)
        status = sf_fail(error, SF_IO, path, "cannot write: %s", strerror(reason));
    else
        status = sf_output_file_commit(&file, error);
    sf_output_file_close(&file, status == SF_OK); /* half a file is worse than none */
    return status;
}

int sf_file_check_secret(const char *path, const char *what, sf_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0 || (about.st_mode & (S_IRWXG | S_IRWXO)) == 0) return SF_OK;
    return sf_fail(error, SF_CONFIG, path, "others may read it, and %s in it is a secret: chmod 600", what);
}
