/* SPDX-License-Identifier: Apache-2.0 */
/* The merge against sorting everything: sources with lateness, ties, duplicates, clocks, stalls, full rings.
 */
#include "support/support.h"

#include "core/memory.h"
#include "core/thread.h"
#include "window/merge.h"

#include <sched.h>

#define SOURCES 3
#define UNITS 4

/* What a source sends: spikes cut into batches, each followed by a clock or none. */
typedef struct script {
    sf_inlet_settings settings;
    sf_spike *spikes;
    size_t count;
    size_t *cuts; /* batch i is cuts[i] .. cuts[i + 1] - 1 */
    int64_t *clocks;
    size_t batches;
    uint64_t late, out_of_range; /* as they must come out */
} script;

typedef struct stream {
    sf_spike *spikes;
    size_t count, capacity;
} stream;

static void append(stream *to, const sf_spike *spikes, size_t count)
{
    if (to->count + count > to->capacity) {
        to->capacity = 2 * (to->count + count);
        to->spikes = realloc(to->spikes, to->capacity * sizeof *to->spikes);
    }
    if (count > 0) memcpy(to->spikes + to->count, spikes, count * sizeof *spikes);
    to->count += count;
}

/* Spikes wander back by up to `disorder`; now and then one is of an unknown unit. Amplitudes number them. */
static script make_script(test_random *random, size_t count, int64_t disorder, int64_t lateness)
{
    script s = {.settings = {UNITS, lateness, 1024, SF_RING_BLOCK}, .count = count};
    s.spikes = malloc((count + 1) * sizeof *s.spikes);
    s.cuts = malloc((count + 2) * sizeof *s.cuts);
    s.clocks = malloc((count + 2) * sizeof *s.clocks);
    int64_t now = (int64_t)test_random_below(random, 50), newest = now;
    for (size_t i = 0; i < count; i++) {
        now += (int64_t)test_random_below(random, 4);
        int64_t back = disorder > 0 ? (int64_t)test_random_below(random, (uint64_t)disorder + 1) : 0;
        s.spikes[i] = (sf_spike){
            .time_ns = now - back, .unit = (uint32_t)test_random_below(random, UNITS), .amplitude = (float)i};
        if (test_random_below(random, 100) == 0)
            s.spikes[i].unit = UNITS + (uint32_t)test_random_below(random, 3);
    }
    s.cuts[0] = 0;
    while (s.cuts[s.batches] < count) {
        size_t end = s.cuts[s.batches] + 1 + test_random_below(random, 20);
        end = end < count ? end : count;
        /* A source in time order may send spikes of one time in any order, but in one batch. */
        while (end < count && s.spikes[end].time_ns == s.spikes[end - 1].time_ns)
            end++;
        for (size_t i = s.cuts[s.batches]; i < end; i++)
            newest = s.spikes[i].time_ns > newest ? s.spikes[i].time_ns : newest;
        bool clock = test_random_below(random, 3) == 0;
        s.clocks[s.batches] = clock ? newest - (int64_t)test_random_below(random, 12) : INT64_MIN;
        s.cuts[++s.batches] = end;
    }
    return s;
}

static void free_script(script *s)
{
    free(s->spikes);
    free(s->cuts);
    free(s->clocks);
}

static bool before(int64_t time, uint32_t unit, int64_t than_time, uint32_t than_unit)
{
    return time < than_time || (time == than_time && unit < than_unit);
}

