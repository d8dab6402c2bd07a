/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_blur.h"

#include "core/progress.h"
#include "mine/surrogate_scatter.h"

#include <math.h>

uint32_t sf_surrogate_without_blur(uint32_t observed, uint64_t displaced, double divisor)
{
    double left = observed - rint((observed - (double)displaced / 2) / divisor);
    return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX - 1;
}

/* Only whether to go on, not how far it is. */
static bool ask(void *user, const char *what, double done, double total)
{
    (void)done;
    return sf_progress_update(user, what, 0, total);
}

int sf_surrogate_blur_take_off(sf_surrogate_side *side, double divisor, sf_choice *choice, unsigned threads,
                               sf_error *error)
{
    const sf_surrogate_rule rule = side->plan.rule;
    const sf_progress *progress = side->plan.progress;
    side->plan.rule.kind = SF_SURROGATE_DISPLACED;
    side->plan.rule.width_ns = SF_DISPLACED_WIDTHS * rule.width_ns;
    sf_progress asked = {.update = ask, .user = (void *)(uintptr_t)progress};
    side->plan.progress = &asked; /* two surrogates of a thousand are no part of the caller's work */
    sf_surrogate_outcome outcome;
    int status = sf_surrogate_run(&outcome, side, 2, 0, choice, threads, error);
    side->plan.rule = rule;
    side->plan.progress = progress;
    if (status != SF_OK) return status;
    const sf_surrogate_tally *tally = outcome.tallies;
    for (uint32_t k = 0; k < side->plan.level_count; k++)
        for (uint64_t i = 0; i < side->levels[k].first[side->levels[k].prefix_count]; i++, tally++)
            if (side->observed[k][i] != UINT32_MAX)
                side->observed[k][i] = sf_surrogate_without_blur(side->observed[k][i], tally->sum, divisor);
    sf_surrogate_outcome_free(&outcome);
    return SF_OK;
}
