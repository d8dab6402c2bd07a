/* SPDX-License-Identifier: Apache-2.0 */
/* The job object that synfire put this process into (io/apart_windows.c) limits its memory, and ends it with
 * synfire. */
#include "reader/limits.h"

#include "io/apart.h"

#include <io.h>
#include <stdio.h>
#include <windows.h>

int reader_parcel(void)
{
    int file = _fileno(stdout);
    return GetFileType((HANDLE)_get_osfhandle(file)) == FILE_TYPE_DISK ? file : -1;
}

bool reader_stay_with(const char *parent)
{
    (void)parent;
    return true;
}

#define TICKS_PER_SECOND 10000000 /* of 100 ns */
#define LOOK_EVERY_MS 100

static uint64_t ticks_of(FILETIME time)
{
    return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

/* Ends the process when its processor time exceeds the limit. */
static DWORD WINAPI watch(void *most_ticks)
{
    FILETIME begun, ended, system, user;
    do
        Sleep(LOOK_EVERY_MS);
    while (!GetProcessTimes(GetCurrentProcess(), &begun, &ended, &system, &user) ||
           ticks_of(system) + ticks_of(user) < (uint64_t)(uintptr_t)most_ticks);
    TerminateProcess(GetCurrentProcess(), ERROR_NOT_ENOUGH_QUOTA);
    return 0;
}

void reader_keep_limits(uint64_t length)
{
    uint64_t most_ticks = sf_apart_seconds(length) * TICKS_PER_SECOND;
    HANDLE watcher = CreateThread(NULL, 0, watch, (void *)(uintptr_t)most_ticks, 0, NULL);
    if (watcher != NULL) CloseHandle(watcher);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX); /* no window asks about a crash */
}

uint64_t reader_file_limit(void)
{
    return UINT64_MAX;
}

void reader_leave(void)
{
    TerminateProcess(GetCurrentProcess(), 0);
    for (;;)
        Sleep(INFINITE);
}
