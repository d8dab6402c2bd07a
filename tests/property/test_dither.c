/* SPDX-License-Identifier: Apache-2.0 */
/* Dithered trains against the obvious: spikes sorted by their turn, and weights summed one by one. */
#include "support/support.h"

#include "core/clock.h"
#include "mine/dither.h"

#include <math.h>

#define MOST 400u
#define BINS 100
#define DEAD_NS (4 * SF_MILLISECOND)

typedef struct trial {
    sf_surrogate_rule rule;
    int64_t times[MOST], moved[MOST];
    uint32_t count, surrogate, train;
} trial;

/* Bursts and pauses on a fine or a coarse clock; on the coarse one some spikes share an instant. */
static void draw_trial(trial *t, test_random *random, sf_surrogate_kind kind)
{
    static const int64_t widths[] = {1, 700000, 15000000, 60000000, 5000000000};
    int64_t at = 0, tick = test_random_below(random, 3) == 0 ? 1000000 : 1,
            dead = (int64_t)test_random_below(random, 3) * 1500000;
    *t = (trial){.rule = {kind, widths[test_random_below(random, 5)], 1, test_random_bits(random)},
                 .count = (uint32_t)test_random_below(random, MOST + 1),
                 .surrogate = (uint32_t)test_random_bits(random) >> 1,
                 .train = (uint32_t)test_random_bits(random)};
    for (uint32_t i = 0; i < t->count; i++) {
        at +=
            dead + (int64_t)test_random_below(random, test_random_below(random, 3) > 0 ? 12000000 : 90000000);
        t->times[i] = at / tick * tick;
    }
}

static void move(trial *t)
{
    sf_dither by;
    assert_int_equal(sf_dither_open(&by, t->rule.kind, t->times, t->count), SF_OK);
    sf_dither_train(t->moved, &by, &t->rule, t->surrogate, t->train, t->times, t->count);
    sf_dither_close(&by);
}

static int64_t dead_time(const trial *t)
{
    int64_t dead = DEAD_NS;
    for (uint32_t i = 1; i < t->count; i++)
        dead = t->times[i] - t->times[i - 1] < dead ? t->times[i] - t->times[i - 1] : dead;
    return dead;
}

/* ---- the obvious ---- */

static uint64_t word_of(const trial *t, uint32_t number, int which)
{
    uint64_t words[2];
    sf_random_block(words, t->rule.seed, UINT64_C(1) << 63 | (uint64_t)t->rule.kind << 32 | t->surrogate,
                    (uint64_t)t->train << 32 | number);
    return words[which];
}

static int64_t one_of(uint64_t bits, uint64_t limit)
{
    return (int64_t)(((unsigned __int128)bits * limit) >> 64);
}

/* Anywhere from `low` to `high`. */
static int64_t anywhere(int64_t low, int64_t high, uint64_t bits)
{
    return low + one_of(bits, (uint64_t)(high - low) + 1);
}

/* As far as the width and the neighbours, wherever they are now, allow. */
static void find_room(const trial *t, const int64_t *now, uint32_t i, int64_t *low, int64_t *high)
{
    *low = now[i] - t->rule.width_ns;
    *high = now[i] + t->rule.width_ns;
    if (i > 0 && now[i - 1] + dead_time(t) > *low) *low = now[i - 1] + dead_time(t);
    if (i + 1 < t->count && now[i + 1] - dead_time(t) < *high) *high = now[i + 1] - dead_time(t);
}

static void dither(const trial *t, int64_t *now)
{
    bool done[MOST] = {false};
    for (uint32_t turn = 0; turn < t->count; turn++) {
        uint32_t next = MOST;
        int64_t low, high;
        for (uint32_t i = 0; i < t->count; i++)
            if (!done[i] && (next == MOST || word_of(t, i, 1) < word_of(t, next, 1))) next = i;
        find_room(t, now, next, &low, &high);
        now[next] = anywhere(low, high, word_of(t, next, 0));
        done[next] = true;
    }
}

/* Where a bin's weight goes by one smoothing in one direction: half of it stays, a quarter to either side,
 * and what would leave the bins from `first` on stays. In units of a quarter. */
static void spread(uint64_t into[BINS][BINS], uint64_t from[BINS][BINS], int64_t first, bool across)
{
    memset(into, 0, sizeof(uint64_t[BINS][BINS]));
    for (int64_t a = first; a < BINS; a++)
        for (int64_t b = first; b < BINS; b++)
            for (int64_t step = -1; step <= 1; step++) {
                int64_t to = (across ? b : a) + step, kept = to < first ? first : to >= BINS ? BINS - 1 : to;
                into[across ? a : kept][across ? kept : b] += (step == 0 ? 2 : 1) * from[a][b];
            }
}

static void weigh(const trial *t, uint64_t weights[BINS][BINS])
{
    static uint64_t other[BINS][BINS];
    memset(weights, 0, sizeof(uint64_t[BINS][BINS]));
    for (uint32_t i = 1; i + 1 < t->count; i++) {
        int64_t a = (t->times[i] - t->times[i - 1]) / SF_MILLISECOND,
                b = (t->times[i + 1] - t->times[i]) / SF_MILLISECOND;
        if (a < BINS && b < BINS) weights[a][b]++;
    }
    for (int pass = 0; pass < 16; pass++) {
        spread(other, weights, dead_time(t) / SF_MILLISECOND, pass % 2 == 1);
        memcpy(weights, other, sizeof other);
    }
}

