/* SPDX-License-Identifier: Apache-2.0 */
/* Segment summaries: the map is the greedy's, composition is associative, parts compose to the whole. */
#include "support/support.h"

#include "core/memory.h"
#include "oracle/count_oracle.h"
#include "window/segment.h"

#define PARTS 4

typedef struct fixture {
    test_random random;
    sf_spike *spikes;
    size_t count;
    sf_episode episode;
    sf_trains trains;
    sf_segment_scratch scratch;
} fixture;

/* A fresh random stream with ties and repeated symbols, and an episode of them. */
static void set_up(fixture *f)
{
    int64_t last = 20 + (int64_t)test_random_below(&f->random, 180);
    uint32_t units = 1 + (uint32_t)test_random_below(&f->random, 3);
    f->count = test_random_stream(&f->random, &f->spikes, test_random_below(&f->random, 100), units, last);
    f->episode = test_random_episode(&f->random, 4, units, 5 + (int64_t)test_random_below(&f->random, 40));
    assert_int_equal(sf_trains_open(&f->trains, 3, NULL), SF_OK);
    assert_int_equal(sf_trains_append(&f->trains, f->spikes, f->count, 0, NULL), SF_OK);
}

static void tear_down(fixture *f)
{
    sf_trains_close(&f->trains);
    sf_segment_scratch_free(&f->scratch);
    free(f->spikes);
}

static sf_summary summarise(fixture *f, uint64_t begin, uint64_t end)
{
    sf_summary summary = {0};
    assert_int_equal(sf_segment_summarise(&summary, &f->trains, &f->episode, begin, end, &f->scratch, NULL),
                     SF_OK);
    return summary;
}

static sf_summary compose(const sf_summary *left, const sf_summary *right)
{
    sf_summary both = {0};
    assert_int_equal(sf_summary_compose(&both, left, right, NULL), SF_OK);
    return both;
}

static void assert_same(const sf_summary *a, const sf_summary *b)
{
    assert_int_equal(a->begin, b->begin);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->step_count, b->step_count);
    if (a->step_count > 0) assert_memory_equal(a->steps, b->steps, a->step_count * sizeof *a->steps);
}

static void the_map_is_the_greedy_one(void **state)
{
    (void)state;
    fixture f = {.random = test_random_start("summary map", 21)};
    uint64_t entries_differ = 0;
    for (int round = 0; round < 3000; round++) {
        set_up(&f);
        uint64_t begin = test_random_below(&f.random, f.count + 1);
        uint64_t end = begin + test_random_below(&f.random, f.count - begin + 1);
        sf_summary summary = summarise(&f, begin, end);
        for (uint64_t entry = 0; entry <= begin; entry++) {
            uint64_t exit;
            uint64_t count = oracle_pass(f.spikes, f.count, &f.episode, begin, end, entry, &exit);
            sf_passage passage = sf_summary_pass(&summary, entry);
            assert_int_equal(passage.count, count);
            assert_int_equal(passage.exit, exit);
        }
        entries_differ += summary.step_count > 1;
        sf_summary_free(&summary);
        tear_down(&f);
    }
    assert_true(entries_differ > 300); /* the cases are not trivial */
}

