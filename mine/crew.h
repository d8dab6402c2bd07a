/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting and mining on one or more accelerators: a job is divided into shares, each member takes one of its
 * own and then what is left, and what a member loses or refuses the others do. Results do not depend on how a
 * job is divided: candidates are counted one by one, and episodes with different first units are found apart.
 */
#ifndef SF_MINE_CREW_H
#define SF_MINE_CREW_H

#include "mine/engine.h"
#include "mine/resident.h"

typedef struct sf_member {
    sf_device *device;
    sf_device_stream *stream; /**< the events on it */
    bool leads;               /**< works on the calling thread, and tells of progress */
    bool out;                 /**< it does not take part any more */
    sf_error reason;          /**< then, what it has said */
    double sending;           /**< seconds that it took to send the events */
} sf_member;

/** Zeroed, it is the CPU. Used by one thread at a time. */
typedef struct sf_crew {
    sf_member members[SF_MOST_DEVICES];
    uint32_t count;
    const sf_events *events; /**< borrowed; a member gets them with its first share */
    sf_raw_spikes raw; /**< borrowed: where `spikes` is set, the events are outlined and members lay out */
    char all[16];      /**< "cuda:all", where that was asked for */
    char name[32];     /**< "cuda:0", "cuda:all (2)" where more than one takes part, "cpu" */
    char note[256];    /**< what the last member that left has said, or empty */
} sf_crew;

/** What a crew is for. */
typedef struct sf_crew_job {
    const char *device; /**< as sf_mine_options has it */
    sf_operation operation;
    const sf_engine *engine;
    double core_seconds; /**< what one core of the CPU would need, roughly */
    unsigned threads;    /**< of the CPU */
} sf_crew_job;

/**
 * Gathers the devices that are asked for and have the engine, to work on these events, borrowed until close;
 * none: the CPU. "auto" and NULL take one where there is one and the CPU would need long enough, "cuda:all"
 * as many as are worth it. SF_UNAVAILABLE for a device that is missing, SF_USAGE for one that does not have
 * the engine.
 */
int sf_crew_open(sf_crew *crew, const sf_events *events, const sf_crew_job *job, sf_error *error);

/** As `count` of sf_engine; the events are the crew's. SF_UNAVAILABLE: no member can, and the CPU is to
 * count. */
int sf_crew_count(sf_crew *crew, const sf_engine *engine, uint32_t *counts, const sf_count_job *job,
                  sf_error *error);

/** As `mine` of sf_engine; what sending the events took is added to seconds[1]. SF_UNAVAILABLE: no member
 * can, and the tree is as it was. */
int sf_crew_mine(sf_crew *crew, const sf_engine *engine, sf_tree *tree, double *seconds,
                 const sf_mine_job *job, sf_error *error);

/** The events have been laid out since: members that had no room for raw spikes take part again. False: there
 * is none. */
bool sf_crew_laid_out(sf_crew *crew);

/** Takes a member out of the crew for what it has given as its reason. */
void sf_crew_dismiss(sf_crew *crew, sf_member *member);

/** Bytes taken on the member that took most; what each took is logged. */
uint64_t sf_crew_memory(const sf_crew *crew);

void sf_crew_close(sf_crew *crew); /**< a zeroed crew is allowed */

#endif
