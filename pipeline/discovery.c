/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/discovery.h"

#include "core/ahead.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "mine/ways.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Doublings of the number of windows to skip: at most 63 windows. */
#define MOST_DOUBLINGS 6

/* That are kept: one, and what comes while one is mined. */
#define KEPT_WINDOWS 1.2

double sf_discovery_threshold(const sf_live_options *config, sf_span window, uint64_t spikes)
{
    const sf_live_mine *mine = &config->mine;
    if (mine->min_count > 0) return mine->min_count;
    sf_threshold_kind kind = mine->min_fraction > 0 ? SF_THRESHOLD_FRACTION : SF_THRESHOLD_RATE;
    double given = mine->min_fraction > 0 ? mine->min_fraction : mine->min_rate_hz;
    double threshold = sf_threshold_count(kind, given, window.stop_ns - window.start_ns, (size_t)spikes);
    return threshold > SF_DISCOVERY_LEAST ? threshold : SF_DISCOVERY_LEAST;
}

/* ---- mining a window ---- */

/* Other engines count pairs by themselves. */
static bool begins_with_pairs(const sf_discovery *discovery)
{
    const sf_engine *engine;
    sf_error reason;
    return sf_engine_find(&engine, discovery->config->mine.engine, &reason) == SF_OK &&
           engine == &sf_engine_interval;
}

/* The pairs with a count of at least `least`; or NULL: mine the window anew. Pairs are followed on the host
 * or device that mines windows, which is known after the first window mined as a whole. */
static const sf_pair_count *find_pairs(sf_discovery *discovery, uint32_t least, size_t *count)
{
    if (!begins_with_pairs(discovery)) return NULL;
    if (!discovery->pairs_known)
        return discovery->place != SF_DISCOVERY_NOWHERE_YET
                   ? sf_kept_pairs_follow(&discovery->kept, least, discovery->place == SF_DISCOVERY_THERE,
                                          count)
                   : NULL;
    *count = discovery->pair_count;
    return discovery->pairs;
}

/* Remembers where mining ran; a window without a frequent unit was not really mined and says nothing. */
static void learn_place(sf_discovery *discovery, const sf_mine_result *result)
{
    if (result->level_count > 0 && result->levels[0].frequent > 0)
        discovery->place = strcmp(result->ran.device, "cpu") == 0 ? SF_DISCOVERY_HERE : SF_DISCOVERY_THERE;
}

/* Builds only the episodes that count most above chance: there may be a million others. */
static int keep_found(sf_discovery *discovery, const sf_mine_result *result)
{
    size_t most = discovery->config->mine.track_most, count = result->count < most ? result->count : most;
    sf_rank *order = sf_alloc(result->count, sizeof *order);
    sf_episode *found = sf_resize(discovery->found, count, sizeof *found);
    if (found != NULL) discovery->found = found;
    if (order == NULL || found == NULL) {
        sf_free(order);
        return sf_fail_memory(&discovery->error);
    }
    for (size_t i = 0; i < result->count; i++) {
        double expected = fmax(result->items[i].expected, 0); /* not known where nothing was observed */
        order[i] = (sf_rank){(expected - result->items[i].count) / sqrt(fmax(expected, 1)), i};
    }
    sf_ranks_sort(order, result->count);
    for (size_t i = 0; i < count; i++)
        sf_mine_result_episode(result, order[i].index, &found[i]);
    discovery->found_count = count;
    sf_free(order);
    return SF_OK;
}

/* But for what a window tells. */
static sf_mining_options options_of(const sf_discovery *discovery)
{
    const sf_live_mine *mine = &discovery->config->mine;
    sf_mining_options options = sf_mining_options_default();
    options.delays = discovery->delays;
    options.delay_count = discovery->delay_count;
    options.threshold_kind = SF_THRESHOLD_COUNT;
    options.threshold = SF_DISCOVERY_LEAST;
    options.max_size = mine->max_size;
    options.repeats = mine->repeats;
    options.engine = mine->engine;
    options.threads = mine->threads;
    options.most = SF_DISCOVERY_MOST;
    options.device = discovery->device;
    return options;
}

