/* SPDX-License-Identifier: Apache-2.0 */
/* Significance while a stream goes on: what tests of one stretch after the other say, and when. */
#include "support/support.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/memory.h"
#include "core/text.h"
#include "mine/evidence.h"
#include "mine/given.h"
#include "mine/significance.h"
#include "pipeline/past.h"
#include "pipeline/random_pairs.h"
#include "pipeline/testing.h"

#include <inttypes.h>
#include <math.h>

#define UNITS 12

/* ---- evidence ---- */

/* The same from all beginnings: a stake of 1 / (k (k + 1)) enters at test k. */
static double evidence_by_sums(const double *p, uint32_t tests)
{
    double sum = 1 / ((double)tests + 1);
    for (uint32_t k = 1; k <= tests; k++) {
        double staked = 1 / ((double)k * (k + 1));
        for (uint32_t n = k; n <= tests; n++)
            staked *= (1 - p[n - 1] + p[n - 1] * log(p[n - 1])) / (p[n - 1] * log(p[n - 1]) * log(p[n - 1]));
        sum += staked;
    }
    return sum;
}

static void evidence_is_the_sum_over_all_beginnings(void **state)
{
    (void)state;
    test_random random = test_random_start("evidence", 51);
    for (int round = 0; round < 50; round++) {
        double p[30];
        sf_evidence evidence = {0};
        assert_true(sf_evidence_of(&evidence) == 1);
        for (uint32_t n = 0; n < 30; n++) {
            p[n] = 0.001 + 0.998 * test_random_unit(&random);
            sf_evidence_add(&evidence, p[n], 1);
            double expected = evidence_by_sums(p, n + 1);
            assert_true(fabs(sf_evidence_of(&evidence) - expected) <= 1e-9 * expected);
        }
    }
}

static double paid(double p)
{
    sf_evidence evidence = {0};
    sf_evidence_add(&evidence, p, 1);
    return 2 * (sf_evidence_of(&evidence) - 0.5);
}

static void chance_pays_back_no_more_than_the_stake(void **state)
{
    (void)state;
    static const uint32_t surrogates[] = {1, 19, 200, 1000, 9999};
    for (size_t i = 0; i < sizeof surrogates / sizeof *surrogates; i++) {
        double n = surrogates[i] + 1.0, sum = 0;
        for (double k = 1; k <= n; k++)
            sum += paid(k / n);
        assert_true(sum / n <= 1);
        assert_true(sum / n > 1 - 3 / log(n + 1)); /* it is no waste either */
        double chance = sf_evidence_chance(surrogates[i]), first = paid(1 / n);
        assert_true(fabs(chance - sum / n) < 1e-9);
        sf_evidence evidence = {0};
        sf_evidence_add(&evidence, 1 / n, chance);
        assert_true(fabs(2 * (sf_evidence_of(&evidence) - 0.5) - first / chance) < 1e-9 * first);
    }
    assert_true(fabs(paid(1) - 0.5) < 1e-12);
    assert_true(fabs(paid(1 - 1e-5) - paid(1 - 2e-4)) < 1e-3); /* no seam where the limit takes over */
}

static void evidence_that_is_gone_fades(void **state)
{
    (void)state;
    sf_evidence evidence = {0};
    for (int i = 0; i < 100000; i++)
        sf_evidence_add(&evidence, 0.001, 1);
    assert_true(isfinite(sf_evidence_of(&evidence)));
    int tests = 0;
    for (; sf_evidence_of(&evidence) > 1; tests++)
        sf_evidence_add(&evidence, 0.9, 1);
    assert_in_range(tests, 40, 80);
    for (tests = 0; sf_evidence_of(&evidence) < 1000; tests++) /* and a link that comes late is found */
        sf_evidence_add(&evidence, 0.001, 1);
    assert_in_range(tests, 3, 6);
}

/* ---- random pairs ---- */

static void random_pairs_pay_no_more_than_chance(void **state)
{
    (void)state;
    static const uint32_t surrogates[] = {19, 99, 200, 500, 1000};
    for (size_t i = 0; i < sizeof surrogates / sizeof *surrogates; i++) {
        double n = surrogates[i] + 1.0, sum = 0;
        for (double k = 1; k <= n; k++)
            sum += sf_random_pair_pays(k / n);
        assert_true(sum / n <= 1 && sum / n > 0.9);
    }
}

/* Stretches with 40 random pairs of which so many in 100 are links, and whose other p are the power `shape`
 * of uniform ones: after how many there is an alarm, or 0. */
static int alarmed_after(test_random *random, uint32_t links, double shape)
{
    sf_random_pairs pairs = {0};
    for (int stretch = 1; stretch <= 240; stretch++) {
        double paid = 0;
        for (int i = 0; i < SF_RANDOM_PAIRS; i++) {
            bool link = test_random_below(random, 100) < links;
            paid += sf_random_pair_pays(link ? 0.01 : pow(test_random_unit(random), shape));
        }
        sf_random_pairs_take(&pairs, paid, SF_RANDOM_PAIRS);
        if (pairs.alarmed > 0) return stretch;
    }
    return 0;
}

static void random_pairs_tell_a_wrong_test_from_links(void **state)
{
    (void)state;
    test_random random = test_random_start("random pairs", 62);
    int false_alarms = 0;
    for (int run = 0; run < 40; run++) {
        false_alarms += alarmed_after(&random, run % 2 == 0 ? 0 : 15, 1) > 0;
        assert_in_range(alarmed_after(&random, 5, 1.4), 1, 120); /* 8 % of the others have p < 0.05 */
        assert_in_range(alarmed_after(&random, 5, 2), 1, 40);
    }
    assert_in_range(false_alarms, 0, 4);
}

static void an_alarm_ends(void **state)
{
    (void)state;
    sf_random_pairs pairs = {0};
    for (int i = 0; i < 10000; i++)
        sf_random_pairs_take(&pairs, 60, 40);
    assert_true(pairs.alarmed > 0);
    uint32_t left = pairs.alarmed;
    sf_random_pairs_take(&pairs, 0, 0); /* nothing was said */
    assert_int_equal(pairs.alarmed, left);
    uint32_t stretches = 0;
    for (; pairs.alarmed > 0; stretches++)
        sf_random_pairs_take(&pairs, 36, 40);
    assert_int_equal(stretches, left);
}

