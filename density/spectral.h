/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bandwidths from a spectrum: what a live view calls when it selects again, and what the commands use unless
 * asked for direct sums. Bandwidths are in the unit of the samples; cost O(modes); nothing is allocated.
 */
#ifndef SF_DENSITY_SPECTRAL_H
#define SF_DENSITY_SPECTRAL_H

#include "density/bandwidth.h"
#include "density/search.h"
#include "density/spectrum.h"

/** PLUG-IN with the spectrum's sigma. SF_DATA where it is under 1e-7 of the period: all
 * samples are equal. */
int sf_spectral_plugin(sf_plugin *plugin, const sf_spectrum *spectrum, sf_error *error);

/**
 * The improved Sheather-Jones bandwidth (Botev, Grotowski and Kroese, Annals of Statistics 38, 2010,
 * algorithm 1): the smallest b between b_least and b_most that its own five-stage estimate reproduces. Makes
 * no assumption of normality. Returns NaN where there is none.
 */
double sf_spectral_isj(const sf_spectrum *spectrum, double b_least, double b_most);

/** Least-squares cross-validation as an sf_score_function; context is the sf_spectrum. */
int sf_spectral_lscv(void *context, const double *b, size_t count, double *scores, double *slopes);

/**
 * Mean number of samples in the place of a sample, itself included, as far as modes over t_M/2 see it: 1
 * without ties, more where a clock rounds the samples to steps over about 1.3 sf_frame_least_bandwidth.
 */
double sf_spectral_ties(const sf_spectrum *spectrum);

#endif
