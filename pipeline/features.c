/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/features.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "pipeline/options.h"
#include "pipeline/watched.h"

#include <stdio.h>
#include <string.h>

#define NAMES_EVERY_NS (10 * SF_SECOND) /* for those who come later */
#define RING_BYTES ((size_t)16 << 20)
#define MOST_ITEMS 8192
#define LEAST_ITEMS 256

/* ---- the front thread: counting and closing ---- */

static void push(sf_features *features, const sf_features_bins *bins)
{
    sf_handoff *handoff = features->setup.handoff;
    while (sf_ring_push(&features->bins, bins, 1) == 0) {
        if (!sf_handoff_waits(handoff)) {
            atomic_fetch_add_explicit(&features->dropped, bins->number, memory_order_relaxed);
            return;
        }
        sf_bell_ring(&handoff->filled);
        sf_bell_wait(&handoff->emptied, 10);
    }
}

static void begin_bin(sf_features *features, uint64_t number, int64_t start_ns)
{
    memset(features->open, 0, features->item_size);
    features->open->first = number;
    features->open->number = 1;
    features->open->start_ns = start_ns;
    features->open->stop_ns = sf_time_plus(start_ns, features->bin_ns);
    features->open->lost = features->doubted;
}

/* Skips what windows skip, too: a silence, or time that a clock stepped over. */
static void push_silence(sf_features *features, uint64_t number, uint64_t count, int64_t start_ns)
{
    uint64_t length_ns = count * (uint64_t)features->bin_ns;
    bool stepped_over = start_ns < atomic_load(&features->setup.handoff->leapt_ns) && length_ns > SF_SECOND;
    if (count == 0 || stepped_over ||
        (features->silence_ns > 0 && length_ns > (uint64_t)features->silence_ns))
        return;
    sf_features_bins *empty = features->empty;
    empty->first = number;
    empty->number = count;
    empty->start_ns = start_ns;
    empty->stop_ns = (int64_t)((uint64_t)start_ns + length_ns);
    empty->lost = features->doubted;
    push(features, empty);
}

/* Closes all bins that end by then. */
static void pass(sf_features *features, int64_t time_ns)
{
    sf_features_bins *open = features->open;
    if (time_ns < open->stop_ns) return;
    push(features, open);
    int64_t start_ns = open->stop_ns;
    uint64_t number = open->first + 1,
             silent = ((uint64_t)time_ns - (uint64_t)start_ns) / (uint64_t)features->bin_ns;
    push_silence(features, number, silent, start_ns);
    begin_bin(features, number + silent, (int64_t)((uint64_t)start_ns + silent * (uint64_t)features->bin_ns));
}

/* A spike of a burst that is known by it, or before. */
static void count_burst(sf_features *features, const sf_spike *spike)
{
    unsigned brought = sf_isi_n_take(&features->bursts, spike->time_ns, spike->unit);
    features->open->counts[features->width - 1] += (brought & (SF_BURST_BEGAN | SF_BURST_GREW)) != 0;
}

void sf_features_take(sf_features *features, const sf_spike *spikes, const int64_t *arrivals_ns, size_t count)
{
    if (features->bin_ns == 0 || count == 0) return;
    if (!features->begun) begin_bin(features, 0, spikes[0].time_ns);
    features->begun = true;
    for (size_t i = 0; i < count; i++) {
        const sf_completion *completions;
        pass(features, spikes[i].time_ns);
        sf_features_bins *open = features->open;
        open->arrival_ns = arrivals_ns[i];
        if (features->doubted && arrivals_ns[i] > features->noticed_ns) features->doubted = false;
        if (features->slots[spikes[i].unit] != UINT32_MAX) open->counts[features->slots[spikes[i].unit]]++;
        if (features->has_bursts) count_burst(features, &spikes[i]);
        size_t completed = 0;
        if (features->watch != NULL) completed = sf_watch_advance(features->watch, &spikes[i], &completions);
        for (size_t c = 0; c < completed; c++)
            open->counts[features->unit_count + completions[c].episode]++;
    }
}

