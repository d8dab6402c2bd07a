/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/binary.h"

#include "core/text.h"
#include "io/file.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sf_binary_begin(const char *path, void *to, size_t size)
{
    struct stat about;
    int file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool found = file >= 0 && sf_file_read_at(file, to, size, 0) == size;
    if (file >= 0) close(file);
    return found;
}

bool sf_binary_put_character(char *to, size_t room, size_t *length, uint32_t code)
{
    char bytes[4];
    size_t count = sf_utf8_encode(bytes, code);
    if (*length + count >= room) return false;
    memcpy(to + *length, bytes, count);
    *length += count;
    to[*length] = '\0';
    return true;
}

void sf_binary_text(char *to, size_t room, const unsigned char *from, size_t size)
{
    char held[512] = "";
    size_t length = 0, count = size < sizeof held ? size : sizeof held - 1;
    memcpy(held, from, count);
    to[0] = '\0';
    for (const char *at = held; *at != '\0';) {
        size_t width = sf_utf8_length(at);
        uint32_t code = width > 0 ? sf_utf8_code(at, width) : (unsigned char)*at;
        if (!sf_binary_put_character(to, room, &length, code)) break;
        at += width > 0 ? width : 1;
    }
}

void sf_binary_trim_end(char *text)
{
    size_t end = strlen(text);
    while (end > 0 && isspace((unsigned char)text[end - 1]))
        end--;
    text[end] = '\0';
}

void sf_binary_trim(char *text)
{
    size_t begin = strspn(text, " \t\r\n");
    memmove(text, text + begin, strlen(text + begin) + 1);
    sf_binary_trim_end(text);
}
