/* SPDX-License-Identifier: Apache-2.0 */
/* A trigger on a source that stalls, loses or begins anew, in real time: what comes with the fault and after
 * it is withheld until somebody arms again, which nobody can while the source is silent. */
#include "support/runs.h"

#include "core/clock.h"
#include "pipeline/pipeline.h"

#include <stdatomic.h>

/* ---- a rig that sends what the test asks for ---- */

typedef struct rig {
    sf_source source; /* first */
    atomic_int asked; /* pairs of spikes, one a batch */
    int sent;
    atomic_bool restarts, loses;              /* with the next */
    atomic_bool garbles, is_late, is_unknown; /* likewise: a frame that cannot be read; a spike of long ago
                                                 before the pair; one of a unit that nobody told of */
    atomic_bool naps;    /* before the next nothing is read for longer than a source may be silent */
    atomic_int ahead_s;  /* the clock steps with the next */
    int64_t stepped_ns;  /* by so much so far */
    atomic_bool is_slow; /* its clock passes 0.6 s in each second that passes for the run, a batch a second */
    int64_t waited_ns;   /* so far, which nobody did */
    atomic_bool silent;  /* else it is heard all the time, however slow this machine is */
    int64_t called_ns;
    atomic_bool was_held_up; /* half a second between two calls: of itself it may have stalled */
    sf_spike spikes[3];
} rig;

static bool take_flag(atomic_bool *flag)
{
    return atomic_exchange(flag, false);
}

