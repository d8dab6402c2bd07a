/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_SIGNAL_H
#define SF_WINDOWS_SIGNAL_H
#include_next <signal.h>

/* Never sent here: signal() refuses them, and what they stand for is an error of write. */
#define SIGPIPE 13
#define SIGXFSZ 25

#endif
