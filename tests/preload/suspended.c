/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that was suspended: preloaded, it lets CLOCK_BOOTTIME, which alone goes on meanwhile, be 8 s
 * further after each SIGUSR1.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define SUSPENDED_S 8

static int (*original)(clockid_t, struct timespec *);
static atomic_int suspended_s;

static void suspend(int number)
{
    (void)number;
    atomic_fetch_add(&suspended_s, SUSPENDED_S);
}

__attribute__((constructor)) static void begin(void)
{
    *(void **)&original = dlsym(RTLD_NEXT, "clock_gettime");
    signal(SIGUSR1, suspend);
}

EXPORT int clock_gettime(clockid_t id, struct timespec *now)
{
    if (original == NULL) begin();
    int status = original(id, now);
    if (id == CLOCK_BOOTTIME) now->tv_sec += atomic_load(&suspended_s);
    return status;
}
