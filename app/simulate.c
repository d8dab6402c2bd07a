/* SPDX-License-Identifier: Apache-2.0 */
#include "app/simulate.h"

#include "app/mining.h"
#include "core/clock.h"
#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "tools/simulate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

extern const app_command app_command_simulate;

static const app_option options[] = {
    {"csv", NULL, "print what was planted as CSV; docs/formats.md has the columns"},
    {"preset", "sym26", "26 units at 20 Hz for 60 s, one short and one long chain at 2 Hz"},
    {.name = "unit-count"},
    {.name = "rate"},
    {.name = "duration"},
    {.name = "start"},
    {.name = "refractory"},
    {"chain", "EPISODE", "a chain to plant, as \"A -(4,6]-> B -(4,6]-> C\"; may be repeated"},
    {"chain-rate", "HZ",
     "occurrences a second (default 1); repeated: one for each chain, the last for the rest"},
    {.name = "jitter"},
    {.name = "burst-rate"},
    {.name = "burst-sigma"},
    {.name = "burst-spikes"},
    {.name = "duplicates"},
    {.name = "pitch"},
    {.name = "marker-every"},
    {.name = "evoked"},
    {.name = "evoked-after"},
    {.name = "seed"},
    {0},
};

typedef struct preset {
    const char *name;
    uint32_t unit_count;
    double rate_hz;
    int64_t duration_ns;
    const char *chains[4]; /* ends with NULL */
    double chain_rate_hz;
} preset;

static const preset presets[] = {
    {.name = "sym26",
     .unit_count = 26,
     .rate_hz = 20,
     .duration_ns = 60 * SF_SECOND,
     .chains = {"A -(4,6]-> B -(4,6]-> C",
                "D -(4,6]-> E -(4,6]-> F -(4,6]-> G -(4,6]-> H -(4,6]-> I -(4,6]-> J -(4,6]-> K"},
     .chain_rate_hz = 2},
};

/* The settings and what they borrow. */
typedef struct simulation_plan {
    sf_simulation_settings settings;
    sf_simulation_chain *chains;
    size_t chain_capacity;
    const preset *preset; /* or NULL */
    sf_recording *units;  /* by whose names chains are read */
} simulation_plan;

static void free_plan(simulation_plan *plan)
{
    sf_free(plan->chains);
    sf_recording_free(plan->units);
}

static int choose_preset(const app_call *call, simulation_plan *plan, sf_error *error)
{
    const char *name = app_value(call, "preset", NULL);
    if (name == NULL) return SF_OK;
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, name) == 0) plan->preset = &presets[i];
    if (plan->preset == NULL) return sf_fail(error, SF_USAGE, "--preset", "found '%s', expected sym26", name);
    plan->settings.unit_count = plan->preset->unit_count;
    plan->settings.rate_hz = plan->preset->rate_hz;
    plan->settings.duration_ns = plan->preset->duration_ns;
    return SF_OK;
}

static int add_chain(simulation_plan *plan, const char *text, sf_error *error)
{
    void *chains = plan->chains;
    if (sf_reserve(&chains, &plan->chain_capacity, plan->settings.chain_count + 1, sizeof *plan->chains) != 0)
        return sf_fail_memory(error);
    plan->chains = chains;
    plan->settings.chains = chains;
    sf_simulation_chain *chain = &plan->chains[plan->settings.chain_count++];
    chain->rate_hz = plan->preset != NULL ? plan->preset->chain_rate_hz : 1;
    return sf_recording_parse_episode(plan->units, text, &chain->episode, error);
}

/* Chains on the command line replace those of the preset. */
static int read_chains(const app_call *call, simulation_plan *plan, sf_error *error)
{
    int status = SF_OK;
    size_t from = 0;
    for (const char *text; status == SF_OK && (text = app_next_value(call, "chain", &from)) != NULL;)
        status = add_chain(plan, text, error);
    if (!app_has(call, "chain") && plan->preset != NULL)
        for (size_t i = 0; status == SF_OK && plan->preset->chains[i] != NULL; i++)
            status = add_chain(plan, plan->preset->chains[i], error);
    return status;
}

