/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/file.h"
#include "core/memory.h"
#include "ingest/protocol.h"
#include "live/config_keys.h"

static int parse(sf_config *config, const char *yaml, const char *setting, sf_error *error)
{
    *error = (sf_error){0};
    return sf_config_parse(config, yaml, strlen(yaml), "test.yaml", &setting, setting != NULL, error);
}

static void everything_has_a_default(void **state)
{
    (void)state;
    sf_config config;
    sf_error error;
    assert_int_equal(sf_config_parse(&config, "", 0, "defaults", NULL, 0, &error), SF_OK);
    assert_string_equal(config.live.stream, "synfire");
    assert_int_equal(
        config.source_count + config.sink_count + config.live.track_count + config.live.watch_count, 0);
    assert_true(config.live.window.length_s == 10 && config.live.window.hop_s == 1);
    assert_string_equal(config.live.mine.delays_ms, "0.5:5");
    assert_true(config.live.mine.min_rate_hz == 0.5 && config.live.mine.min_count == 0);
    assert_int_equal(config.live.mine.every, 5);
    assert_int_equal(config.live.mine.max_size, 4);
    assert_true(config.live.graph.enabled);
    sf_config_free(&config);
}

static void values_arrive_where_they_belong(void **state)
{
    (void)state;
    static const char yaml[] = "stream: dish 7\n"
                               "sources:\n"
                               "  - {type: replay, recording: a.h5, speed: max}\n"
                               "  - {type: zmq, policy: drop-newest, timeout_s: 2.5}\n"
                               "window: {length_s: 2.5, hop_s: 0.5}\n"
                               "mine: {delays_ms: '1:5,5:10', min_count: 12.5, repeats: true, threads: 3}\n"
                               "track: ['A -(0,5]-> B', '\"#2\" -(0,5]-> #3']\n"
                               "watch: []\n"
                               "graph: {reach: [{from: '#2'}], metric: sttc, dt_ms: 20, components: true,\n"
                               "  patterns: [{pattern: A -> B}, {pattern: chain-3, limit: 0}], rewired: 50}\n"
                               "density:\n"
                               "  - {quantity: isi, unit: A}\n"
                               "  - {quantity: delay, episode: 'A -(0,5]-> B', grid: 32}\n"
                               "sinks:\n"
                               "  - {type: jsonl}\n"
                               "  - {type: osc, policy: drop-newest}\n"
                               "  - {type: hdf5, path: out.h5, overwrite: true}\n";
    sf_config config;
    sf_error error;
    assert_int_equal(parse(&config, yaml, "sources.1.ring=64", &error), SF_OK);
    assert_string_equal(config.live.stream, "dish 7");
    assert_int_equal(config.source_count, 2);
    assert_string_equal(config.sources[0].kind->name, "replay");
    assert_int_equal(sf_config_source(&config, 0)->policy, SF_RING_BLOCK);
    assert_null(sf_config_text(&config.sources[0], "endpoint"));
    assert_string_equal(config.sources[1].kind->name, "zmq");
    assert_int_equal(sf_config_source(&config, 1)->policy, SF_RING_DROP_NEWEST);
    assert_int_equal(sf_config_source(&config, 1)->ring, 64);
    assert_string_equal(sf_config_text(&config.sources[1], "endpoint"), "tcp://127.0.0.1:7700");
    assert_true(config.live.mine.min_count == 12.5 && config.live.mine.min_rate_hz == 0);
    assert_true(config.live.mine.repeats);
    assert_int_equal(config.live.track_count, 2);
    assert_string_equal(config.live.track[1], "\"#2\" -(0,5]-> #3");
    assert_int_equal(config.live.graph.reach_count, 1);
    assert_int_equal(config.live.graph.reach[0].hops, 2);
    assert_int_equal(config.live.graph.metric, SF_LIVE_STTC);
    assert_true(config.live.graph.dt_ms == 20 && config.live.graph.components);
    assert_int_equal(config.live.graph.surrogates, 200);
    assert_string_equal(config.live.graph.patterns[0].pattern, "A -> B");
    assert_int_equal(config.live.graph.patterns[0].limit, 10);
    assert_int_equal(config.live.graph.patterns[1].limit, 0);
    assert_int_equal(config.live.graph.rewired, 50);
    assert_int_equal(config.live.density[1].quantity, SF_QUANTITY_DELAY);
    assert_int_equal(config.live.density[1].grid, 32);
    assert_string_equal(sf_config_sink(&config, 0)->path, "-");
    assert_string_equal(sf_config_sink(&config, 1)->endpoint, "127.0.0.1:7720");
    assert_true(sf_config_sink(&config, 2)->overwrite);
    sf_config_free(&config);
}

