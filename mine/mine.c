/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/mine.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/ranks.h"
#include "core/recording.h"
#include "core/thread.h"
#include "mine/analytic.h"
#include "mine/found.h"
#include "mine/known.h"
#include "mine/piece_counter.h"
#include "mine/resident.h"
#include "mine/rows.h"
#include "mine/ways.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run of sf_mine_spikes. */
typedef struct run {
    const sf_mine_input *input;
    const sf_mining_options *options;
    const sf_engine *engine;
    sf_mine_result *result;
    sf_mine_job job;
    sf_events events;
    uint64_t *unit_spikes;                   /* by unit of the recording; of frequent ones only */
    double *x_um, *y_um;                     /* by unit of the events */
    sf_choice choice;                        /* where to mine */
    sf_crew_events on;                       /* the events, there */
    double core_seconds;                     /* what one core would need, roughly */
    double seconds[SF_EPISODE_MAX_SIZE + 1]; /* by size */
    bool outlined;                           /* who needs the events lays them out */
    bool paired;                             /* pairs are known: level 2 is not looked for */
    bool *silent;                            /* then: by unit of the recording, as in sf_events_choice */
    bool resident;                           /* on the one that holds the window already */
    sf_piece_counter in_pieces;              /* where the spikes are not held */
    sf_count_tally tallies[SF_EPISODE_MAX_SIZE + 1]; /* by size */
} run;

void sf_mine_result_free(sf_mine_result *result)
{
    if (result == NULL) return;
    if (result->found != NULL) {
        sf_tree_free(&result->found->tree);
        sf_free(result->found->units);
        sf_free(result->found->delays);
        sf_free(result->found->pair_q);
        for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE; size++)
            sf_free(result->found->asked[size - 1]);
    }
    sf_free(result->found);
    sf_free(result->items);
    sf_free(result);
}

/* ---- options ---- */

static int check_delays(const sf_mining_options *options, sf_error *error)
{
    if (options->delay_count == 0)
        return sf_fail(error, SF_USAGE, NULL, "no delay interval is given: at least one is needed");
    for (size_t i = 0; i < options->delay_count; i++) {
        sf_episode pair = {.size = 2, .delays = {options->delays[i]}};
        if (sf_episode_check(&pair, 1, error) != SF_OK) return SF_DATA;
        for (size_t k = 0; k < i; k++)
            if (options->delays[k].low_ns == options->delays[i].low_ns &&
                options->delays[k].high_ns == options->delays[i].high_ns)
                return sf_fail(error, SF_USAGE, NULL, "delay intervals %zu and %zu are the same", k + 1,
                               i + 1);
    }
    return SF_OK;
}

/* Summaries are what pieces are joined by. */
static int check_pieces(const run *r, sf_error *error)
{
    const char *device = r->options->device;
    if (r->engine != &sf_engine_interval)
        return sf_fail(error, SF_USAGE, NULL, "in pieces the engine interval counts, found %s",
                       r->engine->name);
    if (device != NULL && strcmp(device, "auto") != 0 && strcmp(device, "cpu") != 0)
        return sf_fail(error, SF_USAGE, NULL, "in pieces the CPU counts, found %s", device);
    return SF_OK;
}

int sf_mining_options_check(const sf_mining_options *options, sf_error *error)
{
    const sf_engine *engine;
    int status = sf_keys_check(&sf_mining_table, options, SF_USAGE, error);
    if (status == SF_OK && options->threshold <= 0)
        status = sf_fail(error, SF_USAGE, "threshold", "is %g, expected more than 0", options->threshold);
    if (status == SF_OK) status = sf_engine_find(&engine, options->engine, error);
    if (status == SF_OK) status = sf_engine_check_threads(engine, options->threads, error);
    return status == SF_OK ? check_delays(options, error) : status;
}

/* What the spikes must have for these options. */
static int check_input(const run *r, sf_error *error)
{
    const sf_mining_options *options = r->options;
    if (options->min_distance_um > 0 && !sf_units_have_geometry(r->input->units))
        return sf_fail(error, SF_USAGE, NULL,
                       "a least distance needs positions, but this recording has none for its units");
    if (options->threshold_kind == SF_THRESHOLD_RATE && r->input->duration_ns <= 0)
        return sf_fail(error, SF_USAGE, NULL, "a threshold by rate needs a recorded time longer than 0");
    return r->input->pieces != NULL ? check_pieces(r, error) : SF_OK;
}

