/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/densities.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/rows.h"
#include "density/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Intervals from under a sampling step to a quarter of an hour, in s, by their logarithm; others are left
 * out.
 */
#define LEAST_INTERVAL 2e-5
#define MOST_INTERVAL 1e3
#define LEAST_LOG_BANDWIDTH 0.051 /* the smallest that 1,024 modes resolve: 32 KB per state */

/* A delay's density resolves this share of the largest delay. */
#define DELAY_RESOLUTION 5e-4

/* Initial capacity for rates, in spikes per hop; it doubles if that is too small. */
#define FIRST_RATES 64

/* Maximum relative difference of two estimates of the clock's step that count as equal up to rounding. */
#define SAME_TICK 0.2

/* Minimum number of states to publish, or to update with samples, that justifies one thread; each has its own
 * spectrum, 150 KB. */
enum { STATES_EACH = 16, SAMPLES_EACH = 16, MOST_WORKERS = 16 };

/* ---- opening ---- */

static bool is_every(const char *text)
{
    return strcmp(text, "*") == 0;
}

static sf_moving_options live_options_of(const sf_density_plan *plan, const sf_live_density *wanted,
                                         double most_delay, double hop_s)
{
    sf_moving_options options = {.reselect = wanted->reselect, .domain = sf_quantity_domain(plan->quantity)};
    switch (plan->quantity) {
    case SF_QUANTITY_ISI:
        options.least = LEAST_INTERVAL;
        options.most = MOST_INTERVAL;
        options.b_least = LEAST_LOG_BANDWIDTH;
        break;
    case SF_QUANTITY_DELAY:
        options.most = most_delay;
        options.b_least = most_delay * DELAY_RESOLUTION;
        break;
    case SF_QUANTITY_RATE:
        options.most = FIRST_RATES / hop_s;
        options.b_least = 1 / hop_s; /* rates are whole multiples of it */
        break;
    case SF_QUANTITY_POSITION:
        break;
    }
    return options;
}

/* All that a quantity can be; but for delays, ends that hold next to nothing are cut. */
static sf_moving_view view_of(const sf_density_plan *plan, const sf_moving_options *options)
{
    bool log_axis = options->domain == SF_DOMAIN_LOG;
    return (sf_moving_view){.from = log_axis ? log(options->least) : 0,
                            .to = log_axis ? log(options->most) : options->most,
                            .bins = plan->grid,
                            .cut_below = log_axis,
                            .cut_above = plan->quantity != SF_QUANTITY_DELAY};
}

static int open_states(sf_density_plan *plan, const sf_moving_options *options, sf_error *error)
{
    const sf_telling_setup setup = {.threads = plan->worker_count,
                                    .view = view_of(plan, options),
                                    .device = plan->every ? plan->device : NULL,
                                    .always = plan->always};
    int status = sf_moving_plan_open(&plan->live, options, error);
    if (status == SF_OK) status = sf_telling_open(&plan->telling, &plan->live, &setup, error);
    for (size_t s = 0; status == SF_OK && s < sf_quantity_states(plan->window); s++)
        status = sf_moving_open(&plan->states[s], &plan->live, error);
    return status;
}

static void close_states(sf_density_plan *plan)
{
    for (size_t s = 0; plan->states != NULL && s < sf_quantity_states(plan->window); s++)
        sf_moving_close(&plan->states[s]);
    sf_telling_close(&plan->telling);
    sf_moving_plan_close(&plan->live);
}

static void close_plan(sf_density_plan *plan)
{
    close_states(plan);
    sf_free(plan->states);
    sf_free(plan->labels);
    sf_free(plan->due);
    sf_free(plan->messages);
    sf_positions_close(&plan->positions);
    sf_quantity_close(plan->window);
    sf_state_samples_free(&plan->entered);
    sf_state_samples_free(&plan->left);
}

/* What messages call each state. */
static int make_labels(sf_density_plan *plan, const sf_quantity_setup *setup, sf_error *error)
{
    size_t count = sf_quantity_states(plan->window);
    plan->labels = sf_alloc(count, sizeof *plan->labels);
    if (plan->labels == NULL) return sf_fail_memory(error);
    for (size_t s = 0; s < count; s++) {
        char id[SF_EPISODE_ID_SIZE] = "";
        if (setup->episodes != NULL) sf_episode_id(id, &setup->episodes[s], setup->units);
        snprintf(plan->labels[s], sizeof plan->labels[s], "%s %s", sf_quantity_words[setup->quantity],
                 setup->episodes != NULL ? id : setup->units->items[setup->first_unit + s].name);
    }
    return SF_OK;
}