static int read_rig(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error)
{
    (void)error;
    rig *it = (rig *)source;
    int64_t now_ns = sf_clock_monotonic_ns(), until_ns = now_ns + timeout_ms * SF_MILLISECOND;
    if (it->called_ns != 0 && now_ns - it->called_ns > 500 * SF_MILLISECOND)
        atomic_store(&it->was_held_up, true);
    it->called_ns = now_ns;
    while (atomic_load(&it->asked) == it->sent) {
        if (sf_clock_monotonic_ns() >= until_ns) {
            *batch = (sf_batch){.clock_ns = INT64_MIN, .heard = true};
            return atomic_load(&it->silent) ? SF_READ_NOTHING : SF_READ_BATCH;
        }
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
    if (take_flag(&it->naps)) sf_clock_sleep_until(sf_clock_monotonic_ns() + 1100 * SF_MILLISECOND);
    it->stepped_ns += atomic_exchange(&it->ahead_s, 0) * SF_SECOND;
    if (atomic_load(&it->is_slow)) {
        it->stepped_ns += 590 * SF_MILLISECOND;
        it->waited_ns += SF_SECOND;
    }
    int64_t time_ns = ++it->sent * 10 * SF_MILLISECOND + it->stepped_ns;
    for (uint32_t unit = 0; unit < 2; unit++)
        it->spikes[1 + unit] = (sf_spike){.time_ns = time_ns + unit * SF_MILLISECOND, .unit = unit};
    it->spikes[0] = (sf_spike){.time_ns = 1, .unit = 0};
    bool loses = take_flag(&it->loses), is_late = take_flag(&it->is_late);
    *batch = (sf_batch){.spikes = is_late ? it->spikes : it->spikes + 1,
                        .spike_count = is_late ? 3 : 2,
                        .clock_ns = time_ns + 2 * SF_MILLISECOND,
                        .arrival_ns = sf_clock_monotonic_ns() + it->waited_ns,
                        .gaps = loses,
                        .gap_lost = loses,
                        .malformed = take_flag(&it->garbles),
                        .out_of_range = take_flag(&it->is_unknown),
                        .restarts = take_flag(&it->restarts),
                        .heard = true};
    return SF_READ_BATCH;
}

static bool is_connected(sf_source *source)
{
    (void)source;
    return true;
}

static void close_rig(sf_source *source)
{
    sf_units_free(&source->units);
}

static void open_rig(rig *it)
{
    static const sf_source_kind kind = {.settings = {.name = "rig"},
                                        .is_live = true,
                                        .read = read_rig,
                                        .close = close_rig,
                                        .connected = is_connected};
    *it = (rig){.source = {.kind = &kind, .name = "rig", .patience_ns = 60 * SF_SECOND}};
    for (int i = 0; i < 2; i++) {
        const sf_unit unit = {.name = i == 0 ? (char[]){"A"} : (char[]){"B"}, .electrode = -1};
        assert_int_equal(sf_units_add(&it->source.units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&it->source.units, NULL), SF_OK);
}

/* ---- what hears the run ---- */

typedef struct listener {
    rig rig;
    sf_config config;
    sf_pipeline *pipeline;
    pthread_mutex_t lock; /* of what follows */
    sf_source_state state;
    bool was_armed_in_silence; /* of a status: its source is not live, and a trigger armed */
    size_t hops, bins, lost_bins;
    size_t decisions;
    sf_decision_message newest;
    atomic_int marks;
} listener;

static void publish(void *self, sf_message *message)
{
    listener *it = self;
    pthread_mutex_lock(&it->lock);
    if (message->topic == SF_TOPIC_STATUS) {
        it->state = message->status.sources[0].state;
        it->was_armed_in_silence =
            it->was_armed_in_silence ||
            (it->state == SF_SOURCE_STALLED && message->status.triggers[0].not_armed == NULL);
    }
    it->hops += message->topic == SF_TOPIC_EPISODES;
    it->bins += message->topic == SF_TOPIC_FEATURES;
    it->lost_bins += message->topic == SF_TOPIC_FEATURES && message->features.lost;
    if (message->topic == SF_TOPIC_DECISION) {
        it->newest = message->decision;
        it->decisions++;
    }
    pthread_mutex_unlock(&it->lock);
}

static void record(void *self, const sf_raw_batch *batch, bool wait)
{
    (void)wait;
    for (size_t i = 0; i < batch->marker_count; i++)
        if (strcmp(batch->markers[i].text, "done") == 0) atomic_fetch_add(&((listener *)self)->marks, 1);
}

static bool has_decided(listener *it, size_t count)
{
    pthread_mutex_lock(&it->lock);
    bool decided = it->decisions >= count;
    pthread_mutex_unlock(&it->lock);
    return decided;
}

static bool is_in_state(listener *it, size_t state)
{
    pthread_mutex_lock(&it->lock);
    bool is = it->state == (sf_source_state)state;
    pthread_mutex_unlock(&it->lock);
    return is;
}

static bool has_marked(listener *it, size_t count)
{
    return (size_t)atomic_load(&it->marks) >= count;
}

static void await(listener *it, bool (*is)(listener *it, size_t value), size_t value)
{
    int64_t until_ns = sf_clock_monotonic_ns() + 60 * SF_SECOND;
    while (!is(it, value)) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
}

/* Returns once the thread that watches has obeyed, and has looked at its sources before. */
static void order(listener *it, const sf_command *command)
{
    static const sf_command mark = {.kind = SF_COMMAND_MARK, .text = "done"};
    size_t marks = (size_t)atomic_load(&it->marks) + 1;
    assert_true(command == NULL || sf_pipeline_order(it->pipeline, command, NULL) == SF_OK);
    assert_int_equal(sf_pipeline_order(it->pipeline, &mark, NULL), SF_OK);
    await(it, has_marked, marks);
}

static const sf_command arming = {.kind = SF_COMMAND_ARM, .trigger = SF_ALL_TRIGGERS};

static void arm(listener *it)
{
    order(it, &arming);
}

static void await_next(listener *it)
{
    size_t decisions = it->decisions + 1; /* nobody else makes the rig send */
    atomic_fetch_add(&it->rig.asked, 1);
    await(it, has_decided, decisions);
}

static void expect_withheld(listener *it, const char *reason)
{
    await_next(it);
    assert_string_equal(it->newest.outcome, "withheld");
    assert_string_equal(it->newest.reason, reason);
}

/* The next pair that comes with this flag, if any. On a machine so slow that its thread did not read for a
 * second, the source stalls of itself: once more. */
static void await_next_undisturbed(listener *it, atomic_bool *flag)
{
    for (int i = 0; i < 50; i++) {
        if (flag != NULL) atomic_store(flag, true);
        await_next(it);
        if (it->newest.reason == NULL || strcmp(it->newest.reason, "source stalled") != 0) return;
        arm(it);
    }
}

static void expect_sent(listener *it)
{
    await_next_undisturbed(it, NULL);
    assert_string_equal(it->newest.outcome, "sent");
}

static void expect_withheld_with(listener *it, atomic_bool *flag, const char *reason)
{
    await_next_undisturbed(it, flag);
    assert_string_equal(it->newest.outcome, "withheld");
    assert_string_equal(it->newest.reason, reason);
}

static void fall_silent(listener *it)
{
    atomic_store(&it->rig.silent, true);
    await(it, is_in_state, SF_SOURCE_STALLED);
    order(it, NULL);
}

static void come_back(listener *it)
{
    atomic_store(&it->rig.silent, false);
    await(it, is_in_state, SF_SOURCE_LIVE);
    order(it, NULL);
}

/* ---- the test ---- */

static listener *running; /* closed by the test, or after it has failed */

static listener *open_listener(const char *yaml)
{
    static const sf_outlet_kind kind = {.publish = publish, .record = record};
    listener *it = malloc(sizeof *it);
    assert_non_null(it);
    *it = (listener){.state = SF_SOURCE_LIVE, .config = test_config(yaml)};
    pthread_mutex_init(&it->lock, NULL);
    open_rig(&it->rig);
    running = it;
    const sf_input input = {.source = &it->rig.source, .ring = 1024, .policy = SF_RING_DROP_OLDEST};
    const sf_pipeline_options options = {.live = &it->config.live, .sources = &input, .source_count = 1};
    sf_error error = {0};
    if (sf_pipeline_open(&it->pipeline, &options, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_pipeline_attach(it->pipeline, (sf_outlet){&kind, it}, &error), SF_OK);
    assert_int_equal(sf_pipeline_start(it->pipeline, &error), SF_OK);
    assert_false(sf_pipeline_wait(it->pipeline, 1));
    return it;
}

static void stop_listening(listener *it)
{
    sf_pipeline *pipeline = it->pipeline;
    it->pipeline = NULL;
    assert_int_equal(sf_pipeline_close(pipeline, NULL), SF_OK);
}

static int close_listener(void **state)
{
    (void)state;
    listener *it = running;
    running = NULL;
    if (it == NULL) return 0;
    if (it->pipeline != NULL) stop_listening(it);
    pthread_mutex_destroy(&it->lock);
    sf_config_free(&it->config);
    free(it);
    return 0;
}

static void a_source_that_fails_disarms(void **state)
{
    (void)state;
    listener *it = open_listener("window: {length_s: 10, hop_s: 5}\nmine: {every: 0}\nmerge: {leap_s: 0}\n"
                                 "significance: {kind: 'off'}\ngraph: {enabled: false}\n"
                                 "triggers: [{name: a, episode: 'A -(0,5]-> B', max_age_ms: 0}]\n");
    expect_sent(it);

    fall_silent(it);
    come_back(it); /* which arms nothing */
    expect_withheld(it, "source stalled");
    arm(it);
    expect_sent(it);

    fall_silent(it);
    sf_error error = {0};
    assert_int_equal(sf_pipeline_order(it->pipeline, &arming, &error), SF_UNAVAILABLE);
    assert_string_equal(error.place, "a");
    assert_string_equal(error.text, "its source rig is silent: nothing was armed");
    come_back(it);
    expect_withheld(it, "source stalled");
    arm(it);
    expect_sent(it);

    expect_withheld_with(it, &it->rig.restarts, "source stepped");
    expect_withheld(it, "source stepped");
    arm(it);
    expect_sent(it);

    atomic_bool *const losses[] = {&it->rig.loses, &it->rig.garbles, &it->rig.is_late};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        expect_withheld_with(it, losses[i], "source lost spikes");
        arm(it);
        expect_sent(it);
    }

    atomic_store(&it->rig.naps, true); /* and so was the run itself */
    expect_withheld(it, "source stalled");
    arm(it);
    expect_sent(it);

    assert_false(it->was_armed_in_silence);
}

static bool has_lost_bins(listener *it, size_t count)
{
    pthread_mutex_lock(&it->lock);
    bool lost = it->lost_bins >= count;
    pthread_mutex_unlock(&it->lock);
    return lost;
}

/* A pair that comes with a loss of this kind: whether it disarms, and whether its bin says so. */
static void expect_loss(listener *it, atomic_bool *flag, bool disarms, bool is_hole)
{
    size_t before = it->lost_bins;
    if (disarms) {
        expect_withheld_with(it, flag, "source lost spikes");
    } else {
        atomic_store(flag, true);
        expect_sent(it);
    }
    arm(it);
    expect_sent(it);
    expect_sent(it);
    if (is_hole) await(it, has_lost_bins, before + 1);
    assert_true(is_hole || it->lost_bins == before || atomic_load(&it->rig.was_held_up));
}

static void find_losses(void *found, sf_log_level level, const char *line)
{
    unsigned *losses = found;
    bool is_warning = level == SF_LOG_WARNING;
    *losses |= is_warning && strstr(line, "1 spikes came too late so far") != NULL ? 1 : 0;
    *losses |= is_warning && strstr(line, "1 spikes so far are of units that the source did not name") != NULL
                   ? 2
                   : 0;
}

static void what_was_sent_and_not_analysed_is_a_loss(void **state)
{
    (void)state;
    unsigned losses = 0;
    sf_log_drain(find_losses, &losses);
    losses = 0;
    static const char *const safe_loss[] = {
        "", "safe_loss: {malformed: false, late: false, gaps: false, out_of_range: true}\n"};
    for (int other = 0; other <= 1; other++) {
        char text[600];
        snprintf(text, sizeof text,
                 "window: {length_s: 10, hop_s: 5}\nmine: {every: 0}\nmerge: {leap_s: 0}\n"
                 "significance: {kind: 'off'}\ngraph: {enabled: false}\n"
                 "features: {bin_ms: 10, units: ['*']}\n%s"
                 "triggers: [{name: a, episode: 'A -(0,5]-> B', max_age_ms: 0}]\n",
                 safe_loss[other]);
        listener *it = open_listener(text);
        expect_sent(it);
        expect_loss(it, &it->rig.garbles, !other, true);
        expect_loss(it, &it->rig.is_late, !other, true);
        expect_loss(it, &it->rig.loses, !other, true);
        expect_loss(it, &it->rig.is_unknown, other, other);
        sf_log_drain(find_losses, &losses);
        assert_int_equal(losses, 3);
        losses = 0;
        close_listener(NULL);
    }
}

static void find_pace(void *found, sf_log_level level, const char *line)
{
    bool is_told = strstr(line, "its clock passes 0.") != NULL &&
                   strstr(line, "s in each second: is its sampling rate") != NULL;
    *(int *)found += level == SF_LOG_WARNING && is_told;
}

static void a_clock_that_is_slower_than_time_is_told_of_once(void **state)
{
    (void)state;
    for (int slow = 0; slow <= 1; slow++) {
        int told = 0;
        sf_log_drain(find_pace, &told);
        told = 0;
        listener *it =
            open_listener("window: {length_s: 10, hop_s: 5}\nmine: {every: 0}\nmerge: {leap_s: 0}\n"
                          "significance: {kind: 'off'}\ngraph: {enabled: false}\n"
                          "triggers: [{name: a, episode: 'A -(0,5]-> B', max_age_ms: 0}]\n");
        atomic_store(&it->rig.is_slow, slow);
        atomic_fetch_add(&it->rig.asked, 30);
        await(it, has_decided, 30);
        close_listener(NULL);
        sf_log_drain(find_pace, &told);
        assert_int_equal(told, slow);
    }
}

/* 3,000 s have 3,000,000 bins and 30,000 windows. */
static void what_a_clock_stepped_over_is_no_silence(void **state)
{
    (void)state;
    listener *it =
        open_listener("window: {length_s: 0.2, hop_s: 0.1}\nmine: {every: 0}\nmerge: {leap_s: 3500}\n"
                      "significance: {kind: 'off'}\ngraph: {enabled: false}\n"
                      "features: {bin_ms: 1, units: ['*']}\n"
                      "triggers: [{name: a, episode: 'A -(0,5]-> B', max_age_ms: 0}]\n");
    atomic_fetch_add(&it->rig.asked, 2); /* the first is believed once two more go on from it */
    expect_sent(it);
    await(it, has_decided, 3);
    atomic_store(&it->rig.ahead_s, 3000);
    expect_withheld(it, "source stepped");
    for (int i = 0; i < 20; i++)
        expect_withheld(it, "source stepped");
    stop_listening(it);
    assert_in_range(it->bins, 100, 2000);
    assert_in_range(it->hops, 2, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_source_that_fails_disarms, close_listener),
        cmocka_unit_test_teardown(what_was_sent_and_not_analysed_is_a_loss, close_listener),
        cmocka_unit_test_teardown(a_clock_that_is_slower_than_time_is_told_of_once, close_listener),
        cmocka_unit_test_teardown(what_a_clock_stepped_over_is_no_silence, close_listener),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