static void random_pairs_fire_as_often(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    uint32_t fired[COUNT], seen = 0;
    for (uint32_t u = 0; u < COUNT; u++)
        fired[u] = u * 7 % COUNT;
    sf_rates rates = {0};
    assert_int_equal(sf_rates_rank(&rates, fired, COUNT, NULL), SF_OK);
    const sf_episode like = {.size = 2, .units = {3, 30}, .delays = {{1, 9}}};
    for (uint64_t i = 0; i < 200; i++) {
        sf_episode pair, again;
        assert_true(sf_random_pair_draw(&pair, &like, &rates, 5, 17, i));
        assert_true(sf_random_pair_draw(&again, &like, &rates, 5, 17, i));
        assert_int_equal(sf_episode_compare(&pair, &again), 0);
        const sf_episode back = {.size = 2, .units = {30, 3}, .delays = {{1, 9}}};
        assert_true(sf_episode_compare(&pair, &like) != 0 && sf_episode_compare(&pair, &back) != 0);
        assert_true(pair.units[0] != pair.units[1] && pair.delays[0].high_ns == 9);
        for (int k = 0; k < 2; k++)
            assert_in_range(fired[pair.units[k]] + 5, fired[like.units[k]], fired[like.units[k]] + 10);
        seen |= 1u << (pair.units[0] % 32);
        assert_in_range(sf_random_pair_choose(3, 5, 17, i), 0, 2);
    }
    assert_true((seen & (seen - 1)) != 0);
    const sf_episode near = {.size = 2, .units = {3, 9}, .delays = {{1, 9}}},
                     turned = {.size = 2,
                               .units = {9, 3},
                               .delays = {{1, 9}}}; /* one of them may stand for the other */
    for (uint64_t i = 0; i < 2000; i++) {
        sf_episode pair;
        assert_true(sf_random_pair_draw(&pair, &near, &rates, 5, 17, i));
        assert_true(sf_episode_compare(&pair, &near) != 0 && sf_episode_compare(&pair, &turned) != 0);
    }
    rates.count = SF_RANDOM_PAIRS_LEAST_UNITS - 1;
    sf_episode none;
    assert_false(sf_random_pair_draw(&none, &like, &rates, 5, 17, 0));
    sf_rates_free(&rates);
}

/* ---- streams ---- */

typedef struct stream {
    sf_units units;
    sf_spike *spikes;
    size_t count, capacity;
    double seconds;
} stream;

static void add_spike(stream *s, uint32_t unit, double seconds)
{
    void *room = s->spikes;
    assert_int_equal(sf_reserve(&room, &s->capacity, s->count + 1, sizeof *s->spikes), 0);
    s->spikes = room;
    s->spikes[s->count++] = (sf_spike){.time_ns = (int64_t)(seconds * 1e9), .unit = unit, .amplitude = NAN};
}

/* Independent Poisson trains at so many Hz. Between `from` and `to` unit 1 follows unit 0, and 2 follows 1,
 * after 2 to 4 ms in so many of 100 cases. */
static void make_stream_at(stream *s, test_random *random, double hz, double seconds, double from, double to,
                           uint32_t linked)
{
    *s = (stream){.seconds = seconds};
    for (uint32_t u = 0; u < UNITS; u++) {
        sf_unit unit = {.electrode = -1};
        assert_int_equal(sf_units_add(&s->units, &unit, NULL), SF_OK);
        for (double t = 0; (t -= log(1 - test_random_unit(random)) / hz) < seconds;) {
            add_spike(s, u, t);
            double follows = t;
            for (uint32_t v = u + 1; v < 3 && t >= from && t < to && test_random_below(random, 100) < linked;
                 v++) {
                follows += 0.002 + 0.002 * test_random_unit(random);
                add_spike(s, v, follows);
            }
        }
    }
    assert_int_equal(sf_units_finish(&s->units, NULL), SF_OK);
    assert_int_equal(sf_spikes_sort(s->spikes, s->count, NULL), SF_OK);
}

static void make_stream(stream *s, test_random *random, double seconds, double from, double to,
                        uint32_t linked)
{
    make_stream_at(s, random, 20, seconds, from, to, linked);
}

static void free_stream(stream *s)
{
    sf_units_free(&s->units);
    sf_free(s->spikes);
}

/* ---- given episodes ---- */

/* What was mined, given by name, is counted and tested as it was. */
static void given_episodes_are_tested_as_found_ones(void **state)
{
    (void)state;
    test_random random = test_random_start("given", 52);
    stream s;
    make_stream(&s, &random, 60, 0, 60, 40);
    const sf_delay delays[] = {{SF_MILLISECOND, 5 * SF_MILLISECOND},
                               {5 * SF_MILLISECOND, 9 * SF_MILLISECOND}};
    sf_mining_options mining, given_options;
    mining = sf_mining_options_default();
    mining.delays = delays;
    mining.delay_count = 2;
    mining.threshold_kind = SF_THRESHOLD_COUNT;
    mining.threshold = 12;
    const sf_mine_input input = {
        .spikes = s.spikes, .spike_count = s.count, .units = &s.units, .duration_ns = 60 * SF_SECOND};
    sf_mine_result *found, *given;
    assert_int_equal(sf_mine_spikes(&found, &input, &mining, NULL, NULL), SF_OK);
    assert_true(found->level_count >= 3 && found->count > 20);
    sf_episode *episodes = sf_alloc(found->count, sizeof *episodes);
    for (size_t i = 0; i < found->count; i++)
        sf_mine_result_episode(found, i, &episodes[i]);
    assert_int_equal(sf_mine_given(&given, &given_options, &input, episodes, found->count, 1, NULL, NULL),
                     SF_OK);
    assert_int_equal(given->count, found->count);
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = 100;
    options.found_only = true;
    sf_significance told;
    assert_int_equal(sf_significance_test(&told, found, &input, &mining, &options, NULL, NULL), SF_OK);
    assert_int_equal(sf_significance_test(&told, given, &input, &given_options, &options, NULL, NULL), SF_OK);
    for (size_t i = 0; i < found->count; i++) {
        sf_episode spelt;
        sf_mine_result_episode(given, i, &spelt);
        assert_int_equal(sf_episode_compare(&spelt, &episodes[i]), 0);
        assert_int_equal(given->items[i].count, found->items[i].count);
        test_assert_same(given->items[i].p, found->items[i].p);
        assert_int_equal(given->items[i].not_tested, found->items[i].not_tested);
    }
    sf_mine_result_free(found);
    sf_mine_result_free(given);
    sf_free(episodes);
    free_stream(&s);
}

