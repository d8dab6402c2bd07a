/* SPDX-License-Identifier: Apache-2.0 */
/* Images of surrogates against moving every spike by the rule, sorting and looking each place up. */
#include "support/support.h"

#include "mine/surrogate_image.h"

#include <stdlib.h>
#include <string.h>

typedef struct trial {
    sf_spike *spikes; /* in order */
    uint32_t count, unit_count;
    sf_events events;
    sf_surrogate_plan plan;
    uint32_t trains[40];
    sf_delay delays[3];
} trial;

static int compare_spikes(const void *a, const void *b)
{
    const sf_spike *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

/* From one spike to several times what is laid out at once; on a fine or a coarse clock, in bursts or not. */
static void draw_spikes(trial *t, test_random *random)
{
    static const uint32_t most[] = {30, 3000, 60000};
    t->count = 1 + (uint32_t)test_random_below(random, most[test_random_below(random, 3)]);
    t->unit_count = 1 + (uint32_t)test_random_below(random, 40);
    t->spikes = calloc(t->count, sizeof *t->spikes);
    uint64_t tick = test_random_below(random, 2) != 0 ? 1 : 1000000, burst = test_random_below(random, 2);
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t time = test_random_below(random, (uint64_t)t->count * 1000000);
        if (burst != 0) time -= time % 500000000 / 2;
        t->spikes[i] = (sf_spike){.time_ns = (int64_t)(time / tick * tick),
                                  .unit = (uint32_t)test_random_below(random, t->unit_count)};
    }
    qsort(t->spikes, t->count, sizeof *t->spikes, compare_spikes);
}

static void draw_plan(trial *t, test_random *random)
{
    static const sf_surrogate_kind kinds[] = {SF_SURROGATE_SEGMENT_SHIFT, SF_SURROGATE_JITTER,
                                              SF_SURROGATE_SHIFT,         SF_SURROGATE_DISPLACED,
                                              SF_SURROGATE_DITHER,        SF_SURROGATE_JOINT_ISI};
    const int64_t last = t->events.times[t->events.count - 1],
                  widths[] = {1, 15000000, 20000000000, last + 1};
    t->plan =
        (sf_surrogate_plan){.rule = {.kind = kinds[test_random_below(random, 6)],
                                     .width_ns = widths[test_random_below(random, 4)],
                                     .segment_ns = 100000 + (int64_t)test_random_below(random, 1000000000),
                                     .seed = test_random_bits(random)},
                            .trains = t->trains,
                            .mirrored = test_random_below(random, 2) != 0,
                            .delays = t->delays,
                            .delay_count = 1 + (uint32_t)test_random_below(random, 3)};
    t->plan.origin_ns = (int64_t)test_random_below(random, 1000) + (t->plan.mirrored ? last : 0);
    for (uint32_t u = 0; u < t->unit_count; u++)
        t->trains[u] = (uint32_t)test_random_below(random, 100000);
    for (uint32_t d = 0; d < t->plan.delay_count; d++) {
        t->delays[d].low_ns = (int64_t)test_random_below(random, 3) * 4000000;
        t->delays[d].high_ns = t->delays[d].low_ns + 1 + (int64_t)test_random_below(random, 20000000);
    }
}

static void dither(int64_t *moved, const sf_surrogate_plan *plan, uint32_t surrogate, uint32_t unit,
                   const int64_t *fired, uint32_t count)
{
    sf_dither by;
    if (!sf_is_dither(plan->rule.kind)) return;
    assert_int_equal(sf_dither_open(&by, plan->rule.kind, fired, count), SF_OK);
    sf_dither_train(moved, &by, &plan->rule, surrogate, plan->trains[unit], fired, count);
    sf_dither_close(&by);
}

