/* SPDX-License-Identifier: Apache-2.0 */
/* Lab Streaming Layer by a stand-in of liblsl (tests/lsl): the player into the source, and the sink of
 * markers. */
#include "core/clock.h"
#include "core/units.h"
#include "ingest/live_source.h"
#include "io/lsl.h"
#include "sinks/sink.h"
#include "support/support.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    const sf_lsl *lsl;
    sf_error error = {0};
    setenv("PYLSL_LIB", "/nowhere/liblsl.so", 1);
    test_assert_fails(sf_lsl_load(&lsl, &error), &error, SF_UNAVAILABLE, "cannot load liblsl");
    assert_string_equal(error.place, "PYLSL_LIB");
    setenv("PYLSL_LIB", "libm.so.6", 1);
    test_assert_fails(sf_lsl_load(&lsl, &error), &error, SF_UNAVAILABLE, "has no lsl_local_clock");
    setenv("PYLSL_LIB", TEST_LSL, 1);
    assert_int_equal(sf_lsl_load(&lsl, &error), SF_OK);
    assert_int_equal(lsl->library_version(), 112);
}

static void set_correction(double seconds)
{
    void (*set)(double);
    void *library = dlopen(TEST_LSL, RTLD_NOW | RTLD_NOLOAD),
         *function = dlsym(library, "lsl_test_set_correction");
    memcpy(&set, &function, sizeof set);
    set(seconds);
    dlclose(library);
}

/* ---- a player and a source ---- */

#define SPIKES 2500

static void make_recording(sf_recording *recording, sf_marker markers[3])
{
    static const sf_unit units[] = {{.name = "a", .x_um = 17.5, .y_um = -3},
                                    {.name = "b", .x_um = NAN, .y_um = NAN},
                                    {.name = "c 3", .x_um = 0, .y_um = 1e3}};
    *recording = (sf_recording){0};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sf_units_add(&recording->units, &units[i], NULL), SF_OK);
    markers[0] = (sf_marker){.time_ns = 1500000000, .kind = SF_MARKER_TTL, .line = 3, .state = 1};
    markers[1] = (sf_marker){.time_ns = 1600000001, .kind = SF_MARKER_TTL, .line = 3};
    markers[2] = (sf_marker){.time_ns = 1700000000, .kind = SF_MARKER_TEXT, .text = "TTL 3 up"};
}

static sf_sender *open_player(const sf_recording *recording, bool insecure, sf_error *error)
{
    sf_sender *sender = NULL;
    const sf_sender_settings settings = {.protocol = sf_protocol_lsl.sender,
                                         .endpoint = "lsl://name=test",
                                         .name = "test",
                                         .insecure = insecure};
    sf_sender_open(&sender, &settings, recording, error);
    return sender;
}

