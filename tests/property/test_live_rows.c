/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever opens, runs: every row of a live run's options at its bounds, and with every word, alone and with
 * each other row of its table. A value is refused when the run is opened, by its key, or the run ends well.
 */
#include "support/support.h"

#include "core/clock.h"
#include "pipeline/live.h"
#include "pipeline/options.h"

#include <inttypes.h>
#include <math.h>

#define UNITS 3
#define SPIKES 60

/* ---- a run that has one of everything ---- */

enum { QUANTITIES = 4, TRIGGERS = 2 };

static struct {
    sf_live_options options;
    sf_live_unit units[UNITS];
    sf_live_source source;
    sf_live_reach reach;
    sf_live_pattern pattern;
    sf_live_density densities[QUANTITIES];
    sf_live_trigger triggers[TRIGGERS];
    sf_live_blank blank;
} all;

static void start_anew(void)
{
    static const char *const link[] = {"#0 -(0,30]-> #1"};
    for (size_t u = 0; u < UNITS; u++)
        all.units[u] = (sf_live_unit){.x_um = 100 * (double)u, .y_um = 50 * (double)(u * u)};
    all.source = (sf_live_source){.units = all.units, .unit_count = UNITS, .virtual_clock = true};
    all.reach = (sf_live_reach){.from = "#0", .hops = 2};
    all.pattern = (sf_live_pattern){.pattern = "chain-2", .limit = 3};
    for (size_t q = 0; q < QUANTITIES; q++) {
        all.densities[q] = sf_live_density_default((sf_quantity)q);
        all.densities[q].unit = "*";
        all.densities[q].episode = link[0];
    }
    for (size_t t = 0; t < TRIGGERS; t++)
        all.triggers[t] = (sf_live_trigger)SF_LIVE_TRIGGER_DEFAULTS;
    all.triggers[0].name = "first";
    all.triggers[0].episode = link[0];
    all.triggers[1].name = "second";
    all.triggers[1].on = SF_LIVE_ON_TRIGGER;
    all.triggers[1].follows = "first";
    all.blank = (sf_live_blank){.marker = "ttl1", .to_ms = 1};
    all.options = sf_live_options_default();
    all.options.sources = &all.source;
    all.options.source_count = 1;
    all.options.window.length_s = 0.4;
    all.options.window.hop_s = 0.2;
    all.options.device = "cpu";
    all.options.mine.every = 1;
    all.options.mine.min_count = 3;
    all.options.mine.delays_ms = "0:30";
    all.options.track = all.options.watch = link;
    all.options.track_count = all.options.watch_count = 1;
    all.options.graph.reach = &all.reach;
    all.options.graph.patterns = &all.pattern;
    all.options.graph.reach_count = all.options.graph.pattern_count = 1;
    all.options.graph.surrogates = 20;
    all.options.significance.surrogates = 20;
    all.options.significance.length_s = 0.4;
    all.options.density = all.densities;
    all.options.density_count = QUANTITIES;
    all.options.triggers = all.triggers;
    all.options.trigger_count = TRIGGERS;
    all.options.blank = &all.blank;
    all.options.blank_count = 1;
    all.options.features.bin_ms = 10;
    all.options.features.episodes = link;
    all.options.features.episode_count = 1;
}

/* ---- what its rows may be ---- */

/* One value of one row. */
typedef struct setting {
    char path[64]; /* of the table */
    const sf_key *key;
    void *object; /* within `all` */
    double number;
    const char *word;
} setting;

enum { MOST_SETTINGS = 1000 };
static setting settings[MOST_SETTINGS];
static size_t setting_count;

static void add(const char *path, const sf_key *key, const void *object, double number, const char *word)
{
    assert_true(setting_count < MOST_SETTINGS);
    setting *made = &settings[setting_count++];
    *made = (setting){.key = key, .object = (void *)object, .number = number, .word = word};
    snprintf(made->path, sizeof made->path, "%s", path);
}

static void collect(const char *path, const sf_key *key, const void *object)
{
    bool number = key->type == SF_KEY_WHOLE || key->type == SF_KEY_REAL;
    if (key->zero != NULL && number) add(path, key, object, 0, NULL);
    if (number || key->type == SF_KEY_SWITCH) {
        add(path, key, object, number ? key->least : 0, NULL);
        add(path, key, object, number ? key->most : 1, NULL);
    }
    for (size_t i = 0; key->words != NULL && key->words[i] != NULL; i++)
        add(path, key, object, (double)i, key->words[i]);
}

static void walk(const char *path, const sf_key *key, const void *object);

static void walk_table(const char *path, const sf_key_table *table, const void *object)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t i = 0; i < count; i++)
        if (sf_keys_find(keys, count, keys[i]->name, object) == keys[i]) walk(path, keys[i], object);
}

static void walk(const char *path, const sf_key *key, const void *object)
{
    char below[64];
    snprintf(below, sizeof below, "%.30s.%.30s", path, key->name);
    if (key->type == SF_KEY_GROUP)
        walk_table(below, key->table, object);
    else if (key->type != SF_KEY_LIST)
        collect(path, key, object);
    const char *const *items = sf_key_at(key, object);
    for (uint32_t i = 0; key->type == SF_KEY_LIST && key->table != NULL &&
                         i < *(const uint32_t *)(const void *)((const char *)object + key->count_offset);
         i++) {
        snprintf(below, sizeof below, "%.30s.%.10s.%" PRIu32, path, key->name, i);
        walk_table(below, key->table, *items + i * key->table->size);
    }
}