typedef struct allocation_case {
    const stream *from;
    sf_episode episodes[2];
} allocation_case;

static int give(void *context)
{
    const allocation_case *it = context;
    sf_mine_result *result;
    sf_mining_options mining;
    const sf_mine_input input = {.spikes = it->from->spikes,
                                 .spike_count = it->from->count,
                                 .units = &it->from->units,
                                 .duration_ns = SF_SECOND};
    int status = sf_mine_given(&result, &mining, &input, it->episodes, 2, 1, NULL, NULL);
    sf_mine_result_free(result);
    return status;
}

static void given_episodes_may_find_no_memory(void **state)
{
    (void)state;
    test_random random = test_random_start("given allocations", 53);
    stream s;
    make_stream(&s, &random, 1, 0, 0, 0);
    allocation_case it = {.from = &s};
    it.episodes[0] = (sf_episode){.size = 3, .units = {0, 1, 2}, .delays = {{0, 5000000}, {0, 9000000}}};
    it.episodes[1] = (sf_episode){.size = 2, .units = {4, 1}, .delays = {{0, 5000000}}};
    test_fail_every_allocation(give, &it);
    free_stream(&s);
}

/* ---- stretches before ---- */

static size_t spikes_before(const stream *s, double seconds)
{
    size_t count = 0;
    while (count < s->count && (double)s->spikes[count].time_ns < seconds * 1e9)
        count++;
    return count;
}

/* The shape is that of what was before; spikes that nobody waits for are let go of. */
static sf_sharpness shape_of(const stream *s, size_t count, sf_delay span)
{
    const sf_survey_job job = {.spikes = s->spikes, .count = count, .unit_count = UNITS, .delay = span};
    sf_significance_options options = sf_significance_options_default();
    sf_test_shape shape;
    assert_int_equal(sf_significance_shape(&shape, &job, &options, NULL), SF_OK);
    sf_sharpness sharpness = shape.sharpness;
    sf_test_shape_free(&shape);
    return sharpness;
}

static void the_past_is_what_was_before(void **state)
{
    (void)state;
    test_random random = test_random_start("past", 63);
    stream s;
    make_stream(&s, &random, 40, 0, 40, 60);
    const sf_delay span = {SF_MILLISECOND, 5 * SF_MILLISECOND};
    sf_significance_options options = sf_significance_options_default();
    sf_past past = {0};
    const sf_test_shape *shape;
    bool waits[UNITS] = {[1] = true, [4] = true};
    for (uint64_t number = 1; number <= 8; number++) {
        size_t begin = spikes_before(&s, 5 * ((double)number - 1)),
               end = spikes_before(&s, 5 * (double)number);
        assert_int_equal(sf_past_append(&past, number, s.spikes + begin, end - begin, NULL), SF_OK);
        assert_int_equal(sf_past_find_shape(&past, &shape, number, UNITS, span, &options, NULL, NULL), SF_OK);
        assert_true((shape == NULL) == (number == 1));
        assert_int_equal(sf_past_learn(&past, number, s.spikes + begin, end - begin, UNITS, NULL), SF_OK);
        sf_sharpness expected = shape_of(&s, begin, span);
        for (int again = 0; again < 2 && number > 1; again++) {
            assert_int_equal(sf_past_find_shape(&past, &shape, number, UNITS, span, &options, NULL, NULL),
                             SF_OK);
            test_assert_same(shape->sharpness.divisor, expected.divisor);
            test_assert_same(shape->sharpness.sharpness, expected.sharpness);
            assert_int_equal(shape->sharpness.pairs, expected.pairs);
        }
    }
    const sf_delay other = {SF_MILLISECOND, 9 * SF_MILLISECOND}; /* asked for late */
    size_t count, from = spikes_before(&s, 20);
    assert_int_equal(sf_past_find_shape(&past, &shape, 5, UNITS, other, &options, NULL, NULL), SF_OK);
    test_assert_same(shape->sharpness.shared, shape_of(&s, from, other).shared);
    const sf_spike *kept = sf_past_since(&past, 5, &count);
    assert_int_equal(count, spikes_before(&s, 40) - from);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(kept[i].time_ns, s.spikes[from + i].time_ns);
    sf_past_forget(&past, 5, waits);
    kept = sf_past_since(&past, 1, &count);
    for (size_t i = 0; i < count; i++, from++) {
        while (!waits[s.spikes[from].unit])
            from++;
        assert_int_equal(kept[i].time_ns, s.spikes[from].time_ns);
    }
    assert_true(count > 0);
    sf_past_since(&past, 8, &count);
    assert_true(count > 0);
    sf_past_since(&past, 9, &count);
    assert_int_equal(count, 0);
    sf_past_free(&past);
    free_stream(&s);
}

static int keep_past(void *context)
{
    const stream *s = context;
    const sf_test_shape *shape;
    sf_past past = {0};
    sf_significance_options options = sf_significance_options_default();
    options.threads = 1;
    int status = sf_past_append(&past, 1, s->spikes, s->count, NULL);
    if (status == SF_OK) status = sf_past_learn(&past, 1, s->spikes, s->count, UNITS, NULL);
    if (status == SF_OK)
        status =
            sf_past_find_shape(&past, &shape, 2, UNITS, (sf_delay){0, SF_MILLISECOND}, &options, NULL, NULL);
    sf_past_free(&past);
    return status;
}

static void the_past_may_find_no_memory(void **state)
{
    (void)state;
    test_random random = test_random_start("past allocations", 64);
    stream s;
    make_stream(&s, &random, 1, 0, 0, 0);
    test_fail_every_allocation(keep_past, &s);
    free_stream(&s);
}

/* ---- runs ---- */

