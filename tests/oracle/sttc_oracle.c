/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/sttc_oracle.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The span that a time lies in: of two that meet there, the later. */
static size_t span_of(int64_t t, const sf_sttc_options *options)
{
    size_t k = options->observed_count - 1;
    while (k > 0 && t < options->observed[k].start_ns)
        k--;
    return k;
}

/* The interval between two nanoseconds is tiled where one spike's tile holds both ends. */
static double tiled(sf_train train, const sf_sttc_options *options)
{
    int64_t count = 0, all = 0, dt = options->dt_ns;
    for (size_t k = 0; k < options->observed_count; k++)
        for (int64_t t = options->observed[k].start_ns; t < options->observed[k].stop_ns; t++, all++) {
            bool is_tiled = false;
            for (size_t i = 0; i < train.count; i++)
                is_tiled |= span_of(train.times_ns[i], options) == k && train.times_ns[i] - dt <= t &&
                            t + 1 <= train.times_ns[i] + dt;
            count += is_tiled;
        }
    return (double)count / (double)all;
}

static double close(sf_train a, sf_train b, const sf_sttc_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < a.count; i++) {
        bool is_close = false;
        for (size_t j = 0; j < b.count; j++)
            is_close |= llabs(a.times_ns[i] - b.times_ns[j]) <= options->dt_ns &&
                        span_of(a.times_ns[i], options) == span_of(b.times_ns[j], options);
        count += is_close;
    }
    return (double)count / (double)a.count;
}

static double combine(double pa, double pb, double ta, double tb)
{
    double first = pa * tb == 1 ? 1 : (pa - tb) / (1 - pa * tb);
    double second = pb * ta == 1 ? 1 : (pb - ta) / (1 - pb * ta);
    return (first + second) / 2;
}

double sttc_oracle_in(sf_train a, sf_train b, const sf_sttc_options *options)
{
    if (a.count == 0 || b.count == 0) return NAN;
    return combine(close(a, b, options), close(b, a, options), tiled(a, options), tiled(b, options));
}

double sttc_oracle(sf_train a, sf_train b, int64_t dt_ns, sf_recorded recorded)
{
    const sf_span span = {recorded.start_ns, recorded.stop_ns};
    const sf_sttc_options options = {.dt_ns = dt_ns, .observed = &span, .observed_count = 1};
    return sttc_oracle_in(a, b, &options);
}

/* ---- p and q ---- */

enum { UNITS = 8, SPIKES = 64 };

typedef struct surrogate {
    int64_t times_ns[UNITS][SPIKES];
} surrogate;

/* Every spike moves by the amount of its train in its span, and what passes the end comes in at the start. */
static void shift(surrogate *to, const sf_unit_trains *trains, const sf_sttc_options *options,
                  uint32_t number)
{
    philox4x32_key_t key = {{(uint32_t)options->seed, (uint32_t)(options->seed >> 32)}};
    for (uint32_t u = 0; u < trains->count; u++)
        for (size_t i = 0; i < trains->items[u].count; i++) {
            size_t k = span_of(trains->items[u].times_ns[i], options);
            sf_span span = options->observed[k];
            philox4x32_ctr_t counter = {{u, number, (uint32_t)k, 0}};
            philox4x32_ctr_t random = philox4x32(counter, key);
            uint64_t by = (uint64_t)random.v[0] << 32 | random.v[1];
            uint64_t length = (uint64_t)(span.stop_ns - span.start_ns);
            uint64_t into = (uint64_t)(trains->items[u].times_ns[i] - span.start_ns);
            to->times_ns[u][i] = span.start_ns + (int64_t)((into + by % length) % length);
        }
}

/* What a pair has in the recording, number 0, and in all surrogates: its coefficient with the tiles of the
 * recording, above that of trains that never meet. */
static void list_rises(double *rises, size_t a, size_t b, const sf_unit_trains *trains,
                       const sf_sttc_options *options)
{
    double ta = tiled(trains->items[a], options), tb = tiled(trains->items[b], options);
    for (uint32_t s = 0; s <= options->surrogates; s++) {
        surrogate shifted;
        sf_train x = trains->items[a], y = trains->items[b];
        if (s > 0) {
            shift(&shifted, trains, options, s - 1);
            x.times_ns = shifted.times_ns[a];
            y.times_ns = shifted.times_ns[b];
        }
        rises[s] = combine(close(x, y, options), close(y, x, options), ta, tb) + (ta + tb) / 2;
    }
}

/* The rises of a pair as standard scores, by the cube root; moments are of millionths or so. */
static void score(double *scores, const double *rises, uint32_t count)
{
    double mean = 0, squares = 0;
    for (uint32_t s = 0; s < count; s++)
        mean += round(rises[s] * 1048576) / 1048576 / count;
    for (uint32_t s = 0; s < count; s++)
        squares += pow(round(rises[s] * 1048576) / 1048576 - mean, 2) / count;
    double spread = mean > 0 ? squares / (mean * mean) / 9 : 0;
    for (uint32_t s = 0; s < count; s++)
        scores[s] = spread > 1e-12 ? (cbrt(rises[s] / mean) - 1 + spread) / sqrt(spread) : -INFINITY;
}

void sttc_oracle_test(double *p, double *q, const sf_unit_trains *trains, const sf_sttc_options *options)
{
    uint32_t count = options->surrogates + 1;
    size_t pairs = trains->count * (trains->count - 1) / 2, place = 0;
    double *rises = calloc(count, sizeof *rises), *scores = calloc(pairs * count, sizeof *scores);
    double *maxima = calloc(count, sizeof *maxima);
    for (uint32_t s = 0; s < count; s++)
        maxima[s] = -INFINITY;
    for (size_t a = 0; a < trains->count; a++)
        for (size_t b = a + 1; b < trains->count; b++) {
            if (trains->items[a].count == 0 || trains->items[b].count == 0) continue;
            list_rises(rises, a, b, trains, options);
            score(scores + place * count, rises, count);
            p[place] = 0;
            for (uint32_t s = 0; s < count; s++) {
                p[place] += rises[s] >= rises[0] - 1e-12 ? 1.0 / count : 0;
                maxima[s] = fmax(maxima[s], scores[place * count + s]);
            }
            place++;
        }
    for (size_t i = 0; i < place; i++) {
        q[i] = 1.0 / count;
        for (uint32_t s = 1; s < count; s++)
            q[i] += maxima[s] >= scores[i * count] - 1e-9 ? 1.0 / count : 0;
    }
    free(rises);
    free(scores);
    free(maxima);
}