static void wrong_files_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *place, *words;
    } cases[] = {
        {"window:\n  lenght_s: 5\n", "test.yaml:2:3: window",
         "there is no key 'lenght_s' here, only length_s"},
        {"frobnicate: 1\n", "test.yaml:1:1", "frobnicate"},
        {"window:\n  length_s: long\n", "test.yaml:2:13: window.length_s", "found 'long', expected a number"},
        {"window:\n  length_s: -1\n", "test.yaml:2:13: window.length_s", "from 0.001 to 86400"},
        {"window:\n  length_s: .nan\n", "test.yaml:2:13: window.length_s", "'.nan'"},
        {"window:\n  length_s: nan\n", "test.yaml:2:13: window.length_s", "'nan'"},
        {"window: {hop_s: .inf}\n", "test.yaml:1:17: window.hop_s", "'.inf'"},
        {"window: {hop_s: 1e999}\n", "test.yaml:1:17: window.hop_s", "'1e999'"},
        {"window: {hop_s: }\n", "test.yaml:1:17: window.hop_s", "found nothing"},
        {"window: {hop_s: [1]}\n", "test.yaml:1:17: window.hop_s", "found a list, expected a number"},
        {"window: 5\n", "test.yaml:1:9: window", "expected keys below it, of length_s, hop_s"},
        {"window: [5]\n", "test.yaml:1:9: window", "found a list"},
        {"window: {length_s: 10, hop_s: 3}\n", "test.yaml:1:20: window.length_s", "whole number of hops"},
        {"window: {hop_s: 3}\n", "test.yaml:1:9: window.length_s", "whole number of hops of 3 s"},
        {"window: {hop_s: 1, hop_s: 1}\n", "test.yaml:1:20: window", "'hop_s' is given twice"},
        {"mine: {every: 1.5}\n", "test.yaml:1:15: mine.every", "found '1.5', expected a whole number"},
        {"mine: {every: -1}\n", "test.yaml:1:15: mine.every", "found '-1', expected a whole number from 0"},
        {"mine: {every: 010}\n", "test.yaml:1:15: mine.every", "found '010'"},
        {"mine: {max_size: 17}\n", "test.yaml:1:18: mine.max_size", "from 2 to 16"},
        {"mine: {engine: ref}\n", "test.yaml:1:16: mine.engine", "one of auto, interval, reference"},
        {"density: [{quantity: isi, unit: e1, method: lscv-paper}]\n", "test.yaml:1:45: density.0.method",
         "one of isj, plugin, lscv, silverman, scott"},
        {"density: [{quantity: position, method: isj}]\n", "test.yaml:1:40: density.0.method",
         "one of silverman, scott"},
        {"mine: {repeats: maybe}\n", "test.yaml:1:17: mine.repeats", "true or false"},
        {"mine: {min_fraction: 1.5}\n", "test.yaml:1:22: mine.min_fraction", "from 0 to 1"},
        {"mine: {min_count: 5, min_rate_hz: 1}\n", "test.yaml:1:7: mine", "more than one of min_count"},
        {"mine: {delays_ms: 5}\n", "test.yaml:1:19: mine.delays_ms", "not a delay interval"},
        {"mine: {delays_ms: '5:20000'}\n", "test.yaml:1:19: mine.delays_ms", "less than the window"},
        {"sources:\n  - {recording: x}\n", "test.yaml:2:5: sources.0.type",
         "is missing: expected one of replay"},
        {"sources:\n  - {type: replay}\n", "test.yaml:2:5: sources.0.recording", "is missing"},
        {"sources:\n  - {type: tcp}\n", "test.yaml:2:12: sources.0.type", "one of replay, "},
        {"sources:\n  - {type: zmq, speed: 2}\n", "test.yaml:2:24: sources.0.speed", "it is for type=replay"},
        {"sources: [{type: replay, recording: x, speed: 0}]\n", "test.yaml:1:47: sources.0.speed", "max or"},
        {"sources: a\n", "test.yaml:1:10: sources", "expected a list"},
        {"sources:\n", "test.yaml:1:9: sources", "found nothing, expected a list"},
        {"track: [[a]]\n", "test.yaml:1:9: track.0", "found a list, expected a text"},
        {"track: ['']\n", "test.yaml:1:9: track.0", "found nothing"},
        {"track: [\"a\\0b\"]\n", "test.yaml:1:9: track.0", "expected a text"},
        {"graph: {metric: te}\n", "test.yaml:1:17: graph.metric", "one of episodes, sttc"},
        {"graph: {dt_ms: 20}\n", "test.yaml:1:16: graph.dt_ms", "it is for metric=sttc"},
        {"graph: {metric: sttc, dt_ms: 10000}\n", "test.yaml:1:30: graph.dt_ms", "less than the window"},
        {"graph: {patterns: [{limit: 3}]}\n", "test.yaml:1:20: graph.patterns.0.pattern", "is missing"},
        {"graph: {rewired: 1}\n", "test.yaml:1:18: graph.rewired", "from 2 to 100000"},
        {"device_memory: 8 GB\n", "test.yaml:1:16: device_memory", "found '8 GB', expected auto or a size"},
        {"device_memory: 0\n", "test.yaml:1:16: device_memory", "found '0', expected auto or a size"},
        {"density: [{quantity: delay, unit: a}]\n", "test.yaml:1:35: density.0.unit", "quantity=isi,rate"},
        {"density: [{quantity: delay}]\n", "test.yaml:1:11: density.0.episode", "is missing"},
        {"sinks: [{type: jsonl}, {type: jsonl}]\n", "test.yaml:1:24: sinks.1.path", "sinks.0 writes already"},
        {"sinks: [{type: jsonl, endpoint: x}]\n", "test.yaml:1:33: sinks.0.endpoint", "for type=zmq,osc"},
        {"sinks: [{type: jsonl, topics: [episodes, counts]}]\n", "test.yaml:1:42: sinks.0.topics.1",
         "found 'counts', expected one of episodes, trigger"},
        {"sinks: [{type: jsonl, topics: episodes}]\n", "test.yaml:1:31: sinks.0.topics", "expected a list"},
        {"sinks: [{type: hdf5}]\n", "test.yaml:1:9: sinks.0.path", "is missing"},
        {"stream: &a x\ntrack: [*a]\n", "test.yaml:1:9: track.0", "alias"},
        {"sources: [&a {type: zmq}, *a]\n", "test.yaml:1:11: sources.1", "alias"},
        {"stream: !!int 5\n", "test.yaml:1:9: stream", "tag"},
        {"? [a]\n: b\n", "test.yaml:1:3", "as a key"},
        {"stream: a\n---\nstream: b\n", "test.yaml:3:1", "second document"},
        {"stream: a\n b: c\n", "test.yaml:2:3", "is not YAML"},
        {"stream: \"\xff\"\n", "test.yaml: byte 9", "no UTF-8"},
        {"stream: [a", "test.yaml:2:1", "is not YAML"},
        {"- a\n", "test.yaml:1:1", "found a list, expected keys"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_config config;
        sf_error error;
        int status = parse(&config, cases[i].yaml, NULL, &error);
        if (status != SF_CONFIG || strcmp(error.place, cases[i].place) != 0 ||
            strstr(error.text, cases[i].words) == NULL)
            print_error("%s", cases[i].yaml);
        test_assert_fails(status, &error, SF_CONFIG, cases[i].words);
        assert_string_equal(error.place, cases[i].place);
    }
}

