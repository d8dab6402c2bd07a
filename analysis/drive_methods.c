/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/drive_methods.h"

#include <math.h>

/* ---- coincidences less those of surrogates ---- */

#define WIDTH_OF_LAST 1.5 /* the width of segment-shift, in largest delays */

/* Segment-shift moves each of both trains by a random offset, so their difference has a triangular
 * distribution: the surrogate mean is the correlogram averaged under a triangle. */
static double surrogate_mean(const sf_drive_pair *pair, int32_t lag, int32_t width)
{
    double sum = 0;
    for (int32_t away = 1 - width; away < width; away++)
        sum += pair->counts[lag + away] * (double)(width - (away < 0 ? -away : away));
    return sum / ((double)width * width);
}

static sf_drive_found find_excess(const sf_drive_pair *pair)
{
    const int32_t width = (int32_t)ceil(WIDTH_OF_LAST * pair->last_lag);
    double counted = 0, expected = 0;
    for (uint32_t lag = pair->first_lag; lag <= pair->last_lag; lag++) {
        counted += pair->counts[lag];
        expected += surrogate_mean(pair, (int32_t)lag, width);
    }
    double value = expected > 0 ? (counted - expected) / sqrt(expected) : 0;
    return (sf_drive_found){.value = value, .first = pair->first_lag, .last = pair->last_lag};
}

/* ---- total spiking probability edges ---- */

enum { LEAST_SURROUND = 3, MOST_SURROUND = 8, LEAST_SEEN = 2, MOST_SEEN = 6, HALF = SF_DRIVE_EDGE_LAGS / 2 };

/* Weight, at the lag `away` from its middle, of the edge filter with these windows after a running sum. Each
 * lag of the inner window weighs 2 / seen, each lag of the surrounds -1 / surround. */
static double edge_weight(int32_t surround, int32_t seen, int32_t away)
{
    double weight = 0;
    for (int32_t sum = 0; sum < seen; sum++) {
        int32_t at =
            away + surround + seen - 1 - sum; /* index in the filter, which has 2 surround + seen lags */
        if (at < 0 || at >= 2 * surround + seen) continue;
        weight += at >= surround && at < surround + seen ? 2.0 / seen : -1.0 / surround;
    }
    return weight;
}

void sf_drive_edge_filter(double weights[SF_DRIVE_EDGE_LAGS])
{
    for (int32_t i = 0; i < SF_DRIVE_EDGE_LAGS; i++) {
        weights[i] = 0;
        for (int32_t surround = LEAST_SURROUND; surround <= MOST_SURROUND; surround++)
            for (int32_t seen = LEAST_SEEN; seen <= MOST_SEEN; seen++)
                weights[i] += edge_weight(surround, seen, i - HALF);
    }
}

static double filtered(const double *weights, int32_t away)
{
    double sum = 0;
    for (int32_t i = away; i < SF_DRIVE_EDGE_LAGS; i++)
        sum += weights[i] * weights[i - away];
    return sum;
}

/* Neighbouring outputs are correlated, because their filters overlap (Bretherton et al., J Climate 12, 1999).
 */
double sf_drive_edge_tries(const double *weights, uint32_t lags)
{
    double sum = 1;
    for (uint32_t away = 1; away < lags && away < SF_DRIVE_EDGE_LAGS; away++) {
        double correlation = filtered(weights, (int32_t)away) / filtered(weights, 0);
        sum += 2 * (1 - away / (double)lags) * correlation * correlation;
    }
    return lags / sum;
}

static double spread(double spikes, double bins)
{
    return sqrt(spikes * (1 - spikes / bins));
}

/* The filter sums to 0, so subtracting a mean, as normalised cross-correlation does, would change nothing. */
static sf_drive_found find_tspe(const sf_drive_pair *pair)
{
    sf_drive_found found = {.first = pair->first_lag, .last = pair->first_lag};
    double scale = spread(pair->from_spikes, pair->bins) * spread(pair->to_spikes, pair->bins);
    for (uint32_t lag = pair->first_lag; lag <= pair->last_lag; lag++) {
        const uint32_t *counts = pair->counts + (int32_t)lag - HALF;
        double sum = 0;
        for (int32_t i = 0; i < SF_DRIVE_EDGE_LAGS; i++)
            sum += pair->edge_filter[i] * counts[i];
        if (fabs(sum) > fabs(found.value)) found = (sf_drive_found){.value = sum, .first = lag, .last = lag};
    }
    found.value /= scale;
    found.error = sqrt(filtered(pair->edge_filter, 0) / pair->bins);
    found.tried = pair->edge_tries;
    return found;
}