/* Appends what of a script must go through, numbered from `offset`; in the order sent. */
static void accept(script *s, uint32_t offset, stream *out)
{
    int64_t newest = INT64_MIN, floor = INT64_MIN;
    uint32_t newest_unit = 0, floor_unit = 0;
    for (size_t b = 0; b < s->batches; b++) {
        for (size_t i = s->cuts[b]; i < s->cuts[b + 1]; i++) {
            sf_spike spike = s->spikes[i];
            if (spike.unit >= s->settings.unit_count) {
                s->out_of_range++;
                continue;
            }
            spike.unit += offset;
            int64_t oldest = newest == INT64_MIN ? INT64_MIN : newest - s->settings.lateness_ns;
            if (before(spike.time_ns, spike.unit, floor, floor_unit) || spike.time_ns < oldest) {
                s->late++;
                continue;
            }
            append(out, &spike, 1);
            if (before(newest, newest_unit, spike.time_ns, spike.unit)) {
                newest = spike.time_ns;
                newest_unit = spike.unit;
            }
        }
        if (s->clocks[b] > floor) {
            floor = s->clocks[b];
            floor_unit = 0;
        }
        if (s->settings.lateness_ns == 0 && before(floor, floor_unit, newest, newest_unit)) {
            floor = newest;
            floor_unit = newest_unit;
        }
    }
}

/* Stable: spikes of one unit at one time stay in the order sent. */
static void sort(sf_spike *spikes, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        sf_spike *merged = malloc(count * sizeof *merged);
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count;
            size_t high = low + 2 * width < count ? low + 2 * width : count;
            for (size_t a = low, b = middle, to = low; to < high; to++) {
                bool right = a == middle || (b < high && before(spikes[b].time_ns, spikes[b].unit,
                                                                spikes[a].time_ns, spikes[a].unit));
                merged[to] = right ? spikes[b++] : spikes[a++];
            }
        }
        memcpy(spikes, merged, count * sizeof *merged);
        free(merged);
    }
}

static uint64_t repeats(const stream *sorted)
{
    uint64_t count = 0;
    for (size_t i = 1; i < sorted->count; i++)
        count += sorted->spikes[i].time_ns == sorted->spikes[i - 1].time_ns &&
                 sorted->spikes[i].unit == sorted->spikes[i - 1].unit;
    return count;
}

static void assert_in_order_and_past(const sf_merged *merged, stream *out, int64_t *watermark)
{
    for (size_t i = 0; i < merged->spike_count; i++) {
        const sf_spike *spike = &merged->spikes[i];
        assert_true(spike->time_ns >= *watermark);
        const sf_spike *last = out->count > 0 ? &out->spikes[out->count - 1] : NULL;
        assert_true(last == NULL || !before(spike->time_ns, spike->unit, last->time_ns, last->unit));
        append(out, spike, 1);
    }
    assert_true(merged->watermark_ns >= *watermark);
    *watermark = merged->watermark_ns;
}

static sf_batch batch_of(const script *s, size_t b)
{
    return (sf_batch){.spikes = s->spikes + s->cuts[b],
                      .spike_count = s->cuts[b + 1] - s->cuts[b],
                      .clock_ns = s->clocks[b],
                      .arrival_ns = (int64_t)b + 1};
}

/* Offers and pulls in a random order until all is out. */
static void interleave(test_random *random, const script *scripts, size_t sources, sf_merge *merge,
                       stream *out)
{
    size_t next[SOURCES] = {0}, open = sources;
    bool ended[SOURCES] = {false};
    int64_t watermark = INT64_MIN;
    sf_merged merged = {0};
    sf_memory_fail_after(0); /* neither offers nor pulls allocate */
    for (int64_t now = 0; !merged.ended; now++) {
        size_t who = (size_t)test_random_below(random, sources + 1);
        if (who < sources && open > 0) {
            sf_inlet *inlet = sf_merge_inlet(merge, who);
            sf_batch batch = {0};
            if (next[who] < scripts[who].batches) batch = batch_of(&scripts[who], next[who]);
            if (next[who] < scripts[who].batches && sf_inlet_offer(inlet, &batch)) next[who]++;
            if (next[who] == scripts[who].batches && !ended[who]) {
                sf_inlet_end(inlet);
                ended[who] = true;
                open--;
            }
            continue;
        }
        sf_merge_pull(merge, now, &merged);
        sf_memory_fail_after(-1);
        assert_in_order_and_past(&merged, out, &watermark);
        sf_memory_fail_after(0);
    }
    sf_memory_fail_after(-1);
}