double sf_threshold_count(sf_threshold_kind kind, double threshold, int64_t duration_ns, size_t spike_count)
{
    if (kind == SF_THRESHOLD_RATE) return threshold * ((double)duration_ns * 1e-9);
    return kind == SF_THRESHOLD_FRACTION ? threshold * (double)spike_count : threshold;
}

uint32_t sf_threshold_least(double count)
{
    /* A product that should be whole may come out a rounding error above it. */
    double least = ceil(count * (1 - 1e-12));
    return least < 1 ? 1 : least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
}

static void set_threshold(run *r)
{
    r->result->threshold = sf_threshold_count(r->options->threshold_kind, r->options->threshold,
                                              r->input->duration_ns, r->input->spike_count);
    r->job.least = r->result->least = sf_threshold_least(r->result->threshold);
}

/* ---- size 1 ---- */

/* By unit every device is sent all spikes, out of one memory: for one more that takes as long as it does to
 * look for the pairs that a core looks at meanwhile (148 million spikes: 20 ms and 0.58 ms a core's second).
 */
#define SENDING_CORE_SECONDS 0.5e-6

/* Half the work is pairs, which divide by units; the longer sizes do not. */
static uint32_t worth_by_unit(const run *r)
{
    double gained = r->core_seconds / 2 - SENDING_CORE_SECONDS * (double)r->input->spike_count;
    return sf_devices_worth(gained > 0 ? gained : 0);
}

/* By time the copy divides, too. Whether that pays is known when the units' spikes are counted. */
static uint32_t devices_worth(const run *r, bool searches)
{
    uint32_t by_unit = worth_by_unit(r);
    uint32_t by_time = sf_devices_worth((double)r->input->spike_count / SF_STRETCH_SPIKES_A_SECOND);
    return searches && sf_ranks_count() == 1 && by_time > by_unit ? by_time : by_unit;
}

/* Where to mine, by the ways of searching or of counting. Devices that search lay the spikes out themselves,
 * if they do not hold them already. */
static int choose_devices(run *r, sf_error *error)
{
    const sf_mine_input *input = r->input;
    const sf_mining_options *options = r->options;
    size_t count = input->spike_count;
    double span_ns =
        count > 1 ? (double)input->spikes[count - 1].time_ns - (double)input->spikes[0].time_ns : 0;
    bool searches = r->engine->mine != NULL;
    r->paired = searches && input->pairs != NULL;
    r->core_seconds =
        r->paired ? sf_known_core_seconds(input->pairs, input->pair_count, input->unit_spikes, count)
                  : sf_mine_core_seconds(options->delays, options->delay_count, (double)count, span_ns);
    r->on = (sf_crew_events){.crew = &r->choice.crew, .events = &r->events};
    sf_count_work work = {
        .engine = r->engine, .core_seconds = r->core_seconds, .threads = r->job.threads, .on = &r->on};
    sf_how how = {.engine = r->engine->name,
                  .device = options->device,
                  .most = r->paired ? 1 : devices_worth(r, searches)};
    int status = searches ? sf_choose(&r->choice, sf_search_ways, &how, r, error)
                          : sf_choose(&r->choice, sf_count_ways, &how, &work, error);
    bool there = status == SF_OK && searches && sf_crew_left(&r->choice.crew) > 0;
    r->outlined = there || r->paired;
    if (!there) return status;
    r->resident = input->resident != NULL && r->choice.crew.count == 1 &&
                  r->choice.crew.members[0].device == sf_resident_device(input->resident);
    if (!r->resident) r->on.raw = (sf_raw_spikes){input->spikes, count, input->units->count};
    return SF_OK;
}

static void forget_sent(run *r)
{
    for (uint32_t i = 0; i < SF_MOST_DEVICES; i++)
        sf_sent_spikes_close(&r->on.sent[i]);
}

static int send_stretch(void *context, sf_member *member, size_t item, sf_error *error)
{
    run *r = context;
    sf_stretches *cut = &r->on.by_time;
    sf_raw_spikes own = r->on.raw;
    own.spikes += cut->bounds[item];
    own.count = cut->bounds[item + 1] - cut->bounds[item];
    return sf_raw_spikes_send(&r->on.sent[member - r->choice.crew.members], &own, member->device,
                              cut->unit_spikes + item * own.unit_count, error);
}

