/* SPDX-License-Identifier: Apache-2.0 */
/** The search of engine auto on an accelerator: what core/backend/match.h offers, in terms of spaces and
 * plans.
 */
#ifndef SF_GRAPH_MATCH_DEVICE_H
#define SF_GRAPH_MATCH_DEVICE_H

#include "graph/match/engine.h"
#include "graph/match/plan.h"

/** Whether the device matches patterns: as `supports` of sf_way. */
int sf_match_supports(const void *job, const sf_device *device, sf_error *why);

/** As sf_plan_make, with no more counted by products than devices can. */
void sf_match_device_plan(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, bool products);

/** How many candidates a search along a plan would try, by samples of it there. Errors as below. */
int sf_match_sample_on_device(sf_device *device, const sf_match_job *job, const sf_space *space,
                              const sf_plan *plan, double *tried, sf_error *error);

enum { SF_PLANS_WORTH, SF_PLANS_ALWAYS };

/** Tests: plans compared always where they can be, so that small searches are too. */
void sf_match_compare_plans(int when);

/**
 * A plan for counting in a space that a device has made: with products, from the vertex that its samples try
 * fewest candidates from, where the search is long and checks nothing that must be absent. How many a greedy
 * order tries hangs on the hubs, of which the sizes of a space tell nothing. *tried: as sampled, of other
 * searches only where it `is_asked` for; or NAN, also where the device cannot: the plan is then that of
 * sf_match_device_plan. Errors as below.
 */
int sf_match_best_plan(sf_plan *plan, const sf_match_job *job, const sf_space *space,
                       const sf_symmetry *symmetry, bool is_asked, double *tried, sf_error *error);

/**
 * Searches along a plan and fills count, truncated, steps, kept and automorphisms of the job's result.
 * *done is false where there is more than is to be listed, of which the CPU is to list the first: the device
 * does that itself of spaces that it has made. Rows are in the order in which the CPU finds them; where time
 * is up they are those found by then, of the last of which some may be missing between others.
 * SF_UNAVAILABLE: the device cannot, and the result is as it was; SF_CANCELLED, SF_NO_MEMORY.
 */
int sf_match_on_device(sf_device *device, const sf_match_job *job, const sf_space *space, const sf_plan *plan,
                       bool *done, sf_error *error);

#endif