static void check_counts(const script *scripts, size_t sources, const sf_merge *merge, const stream *out,
                         uint64_t duplicates, bool dropped)
{
    uint64_t seen = 0, emitted = 0;
    for (size_t i = 0; i < sources; i++) {
        sf_inlet_counts counts = sf_inlet_count(sf_merge_inlet(merge, i));
        assert_int_equal(counts.offered, scripts[i].count);
        assert_int_equal(counts.late, scripts[i].late);
        assert_int_equal(counts.out_of_range, scripts[i].out_of_range);
        assert_int_equal(counts.dropped, 0);
        assert_int_equal(counts.hurried, 0);
        assert_true(counts.ended);
        uint64_t lost = counts.late + counts.out_of_range + (dropped ? counts.duplicate : 0);
        assert_int_equal(counts.offered, counts.emitted + lost);
        seen += counts.duplicate;
        emitted += counts.emitted;
    }
    assert_int_equal(seen, duplicates);
    assert_int_equal(emitted, out->count);
}

static void merging_equals_sorting_everything(void **state)
{
    (void)state;
    test_random random = test_random_start("merge", 41);
    uint64_t late = 0, duplicates = 0;
    for (int round = 0; round < 400; round++) {
        size_t sources = 1 + test_random_below(&random, SOURCES);
        bool drop = test_random_below(&random, 2) == 0;
        script scripts[SOURCES];
        sf_inlet_settings settings[SOURCES];
        stream expected = {0};
        for (size_t i = 0; i < sources; i++) {
            int64_t disorder = (int64_t)test_random_below(&random, 3) * 8;
            int64_t lateness = (int64_t)test_random_below(&random, 3) * 6;
            scripts[i] = make_script(&random, test_random_below(&random, 400), disorder, lateness);
            settings[i] = scripts[i].settings;
            settings[i].ring = (uint64_t)1 << test_random_below(&random, 4) << (lateness > 0 ? 6 : 4);
            accept(&scripts[i], (uint32_t)i * UNITS, &expected);
            late += scripts[i].late;
        }
        sort(expected.spikes, expected.count);
        uint64_t repeated = repeats(&expected);
        sf_merge_settings all = {.inlets = settings,
                                 .inlet_count = sources,
                                 .drop_duplicates = drop,
                                 .batch = 1 + test_random_below(&random, 50)};
        sf_merge *merge;
        assert_int_equal(sf_merge_open(&merge, &all, NULL), SF_OK);
        stream out = {0};
        interleave(&random, scripts, sources, merge, &out);
        check_counts(scripts, sources, merge, &out, repeated, drop);
        assert_int_equal(out.count, expected.count - (drop ? repeated : 0));
        for (size_t i = 0, from = 0; i < out.count; i++, from++) {
            while (drop && from > 0 && expected.spikes[from].time_ns == expected.spikes[from - 1].time_ns &&
                   expected.spikes[from].unit == expected.spikes[from - 1].unit)
                from++;
            assert_memory_equal(&out.spikes[i], &expected.spikes[from], sizeof(sf_spike));
        }
        duplicates += repeated;
        sf_merge_close(merge);
        free(out.spikes);
        free(expected.spikes);
        for (size_t i = 0; i < sources; i++)
            free_script(&scripts[i]);
    }
    assert_true(late > 1000 && duplicates > 1000);
}

