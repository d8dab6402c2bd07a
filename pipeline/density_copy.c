/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/density_copy.h"

#include "core/error.h"
#include "density/rows.h"

#include <stdio.h>
#include <string.h>

void sf_density_copy_close(sf_density_copy *copy)
{
    sf_synopsis_close(&copy->synopsis);
    *copy = (sf_density_copy){0};
}

/* Names stay the same as long as the densities are open: no lock. */
static sf_density_plan *find(const sf_densities *densities, const char *density, size_t *state,
                             sf_error *error)
{
    for (size_t i = 0; i < densities->count; i++) {
        sf_density_plan *plan = &densities->plans[i];
        if (plan->quantity == SF_QUANTITY_POSITION && strcmp(density, "position") == 0) {
            sf_fail(error, SF_USAGE, "density",
                    "positions are kept as counts of electrodes, and have no state that answers: expected "
                    "intervals, delays or rates");
            return NULL;
        }
        for (*state = 0; plan->labels != NULL && *state < sf_quantity_states(plan->window); ++*state)
            if (strcmp(plan->labels[*state], density) == 0) return plan;
    }
    sf_fail(error, SF_USAGE, "density",
            densities->count == 0
                ? "this run keeps none: its configuration has no `density`"
                : "the run keeps none that is called '%.63s': expected a name as in `quantity` of its "
                  "messages, \"isi A\"",
            density);
    return NULL;
}

/* A plan like theirs, as it is now, and a copy of the state. A frame of rates may widen between two hops. */
static int copy_state(sf_moving_density *own, sf_moving_plan *plan, sf_density_copy *copy,
                      sf_densities *densities, const sf_density_plan *from, size_t state, sf_error *error)
{
    pthread_mutex_lock(&densities->lock);
    sf_moving_options options = from->live.options;
    pthread_mutex_unlock(&densities->lock);
    for (bool same = false; !same;) {
        int status = sf_moving_plan_open(plan, &options, error);
        if (status == SF_OK) status = sf_moving_open(own, plan, error);
        if (status != SF_OK) return status;
        pthread_mutex_lock(&densities->lock);
        same = options.most == from->live.options.most;
        options = plan->options = from->live.options;
        if (same) sf_moving_copy(own, &from->states[state]);
        copy->window = densities->window;
        pthread_mutex_unlock(&densities->lock);
        if (!same) {
            sf_moving_close(own);
            sf_moving_plan_close(plan);
        }
    }
    return SF_OK;
}

int sf_densities_copy(sf_density_copy *copy, sf_densities *densities, const char *density, sf_error *error)
{
    size_t state;
    *copy = (sf_density_copy){0};
    const sf_density_plan *from = find(densities, density, &state, error);
    if (from == NULL) return SF_USAGE;
    sf_moving_plan plan = {0};
    sf_moving_density own = {0};
    int status = copy_state(&own, &plan, copy, densities, from, state, error);
    if (status == SF_OK) status = sf_synopsis_of_moving(&copy->synopsis, &own, &plan, error);
    copy->quantity = sf_quantity_words[from->quantity];
    snprintf(copy->density, sizeof copy->density, "%s", density);
    copy->name = copy->density + strlen(copy->quantity) + 1;
    copy->unit = from->first_unit < 0 ? -1 : from->first_unit + (int64_t)state;
    copy->left_out = own.left_out;
    sf_moving_close(&own);
    sf_moving_plan_close(&plan);
    return status;
}
