/* SPDX-License-Identifier: Apache-2.0 */
#include "core/realtime.h"

#include "core/log.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char advice[] = "`synfire doctor` tells what to do";

/* 0, or what speaks against it. */
static int set_priority(const sf_thread *thread, uint32_t priority)
{
    const struct sched_param param = {.sched_priority = (int)priority};
    return pthread_setschedparam(thread->id, SCHED_FIFO, &param);
}

static uint32_t allowed_priority(void)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    return limit.rlim_cur < 99 ? (uint32_t)limit.rlim_cur : 99;
}

static uint32_t raise_thread(const sf_thread *thread, const char *name, uint32_t wanted)
{
    uint32_t allowed = allowed_priority();
    int why = set_priority(thread, wanted);
    if (why == 0)
        return wanted;
    if (why == EPERM && allowed > 0 && allowed < wanted && set_priority(thread, allowed) == 0) {
        sf_log(SF_LOG_WARNING, "%s: real-time priority %u instead of %u, which is all that is allowed; %s",
               name, allowed, wanted, advice);
        return allowed;
    }
    sf_log(SF_LOG_WARNING, "%s: no real-time priority: %s; it goes on without; %s", name, strerror(why),
           advice);
    return 0;
}

static bool pin_thread(const sf_thread *thread, const char *name, uint32_t core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (core < CPU_SETSIZE)
        CPU_SET(core, &cores);
    int why = pthread_setaffinity_np(thread->id, sizeof cores, &cores);
    if (why != 0)
        sf_log(SF_LOG_WARNING, "%s: not kept on core %u: %s; it goes on any", name, core,
               why == EINVAL ? "this process may not use it" : strerror(why));
    return why == 0;
}

sf_realtime_got sf_realtime_thread(const sf_thread *thread, const char *name, const sf_realtime *wanted)
{
    sf_realtime_got got = {0};
    if (!thread->running)
        return got;
    if (wanted->core != SF_REALTIME_ANY_CORE)
        got.pinned = pin_thread(thread, name, wanted->core);
    if (wanted->priority > 0)
        got.priority = raise_thread(thread, name, wanted->priority);
    return got;
}

bool sf_realtime_lock(void)
{
    if (mlockall(MCL_CURRENT) == 0)
        return true;
    sf_log(SF_LOG_WARNING, "memory is not locked: %s; it goes on without; %s", strerror(errno), advice);
    munlockall();
    return false;
}