/* What a run says of pairs, by first and second unit; of the episodes and of the edges, which must agree. */
typedef struct told {
    double first_s[UNITS][UNITS]; /* stream time of the first p; 0: none */
    double least_q[UNITS][UNITS], newest_p[UNITS][UNITS];
    double now_p[UNITS][UNITS];     /* of what is tracked in the newest window */
    double now_bound[UNITS][UNITS]; /* the least q of that */
    double first_q[UNITS][UNITS];
    uint32_t newest_tests[UNITS][UNITS];
    const char *reason[UNITS][UNITS]; /* the newest */
    size_t tests, low;                /* p that came, and those below 0.05 */
    sf_text triggers;
    double limit;               /* where not 0, what has such a q is listed: */
    double edges[UNITS][UNITS]; /* q of those there are, INFINITY without one; NaN: no edge */
    size_t edge_count;
    sf_text within;           /* and how many there are in all */
    size_t untested;          /* of edges, where limits leave them out */
    sf_status_message status; /* the newest; its arrays are gone */
} told;

static void take_episodes(told *all, const sf_message *message)
{
    for (size_t i = 0; i < UNITS * UNITS; i++)
        all->now_p[i / UNITS][i % UNITS] = NAN;
    for (size_t i = 0; i < message->episodes.count; i++) {
        const sf_episode_count *item = &message->episodes.items[i];
        uint32_t a = item->episode.units[0], b = item->episode.units[1];
        if (item->episode.size > 2) continue;
        assert_true(isnan(item->p) == isnan(item->q) && isnan(item->p) == (item->not_tested != NULL));
        assert_true(isnan(item->p) == isnan(item->least_q) && !(item->q < item->least_q));
        assert_true(isnan(item->p) == isnan(item->p_age_s) && isnan(item->p) == (item->tests == 0));
        all->reason[a][b] = item->not_tested;
        if (isnan(item->p)) continue;
        if (all->first_s[a][b] == 0) {
            all->first_s[a][b] = (double)message->time_ns * 1e-9;
            all->least_q[a][b] = 1;
            all->first_q[a][b] = item->q;
        }
        all->least_q[a][b] = fmin(all->least_q[a][b], item->q);
        all->newest_p[a][b] = all->now_p[a][b] = item->p;
        all->now_bound[a][b] = item->least_q;
        all->newest_tests[a][b] = item->tests;
        if (item->p_age_s == 0) {
            all->tests++;
            all->low += item->p < 0.05;
        }
    }
}

/* By a run without limits and by one with them alike. */
static void list_episodes(told *all, const sf_episodes_message *message)
{
    for (size_t i = 0; i < message->count; i++)
        if (message->items[i].q <= all->limit)
            sf_text_printf(&all->within, "%s %" PRIu64 " %.17g, ", message->items[i].id,
                           message->items[i].count, message->items[i].q);
    sf_text_printf(&all->within, "of %" PRIu64 "\n", message->count + message->left_out.count);
}

static void list_edges(told *all, const sf_graph_message *message)
{
    for (size_t i = 0; i < message->change_count; i++) {
        const sf_edge_change *change = &message->changes[i];
        double *edge = &all->edges[change->from][change->to];
        all->edge_count += isnan(*edge) ? 1 : 0;
        all->edge_count -= change->removed ? 1 : 0;
        *edge = change->removed ? NAN : isnan(change->q) ? INFINITY : change->q;
    }
    assert_int_equal(message->edges, all->edge_count);
    for (size_t i = 0; i < UNITS * UNITS; i++)
        if (all->edges[i / UNITS][i % UNITS] <= all->limit)
            sf_text_printf(&all->within, "%zu %.17g, ", i, all->edges[i / UNITS][i % UNITS]);
    sf_text_printf(&all->within, "of %" PRIu64 " edges\n", message->edges + message->left_out.count);
    all->untested += message->left_out.untested;
}

static void take_edges(told *all, const sf_message *message)
{
    for (size_t i = 0; i < message->graph.change_count; i++) {
        const sf_edge_change *change = &message->graph.changes[i];
        uint32_t a = change->from, b = change->to;
        assert_true(isnan(change->p) == (change->not_tested != NULL));
        assert_true(isnan(change->p) == isnan(change->least_q));
        if (change->removed || isnan(all->now_p[a][b])) continue;
        test_assert_same(change->p, all->now_p[a][b]);
        test_assert_same(change->least_q, all->now_bound[a][b]);
    }
}

static void take(told *all, sf_live *live, sf_message *message)
{
    if (all->limit > 0 && message->topic == SF_TOPIC_EPISODES) list_episodes(all, &message->episodes);
    if (all->limit > 0 && message->topic == SF_TOPIC_GRAPH) list_edges(all, &message->graph);
    if (message->topic == SF_TOPIC_EPISODES)
        take_episodes(all, message);
    else if (message->topic == SF_TOPIC_GRAPH)
        take_edges(all, message);
    else if (message->topic == SF_TOPIC_STATUS)
        all->status = message->status;
    if (message->topic == SF_TOPIC_TRIGGER) {
        char *json;
        message->arrival_ns = 0;
        assert_int_equal(sf_live_json(live, message, &json, NULL), SF_OK);
        sf_text_printf(&all->triggers, "%s\n", json);
        sf_release(json);
    }
    sf_message_release(message);
}

