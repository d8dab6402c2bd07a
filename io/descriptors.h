/* SPDX-License-Identifier: Apache-2.0 */
/** Checks how many files and sockets the process may still open, because libzmq aborts the program when none
 * is left. */
#ifndef SF_IO_DESCRIPTORS_H
#define SF_IO_DESCRIPTORS_H

#include <synfire/error.h>

/** Descriptors of a ZeroMQ context with one socket (libzmq 4.3 opens 7), and some for connections. */
#define SF_ZMQ_DESCRIPTORS 12

/** SF_UNAVAILABLE if fewer than `needed` are free; the message gives the number and the remedy. `place` names
 * the user of the descriptors. */
int sf_descriptors_check(unsigned needed, const char *place, sf_error *error);

#endif
