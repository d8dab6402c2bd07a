/* SPDX-License-Identifier: Apache-2.0 */
/* A program that pushes anything, with any options: it is refused with the option that is wrong, or the run
 * ends in order and its last status accounts for every spike. Limits stand where an option asks for work or
 * memory without end, which a caller may. */
#include "byte_input.h"

#include "core/clock.h"
#include "core/memory.h"
#include "pipeline/live.h"

#include <synfire/live.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 5
#define SOURCES 2
#define MOST 16
#define HANDOFF_ROOM 256 /* the usual 16 MiB, made anew for each input, take most of the time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct accounts {
    uint64_t pushed[SOURCES]; /* and taken */
} accounts;

static void require(bool holds)
{
    if (!holds) abort();
}

/* A number that is usual for the option, or one that no option should have. */
static double number(byte_input *in, double usual)
{
    static const double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e300, 1e-300, 0.1, 0.3, 1.0 / 3};
    unsigned how = (unsigned)byte_take(in, 1);
    if (how < 10) return odd[how];
    return how < 0xc0 ? usual : usual * (double)(how - 0xb8) / 8;
}

static uint32_t whole(byte_input *in, uint32_t usual)
{
    uint32_t how = (uint32_t)byte_take(in, 1);
    return how < 8 ? how : how < 0xc0 ? usual : usual + how - 0xc0;
}

static const char *text(byte_input *in, const char *usual)
{
    static const char *const odd[] = {"",
                                      "A",
                                      "A -(0,5]-> B",
                                      "A -(4,6]-> B -(0.5,2]-> A",
                                      "*",
                                      "#2",
                                      "#9",
                                      "0.5:5",
                                      "1:2,2:4",
                                      "5:0.5",
                                      "é",
                                      "nan:inf",
                                      "auto",
                                      "cuda:77",
                                      "A -(5,1]-> B",
                                      "rate"};
    unsigned how = (unsigned)byte_take(in, 1);
    return how < 16 ? odd[how] : how < 20 ? NULL : usual;
}

static const char *const words[] = {"A -(0,5]-> B", "B -(4,6]-> C"};

/* What the parts of options are borrowed from. */
typedef struct wishes {
    sf_live_options options;
    sf_live_source sources[SOURCES];
    sf_live_unit units[UNITS];
    sf_live_density density;
    sf_live_trigger trigger;
    sf_live_blank blank;
    const char *track[2], *watch[2];
    const char *episodes[1];
} wishes;

static void wish_for_parts(wishes *it, byte_input *in, unsigned which)
{
    sf_live_options *options = &it->options;
    it->density = sf_live_density_default((sf_quantity)(byte_take(in, 1) % 6));
    it->density.unit = text(in, "A");
    it->density.episode = text(in, words[0]);
    it->density.method = text(in, it->density.method);
    it->density.grid = whole(in, 16);
    options->density = &it->density;
    options->density_count = which & 1;
    it->trigger = (sf_live_trigger)SF_LIVE_TRIGGER_DEFAULTS;
    it->trigger.on = (sf_live_trigger_on)(byte_take(in, 1) % 4);
    it->trigger.name = text(in, "reward");
    it->trigger.episode = text(in, words[0]);
    it->trigger.follows = text(in, NULL);
    it->trigger.max_age_ms = number(in, 20);
    it->trigger.refractory_ms = number(in, 5);
    it->trigger.delay_ms = number(in, 1);
    it->trigger.delay_to_ms = number(in, 0);
    it->trigger.sham = number(in, 0.5);
    it->trigger.min_count = whole(in, 1);
    it->trigger.within_s = number(in, 0.1);
    it->trigger.blank_ms = number(in, 1);
    options->triggers = &it->trigger;
    options->trigger_count = which >> 1 & 1;
    it->blank = (sf_live_blank){text(in, "ttl0"), number(in, -1), number(in, 5)};
    options->blank = &it->blank;
    options->blank_count = which >> 2 & 1;
    it->episodes[0] = text(in, "*");
    options->features.bin_ms = (which & 8) != 0 ? number(in, 10) : 0;
    options->features.episodes = it->episodes;
    options->features.episode_count = which >> 4 & 1;
    options->dedup.ms = (which & 32) != 0 ? number(in, 0.4) : 0;
    options->dedup.um = number(in, 50);
}