/* Number of threads such that each has some states to update. */
static unsigned threads_for(const sf_density_plan *plan, size_t states)
{
    unsigned most = plan->worker_count < MOST_WORKERS ? plan->worker_count : MOST_WORKERS;
    size_t useful = states / STATES_EACH;
    return useful < 1 ? 1 : useful < most ? (unsigned)useful : most;
}

/* What every kind needs once it is known of which units or episodes it is. */
static int open_plan(sf_density_plan *plan, const sf_live_density *wanted, const sf_quantity_setup *setup,
                     sf_error *error)
{
    double most_delay = 0;
    for (size_t e = 0; e < setup->episode_count; e++)
        most_delay =
            fmax(most_delay, (double)setup->episodes[e].delays[setup->episodes[e].size - 2].high_ns * 1e-9);
    plan->grid = wanted->grid;
    plan->first_unit = setup->episodes != NULL ? -1 : (int64_t)setup->first_unit;
    int status = sf_quantity_open(&plan->window, setup, error);
    if (status == SF_OK && setup->quantity == SF_QUANTITY_POSITION)
        return sf_positions_open(&plan->positions, wanted, plan->window, error);
    if (status == SF_OK) status = make_labels(plan, setup, error);
    if (status != SF_OK) return status;
    size_t states = sf_quantity_states(plan->window);
    plan->states = sf_alloc(states, sizeof *plan->states);
    plan->due = sf_alloc(states, sizeof *plan->due);
    plan->messages = sf_alloc(states, sizeof *plan->messages);
    if (plan->states == NULL || plan->due == NULL || plan->messages == NULL) return sf_fail_memory(error);
    plan->worker_count = threads_for(plan, states);
    sf_moving_options options = live_options_of(plan, wanted, most_delay, (double)setup->bin_ns * 1e-9);
    options.method = (sf_moving_method)sf_keys_word(sf_moving_methods, wanted->method);
    return open_states(plan, &options, error);
}

static int open_of_units(sf_density_plan *plan, const sf_live_density *wanted, sf_quantity_setup *setup,
                         sf_error *error)
{
    plan->every = is_every(wanted->unit);
    setup->unit_count = plan->every ? setup->units->count : 1;
    int status =
        plan->every ? SF_OK : sf_units_resolve(setup->units, wanted->unit, &setup->first_unit, error);
    return status == SF_OK ? open_plan(plan, wanted, setup, error) : status;
}

static int open_of_episodes(sf_density_plan *plan, const sf_live_options *config,
                            const sf_live_density *wanted, sf_quantity_setup *setup, sf_error *error)
{
    plan->every = is_every(wanted->episode);
    size_t count = plan->every ? config->track_count : 1;
    sf_episode *episodes = sf_alloc(count, sizeof *episodes);
    if (episodes == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t e = 0; status == SF_OK && e < count; e++) {
        status = sf_episode_parse(&episodes[e], plan->every ? config->track[e] : wanted->episode,
                                  setup->units, error);
        if (status == SF_OK && episodes[e].size < 2)
            status = sf_fail(error, SF_CONFIG, NULL,
                             "found an episode of one unit, expected a link 'A -(0,5]-> B'");
    }
    if (status == SF_OK && count == 0)
        status = sf_fail(error, SF_CONFIG, NULL, "there is no episode under `track`");
    setup->episodes = episodes;
    setup->episode_count = count;
    if (status == SF_OK) status = open_plan(plan, wanted, setup, error);
    sf_free(episodes);
    return status;
}

static int open_one(sf_density_plan *plan, const sf_densities_setup *setup, const sf_live_density *wanted,
                    sf_error *error)
{
    const sf_live_options *config = setup->config;
    sf_quantity_setup samples = {.units = setup->units,
                                 .observed = setup->observed,
                                 .observed_count = setup->observed_count,
                                 .quantity = wanted->quantity,
                                 .bin_ns = sf_seconds_to_ns(config->window.hop_s)};
    plan->quantity = wanted->quantity;
    plan->worker_count = config->mine.threads != 0 ? config->mine.threads : sf_thread_cores();
    plan->device = setup->device;
    plan->always = setup->always;
    if (wanted->quantity == SF_QUANTITY_POSITION) return open_plan(plan, wanted, &samples, error);
    if (wanted->quantity == SF_QUANTITY_DELAY) return open_of_episodes(plan, config, wanted, &samples, error);
    return open_of_units(plan, wanted, &samples, error);
}

