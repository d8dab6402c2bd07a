/* SPDX-License-Identifier: Apache-2.0 */
#include "core/file.h"

#include "core/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    if (file == NULL) return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
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

bool sf_file_same(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}
