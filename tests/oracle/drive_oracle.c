/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/drive_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 6, GAP = 150, BINS = 2000, REGRESSORS = 64, MS = 1000000 };

typedef struct trains {
    uint8_t fired[UNITS][BINS]; /* with room without spikes between spans and at either end */
    size_t units, recorded;
    uint32_t first_lag, last_lag;
} trains;

static void lay_out(trains *t, const sf_spike *spikes, size_t count, const sf_span *observed,
                    size_t observed_count)
{
    size_t at = GAP;
    for (size_t s = 0; s < observed_count; s++) {
        size_t bins = (size_t)((observed[s].stop_ns - observed[s].start_ns + MS - 1) / MS);
        for (size_t i = 0; i < count; i++)
            if (spikes[i].time_ns >= observed[s].start_ns && spikes[i].time_ns < observed[s].stop_ns)
                t->fired[spikes[i].unit][at + (size_t)((spikes[i].time_ns - observed[s].start_ns) / MS)] = 1;
        t->recorded += bins;
        at += bins + GAP;
    }
}

static double spikes_of(const trains *t, size_t unit)
{
    double sum = 0;
    for (size_t bin = 0; bin < BINS; bin++)
        sum += t->fired[unit][bin];
    return sum;
}

static double counted(const trains *t, size_t from, size_t to, int lag)
{
    double sum = 0;
    for (int bin = GAP; bin < BINS - GAP; bin++)
        sum += t->fired[from][bin] * t->fired[to][bin + lag];
    return sum;
}

static double excess(const trains *t, size_t from, size_t to)
{
    int width = (int)ceil(1.5 * t->last_lag);
    double found = 0, expected = 0;
    for (int lag = (int)t->first_lag; lag <= (int)t->last_lag; lag++) {
        found += counted(t, from, to, lag);
        for (int x = 0; x < width; x++) /* either train by up to the width */
            for (int y = 0; y < width; y++)
                expected += counted(t, from, to, lag + x - y) / width / width;
    }
    return expected > 0 ? (found - expected) / sqrt(expected) : 0;
}

/* De Blasi et al. 2019, equations 1 to 4, every filter by itself. */
static double tspe(const trains *t, size_t from, size_t to)
{
    double best = 0, bins = (double)t->recorded, x = spikes_of(t, from), y = spikes_of(t, to);
    double scale = sqrt(x - x * x / bins) * sqrt(y - y * y / bins);
    for (int lag = (int)t->first_lag; lag <= (int)t->last_lag; lag++) {
        double all = 0;
        for (int surround = 3; surround <= 8; surround++)
            for (int seen = 2; seen <= 6; seen++)
                for (int run = 0; run < seen; run++) /* the running sum */
                    for (int i = 0; i < 2 * surround + seen; i++) {
                        bool inside = i >= surround && i < surround + seen;
                        int at = lag + i + run - (surround + seen - 1);
                        double correlation = (counted(t, from, to, at) - x * y / bins) / scale;
                        all += correlation * (inside ? 2.0 / seen : -1.0 / surround);
                    }
        if (fabs(all) > fabs(best)) best = all;
    }
    return best;
}

/* Over all recorded bins, counted by what fired in them and before them. */
static double transfer_entropy(const trains *t, size_t from, size_t to)
{
    double best = 0, bins = (double)t->recorded;
    for (int lag = (int)t->first_lag; lag <= (int)t->last_lag; lag++) {
        double cells[2][2][2] = {0}, sum = 0, together = counted(t, from, to, lag);
        for (int bin = lag; bin < BINS; bin++)
            cells[t->fired[to][bin]][t->fired[to][bin - 1]][t->fired[from][bin - lag]]++;
        double others = cells[0][0][0] + cells[0][0][1] + cells[0][1][0] + cells[0][1][1] + cells[1][0][0] +
                        cells[1][0][1] + cells[1][1][0] + cells[1][1][1] - cells[0][0][0];
        cells[0][0][0] = bins - others; /* the bins of the gaps are none */
        for (int y = 0; y < 2; y++)
            for (int past = 0; past < 2; past++)
                for (int x = 0; x < 2; x++) {
                    double c = cells[y][past][x], with = c + cells[!y][past][x];
                    double alike = cells[y][past][0] + cells[y][past][1],
                           all = alike + cells[!y][past][0] + cells[!y][past][1];
                    sum += c > 0 ? c / bins * log2(c / with / (alike / all)) : 0;
                }
        if (sum > fabs(best)) best = together * bins >= spikes_of(t, from) * spikes_of(t, to) ? sum : -sum;
    }
    return best;
}

static bool fires_within(const trains *t, size_t unit, int from, int to)
{
    for (int bin = from; bin <= to; bin++)
        if (bin >= 0 && bin < BINS && t->fired[unit][bin]) return true;
    return false;
}

static double directed_tiling(const trains *t, size_t from, size_t to)
{
    int first = (int)t->first_lag, last = (int)t->last_lag;
    double followed = 0, preceded = 0, tiled[2] = {0};
    for (int bin = 0; bin < BINS; bin++) {
        followed += t->fired[from][bin] && fires_within(t, to, bin + first, bin + last);
        preceded += t->fired[to][bin] && fires_within(t, from, bin - last, bin - first);
        tiled[0] += fires_within(t, from, bin - last, bin - first);
        tiled[1] += fires_within(t, to, bin + first, bin + last);
    }
    followed /= spikes_of(t, from), preceded /= spikes_of(t, to);
    tiled[0] /= (double)t->recorded, tiled[1] /= (double)t->recorded;
    return ((followed - tiled[1]) / (1 - followed * tiled[1]) +
            (preceded - tiled[0]) / (1 - preceded * tiled[0])) /
           2;
}