int sf_densities_open(sf_densities *densities, const sf_densities_setup *setup, sf_error *error)
{
    const sf_live_options *config = setup->config;
    *densities = (sf_densities){.last_ns = INT64_MIN};
    densities->lockable = pthread_mutex_init(&densities->lock, NULL) == 0;
    densities->plans = sf_alloc(config->density_count, sizeof *densities->plans);
    int status = densities->plans != NULL && densities->lockable ? SF_OK : sf_fail_memory(error);
    for (uint32_t i = 0; status == SF_OK && i < config->density_count; i++) {
        sf_error reason = {0};
        status = open_one(&densities->plans[densities->count++], setup, &config->density[i], &reason);
        char key[32];
        snprintf(key, sizeof key, "density.%" PRIu32, i);
        if (status == SF_NO_MEMORY)
            sf_fail_memory(error);
        else if (status != SF_OK)
            status = sf_live_refuse(key, error, "%s", reason.text);
    }
    if (status != SF_OK) sf_densities_close(densities);
    return status;
}

void sf_densities_close(sf_densities *densities)
{
    for (size_t i = 0; i < densities->count; i++)
        close_plan(&densities->plans[i]);
    sf_free(densities->plans);
    if (densities->lockable) pthread_mutex_destroy(&densities->lock);
    *densities = (sf_densities){0};
}

/* ---- sliding ---- */

static size_t samples_of(const sf_state_samples *samples, size_t s)
{
    return samples->first[s + 1] - samples->first[s];
}

/* Maximum number of threads that the items of a hop keep busy. */
static unsigned threads_of_hop(const sf_density_plan *plan, size_t items)
{
    size_t useful = items / STATES_EACH, allotted = sf_thread_cores();
    size_t most = allotted < plan->worker_count ? allotted : plan->worker_count;
    return useful < 1 ? 1 : useful < most ? (unsigned)useful : (unsigned)most;
}

static void add_to(sf_density_plan *plan, size_t s)
{
    const sf_state_samples *entered = &plan->entered;
    sf_moving_add(&plan->states[s], &plan->live, entered->values + entered->first[s], samples_of(entered, s));
}

static void remove_from(sf_density_plan *plan, size_t s)
{
    const sf_state_samples *left = &plan->left;
    sf_moving_remove(&plan->states[s], &plan->live, left->values + left->first[s], samples_of(left, s));
}

static size_t blocks_of(const sf_density_plan *plan)
{
    return (sf_quantity_states(plan->window) + STATES_EACH - 1) / STATES_EACH;
}

/* State by state, so that the memory of each is gone through once. */
static int change_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    sf_density_plan *plan = context;
    size_t states = sf_quantity_states(plan->window), end = (block + 1) * STATES_EACH;
    for (size_t s = block * STATES_EACH; s < end && s < states; s++) {
        add_to(plan, s);
        remove_from(plan, s);
    }
    return 0;
}

/* Adds what entered and removes what left. */
static int change_states(sf_density_plan *plan, sf_error *error)
{
    size_t entered_count, left_count;
    const sf_sample *entered = sf_quantity_entered(plan->window, &entered_count);
    const sf_sample *left = sf_quantity_left(plan->window, &left_count);
    int status = sf_quantity_sort(plan->window, entered, entered_count, &plan->entered, error);
    if (status == SF_OK) status = sf_quantity_sort(plan->window, left, left_count, &plan->left, error);
    if (status == SF_OK)
        status = sf_parallel_for(threads_of_hop(plan, (entered_count + left_count) / SAMPLES_EACH),
                                 blocks_of(plan), change_block, plan);
    return status;
}

/* Adds all that the window holds. */
static int fill_states(sf_density_plan *plan, sf_error *error)
{
    size_t count;
    const sf_sample *held = sf_quantity_held(plan->window, &count);
    int status = sf_quantity_sort(plan->window, held, count, &plan->entered, error);
    for (size_t s = 0; status == SF_OK && s < sf_quantity_states(plan->window); s++)
        add_to(plan, s);
    return status;
}

static double highest_rate(const sf_density_plan *plan)
{
    size_t count;
    const sf_sample *entered = sf_quantity_entered(plan->window, &count);
    double highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, entered[i].value);
    return highest;
}