/* Pushes the stream in pieces of at most so many spikes. */
static void run(told *all, sf_live_options *options, const stream *s, test_random *random, size_t most)
{
    *all = (told){.limit = all->limit};
    for (size_t i = 0; i < UNITS * UNITS; i++)
        all->edges[i / UNITS][i % UNITS] = NAN;
    sf_live_unit units[UNITS] = {0};
    const sf_live_source source = {.units = units, .unit_count = UNITS, .virtual_clock = true};
    options->sources = &source;
    options->source_count = 1;
    options->device = "cpu";
    sf_live *live;
    sf_error error = {0};
    if (sf_live_open(&live, options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    int status = SF_OK;
    sf_message *message;
    for (size_t next = 0; next < s->count;) {
        size_t count = 1 + test_random_below(random, most);
        count = count < s->count - next ? count : s->count - next;
        bool last = next + count == s->count;
        status = sf_live_push(live, 0, s->spikes + next, count,
                              last ? INT64_MAX : s->spikes[next + count].time_ns, NULL);
        assert_true(status == SF_OK || status == SF_AGAIN);
        next += status == SF_OK ? count : 0;
        while (sf_live_next(live, &message, status == SF_AGAIN ? 1 : 0, NULL) == SF_OK)
            take(all, live, message);
    }
    while ((status = sf_live_next(live, &message, 1000, NULL)) != SF_END)
        if (status == SF_OK) take(all, live, message);
    assert_int_equal(sf_live_close(live, &error), SF_OK);
}

static sf_live_options make_options(void)
{
    sf_live_options options = sf_live_options_default();
    options.window.length_s = 5;
    options.window.hop_s = 1;
    options.mine.every = 1;
    options.mine.delays_ms = "1:5";
    options.mine.min_count = 2;
    options.mine.max_size = 2;
    options.significance.length_s = 5;
    options.significance.surrogates = 100;
    return options;
}

/* A link that is there in the first stretch alone is found in it, and not tested in it. */
static void nothing_is_tested_in_spikes_that_it_was_found_in(void **state)
{
    (void)state;
    test_random random = test_random_start("found once", 54);
    stream s;
    make_stream(&s, &random, 40, 0, 5, 90);
    told all = {0};
    static const char *const watched[] = {"#0 -(1,5]-> #1"};
    sf_live_options options = make_options();
    run(&all, &options, &s, &random, 500);
    assert_true(all.first_s[0][1] == 0 || all.first_s[0][1] > (double)s.spikes[0].time_ns * 1e-9 + 10 - 1e-6);
    assert_true(all.first_s[0][1] == 0 || all.least_q[0][1] > 0.05);
    double earliest = INFINITY;
    for (size_t i = 0; i < UNITS * UNITS; i++)
        if (all.first_s[i / UNITS][i % UNITS] > 0)
            earliest = fmin(earliest, all.first_s[i / UNITS][i % UNITS]);
    assert_true(fabs(earliest - ((double)s.spikes[0].time_ns * 1e-9 + 10)) < 1e-6);
    sf_text_free(&all.triggers);

    options.watch = options.track = watched; /* nor in those that its test would go by */
    options.watch_count = options.track_count = 1;
    run(&all, &options, &s, &random, 500);
    assert_true(fabs(all.first_s[0][1] - ((double)s.spikes[0].time_ns * 1e-9 + 10)) < 1e-6);
    assert_true(all.least_q[0][1] > 0.05);
    assert_non_null(strstr(all.triggers.data, "\"tests\":1,"));
    sf_text_free(&all.triggers);
    free_stream(&s);
}

/* With every hop looked at: no pair of independent units ever has a q below 0.05, and few p are. */
static void chance_gives_no_alarm_whenever_one_looks(void **state)
{
    (void)state;
    test_random random = test_random_start("null stream", 55);
    stream s;
    make_stream(&s, &random, 240, 0, 0, 0);
    told all = {0};
    sf_live_options options = make_options();
    run(&all, &options, &s, &random, 5000);
    for (size_t i = 0; i < UNITS * UNITS; i++)
        assert_true(all.first_s[i / UNITS][i % UNITS] == 0 || all.least_q[i / UNITS][i % UNITS] > 0.05);
    printf("%zu of %zu p below 0.05\n", all.low, all.tests);
    assert_true(all.tests > 5000 && (double)all.low < 0.06 * (double)all.tests);
    assert_int_equal(all.status.tests, 46); /* in the first stretch nothing was named */
    assert_int_equal(all.status.tests_missed, 0);
    sf_text_free(&all.triggers);
    free_stream(&s);
}

static void a_link_is_found_soon_and_its_end_seen(void **state)
{
    (void)state;
    test_random random = test_random_start("planted", 56);
    stream s;
    make_stream(&s, &random, 120, 0, 60, 60);
    told all = {0};
    static const char *const tracked[] = {"#0 -(1,5]-> #1", "#1 -(1,5]-> #0", "#0 -(1,5]-> #1 -(1,5]-> #0"};
    sf_live_options options = make_options();
    options.track = tracked;
    options.track_count = 3;
    run(&all, &options, &s, &random, 5000);
    assert_true(all.least_q[0][1] < 1e-4);
    assert_true(all.least_q[1][0] > 0.05);
    assert_true(all.newest_p[0][1] > 0.05);
    sf_text_free(&all.triggers);
    free_stream(&s);
}

/* Takes the spikes of the first units between these times out. */
static void cut(stream *s, uint32_t units, double from, double to)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->spikes[i].unit >= units || (double)s->spikes[i].time_ns < from * 1e9 ||
            (double)s->spikes[i].time_ns >= to * 1e9)
            s->spikes[kept++] = s->spikes[i];
    s->count = kept;
}

/* Bursts a quarter of a minute apart: what was found in one is tested in those that follow, and silence
 * between them counts neither for nor against it. Of an own stretch it is a part. */
static void silence_between_bursts_is_no_test(void **state)
{
    (void)state;
    test_random random = test_random_start("bursts", 59);
    stream s;
    make_stream(&s, &random, 80, 0, 80, 60);
    for (int burst = 0; burst < 5; burst++)
        cut(&s, 3, burst * 15 + 5, burst * 15 + 15);
    told all = {0};
    sf_live_options options = make_options();
    options.mine.min_count = 30; /* of linked pairs alone */
    run(&all, &options, &s, &random, 5000);
    double after = all.first_s[0][1] - (double)s.spikes[0].time_ns * 1e-9;
    assert_true(after > 30 && after < 35); /* the first time that it is told of again */
    assert_int_equal(all.newest_tests[0][1], 4);
    assert_true(all.least_q[0][1] < 0.5 * all.first_q[0][1]);
    assert_true(all.now_p[0][1] <= 0.02);
    sf_text_free(&all.triggers);
    free_stream(&s);
}

/* Of units that fire 5 times a second 5 s give half an occurrence: an own stretch is 16 times as long. */
static void slow_units_have_longer_stretches(void **state)
{
    (void)state;
    test_random random = test_random_start("slow units", 65);
    static const char *const tracked[] = {"#3 -(1,5]-> #4"};
    stream s;
    make_stream_at(&s, &random, 5, 250, 0, 0, 0);
    told all = {0};
    sf_live_options options = make_options();
    options.mine.every = 0;
    options.graph.enabled = false;
    options.track = tracked;
    options.track_count = 1;
    run(&all, &options, &s, &random, 5000);
    double waited = all.first_s[3][4] - (double)s.spikes[0].time_ns * 1e-9;
    assert_true(waited >= 5 + 40 - 1e-6 && waited <= 5 + 160 + 1e-6); /* 8 to 32 stretches */
    assert_in_range(all.newest_tests[3][4], 1, 5);

    cut(&s, UNITS, 30, 250);
    run(&all, &options, &s, &random, 5000);
    assert_string_equal(all.reason[3][4], "too few so far");
    free_stream(&s);
}