static void wish(wishes *it, byte_input *in)
{
    static const char *const names[UNITS] = {"A", "B", "C", "D", "E"};
    sf_live_options *options = &it->options;
    unsigned how = (unsigned)byte_take(in, 1);
    *options = sf_live_options_default();
    options->device = "cpu";
    options->stream = text(in, "fuzz");
    options->queue = 64;
    options->queue_policy = SF_RING_DROP_OLDEST;
    options->window.hop_s = number(in, 0.1);
    options->window.length_s = number(in, 0.3);
    options->window.silence_s = 1 + (double)(how & 3);
    options->merge.lateness_ms = number(in, 5);
    options->merge.stall_ms = number(in, 200);
    options->merge.leap_s = number(in, 10);
    options->merge.drop_duplicates = (how & 4) != 0;
    options->mine.every = how >> 3 & 1;
    options->mine.delays_ms = text(in, "0.5:5");
    options->mine.min_count = number(in, 3);
    options->mine.min_rate_hz = number(in, 0);
    options->mine.max_size = whole(in, 3);
    options->mine.threads = 1;
    options->mine.engine = text(in, options->mine.engine);
    options->graph.enabled = (how & 16) != 0;
    options->graph.metric = (sf_live_metric)(how >> 5 & 1);
    options->graph.dt_ms = number(in, 5);
    options->graph.components = options->graph.census = (how & 64) != 0;
    options->significance.surrogates = whole(in, 20);
    options->significance.length_s = number(in, 0);
    options->significance.max_q = number(in, 0);
    it->track[0] = text(in, words[1]);
    it->watch[0] = text(in, words[0]);
    options->track = it->track;
    options->watch = it->watch;
    options->track_count = (uint32_t)byte_take(in, 1) % 2;
    options->watch_count = (uint32_t)byte_take(in, 1) % 2;
    wish_for_parts(it, in, (unsigned)byte_take(in, 1));
    for (size_t i = 0; i < UNITS; i++)
        it->units[i] = (sf_live_unit){i == 4 ? text(in, names[i]) : names[i], (double)i * 100, number(in, 0)};
    options->sources = it->sources;
    options->source_count = 1 + (how >> 7);
    for (size_t i = 0; i < SOURCES; i++)
        it->sources[i] = (sf_live_source){.name = i == 0 ? NULL : text(in, "second"),
                                          .units = it->units,
                                          .unit_count = UNITS,
                                          .ring = whole(in, 256),
                                          .policy = (sf_ring_policy)(byte_take(in, 1) % 3),
                                          .virtual_clock = (how & 2) != 0};
}

/* Takes what waits, or all to the end, where the last status has every spike. */
static void hear(sf_live *live, const accounts *all, const sf_live_options *options, bool to_end)
{
    sf_message *message;
    int status;
    while ((status = sf_live_next(live, &message, to_end ? 1 : 0, NULL)) == SF_OK ||
           (to_end && status == SF_AGAIN)) {
        if (status != SF_OK) continue;
        for (uint32_t i = 0;
             message->topic == SF_TOPIC_STATUS && message->status.last && i < options->source_count; i++)
            require(message->status.sources[i].spikes == all->pushed[i]);
        sf_message_release(message);
    }
}

static void push(sf_live *live, byte_input *in, int64_t *now_ns, accounts *all,
                 const sf_live_options *options)
{
    sf_spike spikes[MOST];
    sf_error error = {0};
    unsigned what = (unsigned)byte_take(in, 1);
    uint32_t source = (what & 0x80) != 0 ? 1 : 0;
    size_t count = what % MOST;
    for (size_t i = 0; i < count; i++) {
        *now_ns = byte_time(in, *now_ns);
        spikes[i] = (sf_spike){*now_ns, (uint32_t)byte_take(in, 1) % (UNITS + 1), 0};
    }
    if ((what & 0x70) == 0x70) {
        const sf_marker marker = {.time_ns = *now_ns, .kind = (uint8_t)(what & 1), .state = what >> 1 & 1};
        int status = sf_live_mark(live, source, &marker, 1, &error);
        require(status == SF_OK || status == SF_AGAIN || status == SF_END || error.text[0] != '\0');
        return;
    }
    int64_t promised_ns = (what & 0x10) != 0 ? byte_time(in, *now_ns) : INT64_MIN;
    int status = sf_live_push(live, source, spikes, count, promised_ns, &error);
    require(status == SF_OK || status == SF_AGAIN || status == SF_END || error.text[0] != '\0');
    if (status == SF_OK && source < options->source_count) all->pushed[source] += count;
    if ((what & 0x60) == 0x60) hear(live, all, options, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    byte_input in = {data, data + size};
    wishes it = {0};
    accounts all = {0};
    sf_live *live;
    sf_error error = {0};
    int64_t now_ns = 0;
    wish(&it, &in);
    int status = sf_live_open_room(&live, &it.options, HANDOFF_ROOM, &error);
    require(status == SF_OK || (error.text[0] != '\0' && live == NULL));
    if (status == SF_OK) {
        while (byte_left(&in))
            push(live, &in, &now_ns, &all, &it.options);
        sf_live_finish(live);
        hear(live, &all, &it.options, true);
        sf_live_close(live, NULL);
    }
    require(sf_memory_live() == 0);
    return 0;
}