void sf_features_reach(sf_features *features, int64_t watermark_ns, bool ended)
{
    if (!features->begun) return;
    pass(features, watermark_ns);
    if (!ended) return;
    features->begun = false;
    if (watermark_ns <= features->open->start_ns) return;
    features->open->stop_ns = watermark_ns;
    push(features, features->open);
}

/* The clock is read after the counts: what arrived by then may be of before the fault. */
void sf_features_look(sf_features *features, const sf_feeder_faults *all)
{
    const sf_feeders *feeders = features->setup.feeders;
    bool real_time = !features->setup.inputs->virtual_clock;
    unsigned holes = sf_loss_holes(&features->setup.config->safe_loss);
    for (size_t i = 0; i < feeders->count && features->bin_ns > 0; i++) {
        const sf_feeder_faults *now = &all[i];
        uint64_t faults = sf_feeder_lost(now, holes) + now->steps + now->silences;
        if (faults == features->faults[i] && !(now->silent && real_time)) continue;
        features->faults[i] = faults;
        features->doubted = true;
        features->noticed_ns = sf_clock_monotonic_ns();
        features->open->lost = true;
    }
}

/* ---- the window thread: telling ---- */

static int tell_names(sf_features *features, const sf_features_bins *bins, sf_publisher *publisher,
                      sf_error *error)
{
    sf_message *message = sf_message_new(SF_TOPIC_FEATURES_NAMES);
    if (message == NULL) return sf_fail_memory(error);
    sf_features_names_message *names = &message->features_names;
    *names = (sf_features_names_message){.bin_ns = features->bin_ns,
                                         .units = features->unit_count,
                                         .episodes = features->episode_count,
                                         .edges = features->edge_count,
                                         .names = sf_alloc(features->width, sizeof *names->names)};
    message->time_ns = bins->start_ns;
    bool whole = names->names != NULL;
    for (size_t i = 0; i < features->width && whole; i++) {
        names->names[i] = sf_copy_string(features->names[i]);
        whole = names->names[i] != NULL;
        names->count += whole;
    }
    if (whole)
        sf_publish(publisher, message);
    else
        sf_message_release(message);
    return whole ? SF_OK : sf_fail_memory(error);
}

/* The `at`th of them. */
static int tell_bin(const sf_features *features, const sf_features_bins *bins, uint64_t at,
                    sf_publisher *publisher, sf_error *error)
{
    sf_message *message = sf_message_new(SF_TOPIC_FEATURES);
    uint32_t *values = sf_alloc(features->width, sizeof *values);
    if (message == NULL || values == NULL) {
        sf_message_release(message);
        sf_free(values);
        return sf_fail_memory(error);
    }
    int64_t start_ns = bins->start_ns + (int64_t)at * features->bin_ns;
    sf_span window = {start_ns, at + 1 == bins->number ? bins->stop_ns : start_ns + features->bin_ns};
    memcpy(values, bins->counts, features->width * sizeof *values);
    const sf_inputs *inputs = features->setup.inputs;
    bool is_recorded = sf_observed_whole(inputs->observed, inputs->observed_count, window);
    message->time_ns = window.stop_ns;
    message->arrival_ns = bins->arrival_ns;
    message->features = (sf_features_message){.bin = bins->first + at,
                                              .window = window,
                                              .partial = window.stop_ns - start_ns < features->bin_ns,
                                              .lost = bins->lost || !is_recorded,
                                              .count = features->width,
                                              .values = values};
    sf_publish(publisher, message);
    return SF_OK;
}

int sf_features_tell(sf_features *features, sf_publisher *publisher, sf_error *error)
{
    int status = SF_OK;
    const sf_features_bins *bins = features->taken;
    while (features->bin_ns > 0 && status == SF_OK &&
           sf_ring_pop(&features->bins, features->taken, 1, NULL) == 1) {
        sf_bell_ring(&features->setup.handoff->emptied);
        if (!features->named || bins->start_ns >= features->names_due_ns) {
            features->named = true;
            features->names_due_ns = sf_time_plus(bins->start_ns, NAMES_EVERY_NS);
            status = tell_names(features, bins, publisher, error);
        }
        for (uint64_t i = 0; i < bins->number && status == SF_OK; i++)
            status = tell_bin(features, bins, i, publisher, error);
    }
    return status;
}

