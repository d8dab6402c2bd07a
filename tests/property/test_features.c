/* SPDX-License-Identifier: Apache-2.0 */
/* Bins of random trains in random batches, held against a search through the whole train for each bin. */
#include "support/support.h"

#include "core/memory.h"
#include "oracle/count_oracle.h"
#include "pipeline/features.h"

enum { UNITS = 4, MOST_BINS = 20000 };

static const char *const unit_list[] = {"e3", "#0"};
static const char *const episode_list[] = {"e1 -(0,9]-> e2 -(1,7]-> e3"};
static const char *const edge_list[] = {"e1 -(0,9]-> e2", "e4 -(2,20]-> e4"};

enum { WIDTH = 5 };

/* What is told, in the order in which it came. */
typedef struct heard {
    sf_features_message bins[MOST_BINS];
    uint32_t values[MOST_BINS][WIDTH];
    size_t count, names;
} heard;

static void hear(void *self, sf_message *message)
{
    heard *all = self;
    if (message->topic == SF_TOPIC_FEATURES_NAMES) {
        static const char *const names[WIDTH] = {"e3", "e1", "e1 -(0,9]-> e2 -(1,7]-> e3", "e1 -(0,9]-> e2",
                                                 "e4 -(2,20]-> e4"};
        assert_int_equal(message->features_names.count, WIDTH);
        for (int i = 0; i < WIDTH; i++)
            assert_string_equal(message->features_names.names[i], names[i]);
        all->names++;
        return;
    }
    assert_true(all->names > 0 && all->count < MOST_BINS);
    assert_int_equal(message->features.count, WIDTH);
    all->bins[all->count] = message->features;
    memcpy(all->values[all->count++], message->features.values, sizeof all->values[0]);
}

/* A run of nothing but features, by hand. */
typedef struct fixture {
    sf_live_options config;
    sf_inputs inputs;
    sf_feeders feeders;
    sf_handoff handoff;
    sf_features features;
    heard *all;
    sf_outlet outlet;
    sf_publisher publisher;
} fixture;

