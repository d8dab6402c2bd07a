/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting and mining on one or more accelerators: a job is divided into shares, each member takes one after
 * the other, and what a member loses or refuses the others do. Results do not depend on how a job is divided:
 * candidates are counted one by one, and episodes with different first units are found apart.
 */
#ifndef SF_MINE_CREW_H
#define SF_MINE_CREW_H

#include "mine/engine.h"

typedef struct sf_member {
    sf_device *device;
    sf_device_stream *stream; /**< the events on it */
    bool leads;               /**< works on the calling thread, and tells of progress */
    bool out;                 /**< it does not take part any more */
    sf_error reason;          /**< then, what it has said */
} sf_member;

/** Zeroed, it is the CPU. Used by one thread at a time. */
typedef struct sf_crew {
    sf_member members[SF_MOST_DEVICES];
    uint32_t count;
    const sf_events *events; /**< borrowed; a member gets them with its first share */
    char all[16];            /**< "cuda:all", where that was asked for */
    char name[32];           /**< "cuda:0", "cuda:all (2)" by how many take part, "cpu" */
    char note[256];          /**< what the last member that left has said, or empty */
} sf_crew;

/**
 * Gathers the devices that `name` asks for and the engine runs on, to work on these events, borrowed until
 * close; none: the CPU. "auto" and NULL take one where
 * there is one and the CPU would need long enough: `cpu_seconds`. SF_UNAVAILABLE for a device that is
 * missing, SF_USAGE for one that does not have the engine.
 */
int sf_crew_open(sf_crew *crew, const sf_events *events, const char *name, sf_operation operation,
                 const sf_engine *engine, double cpu_seconds, sf_error *error);

/** As `count` of sf_engine; the events are the crew's. SF_UNAVAILABLE: no member can, and the CPU is to
 * count. */
int sf_crew_count(sf_crew *crew, const sf_engine *engine, uint32_t *counts, const sf_count_job *job,
                  sf_error *error);

/** As `mine` of sf_engine. SF_UNAVAILABLE: no member can, and the tree is as it was. */
int sf_crew_mine(sf_crew *crew, const sf_engine *engine, sf_tree *tree, double *seconds,
                 const sf_mine_job *job, sf_error *error);

/** Takes a member out of the crew for what it has given as its reason. */
void sf_crew_dismiss(sf_crew *crew, sf_member *member);

/** Bytes taken on the member that took most; what each took is logged. */
uint64_t sf_crew_memory(const sf_crew *crew);

void sf_crew_close(sf_crew *crew); /**< a zeroed crew is allowed */

#endif