void sf_features_drop(sf_features *features)
{
    while (features->bin_ns > 0 && sf_ring_pop(&features->bins, features->taken, 1, NULL) == 1)
        ;
}

uint64_t sf_features_dropped(const sf_features *features)
{
    return atomic_load_explicit(&features->dropped, memory_order_relaxed);
}

uint64_t sf_features_overflows(const sf_features *features)
{
    return features->watch != NULL ? sf_watch_overflows(features->watch) : 0;
}

/* ---- opening and closing ---- */

static bool is_all(const char *const *list, uint32_t count)
{
    return count == 1 && strcmp(list[0], "*") == 0;
}

static int add_name(sf_features *features, const char *name, sf_error *error)
{
    features->names[features->width] = sf_copy_string(name);
    return features->names[features->width++] != NULL ? SF_OK : sf_fail_memory(error);
}

static int add_unit(sf_features *features, uint32_t unit, const char *key, sf_error *error)
{
    const char *name = features->setup.inputs->units.items[unit].name;
    if (features->slots[unit] != UINT32_MAX)
        return sf_live_refuse(key, error, "the unit '%.60s' is given twice", name);
    features->slots[unit] = (uint32_t)features->unit_count++;
    return add_name(features, name, error);
}

static int add_units(sf_features *features, sf_error *error)
{
    const sf_live_features *asked = &features->setup.config->features;
    const sf_units *units = &features->setup.inputs->units;
    bool all = is_all(asked->units, asked->unit_count);
    uint32_t count = all ? (uint32_t)units->count : asked->unit_count;
    int status = SF_OK;
    for (uint32_t i = 0; i < units->count; i++)
        features->slots[i] = UINT32_MAX;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        char key[48];
        sf_error reason;
        uint32_t unit = i;
        snprintf(key, sizeof key, "features.units.%u", i);
        if (!all && sf_units_resolve(units, asked->units[i], &unit, &reason) != SF_OK)
            return sf_live_refuse(key, error, "%s", reason.text);
        status = add_unit(features, unit, key, error);
    }
    return status;
}

/* A list of episodes may also name a trigger: returns that trigger's episode. */
static const char *episode_of(const sf_live_options *config, const char *text)
{
    uint32_t i = sf_live_find_trigger(config, text);
    return i < config->trigger_count && config->triggers[i].on == SF_LIVE_ON_EPISODE
               ? config->triggers[i].episode
               : text;
}

static int add_episodes(sf_features *features, const char *list, const char *const *texts, uint32_t count,
                        sf_episode *episodes, sf_error *error)
{
    int status = SF_OK;
    bool edges = strcmp(list, "edges") == 0;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        char key[48];
        sf_error reason;
        sf_episode *episode = &episodes[features->width - features->unit_count];
        snprintf(key, sizeof key, "features.%s.%u", list, i);
        if (sf_episode_parse(episode, episode_of(features->setup.config, texts[i]),
                             &features->setup.inputs->units, &reason) != SF_OK)
            return sf_live_refuse(key, error, "%s: %s", reason.place, reason.text);
        if (edges && episode->size != 2)
            return sf_live_refuse(key, error, "found %u units, expected the two of an edge", episode->size);
        for (size_t other = features->unit_count; other < features->width; other++)
            if (strcmp(features->names[other], texts[i]) == 0)
                return sf_live_refuse(key, error, "'%.60s' is given twice", texts[i]);
        status = add_name(features, texts[i], error);
        features->edge_count += edges;
        features->episode_count += !edges;
    }
    return status;
}

static int add_watched(sf_features *features, sf_episode *episodes, sf_error *error)
{
    const sf_live_options *config = features->setup.config;
    size_t count = sf_watched_count(config);
    sf_watched *watched = sf_alloc(count, sizeof *watched);
    if (watched == NULL) return sf_fail_memory(error);
    int status = sf_watched_parse(watched, config, &features->setup.inputs->units, error);
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        episodes[i] = watched[i].episode;
        status = add_name(features, watched[i].name, error);
        features->episode_count++;
    }
    sf_free(watched);
    return status;
}