static void set(const setting *to)
{
    void *at = sf_key_at(to->key, to->object);
    switch (to->key->type) {
    case SF_KEY_WHOLE:
        *(uint32_t *)at = (uint32_t)to->number;
        break;
    case SF_KEY_REAL:
        *(double *)at = to->number;
        break;
    case SF_KEY_SWITCH:
        *(bool *)at = to->number > 0;
        break;
    case SF_KEY_CHOICE:
        *(int *)at = (int)to->number;
        break;
    default:
        *(const char **)at = to->word;
        break;
    }
}

static const char *name(const setting *of)
{
    static char names[2][256];
    static int next;
    char *to = names[next ^= 1];
    if (of == NULL) return "";
    if (of->word != NULL)
        snprintf(to, sizeof names[0], "%.64s.%s = %s", of->path, of->key->name, of->word);
    else
        snprintf(to, sizeof names[0], "%.64s.%s = %g", of->path, of->key->name, of->number);
    return to;
}

/* ---- running ---- */

static void push_all(sf_live *live)
{
    sf_spike spikes[SPIKES];
    for (size_t i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)(i * 17 + i % 2) * SF_MILLISECOND,
                               .unit = (uint32_t)(i % UNITS),
                               .amplitude = NAN};
    assert_int_equal(sf_live_push(live, 0, spikes, SPIKES, spikes[SPIKES - 1].time_ns, NULL), SF_OK);
    assert_int_equal(sf_live_push(live, 0, NULL, 0, INT64_MAX, NULL), SF_OK);
}

/* True where the run was opened; then it must end well. */
static bool runs(const setting *a, const setting *b)
{
    sf_live *live;
    sf_error error = {0};
    sf_message *message;
    int status = sf_live_open(&live, &all.options, &error);
    if (status != SF_OK) {
        if (status != SF_CONFIG || error.place[0] == '\0')
            fail_msg("%s %s: refused by no key: %d %s: %s", name(a), name(b), status, error.place,
                     error.text);
        return false;
    }
    push_all(live);
    while ((status = sf_live_next(live, &message, 1000, NULL)) != SF_END)
        if (status == SF_OK) sf_message_release(message);
    if (sf_live_close(live, &error) != SF_OK)
        fail_msg("%s %s: opened, and ended with %s: %s", name(a), name(b), error.place, error.text);
    return true;
}

/* The most surrogates take seconds, which they do alone. */
static bool takes_long(const setting *of)
{
    bool repeats = strcmp(of->key->name, "surrogates") == 0 || strcmp(of->key->name, "rewired") == 0;
    return repeats && of->number == of->key->most;
}

static bool are_a_pair(const setting *a, const setting *b)
{
    return strcmp(a->path, b->path) == 0 && a->key != b->key && !takes_long(a) && !takes_long(b);
}

static void whatever_opens_runs(void **state)
{
    (void)state;
    size_t opened = 0, refused = 0;
    start_anew();
    assert_true(runs(NULL, NULL));
    for (size_t i = 0; i < setting_count; i++)
        for (size_t k = 0; k <= i; k++) {
            if (k < i && (!are_a_pair(&settings[i], &settings[k]) || (i + k) % 16 >= (size_t)test_rounds(16)))
                continue;
            start_anew();
            set(&settings[i]);
            set(&settings[k]);
            bool is = runs(&settings[i], k < i ? &settings[k] : NULL);
            opened += is;
            refused += !is;
        }
    printf("%zu settings: %zu runs opened and ended, %zu refused\n", setting_count, opened, refused);
    assert_true(opened > (test_is_short() ? 250 : 1000) && refused > (test_is_short() ? 25 : 100));
}

/* Beyond a bound of its row, or a word that the row has not. */
static bool go_beyond(setting *to)
{
    const sf_key *key = to->key;
    bool upper = to->number == key->most;
    if (to->number == 0 && key->least > 0 && key->zero != NULL) return false;
    if (to->word != NULL) {
        to->word = "none-such";
        while (key->words[(int)to->number] != NULL)
            to->number++;
    } else if (key->type == SF_KEY_WHOLE) {
        to->number += upper ? 1 : -1;
        return !(to->number == 0 && key->zero != NULL) && to->number >= 0 && to->number <= UINT32_MAX;
    } else {
        to->number = nextafter(to->number, upper ? INFINITY : -INFINITY);
    }
    return key->type != SF_KEY_SWITCH;
}

static void what_no_row_allows_is_refused_by_its_key(void **state)
{
    (void)state;
    size_t refused = 0;
    for (size_t i = 0; i < setting_count; i++) {
        setting beyond = settings[i];
        char place[128];
        sf_live *live;
        sf_error error = {0};
        if (!go_beyond(&beyond)) continue;
        start_anew();
        set(&beyond);
        snprintf(place, sizeof place, "%s.%s", beyond.path + (beyond.path[0] == '.'), beyond.key->name);
        assert_int_equal(sf_live_open(&live, &all.options, &error), SF_CONFIG);
        assert_string_equal(error.place, place + (place[0] == '.'));
        assert_non_null(strstr(error.text, "expected "));
        refused++;
    }
    assert_true(refused > 100);
}

static int collect_all(void **state)
{
    static const sf_key_table table = {.parts = {sf_live_first_keys, sf_live_keys}};
    (void)state;
    start_anew();
    walk_table("", &table, &all.options);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_opens_runs),
        cmocka_unit_test(what_no_row_allows_is_refused_by_its_key),
    };
    return cmocka_run_group_tests(tests, collect_all, NULL);
}