static int read_chain_rates(const app_call *call, simulation_plan *plan, sf_error *error)
{
    size_t from = 0, next = 0;
    for (const char *text; (text = app_next_value(call, "chain-rate", &from)) != NULL; next++) {
        double rate;
        if (!sf_parse_real(text, &rate) || rate < 0 || rate > 1e6)
            return sf_fail(error, SF_USAGE, "--chain-rate", "found '%s', expected a number from 0 to 1e+06",
                           text);
        if (next >= plan->settings.chain_count)
            return sf_fail(error, SF_USAGE, "--chain-rate", "found %zu rates for %zu chains", next + 1,
                           plan->settings.chain_count);
        for (size_t i = next; i < plan->settings.chain_count; i++)
            plan->chains[i].rate_hz = rate;
    }
    return SF_OK;
}

static int make_plan(const app_call *call, simulation_plan *plan, sf_error *error)
{
    sf_simulation_settings_default(&plan->settings);
    int status = choose_preset(call, plan, error);
    if (status == SF_OK) status = app_options_read(call, &sf_simulation_table, &plan->settings, error);
    if (status == SF_OK) status = sf_simulation_names(&plan->units, &plan->settings, error);
    if (status == SF_OK) status = read_chains(call, plan, error);
    for (size_t i = 0; status == SF_OK && i < plan->settings.chain_count;
         i++) /* of the first that looks so */
        if (app_delays_warn(call, plan->chains[i].episode.delays, plan->chains[i].episode.size - 1)) break;
    return status == SF_OK ? read_chain_rates(call, plan, error) : status;
}

/* A chain that was planted. */
typedef struct chain_row {
    const char *episode;
    uint64_t planted;
} chain_row;

#define ROW chain_row
static const sf_column_row chain_rows[] = {
    SF_MEMBER_IS(TEXT, episode, "the chain, as people write it"),
    SF_MEMBER_IS(COUNT, planted, "occurrences that were planted"),
};
#undef ROW

static const sf_table chains_table = {.name = "planted",
                                      .row = "planted_chain",
                                      .about = "chains that `simulate` planted",
                                      SF_TABLE_OF(chain_rows)};

/* What was made, and how. */
typedef struct made_recording {
    const char *recording;
    const sf_simulated *made;
    sf_column_list chains; /* chain_row */
    double seconds;
} made_recording;

#define ROW made_recording
#define OF_MADE(kind, column, in, ...) SF_INSIDE_IS(kind, column, made, sf_simulated, in, __VA_ARGS__)
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, recording, "the file"),
    OF_MADE(COUNT, "spikes", spikes, "spikes"),
    OF_MADE(COUNT, "units", unit_count, "units"),
    OF_MADE(TIME, "from_s", recorded.start_ns, "start", .unit = "s"),
    OF_MADE(TIME, "to_s", recorded.stop_ns, "stop", .unit = "s"),
    OF_MADE(COUNT, "duplicates", duplicates, "spikes that a neighbour detects again"),
    OF_MADE(COUNT, "markers", marker_count, "markers"),
    SF_RECORDS_ARE(chains, chain_row, chain_rows, "planted chains"),
    OF_MADE(TEXT, "settings", settings, "the options that make it again"),
    SF_MEMBER_IS(REAL, seconds, "how long it took", .unit = "s"),
};
#undef OF_MADE
#undef ROW

static const sf_table document = {.name = "simulated", .about = "what was made", SF_TABLE_OF(document_rows)};

static void print_csv(sf_text *text, const made_recording *told)
{
    app_csv csv = app_csv_start_table(text, &chains_table);
    const chain_row *chains = told->chains.items;
    for (size_t i = 0; i < told->chains.count; i++)
        app_csv_struct(&csv, &chains_table, &chains[i]);
}

static void print_table(sf_text *text, const made_recording *told)
{
    const sf_simulated *made = told->made;
    const chain_row *chains = told->chains.items;
    sf_text_printf(text, "%s: %zu units, %" PRIu64 " spikes (%" PRIu64 " duplicates), %zu markers, %g s\n",
                   told->recording, made->unit_count, made->spikes, made->duplicates, made->marker_count,
                   (double)(made->recorded.stop_ns - made->recorded.start_ns) * 1e-9);
    app_table table = {0};
    if (made->chain_count > 0) {
        app_table_cell(&table, "planted");
        app_table_cell(&table, "chain");
    }
    for (size_t i = 0; i < told->chains.count; i++) {
        app_table_cell(&table, "%" PRIu64, chains[i].planted);
        app_table_cell(&table, "%s", chains[i].episode);
    }
    app_table_print(&table, text, 2);
    sf_text_printf(text, "made with %s", made->settings);
}