static void parts_compose_to_the_whole_however_grouped(void **state)
{
    (void)state;
    fixture f = {.random = test_random_start("summary composition", 22)};
    for (int round = 0; round < 10000; round++) {
        set_up(&f);
        uint64_t cuts[PARTS + 1] = {0};
        cuts[PARTS] = f.count;
        for (int i = 0; i < PARTS; i++)
            cuts[i] = test_random_below(&f.random, f.count + 1);
        for (int i = 1; i <= PARTS; i++) /* insertion sort */
            for (int j = i; j > 0 && cuts[j] < cuts[j - 1]; j--) {
                uint64_t cut = cuts[j];
                cuts[j] = cuts[j - 1];
                cuts[j - 1] = cut;
            }
        sf_summary part[PARTS];
        for (int i = 0; i < PARTS; i++)
            part[i] = summarise(&f, cuts[i], cuts[i + 1]);
        sf_summary whole = summarise(&f, cuts[0], cuts[PARTS]);
        sf_summary first = compose(&part[0], &part[1]), last = compose(&part[2], &part[3]);
        sf_summary middle = compose(&part[1], &part[2]), front = compose(&first, &part[2]);
        sf_summary inner = compose(&part[0], &middle);
        sf_summary balanced = compose(&first, &last), leftmost = compose(&inner, &part[3]);
        assert_same(&front, &inner);
        assert_same(&balanced, &whole);
        assert_same(&leftmost, &whole);
        sf_summary *all[] = {&whole, &first, &last, &middle, &front, &inner, &balanced, &leftmost};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            sf_summary_free(all[i]);
        for (int i = 0; i < PARTS; i++)
            sf_summary_free(&part[i]);
        tear_down(&f);
    }
}

/* The largest times and the smallest: differences must not overflow. */
static void times_may_be_anywhere(void **state)
{
    (void)state;
    const sf_episode episode = {.size = 2, .units = {0, 1}, .delays = {{0, 5}}};
    const sf_spike spikes[] = {
        {INT64_MIN, 0, 0}, {INT64_MIN + 5, 1, 0}, {-1, 0, 0}, {INT64_MAX - 5, 0, 0}, {INT64_MAX, 1, 0}};
    fixture f = {.episode = episode};
    assert_int_equal(sf_trains_open(&f.trains, 2, NULL), SF_OK);
    assert_int_equal(sf_trains_append(&f.trains, spikes, 5, 0, NULL), SF_OK);
    sf_summary summary = summarise(&f, 0, 5);
    assert_int_equal(sf_summary_pass(&summary, 0).count, 2);
    sf_summary_free(&summary);
    tear_down(&f);
}

static int summarise_and_compose(void *context)
{
    fixture *f = context;
    sf_summary left = {0}, right = {0}, both = {0};
    sf_trains trains;
    sf_segment_scratch scratch = {0};
    int status = sf_trains_open(&trains, 3, NULL);
    if (status == SF_OK) status = sf_trains_append(&trains, f->spikes, f->count, 0, NULL);
    if (status == SF_OK) status = sf_segment_summarise(&left, &trains, &f->episode, 10, 20, &scratch, NULL);
    if (status == SF_OK)
        status = sf_segment_summarise(&right, &trains, &f->episode, 20, f->count, &scratch, NULL);
    if (status == SF_OK) status = sf_summary_compose(&both, &left, &right, NULL);
    sf_summary_free(&left);
    sf_summary_free(&right);
    sf_summary_free(&both);
    sf_segment_scratch_free(&scratch);
    sf_trains_close(&trains);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    fixture f = {.random = {.state = 3}};
    f.count = test_random_stream(&f.random, &f.spikes, 200, 3, 300);
    f.episode = (sf_episode){.size = 3, .units = {0, 1, 2}, .delays = {{0, 20}, {0, 20}}};
    test_fail_every_allocation(summarise_and_compose, &f);
    free(f.spikes);
}

static void a_spike_of_an_unknown_unit_is_refused(void **state)
{
    (void)state;
    sf_trains trains;
    sf_error error;
    const sf_spike spikes[] = {{1, 0, 0}, {2, 2, 0}};
    assert_int_equal(sf_trains_open(&trains, 2, NULL), SF_OK);
    test_assert_fails(sf_trains_append(&trains, spikes, 2, 0, &error), &error, SF_DATA, "unit #2");
    assert_int_equal(trains.units[0].end, 0);
    sf_trains_close(&trains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_is_the_greedy_one),
        cmocka_unit_test(parts_compose_to_the_whole_however_grouped),
        cmocka_unit_test(times_may_be_anywhere),
        cmocka_unit_test(allocation_failures_leak_nothing),
        cmocka_unit_test(a_spike_of_an_unknown_unit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