static void settings_override_and_are_checked(void **state)
{
    (void)state;
    static const char yaml[] = "window: {length_s: 4}\nsources: [{type: zmq}]\n";
    sf_config config;
    sf_error error;
    const char *const settings[] = {"window.length_s=20",
                                    "sources.1.type=replay",
                                    "sources.1.recording=a=b.h5",
                                    "track.0=#1 -(0,5]-> #2",
                                    "track.1=B",
                                    "track.0=A",
                                    "stream=- {not: [yaml, of]}",
                                    "graph.enabled=false"};
    assert_int_equal(sf_config_parse(&config, yaml, strlen(yaml), "test.yaml", settings,
                                     sizeof settings / sizeof settings[0], &error),
                     SF_OK);
    assert_true(config.live.window.length_s == 20);
    assert_int_equal(config.source_count, 2);
    assert_string_equal(sf_config_text(&config.sources[1], "recording"), "a=b.h5");
    assert_int_equal(config.live.track_count, 2);
    assert_string_equal(config.live.track[0], "A");
    assert_string_equal(config.live.stream, "- {not: [yaml, of]}");
    assert_false(config.live.graph.enabled);
    sf_config_free(&config);

    static const struct {
        const char *setting, *place, *words;
        sf_status status;
    } bad[] = {
        {"window.length_s=x", "--set window.length_s", "found 'x', expected a number", SF_CONFIG},
        {"window.length_s=4.5", "--set window.length_s", "whole number of hops", SF_CONFIG},
        {"window.size=4", "--set window.size", "there is no key 'size' here, only length_s", SF_CONFIG},
        {"window.length_s.x=4", "--set window.length_s.x", "below a single value", SF_CONFIG},
        {"window=4", "--set window", "more than one value", SF_CONFIG},
        {"sources.2.type=zmq", "--set sources.2.type", "index", SF_CONFIG},
        {"sources.x.type=zmq", "--set sources.x.type", "index", SF_CONFIG},
        {"sources.1.endpoint=x", "--set sources.1.type", "is missing", SF_CONFIG},
        {"sources.0=zmq", "--set sources.0", "more than one value", SF_CONFIG},
        {"stream=", "--set stream", "found nothing", SF_CONFIG},
        {"..=1", "--set ..", "there is no key ''", SF_CONFIG},
        {"window.length_s", "--set", "KEY=VALUE", SF_USAGE},
        {"=5", "--set", "KEY=VALUE", SF_USAGE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int status = parse(&config, yaml, bad[i].setting, &error);
        test_assert_fails(status, &error, bad[i].status, bad[i].words);
        assert_string_equal(error.place, bad[i].place);
    }
    /* A file that is wrong where a setting leads is refused for itself. */
    test_assert_fails(parse(&config, "window: 5\n", "window.hop_s=1", &error), &error, SF_CONFIG,
                      "expected keys");
}

/* `self` is what `repeats` was called in the release before. */
static void former_names_are_read(void **state)
{
    (void)state;
    static const struct former {
        const char *yaml, *setting;
        bool repeats;
    } cases[] = {
        {"mine: {self: true}\n", NULL, true},
        {"mine: {}\n", "mine.self=true", true},
        {"mine: {self: true}\n", "mine.repeats=false", false},
        {"mine: {repeats: true}\n", "mine.self=false", false},
        {"mine: {self: true}\n", "mine.self=false", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_config config;
        sf_error error;
        assert_int_equal(parse(&config, cases[i].yaml, cases[i].setting, &error), SF_OK);
        assert_int_equal(config.live.mine.repeats, cases[i].repeats);
        sf_config_free(&config);
    }
    sf_config config;
    sf_error error;
    test_assert_fails(parse(&config, "mine: {self: true, repeats: true}\n", NULL, &error), &error, SF_CONFIG,
                      "given twice");
    assert_string_equal(error.place, "test.yaml:1:8: mine");
}

static void later_refusals_name_the_place(void **state)
{
    (void)state;
    sf_config config;
    sf_error error;
    assert_int_equal(parse(&config, "watch:\n  - A\n", "track.0=B", &error), SF_OK);
    sf_config_refuse(&config, "watch.0", &error, "there is no unit '%s'", "A");
    assert_string_equal(error.place, "test.yaml:2:5: watch.0");
    assert_string_equal(error.text, "there is no unit 'A'");
    sf_config_refuse(&config, "track.0", &error, "no");
    assert_string_equal(error.place, "--set track.0");
    sf_config_refuse(&config, "mine.engine", &error, "no");
    assert_string_equal(error.place, "test.yaml: mine.engine");
    sf_config_free(&config);
}

static char *print(const sf_config *config)
{
    sf_text text = {0};
    sf_error error;
    assert_int_equal(sf_config_print(&text, config, &error), SF_OK);
    return text.data;
}

static void printed_configurations_load_to_the_same(void **state)
{
    (void)state;
    static const char yaml[] =
        "stream: \"odd: 'name' # \\u00e9\\n\"\n"
        "sources: [{type: replay, recording: ~/a b.h5, speed: max}, {type: zmq, endpoint: 'ipc:///x'}]\n"
        "merge: {lateness_ms: 0.1234567890123456}\n"
        "window: {length_s: 86400, hop_s: 0.001}\n"
        "track: ['#2 -(0,5]-> #3', 'true', '- x', '0x10', '1e3']\n"
        "graph: {reach: [{from: A, hops: 3}], patterns: [{pattern: 'A -> B; B === A'}], metric: sttc}\n"
        "density: [{unit: A}, {quantity: delay, episode: 'A -(0,5]-> B'}]\n"
        "sinks: [{type: zmq}, {type: jsonl}, {type: osc}, {type: hdf5, path: x}]\n";
    sf_config config, again;
    sf_error error;
    assert_int_equal(parse(&config, yaml, NULL, &error), SF_OK);
    char *first = print(&config);
    assert_non_null(strstr(first, "length_s: 86400\n"));
    assert_non_null(strstr(first, "watch: []\n"));
    assert_int_equal(parse(&again, first, NULL, &error), SF_OK);
    char *second = print(&again);
    assert_string_equal(first, second);
    assert_string_equal(again.live.stream, config.live.stream);
    assert_true(again.live.merge.lateness_ms == config.live.merge.lateness_ms);
    assert_string_equal(again.live.track[0], config.live.track[0]);
    sf_free(first);
    sf_free(second);
    sf_config_free(&config);
    sf_config_free(&again);
}

static char *source_path(const char *relative)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", SYNFIRE_SOURCE, relative);
    return strdup(path);
}

/* ---- the reference ---- */

/* Items of other forms are comments there: their lines without the marks. */
static void uncomment_items(char *yaml)
{
    for (char *line = yaml; (line = strstr(line, "\n  # - ")) != NULL;)
        do {
            line++;
            memmove(line + 2, line + 4, strlen(line + 4) + 1);
        } while ((line = strchr(line, '\n')) != NULL && strncmp(line, "\n  #   ", 7) == 0);
}

static size_t compare_structs(const sf_key_table *table, const sf_key_kind *kind, const void *object,
                              const void *defaults);

/* Each item of a list is at the defaults of its kind or form. */
static size_t compare_items(const sf_key *list, const void *object)
{
    uint32_t count = *(const uint32_t *)(const void *)((const char *)object + list->count_offset);
    const char *items = *(void *const *)sf_key_at(list, object);
    const sf_key_table *table = list->table;
    size_t compared = 0;
    for (uint32_t i = 0; i < count; i++) {
        const void *item = items + i * sf_config_item_size(list);
        const sf_key_item *of_kind = item;
        compared += table->kind != NULL
                        ? compare_structs(table, of_kind->kind, of_kind->settings, of_kind->kind->defaults)
                        : compare_structs(table, NULL, item, sf_keys_defaults(table, *(const int *)item));
    }
    return compared;
}

static void compare_values(const sf_key *key, const sf_key_kind *kind, const void *object,
                           const void *defaults)
{
    sf_text found = {0}, expected = {0};
    sf_config_print_value(&found, key, kind, object);
    sf_config_print_value(&expected, key, kind, defaults);
    assert_string_equal(found.data, expected.data);
    sf_text_free(&found);
    sf_text_free(&expected);
}

static size_t compare_structs(const sf_key_table *table, const sf_key_kind *kind, const void *object,
                              const void *defaults)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, kind, keys), compared = 0;
    for (size_t i = 0; i < count; i++) {
        bool tells_the_form = i == 0 && keys[i]->type == SF_KEY_CHOICE && table->size > 0;
        if (keys[i]->what == NULL && keys[i]->type != SF_KEY_KIND)
            fail_msg("%s says not what it is", keys[i]->name);
        if (sf_keys_find(keys, count, keys[i]->name, object) != keys[i]) continue;
        compared++;
        if (keys[i]->type == SF_KEY_GROUP)
            compared += compare_structs(keys[i]->table, NULL, object, defaults);
        else if (keys[i]->type == SF_KEY_LIST && keys[i]->table != NULL)
            compared += compare_items(keys[i], object);
        else if (keys[i]->type != SF_KEY_LIST && !keys[i]->needed && !tells_the_form)
            compare_values(keys[i], kind, object, defaults);
    }
    return compared;
}