/* ---- by the stretch ---- */

typedef struct bench {
    sf_live_options options;
    sf_history history;
    sf_tracking pinned;
    sf_testing testing;
    uint64_t hop;
} bench;

#define BENCH_SECONDS 4

static void open_bench(bench *b, const stream *s, const sf_episode *episodes, size_t count)
{
    *b = (bench){.options = make_options()};
    b->options.window.length_s = b->options.window.hop_s = b->options.significance.length_s = BENCH_SECONDS;
    assert_int_equal(sf_history_append(&b->history, s->spikes, s->count, NULL), SF_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sf_tracking_pin_one(&b->pinned, &episodes[i], &s->units, NULL), SF_OK);
    const sf_testing_setup setup = {
        .config = &b->options, .units = &s->units, .pinned = &b->pinned, .inside = true, .device = "cpu"};
    assert_int_equal(sf_testing_open(&b->testing, &setup, NULL), SF_OK);
}

static void go_on(bench *b)
{
    const sf_span window = {(int64_t)b->hop * BENCH_SECONDS * SF_SECOND,
                            (int64_t)(b->hop + 1) * BENCH_SECONDS * SF_SECOND};
    const sf_segment segment = {.end = sf_history_find(&b->history, window.stop_ns),
                                .closes = true,
                                .hop = b->hop++,
                                .window = window};
    assert_int_equal(sf_testing_advance(&b->testing, &segment, &b->history, 0, NULL), SF_OK);
    assert_int_equal(sf_testing_begin(&b->testing, &segment, &b->pinned, NULL, NULL), SF_OK);
}

static void close_bench(bench *b)
{
    sf_testing_close(&b->testing);
    sf_tracking_free(&b->pinned);
    sf_history_free(&b->history);
}

static sf_verdict verdict_of(const bench *b, const sf_episode *episode)
{
    return sf_testing_verdict(&b->testing, episode);
}

/* A chain through a unit that is not linked is no better than its worse link, whichever that is. */
static void a_chain_is_as_good_as_its_worst_link(void **state)
{
    (void)state;
    enum { STRETCHES = 16 };
    test_random random = test_random_start("links of chains", 66);
    stream s;
    make_stream(&s, &random, STRETCHES * BENCH_SECONDS, 0, STRETCHES * BENCH_SECONDS, 70);
    const sf_delay delay = {SF_MILLISECOND, 5 * SF_MILLISECOND};
    const sf_episode chains[] = {{.size = 3, .units = {0, 1, 2}, .delays = {delay, delay}},
                                 {.size = 3, .units = {0, 1, 7}, .delays = {delay, delay}},
                                 {.size = 3, .units = {6, 0, 1}, .delays = {delay, delay}}};
    bench b;
    open_bench(&b, &s, chains, 3);
    for (int i = 0; i < STRETCHES - 1; i++) {
        go_on(&b);
        for (int c = 0; c < 3; c++) {
            const sf_verdict of = verdict_of(&b, &chains[c]);
            double least = 0;
            for (uint32_t k = 0; k < 2; k++) {
                const sf_episode pair = {
                    .size = 2, .units = {chains[c].units[k], chains[c].units[k + 1]}, .delays = {delay}};
                const sf_verdict link = verdict_of(&b, &pair);
                assert_true(isnan(of.q) || (of.q >= link.q && of.p >= link.p && of.tests <= link.tests));
                least = fmax(least, link.least_q);
            }
            assert_true(isnan(of.q) || of.least_q >= least);
        }
    }
    assert_true(verdict_of(&b, &chains[0]).q < 0.05);
    assert_true(verdict_of(&b, &chains[1]).q > 0.05);
    assert_true(verdict_of(&b, &chains[2]).q > 0.05);
    close_bench(&b);
    free_stream(&s);
}

/* Were every p the least there is: the sum over all beginnings. */
static double most_evidence(uint32_t tests, uint32_t surrogates)
{
    double pays = paid(1 / (surrogates + 1.0)) / sf_evidence_chance(surrogates), sum = 1 / (tests + 1.0);
    for (uint32_t k = 1; k <= tests; k++)
        sum += pow(pays, tests - k + 1) / ((double)k * (k + 1));
    return sum;
}

/* A q that cannot be less yet is told from one that could be. */
static void the_least_q_is_that_of_the_least_p(void **state)
{
    (void)state;
    enum { STRETCHES = 14, PAIRS = 2 };
    test_random random = test_random_start("least q", 68);
    stream s;
    make_stream(&s, &random, STRETCHES * BENCH_SECONDS, 0, STRETCHES * BENCH_SECONDS, 70);
    const sf_episode pairs[PAIRS] = {{.size = 2, .units = {0, 1}, .delays = {{1000000, 5000000}}},
                                     {.size = 2, .units = {5, 1}, .delays = {{1000000, 5000000}}}};
    bench b;
    open_bench(&b, &s, pairs, PAIRS);
    const uint32_t surrogates = b.options.significance.surrogates;
    const double price = PAIRS * 1 * 2; /* of the first lot */
    size_t early = 0, reached = 0;
    bool always_least = true;
    assert_true(isnan(verdict_of(&b, &pairs[0]).least_q));
    for (int i = 0; i < STRETCHES - 1; i++) {
        go_on(&b);
        for (size_t k = 0; k < PAIRS; k++) {
            const sf_verdict of = verdict_of(&b, &pairs[k]);
            assert_true(isnan(of.q) == isnan(of.least_q));
            if (isnan(of.q)) continue;
            double least = fmin(1, price / most_evidence(of.tests, surrogates));
            assert_true(fabs(of.least_q - least) <= 1e-9 * least);
            assert_true(of.q >= of.least_q * (1 - 1e-9));
            early += of.least_q > 0.05;
            if (k == 0) {
                always_least = always_least && of.p <= 1.000001 / (surrogates + 1.0);
                assert_true(!always_least || of.q == of.least_q);
                reached += always_least && of.least_q <= 0.05;
            }
        }
    }
    assert_true(early > 0 && reached > 0);
    close_bench(&b);
    free_stream(&s);
}

