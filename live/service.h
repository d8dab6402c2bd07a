/* SPDX-License-Identifier: Apache-2.0 */
/** Messages to the service manager of a run, and its watchdog interval. Errors are as in synfire/synfire.h;
 * one object from one thread at a time. */
#ifndef SF_LIVE_SERVICE_H
#define SF_LIVE_SERVICE_H

#include <stdint.h>

/** Sends a message, such as "READY=1", to the manager that started this program as a service (systemd:
 * $NOTIFY_SOCKET). Does nothing if there is none, or it does not listen. Any thread; never waits. */
void sf_service_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The interval in which the manager expects WATCHDOG=1 from this process; 0: it does not. */
int64_t sf_service_watchdog_ns(void);

#endif