static int mine_window(sf_discovery *discovery)
{
    const sf_live_options *config = discovery->config;
    size_t count;
    const sf_spike *spikes = sf_kept_pairs_spikes(&discovery->kept, &count);
    discovery->found_count = 0;
    sf_mining_options options = options_of(discovery);
    options.threshold = sf_discovery_threshold(config, discovery->window, count);
    sf_mine_input input = {.spikes = spikes,
                           .spike_count = count,
                           .units = discovery->units,
                           .duration_ns = discovery->observed_ns,
                           .resident = discovery->resident,
                           .unit_spikes = discovery->unit_spikes,
                           .piece = discovery->piece};
    input.pairs = find_pairs(discovery, sf_threshold_least(options.threshold), &input.pair_count);
    if (input.pairs != NULL && input.pair_count > SF_DISCOVERY_MOST)
        return sf_mine_fail_most(SF_DISCOVERY_MOST, &discovery->error);
    sf_progress progress = sf_background_progress(&discovery->background);
    sf_mine_result *result;
    int status = sf_mine_spikes(&result, &input, &options, &progress, &discovery->error);
    if (status != SF_OK) return status;
    memcpy(discovery->how.device, result->ran.device, sizeof discovery->how.device);
    memcpy(discovery->how.device_note, result->ran.note, sizeof discovery->how.device_note);
    if (input.pairs == NULL) learn_place(discovery, result);
    status = keep_found(discovery, result);
    sf_mine_result_free(result);
    return status;
}

/* Sorted, named and spelt out: nothing of that is left to the hop that tracks them. */
static int list_found(sf_discovery *discovery)
{
    sf_tracking_free(&discovery->next);
    int status = sf_tracking_renew(&discovery->next, &discovery->pinned, discovery->found,
                                   discovery->found_count, discovery->units, &discovery->error);
    discovery->next.mined = discovery->window;
    return status == SF_OK ? sf_tracking_ready(&discovery->next, discovery->there != NULL, &discovery->error)
                           : status;
}

static void work(void *job)
{
    sf_discovery *discovery = job;
    double begin = sf_clock_seconds();
    sf_kept_pairs_show(&discovery->kept, discovery->begin, discovery->end);
    discovery->status = SF_OK;
    for (size_t i = 0; i < 2 && discovery->status == SF_OK; i++) {
        const sf_arrived *came = &discovery->handed[i];
        discovery->status =
            sf_kept_pairs_take(&discovery->kept, came->spikes, came->begin, came->end, &discovery->error);
    }
    if (discovery->status == SF_OK) discovery->status = mine_window(discovery);
    if (discovery->status == SF_OK) discovery->status = list_found(discovery);
    discovery->how.seconds = sf_clock_seconds() - begin;
}

/* ---- the window thread's side ---- */

/* Finds now what mining would refuse in a window only after hops were published. */
static int check_mining(const sf_discovery *discovery, sf_error *error)
{
    const sf_mining_options options = options_of(discovery);
    const sf_engine *engine;
    sf_error reason = {0};
    char key[64];
    int status = sf_mining_options_check(&options, &reason);
    if (status == SF_OK) status = sf_engine_find(&engine, options.engine, &reason);
    if (status == SF_OK && sf_engine_check(engine, options.device, &reason) == SF_USAGE)
        return sf_live_refuse("mine.engine", error, "%s", reason.text);
    snprintf(key, sizeof key, "mine%s%.40s", reason.place[0] != '\0' ? "." : "", reason.place);
    return status == SF_OK ? SF_OK : sf_live_refuse(key, error, "%s", reason.text);
}

