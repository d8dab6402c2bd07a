/* SPDX-License-Identifier: Apache-2.0 */
#include "core/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- threads and the processor ---- */

int sf_platform_start(pthread_t *id, const char *name, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(id, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) return failure;
    char short_name[16];
    snprintf(short_name, sizeof short_name, "%s", name);
    pthread_setname_np(*id, short_name);
    return 0;
}

void sf_platform_give_way(void)
{
    static const int background = 10;
    setpriority(PRIO_PROCESS, (id_t)gettid(),
                background); /* of a thread, on Linux; refused, nothing is lost */
}

unsigned sf_platform_cores(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    int count = CPU_COUNT(&allowed);
    return count > 0 ? (unsigned)count : 1;
}

void sf_platform_processor(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", value + 2);
            break;
        }
    }
    if (file != NULL) fclose(file);
}

int sf_platform_set_priority(pthread_t id, uint32_t priority)
{
    const struct sched_param param = {.sched_priority = (int)priority};
    return pthread_setschedparam(id, SCHED_FIFO, &param);
}

uint32_t sf_platform_most_priority(void)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    return limit.rlim_cur < 99 ? (uint32_t)limit.rlim_cur : 99;
}

int sf_platform_pin(pthread_t id, uint32_t core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (core < CPU_SETSIZE) CPU_SET(core, &cores);
    return pthread_setaffinity_np(id, sizeof cores, &cores);
}

int sf_platform_lock_memory(void)
{
    if (mlockall(MCL_CURRENT) == 0) return 0;
    int why = errno;
    munlockall();
    return why;
}

/* ---- a wake-up ---- */

int sf_platform_bell_open(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void sf_platform_bell_close(int bell)
{
    close(bell);
}

void sf_platform_bell_ring(int bell)
{
    uint64_t one = 1;
    ssize_t written = write(bell, &one, sizeof one);
    (void)written; /* a full counter has rung already */
}

bool sf_platform_bell_wait(int bell, int timeout_ms)
{
    struct pollfd waiting = {.fd = bell, .events = POLLIN};
    if (poll(&waiting, 1, timeout_ms) <= 0) return false;
    uint64_t rings;
    return read(bell, &rings, sizeof rings) == sizeof rings;
}

#define SECOND_NS 1000000000

/* CLOCK_MONOTONIC stands still while the machine is suspended, and what waited meanwhile would not be old. */
int64_t sf_platform_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

void sf_platform_sleep_until(int64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = deadline_ns / SECOND_NS, .tv_nsec = deadline_ns % SECOND_NS};
    clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &deadline, NULL);
}

/* ---- memory ---- */

void sf_platform_large_pages(void *begin, size_t bytes)
{
    madvise(begin, bytes, MADV_HUGEPAGE); /* refused where there are none */
}

size_t sf_platform_block_bytes(void *block)
{
    return malloc_usable_size(block);
}

/* ---- files and modules ---- */

bool sf_platform_own_path(char *path, size_t size)
{
    static const char here;
    Dl_info own, program;
    if (dladdr(&here, &own) == 0 || dladdr((void *)getauxval(AT_ENTRY), &program) == 0) return false;
    if (own.dli_fbase != program.dli_fbase) return (size_t)snprintf(path, size, "%s", own.dli_fname) < size;
    /* The program's name there is as it was called, which need not be a path. */
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool sf_platform_cache_folder(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache != NULL && cache[0] == '/')
        length = snprintf(path, size, "%s", cache);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, size, "%s/.cache", home);
    return length > 0 && (size_t)length < size;
}

void sf_platform_make_folder(const char *path)
{
    mkdir(path, 0700);
}

bool sf_platform_replaces_open_files(void)
{
    return true;
}

bool sf_platform_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

void *sf_platform_load(const char *path, char *why, size_t size)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) snprintf(why, size, "%s", dlerror());
    return module;
}

void *sf_platform_symbol(void *module, const char *name)
{
    return dlsym(module, name);
}

void sf_platform_unload(void *module)
{
    dlclose(module);
}

/* ---- what C libraries have under names of their own ---- */

void sf_platform_sort(void *items, size_t count, size_t size,
                      int (*compare)(const void *a, const void *b, void *context), void *context)
{
    if (count > 0) /* of none `items` may be NULL, which qsort_r takes ill */
        qsort_r(items, count, size, compare, context);
}

double sf_platform_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