/* While random pairs stand out nothing has a verdict; then all begins anew, at another price. */
static void where_random_pairs_stand_out_nothing_is_told(void **state)
{
    (void)state;
    enum { STRETCHES = 64 };
    test_random random = test_random_start("alarm", 67);
    stream s;
    make_stream(&s, &random, STRETCHES * BENCH_SECONDS, 0, STRETCHES * BENCH_SECONDS, 70);
    const sf_episode link = {.size = 2, .units = {0, 1}, .delays = {{1000000, 5000000}}},
                     other = {.size = 2, .units = {5, 1}, .delays = {{1000000, 5000000}}};
    bench b;
    open_bench(&b, &s, &link, 1);
    for (int i = 0; i < 10; i++)
        go_on(&b);
    assert_true(b.testing.drawn_count >= SF_RANDOM_PAIRS);
    assert_true(b.testing.random_pairs.evidence.tests >= 5 && b.testing.random_pairs.alarmed == 0);
    assert_true(verdict_of(&b, &link).q < 0.01);
    double price = b.testing.ledger.items[0].price;
    b.testing.random_pairs.evidence.staked = 1000;
    go_on(&b);
    assert_true(b.testing.random_pairs.alarmed > 0 && isnan(verdict_of(&b, &link).q));
    assert_string_equal(verdict_of(&b, &link).not_tested, "random pairs stand out");
    assert_string_equal(verdict_of(&b, &other).not_tested, "random pairs stand out");
    assert_string_equal(b.testing.status.not_tested, "random pairs stand out");
    assert_int_equal(b.testing.status.tested, 0);
    for (int i = 1; i < SF_RANDOM_PAIRS_ALARM_LASTS; i++)
        go_on(&b);
    assert_int_equal(b.testing.random_pairs.alarmed, 1);
    go_on(&b);
    assert_true(b.testing.ledger.items[0].price > price);
    assert_int_equal(verdict_of(&b, &link).tests, 1);
    for (int i = 0; i < 9; i++)
        go_on(&b);
    assert_true(verdict_of(&b, &link).q < 0.05);
    close_bench(&b);
    free_stream(&s);
}

/* The same stream in other pieces, and heard by someone slower: the same triggers, to the byte. */
static void triggers_say_the_same_in_every_run(void **state)
{
    (void)state;
    test_random random = test_random_start("triggers", 57);
    stream s;
    make_stream(&s, &random, 60, 0, 60, 60);
    static const char *const watched[] = {"#0 -(1,5]-> #1", "#3 -(0,9]-> #4", "#5"};
    sf_live_options options = make_options();
    options.watch = watched;
    options.watch_count = 3;
    told first = {0}, again = {0};
    run(&first, &options, &s, &random, 20000);
    assert_non_null(strstr(first.triggers.data, "\"tests\":10"));
    assert_non_null(strstr(first.triggers.data, "\"not_tested\":\"no link to test\""));
    for (int round = 0; round < 3; round++) {
        run(&again, &options, &s, &random, round == 0 ? 10 : 20000);
        assert_string_equal(first.triggers.data, again.triggers.data);
        sf_text_free(&again.triggers);
    }
    sf_text_free(&first.triggers);
    free_stream(&s);
}

/* What is told within limits is, at every hop, what a run without them tells of that has such a q; the rest
 * is counted. Tests, and so q, are those of all episodes and edges. */
static void limits_choose_what_is_told_and_nothing_else(void **state)
{
    (void)state;
    test_random random = test_random_start("limits", 60);
    stream s;
    make_stream(&s, &random, 60, 0, 40, 60);
    told all = {.limit = 0.05}, within = {.limit = 0.05}, by_p = {.limit = 1};
    sf_live_options options = make_options();
    run(&all, &options, &s, &random, 5000);
    options.significance.max_q = 0.05;
    run(&within, &options, &s, &random, 5000);
    assert_string_equal(all.within.data, within.within.data);
    assert_int_equal(all.untested, 0);
    assert_true(within.untested > 100); /* in the first stretches nothing has a q */
    assert_true(within.least_q[0][1] <= 0.05 && all.tests > 100 * within.tests && within.tests > 0);
    assert_int_equal(all.status.tests, within.status.tests);
    for (size_t i = 0; i < UNITS * UNITS; i++)
        assert_true(isnan(within.edges[i / UNITS][i % UNITS]) || within.edges[i / UNITS][i % UNITS] <= 0.05);

    options.significance.max_q = 0;
    options.significance.max_p = 0.2;
    run(&by_p, &options, &s, &random, 5000);
    assert_true(by_p.tests > 0 && by_p.tests < all.tests / 2);
    for (size_t i = 0; i < UNITS * UNITS; i++)
        assert_true(isnan(by_p.now_p[i / UNITS][i % UNITS]) || by_p.now_p[i / UNITS][i % UNITS] <= 0.2);
    struct told *const runs[] = {&all, &within, &by_p};
    for (size_t i = 0; i < 3; i++) {
        sf_text_free(&runs[i]->triggers);
        sf_text_free(&runs[i]->within);
    }
    free_stream(&s);
}