/* Where stretches meet nobody has looked yet. */
static bool meet_in_order(const sf_stretches *cut, const sf_spike *spikes)
{
    for (uint32_t i = 1; i < cut->count; i++)
        if (!sf_spikes_are_sorted(spikes + cut->bounds[i] - 1, 2)) return false;
    return true;
}

static bool everyone(const sf_member *member)
{
    (void)member;
    return true;
}

/* By unit, on the devices that lay the spikes out: each needs its stretch in any case, or one alone needs
 * all. False: they could not, or found fault with them; then the CPU counts, and says what is wrong. */
static bool count_there(run *r)
{
    const sf_raw_spikes *raw = &r->on.raw;
    sf_stretches *cut = &r->on.by_time;
    int64_t span;
    if (sf_crew_left(&r->choice.crew) != cut->count || raw->spikes == NULL || raw->count < cut->count ||
        __builtin_sub_overflow(raw->spikes[raw->count - 1].time_ns, raw->spikes[0].time_ns, &span))
        return false;
    for (uint32_t i = 0; i <= cut->count; i++)
        cut->bounds[i] = (size_t)((uint64_t)raw->count * i / cut->count);
    cut->unit_spikes = sf_alloc(cut->count * raw->unit_count, sizeof *cut->unit_spikes);
    if (cut->unit_spikes != NULL && meet_in_order(cut, raw->spikes) &&
        sf_crew_together(&r->choice.crew, send_stretch, r, NULL) == SF_OK)
        return true;
    sf_crew_recall(&r->choice.crew, everyone);
    forget_sent(r);
    sf_free(cut->unit_spikes);
    cut->unit_spikes = NULL;
    return false;
}

/* Counts what each unit fires, in as many stretches as there are devices that may get one each. */
static int count_spikes(run *r, uint64_t **counted, unsigned threads, sf_error *error)
{
    const sf_mine_input *input = r->input;
    sf_stretches *cut = &r->on.by_time;
    size_t units = input->units->count;
    cut->count = sf_ranks_count() == 1 ? sf_crew_left(&r->choice.crew) : 1;
    int status = SF_OK;
    if (!count_there(r))
        status = sf_events_count_stretches(&cut->unit_spikes, cut->bounds, cut->count, input->spikes,
                                           input->spike_count, units, threads, error);
    *counted = status == SF_OK ? sf_alloc(units, sizeof **counted) : NULL;
    for (size_t u = 0; *counted != NULL && u < units; u++)
        for (uint32_t i = 0; i < cut->count; i++)
            (*counted)[u] += cut->unit_spikes[i * units + u];
    return status == SF_OK && *counted == NULL ? sf_fail_memory(error) : status;
}

/* Devices that are not worth it by unit are left where chance finds too much to divide by time. */
static void choose_division(run *r)
{
    sf_stretches *cut = &r->on.by_time;
    if (cut->count < 2 || sf_stretches_pay(cut, &r->on.raw, &r->events, &r->job)) return;
    forget_sent(r); /* each needs all of them */
    uint32_t worth = worth_by_unit(r);
    r->choice.crew.count = r->choice.crew.count < worth ? r->choice.crew.count : worth;
    cut->count = 0;
}

/* What a device lays out, the CPU only counts. */
static int outline(run *r, const sf_events_choice *choice, sf_error *error)
{
    const sf_mine_input *input = r->input;
    size_t units = input->units->count;
    const uint64_t *known = r->resident || r->paired ? r->input->unit_spikes : NULL;
    uint64_t *counted = NULL;
    int status = known == NULL ? count_spikes(r, &counted, choice->threads, error) : SF_OK;
    if (status == SF_OK)
        status = sf_events_outline(&r->events, input->spikes, input->spike_count, units,
                                   known != NULL ? known : counted, choice, error);
    if (status == SF_OK) choose_division(r);
    sf_free(counted);
    return status;
}

/* Keeps the spikes of frequent units only: no other can be part of a frequent episode. Engines that count
 * follow units through time. */
static int lay_out(run *r, sf_error *error)
{
    const sf_mine_input *input = r->input;
    sf_events_choice choice = {.least = r->job.least, .silent = r->silent, .threads = r->job.threads};
    if (r->input->pieces != NULL)
        return sf_events_outline(&r->events, NULL, 0, input->units->count, r->input->pieces->unit_spikes,
                                 &choice, error);
    if (r->outlined) return outline(r, &choice, error);
    int status =
        sf_events_lay_out(&r->events, input->spikes, input->spike_count, input->units->count, &choice, error);
    if (status == SF_OK && r->engine->mine == NULL)
        status = sf_events_time_units(&r->events, r->job.threads, error);
    return status;
}

