/* SPDX-License-Identifier: Apache-2.0 */
/* What sd_notify(3) does, without libsystemd: one datagram to the socket that the manager names. */
#include "live/service.h"

#include "core/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A path, or with @ in front a name of Linux' abstract space. 0: there is none. */
static socklen_t find_manager(struct sockaddr_un *address)
{
    const char *name = getenv("NOTIFY_SOCKET");
    size_t length = name != NULL ? strlen(name) : 0;
    if (length < 2 || length >= sizeof address->sun_path || (name[0] != '/' && name[0] != '@')) return 0;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, name, length);
    if (name[0] == '@') address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

void sf_service_notify(const char *format, ...)
{
    char text[512];
    struct sockaddr_un manager;
    socklen_t size = find_manager(&manager);
    if (size == 0) return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    size_t whole = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
    (void)!sendto(fd, text, whole, MSG_NOSIGNAL, (struct sockaddr *)&manager, size);
    close(fd);
}

int64_t sf_service_watchdog_ns(void)
{
    uint64_t microseconds, process;
    const char *span = getenv("WATCHDOG_USEC"), *of = getenv("WATCHDOG_PID");
    if (span == NULL || !sf_parse_uint(span, INT64_MAX / 1000, &microseconds)) return 0;
    if (of != NULL && (!sf_parse_uint(of, INT32_MAX, &process) || process != (uint64_t)getpid())) return 0;
    return (int64_t)microseconds * 1000;
}
