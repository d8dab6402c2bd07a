/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the stages of a hop may run, derived from what each is declared to read and change. A stage waits for
 * one before it unless the two may run at once (plan/verdict.h): on one model (parallels), or each with
 * messages of its own, which are joined in the order of the stages (paralleld). The work of a stage may be
 * done apart, by a device or a rank, where its rounds may run on copies.
 */
#ifndef SF_PIPELINE_SCHEDULE_H
#define SF_PIPELINE_SCHEDULE_H

#include "pipeline/hop.h"
#include "plan/verdict.h"

#define SF_SCHEDULE_MOST 32

/** The stages of a run in the order in which they run one after the other; the last is NULL. The first feeds,
 * as often as spikes come; a hop begins with the second. */
const sf_stage *const *sf_hop_stages(bool virtual_clock);

/** What stages of any order are: for each a function, and a loop where its work is one. SF_NO_MEMORY,
 * SF_INTERNAL for a declaration that cannot be read. */
int sf_schedule_describe(sf_plan_algorithm *algorithm, const sf_stage *const *stages, sf_error *error);

typedef struct sf_schedule {
    const sf_stage *const *stages; /**< borrowed */
    size_t count;
    uint32_t after[SF_SCHEDULE_MOST];   /**< bit i: this stage begins when stage i is over */
    bool reads_sinks[SF_SCHEDULE_MOST]; /**< ... and when what they published has been */
    bool apart[SF_SCHEDULE_MOST];       /**< its work may be done apart */
    size_t width;                       /**< so many at once at most, about */
} sf_schedule;

/** `sequential`: each stage waits for all before it. As sf_schedule_describe. */
int sf_schedule_derive(sf_schedule *schedule, const sf_stage *const *stages, bool sequential,
                       sf_error *error);

/** The number of a stage, which is among them. */
size_t sf_schedule_find(const sf_schedule *schedule, const sf_stage *stage);

/** Whether two stages run at once by a verdict on them. */
bool sf_schedule_may_overlap(const sf_plan_verdict *verdict);

#endif
