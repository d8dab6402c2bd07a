/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/criticality_oracle.h"

#include <math.h>
#include <stdlib.h>

size_t oracle_avalanches(sf_avalanche *items, const sf_spike *spikes, size_t count, sf_span span,
                         int64_t bin_ns)
{
    size_t bins = (size_t)((span.stop_ns - span.start_ns) / bin_ns), found = 0;
    uint64_t *held = calloc(bins + 1, sizeof *held);
    for (size_t i = 0; i < count; i++)
        if (spikes[i].time_ns >= span.start_ns && spikes[i].time_ns < span.stop_ns)
            held[(spikes[i].time_ns - span.start_ns) / bin_ns]++; /* the last one is not whole */
    for (size_t from = 1; from < bins; from++) {
        size_t to = from;
        uint64_t size = 0;
        if (held[from] == 0 || held[from - 1] != 0) continue;
        while (to < bins && held[to] != 0)
            size += held[to++];
        if (to < bins)
            items[found++] = (sf_avalanche){.start_ns = span.start_ns + (int64_t)from * bin_ns,
                                            .stop_ns = span.start_ns + (int64_t)to * bin_ns,
                                            .spikes = size,
                                            .bins = to - from};
    }
    free(held);
    return found;
}

double oracle_slope(const sf_population *p, size_t k)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < p->interval_count; i++)
        for (size_t t = p->first[i]; t + k < p->first[i + 1]; t++) {
            n++;
            x += p->counts[t];
            y += p->counts[t + k];
        }
    for (size_t i = 0; i < p->interval_count; i++)
        for (size_t t = p->first[i]; t + k < p->first[i + 1]; t++) {
            xx += (p->counts[t] - x / n) * (p->counts[t] - x / n);
            xy += (p->counts[t] - x / n) * (p->counts[t + k] - y / n);
        }
    return xy / xx;
}

double oracle_branching_ratio(const double *r, size_t lags)
{
    double best = NAN, least = INFINITY;
    for (double log_tau = log(0.1); log_tau < log(100 * (double)lags); log_tau += 2e-4) {
        double m = exp(-exp(-log_tau)), above = 0, below = 0, squares = 0;
        for (size_t k = 1; k <= lags; k++) {
            above += r[k - 1] * pow(m, (double)k);
            below += pow(m, 2 * (double)k);
        }
        for (size_t k = 1; k <= lags; k++)
            squares += pow(r[k - 1] - above / below * pow(m, (double)k), 2);
        if (squares < least) {
            least = squares;
            best = m;
        }
    }
    return best;
}

double oracle_zeta(double a, double x)
{
    double sum = 0, terms = 5000;
    for (double k = terms - 1; k >= 0; k--) /* the small ones first */
        sum += pow(x + k, -a);
    return sum + pow(x + terms - 0.5, 1 - a) / (a - 1);
}

/* ln of the likelihood, by a sum of its own for each exponent. */
static double log_likelihood(const uint64_t *values, size_t count, uint64_t xmin, double a)
{
    double sum = 0, all = log(oracle_zeta(a, (double)xmin));
    for (size_t i = 0; i < count; i++)
        sum -= values[i] >= xmin ? a * log((double)values[i]) + all : 0;
    return sum;
}

/* It has one maximum: thirds of an interval are left out in turn. */
static double best_exponent(const uint64_t *values, size_t count, uint64_t xmin)
{
    double low = 1.0001, high = 10;
    while (high - low > 1e-6) {
        double one = low + (high - low) / 3, other = high - (high - low) / 3;
        if (log_likelihood(values, count, xmin, one) < log_likelihood(values, count, xmin, other))
            low = one;
        else
            high = other;
    }
    return (low + high) / 2;
}

oracle_power oracle_power_fit(const uint64_t *values, size_t count, size_t least)
{
    oracle_power best = {0, NAN, INFINITY};
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    for (uint64_t xmin = 1; xmin < most; xmin++) {
        size_t tail = 0, is_value = 0;
        for (size_t i = 0; i < count; i++) {
            tail += values[i] >= xmin;
            is_value += values[i] == xmin;
        }
        if (is_value == 0 || tail < least) continue;
        double a = best_exponent(values, count, xmin), all = oracle_zeta(a, (double)xmin), upto = 0,
               distance = 0;
        for (uint64_t x = xmin; x <= most; x++) {
            size_t held = 0;
            upto += pow((double)x, -a) / all;
            for (size_t i = 0; i < count; i++)
                held += values[i] >= xmin && values[i] <= x;
            distance = fmax(distance, fabs((double)held / (double)tail - upto));
        }
        if (distance < best.distance) best = (oracle_power){xmin, a, distance};
    }
    return best;
}
