/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences within bursts, beside their definitions. */
#include "analysis/sequences.h"
#include "oracle/sequences_oracle.h"
#include "support/support.h"

#include "core/memory.h"
#include "core/random.h"

#include <math.h>
#include <string.h>

#define MS 1000000LL
#define UNITS 7
#define MOST 12

typedef struct case_of {
    sf_recording recording;
    sf_bursts bursts;
    sf_span spans[MOST + 40];
    sf_unit units[UNITS];
} case_of;

static void put(case_of *c, int64_t time_ns, uint32_t unit)
{
    sf_recording *r = &c->recording;
    r->spikes = realloc(r->spikes, (r->spike_count + 1) * sizeof *r->spikes);
    r->spikes[r->spike_count++] = (sf_spike){.time_ns = time_ns, .unit = unit};
}

static void begin(case_of *c, size_t bursts)
{
    memset(c, 0, sizeof *c);
    c->recording.units = (sf_units){.items = c->units, .count = UNITS};
    c->recording.recorded = (sf_span){0, 1000 * 1000 * MS};
    c->bursts = (sf_bursts){.items = c->spans, .count = bursts};
    for (size_t b = 0; b < bursts; b++)
        c->spans[b] = (sf_span){(int64_t)(b + 1) * 1000 * MS, (int64_t)(b + 1) * 1000 * MS + 200 * MS};
}

/* Spikes of half a millisecond's clock, so that some are at the same time; some bursts are empty. */
static void make_case(case_of *c, test_random *random)
{
    begin(c, test_random_below(random, MOST + 1));
    for (size_t b = 0; b < c->bursts.count; b++) {
        uint64_t most = test_random_below(random, 5);
        for (uint32_t u = 0; u < UNITS && most > 0; u++)
            for (uint64_t i = test_random_below(random, most * (1 + u % 3)); i > 0; i--)
                put(c, c->spans[b].start_ns + (int64_t)test_random_below(random, 400) * MS / 2, u);
        put(c, c->spans[b].stop_ns, 0); /* just behind it */
    }
    assert_int_equal(sf_spikes_sort(c->recording.spikes, c->recording.spike_count, NULL), SF_OK);
}

static void end(case_of *c, sf_sequences *s)
{
    sf_sequences_free(s);
    free(c->recording.spikes);
}

static sf_sequences find(const case_of *c, const sf_sequence_options *options)
{
    sf_sequences s = {0};
    assert_int_equal(sf_sequences_find(&s, &c->recording, &c->bursts, options, NULL), SF_OK);
    return s;
}

static void check_units(const case_of *c, const sf_sequences *s, const sf_sequence_options *options,
                        bool backbone[UNITS])
{
    const bool all[UNITS] = {true, true, true, true, true, true, true};
    oracle_order any = {
        .by = options->order_by, .window_ns = s->window_ns, .least = options->least_spikes, .listed = all};
    oracle_order order = any;
    order.listed = backbone;
    for (uint32_t u = 0; u < UNITS; u++) {
        double bursts = 0;
        for (size_t b = 0; b < c->bursts.count; b++)
            bursts += !isnan(oracle_position(&c->recording, (oracle_burst){&c->spans[b], false}, &any, u));
        backbone[u] = bursts > 0 && bursts >= options->backbone * (double)c->bursts.count;
        assert_int_equal(s->units[u].bursts, (uint64_t)bursts);
        assert_int_equal(s->units[u].backbone, backbone[u]);
    }
    for (uint32_t u = 0; u < UNITS; u++) {
        double sum = 0;
        for (size_t b = 0; b < c->bursts.count; b++) {
            double d = oracle_position(&c->recording, (oracle_burst){&c->spans[b], false}, &order, u);
            sum += isnan(d) ? 0 : d;
        }
        if (backbone[u])
            assert_true(fabs(s->units[u].position - sum / (double)s->units[u].bursts) < 1e-12);
        else
            assert_true(isnan(s->units[u].position));
    }
}

static void same(double found, double expected)
{
    assert_true(isnan(expected) ? isnan(found) : fabs(found - expected) < 1e-12);
}

