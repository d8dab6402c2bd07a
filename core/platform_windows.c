/* SPDX-License-Identifier: Apache-2.0 */
/* By the functions of Windows and mingw-w64's POSIX threads. Priorities before all others and locked memory
 * are for live rigs, which are no part of the library on Windows. */
#include "core/platform.h"

#include "core/clock.h"

#include <direct.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* ---- threads and the processor ---- */

int sf_platform_start(pthread_t *id, const char *name, void *(*run)(void *), void *argument)
{
    (void)name;
    return pthread_create(id, NULL, run, argument);
}

void sf_platform_give_way(void)
{
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
}

unsigned sf_platform_cores(void)
{
    DWORD_PTR allowed = 0, all = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &all) || allowed == 0) return 1;
    return (unsigned)__builtin_popcountll(allowed);
}

void sf_platform_processor(char *name, size_t size)
{
    DWORD room = (DWORD)size;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                     "ProcessorNameString", RRF_RT_REG_SZ, NULL, name, &room) != ERROR_SUCCESS)
        snprintf(name, size, "unknown processor");
    for (size_t length = strlen(name); length > 0 && name[length - 1] == ' '; length--)
        name[length - 1] = '\0';
}

int sf_platform_set_priority(pthread_t id, uint32_t priority)
{
    (void)id;
    (void)priority;
    return ENOTSUP;
}

uint32_t sf_platform_most_priority(void)
{
    return 0;
}

int sf_platform_pin(pthread_t id, uint32_t core)
{
    HANDLE thread = pthread_gethandle(id);
    return core < 64 && SetThreadAffinityMask(thread, (DWORD_PTR)1 << core) != 0 ? 0 : EINVAL;
}

int sf_platform_lock_memory(void)
{
    return ENOTSUP;
}

/* ---- a wake-up ---- */

/* An event; handles have 32 bits that count, whatever the width of pointers. */
static HANDLE event_of(int bell)
{
    return (HANDLE)(intptr_t)bell;
}

int sf_platform_bell_open(void)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    errno = ENOMEM;
    return event != NULL ? (int)(intptr_t)event : -1;
}

void sf_platform_bell_close(int bell)
{
    CloseHandle(event_of(bell));
}

void sf_platform_bell_ring(int bell)
{
    SetEvent(event_of(bell));
}

bool sf_platform_bell_wait(int bell, int timeout_ms)
{
    return WaitForSingleObject(event_of(bell), timeout_ms < 0 ? INFINITE : (DWORD)timeout_ms) ==
           WAIT_OBJECT_0;
}

int64_t sf_platform_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* goes on while the machine sleeps, unlike that of Linux */
    return (int64_t)now.tv_sec * SF_SECOND + now.tv_nsec;
}

void sf_platform_sleep_until(int64_t deadline_ns)
{
    for (int64_t left; (left = deadline_ns - sf_platform_monotonic_ns()) > 0;) {
        int64_t ms = (left + SF_MILLISECOND - 1) / SF_MILLISECOND;
        Sleep(ms < 1000 ? (DWORD)ms : 1000);
    }
}

/* ---- memory ---- */

void sf_platform_large_pages(void *begin, size_t bytes)
{
    (void)begin; /* they are a privilege, and asked for with the memory */
    (void)bytes;
}

size_t sf_platform_block_bytes(void *block)
{
    return _msize(block);
}

/* ---- files and modules ---- */

bool sf_platform_own_path(char *path, size_t size)
{
    static const char here;
    HMODULE own;
    if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            &here, &own))
        return false;
    DWORD length = GetModuleFileNameA(own, path, (DWORD)size);
    for (char *at = path; length > 0 && (at = strchr(at, '\\')) != NULL;)
        *at = '/';
    return length > 0 && length < size;
}

bool sf_platform_cache_folder(char *path, size_t size)
{
    DWORD length = GetEnvironmentVariableA("LOCALAPPDATA", path, (DWORD)size);
    return length > 0 && length < size;
}

void sf_platform_make_folder(const char *path)
{
    _mkdir(path);
}

bool sf_platform_replaces_open_files(void)
{
    return false;
}

bool sf_platform_replace(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) != 0;
}

void *sf_platform_load(const char *path, char *why, size_t size)
{
    HMODULE module = LoadLibraryA(path);
    if (module == NULL) snprintf(why, size, "%s: error %lu of Windows", path, GetLastError());
    return module;
}

void *sf_platform_symbol(void *module, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress(module, name);
}

void sf_platform_unload(void *module)
{
    FreeLibrary(module);
}

/* ---- what C libraries have under names of their own ---- */

typedef struct comparison {
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
} comparison;

static int compare_by(void *by, const void *a, const void *b)
{
    const comparison *it = by;
    return it->compare(a, b, it->context);
}

void sf_platform_sort(void *items, size_t count, size_t size,
                      int (*compare)(const void *a, const void *b, void *context), void *context)
{
    comparison by = {compare, context};
    if (count > 0) qsort_s(items, count, size, compare_by, &by);
}

double sf_platform_log_gamma(double x)
{
    return lgamma(x);
}