/* Every step of whole bins that room allows, by its weight. */
static int64_t step_of(const trial *t, uint64_t weights[BINS][BINS], const int64_t *now, uint32_t i)
{
    int64_t low, high, a = (now[i] - now[i - 1]) / SF_MILLISECOND, b = (now[i + 1] - now[i]) / SF_MILLISECOND;
    uint64_t sum = 0, bits = word_of(t, i, 0);
    find_room(t, now, i, &low, &high);
    for (int64_t step = -a; a + b < BINS && step <= b; step++)
        if (now[i] + step * SF_MILLISECOND >= low && now[i] + step * SF_MILLISECOND <= high)
            sum += weights[a + step][b - step];
    if (sum == 0) return anywhere(low, high, bits);
    uint64_t drawn = (uint64_t)one_of(bits, sum);
    for (int64_t step = -a;; step++) {
        if (now[i] + step * SF_MILLISECOND < low) continue;
        if (drawn < weights[a + step][b - step]) return now[i] + step * SF_MILLISECOND;
        drawn -= weights[a + step][b - step];
    }
}

static void dither_jointly(const trial *t, int64_t *now)
{
    static uint64_t weights[BINS][BINS];
    weigh(t, weights);
    for (uint32_t first = 1; first <= 2; first++)
        for (uint32_t i = first; i + 1 < t->count; i += 2)
            now[i] = step_of(t, weights, now, i);
}

/* ---- properties ---- */

static void check_train(const trial *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        assert_true(llabs(t->moved[i] - t->times[i]) <= t->rule.width_ns);
        assert_true(i == 0 || t->moved[i] - t->moved[i - 1] >= dead_time(t));
    }
}

static void check_kind(sf_surrogate_kind kind, void (*obvious)(const trial *, int64_t *), uint64_t seed)
{
    test_random random = test_random_start("dithering", seed);
    uint64_t moved = 0;
    for (int round = 0; round < 200; round++) {
        trial t;
        int64_t now[MOST];
        draw_trial(&t, &random, kind);
        move(&t);
        check_train(&t);
        memcpy(now, t.times, sizeof now);
        obvious(&t, now);
        for (uint32_t i = 0; i < t.count; i++) {
            assert_int_equal(t.moved[i], now[i]);
            moved += t.moved[i] != t.times[i];
        }
    }
    assert_true(moved > 20000);
}

static void spikes_are_dithered_in_their_turn(void **state)
{
    (void)state;
    check_kind(SF_SURROGATE_DITHER, dither, 91);
}

static void spikes_are_dithered_as_intervals_follow_each_other(void **state)
{
    (void)state;
    check_kind(SF_SURROGATE_JOINT_ISI, dither_jointly, 92);
}

/* Where neighbours are far, all places within the width are alike. */
static void spikes_that_stand_alone_go_anywhere(void **state)
{
    (void)state;
    enum { PARTS = 10, SURROGATES = 200 };
    for (int kind = SF_SURROGATE_DITHER; kind <= SF_SURROGATE_JOINT_ISI; kind++) {
        double counts[PARTS] = {0}, chi = 0, all = 0;
        trial t = {.rule = {(sf_surrogate_kind)kind, 20 * SF_MILLISECOND, 1, 5}, .count = MOST, .train = 3};
        for (uint32_t i = 0; i < MOST; i++)
            t.times[i] = (int64_t)i * SF_SECOND;
        for (t.surrogate = 0; t.surrogate < SURROGATES; t.surrogate++) {
            move(&t);
            for (uint32_t i = 1; i + 1 < MOST; i++) {
                double at =
                    (double)(t.moved[i] - t.times[i] + t.rule.width_ns) / (double)(2 * t.rule.width_ns + 1);
                counts[(int)(at * PARTS)]++;
                all++;
            }
        }
        for (int part = 0; part < PARTS; part++)
            chi += (counts[part] - all / PARTS) * (counts[part] - all / PARTS) / (all / PARTS);
        assert_true(chi < 33); /* 9 degrees of freedom, 1 in 10,000 */
    }
}

/* Units that fire in doublets of 5 ms keep them by joint-isi, and lose them by dither. */
static void intervals_are_kept_by_joint_isi_alone(void **state)
{
    (void)state;
    test_random random = test_random_start("doublets", 93);
    double kept[2];
    for (int kind = 0; kind < 2; kind++) {
        trial t = {.rule = {(sf_surrogate_kind)(SF_SURROGATE_DITHER + kind), 20 * SF_MILLISECOND, 1, 5},
                   .count = MOST};
        for (uint32_t i = 0; i < MOST; i += 2) {
            t.times[i] = (int64_t)i * 40 * SF_MILLISECOND + (int64_t)test_random_below(&random, 20000000);
            t.times[i + 1] = t.times[i] + 5 * SF_MILLISECOND;
        }
        move(&t);
        kept[kind] = 0;
        for (uint32_t i = 0; i < MOST; i += 2)
            kept[kind] += t.moved[i + 1] - t.moved[i] < 10 * SF_MILLISECOND;
    }
    assert_true(kept[0] < 0.5 * MOST / 2);
    assert_true(kept[1] > 0.9 * MOST / 2);
}

static int open_joint(void *context)
{
    const trial *t = context;
    sf_dither by;
    int status = sf_dither_open(&by, t->rule.kind, t->times, t->count);
    sf_dither_close(&by);
    return status;
}

static void opening_may_run_out_of_memory(void **state)
{
    (void)state;
    trial t = {.rule.kind = SF_SURROGATE_JOINT_ISI, .times = {1, 2, 3}, .count = 3};
    test_fail_every_allocation(open_joint, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_are_dithered_in_their_turn),
        cmocka_unit_test(spikes_are_dithered_as_intervals_follow_each_other),
        cmocka_unit_test(spikes_that_stand_alone_go_anywhere),
        cmocka_unit_test(intervals_are_kept_by_joint_isi_alone),
        cmocka_unit_test(opening_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
