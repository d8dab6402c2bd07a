/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Threads that stay, for work in many short steps: a step on a team costs microseconds where sf_parallel_for
 * starts threads anew.
 */
#ifndef SF_CORE_TEAM_H
#define SF_CORE_TEAM_H

#include <synfire/error.h>

typedef struct sf_team sf_team;

/** Starts threads - 1 threads (the caller is the other one); where some cannot be started the team is
 * smaller. SF_NO_MEMORY. */
int sf_team_open(sf_team **team, unsigned threads, sf_error *error);

/** Waits for its threads to end. */
void sf_team_close(sf_team *team);

unsigned sf_team_size(const sf_team *team);

/**
 * Calls body(context, worker, item) for every item 0..count-1, as sf_parallel_for does but without results:
 * items are handed out in order as workers come free; worker is 0..size-1, the caller's 0. Returns when all
 * are done. One step at a time.
 */
void sf_team_run(sf_team *team, size_t count, void (*body)(void *context, unsigned worker, size_t item),
                 void *context);

#endif