static void print(sf_text *text, const app_call *call, const made_recording *told)
{
    if (call->json)
        app_document_json(text, call, &document, told);
    else if (app_has(call, "csv"))
        print_csv(text, told);
    else
        print_table(text, told);
}

static int simulate(const app_call *call, const simulation_plan *plan, sf_error *error)
{
    const char *path = call->arguments[0];
    double begin = sf_clock_seconds();
    sf_progress progress = app_progress(call);
    sf_simulated made;
    int status = sf_simulation_save(&made, path, &plan->settings, &progress, error);
    if (status != SF_OK) return status;
    sf_text text = {0};
    chain_row *chains = sf_alloc(made.chain_count + 1, sizeof *chains);
    sf_text *names = sf_alloc(made.chain_count + 1, sizeof *names);
    text.failed = chains == NULL || names == NULL;
    for (size_t i = 0; i < made.chain_count && !text.failed; i++) {
        names[i] = app_episode_text(plan->units, &made.chains[i]);
        text.failed |= names[i].failed;
        chains[i] = (chain_row){.episode = names[i].data, .planted = made.planted[i]};
    }
    if (!text.failed)
        print(&text, call,
              &(made_recording){.recording = path,
                                .made = &made,
                                .chains = {chains, made.chain_count},
                                .seconds = sf_clock_seconds() - begin});
    for (size_t i = 0; i < made.chain_count && names != NULL; i++)
        sf_text_free(&names[i]);
    sf_free(names);
    sf_free(chains);
    sf_simulated_free(&made);
    return app_print(&text, error);
}

static int run(app_call *call, sf_error *error)
{
    app_catch_signals();
    simulation_plan plan = {0};
    int status = make_plan(call, &plan, error);
    if (status == SF_OK) {
        app_tell_seed(call, plan.settings.seed);
        status = simulate(call, &plan, error);
    }
    free_plan(&plan);
    return status;
}

int app_make_folder_of(const char *path, sf_error *error)
{
    const char *end = strrchr(path, '/');
    if (end == NULL || end == path) return SF_OK;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
    return mkdir(folder, 0777) == 0 || errno == EEXIST
               ? SF_OK
               : sf_fail(error, SF_CANNOT_CREATE, folder, "cannot create: %s", strerror(errno));
}

int app_simulate_preset(const app_call *call, const char *path, const char *name, sf_error *error)
{
    app_given given[] = {{"preset", name}};
    const app_call asked = {.command = &app_command_simulate,
                            .given = given,
                            .given_count = 1,
                            .quiet = call->quiet,
                            .said = call->said};
    sf_progress progress = app_progress(call);
    simulation_plan plan = {0};
    sf_simulated made;
    int status = make_plan(&asked, &plan, error);
    if (status == SF_OK) status = app_make_folder_of(path, error);
    if (status == SF_OK) status = sf_simulation_save(&made, path, &plan.settings, &progress, error);
    if (status == SF_OK) sf_simulated_free(&made);
    free_plan(&plan);
    return status;
}

const app_command app_command_simulate = {
    .name = "simulate",
    .group = "live",
    .summary = "makes a synthetic recording with planted chains; the file holds what was planted",
    .arguments = "OUT.h5",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire simulate demo.h5 --unit-count 60 --rate 5 --chain \"A -(4,6]-> B -(4,6]-> C\" "
               "--chain-rate 2",
    .notes = "Spikes of a unit follow a hazard that is the same for all units: a constant, plus a bump for "
             "each burst; "
             "it is zero for the refractory time after each spike and before each planted one, so that all "
             "planted "
             "spikes are there. An occurrence that would collide with an earlier one is not planted; the "
             "result says "
             "how many were. A recording that is no simulation is never replaced.",
    .options = {options},
    .rows = {&sf_simulation_table},
    .tables = {&chains_table},
    .documents = {&document},
    .run = run,
};