/* ---- transfer entropy with delay ---- */

/* Contribution of bins of one kind, in bits: how much better the past of both predicts the bin than the past
 * of one. */
static double bits(double these, double with_past, double alike, double without)
{
    return these > 0 ? these * log2(these / with_past / (alike / without)) : 0;
}

/* Classifies bins by whether the second fires, whether it fired in the bin before, and whether the first
 * fired `lag` bins before. Only bins in which the first fired are counted; the other classes follow from
 * totals. */
static double entropy_at(const sf_drive_pair *p, uint32_t lag)
{
    const double now = p->counts[lag], before = p->counts[(int32_t)lag - 1], both = p->repeats[lag];
    const double fired[2][2] = {{p->from_spikes - now - before + both, before - both}, {now - both, both}};
    const double single = p->to_spikes - p->to_repeats;
    const double all[2][2] = {{p->bins - 2 * single - p->to_repeats, single}, {single, p->to_repeats}};
    double sum = 0;
    for (int past = 0; past < 2; past++) {
        double alike = all[0][past] + all[1][past], with = fired[0][past] + fired[1][past];
        for (int comes = 0; comes < 2; comes++) {
            sum += bits(fired[comes][past], with, all[comes][past], alike);
            sum += bits(all[comes][past] - fired[comes][past], alike - with, all[comes][past], alike);
        }
    }
    return sum / p->bins;
}

static sf_drive_found find_transfer_entropy(const sf_drive_pair *pair)
{
    sf_drive_found found = {.first = pair->first_lag, .last = pair->first_lag};
    for (uint32_t lag = pair->first_lag; lag <= pair->last_lag; lag++) {
        double entropy = entropy_at(pair, lag);
        bool more = pair->counts[lag] * pair->bins >= pair->from_spikes * pair->to_spikes;
        if (entropy > fabs(found.value))
            found = (sf_drive_found){.value = more ? entropy : -entropy, .first = lag, .last = lag};
    }
    /* Twice the log likelihood ratio is chi squared (Wilks 1938), and its root like a normal variable. */
    found.error = sqrt(fabs(found.value) / (2 * M_LN2 * pair->bins));
    found.tried = pair->last_lag - pair->first_lag + 1;
    return found;
}

/* ---- tiling of what follows ---- */

static double tiling_term(double close, double tiled)
{
    double room = 1 - close * tiled;
    return fabs(room) < 1e-12 ? 1 : (close - tiled) / room;
}

static sf_drive_found find_directed_tiling(const sf_drive_pair *pair)
{
    double value = (tiling_term(pair->followed / pair->from_spikes, pair->to_tiled) +
                    tiling_term(pair->preceded / pair->to_spikes, pair->from_tiled)) /
                   2;
    double of_first = pair->to_tiled * (1 - pair->to_tiled) / pair->from_spikes,
           of_second = pair->from_tiled * (1 - pair->from_tiled) / pair->to_spikes;
    return (sf_drive_found){.value = value,
                            .first = pair->first_lag,
                            .last = pair->last_lag,
                            .error = sqrt(of_first + of_second) / 2};
}

const sf_drive_way sf_drive_ways[SF_DRIVE_METHODS] = {
    [SF_DRIVE_REGRESSION] = {.name = "regression", .wider = 1},
    [SF_DRIVE_EXCESS] = {.name = "excess", .wider = WIDTH_OF_LAST, .find = find_excess},
    [SF_DRIVE_TSPE] = {.name = "tspe", .beyond = HALF, .find = find_tspe},
    [SF_DRIVE_TRANSFER_ENTROPY] = {.name = "transfer-entropy",
                                   .repeats = true,
                                   .find = find_transfer_entropy},
    [SF_DRIVE_DIRECTED_STTC] = {.name = "directed-sttc", .tiles = true, .find = find_directed_tiling},
};

uint32_t sf_drive_reach(const sf_drive_job *job)
{
    const sf_drive_way *way = &sf_drive_ways[job->method];
    return job->last_lag + way->beyond + (uint32_t)ceil(way->wider * job->last_lag);
}