/* As it is printed, and with all that is a comment there. */
static void the_reference_shows_every_default(void **state)
{
    (void)state;
    sf_text yaml = {0};
    sf_config config, defaults = sf_config_defaults();
    sf_error error;
    size_t kinds = 0;
    while (sf_source_kind_at(kinds) != NULL)
        kinds++;
    assert_int_equal(sf_live_resolve(&defaults.live, &error), SF_OK);
    sf_config_reference(&yaml);
    for (int all = 0; all < 2; all++) {
        if (all) uncomment_items(yaml.data);
        if (parse(&config, yaml.data, all ? "bursts.within_ms=0.5" : NULL, &error) != SF_OK)
            fail_msg("%s: %s", error.place, error.text);
        config.live.bursts.within_ms = 0;
        assert_true(compare_structs(&sf_config_table, NULL, &config, &defaults) > 200);
        assert_int_equal(config.source_count, kinds);
        assert_int_equal(config.live.trigger_count, all ? 5 : 1);
        assert_int_equal(config.live.density_count, all ? 4 : 1);
        sf_config_free(&config);
    }
    sf_text_free(&yaml);
}

static void load_example(const char *name)
{
    char relative[64];
    snprintf(relative, sizeof relative, "configs/%s.yaml", name);
    char *path = source_path(relative);
    sf_config config;
    sf_error error;
    if (sf_config_load(&config, path, NULL, 0, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_not_equal(config.source_count, 0);
    assert_int_not_equal(config.sink_count, 0);
    sf_config_free(&config);
    free(path);
}

static void the_examples_load(void **state)
{
    (void)state;
    static const char *const names[] = {"monitoring", "replay", "controller", "closed-loop", "demo"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        load_example(names[i]);
}

/* Whoever adds a protocol adds what people start from. */
static void every_rig_has_an_example_and_a_place_in_the_pages(void **state)
{
    (void)state;
    char *path = source_path("docs/rigs.md"), row[64];
    sf_text page = {0};
    assert_int_equal(sf_file_read(&page, path, NULL), SF_OK);
    for (size_t i = 0; sf_protocols[i] != NULL; i++) {
        if (sf_protocols[i] == &sf_protocol_synfire) continue;
        load_example(sf_protocols[i]->name);
        snprintf(row, sizeof row, "\n| `%s` | ", sf_protocols[i]->source.settings.name);
        if (strstr(page.data, row) == NULL) fail_msg("docs/rigs.md has no row for %s", sf_protocols[i]->name);
    }
    sf_text_free(&page);
    free(path);
}

static void unreadable_files_are_refused(void **state)
{
    (void)state;
    sf_config config;
    sf_error error;
    test_assert_fails(sf_config_load(&config, "/nonexistent/x.yaml", NULL, 0, &error), &error, SF_NO_INPUT,
                      "No such file");
    assert_string_equal(error.place, "/nonexistent/x.yaml");
    test_assert_fails(sf_config_load(&config, "/", NULL, 0, &error), &error, SF_NO_INPUT, "directory");
}

static int load_and_print(void *context)
{
    (void)context;
    static const char yaml[] = "sources: [{type: zmq}]\ntrack: [A, B]\nsinks: [{type: jsonl}]\n";
    const char *setting = "window.length_s=20";
    sf_config config;
    int status = sf_config_parse(&config, yaml, sizeof yaml - 1, "x", &setting, 1, NULL);
    sf_text text = {0};
    if (status == SF_OK) status = sf_config_print(&text, &config, NULL);
    if (status == SF_OK) sf_config_reference(&text);
    if (status == SF_OK && text.failed) status = SF_NO_MEMORY;
    sf_text_free(&text);
    sf_config_free(&config);
    return status;
}

static int refuse_key(void *context)
{
    (void)context;
    static const char yaml[] = "window: {hops: 1}\n";
    sf_config config;
    int status = sf_config_parse(&config, yaml, sizeof yaml - 1, "x", NULL, 0, NULL);
    return status == SF_CONFIG ? SF_OK : status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(load_and_print, NULL);
    test_fail_every_allocation(refuse_key, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_has_a_default),
        cmocka_unit_test(values_arrive_where_they_belong),
        cmocka_unit_test(wrong_files_are_refused_with_their_place),
        cmocka_unit_test(settings_override_and_are_checked),
        cmocka_unit_test(former_names_are_read),
        cmocka_unit_test(later_refusals_name_the_place),
        cmocka_unit_test(printed_configurations_load_to_the_same),
        cmocka_unit_test(the_reference_shows_every_default),
        cmocka_unit_test(the_examples_load),
        cmocka_unit_test(every_rig_has_an_example_and_a_place_in_the_pages),
        cmocka_unit_test(unreadable_files_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
