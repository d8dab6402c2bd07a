/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How the stages of a hop may run, derived from what each declares to read and change. A stage waits for an
 * earlier one unless the two may run at once (plan/verdict.h): on one model (parallels), or each with its own
 * messages, which are joined in stage order (paralleld). A device or a rank may do a stage's work apart if
 * its rounds may run on copies.
 */
#ifndef SF_PIPELINE_SCHEDULE_H
#define SF_PIPELINE_SCHEDULE_H

#include "pipeline/hop.h"
#include "plan/verdict.h"

#define SF_SCHEDULE_MOST 32

/** The stages of a run in sequential order, ended by NULL. The first one feeds, whenever spikes come; a hop
 * begins with the second. */
const sf_stage *const *sf_hop_stages(bool virtual_clock);

/** Describes stages in any order: a function for each, and a loop if its work is one. SF_NO_MEMORY,
 * SF_INTERNAL for a declaration that cannot be read. */
int sf_schedule_describe(sf_plan_algorithm *algorithm, const sf_stage *const *stages, sf_error *error);

typedef struct sf_schedule {
    const sf_stage *const *stages; /**< borrowed */
    size_t count;
    uint32_t after[SF_SCHEDULE_MOST];   /**< bit i: this stage starts after stage i has ended */
    bool reads_sinks[SF_SCHEDULE_MOST]; /**< ... and after the messages of those stages were published */
    bool apart[SF_SCHEDULE_MOST];       /**< its work may run on a device or rank */
    size_t width;                       /**< approximate maximum number of stages that run at once */
} sf_schedule;

/** `sequential`: each stage waits for all earlier ones. Errors as sf_schedule_describe. */
int sf_schedule_derive(sf_schedule *schedule, const sf_stage *const *stages, bool sequential,
                       sf_error *error);

/** The index of a stage, which must be in the schedule. */
size_t sf_schedule_find(const sf_schedule *schedule, const sf_stage *stage);

/** Whether a verdict on two stages lets them run at once. */
bool sf_schedule_may_overlap(const sf_plan_verdict *verdict);

#endif