int sf_discovery_open(sf_discovery *discovery, const sf_discovery_setup *setup, sf_error *error)
{
    const sf_live_options *config = setup->config;
    const sf_units *units = setup->units;
    *discovery = (sf_discovery){.config = config,
                                .units = units,
                                .device = setup->device,
                                .there = setup->there,
                                .piece = setup->inside ? 0 : SF_DISCOVERY_PIECE};
    sf_error reason;
    int status = sf_delays_parse(discovery->delays, SF_LIVE_MOST_DELAYS, &discovery->delay_count,
                                 config->mine.delays_ms, &reason);
    if (status != SF_OK) return sf_live_refuse("mine.delays_ms", error, "%s", reason.text);
    status = check_mining(discovery, error);
    if (status != SF_OK) return status;
    unsigned threads = config->mine.threads != 0 ? config->mine.threads : sf_thread_cores();
    sf_kept_pairs_open(&discovery->kept, &(sf_pairing_setup){.unit_count = units->count,
                                                             .delays = discovery->delays,
                                                             .delay_count = discovery->delay_count,
                                                             .self = config->mine.repeats,
                                                             .most = SF_PAIRING_MOST,
                                                             .threads = threads,
                                                             .device = setup->there});
    discovery->kept.history.span_ns = sf_seconds_to_ns(KEPT_WINDOWS * config->window.length_s);
    if (!setup->inside) discovery->kept.most_anew = SF_KEPT_PAIRS_ANEW;
    discovery->unit_spikes = sf_alloc(units->count, sizeof *discovery->unit_spikes);
    if (discovery->unit_spikes == NULL) return sf_fail_memory(error);
    if (config->mine.every == 0) return SF_OK;
    if (setup->pinned != NULL)
        status = sf_tracking_renew(&discovery->pinned, setup->pinned, NULL, 0, units, error);
    if (status == SF_OK)
        status = sf_background_open(&discovery->background, "synfire-mine",
                                    sf_background_inside(setup->inside), work, discovery, error);
    if (status != SF_OK) sf_discovery_close(discovery);
    return status;
}

void sf_discovery_close(sf_discovery *discovery)
{
    sf_background_close(&discovery->background);
    sf_kept_pairs_close(&discovery->kept);
    for (size_t i = 0; i < 2; i++) {
        sf_free(discovery->arrived[i].spikes);
        sf_free(discovery->handed[i].spikes);
    }
    sf_free(discovery->unit_spikes);
    sf_free(discovery->pairs);
    sf_free(discovery->found);
    sf_tracking_free(&discovery->pinned);
    sf_tracking_free(&discovery->next);
    *discovery = (sf_discovery){0};
}

bool sf_discovery_may_start(sf_discovery *discovery)
{
    bool idle = sf_background_is_idle(&discovery->background), rests = idle && discovery->resting > 0;
    discovery->missed += discovery->late + rests;
    discovery->late = !idle;
    discovery->resting -= rests;
    return idle && !rests;
}

bool sf_discovery_may_start_late(sf_discovery *discovery)
{
    return discovery->late && sf_background_is_idle(&discovery->background);
}

/* A matter of the threshold, not the end of the run. */
static void rest(sf_discovery *discovery)
{
    discovery->too_many += discovery->too_many < MOST_DOUBLINGS;
    discovery->resting = (UINT32_C(1) << discovery->too_many) - 1;
    sf_log(SF_LOG_WARNING,
           "discovery: %s; what was tracked before is tracked on, and %" PRIu32
           " of the windows that `mine.every` asks for are passed over",
           discovery->error.text, discovery->resting);
}

static sf_arrived empty_at(const sf_arrived *room, uint64_t position)
{
    return (sf_arrived){room->spikes, room->room, position, position};
}

/* The newer part becomes the older one, whose spikes no window holds any more. */
static void let_go(sf_arrived arrived[2])
{
    sf_arrived older = arrived[0];
    arrived[0] = arrived[1];
    arrived[1] = empty_at(&older, arrived[0].end);
}