/* Mean similarity and p of all pairs of bursts, played all ways. */
static double order_p(double *mean, const case_of *c, const oracle_order *order, const sf_sequences *s)
{
    static double similarity[4 * MOST * MOST];
    size_t count = c->bursts.count;
    for (size_t b = 0; b < 2 * count; b++)
        for (size_t d = 0; d < 2 * count; d++) {
            const oracle_burst one = {&c->spans[b / 2], b % 2 == 1}, other = {&c->spans[d / 2], d % 2 == 1};
            double expected = oracle_similarity(&c->recording, one, other, order);
            similarity[b * 2 * count + d] = expected;
            if (s != NULL && b % 2 == 0 && d % 2 == 0) same(s->similarity[b / 2 * count + d / 2], expected);
        }
    return oracle_order_p(similarity, count, mean);
}

static void test_order_is_that_of_all_pairs(void **state)
{
    (void)state;
    test_random random = test_random_start("order of bursts", 20261129);
    for (int round = 0; round < test_rounds(90); round++) {
        case_of c;
        make_case(&c, &random);
        sf_sequence_options options = SF_SEQUENCE_OPTIONS;
        options.order_by = (sf_sequence_order)(round % 3);
        options.surrogates = 19;
        options.least_spikes = 1 + test_random_below(&random, 2);
        sf_sequences s = find(&c, &options);
        bool backbone[UNITS];
        double mean;
        check_units(&c, &s, &options, backbone);
        const oracle_order order = {.by = options.order_by,
                                    .window_ns = s.window_ns,
                                    .least = options.least_spikes,
                                    .listed = backbone};
        same(s.p, order_p(&mean, &c, &order, &s));
        same(s.mean_similarity, mean);
        end(&c, &s);
    }
}

/* With an alpha of 1 all units that have a place keep it. */
static void test_order_of_placed_units_holds_without_each(void **state)
{
    (void)state;
    test_random random = test_random_start("without one", 20261130);
    int with_three = 0, rounds = test_rounds(45);
    for (int round = 0; round < rounds; round++) {
        case_of c;
        make_case(&c, &random);
        sf_sequence_options options = SF_SEQUENCE_OPTIONS;
        options.order_by = (sf_sequence_order)(round % 3);
        options.surrogates = 19;
        options.alpha = 1;
        sf_sequences s = find(&c, &options);
        bool placed[UNITS];
        double least = NAN, mean;
        for (uint32_t u = 0; u < UNITS; u++)
            placed[u] = s.units[u].placed;
        oracle_order order = {.by = options.order_by,
                              .window_ns = s.window_ns,
                              .least = options.least_spikes,
                              .listed = placed};
        same(s.placed_p, order_p(&mean, &c, &order, NULL));
        same(s.placed_similarity, mean);
        order.leaves_out = true;
        for (order.without = 0; order.without < UNITS && !isnan(s.placed_p); order.without++) {
            order_p(&mean, &c, &order, NULL);
            if (placed[order.without] && s.placed >= SF_SEQUENCE_LEAST)
                least = fmin(least, isnan(mean) ? 0 : mean);
        }
        same(s.without_one, least);
        with_three += !isnan(least);
        end(&c, &s);
    }
    assert_true(with_three > rounds / 5);
}

/* A recording played backwards has the same similarities, and the opposite positions. */
static void test_backwards_is_the_opposite(void **state)
{
    (void)state;
    test_random random = test_random_start("bursts played backwards", 20261129);
    const sf_sequence_options options = SF_SEQUENCE_OPTIONS;
    for (int round = 0; round < 20; round++) {
        case_of c, back;
        make_case(&c, &random);
        begin(&back, c.bursts.count);
        for (size_t i = 0; i < c.recording.spike_count; i++)
            for (size_t b = 0; b < c.bursts.count; b++)
                if (c.recording.spikes[i].time_ns >= c.spans[b].start_ns &&
                    c.recording.spikes[i].time_ns < c.spans[b].stop_ns)
                    put(&back,
                        c.spans[b].start_ns + c.spans[b].stop_ns - MS / 2 - c.recording.spikes[i].time_ns,
                        c.recording.spikes[i].unit);
        assert_int_equal(sf_spikes_sort(back.recording.spikes, back.recording.spike_count, NULL), SF_OK);
        sf_sequences s = find(&c, &options), other = find(&back, &options);
        for (uint32_t u = 0; u < UNITS; u++)
            assert_true(isnan(s.units[u].position) ||
                        fabs(s.units[u].position + other.units[u].position) < 1e-12);
        assert_true(isnan(s.p) || fabs(s.p - other.p) < 1e-12);
        end(&c, &s);
        end(&back, &other);
    }
}