static sf_spike *move_all(const trial *t, const int64_t *trains, uint32_t surrogate)
{
    const sf_surrogate_plan *plan = &t->plan;
    const uint32_t *first = t->events.first;
    sf_spike *moved = calloc(t->events.count, sizeof *moved);
    int64_t *fired_ns = calloc(t->events.count + 1, sizeof *fired_ns),
            *dithered = calloc(t->events.count + 1, sizeof *dithered);
    for (uint32_t u = 0; u < t->events.unit_count; u++) {
        uint32_t count = first[u + 1] - first[u];
        for (uint32_t i = 0; i < count; i++)
            fired_ns[i] =
                plan->origin_ns + (plan->mirrored ? -trains[first[u + 1] - 1 - i] : trains[first[u] + i]);
        dither(dithered, plan, surrogate, u, fired_ns, count);
        for (uint32_t i = first[u]; i < first[u + 1]; i++) {
            uint32_t number = plan->mirrored ? first[u + 1] - 1 - i : i - first[u];
            int64_t fired = plan->origin_ns + (plan->mirrored ? -trains[i] : trains[i]);
            int64_t goes = sf_is_dither(plan->rule.kind)
                               ? dithered[number]
                               : sf_surrogate_time(&plan->rule, surrogate, plan->trains[u], number, fired);
            moved[i] = (sf_spike){.time_ns = plan->mirrored ? plan->origin_ns - goes : goes - plan->origin_ns,
                                  .unit = u};
        }
    }
    free(fired_ns);
    free(dithered);
    qsort(moved, t->events.count, sizeof *moved, compare_spikes);
    return moved;
}

/* How many of the spikes are at or before (time, unit). */
static uint32_t up_to(const sf_spike *spikes, uint32_t count, int64_t time, uint32_t unit)
{
    const sf_spike one = {.time_ns = time, .unit = unit};
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_spikes(&spikes[middle], &one) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check(const trial *t, const sf_image *image, const sf_spike *moved, const sf_spike *recorded)
{
    uint32_t n = t->events.count, *next = calloc(t->events.unit_count, sizeof *next);
    for (uint32_t q = 0; q < n; q++) {
        uint32_t unit = moved[q].unit;
        assert_int_equal(image->spikes[q].owner, unit);
        assert_int_equal(image->spikes[q].after, up_to(recorded, n, moved[q].time_ns, unit));
        assert_int_equal(image->positions[t->events.first[unit] + next[unit]++], q);
    }
    for (uint32_t d = 0; d < t->plan.delay_count; d++)
        for (uint32_t p = 0; p < n; p++) {
            int64_t time = recorded[p].time_ns;
            sf_followers found = image->reaches[d][p];
            assert_int_equal(found.from, up_to(moved, n, time + t->delays[d].low_ns, UINT32_MAX));
            assert_int_equal(found.to, up_to(moved, n, time + t->delays[d].high_ns, UINT32_MAX));
        }
    free(next);
}

static void images_are_the_moved_spikes_in_order(void **state)
{
    (void)state;
    test_random random = test_random_start("images", 41);
    uint64_t seen[7][2] = {{0}}, long_ones = 0;
    for (int round = 0; round < 160; round++) {
        trial t;
        draw_spikes(&t, &random);
        assert_int_equal(sf_events_open(&t.events, t.spikes, t.count, t.unit_count, NULL, NULL), SF_OK);
        draw_plan(&t, &random);
        sf_image image = {0};
        sf_image_room room = {0};
        sf_mover mover;
        assert_int_equal(sf_mover_open(&mover, &t.events, &t.plan), SF_OK);
        assert_int_equal(sf_image_open(&image, &mover), SF_OK);
        assert_int_equal(sf_image_room_open(&room, &mover), SF_OK);
        sf_spike *recorded = calloc(t.events.count, sizeof *recorded);
        for (uint32_t p = 0; p < t.events.count; p++)
            recorded[p] = (sf_spike){.time_ns = t.events.times[p], .unit = t.events.owner[p]};
        for (uint32_t surrogate = 0; surrogate < 2; surrogate++) {
            sf_image_make(&image, &mover, surrogate, &room);
            sf_spike *moved = move_all(&t, t.events.unit_times, surrogate);
            check(&t, &image, moved, recorded);
            free(moved);
        }
        seen[t.plan.rule.kind][t.plan.mirrored]++;
        long_ones += t.events.count > 10000;
        free(recorded);
        sf_mover_close(&mover);
        sf_image_room_close(&room);
        sf_image_close(&image, t.plan.delay_count);
        sf_events_close(&t.events);
        free(t.spikes);
    }
    for (int kind = 1; kind <= 6; kind++)
        assert_true(seen[kind][0] > 0 && seen[kind][1] > 0);
    assert_true(long_ones > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images_are_the_moved_spikes_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