static void one_source_in_order_goes_through_at_once(void **state)
{
    (void)state;
    const sf_inlet_settings inlet = {UNITS, 0, 64, SF_RING_BLOCK};
    const sf_merge_settings settings = {.inlets = &inlet, .inlet_count = 1, .stall_ns = 5};
    const sf_spike spikes[] = {{10, 0, 1}, {10, 2, 2}, {10, 2, 3}, {12, 1, 4},
                               {12, 3, 5}, {12, 3, 6}, {15, 0, 7}};
    sf_merge *merge;
    assert_int_equal(sf_merge_open(&merge, &settings, NULL), SF_OK);
    for (size_t i = 0; i < 7; i++) {
        const sf_batch batch = {
            .spikes = &spikes[i], .spike_count = 1, .clock_ns = INT64_MIN, .arrival_ns = 100 + (int64_t)i};
        assert_true(sf_inlet_offer(sf_merge_inlet(merge, 0), &batch));
        sf_merged merged;
        sf_merge_pull(merge, (int64_t)i * 1000, &merged);
        assert_int_equal(merged.spike_count, 1);
        assert_memory_equal(merged.spikes, &spikes[i], sizeof spikes[i]);
        assert_int_equal(merged.arrivals_ns[0], 100 + i);
        assert_int_equal(merged.watermark_ns, spikes[i].time_ns);
        assert_false(merged.more || merged.ended);
    }
    sf_inlet_end(sf_merge_inlet(merge, 0));
    sf_merged merged;
    sf_merge_pull(merge, 0, &merged);
    assert_true(merged.ended);
    assert_int_equal(merged.watermark_ns, 16);
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 0)).stalls, 0);
    sf_merge_close(merge);
}

/* Offers one spike, or with unit UINT32_MAX a clock alone; then pulls and gives the spikes that came out. */
static size_t send(sf_merge *merge, size_t who, int64_t time, uint32_t unit, int64_t now, sf_merged *merged)
{
    const sf_spike spike = {time, unit, 0};
    const sf_batch spikes = {.spikes = &spike, .spike_count = 1, .clock_ns = INT64_MIN};
    const sf_batch clock = {.clock_ns = time};
    assert_true(sf_inlet_offer(sf_merge_inlet(merge, who), unit == UINT32_MAX ? &clock : &spikes));
    sf_merge_pull(merge, now, merged);
    return merged->spike_count;
}

static void a_silent_source_holds_the_others_only_so_long(void **state)
{
    (void)state;
    const sf_inlet_settings inlets[] = {{UNITS, 0, 64, SF_RING_BLOCK}, {UNITS, 0, 64, SF_RING_BLOCK}};
    const sf_merge_settings settings = {.inlets = inlets, .inlet_count = 2, .stall_ns = 100};
    sf_merge *merge;
    sf_merged merged;
    assert_int_equal(sf_merge_open(&merge, &settings, NULL), SF_OK);
    assert_int_equal(send(merge, 0, 10, 0, 1000, &merged), 0); /* source 1 has promised nothing */
    assert_int_equal(merged.watermark_ns, INT64_MIN);
    assert_int_equal(send(merge, 1, 20, 3, 1050, &merged), 1);
    assert_int_equal(merged.spikes[0].unit, 0);
    assert_int_equal(send(merge, 0, 30, 0, 1060, &merged), 1);
    assert_int_equal(merged.spikes[0].unit, UNITS + 3);
    sf_merge_pull(merge, 1159, &merged);
    assert_int_equal(merged.spike_count, 0);
    sf_merge_pull(merge, 1160, &merged); /* source 1 has held the spike at 30 for 100 ns */
    assert_int_equal(merged.spike_count, 1);
    assert_int_equal(merged.watermark_ns, 30);
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 1)).stalls, 1);
    assert_int_equal(send(merge, 0, 40, 0, 1170, &merged), 1); /* not waited for any more */
    assert_int_equal(send(merge, 1, 35, 0, 1180, &merged), 0); /* too late */
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 1)).late, 1);
    assert_int_equal(send(merge, 1, 45, 0, 1190, &merged), 0); /* it is back: source 0 is at 40 */
    assert_int_equal(send(merge, 0, 50, 0, 1195, &merged), 1);
    assert_int_equal(merged.spikes[0].time_ns, 45);
    /* A clock is a promise: an idle source that sends it holds nobody up. */
    assert_int_equal(send(merge, 1, 60, UINT32_MAX, 5000, &merged), 1);
    assert_int_equal(send(merge, 1, 70, UINT32_MAX, 9000, &merged), 0);
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 1)).stalls, 1);
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 1)).late, 1);
    sf_merge_close(merge);
}

