/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests/e2e/test_realtime.py to preload: the watch path of a real run may not allocate, lock, open or
 * synchronise files. The thread that watches is known by its name; what it must not do ends the program at
 * once, with a sentence. Page faults of it are counted between its waits, once SYNFIRE_TEST_SETTLED of these
 * have gone by, and where SYNFIRE_TEST_FAULTS is set one that comes later ends the program too. At the end
 * the waits and faults are told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static __thread int watches; /* 0: not known yet, 1: another thread, 2: the thread that watches */
static __thread long waits, faults_before;
static atomic_long all_waits, all_faults;

static void end_program(const char *what)
{
    char line[200];
    int length = snprintf(line, sizeof line, "realtime guard: %s on the watch path\n", what);
    (void)!write(STDERR_FILENO, line, (size_t)length);
    abort();
}

static bool on_watch_path(void)
{
    return watches == 2;
}

static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Who starts a thread names it, perhaps after it has waited often: until then it has the program's name. */
static void look(void)
{
    char name[16] = "";
    if (watches == 0) {
        prctl(PR_GET_NAME, name);
        if (strcmp(name, "synfire-front") == 0)
            watches = 2;
        else if (strcmp(name, program_invocation_short_name) != 0)
            watches = 1;
    }
    if (watches != 2) return;
    const char *settled = getenv("SYNFIRE_TEST_SETTLED");
    long now = faults();
    atomic_fetch_add(&all_waits, 1);
    if (++waits > (settled != NULL ? atol(settled) : 0) && now > faults_before) {
        atomic_fetch_add(&all_faults, now - faults_before);
        if (getenv("SYNFIRE_TEST_FAULTS") != NULL) end_program("a page fault");
    }
    faults_before = now;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("SYNFIRE_TEST_TOLD");
    FILE *file = path != NULL && all_waits > 0 ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%ld waits, %ld faults\n", (long)all_waits, (long)all_faults);
        fclose(file);
    }
}

/* ---- what the watch path waits by ---- */

int poll(struct pollfd *descriptors, nfds_t count, int timeout_ms)
{
    static int (*next)(struct pollfd *, nfds_t, int);
    if (next == NULL) next = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    look();
    return next(descriptors, count, timeout_ms);
}

/* ---- what it must not do ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size)
{
    if (on_watch_path()) end_program("malloc");
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (on_watch_path()) end_program("calloc");
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    if (on_watch_path()) end_program("realloc");
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    if (on_watch_path() && memory != NULL) end_program("free");
    __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (next == NULL) next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    if (on_watch_path()) end_program("pthread_mutex_lock");
    return next(mutex);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    static int (*next)(pthread_cond_t *, pthread_mutex_t *);
    if (next == NULL) /* there is an older one of this name */
        next = (int (*)(pthread_cond_t *, pthread_mutex_t *))dlvsym(RTLD_NEXT, "pthread_cond_wait",
                                                                    "GLIBC_2.3.2");
    if (on_watch_path()) end_program("pthread_cond_wait");
    return next(condition, mutex);
}

int open(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    if (next == NULL) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    if (on_watch_path()) end_program("open");
    va_list arguments;
    va_start(arguments, flags);
    unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    return next(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*next)(const char *, const char *);
    if (next == NULL) next = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    if (on_watch_path()) end_program("fopen");
    return next(path, mode);
}

/* Eight bytes go to a bell, which is how it wakes others; more would be a file or a socket. */
ssize_t write(int descriptor, const void *bytes, size_t size)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (next == NULL) next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    if (on_watch_path() && size != 8 && descriptor != STDERR_FILENO) end_program("write");
    return next(descriptor, bytes, size);
}

int fsync(int descriptor)
{
    static int (*next)(int);
    if (next == NULL) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (on_watch_path()) end_program("fsync");
    return next(descriptor);
}