/* Beside the same of trains that are moved round each burst, drawn here once more. */
static void check_shape(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                        uint64_t stream)
{
    sf_burst_shape shape;
    double chance = 0;
    assert_int_equal(sf_burst_shape_find(&shape, frame, train, zero_ns, stream, NULL), SF_OK);
    for (uint64_t drawing = 0; drawing < SF_SHAPE_DRAWINGS; drawing++) {
        uint32_t moved[MOST] = {0};
        sf_random random = sf_random_start(frame->seed, stream << 32 | drawing);
        for (size_t b = 0; b < frame->burst_count; b++)
            if (frame->bursts[b].spikes > 0)
                moved[b] = (uint32_t)sf_random_below(&random, frame->bursts[b].spikes);
        chance += oracle_shape(frame, train, zero_ns, moved) / SF_SHAPE_DRAWINGS;
    }
    same(shape.shape, oracle_shape(frame, train, zero_ns, NULL));
    same(shape.chance, chance);
}

static void test_places_are_those_of_all_windows(void **state)
{
    (void)state;
    test_random random = test_random_start("places of units", 20261129);
    for (int round = 0; round < test_rounds(60); round++) {
        case_of c;
        make_case(&c, &random);
        sf_sequence_burst bursts[MOST];
        uint32_t burst_of[2000], rank_of[2000], moved[MOST];
        int64_t zero[MOST];
        sf_sequence_options options = SF_SEQUENCE_OPTIONS;
        options.window_ns = (int64_t)(1 + test_random_below(&random, 3)) * 10 * MS;
        sf_burst_train train = {burst_of, rank_of, 0};
        for (size_t b = 0; b < c.bursts.count; b++) {
            size_t from =
                sf_spikes_lower_bound(c.recording.spikes, c.recording.spike_count, c.spans[b].start_ns);
            size_t to =
                sf_spikes_lower_bound(c.recording.spikes, c.recording.spike_count, c.spans[b].stop_ns);
            bursts[b] = (sf_sequence_burst){.span = c.spans[b], .first_spike = from, .spikes = to - from};
            zero[b] = c.spans[b].start_ns + (int64_t)test_random_below(&random, 50) * MS;
            moved[b] = to > from ? (uint32_t)test_random_below(&random, to - from) : 0;
            for (size_t i = from; i < to; i++)
                if (c.recording.spikes[i].unit == 2) {
                    burst_of[train.count] = (uint32_t)b;
                    rank_of[train.count++] = (uint32_t)(i - from);
                }
        }
        const sf_burst_frame frame = {c.recording.spikes, bursts,      c.bursts.count, options.window_ns,
                                      options.surrogates, options.seed};
        sf_place_scan scan = {0};
        for (int with = 0; with < 2; with++) {
            const uint32_t *moves = with ? moved : NULL;
            sf_best_place best;
            assert_int_equal(sf_burst_place_find(&best, &scan, &frame, &train, zero, moves, NULL), SF_OK);
            assert_int_equal(best.kept, train.count > 0 ? oracle_kept(&frame, &train, zero, moves) : 0);
            if (train.count > 0)
                assert_true(oracle_kept_at(&frame, &train, zero, moves, best.middle_ns) >= best.kept);
        }
        sf_free(scan.steps);
        check_shape(&frame, &train, zero, 1 + (uint64_t)round);
        sf_sequences none = {0};
        end(&c, &none);
    }
}

/* Units 0 to 3 fire 8 ms after each other from somewhere in the burst on, 4 to 6 anywhere; in order, 0 is
 * fast. */