static sf_source *open_source(const char *endpoint, const char *markers)
{
    sf_source *source;
    sf_error error;
    static sf_live_settings settings; /* borrowed by the source */
    settings = *(const sf_live_settings *)sf_protocol_lsl.source.settings.defaults;
    settings.endpoint = endpoint;
    settings.markers = markers;
    settings.timeout_s = 30;
    if (sf_live_source_open(&source, &sf_protocol_lsl.source, &settings.common, &error) != SF_OK ||
        sf_live_source_begin(source, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return source;
}

typedef struct heard {
    sf_spike spikes[2 * SPIKES];
    sf_marker markers[8];
    size_t spike_count, marker_count;
    uint64_t restarts, malformed, out_of_range;
} heard;

static void hear_once(heard *it, sf_source *source)
{
    sf_batch batch;
    int result = source->kind->read(source, &batch, 20, NULL);
    assert_true(result >= 0);
    if (result != SF_READ_BATCH) return;
    assert_true(it->spike_count + batch.spike_count <= 2 * SPIKES &&
                it->marker_count + batch.marker_count <= 8);
    if (batch.spike_count > 0)
        memcpy(it->spikes + it->spike_count, batch.spikes, batch.spike_count * sizeof *batch.spikes);
    if (batch.marker_count > 0)
        memcpy(it->markers + it->marker_count, batch.markers, batch.marker_count * sizeof *batch.markers);
    it->spike_count += batch.spike_count;
    it->marker_count += batch.marker_count;
    it->restarts += batch.restarts;
    it->malformed += batch.malformed;
    it->out_of_range += batch.out_of_range;
}

static void hear(heard *it, sf_source *source, size_t spikes, size_t markers)
{
    int64_t until_ns = sf_clock_monotonic_ns() + 30 * SF_SECOND;
    while (it->spike_count < spikes || it->marker_count < markers) {
        hear_once(it, source);
        assert_true(sf_clock_monotonic_ns() < until_ns);
    }
}

static void send(sf_sender *sender, const sf_spike *spikes, size_t count, const sf_marker *markers,
                 size_t marker_count)
{
    const sf_batch batch = {.spikes = spikes,
                            .spike_count = count,
                            .markers = markers,
                            .marker_count = marker_count,
                            .clock_ns = INT64_MIN};
    assert_int_equal(sf_sender_send(sender, &batch, NULL), SF_OK);
}

static void a_player_is_heard_to_the_nanosecond(void **state)
{
    (void)state;
    sf_recording recording;
    sf_marker markers[3];
    sf_spike spikes[SPIKES];
    static heard got;
    sf_error error = {0};
    make_recording(&recording, markers);
    for (size_t i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = 1000000000 + 333333 * (int64_t)i, .unit = (uint32_t)(i * i % 3)};
    assert_null(open_player(&recording, false, &error));
    test_assert_fails(error.code, &error, SF_USAGE, "say --insecure");

    sf_sender *sender = open_player(&recording, true, &error);
    assert_int_equal(sf_sender_subscribers(sender), 0);
    sf_source *source = open_source("lsl://name=test", "lsl://name=test markers");
    assert_int_equal(source->units.count, 3);
    assert_string_equal(source->units.items[2].name, "c 3");
    assert_true(source->units.items[0].x_um == 17.5 && source->units.items[2].y_um == 1e3);
    assert_true(isnan(source->units.items[1].x_um));
    assert_true(sf_live_source_connected(source) && sf_sender_subscribers(sender) > 0);
    hear_once(&got, source); /* finds the markers too */
    send(sender, spikes, SPIKES, markers, 3);
    hear(&got, source, SPIKES, 3);
    for (size_t i = 0; i < SPIKES; i++) {
        int64_t off =
            (got.spikes[i].time_ns - got.spikes[0].time_ns) - (spikes[i].time_ns - spikes[0].time_ns);
        assert_true(off >= -1 && off <= 1);
        assert_int_equal(got.spikes[i].unit, spikes[i].unit);
    }
    for (size_t i = 0; i < 3; i++) {
        int64_t off =
            (got.markers[i].time_ns - got.spikes[0].time_ns) - (markers[i].time_ns - spikes[0].time_ns);
        assert_true(off >= -1 && off <= 1);
        assert_int_equal(got.markers[i].kind, markers[i].kind);
        assert_int_equal(got.markers[i].line, markers[i].line);
        assert_int_equal(got.markers[i].state, markers[i].state);
        assert_string_equal(got.markers[i].text, markers[i].text);
    }

    /* It ends; another one of this name is another run. */
    sf_sender_close(sender, 0);
    while (sf_live_source_connected(source))
        hear_once(&got, source);
    sender = open_player(&recording, true, &error);
    while (sf_sender_subscribers(sender) == 0)
        hear_once(&got, source);
    send(sender, spikes, 100, NULL, 0);
    hear(&got, source, SPIKES + 100, 3);
    assert_int_equal(got.restarts, 1);
    assert_int_equal(got.malformed + got.out_of_range, 0);
    sf_live_source_close(source);
    sf_sender_close(sender, 0);
    sf_recording_clear(&recording);
}

/* The correction of LSL's clock is in the times. */
static void times_are_of_this_computers_clock(void **state)
{
    (void)state;
    const sf_lsl *lsl;
    assert_int_equal(sf_lsl_load(&lsl, NULL), SF_OK);
    set_correction(-3);
    sf_lsl_outlet outlet = sf_lsl_open_outlet(lsl, "words", "markers", SF_LSL_STRING, NULL, NULL);
    sf_source *source = open_source("lsl://type=markers", "none");
    static heard got;
    const char *word = "odor A";
    got = (heard){0};
    assert_int_equal(source->units.count, 0); /* of markers alone */
    lsl->push_sample_strtp(outlet, &word, 77.5, 1);
    hear(&got, source, 0, 1);
    assert_int_equal(got.markers[0].time_ns, INT64_C(74500000000));
    assert_string_equal(got.markers[0].text, "odor A");
    set_correction(0.125);
    sf_live_source_close(source);
    lsl->destroy_outlet(outlet);
}

static void wrong_endpoints_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "lsl://", "lsl://=x", "lsl://name=", "lsl://name='a'", "tcp://127.0.0.1:1", "lsl://a[1]=b"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sf_error error = {0};
        sf_source *source;
        sf_live_settings settings = *(const sf_live_settings *)sf_protocol_lsl.source.settings.defaults;
        settings.endpoint = wrong[i];
        test_assert_fails(sf_live_source_open(&source, &sf_protocol_lsl.source, &settings.common, &error),
                          &error, SF_CONFIG, "expected lsl://PROPERTY=VALUE");
    }
}

