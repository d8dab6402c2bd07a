/* SPDX-License-Identifier: Apache-2.0 */
/* Crossovers of the hybrid engine: measured once, kept in a file of the user's cache, and never a reason to
 * fail; and what the paper's engines do by them, seen in what they tell of a job. */
#include "mine/cao/crossover.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/memory.h"
#include "mine/engine.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sf_crossover find(unsigned threads, uint32_t size)
{
    sf_crossover crossover;
    sf_error error;
    assert_int_equal(sf_crossover_find(&crossover, NULL, threads, size, &error), SF_OK);
    assert_true(crossover.episodes >= 1);
    return crossover;
}

static void write_cache(const char *lines)
{
    char path[4200];
    assert_true(sf_crossover_path(path, sizeof path));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(lines, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static char *read_cache(void)
{
    char path[4200];
    sf_text text = {0};
    assert_true(sf_crossover_path(path, sizeof path));
    assert_int_equal(sf_file_read(&text, path, NULL), SF_OK);
    return text.data;
}

static void test_kept_across_processes(void **state)
{
    (void)state;
    sf_crossover first = find(2, 3);
    assert_true(first.measured && first.seconds > 0);
    sf_crossover again = find(2, 3);
    assert_false(again.measured);
    assert_int_equal(again.episodes, first.episodes);
    sf_crossover_forget(); /* as a new process */
    again = find(2, 3);
    assert_false(again.measured);
    assert_int_equal(again.episodes, first.episodes);
    char *lines = read_cache();
    assert_int_equal(strncmp(lines, "3 ", 2), 0);
    assert_non_null(strstr(lines, "2 threads\n"));
    sf_free(lines);
}

/* What the file says is what holds, by size and device; lines that make no sense and other devices' do no
 * harm. */
static void test_file_decides(void **state)
{
    (void)state;
    char *lines = read_cache(), device[200];
    assert_int_equal(sscanf(lines, "%*u %*u %199[^\n]", device), 1);
    sf_free(lines);
    char text[1024];
    snprintf(text, sizeof text, "what\n\n3\n99 5 %s\n3 0 %s\n3 77 cuda Other\n3 1234 %s\n3 5 %s", device,
             device, device, device);
    write_cache(text);
    sf_crossover_forget();
    assert_int_equal(find(2, 3).episodes, 1234);
    sf_crossover other = find(2, 2);
    assert_true(other.measured);
    lines = read_cache(); /* saving keeps what others have found */
    assert_non_null(strstr(lines, "3 77 cuda Other\n"));
    assert_non_null(strstr(lines, "3 1234 "));
    sf_free(lines);
}

static void test_no_cache(void **state)
{
    (void)state;
    char kept[4096], path[4200];
    snprintf(kept, sizeof kept, "%s", getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    sf_crossover_forget();
    assert_true(find(2, 2).measured);
    assert_false(find(2, 2).measured);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(sf_crossover_path(path, sizeof path));
    sf_crossover_forget();
    assert_true(find(2, 2).measured);
    setenv("XDG_CACHE_HOME", kept, 1);
    sf_crossover_forget();
}

/* ---- what engines do ---- */

enum { UNITS = 20, SPIKES = 6000, EPISODES = 100, SIZE = 3 };

typedef struct scene {
    sf_events events;
    uint32_t units[EPISODES * SIZE], delays[EPISODES * (SIZE - 1)];
} scene;

/* A spike each millisecond; of the first half of the units ten times as many as of the others. Episode i
 * begins with a busy unit where i is less than `busy`, and else is of rare ones alone. */
static void set_scene(scene *s, uint32_t busy)
{
    test_random random = test_random_start("engines", 8);
    static sf_spike spikes[SPIKES];
    for (uint32_t i = 0; i < SPIKES; i++) {
        uint32_t rare = test_random_below(&random, 11) == 0 ? UNITS / 2 : 0;
        spikes[i] = (sf_spike){.time_ns = i * SF_MILLISECOND,
                               .unit = rare + (uint32_t)test_random_below(&random, UNITS / 2)};
    }
    *s = (scene){0};
    assert_int_equal(sf_events_open(&s->events, spikes, SPIKES, UNITS, NULL, NULL), SF_OK);
    for (uint32_t i = 0; i < EPISODES; i++)
        for (uint32_t node = 0; node < SIZE; node++)
            s->units[i * SIZE + node] =
                (i < busy ? 0 : UNITS / 2) + (uint32_t)test_random_below(&random, UNITS / 2);
}

static sf_count_tally count(const scene *s, const sf_engine *engine, uint32_t episodes, unsigned threads,
                            uint32_t least, uint32_t *counts)
{
    const sf_delay delay = {0, 30 * SF_MILLISECOND};
    const sf_candidates candidates = {SIZE, episodes, s->units, s->delays, &delay, 1};
    sf_count_tally tally = {0};
    const sf_count_job job = {.events = &s->events,
                              .last = s->events.count,
                              .candidates = &candidates,
                              .threads = threads,
                              .least = least,
                              .tally = &tally};
    assert_int_equal(engine->count(counts, &job, NULL), SF_OK);
    return tally;
}

static void mtpe_counts_in_segments_and_ptpe_whole(void **state)
{
    (void)state;
    scene s;
    uint32_t whole[EPISODES], segments[EPISODES];
    set_scene(&s, EPISODES);
    for (unsigned threads = 1; threads < 4; threads++) {
        assert_int_equal(count(&s, &sf_engine_ptpe, EPISODES, threads, 0, whole).segmented, 0);
        sf_count_tally tally = count(&s, &sf_engine_mtpe, EPISODES, threads, 0, segments);
        assert_int_equal(tally.segmented, EPISODES);
        assert_true(tally.recounted < EPISODES / 20); /* a machine for each node: one of them enters right */
        assert_memory_equal(whole, segments, sizeof whole);
    }
    sf_events_close(&s.events);
}

/* The file says from how many episodes on the whole stream is faster. */
static void hybrid_takes_the_faster_side(void **state)
{
    (void)state;
    char device[200], text[512];
    scene s;
    uint32_t counts[EPISODES];
    write_cache("");
    sf_crossover_forget();
    find(2, SIZE);
    char *lines = read_cache();
    assert_int_equal(sscanf(lines, "%*u %*u %199[^\n]", device), 1);
    sf_free(lines);
    snprintf(text, sizeof text, "%d 50 %s\n", SIZE, device);
    write_cache(text);
    sf_crossover_forget();
    set_scene(&s, EPISODES);
    assert_int_equal(count(&s, &sf_engine_hybrid, 49, 2, 0, counts).segmented, 49);
    assert_int_equal(count(&s, &sf_engine_hybrid, 50, 2, 0, counts).segmented, 0);
    assert_int_equal(count(&s, &sf_engine_hybrid, 49, 1, 0, counts).segmented, 0); /* nothing to share out */
    sf_events_close(&s.events);
}

/* Where most candidates are rare, a bound rules them out; where few are, it is not asked. */
static void two_pass_bounds_where_that_pays(void **state)
{
    (void)state;
    enum { LEAST = 60 };
    static const uint32_t busy[] = {0, 20, 80, EPISODES};
    for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++) {
        scene s;
        uint32_t exact[EPISODES], counts[EPISODES], rare = 0;
        set_scene(&s, busy[i]);
        count(&s, &sf_engine_ptpe, EPISODES, 2, 0, exact);
        for (uint32_t k = 0; k < EPISODES; k++) {
            assert_true((exact[k] >= LEAST) == (k < busy[i]));
            rare += exact[k] < LEAST;
        }
        sf_count_tally tally = count(&s, &sf_engine_two_pass, EPISODES, 2, LEAST, counts);
        assert_int_equal(tally.culled, rare * 2 >= EPISODES ? rare : 0);
        for (uint32_t k = 0; k < EPISODES; k++)
            assert_true(exact[k] < LEAST ? counts[k] < LEAST : counts[k] == exact[k]);
        assert_int_equal(count(&s, &sf_engine_two_pass, EPISODES, 2, 0, counts).culled, 0);
        sf_events_close(&s.events);
    }
}

static int find_anew(void *context)
{
    (void)context;
    sf_crossover crossover;
    sf_crossover_forget();
    return sf_crossover_find(&crossover, NULL, 2, 4, NULL);
}

static void test_allocations(void **state)
{
    (void)state;
    test_fail_every_allocation(find_anew, NULL);
}

static int set_up(void **state)
{
    static char folder[] = "/tmp/synfire-cache-XXXXXX";
    *state = mkdtemp(folder);
    return *state == NULL || setenv("XDG_CACHE_HOME", folder, 1) != 0;
}

static int tear_down(void **state)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/synfire/crossover-%s", (char *)*state, sf_version());
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return rmdir(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_across_processes),
        cmocka_unit_test(test_file_decides),
        cmocka_unit_test(test_no_cache),
        cmocka_unit_test(mtpe_counts_in_segments_and_ptpe_whole),
        cmocka_unit_test(hybrid_takes_the_faster_side),
        cmocka_unit_test(two_pass_bounds_where_that_pays),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