static int open_bursts(sf_features *features, sf_error *error)
{
    const sf_live_bursts *asked = &features->setup.config->bursts;
    features->has_bursts = true;
    int status = sf_isi_n_open(&features->bursts, asked->spikes, (int64_t)(asked->within_ms * 1e6),
                               features->setup.inputs->units.count, error);
    return status == SF_OK ? add_name(features, "bursts", error) : status;
}

static int resolve(sf_features *features, sf_episode *episodes, sf_error *error)
{
    const sf_live_features *asked = &features->setup.config->features;
    int status = add_units(features, error);
    if (status == SF_OK && is_all(asked->episodes, asked->episode_count))
        status = add_watched(features, episodes, error);
    else if (status == SF_OK)
        status = add_episodes(features, "episodes", asked->episodes, asked->episode_count, episodes, error);
    if (status == SF_OK)
        status = add_episodes(features, "edges", asked->edges, asked->edge_count, episodes, error);
    size_t count = features->width - features->unit_count;
    if (status == SF_OK && features->setup.config->bursts.in_features) status = open_bursts(features, error);
    if (status == SF_OK && features->width == 0)
        return sf_live_refuse("features.episodes", error, "found no episode that is watched, expected one");
    if (status == SF_OK && count > 0)
        status =
            sf_watch_open(&features->watch, episodes, count, features->setup.inputs->units.count, 0, error);
    return status;
}

static int open_bins(sf_features *features, sf_error *error)
{
    size_t size = sizeof(sf_features_bins) + features->width * sizeof(uint32_t);
    features->item_size = (size + 7) / 8 * 8;
    size_t room = RING_BYTES / features->item_size;
    features->open = sf_alloc(1, features->item_size);
    features->empty = sf_alloc(1, features->item_size);
    features->taken = sf_alloc(1, features->item_size);
    if (features->open == NULL || features->empty == NULL || features->taken == NULL)
        return sf_fail_memory(error);
    return sf_ring_open(&features->bins, features->item_size,
                        room > MOST_ITEMS    ? MOST_ITEMS
                        : room < LEAST_ITEMS ? LEAST_ITEMS
                                             : room,
                        sf_handoff_waits(features->setup.handoff) ? SF_RING_BLOCK : SF_RING_DROP_NEWEST,
                        error);
}

int sf_features_open(sf_features *features, const sf_features_setup *setup, sf_error *error)
{
    const sf_live_options *config = setup->config;
    const sf_live_features *asked = &config->features;
    *features = (sf_features){.setup = *setup, .silence_ns = sf_seconds_to_ns(config->window.silence_s)};
    if (asked->bin_ms <= 0) return SF_OK;
    features->bin_ns = (int64_t)(asked->bin_ms * 1e6 + 0.5);
    size_t units = setup->inputs->units.count,
           episodes = (size_t)asked->episode_count + asked->edge_count + sf_watched_count(config);
    sf_episode *parsed = sf_alloc(episodes, sizeof *parsed);
    features->names = sf_alloc(units + asked->unit_count + episodes + 1, sizeof *features->names);
    features->slots = sf_alloc(units, sizeof *features->slots);
    features->faults = sf_alloc(setup->inputs->count, sizeof *features->faults);
    bool whole =
        parsed != NULL && features->names != NULL && features->slots != NULL && features->faults != NULL;
    int status = whole ? resolve(features, parsed, error) : sf_fail_memory(error);
    sf_free(parsed);
    return status == SF_OK ? open_bins(features, error) : status;
}

void sf_features_close(sf_features *features)
{
    for (size_t i = 0; i < features->width; i++)
        sf_free(features->names[i]);
    sf_free(features->names);
    sf_free(features->slots);
    sf_free(features->faults);
    sf_free(features->open);
    sf_free(features->empty);
    sf_free(features->taken);
    sf_watch_close(features->watch);
    sf_isi_n_close(&features->bursts);
    sf_ring_close(&features->bins);
    *features = (sf_features){0};
}
