/* SPDX-License-Identifier: Apache-2.0 */
#include "app/rules.h"

#include "app/load.h"

#include "core/memory.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"csv", NULL, "print CSV: the intervals of the rule; docs/formats.md has the columns"},
    {"labels", "FILE", "what was when: lines of start,stop,label in seconds of the recording"},
    {"markers", NULL,
     "or by the recording's markers: a text holds until the next one or its own with ' end', TTL is high or "
     "low"},
    {"line", NULL,
     "markers: the edges of this TTL line (0 to 65535, default: texts where there are any, else the only "
     "line)"},
    {.name = "hold"},
    {.name = "window"},
    {.name = "hop"},
    {"episodes", "FILE", "the episodes to try (default: those that mine finds with the options below)"},
    {.name = "max-size"},
    {"top", NULL, "try the K most frequent episodes of each size (default 100)"},
    {.name = "least"},
    {.name = "folds"},
    {.name = "shifts"},
    {.name = "seed"},
    {"rule", "FILE", "write the rule as a file for the key `rules` of a live run"},
    {NULL, NULL, NULL},
};

/* ---- what is asked ---- */

static const app_rules usual = {.least = 6, .folds = 10, .shifts = 99, .seed = 1, .line = UINT32_MAX};

#define ROW app_rules
static const sf_key rows[] = {
    WHOLE("line", line, 0, UINT16_MAX, .argument = "N"),
    TIME("hold_ns", hold_ns, 0, INFINITY, .zero = "until the next", .unit = "s", .argument = "S",
         .what = "markers: a label holds for so long at most"),
    TIME("window_ns", window_ns, 0, INFINITY, .zero = "none, and it is needed", .unit = "s", .argument = "S",
         .what = "count in windows of this length; each has to lie in one label"),
    TIME("hop_ns", hop_ns, 0, INFINITY, .zero = "the window", .unit = "s", .argument = "S",
         .what = "from the start of one window to the start of the next"),
    COUNT("least", least, 1, 1000000, .argument = "N",
          .what =
              "an interval of counts has N windows of its label before another may follow, Holte's SMALL"),
    COUNT("folds", folds, 2, 1000, .argument = "N",
          .what = "blocks of time, each predicted by what the others teach"),
    COUNT("shifts", shifts, 0, 1000000, .argument = "N", .what = "shifts of the labels for the chance level"),
    {SF_ROW_SEED, AT(seed), .what = "of the shifts"},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

static const sf_key_table rules_table = SF_KEY_TABLE(rows, usual);

static int check_labels(const app_call *call, sf_error *error)
{
    bool file = app_has(call, "labels"), markers = app_has(call, "markers");
    if (file == markers)
        return sf_fail(error, SF_USAGE, "--labels",
                       file ? "or --markers: labels are from the one or from the other"
                            : "is needed, or --markers: what there is to predict");
    if (!markers && app_has(call, "line"))
        return sf_fail(error, SF_USAGE, "--line", "is for markers: give --markers too");
    if (!markers && app_has(call, "hold"))
        return sf_fail(error, SF_USAGE, "--hold", "is for markers: give --markers too");
    if (!app_has(call, "window"))
        return sf_fail(error, SF_USAGE, "--window",
                       "is needed: counts of windows of this length are looked at");
    return SF_OK;
}

static int parse(app_rules *r, sf_error *error)
{
    const app_call *call = r->call;
    int status = check_labels(call, error);
    if (status == SF_OK) status = app_options_read(call, &rules_table, r, error);
    if (r->hop_ns == 0) r->hop_ns = r->window_ns;
    if (status == SF_OK) app_seconds_warn(call, "window", r->window_ns, app_duration_ns(r->recording));
    if (status == SF_OK && r->shifts > 0) app_tell_seed(call, r->seed);
    return status;
}

static int read_labels(app_rules *r, sf_error *error)
{
    const app_call *call = r->call;
    if (app_has(call, "labels"))
        return sf_epochs_read(&r->epochs, &r->epoch_count, app_value(call, "labels", ""), error);
    int status = sf_labels_of_markers(&r->epochs, &r->epoch_count, r->recording,
                                      r->line == UINT32_MAX ? -1 : (int)r->line, r->hold_ns, error);
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "%s",
                 app_has(call, "line") ? "--line" : app_recording_path(r->recording));
    return status;
}

/* ---- episodes and their counts ---- */