static int count_units(run *r, sf_error *error)
{
    r->unit_spikes = sf_alloc(r->input->units->count, sizeof *r->unit_spikes);
    if (r->unit_spikes == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < r->events.unit_count; u++)
        r->unit_spikes[r->events.unit[u]] = r->events.first[u + 1] - r->events.first[u];
    return SF_OK;
}

static int start_tree(run *r, sf_error *error)
{
    sf_mine_found *found = r->result->found;
    const sf_events *events = &r->events;
    found->tree.complete = 1;
    uint64_t steps = (uint64_t)events->unit_count * r->options->delay_count;
    if (steps > UINT32_MAX)
        return sf_fail(error, SF_USAGE, NULL, "%zu delay intervals are too many for %" PRIu32 " units",
                       r->options->delay_count, events->unit_count);
    found->tree.unit_count = events->unit_count;
    found->tree.delay_count = (uint32_t)r->options->delay_count;
    found->delays = sf_resize(NULL, r->options->delay_count, sizeof *found->delays);
    found->units = sf_resize(NULL, events->unit_count, sizeof *found->units);
    r->x_um = sf_resize(NULL, events->unit_count, sizeof *r->x_um);
    r->y_um = sf_resize(NULL, events->unit_count, sizeof *r->y_um);
    if (found->delays == NULL || found->units == NULL || r->x_um == NULL || r->y_um == NULL)
        return sf_fail_memory(error);
    memcpy(found->delays, r->options->delays, r->options->delay_count * sizeof *found->delays);
    for (uint32_t u = 0; u < events->unit_count; u++) {
        const sf_unit *unit = &r->input->units->items[events->unit[u]];
        found->units[u] = events->unit[u];
        r->x_um[u] = unit->x_um;
        r->y_um[u] = unit->y_um;
        if (sf_level_append(&found->tree.levels[0], 0, u, events->first[u + 1] - events->first[u]) != SF_OK)
            return sf_fail_memory(error);
    }
    return SF_OK;
}

/* ---- level by level, for engines that only count ---- */

#define CHUNK 16384
#define LEAST_CHUNK 256
/* Times all spikes, counted by a core between two looks at whether to stop: about a fifth of a second. */
#define MOST_COUNTED 200e6
/* For each chunk all pieces are read again; where summaries are joined, all ranks have room for those of all.
 */
#define PIECES_CHUNK 65536
#define RANKS_OF_CHUNK 4

/* Candidates of one chunk: their place in the tree to be, and spelt out for the engine. */
typedef struct chunk {
    size_t count;
    uint32_t parents[PIECES_CHUNK], steps[PIECES_CHUNK], counts[PIECES_CHUNK];
    uint32_t units[PIECES_CHUNK * SF_EPISODE_MAX_SIZE], delays[PIECES_CHUNK * SF_EPISODE_MAX_SIZE];
} chunk;

static void fill_chunk(chunk *to, sf_join *join, size_t most)
{
    uint32_t size = join->size, units = join->tree->unit_count;
    to->count = 0;
    while (to->count < most && sf_join_next(join, &to->parents[to->count], &to->steps[to->count])) {
        uint32_t steps[SF_EPISODE_MAX_SIZE];
        sf_tree_steps(join->tree, size - 1, to->parents[to->count], steps);
        steps[size - 1] = to->steps[to->count];
        for (uint32_t node = 0; node < size; node++) {
            to->units[to->count * size + node] = steps[node] % units;
            if (node > 0) to->delays[to->count * (size - 1) + node - 1] = steps[node] / units;
        }
        to->count++;
    }
}

/* Each of several ranks counts its own share of the candidates. */
static int count_share(run *r, chunk *part, sf_count_job *job, sf_error *error)
{
    sf_candidates own_candidates = *job->candidates;
    sf_ranks_part own = sf_ranks_share(part->count);
    sf_count_work work = {.engine = r->engine, .job = job, .counts = part->counts + own.first, .on = &r->on};
    own_candidates.count = own.last - own.first;
    own_candidates.units += own.first * own_candidates.size;
    own_candidates.delays += own.first * (own_candidates.size - 1);
    job->candidates = &own_candidates;
    int status = own_candidates.count > 0 ? sf_choice_run(&r->choice, &work, NULL, error) : SF_OK;
    return sf_ranks_collect(part->counts, part->count, sizeof *part->counts, status, error);
}

