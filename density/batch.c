/* SPDX-License-Identifier: Apache-2.0 */
#include "density/batch.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/spectral.h"

#include <math.h>

static int find_spectrum(sf_score_batch *batch, sf_error *error)
{
    double shift = batch->reflect ? 0 : batch->moments.mean;
    double least = (batch->moments.least - shift) / batch->moments.sigma;
    double most = (batch->moments.most - shift) / batch->moments.sigma;
    sf_frame frame = sf_frame_for(batch->reflect ? -most : least, most, batch->b_least, batch->b_most);
    sf_characteristic state;
    int status = sf_characteristic_open(&state, &frame, error);
    if (status == SF_OK)
        status = sf_spectrum_open(&batch->spectrum, &frame, error);
    if (status == SF_OK) {
        sf_characteristic_add(&state, batch->z, batch->n, 1);
        status = sf_spectrum_update(&batch->spectrum, &state, error);
    }
    if (status == SF_OK && batch->reflect)
        sf_spectrum_reflect(&batch->spectrum);
    batch->b_least = fmax(batch->b_least, sf_frame_least_bandwidth(&frame));
    sf_characteristic_close(&state);
    return status;
}

int sf_batch_open(sf_score_batch *batch, const sf_samples *samples, bool reflect, double b_least,
                  double b_most, sf_error *error)
{
    size_t n = samples->n;
    *batch = (sf_score_batch){.n = n, .reflect = reflect, .b_least = b_least, .b_most = b_most};
    int status = sf_samples_standardise(&batch->z, &batch->moments, samples->values, n, error);
    for (size_t i = 0; status == SF_OK && reflect && i < n; i++)
        batch->z[i] = samples->values[i] / batch->moments.sigma;
    if (status == SF_OK) {
        batch->tick = samples->tick / batch->moments.sigma;
        status = find_spectrum(batch, error);
    }
    if (status != SF_OK)
        sf_batch_close(batch);
    return status;
}

void sf_batch_close(sf_score_batch *batch)
{
    sf_free(batch->z);
    sf_spectrum_close(&batch->spectrum);
    *batch = (sf_score_batch){0};
}

int sf_batch_hold_at_tick(sf_score_batch *batch, sf_error *error)
{
    double tick = batch->tick, multiplicity;
    if (!(tick > 0)) {
        if (sf_spectral_ties(&batch->spectrum) < SF_SAMPLES_TIED)
            return SF_OK;
        if (sf_samples_find_tick(&tick, &multiplicity, batch->z, batch->n, batch->b_least / 1000) != SF_OK)
            return sf_fail_memory(error);
    }
    batch->ticking = tick > batch->b_least;
    batch->b_least = fmin(fmax(batch->b_least, tick), batch->b_most);
    return SF_OK;
}

bool sf_batch_can_widen(const sf_score_batch *batch)
{
    return !batch->ticking && batch->spectrum.frame.modes < SF_FRAME_MOST_MODES;
}

int sf_batch_widen(sf_score_batch *batch, sf_error *error)
{
    sf_spectrum_close(&batch->spectrum);
    batch->b_least /= 4;
    return find_spectrum(batch, error);
}
