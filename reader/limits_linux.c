/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/limits.h"

#include "core/error.h"
#include "io/apart.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sanitizers reserve terabytes of address space. What they find in the HDF5 library counts as a crash, after
 * their report. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
SF_API const char *__asan_default_options(void), *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}
const char *__tsan_default_options(void)
{
    return "abort_on_error=1";
}
#else
enum { SANITIZED = 0 };
#endif

static void set_limit(unsigned which, rlim_t soft, rlim_t hard)
{
    struct rlimit now, limit = {soft, hard};
    if (getrlimit(which, &now) != 0) return;
    limit.rlim_cur = now.rlim_max < limit.rlim_cur ? now.rlim_max : limit.rlim_cur;
    limit.rlim_max = now.rlim_max < limit.rlim_max ? now.rlim_max : limit.rlim_max;
    setrlimit(which, &limit);
}

/* Address space that the program itself uses so far. */
static uint64_t own_addresses(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%llu", &pages) != 1) pages = 0;
    if (file != NULL) fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void reader_keep_limits(uint64_t length)
{
    uint64_t memory = sf_apart_memory(length), seconds = sf_apart_seconds(length);
    set_limit(RLIMIT_CORE, 0, 0);
    set_limit(RLIMIT_CPU, seconds, seconds + 1);
    set_limit(RLIMIT_FSIZE, memory, memory);
    signal(SIGXFSZ, SIG_IGN);
    if (!SANITIZED) set_limit(RLIMIT_AS, own_addresses() + memory, own_addresses() + memory);
}

bool reader_stay_with(const char *parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == (pid_t)strtol(parent, NULL, 10);
}

uint64_t reader_file_limit(void)
{
    struct rlimit files;
    return getrlimit(RLIMIT_FSIZE, &files) == 0 ? (uint64_t)files.rlim_cur : UINT64_MAX;
}

/* Before glibc 2.34 a parent cannot arrange that these are closed. */
static void close_others(void)
{
#if !__GLIBC_PREREQ(2, 34)
    DIR *files = opendir("/proc/self/fd");
    for (struct dirent *it; files != NULL && (it = readdir(files)) != NULL;) {
        int file = atoi(it->d_name);
        if (file > SF_APART_LIFELINE && file != dirfd(files)) close(file);
    }
    if (files != NULL) closedir(files);
#endif
}

int reader_parcel(void)
{
    if (fcntl(SF_APART_PARCEL, F_GET_SEALS) != 0) /* no memory of a caller */
        return -1;
    close_others();
    return SF_APART_PARCEL;
}

void reader_leave(void)
{
    _exit(0);
}
