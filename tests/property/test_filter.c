/* SPDX-License-Identifier: Apache-2.0 */
/* What a filter leaves of a stream is what a selection leaves of the recording. */
#include "support/support.h"

#include "analysis/selection.h"
#include "core/filter.h"
#include "core/memory.h"

#include <string.h>

enum { SPIKES = 800, UNITS = 12, MARKERS = 40 };

static int64_t random_between(test_random *random, int64_t least, int64_t most)
{
    return least + (int64_t)test_random_below(random, (uint64_t)(most - least) + 1);
}

static sf_recording crowded_recording(test_random *random)
{
    sf_recording recording = {0};
    for (int u = 0; u < UNITS; u++) {
        const sf_unit unit = {.x_um = (double)random_between(random, 0, 5) * 50,
                              .y_um = (double)random_between(random, 0, 5) * 50};
        assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
    }
    recording.spikes = sf_alloc(SPIKES, sizeof *recording.spikes);
    recording.markers = sf_alloc(MARKERS, sizeof *recording.markers);
    for (; recording.spike_count < SPIKES; recording.spike_count++)
        recording.spikes[recording.spike_count] =
            (sf_spike){.time_ns = random_between(random, -1000, 4000),
                       .unit = (uint32_t)random_between(random, 0, UNITS - 1)};
    for (; recording.marker_count < MARKERS; recording.marker_count++) {
        sf_marker *marker = &recording.markers[recording.marker_count];
        *marker = (sf_marker){.time_ns = random_between(random, -1000, 4000),
                              .kind = random_between(random, 0, 1) ? SF_MARKER_TTL : SF_MARKER_TEXT,
                              .state = (uint8_t)random_between(random, 0, 1),
                              .line = (uint16_t)random_between(random, 1, 2)};
        if (marker->kind == SF_MARKER_TEXT)
            strcpy(marker->text, random_between(random, 0, 1) ? "light" : "ttl2");
    }
    assert_int_equal(sf_recording_finish(&recording, NULL), SF_OK);
    return recording;
}

static uint64_t dropped(const sf_recording *recording, const char *cause)
{
    for (size_t i = 0; i < recording->dropped_count; i++)
        if (strcmp(recording->dropped[i].cause, cause) == 0) return recording->dropped[i].count;
    return 0;
}

static void a_stream_is_left_what_its_recording_is(void **state)
{
    (void)state;
    test_random random = test_random_start("filter", 71);
    uint64_t all[SF_FILTER_CAUSES] = {0};
    for (int round = 0; round < 200; round++) {
        sf_recording recording = crowded_recording(&random), cut;
        assert_int_equal(sf_recording_copy(&cut, &recording, NULL), SF_OK);
        const int64_t from_ns = random_between(&random, 0, 60);
        const sf_blank blank = {random_between(&random, 0, 1) ? "ttl2" : "light", from_ns,
                                from_ns + random_between(&random, 1, 60)};
        const sf_filter_settings settings = {.units = &recording.units,
                                             .dedup_ns = random_between(&random, 0, 30),
                                             .dedup_um = (double)random_between(&random, 0, 2) * 50,
                                             .blanks = &blank,
                                             .blank_count = 1};
        sf_selection selection;
        sf_selection_init(&selection, sizeof selection);
        selection.dedup_ns = settings.dedup_ns;
        selection.dedup_um = settings.dedup_um;
        selection.blank = blank.marker;
        selection.blank_from_ns = blank.from_ns;
        selection.blank_to_ns = blank.to_ns;
        assert_int_equal(sf_selection_apply(&cut, &selection, NULL), SF_OK);

        sf_filter *filter;
        assert_int_equal(sf_filter_open(&filter, &settings, NULL), SF_OK);
        uint64_t counts[SF_FILTER_CAUSES] = {0};
        size_t marked = 0;
        for (size_t i = 0; i < recording.spike_count; i++) {
            const sf_spike *spike = &recording.spikes[i];
            while (marked < recording.marker_count && recording.markers[marked].time_ns <= spike->time_ns)
                sf_filter_mark(filter, &recording.markers[marked++]);
            sf_filter_cause cause = sf_filter_take(filter, spike);
            if (cause == SF_FILTER_KEPT) {
                assert_true(counts[cause] < cut.spike_count);
                const sf_spike *kept = &cut.spikes[counts[cause]];
                assert_int_equal(spike->time_ns, kept->time_ns);
                assert_int_equal(spike->unit, kept->unit);
            }
            counts[cause]++;
        }
        assert_int_equal(counts[SF_FILTER_KEPT], cut.spike_count);
        assert_int_equal(counts[SF_FILTER_DUPLICATE], dropped(&cut, "duplicate"));
        assert_int_equal(counts[SF_FILTER_MARKER], dropped(&cut, "blanked"));
        for (int c = 0; c < SF_FILTER_CAUSES; c++)
            all[c] += counts[c];
        sf_filter_close(filter);
        sf_recording_clear(&cut);
        sf_recording_clear(&recording);
    }
    printf("%zu kept, %zu repeats, %zu blanked\n", (size_t)all[SF_FILTER_KEPT],
           (size_t)all[SF_FILTER_DUPLICATE], (size_t)all[SF_FILTER_MARKER]);
    assert_true(all[SF_FILTER_KEPT] > 10000 && all[SF_FILTER_DUPLICATE] > 10000 &&
                all[SF_FILTER_MARKER] > 5000);
}

static void spans_of_ones_own_join(void **state)
{
    (void)state;
    static const sf_unit unit = {.name = "A"};
    const sf_units units = {.items = (sf_unit *)&unit, .count = 1};
    const sf_filter_settings settings = {.units = &units};
    sf_filter *filter;
    assert_int_equal(sf_filter_open(&filter, &settings, NULL), SF_OK);
    sf_filter_blank(filter, (sf_span){10, 20});
    sf_filter_blank(filter, (sf_span){15, 30});
    sf_filter_blank(filter, (sf_span){40, 50});
    for (int64_t time_ns = 0; time_ns < 60; time_ns++) {
        bool own = (time_ns >= 10 && time_ns < 30) || (time_ns >= 40 && time_ns < 50);
        assert_int_equal(sf_filter_take(filter, &(sf_spike){.time_ns = time_ns}),
                         own ? SF_FILTER_OWN : SF_FILTER_KEPT);
    }
    sf_filter_close(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_left_what_its_recording_is),
        cmocka_unit_test(spans_of_ones_own_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