/* The episodes of the file, or mined ones, with room for `more` after them. */
static int choose_episodes(app_rules *r, sf_episode **episodes, size_t *count, sf_error *error)
{
    const app_call *call = r->call;
    if (app_has(call, "episodes")) {
        int read = app_episodes_read(episodes, count, app_value(call, "episodes", ""), r->recording, error);
        app_episodes_warn(call, *episodes, *count);
        return read;
    }
    app_mining mining;
    sf_episodes *found;
    int status = app_mining_parse(&mining, call, error);
    if (!app_has(call, "top")) mining.options.top = 100;
    if (status == SF_OK) status = app_mining_run(&found, &mining, call, r->recording, error);
    if (status != SF_OK) return status;
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(found, &told);
    *count = told.count;
    *episodes = sf_resize(NULL, told.count, sizeof **episodes);
    if (*episodes == NULL)
        status = sf_fail_memory(error);
    else if (told.count == 0)
        status = sf_fail(error, SF_DATA, app_recording_path(r->recording),
                         "no episode is frequent here: give a lower --min-count, or --episodes");
    else
        memcpy(*episodes, told.episodes, told.count * sizeof **episodes);
    sf_episodes_free(found);
    return status;
}

/* Appends each of their units as an episode of its own, once. */
static int add_units(sf_episode **episodes, size_t *count, size_t unit_count, sf_error *error)
{
    size_t episode_count = *count;
    bool *seen = sf_alloc(unit_count, sizeof *seen);
    sf_episode *longer = sf_resize(*episodes, episode_count + unit_count, sizeof *longer);
    if (longer != NULL) *episodes = longer;
    if (seen == NULL || longer == NULL) {
        sf_free(seen);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < episode_count; i++)
        for (uint32_t k = 0; k < longer[i].size; k++)
            seen[longer[i].units[k]] = true;
    for (uint32_t unit = 0; unit < unit_count; unit++)
        if (seen[unit]) longer[(*count)++] = (sf_episode){.size = 1, .units = {unit}};
    sf_free(seen);
    return SF_OK;
}

static int count_windows(app_rules *r, const sf_episode *episodes, size_t count, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(r->recording, &of);
    sf_progress progress = app_progress(r->call);
    sf_counting_options asked = sf_counting_options_default();
    asked.engine = app_value(r->call, "engine", NULL);
    asked.device = app_value(r->call, "device", NULL);
    asked.window_ns = r->window_ns;
    asked.hop_ns = r->hop_ns;
    asked.from_ns = of.selected->from_given ? of.selected->from_ns : r->epochs[0].span.start_ns;
    asked.to_ns = of.selected->to_given ? of.selected->to_ns : r->epochs[r->epoch_count - 1].span.stop_ns;
    if (asked.to_ns <= asked.from_ns)
        return sf_fail(error, SF_DATA, app_recording_path(r->recording),
                       "no label lies in what is looked at");
    int status = sf_count(&r->counted, r->recording, episodes, count, &asked, &progress, error);
    if (status != SF_OK) return app_name_option(r->call, status, error);
    r->told.size = sizeof r->told;
    sf_episodes_get_columns(r->counted, &r->told);
    app_device_warn(r->call, "counted", r->told.ran.device, r->told.ran.note);
    r->told.window_count -= r->told.last_is_partial;
    return SF_OK;
}

static int try_episodes(app_rules *r, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(r->recording, &of);
    sf_episode *episodes = NULL;
    int status = choose_episodes(r, &episodes, &r->episode_count, error);
    size_t count = r->episode_count;
    if (status == SF_OK) status = add_units(&episodes, &count, of.unit_count, error);
    if (status == SF_OK) status = count_windows(r, episodes, count, error);
    sf_free(episodes);
    return status;
}

/* ---- learning ---- */

/* The windows that have a label. */
static int take_labelled(app_rules *r, sf_error *error)
{
    int status = sf_label_windows(&r->labelled, r->recording, r->told.windows, r->told.window_count,
                                  r->epochs, r->epoch_count, error);
    if (status != SF_OK) return status;
    r->windows = sf_resize(NULL, r->labelled.labelled, sizeof *r->windows);
    r->labels = sf_resize(NULL, r->labelled.labelled, sizeof *r->labels);
    r->counts = sf_resize(NULL, r->labelled.labelled, sizeof *r->counts);
    if (r->windows == NULL || r->labels == NULL || r->counts == NULL) return sf_fail_memory(error);
    for (size_t w = 0; w < r->told.window_count; w++) {
        if (r->labelled.labels[w] == SF_NO_LABEL) continue;
        r->windows[r->window_count] = r->told.windows[w];
        r->labels[r->window_count] = r->labelled.labels[w];
        r->counts[r->window_count++] = &r->told.window_counts[w * r->told.count];
    }
    return SF_OK;
}