static void plant(case_of *c, test_random *random, size_t bursts, bool in_order)
{
    begin(c, bursts);
    for (size_t b = 0; b < bursts; b++) {
        int64_t start = c->spans[b].start_ns + (int64_t)test_random_below(random, 60) * MS;
        uint32_t order[4] = {0, 1, 2, 3};
        for (uint32_t i = 4; i > 1 && !in_order; i--) {
            uint64_t other = test_random_below(random, i);
            uint32_t one = order[i - 1];
            order[i - 1] = order[other];
            order[other] = one;
        }
        for (uint32_t i = 0; i < 4; i++)
            put(c, start + (8 * i + (int64_t)test_random_below(random, 4)) * MS, order[i]);
        for (uint32_t i = 0; i < 6; i++)
            put(c, c->spans[b].start_ns + (int64_t)test_random_below(random, 200) * MS,
                i < 3 || !in_order ? 4 + i % 3 : 0);
    }
    assert_int_equal(sf_spikes_sort(c->recording.spikes, c->recording.spike_count, NULL), SF_OK);
}

static void test_planted_units_are_told_in_order(void **state)
{
    (void)state;
    test_random random = test_random_start("planted units", 20261129);
    const sf_sequence_options options = SF_SEQUENCE_OPTIONS;
    case_of c;
    plant(&c, &random, 40, true);
    sf_sequences s = find(&c, &options);
    assert_true(s.sequence && !s.counted && s.p == 0.001);
    for (uint32_t u = 1; u < 4; u++) {
        assert_true(s.units[u].member);
        assert_true(s.units[u].order > s.units[u - 1].order || !s.units[u - 1].member);
        assert_true(fabs(s.units[u].place.place_ms - s.units[1].place.place_ms - 8.0 * (u - 1)) < 3);
        assert_true(s.units[u].place.kept > 35 && s.units[u].place.kept_chance < 20);
        assert_true(s.units[u].place.jitter_ms < 4);
        assert_true(s.units[u].shape.shape > 0.6 && s.units[u].shape.chance < 0.3);
    }
    for (size_t b = 0; b < s.burst_count; b++) {
        int64_t late = s.bursts[b].begin_ns - s.bursts[b].span.start_ns;
        assert_true(late > -15 * MS && late < 75 * MS);
        assert_true(s.bursts[b].mean_similarity <= 1 && s.bursts[b].kept <= s.members);
    }
    end(&c, &s);
}

/* The same units in an order that is drawn for each burst are no sequence. */
static void test_random_order_is_none(void **state)
{
    (void)state;
    test_random random = {.state = 11};
    const sf_sequence_options options = SF_SEQUENCE_OPTIONS;
    int sequences = 0, rounds = test_rounds(20);
    for (int round = 0; round < rounds; round++) {
        case_of c;
        plant(&c, &random, 30, false);
        sf_sequences s = find(&c, &options);
        sequences += s.sequence;
        assert_true(s.sequence == (s.members > 0));
        end(&c, &s);
    }
    assert_true(sequences <= rounds / 10);
}

/* Units 0 to 3 lead in any order, and 4 comes late by itself: without that one there is no order. */
static void test_one_late_unit_is_no_sequence(void **state)
{
    (void)state;
    test_random random = test_random_start("one late unit", 20261130);
    for (int by = 0; by < 3; by++) {
        case_of c;
        begin(&c, 50);
        for (size_t b = 0; b < c.bursts.count; b++) {
            uint64_t turn = test_random_below(&random, 24);
            uint32_t left[4] = {0, 1, 2, 3};
            for (uint32_t i = 0; i < 4; i++) {
                uint64_t at = turn % (4 - i);
                turn /= 4 - i;
                put(&c, c.spans[b].start_ns + (8 * i + 1 + (int64_t)test_random_below(&random, 4)) * MS,
                    left[at]);
                left[at] = left[3 - i];
            }
            put(&c, c.spans[b].start_ns + (60 + (int64_t)test_random_below(&random, 4)) * MS, 4);
            for (uint32_t i = 0; i < 6; i++)
                put(&c, c.spans[b].start_ns + (int64_t)test_random_below(&random, 200) * MS, 5 + i % 2);
        }
        assert_int_equal(sf_spikes_sort(c.recording.spikes, c.recording.spike_count, NULL), SF_OK);
        sf_sequence_options options = SF_SEQUENCE_OPTIONS;
        options.order_by = (sf_sequence_order)by;
        options.window_ns = 40 * MS; /* so that those that lead have a place, too */
        sf_sequences s = find(&c, &options);
        assert_true(s.placed >= SF_SEQUENCE_LEAST && s.units[4].placed);
        assert_true(s.p <= 0.05 && s.placed_p <= 0.01 && s.placed_similarity >= 0.1);
        assert_true(s.without_one < 0.25 * s.placed_similarity);
        assert_false(s.sequence);
        end(&c, &s);
    }
}

