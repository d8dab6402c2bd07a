/* SPDX-License-Identifier: Apache-2.0 */
#include "core/realtime.h"

#include "core/log.h"
#include "core/platform.h"

#include <errno.h>
#include <string.h>

static const char advice[] = "`synfire doctor` tells what to do";

static uint32_t raise_thread(const sf_thread *thread, const char *name, uint32_t wanted)
{
    uint32_t allowed = sf_platform_most_priority();
    int why = sf_platform_set_priority(thread->id, wanted);
    if (why == 0) return wanted;
    if (why == EPERM && allowed > 0 && allowed < wanted &&
        sf_platform_set_priority(thread->id, allowed) == 0) {
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
    int why = sf_platform_pin(thread->id, core);
    if (why != 0)
        sf_log(SF_LOG_WARNING, "%s: not kept on core %u: %s; it goes on any", name, core,
               why == EINVAL ? "this process may not use it" : strerror(why));
    return why == 0;
}

sf_realtime_got sf_realtime_thread(const sf_thread *thread, const char *name, const sf_realtime *wanted)
{
    sf_realtime_got got = {0};
    if (!thread->running) return got;
    if (wanted->core != SF_REALTIME_ANY_CORE) got.pinned = pin_thread(thread, name, wanted->core);
    if (wanted->priority > 0) got.priority = raise_thread(thread, name, wanted->priority);
    return got;
}

bool sf_realtime_lock(void)
{
    int why = sf_platform_lock_memory();
    if (why != 0)
        sf_log(SF_LOG_WARNING, "memory is not locked: %s; it goes on without; %s", strerror(why), advice);
    return why == 0;
}