/* ---- markers of triggers ---- */

static void triggers_are_markers(void **state)
{
    (void)state;
    const sf_lsl *lsl;
    sf_units units = {0};
    const sf_stream_info stream = {.name = "test", .units = &units};
    const sf_sink_kind *kind = &sf_sink_lsl;
    sf_error error = {0};
    sf_sink *sink;
    sf_sink_settings *settings = malloc(kind->settings.size);
    memcpy(settings, kind->settings.defaults, kind->settings.size);
    test_assert_fails(sf_sink_open_kind(&sink, kind, settings, &stream, NULL, &error), &error, SF_CONFIG,
                      "insecure: true");
    settings->insecure = true;
    assert_int_equal(sf_sink_open_kind(&sink, kind, settings, &stream, NULL, &error), SF_OK);
    assert_string_equal(sf_sink_address(sink), "lsl://name=synfire triggers");

    sf_source *source = open_source("lsl://name=synfire triggers", "none");
    assert_int_equal(sf_lsl_load(&lsl, NULL), SF_OK);
    double before_s = lsl->local_clock();
    sf_message trigger = {.topic = SF_TOPIC_TRIGGER, .arrival_ns = sf_clock_monotonic_ns()};
    strcpy(trigger.trigger.name, "nameless");
    sf_sink_trigger(sink, &trigger);
    trigger.trigger.is_named = true;
    trigger.trigger.expires_ns = INT64_MAX;
    strcpy(trigger.trigger.name, "reward");
    sf_sink_trigger(sink, &trigger);
    static heard got;
    got = (heard){0};
    hear(&got, source, 0, 1);
    assert_string_equal(got.markers[0].text, "reward");
    assert_true((double)got.markers[0].time_ns * 1e-9 >= before_s + 0.125 - 1e-6);
    sf_live_source_close(source);
    assert_int_equal(sf_sink_close(sink, &error), SF_OK);
    free(settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(a_player_is_heard_to_the_nanosecond),
        cmocka_unit_test(times_are_of_this_computers_clock),
        cmocka_unit_test(wrong_endpoints_are_refused),
        cmocka_unit_test(triggers_are_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
