/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/dither.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

#define LONGEST_DEAD_NS (4 * SF_MILLISECOND)

#define BIN_NS SF_MILLISECOND
#define BINS 100u
#define PASSES 8 /* each adds half a bin squared to the variance: 2 bins in all */

/* ---- how often intervals follow each other ---- */

/* The sums of two bins below BINS, each with one more entry than there are first bins. */
static size_t sums_at(size_t both)
{
    return both * (both + 3) / 2;
}

static void count_pairs(uint64_t *weights, const int64_t *times, size_t count)
{
    for (size_t i = 1; i + 1 < count; i++) {
        int64_t before = (times[i] - times[i - 1]) / BIN_NS, after = (times[i + 1] - times[i]) / BIN_NS;
        if (before < BINS && after < BINS) weights[(size_t)before * BINS + (size_t)after]++;
    }
}

/* One line of bins by 1 2 1; what would leave it at an end stays there. */
static void smooth_line(uint64_t *line, size_t step, size_t bins)
{
    uint64_t before = line[0];
    for (size_t i = 0; i < bins; i++) {
        uint64_t own = line[i * step], after = i + 1 < bins ? line[(i + 1) * step] : own;
        line[i * step] = before + 2 * own + after;
        before = own;
    }
}

/* Bins of intervals shorter than the dead time take no part. A train has fewer than 2^32 spikes, and weights
 * grow by 2^32: their sum fits. */
static void smooth(uint64_t *weights, int64_t dead_ns)
{
    size_t first = (size_t)(dead_ns / BIN_NS), bins = BINS - first;
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = first; i < BINS; i++)
            smooth_line(weights + i * BINS + first, 1, bins);
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = first; i < BINS; i++)
            smooth_line(weights + first * BINS + i, BINS, bins);
}

static void add_up(uint64_t *sums, const uint64_t *weights)
{
    for (size_t both = 0; both < BINS; both++) {
        uint64_t *own = sums + sums_at(both);
        for (size_t first = 0; first <= both; first++)
            own[first + 1] = own[first] + weights[first * BINS + both - first];
    }
}

int sf_dither_open(sf_dither *dither, sf_surrogate_kind kind, const int64_t *times, size_t count)
{
    *dither = (sf_dither){.dead_ns = LONGEST_DEAD_NS};
    for (size_t i = 1; i < count; i++)
        if (times[i] - times[i - 1] < dither->dead_ns) dither->dead_ns = times[i] - times[i - 1];
    if (kind != SF_SURROGATE_JOINT_ISI || count < 3) return SF_OK;
    uint64_t *weights = sf_alloc((size_t)BINS * BINS, sizeof *weights);
    dither->sums = sf_alloc(sums_at(BINS), sizeof *dither->sums);
    bool opened = weights != NULL && dither->sums != NULL;
    if (opened) {
        count_pairs(weights, times, count);
        smooth(weights, dither->dead_ns);
        add_up(dither->sums, weights);
    } else {
        sf_dither_close(dither);
    }
    sf_free(weights);
    return opened ? SF_OK : SF_NO_MEMORY;
}

void sf_dither_close(sf_dither *dither)
{
    sf_free(dither->sums);
    *dither = (sf_dither){0};
}

/* ---- moving ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* So far before and after `time` at most, all places equally likely. */
static int64_t place(int64_t time, int64_t before, int64_t after, uint64_t bits)
{
    return time - before + (int64_t)sf_surrogate_below(bits, (uint64_t)(before + after) + 1);
}

static void dither_train(int64_t *moved, const sf_dither *dither, const sf_surrogate_rule *rule,
                         uint32_t surrogate, uint32_t train, const int64_t *times, size_t count)
{
    uint64_t own[2], next[2] = {0};
    size_t begin = 0;
    sf_surrogate_draw(own, rule, surrogate, train, 0);
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        moved[i] = (int64_t)own[0]; /* until its turn comes */
        if (!last) sf_surrogate_draw(next, rule, surrogate, train, (uint32_t)(i + 1));
        if (last || own[1] <= next[1]) { /* i moves before i + 1, and after it those that waited for it */
            for (size_t j = i + 1; j-- > begin;) {
                int64_t before = rule->width_ns, after = rule->width_ns;
                if (j > 0)
                    before = least(before, times[j] - (j > begin ? times : moved)[j - 1] - dither->dead_ns);
                if (j + 1 < count)
                    after = least(after, (j < i ? moved : times)[j + 1] - times[j] - dither->dead_ns);
                moved[j] = place(times[j], before, after, (uint64_t)moved[j]);
            }
            begin = i + 1;
        }
        memcpy(own, next, sizeof own);
    }
}

/* A spike so long after one neighbour and before the other: by how much it moves. */
static int64_t joint_step(const sf_dither *dither, int64_t width_ns, int64_t since, int64_t until,
                          uint64_t bits)
{
    int64_t before = least(width_ns, since - dither->dead_ns),
            after = least(width_ns, until - dither->dead_ns), bin = since / BIN_NS,
            both = bin + until / BIN_NS;
    if (both >= BINS) return place(0, before, after, bits);
    const uint64_t *sums = dither->sums + sums_at((size_t)both);
    size_t low = (size_t)(bin - before / BIN_NS), high = (size_t)(bin + after / BIN_NS) + 1;
    uint64_t weight = sums[high] - sums[low];
    if (weight == 0) return place(0, before, after, bits);
    uint64_t drawn = sums[low] + sf_surrogate_below(bits, weight);
    while (high - low > 1) { /* sums[low] <= drawn < sums[high] */
        size_t middle = low + (high - low) / 2;
        if (sums[middle] <= drawn)
            low = middle;
        else
            high = middle;
    }
    return ((int64_t)low - bin) * BIN_NS;
}

static void joint_train(int64_t *moved, const sf_dither *dither, const sf_surrogate_rule *rule,
                        uint32_t surrogate, uint32_t train, const int64_t *times, size_t count)
{
    if (count > 0) memcpy(moved, times, count * sizeof *moved);
    for (size_t first = 1; first <= 2; first++)
        for (size_t i = first; i + 1 < count; i += 2) {
            uint64_t words[2];
            sf_surrogate_draw(words, rule, surrogate, train, (uint32_t)i);
            moved[i] += joint_step(dither, rule->width_ns, moved[i] - moved[i - 1], moved[i + 1] - moved[i],
                                   words[0]);
        }
}

void sf_dither_train(int64_t *moved, const sf_dither *dither, const sf_surrogate_rule *rule,
                     uint32_t surrogate, uint32_t train, const int64_t *times, size_t count)
{
    if (rule->kind == SF_SURROGATE_JOINT_ISI)
        joint_train(moved, dither, rule, surrogate, train, times, count);
    else
        dither_train(moved, dither, rule, surrogate, train, times, count);
}
