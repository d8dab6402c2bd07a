/* SPDX-License-Identifier: Apache-2.0 */
#include "core/file.h"

#include "core/error.h"
#include "core/output_file.h"
#include "core/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device has no end: /dev/zero would be read until memory is used up. */
static bool is_device(FILE *file)
{
    struct stat about;
    return fstat(fileno(file), &about) == 0 && (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode));
}

static void drop_mark(sf_text *text)
{
    size_t mark = sf_utf8_mark(text->data, text->length);
    text->length -= mark;
    memmove(text->data, text->data + mark, text->length + 1);
}

int sf_file_read(sf_text *text, const char *path, sf_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    if (is_device(file)) {
        fclose(file);
        return sf_fail(error, SF_NO_INPUT, path, "is a device, expected a file");
    }
    sf_text_append(text, "", 0);
    char chunk[1 << 16];
    errno = 0;
    for (size_t size; !text->failed && (size = fread(chunk, 1, sizeof chunk, file)) > 0;)
        sf_text_append(text, chunk, size);
    int reason = errno, failed = ferror(file);
    fclose(file);
    int status = SF_OK;
    if (text->failed)
        status = sf_fail_memory(error);
    else if (failed && reason == EISDIR)
        status = sf_fail(error, SF_NO_INPUT, path, "is a directory, expected a file");
    else if (failed)
        status = sf_fail(error, SF_IO, path, "cannot read: %s", strerror(reason));
    if (status != SF_OK)
        sf_text_free(text);
    else
        drop_mark(text);
    return status;
}

int sf_file_check_secret(const char *path, const char *what, sf_error *error)
{
    struct stat about;
    if (stat(path, &about) != 0 || (about.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return SF_OK;
    return sf_fail(error, SF_CONFIG, path, "others may read it, and %s in it is a secret: chmod 600", what);
}

/* Returns 0, or why not. */
static int write_all(int fd, const char *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t count = write(fd, data + done, length - done);
        if (count < 0 && errno != EINTR)
            return errno;
        done += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

int sf_file_write(const sf_text *text, const char *path, sf_error *error)
{
    if (text->failed)
        return sf_fail_memory(error);
    int status = sf_ranks_agree(SF_OK, error);
    if (status != SF_OK || sf_ranks_rank() > 0)
        return status;
    sf_output_file file;
    status = sf_output_file_open(&file, path, SF_EXISTING_REPLACE, error);
    if (status != SF_OK)
        return status;
    int reason = write_all(file.fd, text->data, text->length);
    if (reason != 0)
        status = sf_fail(error, SF_IO, path, "cannot write: %s", strerror(reason));
    else
        status = sf_output_file_commit(&file, error);
    sf_output_file_close(&file, status == SF_OK); /* half a file is worse than none */
    return status;
}

bool sf_file_same(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}
