/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library of Windows does not have of strings, and of the system: core/windows/include/. */
#include <errno.h>
#include <fnmatch.h>
#include <io.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <windows.h>

void *memmem(const void *in, size_t size, const void *what, size_t length)
{
    const char *at = in;
    for (; size >= length; at++, size--)
        if (memcmp(at, what, length) == 0) return (void *)(uintptr_t)at;
    return NULL;
}

void *memrchr(const void *in, int byte, size_t size)
{
    const unsigned char *bytes = in;
    while (size > 0)
        if (bytes[--size] == (unsigned char)byte) return (void *)(uintptr_t)(bytes + size);
    return NULL;
}

char *strsep(char **rest, const char *separators)
{
    char *word = *rest, *end = word != NULL ? strpbrk(word, separators) : NULL;
    if (end != NULL) *end++ = '\0';
    *rest = end;
    return word;
}

const char *strsignal(int number)
{
    return number == SIGINT ? "Interrupt" : number == SIGTERM ? "Terminated" : "Unknown signal";
}

/* One [set]: the pattern after it, or NULL where it is not closed. */
static const char *match_set(const char *pattern, char c, bool *is_in)
{
    bool is_other = *pattern == '!' || *pattern == '^';
    *is_in = false;
    pattern += is_other;
    for (const char *first = pattern; *pattern != ']' || pattern == first; pattern++) {
        if (*pattern == '\0') return NULL;
        char from = *pattern, to = from;
        if (pattern[1] == '-' && pattern[2] != ']' && pattern[2] != '\0') {
            to = pattern[2];
            pattern += 2;
        }
        *is_in = *is_in || (from <= c && c <= to);
    }
    *is_in = *is_in != is_other;
    return pattern + 1;
}

int fnmatch(const char *pattern, const char *name, int flags)
{
    for (; *pattern != '\0'; name++) {
        if (*pattern == '*') {
            for (pattern++; fnmatch(pattern, name, flags) != 0; name++)
                if (*name == '\0') return 1;
            return 0;
        }
        if (*name == '\0') return 1;
        bool is_in = *pattern == '?';
        const char *after = *pattern == '[' ? match_set(pattern + 1, *name, &is_in) : NULL;
        if (after == NULL && !is_in) {
            pattern += *pattern == '\\' && pattern[1] != '\0';
            is_in = *pattern == *name;
        }
        after = after != NULL ? after : pattern + 1;
        if (!is_in) return 1;
        pattern = after;
    }
    return *name != '\0';
}

long sysconf(int what)
{
    SYSTEM_INFO told;
    GetSystemInfo(&told);
    return what == _SC_NPROCESSORS_ONLN ? (long)told.dwNumberOfProcessors : -1;
}

int ioctl(int fd, int what, struct winsize *size)
{
    CONSOLE_SCREEN_BUFFER_INFO told;
    (void)what;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &told)) {
        errno = ENOTTY;
        return -1;
    }
    size->ws_col = (unsigned short)(told.srWindow.Right - told.srWindow.Left + 1);
    size->ws_row = (unsigned short)(told.srWindow.Bottom - told.srWindow.Top + 1);
    return 0;
}