/* Units 0 to 3 lead in any order, and the more often one fires besides, the later is its peak: by that order
 * alone bursts are similar. */
static void test_leading_in_any_order_is_no_sequence(void **state)
{
    (void)state;
    test_random random = test_random_start("leading in any order", 20261130);
    static const uint32_t besides[] = {2, 2, 2, 3, 3, 3};
    int asked = 0, sequences = 0, rounds = test_rounds(20);
    for (int round = 0; round < rounds; round++) {
        case_of c;
        begin(&c, 50);
        for (size_t b = 0; b < c.bursts.count; b++) {
            uint32_t left[4] = {0, 1, 2, 3};
            for (uint32_t i = 0; i < 4; i++) {
                uint64_t at = test_random_below(&random, 4 - i);
                put(&c, c.spans[b].start_ns + (8 * i + 1 + (int64_t)test_random_below(&random, 4)) * MS,
                    left[at]);
                left[at] = left[3 - i];
            }
            for (uint32_t i = 0; i < 36; i++)
                put(&c, c.spans[b].start_ns + (int64_t)test_random_below(&random, 200) * MS,
                    i < 6 ? besides[i] : 4 + i % 3);
        }
        assert_int_equal(sf_spikes_sort(c.recording.spikes, c.recording.spike_count, NULL), SF_OK);
        sf_sequence_options options = SF_SEQUENCE_OPTIONS;
        options.order_by = SF_ORDER_RATE_PEAK;
        options.window_ns = 30 * MS;
        sf_sequences s = find(&c, &options);
        bool similar = s.placed >= SF_SEQUENCE_LEAST && s.p <= 0.05 && s.placed_p <= 0.01 &&
                       s.placed_similarity >= 0.1 && s.without_one >= s.placed_similarity / SF_SEQUENCE_LEFT;
        assert_true(similar == !isnan(s.dealt_p));
        assert_true(s.sequence == (s.dealt_p <= options.alpha));
        asked += similar;
        sequences += s.sequence;
        end(&c, &s);
    }
    assert_true(asked >= rounds / 2); /* all but the dealing takes them for a sequence */
    assert_true(sequences <= (rounds + 4) / 5);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    test_random random = {.state = 3};
    sf_sequence_options options = SF_SEQUENCE_OPTIONS;
    options.surrogates = 19;
    case_of c;
    plant(&c, &random, 5, true);
    sf_sequences s;
    long successes = 0;
    int status;
    do {
        sf_error error;
        sf_memory_fail_after(successes++);
        s = (sf_sequences){0};
        status = sf_sequences_find(&s, &c.recording, &c.bursts, &options, &error);
        sf_memory_fail_after(-1);
        assert_true(status == SF_OK || status == SF_NO_MEMORY);
        if (status != SF_OK) sf_sequences_free(&s);
    } while (status != SF_OK);
    assert_true(successes > 20);
    end(&c, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_that_of_all_pairs),
        cmocka_unit_test(test_order_of_placed_units_holds_without_each),
        cmocka_unit_test(test_backwards_is_the_opposite),
        cmocka_unit_test(test_places_are_those_of_all_windows),
        cmocka_unit_test(test_planted_units_are_told_in_order),
        cmocka_unit_test(test_random_order_is_none),
        cmocka_unit_test(test_one_late_unit_is_no_sequence),
        cmocka_unit_test(test_leading_in_any_order_is_no_sequence),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