/* A rate beyond the frame: all states begin again with twice the room, from the rates that are kept. */
static int widen_rates(sf_density_plan *plan, double rate, sf_error *error)
{
    sf_moving_options options = plan->live.options;
    while (options.most < rate)
        options.most *= 2;
    close_states(plan);
    int status = open_states(plan, &options, error);
    return status == SF_OK ? fill_states(plan, error) : status;
}

/* True where the newest spikes show that the clock has another step than was believed. */
static bool find_tick(sf_densities *densities, const sf_window_change *change)
{
    for (size_t i = 0; i < change->entered_count; i++) {
        int64_t time_ns = change->entered[i].time_ns;
        if (densities->last_ns != INT64_MIN) sf_tick_add(&densities->tick, time_ns - densities->last_ns);
        densities->last_ns = time_ns;
    }
    int64_t found_ns = sf_tick_find(&densities->tick);
    if (fabs((double)(found_ns - densities->tick_ns)) <= SAME_TICK * (double)densities->tick_ns) return false;
    densities->tick_ns = found_ns;
    return true;
}

/*
 * Counts of ticks mean something else now: the states begin again with the window's intervals. No more of
 * their samples have changed for that than the hop's.
 */
static int begin_again(sf_density_plan *plan, sf_error *error)
{
    size_t entered_count, left_count, states = sf_quantity_states(plan->window);
    const sf_sample *entered = sf_quantity_entered(plan->window, &entered_count);
    const sf_sample *left = sf_quantity_left(plan->window, &left_count);
    uint64_t *changed = sf_alloc(states, sizeof *changed);
    if (changed == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < entered_count; i++)
        changed[entered[i].state]++;
    for (size_t i = 0; i < left_count; i++)
        changed[left[i].state]++;
    for (size_t s = 0; s < states; s++) {
        changed[s] += plan->states[s].changed;
        sf_moving_clear(&plan->states[s]);
    }
    int status = fill_states(plan, error);
    for (size_t s = 0; s < states; s++)
        plan->states[s].changed = changed[s];
    sf_free(changed);
    return status;
}

/* Start of the oldest hop whose rates are kept. */
static int64_t oldest_hop_ns(const sf_densities *densities)
{
    uint64_t hops = densities->hops;
    return hops < SF_DENSITY_RATES ? INT64_MIN : densities->hops_ns[hops % SF_DENSITY_RATES];
}

/* Before the first hop nothing was observed. One that is too long has windows before it that were left out:
 * it has no rate. */
static int begin_rates(const sf_densities *densities, sf_quantity_state *window,
                       const sf_window_change *change, sf_error *error)
{
    bool too_long = change->hop.stop_ns - change->hop.start_ns > change->hop_ns;
    sf_span none = {densities->begun ? change->hop.start_ns : INT64_MIN,
                    too_long ? change->hop.stop_ns : change->hop.start_ns};
    return too_long || !densities->begun ? sf_quantity_gap(window, 0, UINT32_MAX, none, error) : SF_OK;
}

/* Samples of spikes leave with the window, rates with their hops. */
static int slide_window(const sf_densities *densities, sf_density_plan *plan, const sf_window_change *change,
                        sf_error *error)
{
    bool of_hops = plan->quantity == SF_QUANTITY_RATE;
    int status = of_hops ? begin_rates(densities, plan->window, change, error) : SF_OK;
    if (status == SF_OK)
        status = sf_quantity_enter(plan->window, change->entered, change->entered_count, change->hop.stop_ns,
                                   error);
    if (status == SF_OK)
        sf_quantity_leave(plan->window, of_hops ? oldest_hop_ns(densities) : change->window_start_ns);
    return status;
}

static int slide(const sf_densities *densities, sf_density_plan *plan, const sf_window_change *change,
                 bool new_tick, sf_error *error)
{
    int status = slide_window(densities, plan, change, error);
    if (status != SF_OK) return status;
    if (plan->quantity == SF_QUANTITY_POSITION) {
        sf_positions_slide(&plan->positions, plan->window);
        return SF_OK;
    }
    if (plan->quantity != SF_QUANTITY_RATE) plan->live.options.tick = (double)densities->tick_ns * 1e-9;
    if (new_tick && plan->quantity == SF_QUANTITY_ISI) return begin_again(plan, error);
    if (plan->quantity == SF_QUANTITY_RATE && highest_rate(plan) > plan->live.options.most)
        return widen_rates(plan, highest_rate(plan), error);
    return change_states(plan, error);
}