/* The newest spikes of a source with lateness do not wait for ever when it falls silent. */
static void a_pause_lets_the_last_spikes_through(void **state)
{
    (void)state;
    const sf_inlet_settings inlet = {UNITS, 50, 64, SF_RING_BLOCK};
    const sf_merge_settings settings = {.inlets = &inlet, .inlet_count = 1, .stall_ns = 100};
    sf_merge *merge;
    sf_merged merged;
    assert_int_equal(sf_merge_open(&merge, &settings, NULL), SF_OK);
    assert_int_equal(send(merge, 0, 100, 0, 0, &merged), 0);
    assert_int_equal(send(merge, 0, 60, 0, 10, &merged), 0);
    assert_int_equal(send(merge, 0, 120, 0, 20, &merged), 1);
    sf_merge_pull(merge, 30, &merged);
    assert_int_equal(merged.spike_count, 0);
    sf_merge_pull(merge, 130, &merged);
    assert_int_equal(merged.spike_count, 2);
    assert_int_equal(send(merge, 0, 110, 0, 140, &merged), 0);
    sf_inlet_counts counts = sf_inlet_count(sf_merge_inlet(merge, 0));
    assert_int_equal(counts.late, 1);
    assert_int_equal(counts.lateness_max_ns, 40);
    sf_merge_close(merge);
}

/* What a clock promised is further than the lateness promises of what comes after the pause. */
static void a_source_that_goes_on_is_waited_for_at_once(void **state)
{
    (void)state;
    const sf_inlet_settings inlet = {UNITS, 50, 64, SF_RING_BLOCK};
    const sf_merge_settings settings = {.inlets = &inlet, .inlet_count = 1, .stall_ns = 100};
    sf_merge *merge;
    sf_merged merged;
    assert_int_equal(sf_merge_open(&merge, &settings, NULL), SF_OK);
    assert_int_equal(send(merge, 0, 100, 0, 0, &merged), 0);
    assert_int_equal(send(merge, 0, 95, UINT32_MAX, 10, &merged), 0);
    sf_merge_pull(merge, 20, &merged);
    sf_merge_pull(merge, 130, &merged);
    assert_int_equal(merged.spike_count, 1);
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 0)).stalls, 1);
    assert_int_equal(send(merge, 0, 120, 0, 140, &merged), 0);
    assert_int_equal(send(merge, 0, 110, 0, 150, &merged), 0);
    assert_int_equal(send(merge, 0, 170, 0, 160, &merged), 2);
    assert_int_equal(merged.spikes[0].time_ns, 110);
    assert_int_equal(sf_inlet_count(sf_merge_inlet(merge, 0)).late, 0);
    sf_merge_close(merge);
}

/* More spikes within the lateness than there is room for: nothing gets stuck, nothing goes uncounted. */
static void too_little_room_for_the_lateness_is_told(void **state)
{
    (void)state;
    const sf_inlet_settings inlet = {UNITS, INT64_MAX, 8, SF_RING_BLOCK};
    const sf_merge_settings settings = {.inlets = &inlet, .inlet_count = 1};
    sf_merge *merge;
    sf_merged merged = {0};
    stream out = {0};
    int64_t watermark = INT64_MIN;
    assert_int_equal(sf_merge_open(&merge, &settings, NULL), SF_OK);
    for (int64_t i = 0; i < 1000; i++) {
        sf_spike spike = {i ^ 3, 0, 0}; /* fours in reverse */
        sf_batch batch = {.spikes = &spike, .spike_count = 1, .clock_ns = INT64_MIN};
        while (!sf_inlet_offer(sf_merge_inlet(merge, 0), &batch)) {
            sf_merge_pull(merge, 0, &merged);
            assert_in_order_and_past(&merged, &out, &watermark);
        }
    }
    sf_inlet_end(sf_merge_inlet(merge, 0));
    while (!merged.ended) {
        sf_merge_pull(merge, 0, &merged);
        assert_in_order_and_past(&merged, &out, &watermark);
    }
    sf_inlet_counts counts = sf_inlet_count(sf_merge_inlet(merge, 0));
    assert_int_equal(counts.offered, 1000);
    assert_int_equal(counts.emitted + counts.late, 1000);
    assert_int_equal(counts.emitted, out.count);
    assert_true(counts.hurried > 0 && counts.emitted >= 500);
    assert_true(counts.hurried <= counts.emitted); /* each once: half of the room goes, and fills again */
    sf_merge_close(merge);
    free(out.spikes);
}