/* Counts one chunk and appends what is frequent; `told` is how far the size is. */
static int count_chunk(run *r, chunk *part, uint32_t size, const sf_piece_progress *told, sf_error *error)
{
    sf_tree *tree = &r->result->found->tree;
    sf_candidates candidates = {.size = size,
                                .count = part->count,
                                .units = part->units,
                                .delays = part->delays,
                                .intervals = r->options->delays,
                                .interval_count = r->options->delay_count};
    sf_count_job job = {.events = &r->events,
                        .last = r->events.count,
                        .candidates = &candidates,
                        .threads = r->job.threads,
                        .least = r->job.least,
                        .tally = &r->tallies[size]};
    if (part->count == 0) return SF_OK;
    int status = r->input->pieces != NULL
                     ? sf_piece_counter_count(&r->in_pieces, part->counts, &job, told, error)
                     : count_share(r, part, &job, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < part->count; i++) {
        if (part->counts[i] < r->job.least) continue;
        if (tree->levels[size - 1].count >= r->job.most)
            return sf_fail(error, SF_DATA, NULL,
                           "more than %zu episodes are frequent: ask for a higher threshold", r->job.most);
        if (sf_level_append(&tree->levels[size - 1], part->parents[i], part->steps[i], part->counts[i]) !=
            SF_OK)
            return sf_fail_memory(error);
    }
    return SF_OK;
}

/* A device is given many at a time. */
static size_t chunk_size(run *r)
{
    size_t ranks = sf_ranks_count();
    if (r->input->pieces != NULL)
        return ranks <= RANKS_OF_CHUNK ? PIECES_CHUNK : PIECES_CHUNK * RANKS_OF_CHUNK / ranks + LEAST_CHUNK;
    double fit = MOST_COUNTED / ((double)r->events.count + 1);
    bool waits = (sf_crew_left(&r->choice.crew) == 0 || sf_ranks_count() > 1) && fit < CHUNK;
    return !waits ? CHUNK : fit < LEAST_CHUNK ? LEAST_CHUNK : (size_t)fit;
}

static int mine_level(run *r, chunk *part, uint32_t size, sf_error *error)
{
    sf_tree *tree = &r->result->found->tree;
    char what[32];
    snprintf(what, sizeof what, "counting size %" PRIu32, size);
    sf_piece_progress told = {r->job.progress, what, 0, (double)sf_join_count(tree, &r->job.pairs, size)};
    sf_join join = sf_join_start(tree, &r->job.pairs, size);
    size_t most;
    int status;
    do {
        most = chunk_size(r);
        fill_chunk(part, &join, most);
        status = count_chunk(r, part, size, &told, error);
        told.done += (double)part->count;
        if (status == SF_OK && !sf_progress_update(r->job.progress, what, told.done, told.total))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped while %s", what);
    } while (status == SF_OK && part->count == most);
    tree->cut = status == SF_CANCELLED && r->job.keep_stopped;
    int linked = status == SF_OK || tree->cut ? sf_tree_link(tree, size, error) : status;
    return linked == SF_OK ? status : linked;
}

