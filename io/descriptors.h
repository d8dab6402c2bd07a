/* SPDX-License-Identifier: Apache-2.0 */
/** How many files and sockets may still be opened; libzmq aborts the program where none is left. */
#ifndef SF_IO_DESCRIPTORS_H
#define SF_IO_DESCRIPTORS_H

#include <synfire/error.h>

/** What one ZeroMQ context with one socket takes (4.3: 7 to open), and some for those who connect. */
#define SF_ZMQ_DESCRIPTORS 12

/** SF_UNAVAILABLE where fewer than `needed` are free: says how many, and what to do. `place` names what needs
 * them. */
int sf_descriptors_check(unsigned needed, const char *place, sf_error *error);

#endif
