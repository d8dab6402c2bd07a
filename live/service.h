/* SPDX-License-Identifier: Apache-2.0 */
/** What a service manager hears of a run, and asks. Errors are as in synfire/synfire.h; one object from one
 * thread at a time. */
#ifndef SF_LIVE_SERVICE_H
#define SF_LIVE_SERVICE_H

#include <stdint.h>

/** Tells the manager that started this program as a service (systemd: $NOTIFY_SOCKET) so much, as "READY=1".
 * Where there is none, or it does not listen, nothing. Any thread; never waits. */
void sf_service_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Within this time it wants to hear WATCHDOG=1 of this process, each time anew; 0: it does not. */
int64_t sf_service_watchdog_ns(void);

#endif
