/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/responses_oracle.h"

#include "core/random.h"

#include <math.h>
#include <stdlib.h>

bool oracle_is_recorded(const sf_recording *recording, int64_t time_ns)
{
    for (size_t i = 0; i < recording->observed_count; i++)
        if (time_ns >= recording->observed[i].start_ns && time_ns < recording->observed[i].stop_ns)
            return true;
    return recording->observed_count == 0 && time_ns >= recording->recorded.start_ns &&
           time_ns < recording->recorded.stop_ns;
}

/* Windows before a marker end at it, one after the other. */
static int64_t begin_of(const sf_response_options *options, int64_t marker_ns, uint64_t window)
{
    int64_t length = options->to_ns - options->from_ns, begin = marker_ns;
    if (window == 0) return marker_ns + options->from_ns;
    for (uint64_t w = 0; w < window; w++)
        begin -= length;
    return begin;
}

static bool is_exposed(const sf_recording *recording, const sf_response_options *options, int64_t marker_ns,
                       int64_t offset_ns)
{
    for (uint64_t w = 0; w <= options->baseline; w++)
        if (!oracle_is_recorded(recording, begin_of(options, marker_ns, w) + offset_ns)) return false;
    return true;
}

uint64_t oracle_response_count(const sf_recording *recording, const sf_response_options *options,
                               int64_t marker_ns, uint64_t window, uint32_t unit, int64_t *first_ns)
{
    uint64_t count = 0;
    *first_ns = -1;
    for (size_t i = 0; i < recording->spike_count; i++) {
        int64_t offset = recording->spikes[i].time_ns - begin_of(options, marker_ns, window);
        if (recording->spikes[i].unit != unit || offset < 0 || offset >= options->to_ns - options->from_ns ||
            !is_exposed(recording, options, marker_ns, offset))
            continue;
        *first_ns = count == 0 ? offset : *first_ns;
        count++;
    }
    return count;
}

int64_t oracle_response_exposure(const sf_recording *recording, const sf_response_options *options,
                                 int64_t marker_ns, int64_t step_ns)
{
    int64_t exposed = 0;
    for (int64_t offset = 0; offset < options->to_ns - options->from_ns; offset += step_ns)
        exposed += is_exposed(recording, options, marker_ns, offset) ? step_ns : 0;
    return exposed;
}

/* What the windows of a block of trials count. */
static int64_t of_block(const uint64_t *counts, size_t trials, size_t windows, size_t block, size_t length,
                        size_t window)
{
    int64_t sum = 0;
    for (size_t t = block * length; t < (block + 1) * length && t < trials; t++)
        sum += (int64_t)counts[t * windows + window];
    return sum;
}

/* Windows times the count less the mean of all windows, summed over blocks, with this window of each. */
static int64_t departure(const uint64_t *counts, size_t trials, size_t windows, size_t length,
                         const size_t *chosen)
{
    int64_t sum = 0;
    for (size_t b = 0; b * length < trials; b++) {
        sum += (int64_t)windows * of_block(counts, trials, windows, b, length, chosen[b]);
        for (size_t w = 0; w < windows; w++)
            sum -= of_block(counts, trials, windows, b, length, w);
    }
    return sum;
}

static double variance(const uint64_t *counts, size_t trials, size_t windows, size_t length)
{
    double squares = 0;
    for (size_t b = 0; b * length < trials; b++)
        for (size_t w = 0; w < windows; w++) {
            int64_t away = (int64_t)windows * of_block(counts, trials, windows, b, length, w);
            for (size_t v = 0; v < windows; v++)
                away -= of_block(counts, trials, windows, b, length, v);
            squares += (double)(away * away);
        }
    return squares;
}

static double size_of(int64_t sum, double squares)
{
    return squares > 0 ? (double)sum * (double)sum / squares : 0;
}

static bool differs(const uint64_t *counts, size_t trials, size_t windows)
{
    for (size_t t = 0; t < trials; t++)
        for (size_t w = 1; w < windows; w++)
            if (counts[t * windows + w] != counts[t * windows]) return true;
    return false;
}

static void choose(size_t *chosen, size_t blocks, size_t windows, uint64_t seed, uint64_t level, bool exact,
                   uint64_t permutation)
{
    sf_random random = sf_random_start(seed, level << 48 | permutation);
    for (size_t b = 0; b < blocks; b++) {
        chosen[b] = (size_t)(exact ? permutation % windows : sf_random_below(&random, windows));
        permutation /= windows;
    }
}

/* The share of permutations, one more where those are random: the one that was found. */
static void test_blocks(double *p, double *q, const uint64_t *counts, size_t items, size_t trials,
                        size_t length, uint64_t level, const sf_response_options *options)
{
    size_t windows = (size_t)options->baseline + 1, blocks = (trials + length - 1) / length;
    size_t *chosen = calloc(blocks, sizeof *chosen), *own = calloc(items, sizeof *own),
           *any = calloc(items, sizeof *any), *found = calloc(blocks, sizeof *found);
    double ways = pow((double)windows, (double)blocks);
    bool exact = ways <= (double)options->permutations;
    uint64_t permutations = exact ? (uint64_t)ways : options->permutations;
    for (uint64_t k = 0; k < permutations; k++) {
        double greatest = 0;
        choose(chosen, blocks, windows, options->seed, level, exact, k);
        for (size_t i = 0; i < items; i++) {
            const uint64_t *of = counts + i * trials * windows;
            greatest = fmax(greatest, size_of(departure(of, trials, windows, length, chosen),
                                              variance(of, trials, windows, length)));
        }
        for (size_t i = 0; i < items; i++) {
            const uint64_t *of = counts + i * trials * windows;
            int64_t is = departure(of, trials, windows, length, found);
            own[i] += llabs(departure(of, trials, windows, length, chosen)) >= llabs(is);
            any[i] += greatest >= size_of(is, variance(of, trials, windows, length));
        }
    }
    for (size_t i = 0; i < items; i++) {
        double more = exact ? 0 : 1, all = (double)permutations + more;
        p[i] = fmax(p[i], ((double)own[i] + more) / all);
        q[i] = fmax(q[i], ((double)any[i] + more) / all);
    }
    free(chosen);
    free(own);
    free(any);
    free(found);
}

void oracle_response_test(double *p, double *q, const uint64_t *counts, size_t items, size_t trials,
                          const sf_response_options *options)
{
    size_t windows = (size_t)options->baseline + 1, length = 1;
    for (size_t i = 0; i < items; i++)
        p[i] = q[i] = 0;
    for (uint64_t level = 0; level == 0 || trials / length >= 10; level++, length *= 2)
        test_blocks(p, q, counts, items, trials, length, level, options);
    for (size_t i = 0; i < items; i++)
        if (!differs(counts + i * trials * windows, trials, windows)) p[i] = q[i] = NAN;
}