static void begin(fixture *f, double bin_ms, double silence_s)
{
    static const sf_outlet_kind kind = {.publish = hear};
    *f = (fixture){
        .config = sf_live_options_default(), .inputs = {.count = 1}, .all = calloc(1, sizeof *f->all)};
    f->config.features = (sf_live_features){bin_ms, unit_list, 2, episode_list, 1, edge_list, 2};
    f->config.window.silence_s = silence_s;
    f->outlet = (sf_outlet){&kind, f->all};
    f->publisher = (sf_publisher){.outlets = &f->outlet, .outlet_count = 1};
    for (int i = 0; i < UNITS; i++)
        assert_int_equal(sf_units_add(&f->inputs.units, &(sf_unit){.electrode = -1}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&f->inputs.units, NULL), SF_OK);
    assert_int_equal(sf_handoff_open(&f->handoff, 64, false, NULL), SF_OK);
    const sf_features_setup setup = {&f->config, &f->inputs, &f->feeders, &f->handoff};
    sf_error error;
    if (sf_features_open(&f->features, &setup, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
}

static void tell(fixture *f)
{
    assert_int_equal(sf_features_tell(&f->features, &f->publisher, NULL), SF_OK);
}

static void end(fixture *f)
{
    sf_features_close(&f->features);
    sf_handoff_close(&f->handoff);
    sf_units_free(&f->inputs.units);
    free(f->all);
}

/* ---- the oracle ---- */

static uint32_t count_of(const sf_spike *spikes, size_t first, size_t last, uint32_t unit)
{
    uint32_t count = 0;
    for (size_t i = first; i < last; i++)
        count += spikes[i].unit == unit;
    return count;
}

/* Every bin from the first spike to the end of the stream is there once, with what is in it. */
static void check(const fixture *f, const sf_spike *spikes, size_t count, int64_t bin_ns, int64_t end_ns)
{
    static const uint32_t units[] = {2, 0};
    sf_episode episodes[3];
    const char *const texts[] = {episode_list[0], edge_list[0], edge_list[1]};
    for (int e = 0; e < 3; e++)
        assert_int_equal(sf_episode_parse(&episodes[e], texts[e], &f->inputs.units, NULL), SF_OK);
    int64_t start_ns = spikes[0].time_ns;
    uint64_t before[3] = {0};
    assert_int_equal(f->all->count, (size_t)((end_ns - start_ns + bin_ns - 1) / bin_ns));
    for (size_t k = 0; k < f->all->count; k++, start_ns += bin_ns) {
        const sf_features_message *bin = &f->all->bins[k];
        int64_t stop_ns = start_ns + bin_ns < end_ns ? start_ns + bin_ns : end_ns;
        assert_int_equal(bin->bin, k);
        assert_int_equal(bin->window.start_ns, start_ns);
        assert_int_equal(bin->window.stop_ns, stop_ns);
        assert_int_equal(bin->partial, stop_ns - start_ns < bin_ns);
        assert_false(bin->lost);
        size_t first = sf_spikes_lower_bound(spikes, count, start_ns),
               last = sf_spikes_lower_bound(spikes, count, stop_ns);
        for (int u = 0; u < 2; u++)
            assert_int_equal(f->all->values[k][u], count_of(spikes, first, last, units[u]));
        for (int e = 0; e < 3; e++) {
            uint64_t now = first < last ? oracle_count(spikes, last, &episodes[e]) : before[e];
            assert_int_equal(f->all->values[k][2 + e], now - before[e]);
            before[e] = now;
        }
    }
}

static void bins_are_those_of_the_whole_train(void **state)
{
    (void)state;
    test_random random = test_random_start("features", 71);
    for (int round = 0; round < test_rounds(40); round++) {
        fixture f;
        sf_spike *spikes;
        double bin_ms = 1 + (double)test_random_below(&random, 990) / 10;
        size_t most = 1 + test_random_below(&random, 150),
               count = test_random_stream(&random, &spikes, most, UNITS,
                                          (int64_t)(1 + test_random_below(&random, 2000)) * 1000000);
        begin(&f, bin_ms, round % 2 == 0 ? 0 : 3600);
        int64_t arrivals[150] = {0}, promised_ns = INT64_MIN;
        for (size_t done = 0; done < count;) {
            size_t part = test_random_below(&random, count - done + 1);
            sf_features_look(&f.features, NULL); /* of no source */
            sf_features_take(&f.features, spikes + done, arrivals, part);
            done += part;
            if (done == count || test_random_below(&random, 3) == 0) continue;
            int64_t newest_ns = done > 0 ? spikes[done - 1].time_ns : 0,
                    left = spikes[done].time_ns - newest_ns;
            promised_ns = newest_ns + (int64_t)test_random_below(&random, (uint64_t)left + 1);
            sf_features_reach(&f.features, promised_ns, false);
            if (test_random_below(&random, 2) == 0) tell(&f);
        }
        int64_t end_ns = spikes[count - 1].time_ns + 1 + (int64_t)test_random_below(&random, 300000000);
        sf_features_reach(&f.features, end_ns, true);
        tell(&f);
        check(&f, spikes, count, (int64_t)(bin_ms * 1e6 + 0.5), end_ns);
        assert_int_equal(sf_features_dropped(&f.features), 0);
        end(&f);
        free(spikes);
    }
}

static void take_one(fixture *f, int64_t time_ns)
{
    const int64_t arrival_ns = 1;
    sf_features_take(&f->features, &(sf_spike){.time_ns = time_ns, .unit = 2}, &arrival_ns, 1);
}

/* Nobody tells: what finds no room is counted, and the numbers of the others show the hole. */
static void what_finds_no_room_is_counted(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 0);
    enum { BINS = 10000 };
    for (int64_t i = 0; i < BINS; i++)
        take_one(&f, i * 1000000);
    tell(&f);
    take_one(&f, BINS * INT64_C(1000000));
    sf_features_reach(&f.features, BINS * INT64_C(1000000) + 1, true);
    tell(&f);
    assert_int_equal(f.all->count, 8192 + 2);
    assert_int_equal(sf_features_dropped(&f.features) + f.all->count, BINS + 1);
    assert_int_equal(f.all->bins[8191].bin, 8191);
    assert_int_equal(f.all->bins[8192].bin, BINS - 1);
    end(&f);
}

/* A silence takes one place of the ring, and one longer than windows tell of is passed over. */
static void a_silence_takes_no_room(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1, 15);
    take_one(&f, -5);
    take_one(&f, INT64_C(15000000000));
    take_one(&f, INT64_C(9000000000000000000));
    sf_features_reach(&f.features, INT64_C(9000000000000000001), true);
    tell(&f);
    assert_int_equal(f.all->count, 15000 + 2);
    for (size_t i = 0; i < 15001; i++)
        assert_int_equal(f.all->bins[i].bin, i);
    const sf_features_message *last = &f.all->bins[15001];
    assert_int_equal(last->bin, INT64_C(9000000000000));
    assert_int_equal(last->window.start_ns, INT64_C(8999999999999999995));
    assert_true(last->partial && last->window.stop_ns == INT64_C(9000000000000000001));
    assert_int_equal(f.all->names, 3);
    assert_int_equal(sf_features_dropped(&f.features), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_those_of_the_whole_train),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(a_silence_takes_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