static int check_windows(const app_rules *r, sf_error *error)
{
    const sf_labelled *labelled = &r->labelled;
    const char *path = app_recording_path(r->recording);
    if (r->window_count == 0)
        return sf_fail(
            error, SF_DATA, path,
            "of %zu windows of %g s none lies in one label and was recorded throughout: %zu lie in "
            "several or partly in one, %zu in none",
            r->told.window_count, (double)r->window_ns * 1e-9, labelled->mixed, labelled->without);
    if (labelled->name_count < 2)
        return sf_fail(error, SF_DATA, path,
                       "all %zu windows in a label are '%s': nothing is to be told apart", r->window_count,
                       app_rules_label(r, 0));
    if (r->window_count < r->folds)
        return sf_fail(error, SF_DATA, path,
                       "%zu windows lie in one label: too few for %" PRIu64 " blocks of time",
                       r->window_count, r->folds);
    return SF_OK;
}

static int learn(app_rules *r, sf_error *error)
{
    int status = take_labelled(r, error);
    if (status == SF_OK) status = check_windows(r, error);
    if (status != SF_OK) return status;
    sf_progress progress = app_progress(r->call);
    sf_rules_input input = {.window_count = r->window_count,
                            .windows = r->windows,
                            .labels = r->labels,
                            .label_count = r->labelled.name_count,
                            .attribute_count = r->episode_count,
                            .counts = r->counts,
                            .least = r->least,
                            .folds = (size_t)r->folds,
                            .shifts = (size_t)r->shifts,
                            .seed = r->seed,
                            .threads = r->threads,
                            .progress = &progress};
    status = app_stop_take(&r->stop, sf_rules_learn(&r->learnt, &input, error), "testing", error);
    for (size_t w = 0; w < r->window_count; w++)
        r->counts[w] += r->episode_count; /* the units' own */
    input.attribute_count = r->told.count - r->episode_count;
    input.shifts = 0;
    return status == SF_OK ? sf_rules_learn(&r->by_rate, &input, error) : status;
}

static void warn(const app_rules *r)
{
    const sf_rules *learnt = &r->learnt;
    if (r->labelled.stretches < SF_RULES_LEAST_STRETCHES)
        app_doubt(
            r->call,
            "the labels change only %zu time%s: whatever else changed with time tells them apart as well%s",
            r->labelled.stretches - 1, r->labelled.stretches == 2 ? "" : "s",
            r->shifts > 0 ? ", so there is no chance level" : "");
    if (r->by_rate.accuracy >= learnt->accuracy && learnt->accuracy > learnt->majority)
        app_doubt(r->call,
                  "how often a single unit fires predicts as well: the order of spikes adds nothing");
}

static int answer(app_rules *r, sf_error *error)
{
    int status = parse(r, error);
    if (status == SF_OK) status = read_labels(r, error);
    if (status == SF_OK) status = try_episodes(r, error);
    if (status == SF_OK) status = learn(r, error);
    const char *rule = app_value(r->call, "rule", NULL);
    if (status == SF_OK && !app_stop_spares(&r->stop, r->call, rule) && rule != NULL)
        status = app_rules_write(rule, r, error);
    if (status != SF_OK) return status;
    warn(r);
    sf_text text = {0};
    if (r->call->json)
        app_rules_json(&text, r);
    else if (app_has(r->call, "csv"))
        app_rules_csv(&text, r);
    else
        app_rules_print(&text, r);
    return app_stop_report(&r->stop, app_print(&text, error), error);
}

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    int status = check_labels(call, error);
    app_catch_signals();
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    app_rules r = usual;
    r.call = call;
    r.recording = recording;
    status = answer(&r, error);
    if (status != SF_OK && status != SF_USAGE && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", app_recording_path(recording));
    sf_rules_free(&r.learnt);
    sf_rules_free(&r.by_rate);
    sf_labelled_free(&r.labelled);
    sf_free(r.windows);
    sf_free(r.labels);
    sf_free(r.counts);
    sf_release(r.epochs);
    sf_episodes_free(r.counted);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_rules = {
    .name = "rules",
    .group = "advanced",
    .summary = "the one episode whose count in a window tells what its label is, and how well",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "echo -e '0,20,rest\\n20,40,task\\n40,60,rest' >labels.txt; synfire rules demo.h5 --labels "
               "labels.txt --window 1",
    .notes = "1R (Holte 1993) over windows and episodes: counts are cut into intervals, each predicts the "
             "label that "
             "most of its windows have, and the episode that gets most windows right is the rule. accuracy "
             "is that of "
             "blocks of time that were left out of the learning, with all windows that overlap them. By "
             "chance is what "
             "the same procedure gives for labels shifted against the spikes in short segments of the "
             "session, so that what changes slowly stays; by rate what it gives for the "
             "counts of "
             "single units. docs/rules.md says when not to trust it.",
    .options = {options, app_mining_options, app_engine_options, app_selection_options},
    .rows = {&sf_mining_table, &rules_table},
    .tables = {&app_rules_table},
    .documents = {&app_rules_document},
    .run = run,
};