typedef struct sender {
    sf_inlet *inlet;
    const script *script;
    sf_thread thread;
} sender;

static void *send_all(void *argument)
{
    sender *self = argument;
    for (size_t b = 0; b < self->script->batches; b++) {
        sf_batch batch = batch_of(self->script, b);
        while (!sf_inlet_offer(self->inlet, &batch))
            sched_yield();
    }
    sf_inlet_end(self->inlet);
    return NULL;
}

/* Threads at full speed: the same stream every time with `block`; every loss counted otherwise. */
static void run_threads(sf_ring_policy policy)
{
    test_random random = test_random_start("merge threads", 42);
    script scripts[SOURCES];
    sf_inlet_settings settings[SOURCES];
    sender senders[SOURCES];
    stream expected = {0}, out = {0};
    for (size_t i = 0; i < SOURCES; i++) {
        scripts[i] = make_script(&random, 20000, 8, (int64_t)i * 8);
        settings[i] = scripts[i].settings;
        settings[i].ring = 64;
        settings[i].policy = policy;
        accept(&scripts[i], (uint32_t)i * UNITS, &expected);
    }
    sort(expected.spikes, expected.count);
    sf_merge_settings all = {.inlets = settings, .inlet_count = SOURCES};
    sf_merge *merge;
    assert_int_equal(sf_merge_open(&merge, &all, NULL), SF_OK);
    for (size_t i = 0; i < SOURCES; i++) {
        senders[i] = (sender){.inlet = sf_merge_inlet(merge, i), .script = &scripts[i]};
        assert_int_equal(sf_thread_start(&senders[i].thread, "source", send_all, &senders[i], NULL), SF_OK);
    }
    int64_t watermark = INT64_MIN;
    sf_merged merged = {0};
    while (!merged.ended) {
        sf_merge_pull(merge, 0, &merged);
        assert_in_order_and_past(&merged, &out, &watermark);
        if (merged.spike_count == 0) sched_yield();
    }
    for (size_t i = 0; i < SOURCES; i++) {
        sf_thread_join(&senders[i].thread);
        sf_inlet_counts counts = sf_inlet_count(senders[i].inlet);
        assert_int_equal(counts.offered, scripts[i].count);
        assert_int_equal(counts.offered, counts.emitted + counts.late + counts.out_of_range + counts.dropped);
    }
    if (policy == SF_RING_BLOCK) {
        assert_int_equal(out.count, expected.count);
        assert_memory_equal(out.spikes, expected.spikes, out.count * sizeof *out.spikes);
    }
    sf_merge_close(merge);
    free(out.spikes);
    free(expected.spikes);
    for (size_t i = 0; i < SOURCES; i++)
        free_script(&scripts[i]);
}

static void threads_do_not_change_the_stream(void **state)
{
    (void)state;
    run_threads(SF_RING_BLOCK);
    run_threads(SF_RING_DROP_OLDEST);
    run_threads(SF_RING_DROP_NEWEST);
}

#define MARKERS 5000