/* ---- the regression, by its columns ---- */

typedef struct regressor {
    size_t unit;
    int first, last;
    bool asked;
} regressor;

static size_t add_windows(regressor *list, size_t count, size_t unit, int first, int last, bool asked)
{
    for (int lag = first; lag <= last;) {
        int end = 2 * lag - 1 < last ? 2 * lag - 1 : last;
        list[count++] = (regressor){unit, lag, end, asked};
        lag = end + 1;
    }
    return count;
}

static size_t list_regressors(regressor *list, const trains *t)
{
    size_t count = 0;
    for (size_t unit = 0; unit < t->units; unit++) {
        count = add_windows(list, count, unit, 1, (int)t->first_lag - 1, false);
        count = add_windows(list, count, unit, (int)t->first_lag, (int)t->last_lag, true);
        count = add_windows(list, count, unit, (int)t->last_lag + 1, 2 * (int)t->last_lag, false);
    }
    return count;
}

static double column(const trains *t, const regressor *r, int bin)
{
    double sum = 0;
    for (int lag = r->first; lag <= r->last; lag++)
        sum += bin - lag >= 0 ? t->fired[r->unit][bin - lag] : 0;
    return sum;
}

/* Gauss and Jordan, with the inverse. */
static void invert(double matrix[REGRESSORS][2 * REGRESSORS], size_t size)
{
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            matrix[i][size + j] = i == j;
    for (size_t i = 0; i < size; i++) {
        double pivot = matrix[i][i];
        for (size_t j = 0; j < 2 * size; j++)
            matrix[i][j] /= pivot;
        for (size_t k = 0; k < size; k++) {
            double by = matrix[k][i];
            for (size_t j = 0; j < 2 * size && k != i; j++)
                matrix[k][j] -= by * matrix[i][j];
        }
    }
}

static void regress(double *statistic, const trains *t)
{
    static double matrix[REGRESSORS][2 * REGRESSORS];
    static double columns[REGRESSORS][BINS];
    regressor list[REGRESSORS];
    size_t count = list_regressors(list, t);
    double bins = (double)t->recorded;
    for (size_t i = 0; i < count; i++)
        for (int bin = 0; bin < BINS; bin++)
            columns[i][bin] = column(t, &list[i], bin);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            double sum = 0, means = spikes_of(t, list[i].unit) * spikes_of(t, list[j].unit) / bins / bins;
            for (int bin = 0; bin < BINS; bin++)
                sum += columns[i][bin] * columns[j][bin];
            means *= (list[i].last - list[i].first + 1) * (list[j].last - list[j].first + 1);
            matrix[i][j] = (sum / bins - means) * (i == j ? 1 + 1e-6 : 1);
        }
    invert(matrix, count);
    for (size_t to = 0; to < t->units; to++) {
        double share = spikes_of(t, to) / bins;
        for (size_t from = 0; from < t->units; from++) {
            double effect = 0, variance = 0;
            for (size_t i = 0; i < count; i++) {
                double weight = list[i].unit == from && list[i].asked ? list[i].last - list[i].first + 1 : 0;
                for (size_t j = 0; j < count && weight > 0; j++) {
                    double with_next = 0, other = list[j].unit == from && list[j].asked
                                                      ? list[j].last - list[j].first + 1
                                                      : 0;
                    for (int bin = 0; bin < BINS; bin++)
                        with_next += columns[j][bin] * t->fired[to][bin];
                    with_next = with_next / bins - spikes_of(t, list[j].unit) / bins * share *
                                                       (list[j].last - list[j].first + 1);
                    effect += weight * matrix[i][count + j] * with_next;
                    variance += weight * matrix[i][count + j] * other;
                }
            }
            statistic[from * t->units + to] = effect / sqrt(variance * share * (1 - share) / bins);
        }
    }
}

void drive_oracle(double *statistic, sf_drive_method method, const sf_spike *spikes, size_t count,
                  size_t units, const sf_span *observed, size_t observed_count, uint32_t first_lag,
                  uint32_t last_lag)
{
    static trains t;
    memset(&t, 0, sizeof t);
    t.units = units;
    t.first_lag = first_lag;
    t.last_lag = last_lag;
    lay_out(&t, spikes, count, observed, observed_count);
    if (method == SF_DRIVE_REGRESSION) regress(statistic, &t);
    for (size_t from = 0; from < units; from++)
        for (size_t to = 0; to < units; to++)
            if (from == to)
                statistic[from * units + to] = 0;
            else if (method != SF_DRIVE_REGRESSION)
                statistic[from * units + to] =
                    (method == SF_DRIVE_EXCESS             ? excess
                     : method == SF_DRIVE_TSPE             ? tspe
                     : method == SF_DRIVE_TRANSFER_ENTROPY ? transfer_entropy
                                                           : directed_tiling)(&t, from, to);
}