static int mine_levels(run *r, sf_error *error)
{
    chunk *part = sf_resize(NULL, 1, sizeof *part);
    if (part == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (uint32_t size = 2; size <= r->options->max_size && status == SF_OK; size++) {
        double start = sf_clock_seconds();
        sf_tree *tree = &r->result->found->tree;
        if (size == 2 && r->input->pairs != NULL)
            status = sf_tree_take_pairs(tree, &r->job, r->input->pairs, r->input->pair_count,
                                        r->input->units->count, error);
        else if (size == 2 || tree->levels[size - 2].count > 0)
            status = mine_level(r, part, size, error);
        r->seconds[size] = sf_clock_seconds() - start;
    }
    sf_free(part);
    return status;
}

/* ---- where ---- */

/* The window that the one device holds already becomes its events. */
static int take_resident(run *r, sf_error *error)
{
    sf_device_stream *stream = NULL;
    sf_member *member = &r->choice.crew.members[0];
    int status = sf_events_resident_stream(&stream, &r->events, r->input->units->count, r->input->resident,
                                           &member->reason);
    member->part = stream;
    if (status == SF_UNAVAILABLE)
        sf_crew_dismiss(&r->choice.crew, member);
    else if (status != SF_OK && error != NULL)
        *error = member->reason;
    return status == SF_UNAVAILABLE ? SF_OK : status;
}

/* Pairs that are known become level 2. Of the spikes whoever goes on gets those that may be part of something
 * longer; *goes_on: there may be something. */
static int take_known(run *r, bool *goes_on, sf_error *error)
{
    size_t units = r->input->units->count;
    sf_tree *tree = &r->result->found->tree;
    double start = sf_clock_seconds();
    r->silent = sf_resize(NULL, units, sizeof *r->silent);
    if (r->silent == NULL) return sf_fail_memory(error);
    int status = sf_tree_take_pairs(tree, &r->job, r->input->pairs, r->input->pair_count, units, error);
    if (status == SF_OK) status = sf_tree_find_silent(tree, &r->events, r->silent, units, goes_on, error);
    *goes_on = *goes_on && r->options->max_size > 2;
    if (status == SF_OK && *goes_on) {
        sf_events_close(&r->events);
        status = lay_out(r, error);
    }
    r->job.paired = true;
    r->seconds[2] = sf_clock_seconds() - start;
    return status;
}

/* What was only outlined, the CPU lays out for itself: the same units under the same numbers. */
static int lay_out_here(run *r, sf_error *error)
{
    if (!r->outlined) return SF_OK;
    r->outlined = false;
    sf_events_close(&r->events);
    return lay_out(r, error);
}

/* Spikes as they are and their layout take twice the room of the layout: where they had none, it is made
 * here. */
static int search_there(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    run *r = job;
    sf_tree *tree = &r->result->found->tree;
    int status = sf_crew_mine(&r->on, r->engine, tree, r->seconds, &r->job, error);
    if (status != SF_UNAVAILABLE || !sf_crew_laid_out(&r->on)) return status;
    status = lay_out_here(r, error);
    return status == SF_OK ? sf_crew_mine(&r->on, r->engine, tree, r->seconds, &r->job, error) : status;
}

static int search_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    run *r = job;
    int status = lay_out_here(r, error);
    return status == SF_OK ? r->engine->mine(&r->result->found->tree, r->seconds, &r->job, error) : status;
}

static double estimate(const void *job)
{
    const run *r = job;
    return r->paired ? r->core_seconds
                     : r->core_seconds / r->job.threads; /* short work gains little by them */
}

static int supports(const void *job, const sf_device *device, sf_error *why)
{
    return sf_engine_supports(((const run *)job)->engine, SF_OPERATION_MINE, device, why);
}

static const sf_way search_on_cpu = {.engine = "interval", .estimate = estimate, .run = search_here};
static const sf_way search_on_devices = {.engine = "interval",
                                         .on_devices = true,
                                         .supports = supports,
                                         .run = search_there,
                                         .leave = sf_crew_events_leave};

const sf_way *const sf_search_ways[] = {&search_on_cpu, &search_on_devices, NULL};

/* The work is divided where all ranks search on the CPU; what has a device searches everything there. */
static int divide(run *r, sf_error *error)
{
    uint64_t devices = sf_crew_left(&r->choice.crew) > 0;
    int status = sf_ranks_count() > 1 ? sf_ranks_add(&devices, 1, SF_OK, error) : SF_OK;
    r->job.divided = sf_ranks_count() > 1 && devices == 0;
    return status;
}

static int mine_in_pieces(run *r, sf_error *error)
{
    const sf_mine_input *input = r->input;
    int status =
        sf_piece_counter_open(&r->in_pieces, r->input->pieces, input->units->count, &r->events, error);
    snprintf(r->result->ran.device, sizeof r->result->ran.device, "cpu");
    return status == SF_OK ? mine_levels(r, error) : status;
}

static int mine_episodes(run *r, sf_error *error)
{
    if (r->input->pieces != NULL) return mine_in_pieces(r, error);
    bool goes_on = r->events.count > 0; /* else there are no pairs */
    int status = r->paired ? take_known(r, &goes_on, error) : SF_OK;
    if (!goes_on) r->choice.crew.count = 0; /* nothing to do, and nothing was sent */
    if (status == SF_OK && r->resident && goes_on) status = take_resident(r, error);
    if (status == SF_OK) status = divide(r, error);
    if (status != SF_OK) return status;
    if (goes_on || !r->paired)
        status = r->engine->mine != NULL ? sf_choice_run(&r->choice, r, NULL, error) : mine_levels(r, error);
    sf_choice_tell(&r->choice, &r->result->ran);
    return status;
}