static void markers_come_in_time_order(void **state)
{
    (void)state;
    const sf_inlet_settings inlets[] = {{UNITS, 0, 64, SF_RING_BLOCK}, {UNITS, 0, 64, SF_RING_BLOCK}};
    const sf_merge_settings settings = {.inlets = inlets, .inlet_count = 2};
    static sf_marker markers[MARKERS];
    for (size_t i = 0; i < MARKERS; i++)
        markers[i] = (sf_marker){.time_ns = (int64_t)i, .kind = SF_MARKER_TTL};
    sf_merge *merge;
    sf_merged merged;
    assert_int_equal(sf_merge_open(&merge, &settings, NULL), SF_OK);
    sf_inlet *first = sf_merge_inlet(merge, 0), *second = sf_merge_inlet(merge, 1);
    const sf_batch odd = {.markers = &markers[7], .marker_count = 1, .clock_ns = 5};
    const sf_batch even = {.markers = &markers[4], .marker_count = 1, .clock_ns = 8};
    assert_true(sf_inlet_offer(first, &odd) && sf_inlet_offer(second, &even));
    sf_merge_pull(merge, 0, &merged); /* only up to 5 */
    assert_int_equal(merged.marker_count, 1);
    assert_int_equal(merged.markers[0].time_ns, 4);
    /* More than any queue holds, after all spikes and clocks: none is lost, none gets stuck. */
    const sf_batch many = {.markers = markers + 8, .marker_count = MARKERS - 8, .clock_ns = INT64_MIN};
    int64_t last = 4;
    size_t count = 1;
    bool offered = false, ended = false;
    sf_inlet_end(second);
    while (!merged.ended) {
        offered = offered || sf_inlet_offer(first, &many);
        if (offered && !ended) {
            sf_inlet_end(first);
            ended = true;
        }
        sf_merge_pull(merge, 0, &merged);
        for (size_t i = 0; i < merged.marker_count; i++) {
            assert_true(merged.markers[i].time_ns > last);
            last = merged.markers[i].time_ns;
        }
        count += merged.marker_count;
    }
    assert_int_equal(count, MARKERS - 6);
    assert_int_equal(sf_inlet_count(first).markers, MARKERS - 7);
    assert_int_equal(sf_inlet_count(first).markers_late, 0);
    sf_merge_close(merge);
}

static void impossible_settings_are_refused(void **state)
{
    (void)state;
    sf_merge *merge;
    sf_error error;
    sf_inlet_settings inlets[] = {{UNITS, 0, 64, SF_RING_BLOCK}, {UNITS, -1, 64, SF_RING_BLOCK}};
    sf_merge_settings settings = {.inlets = inlets};
    test_assert_fails(sf_merge_open(&merge, &settings, &error), &error, SF_USAGE, "no source");
    settings.inlet_count = 2;
    test_assert_fails(sf_merge_open(&merge, &settings, &error), &error, SF_USAGE, "source 1 is negative");
    inlets[1] = (sf_inlet_settings){UINT32_MAX - 2, 0, 64, SF_RING_BLOCK};
    test_assert_fails(sf_merge_open(&merge, &settings, &error), &error, SF_USAGE, "too many units");
    inlets[1] = (sf_inlet_settings){UNITS, 0, 0, SF_RING_BLOCK};
    test_assert_fails(sf_merge_open(&merge, &settings, &error), &error, SF_USAGE, "at least one");
    assert_null(merge);
}

static int open_and_close(void *context)
{
    (void)context;
    const sf_inlet_settings inlets[] = {{UNITS, 0, 64, SF_RING_BLOCK}, {UNITS, 5, 64, SF_RING_DROP_OLDEST}};
    const sf_merge_settings settings = {.inlets = inlets, .inlet_count = 2};
    sf_merge *merge;
    int status = sf_merge_open(&merge, &settings, NULL);
    sf_merge_close(merge);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(open_and_close, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_equals_sorting_everything),
        cmocka_unit_test(one_source_in_order_goes_through_at_once),
        cmocka_unit_test(a_silent_source_holds_the_others_only_so_long),
        cmocka_unit_test(a_pause_lets_the_last_spikes_through),
        cmocka_unit_test(a_source_that_goes_on_is_waited_for_at_once),
        cmocka_unit_test(too_little_room_for_the_lateness_is_told),
        cmocka_unit_test(threads_do_not_change_the_stream),
        cmocka_unit_test(markers_come_in_time_order),
        cmocka_unit_test(impossible_settings_are_refused),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
