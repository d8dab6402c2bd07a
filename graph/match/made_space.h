/* SPDX-License-Identifier: Apache-2.0 */
/** Candidate spaces that a device makes, list by list those of the CPU, and keeps: only sizes come back. */
#ifndef SF_GRAPH_MATCH_MADE_SPACE_H
#define SF_GRAPH_MATCH_MADE_SPACE_H

#include "core/backend/device.h"
#include "graph/match/space.h"

enum { SF_MADE_WORTH, SF_MADE_ALWAYS, SF_MADE_NEVER };

/** Tests: spaces always made on a device where they can be, or never, so that small searches reach both. */
void sf_made_when(int when);

/** The device of that name, or of auto, where it makes the space, and before the deadline, if there is one,
 * sooner than `threads` threads do; NULL: the CPU makes it. */
sf_device *sf_made_device(const sf_query *query, const char *name, unsigned threads, double deadline);

/**
 * Makes the space on a device, to which the graph is copied when the first space is made there, for as long
 * as its index is open and no other job lacks the memory. SF_UNAVAILABLE: the CPU is to; SF_CANCELLED, also
 * where the deadline passes while the graph is copied; SF_NO_MEMORY. `threads` are for what the host has to
 * say about attributes; the watch must outlive the space.
 */
int sf_made_open(sf_space *space, const sf_query *query, sf_device *device, unsigned threads,
                 const sf_backend_watch *watch, sf_error *error);

/** Makes the links of sf_space_exclude there: their number and how many entries they have. */
int sf_made_exclude(const sf_space *space, uint32_t w, uint32_t u, uint32_t *number, sf_error *error);

/** Brings candidates and links to the host: the space is then as the CPU makes it. SF_UNAVAILABLE,
 * SF_CANCELLED, also where the deadline passes, SF_NO_MEMORY: it is as it was. */
int sf_made_fetch(sf_space *space, const sf_backend_watch *watch, sf_error *error);

#endif