/* ---- the result ---- */

static void list_levels(run *r)
{
    sf_mine_result *result = r->result;
    const sf_tree *tree = &result->found->tree;
    for (uint32_t size = 1; size <= r->options->max_size; size++) {
        uint64_t candidates = r->input->units->count;
        if (size > 1)
            candidates = size <= tree->complete + 1 ? sf_join_count(tree, &r->job.pairs, size) : SF_NO_COUNT;
        if (candidates == 0) break;
        result->levels[result->level_count++] = (sf_mine_level){
            .size = size,
            .candidates = candidates,
            .culled = r->engine->mine != NULL && size > 1 ? -1 : (int64_t)r->tallies[size].culled,
            .frequent = tree->levels[size - 1].count,
            .seconds = r->seconds[size],
            .complete = size <= tree->complete,
        };
    }
}

/* Marks the episodes that a longer one contains with the same count: it is enough to look one size up, since
 * the count of what lies between is between the two. */
static void mark_contained(const sf_tree *tree, uint32_t size, bool *contained)
{
    const sf_level *longer = &tree->levels[size];
    const sf_node *nodes = tree->levels[size - 1].nodes;
    for (size_t i = 0; i < longer->count; i++) {
        const sf_node *node = &longer->nodes[i];
        if (nodes[node->parent].count == node->count) contained[node->parent] = true;
        if (node->suffix != SF_NO_NODE && nodes[node->suffix].count == node->count)
            contained[node->suffix] = true;
    }
}

static void spell(const sf_mine_found *found, uint32_t size, uint32_t node, sf_episode *episode)
{
    uint32_t steps[SF_EPISODE_MAX_SIZE];
    sf_tree_steps(&found->tree, size, node, steps);
    *episode = (sf_episode){.size = size};
    for (uint32_t i = 0; i < size; i++) {
        episode->units[i] = found->units[steps[i] % found->tree.unit_count];
        if (i > 0) episode->delays[i - 1] = found->delays[steps[i] / found->tree.unit_count];
    }
}

void sf_mine_result_episode(const sf_mine_result *result, size_t i, sf_episode *episode)
{
    spell(result->found, result->items[i].size, result->items[i].node, episode);
}

uint32_t sf_mine_result_spikes(const sf_mine_result *result, size_t i, uint32_t node)
{
    const sf_tree *tree = &result->found->tree;
    uint32_t steps[SF_EPISODE_MAX_SIZE];
    sf_tree_steps(tree, result->items[i].size, result->items[i].node, steps);
    return tree->levels[0].nodes[steps[node] % tree->unit_count].count;
}

/* The order of output. Nodes are in the order of units where there is one delay interval. */
static int compare_items(const void *a, const void *b, void *context)
{
    const sf_mine_item *left = a, *right = b;
    const sf_mine_found *found = context;
    if (left->size != right->size) return left->size < right->size ? -1 : 1;
    if (left->count != right->count) return left->count > right->count ? -1 : 1;
    if (found->tree.delay_count == 1) return left->node < right->node ? -1 : left->node > right->node;
    sf_episode episodes[2];
    spell(found, left->size, left->node, &episodes[0]);
    spell(found, right->size, right->node, &episodes[1]);
    return sf_episode_compare(&episodes[0], &episodes[1]);
}

/* The analytic strength of an episode, from its first unit's rate and its longest span. */
static double strength(const run *r, const sf_episode *episode, uint32_t count)
{
    double seconds = (double)r->input->duration_ns * 1e-9, span_s = 0;
    if (!(seconds > 0)) return NAN;
    for (uint32_t i = 0; i + 1 < episode->size; i++)
        span_s += (double)episode->delays[i].high_ns * 1e-9;
    double first_hz = (double)r->unit_spikes[episode->units[0]] / seconds;
    return sf_analytic_strength(episode->size, first_hz, span_s, seconds, count);
}