/* For what has arrived, and for a whole window, which the newer part may hold. */
static int make_room(sf_discovery *discovery, const sf_discovery_window *window, size_t needed)
{
    sf_arrived *newer = &discovery->arrived[1];
    if (needed <= newer->room) return 0;
    uint64_t first = newer->begin > window->begin ? newer->begin - window->begin : 0;
    return sf_reserve_ahead(&newer->spikes, &newer->room, needed, sizeof *newer->spikes,
                            window->span.stop_ns - window->spikes[first].time_ns,
                            sf_seconds_to_ns(discovery->config->window.length_s));
}

int sf_discovery_see(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error)
{
    sf_arrived *newer = &discovery->arrived[1];
    if (window->begin > newer->end) /* nobody showed what lies between */
        for (size_t i = 0; i < 2; i++)
            discovery->arrived[i] = empty_at(&discovery->arrived[i], window->begin);
    if (window->begin >= newer->begin && newer->end > newer->begin) let_go(discovery->arrived);
    size_t had = (size_t)(newer->end - newer->begin),
           came = window->end > newer->end ? (size_t)(window->end - newer->end) : 0;
    if (make_room(discovery, window, had + came) != 0) return sf_fail_memory(error);
    if (came > 0)
        memcpy(newer->spikes + had, window->spikes + (newer->end - window->begin),
               came * sizeof *newer->spikes);
    newer->end += came;
    return SF_OK;
}

/* Gives the arrived spikes to the miner. */
static void hand_over(sf_discovery *discovery)
{
    uint64_t end = discovery->arrived[1].end;
    for (size_t i = 0; i < 2; i++) {
        sf_arrived arrived = discovery->arrived[i];
        discovery->arrived[i] = empty_at(&discovery->handed[i], end);
        discovery->handed[i] = arrived;
    }
}

static int keep_pairs(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error)
{
    size_t count = window->pair_count <= SF_DISCOVERY_MOST ? window->pair_count : 0; /* too many are none */
    discovery->pairs_known = window->pairs_known;
    discovery->pair_count = window->pair_count;
    if (!window->pairs_known) return SF_OK;
    if (sf_reserve(&discovery->pairs, &discovery->pair_room, count + 1, sizeof *window->pairs) != 0)
        return sf_fail_memory(error);
    if (count > 0) memcpy(discovery->pairs, window->pairs, count * sizeof *window->pairs);
    return SF_OK;
}

int sf_discovery_start(sf_discovery *discovery, const sf_discovery_window *window, sf_error *error)
{
    int status = sf_discovery_see(discovery, window, error);
    if (status == SF_OK) status = keep_pairs(discovery, window, error);
    if (status != SF_OK) return status;
    hand_over(discovery);
    discovery->late = false;
    discovery->begin = window->begin;
    discovery->end = window->end;
    memcpy(discovery->unit_spikes, window->unit_spikes,
           discovery->units->count * sizeof *window->unit_spikes);
    discovery->window = window->span;
    discovery->observed_ns = window->observed_ns;
    discovery->resident = window->resident;
    sf_background_start(&discovery->background);
    return SF_OK;
}

int sf_discovery_take(sf_discovery *discovery, bool *ready, sf_tracking *next, sf_error *error)
{
    *ready = sf_background_take(&discovery->background);
    if (!*ready) return SF_OK;
    const bool too_many = discovery->status == SF_DATA,
               halted = discovery->status == SF_CANCELLED; /* nobody waits for it */
    *ready = !too_many && !halted;
    if (too_many) rest(discovery);
    if (!*ready) return SF_OK;
    discovery->too_many = 0;
    discovery->taken = discovery->how;
    if (discovery->status != SF_OK)
        return sf_fail(error, discovery->status, discovery->error.place, "%s", discovery->error.text);
    *next = discovery->next;
    discovery->next = (sf_tracking){0};
    return SF_OK;
}
