/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting engines: one struct of functions and one file each. Every engine gives the same counts.
 *
 * The count of an episode is the size of the largest set of its occurrences of which none begins before
 * another has ended, in positions. Taking, greedily, every occurrence that starts after the end of the last
 * one taken, in order of their ends, reaches it.
 */
#ifndef SF_MINE_ENGINE_H
#define SF_MINE_ENGINE_H

#include "core/backend/stream.h"
#include "core/progress.h"
#include "mine/events.h"
#include "mine/tree.h"

typedef struct sf_count_job {
    const sf_events *events;
    uint32_t first, last; /**< only spikes at positions first <= p < last, as if there were no others */
    const sf_candidates *candidates;
    unsigned threads;
    uint32_t least; /**< of a count below it only that it is below matters; 0: every count matters */
    sf_count_tally *tally;
} sf_count_job;

/** What a search did beside what it found, a branch and delay at a time. */
typedef struct sf_mine_tally {
    uint64_t bounded; /**< extensions that signatures ruled out */
    uint64_t walked;  /**< branches whose windows were walked */
    uint64_t merged;  /**< branches that were merged with the trains of their extensions */
} sf_mine_tally;

typedef struct sf_mine_job {
    const sf_events *events; /**< of the frequent units only */
    const sf_delay *delays;
    uint32_t delay_count;
    sf_pair_rule pairs;
    uint32_t least; /**< an episode is frequent with this count or more; at least 1 */
    uint32_t max_size;
    size_t most; /**< SF_DATA once more episodes than this are found */
    unsigned threads;
    const sf_progress *progress;
    bool paired;          /**< level 2 is linked already */
    double piece;         /**< as in sf_mine_input */
    bool divided;         /**< first units are, among the ranks, which all make this call */
    bool keep_stopped;    /**< SF_CANCELLED leaves a cut tree with all that was found */
    sf_mine_tally *tally; /**< added to; or NULL */
} sf_mine_job;

typedef struct sf_engine {
    const char *name;
    bool threaded; /**< uses more than one thread where it is given them */

    /** counts[i] = count of candidate i. SF_NO_MEMORY. */
    int (*count)(uint32_t *counts, const sf_count_job *job, sf_error *error);

    /**
     * Finds all frequent episodes by a way of its own, given the linked level of size 1: fills and links
     * levels 2 and up. Of a job that is `paired` level 2 is as it is, and spikes of units that are in no
     * chain of two of its pairs may be missing. seconds[size] is the time that size took. NULL: the engine
     * mines level by level through `count`.
     */
    int (*mine)(sf_tree *tree, double *seconds, const sf_mine_job *job, sf_error *error);
} sf_engine;

/** Every engine, a line each: what devices count by, too, and what the CPU alone does. The first is the
 * fastest. */
#define SF_ENGINES(ANYWHERE, HERE)                                                                           \
    ANYWHERE(interval, "interval")                                                                           \
    HERE(reference, "reference")                                                                             \
    ANYWHERE(ptpe, "ptpe")                                                                                   \
    ANYWHERE(mtpe, "mtpe")                                                                                   \
    ANYWHERE(hybrid, "hybrid")                                                                               \
    ANYWHERE(two_pass, "two-pass")

#define SF_ENGINE_DECLARED(variable, name) extern const sf_engine sf_engine_##variable;
SF_ENGINES(SF_ENGINE_DECLARED, SF_ENGINE_DECLARED)

/** Every engine; NULL-terminated. */
extern const sf_engine *const sf_engines[];

/** The engine of that name; NULL or "auto": the fastest for this machine. SF_USAGE lists the names. */
int sf_engine_find(const sf_engine **engine, const char *name, sf_error *error);

/** Refuses several threads of an engine that runs on one: SF_USAGE, with `threads` for its place. */
int sf_engine_check_threads(const sf_engine *engine, unsigned threads, sf_error *error);

/** SF_DATA, with its sentence: more than `most` episodes are frequent. */
int sf_mine_fail_most(size_t most, sf_error *error);

#endif