static int list_items(run *r, sf_error *error)
{
    sf_mine_result *result = r->result;
    const sf_tree *tree = &result->found->tree;
    size_t total = 0, largest = 0;
    for (uint32_t size = 2; size <= r->options->max_size; size++) {
        total += tree->levels[size - 1].count;
        largest = tree->levels[size - 1].count > largest ? tree->levels[size - 1].count : largest;
    }
    result->items = sf_resize(NULL, total, sizeof *result->items);
    bool *contained = sf_resize(NULL, largest, sizeof *contained);
    if (result->items == NULL || contained == NULL) {
        sf_free(contained);
        return sf_fail_memory(error);
    }
    for (uint32_t size = 2; size <= r->options->max_size; size++) {
        const sf_level *level = &tree->levels[size - 1];
        memset(contained, 0, level->count * sizeof *contained);
        if (r->options->closed && size < r->options->max_size) mark_contained(tree, size, contained);
        for (uint32_t node = 0; node < level->count; node++) {
            sf_episode episode;
            if (contained[node]) continue;
            spell(result->found, size, node, &episode);
            result->items[result->count++] = (sf_mine_item){
                .size = size,
                .node = node,
                .count = level->nodes[node].count,
                .expected = sf_expected_episode(&episode, r->unit_spikes, r->input->duration_ns),
                SF_NO_VERDICT,
                .strength = strength(r, &episode, level->nodes[node].count),
            };
        }
    }
    sf_free(contained);
    sf_platform_sort(result->items, result->count, sizeof *result->items, compare_items, result->found);
    return SF_OK;
}

static int prepare(run *r, const sf_progress *progress, sf_error *error)
{
    int status = sf_mining_options_check(r->options, error);
    if (status == SF_OK) status = sf_engine_find(&r->engine, r->options->engine, error);
    if (status == SF_OK) status = check_input(r, error);
    if (status != SF_OK) return status;
    r->result = sf_alloc(1, sizeof *r->result);
    if (r->result != NULL) r->result->found = sf_alloc(1, sizeof *r->result->found);
    if (r->result == NULL || r->result->found == NULL) return sf_fail_memory(error);
    r->result->ran.engine = r->engine->name;
    set_threshold(r);
    r->job.events = &r->events;
    r->job.delays = r->options->delays;
    r->job.delay_count = (uint32_t)r->options->delay_count;
    r->job.max_size = r->options->max_size;
    r->job.most = r->options->most;
    r->job.threads = r->options->threads > 0 ? r->options->threads : sf_thread_cores();
    r->job.progress = progress;
    r->job.piece = r->input->piece;
    r->job.keep_stopped = r->options->keep_stopped;
    return SF_OK;
}

static int mine_all(run *r, sf_error *error)
{
    double start = sf_clock_seconds();
    int status = r->input->pieces == NULL ? choose_devices(r, error) : SF_OK;
    if (status == SF_OK) status = lay_out(r, error);
    if (status == SF_OK) status = count_units(r, error);
    if (status == SF_OK) status = start_tree(r, error);
    if (status != SF_OK) return status;
    r->job.pairs = (sf_pair_rule){.self = r->options->repeats,
                                  .min_distance_um = r->options->min_distance_um,
                                  .x_um = r->x_um,
                                  .y_um = r->y_um};
    r->seconds[1] = sf_clock_seconds() - start;
    status = mine_episodes(r, error);
    r->result->ran.seconds = sf_clock_seconds() - start;
    if (status != SF_OK && !(status == SF_CANCELLED && r->options->keep_stopped)) return status;
    list_levels(r);
    int listed = list_items(r, error);
    return listed == SF_OK ? status : listed;
}

int sf_mine_spikes(sf_mine_result **result, const sf_mine_input *input, const sf_mining_options *options,
                   const sf_progress *progress, sf_error *error)
{
    *result = NULL;
    run r = {.input = input, .options = options};
    int status = prepare(&r, progress, error);
    if (status == SF_OK) status = mine_all(&r, error);
    forget_sent(&r);
    sf_choice_leave(&r.choice);
    sf_stretches_free(&r.on.by_time);
    sf_piece_counter_close(&r.in_pieces);
    sf_events_close(&r.events);
    sf_free(r.unit_spikes);
    sf_free(r.silent);
    sf_free(r.x_um);
    sf_free(r.y_um);
    if (status == SF_OK || (status == SF_CANCELLED && options->keep_stopped))
        *result = r.result;
    else
        sf_mine_result_free(r.result);
    return status;
}
