/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

size_t sf_file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SIZE_MAX;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return done;
}

int sf_file_read_all_at(int fd, void *to, size_t size, uint64_t offset, const char *path, sf_error *error)
{
    size_t got = sf_file_read_at(fd, to, size, offset);
    if (got == size)
        return SF_OK;
    return sf_fail(error, SF_IO, path, "cannot read: %s",
                   got == SIZE_MAX ? strerror(errno) : "it became shorter meanwhile");
}