/* What is wanted in the first stretch alone is forgotten while its last test goes on beside the stream. */
static void what_a_test_finds_of_the_forgotten_is_let_go(void **state)
{
    (void)state;
    enum { STRETCHES = SF_TESTING_KEEP + 3, SECONDS = 4 };
    test_random random = test_random_start("forgotten", 61);
    stream s;
    make_stream(&s, &random, STRETCHES * SECONDS, 0, STRETCHES * SECONDS, 60);
    sf_live_options options = make_options();
    options.window.length_s = options.window.hop_s = options.significance.length_s = SECONDS;
    sf_history history = {0};
    assert_int_equal(sf_history_append(&history, s.spikes, s.count, NULL), SF_OK);
    const sf_episode pair = {.size = 2, .units = {0, 1}, .delays = {{1000000, 5000000}}};
    sf_tracking pinned = {0}, none = {0};
    assert_int_equal(sf_tracking_pin_one(&pinned, &pair, &s.units, NULL), SF_OK);
    const sf_testing_setup setup = {
        .config = &options, .units = &s.units, .pinned = &pinned, .device = "cpu"};
    sf_testing testing;
    assert_int_equal(sf_testing_open(&testing, &setup, NULL), SF_OK);
    for (uint64_t hop = 0; hop < STRETCHES; hop++) {
        const sf_span window = {(int64_t)hop * SECONDS * SF_SECOND, (int64_t)(hop + 1) * SECONDS * SF_SECOND};
        const sf_segment segment = {
            .end = sf_history_find(&history, window.stop_ns), .closes = true, .hop = hop, .window = window};
        assert_int_equal(sf_testing_advance(&testing, &segment, &history, 0, NULL), SF_OK);
        assert_int_equal(sf_testing_begin(&testing, &segment, &none, NULL, NULL), SF_OK);
        while (atomic_load(&testing.background.state) == SF_BACKGROUND_BUSY)
            sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
        testing.seconds = 0; /* on a slow machine no stretch is left out for it */
    }
    assert_int_equal(testing.ledger.count, 0);
    assert_int_equal(testing.status.tests, SF_TESTING_KEEP + 1);
    sf_testing_close(&testing);
    sf_tracking_free(&pinned);
    sf_history_free(&history);
    free_stream(&s);
}

static void where_nothing_can_be_tested_it_says_why(void **state)
{
    (void)state;
    test_random random = test_random_start("reasons", 58);
    static const char *const tracked[] = {"#0 -(1,5]-> #1", "#1 -(1,5]-> #1", "#2 -(1,400]-> #3"};
    told all = {0};
    stream s;
    make_stream(&s, &random, 23, 0, 0, 0);
    sf_live_options options = make_options();
    options.mine.every = 0;
    options.graph.enabled = false;
    options.track = tracked;
    options.track_count = 3;
    run(&all, &options, &s, &random, 500);
    assert_null(all.reason[0][1]);
    assert_string_equal(all.reason[1][1], "a unit returns");
    assert_string_equal(all.reason[2][3], "delays too long");
    assert_int_equal(all.status.tested, 1);

    options.significance.kind = (sf_significance_kind)0;
    run(&all, &options, &s, &random, 500);
    assert_string_equal(all.reason[0][1], "tests are off");
    assert_int_equal(all.status.tests, 0);

    options = make_options();
    options.mine.every = 0;
    options.graph.enabled = false;
    options.track = tracked;
    options.track_count = 1;
    options.significance.length_s = 20;
    options.window.silence_s = 2;
    cut(&s, UNITS, 8, 20.5); /* in which windows are left out: the stretch does not end with one */
    run(&all, &options, &s, &random, 500);
    assert_string_equal(all.reason[0][1], "observation gap");
    assert_string_equal(all.status.not_tested, "observation gap");

    options.significance.length_s = 60; /* longer than the stream */
    run(&all, &options, &s, &random, 500);
    assert_string_equal(all.reason[0][1], "not tested by the end");
    options.significance.length_s = 0.25;
    options.sources = &(const sf_live_source){.units = &(const sf_live_unit){0}, .unit_count = 1};
    options.source_count = 1;
    sf_live *live;
    sf_error error;
    assert_int_equal(sf_live_open(&live, &options, &error), SF_CONFIG);
    assert_string_equal(error.place, "significance.length_s");
    options.significance =
        (sf_live_significance){.kind = (sf_significance_kind)0, .surrogates = 20, .most = 1, .max_q = 0.05};
    assert_int_equal(sf_live_open(&live, &options, &error), SF_CONFIG); /* nothing would ever be told of */
    assert_string_equal(error.place, "significance.max_q");
    free_stream(&s);
}

/* What is not told is not tested: no failure. */
static void a_halted_run_leaves_its_test(void **state)
{
    (void)state;
    test_random random = test_random_start("halted tests", 67);
    const sf_delay delay = {SF_MILLISECOND, 5 * SF_MILLISECOND};
    const sf_episode link = {.size = 2, .units = {0, 1}, .delays = {delay}};
    stream s;
    bench b;
    make_stream(&s, &random, 12 * BENCH_SECONDS, 0, 12 * BENCH_SECONDS, 70);
    open_bench(&b, &s, &link, 1);
    for (int i = 0; i < 6; i++)
        go_on(&b);
    uint64_t before = b.testing.status.tests;
    assert_true(before > 0);
    sf_background_halt(&b.testing.background);
    for (int i = 0; i < 4; i++)
        go_on(&b);
    assert_int_equal(b.testing.status.tests, before);
    close_bench(&b);
    free_stream(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_the_sum_over_all_beginnings),
        cmocka_unit_test(chance_pays_back_no_more_than_the_stake),
        cmocka_unit_test(evidence_that_is_gone_fades),
        cmocka_unit_test(random_pairs_pay_no_more_than_chance),
        cmocka_unit_test(random_pairs_tell_a_wrong_test_from_links),
        cmocka_unit_test(an_alarm_ends),
        cmocka_unit_test(random_pairs_fire_as_often),
        cmocka_unit_test(the_past_is_what_was_before),
        cmocka_unit_test(the_past_may_find_no_memory),
        cmocka_unit_test(given_episodes_are_tested_as_found_ones),
        cmocka_unit_test(given_episodes_may_find_no_memory),
        cmocka_unit_test(nothing_is_tested_in_spikes_that_it_was_found_in),
        cmocka_unit_test(chance_gives_no_alarm_whenever_one_looks),
        cmocka_unit_test(a_link_is_found_soon_and_its_end_seen),
        cmocka_unit_test(silence_between_bursts_is_no_test),
        cmocka_unit_test(slow_units_have_longer_stretches),
        cmocka_unit_test(a_chain_is_as_good_as_its_worst_link),
        cmocka_unit_test(the_least_q_is_that_of_the_least_p),
        cmocka_unit_test(where_random_pairs_stand_out_nothing_is_told),
        cmocka_unit_test(triggers_say_the_same_in_every_run),
        cmocka_unit_test(limits_choose_what_is_told_and_nothing_else),
        cmocka_unit_test(what_a_test_finds_of_the_forgotten_is_let_go),
        cmocka_unit_test(where_nothing_can_be_tested_it_says_why),
        cmocka_unit_test(a_halted_run_leaves_its_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