int sf_densities_slide(sf_densities *densities, const sf_window_change *change, sf_error *error)
{
    int status = SF_OK;
    pthread_mutex_lock(&densities->lock);
    densities->window = (sf_span){change->window_start_ns, change->hop.stop_ns};
    bool new_tick = densities->count > 0 && find_tick(densities, change);
    if (change->hop.stop_ns - change->hop.start_ns == change->hop_ns)
        densities->hops_ns[densities->hops++ % SF_DENSITY_RATES] = change->hop.start_ns;
    for (size_t i = 0; status == SF_OK && i < densities->count; i++)
        status = slide(densities, &densities->plans[i], change, new_tick, error);
    densities->begun = true;
    pthread_mutex_unlock(&densities->lock);
    return status;
}

/* ---- telling ---- */

/* What a hop's threads share. */
typedef struct telling {
    const sf_density_plan *plan;
    sf_span window;
} telling;

/* Values and bins; what the range of the quantity leaves out lies outside, too. */
static void describe(sf_density_message *density, const sf_density_plan *plan, const sf_moving_density *state,
                     const sf_moving_picture *picture, const double *values)
{
    double held = (double)sf_moving_count(state), share = held / (held + (double)state->left_out), sum = 0;
    for (size_t k = 0; k < plan->grid; k++)
        sum += density->values[k] = values[k] * share;
    density->h = picture->h;
    density->log_axis = plan->live.options.domain == SF_DOMAIN_LOG;
    density->outside = fmax(1 - sum * picture->step, 0);
    density->grid_start = picture->from + picture->step / 2;
    density->grid_step = picture->step;
}

/* The message of a state. */
static int make_message(void *context, size_t item, const sf_moving_picture *picture, const double *values)
{
    const telling *t = context;
    const sf_density_plan *plan = t->plan;
    size_t s = plan->due[item];
    sf_message *message = sf_message_new(SF_TOPIC_DENSITY);
    if (message == NULL) return SF_NO_MEMORY;
    sf_density_message *density = &message->density;
    density->window = t->window;
    memcpy(density->quantity, plan->labels[s], sizeof plan->labels[s]);
    density->count = plan->grid;
    density->values = sf_alloc(plan->grid, sizeof *density->values);
    if (density->values == NULL) {
        sf_message_release(message);
        return SF_NO_MEMORY;
    }
    describe(density, plan, &plan->states[s], picture, values);
    plan->messages[item] = message;
    return SF_OK;
}

static size_t list_due(sf_density_plan *plan)
{
    size_t count = 0;
    for (size_t s = 0; s < sf_quantity_states(plan->window); s++)
        if (!plan->every || sf_moving_due(&plan->states[s], &plan->live)) plan->due[count++] = s;
    return count;
}

/* Publishes in the order of the states, whichever thread computed them. */
static int tell_states(sf_density_plan *plan, sf_span window,
                       void (*publish)(void *user, sf_message *message), void *user, sf_error *error)
{
    telling t = {plan, window};
    size_t count = list_due(plan);
    const sf_telling_job job = {.plan = &plan->live,
                                .states = plan->states,
                                .due = plan->due,
                                .count = count,
                                .threads = threads_of_hop(plan, count),
                                .take = make_message,
                                .context = &t};
    memset(plan->messages, 0, count * sizeof(sf_message *));
    int status = sf_telling_tell(&plan->telling, &job, error);
    for (size_t i = 0; i < count; i++) {
        if (plan->messages[i] != NULL && status == SF_OK)
            publish(user, plan->messages[i]);
        else
            sf_message_release(plan->messages[i]);
    }
    return status;
}

int sf_densities_tell(sf_densities *densities, sf_span window,
                      void (*publish)(void *user, sf_message *message), void *user, sf_error *error)
{
    int status = SF_OK;
    pthread_mutex_lock(&densities->lock);
    for (size_t i = 0; status == SF_OK && i < densities->count; i++) {
        sf_density_plan *plan = &densities->plans[i];
        if (plan->quantity != SF_QUANTITY_POSITION) {
            status = tell_states(plan, window, publish, user, error);
            continue;
        }
        sf_message *message = NULL;
        status = sf_positions_tell(&message, &plan->positions, window, error);
        if (message != NULL) publish(user, message);
    }
    pthread_mutex_unlock(&densities->lock);
    return status;
}

const char *sf_densities_device(const sf_densities *densities)
{
    const char *device = sf_device_name(NULL);
    for (size_t i = 0; i < densities->count; i++)
        if (densities->plans[i].telling.was_there) device = sf_telling_device(&densities->plans[i].telling);
    return device;
}
