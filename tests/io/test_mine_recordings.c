/* SPDX-License-Identifier: Apache-2.0 */
/* Mining real recordings and the miners' own benchmark streams, against counts known exactly. */
#include "support/recordings.h"

#include "core/backend/find.h"
#include "core/episode.h"
#include "mine/engine.h"
#include "mine/mine.h"
#include "replay/recording_file.h"

static sf_mine_result *mine_by(const char *engine, const char *device, const sf_recording *recording,
                               sf_delay delay, double threshold, uint32_t max_size, unsigned threads)
{
    sf_mining_options options;
    options = sf_mining_options_default();
    options.engine = engine;
    options.device = device;
    options.delays = &delay;
    options.delay_count = 1;
    options.threshold = threshold;
    options.max_size = max_size;
    options.threads = threads;
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_mine_result *result;
    sf_error error;
    if (sf_mine_spikes(&result, &input, &options, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    return result;
}

static sf_mine_result *mine(const sf_recording *recording, sf_delay delay, double threshold,
                            uint32_t max_size, unsigned threads)
{
    return mine_by(NULL, "cpu", recording, delay, threshold, max_size, threads);
}

static void assert_levels(const sf_mine_result *result, const uint64_t *frequent, uint32_t count)
{
    assert_int_equal(result->level_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(result->levels[i].size, i + 1);
        assert_int_equal(result->levels[i].frequent, frequent[i]);
    }
}

static const sf_delay four_to_six = {4000000, 6000000};

static void the_planted_chain_is_found(void **state)
{
    (void)state;
    sf_recording recording;
    if (!test_load_recording(&recording, "episodes/sample_stream.csv")) skip();
    sf_mine_result *result = mine(&recording, four_to_six, 112.72, 16, 1);
    assert_levels(result, (const uint64_t[]){25, 3, 2, 1}, 4);
    sf_episode episode;
    sf_mine_result_episode(result, result->count - 1, &episode);
    sf_text text = {0};
    sf_episode_print(&text, &episode, &recording.units);
    assert_string_equal(text.data, "00 -(4,6]-> 01 -(4,6]-> 02 -(4,6]-> 03");
    assert_int_equal(result->items[result->count - 1].count, 161);
    sf_text_free(&text);
    sf_mine_result_free(result);
    sf_recording_clear(&recording);
}

static void assert_same(const sf_mine_result *one, const sf_mine_result *two)
{
    assert_int_equal(one->count, two->count);
    for (size_t i = 0; i < one->count; i++) {
        assert_int_equal(one->items[i].node, two->items[i].node);
        assert_int_equal(one->items[i].count, two->items[i].count);
        assert_true(one->items[i].expected == two->items[i].expected);
    }
}

static void the_benchmark_stream_has_its_levels(void **state)
{
    (void)state;
    sf_recording recording;
    if (!test_load_recording(&recording, "episodes/sim-64-size20.csv")) skip();
    sf_mine_result *one = mine(&recording, four_to_six, 65.428, 16, 1);
    sf_mine_result *two = mine(&recording, four_to_six, 65.428, 16, 2);
    assert_levels(one, (const uint64_t[]){64, 2264, 3762, 4030, 2857, 1355, 381, 34, 2}, 9);
    assert_int_equal(one->levels[1].candidates, 4032);
    assert_int_equal(one->levels[2].candidates, 99344);
    assert_same(one, two);
    sf_mine_result_free(one);
    sf_mine_result_free(two);
    sf_recording_clear(&recording);
}

/* Every engine of every device, all counts of the same job; and the paper's on threads at a higher threshold.
 */
static void engines_find_the_same_in_the_benchmark_stream(void **state)
{
    (void)state;
    sf_recording recording;
    if (!test_load_recording(&recording, "episodes/sim-64-size20.csv")) skip();
    sf_mine_result *few = mine(&recording, four_to_six, 200, 16, 1);
    double on_devices = test_rounds(0) > 0 ? 200 : 65.428;
    sf_mine_result *all = mine(&recording, four_to_six, on_devices, 16, 1);
    for (size_t i = 0; sf_engines[i] != NULL; i++) {
        const char *engine = sf_engines[i]->name;
        unsigned threads = sf_engines[i]->threaded ? 2 : 1;
        sf_mine_result *found = mine_by(engine, "cpu", &recording, four_to_six, 200, 16, threads);
        assert_same(few, found);
        sf_mine_result_free(found);
        for (uint32_t d = 0; d < sf_device_count(); d++) {
            sf_device *device;
            assert_int_equal(sf_device_find(&device, sf_device_name(sf_device_at(d)), NULL), SF_OK);
            if (!sf_device_supports(device, SF_OPERATION_COUNT, engine)) continue;
            found = mine_by(engine, sf_device_name(device), &recording, four_to_six, on_devices, 16, 1);
            assert_string_equal(found->ran.device, sf_device_name(device));
            assert_same(all, found);
            sf_mine_result_free(found);
        }
    }
    sf_mine_result_free(few);
    sf_mine_result_free(all);
    sf_recording_clear(&recording);
}

/* One episode of the list: names, a colon, the count; headings of the next size may follow. */
static bool read_line(const char *line, const sf_units *units, sf_episode *episode, uint64_t *count)
{
    *episode = (sf_episode){0};
    char words[512];
    snprintf(words, sizeof words, "%s", line);
    char *rest, *word = strtok_r(words, " \n", &rest);
    for (; word != NULL && strcmp(word, ":") != 0; word = strtok_r(NULL, " \n", &rest)) {
        episode->units[episode->size++] = sf_units_find(units, word);
        assert_int_not_equal(episode->units[episode->size - 1], SF_NO_UNIT);
    }
    word = word != NULL ? strtok_r(NULL, " \n", &rest) : NULL;
    for (uint32_t i = 0; i + 1 < episode->size; i++)
        episode->delays[i] = four_to_six;
    return word != NULL && sf_parse_uint(word, UINT64_MAX, count);
}

static void every_line_of_the_exact_list_is_found(void **state)
{
    (void)state;
    sf_recording recording;
    char *path = test_data_path("episodes/exact_size20_4-6ms_theta261.712.txt");
    if (path == NULL || !test_load_recording(&recording, "episodes/sim-64-size20.csv")) skip();
    sf_mine_result *result = mine(&recording, four_to_six, 261.712, 16, 1);
    FILE *file = fopen(path, "r");
    free(path);
    char line[512];
    size_t lines = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* the heading */
    for (; fgets(line, sizeof line, file) != NULL; lines++) {
        sf_episode episode, found;
        uint64_t count;
        assert_true(read_line(line, &recording.units, &episode, &count));
        size_t i = 0;
        for (; i < result->count; i++) {
            sf_mine_result_episode(result, i, &found);
            if (sf_episode_compare(&episode, &found) == 0) break;
        }
        assert_true(i < result->count);
        assert_int_equal(result->items[i].count, count);
    }
    fclose(file);
    assert_int_equal(lines, result->count);
    sf_mine_result_free(result);
    sf_recording_clear(&recording);
}

static void two_hours_of_retina(void **state)
{
    (void)state;
    sf_recording recording;
    if (!test_load_recording(&recording, "recordings/Stafford2009_WT_37C_Dorsal_2008-10-11-0.h5")) skip();
    sf_mine_result *result = mine(&recording, (sf_delay){0, 20000000}, 150, 4, 1);
    assert_levels(result, (const uint64_t[]){477, 6846, 126, 0}, 4);
    sf_mine_result_free(result);
    sf_recording_clear(&recording);
}

/* Starts at a random spike and follows the stream, so that the episode occurs at least once. */
static sf_episode likely_episode(const sf_recording *recording, test_random *random)
{
    sf_episode episode = {.size = 1 + (uint32_t)test_random_below(random, 6)};
    size_t at = test_random_below(random, recording->spike_count);
    episode.units[0] = recording->spikes[at].unit;
    for (uint32_t i = 1; i < episode.size; i++) {
        size_t next = at + 1 + test_random_below(random, 12);
        next = next < recording->spike_count ? next : recording->spike_count - 1;
        int64_t dt = recording->spikes[next].time_ns - recording->spikes[at].time_ns;
        int64_t slack = 1 + (int64_t)test_random_below(random, 20000000);
        episode.units[i] = recording->spikes[next].unit;
        episode.delays[i - 1] = (sf_delay){dt > slack ? dt - slack : 0, dt + slack};
        at = next;
    }
    return episode;
}

static void count_by(uint64_t *counts, const char *engine, const char *device, const sf_recording *recording,
                     const sf_episode *episodes, size_t count)
{
    sf_counter *counter;
    assert_int_equal(sf_counter_open(&counter, recording->spikes, recording->spike_count,
                                     recording->units.count, episodes, count, engine, 1, NULL),
                     SF_OK);
    assert_int_equal(sf_counter_use(counter, device, NULL), SF_OK);
    assert_int_equal(sf_counter_count(counter, NULL, counts, NULL), SF_OK);
    assert_string_equal(sf_counter_device(counter, NULL), device);
    sf_counter_close(counter);
}

#define EPISODES 60

static void assert_counts(const uint64_t *reference, const char *engine, const char *device, const char *name,
                          const sf_recording *recording, const sf_episode *episodes)
{
    uint64_t found[EPISODES];
    count_by(found, engine, device, recording, episodes, EPISODES);
    for (size_t i = 0; i < EPISODES; i++)
        if (found[i] != reference[i])
            fail_msg("%s, episode %zu: %s on %s %llu, reference %llu", name, i, engine, device,
                     (unsigned long long)found[i], (unsigned long long)reference[i]);
}

static void assert_all_count(const uint64_t *reference, const char *name, const sf_recording *recording,
                             const sf_episode *episodes)
{
    for (size_t e = 0; sf_engines[e] != NULL; e++) {
        const char *engine = sf_engines[e]->name;
        assert_counts(reference, engine, "cpu", name, recording, episodes);
        for (uint32_t d = 0; d < sf_device_count(); d++) {
            sf_device *device;
            assert_int_equal(sf_device_find(&device, sf_device_name(sf_device_at(d)), NULL), SF_OK);
            if (sf_device_supports(device, SF_OPERATION_COUNT, engine))
                assert_counts(reference, engine, sf_device_name(device), name, recording, episodes);
        }
    }
}

static void engines_agree_on_every_recording(void **state)
{
    (void)state;
    static const char *const names[] = {
        "recordings/Demas2003_P9_CTRL_MY1_1A.h5",
        "recordings/Hennig2011_spikes_P5_Bic_10uM_16_Mar_2010_bic_day2.h5",
        "recordings/Kirkby2013_02_B2KO_P5.h5",
        "recordings/Maccione2014_P9_m1r2_bursts_filtered.h5",
        "recordings/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5",
        "recordings/Stafford2009_WT_37C_Dorsal_2008-10-11-0.h5",
        "recordings/Torborg2004_2001-10-22-0.h5",
        "recordings/Wong1993_P0.h5",
        "recordings/pynapple_A8604-211122.nwb",
        "episodes/sim-64-size20.csv",
        "episodes/sample_stream.csv",
    };
    test_random random = test_random_start("recordings", 1);
    size_t loaded = 0;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        sf_recording recording;
        if (!test_load_recording(&recording, names[n])) continue;
        loaded++;
        if (test_rounds(0) > 0 && recording.spike_count > 5000)
            recording.spike_count = 5000; /* under a checker of device code */
        sf_episode episodes[EPISODES];
        for (size_t i = 0; i < EPISODES; i++)
            episodes[i] = likely_episode(&recording, &random);
        uint64_t reference[EPISODES], total = 0;
        count_by(reference, "reference", "cpu", &recording, episodes, EPISODES);
        assert_all_count(reference, names[n], &recording, episodes);
        for (size_t i = 0; i < EPISODES; i++)
            total += reference[i];
        assert_true(total > EPISODES);
        sf_recording_clear(&recording);
    }
    if (loaded == 0) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_planted_chain_is_found),
        cmocka_unit_test(the_benchmark_stream_has_its_levels),
        cmocka_unit_test(engines_find_the_same_in_the_benchmark_stream),
        cmocka_unit_test(every_line_of_the_exact_list_is_found),
        cmocka_unit_test(two_hours_of_retina),
        cmocka_unit_test(engines_agree_on_every_recording),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
