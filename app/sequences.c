/* SPDX-License-Identifier: Apache-2.0 */
/* The order of units within network bursts, and which of them keep their place. */
#include "app/csv.h"
#include "app/load.h"
#include "app/mining.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- all in a few numbers ---- */

typedef struct sequence_row {
    uint64_t bursts, ordered, backbone;
    double mean_similarity, p;
    bool counted;
    double window_ms;
    uint64_t placed;
    double placed_similarity, placed_p;
    bool sequence;
    uint64_t members;
} sequence_row;

#define FEW_BURSTS .null = "fewer than two bursts have an order"
#define ROW sequence_row
static const sf_column_row sequence_rows[] = {
    SF_MEMBER_IS(COUNT, bursts, "network bursts"),
    SF_MEMBER_IS(COUNT, ordered,
                 "those that have an order: backbone units fire in them, not all at one place"),
    SF_MEMBER_IS(COUNT, backbone, "units that take part in the share --backbone of the bursts or more"),
    SF_MEMBER_IS(REAL, mean_similarity, "similarity of two bursts' orders, mean", FEW_BURSTS),
    SF_MEMBER_IS(REAL, p, "of so much similarity where each burst is played forwards or backwards",
                 .unit = "probability", FEW_BURSTS),
    SF_MEMBER_IS(FLAG, counted, "p is counted of all such ways, not drawn"),
    SF_MEMBER_IS(REAL, window_ms, "width of a place", .unit = "ms"),
    SF_MEMBER_IS(COUNT, placed, "backbone units that keep their place: q is --alpha or less"),
    SF_MEMBER_IS(REAL, placed_similarity, "the same as mean_similarity of these among themselves",
                 FEW_BURSTS),
    SF_MEMBER_IS(REAL, placed_p, "the same as p of these among themselves", .unit = "probability",
                 FEW_BURSTS),
    SF_MEMBER_IS(FLAG, sequence,
                 "three units or more keep their place, both p are --alpha or less, and placed_similarity is "
                 "--least-similarity or more"),
    SF_MEMBER_IS(COUNT, members, "units of the sequence: those that keep their place; 0 without one"),
};
#undef ROW

static const sf_table sequence_table = {.name = "sequence",
                                        .row = "sequence",
                                        .about = "whether there is a sequence in the bursts",
                                        SF_TABLE_OF(sequence_rows)};

/* ---- units ---- */

typedef struct unit_row {
    uint32_t unit;
    const char *name;
    uint64_t bursts;
    double share, spikes, first_ms;
    bool backbone;
    double position;
    uint64_t kept;
    double place_ms, jitter_ms, kept_chance, p, q;
    bool member;
    uint64_t order;
} unit_row;

#define NO_BACKBONE .null = "it is not of the backbone"
#define ROW unit_row
static const sf_column_row unit_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit"),
    SF_MEMBER_IS(TEXT, name, "its name"),
    SF_MEMBER_IS(COUNT, bursts, "network bursts that it takes part in"),
    SF_MEMBER_IS(REAL, share, "of all network bursts", .unit = "probability", .null = "there is none"),
    SF_MEMBER_IS(REAL, spikes, "its spikes in such a burst, mean", .null = "it takes part in none"),
    SF_MEMBER_IS(REAL, first_ms, "its first spike in such a burst, from the start, median", .unit = "ms",
                 .null = "it takes part in none"),
    SF_MEMBER_IS(FLAG, backbone, "it takes part in the share --backbone of the bursts or more"),
    SF_MEMBER_IS(REAL, position,
                 "where it stands in the order of backbone units, by first and last spikes: -1 before all, 1 "
                 "behind all, mean over bursts",
                 NO_BACKBONE),
    SF_MEMBER_IS(COUNT, kept, "bursts in which it fires within its place; 0 outside of the backbone"),
    SF_MEMBER_IS(REAL, place_ms,
                 "its place, the mean of its spikes there, from that of the first unit of the sequence "
                 "(without one: of the backbone)",
                 .unit = "ms", NO_BACKBONE),
    SF_MEMBER_IS(REAL, jitter_ms,
                 "standard deviation of its spikes within its place, the nearest of each burst", .unit = "ms",
                 .null = "it is not of the backbone, or fires there less than twice"),
    SF_MEMBER_IS(REAL, kept_chance, "kept, where its train begins anywhere in the burst, mean", NO_BACKBONE),
    SF_MEMBER_IS(REAL, p, "that a train that begins anywhere keeps as many or more", .unit = "probability",
                 NO_BACKBONE),
    SF_MEMBER_IS(REAL, q, "p, corrected among backbone units by the false-discovery rate",
                 .unit = "probability", NO_BACKBONE),
    SF_MEMBER_IS(FLAG, member, "it is of the sequence"),
    SF_MEMBER_IS(COUNT, order, "its number in the sequence, from 1 on; 0: it is not of it"),
};
#undef ROW

static const sf_table units_table = {.name = "sequence_units",
                                     .row = "sequence_unit",
                                     .about = "every unit within the network bursts",
                                     SF_TABLE_OF(unit_rows)};

/* ---- bursts ---- */

typedef struct burst_row {
    uint64_t burst;
    int64_t start_ns, stop_ns, begin_ns;
    uint64_t units, kept;
    double mean_similarity;
} burst_row;

#define ROW burst_row
static const sf_column_row burst_rows[] = {
    SF_MEMBER_IS(COUNT, burst, "its number, from 0 on"),
    SF_FIELD_IS(TIME, "start_s", start_ns, "start of the burst", .unit = "s"),
    SF_FIELD_IS(TIME, "stop_s", stop_ns, "its end", .unit = "s"),
    SF_MEMBER_IS(COUNT, units, "backbone units that take part"),
    SF_MEMBER_IS(REAL, mean_similarity, "similarity of its order with the mean of all other bursts'",
                 .null = "it has no order, or no other has"),
    SF_FIELD_IS(
        TIME, "begin_s", begin_ns,
        "where the first unit of the sequence has its place (without one: of the backbone), as the units' "
        "spikes tell",
        .unit = "s"),
    SF_MEMBER_IS(COUNT, kept, "units of the sequence that fire within their place"),
};
#undef ROW

static const sf_table bursts_table = {.name = "sequence_bursts",
                                      .row = "sequence_burst",
                                      .about = "every network burst, in order",
                                      SF_TABLE_OF(burst_rows)};

typedef struct latency_row {
    uint64_t burst;
    uint32_t unit;
    const char *name;
    int64_t first_ns;
    double latency_ms;
    uint64_t rank;
} latency_row;

#define ROW latency_row
static const sf_column_row latency_rows[] = {
    SF_MEMBER_IS(COUNT, burst, "the burst's number"),
    SF_MEMBER_IS(UNIT, unit, "0-based index of a backbone unit that takes part in it"),
    SF_MEMBER_IS(TEXT, name, "its name"),
    SF_FIELD_IS(TIME, "first_s", first_ns, "its first spike in the burst", .unit = "s"),
    SF_MEMBER_IS(REAL, latency_ms, "from the begin of the burst's sequence to it", .unit = "ms"),
    SF_MEMBER_IS(COUNT, rank, "backbone units whose first spike in the burst is earlier"),
};
#undef ROW

static const sf_table latencies_table = {.name = "sequence_latencies",
                                         .row = "sequence_latency",
                                         .about = "first spikes of backbone units in every burst",
                                         SF_TABLE_OF(latency_rows)};

typedef struct similarity_row {
    uint64_t burst, other;
    double similarity;
} similarity_row;

#define ROW similarity_row
static const sf_column_row similarity_rows[] = {
    SF_MEMBER_IS(COUNT, burst, "number of a burst"),
    SF_MEMBER_IS(COUNT, other, "that of a later one"),
    SF_MEMBER_IS(REAL, similarity, "of their orders: 1 the same, -1 the opposite, over the units of both",
                 .null = "one of them has no order"),
};
#undef ROW

static const sf_table similarity_table = {.name = "burst_similarity",
                                          .row = "burst_similarity",
                                          .about = "similarity of every two bursts",
                                          SF_TABLE_OF(similarity_rows)};

/* ---- chains ---- */

typedef struct chain_row {
    char id[SF_EPISODE_ID_SIZE];
    char *episode;
    uint64_t count;
    sf_sequence_place place;
    bool fixed;
} chain_row;

#define NO_CHAIN .null = "no occurrence begins in a burst"
#define ROW chain_row
static const sf_column_row chain_rows[] = {
    SF_MEMBER_IS(TEXT, id, "16 hexadecimal digits"),
    {.is = SF_WHAT_IS(TEXT, "episode", "units and delays"), .get = sf_column_value, SF_ROW_ELEMENT(episode)},
    SF_MEMBER_IS(COUNT, count, "its occurrences"),
    SF_FIELD_IS(COUNT, "kept", place.kept, "bursts in which one begins within its place"),
    SF_FIELD_IS(REAL, "place_ms", place.place_ms, "its place, as place_ms of units", .unit = "ms", NO_CHAIN),
    SF_FIELD_IS(REAL, "jitter_ms", place.jitter_ms, "as jitter_ms of units", .unit = "ms",
                .null = "less than two begin there"),
    SF_FIELD_IS(REAL, "kept_chance", place.kept_chance, "kept, where they begin anywhere in the burst, mean",
                NO_CHAIN),
    SF_FIELD_IS(REAL, "p", place.p, "of so many or more of these", .unit = "probability", NO_CHAIN),
    SF_FIELD_IS(REAL, "q", place.q, "p, corrected among the chains", .unit = "probability", NO_CHAIN),
    SF_MEMBER_IS(FLAG, fixed, "it has a fixed place in the bursts: q is --alpha or less"),
};
#undef ROW

static const sf_table chains_table = {.name = "sequence_chains",
                                      .row = "sequence_chain",
                                      .about = "chains of --episodes, and their place in the bursts",
                                      SF_TABLE_OF(chain_rows)};

/* ---- what is asked, and found ---- */

enum { TABLE_UNITS, TABLE_BURSTS, TABLE_LATENCIES, TABLE_SIMILARITY, TABLE_CHAINS, TABLE_SUMMARY };

typedef struct sequences {
    const app_call *call;
    sf_activity_options activity;
    sf_sequence_options options;
    int table; /* of --csv */
    const sf_recording *recording;
    sf_recording_columns of;
    sf_bursts network;
    sf_sequences found;
    chain_row *chains;
    size_t chain_count;
} sequences;

static const app_option options[] = {
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "units|bursts|latencies|similarity|chains|summary", "which table --csv has (default units)"},
    {.name = "backbone"},
    {.name = "least-spikes"},
    {.name = "window"},
    {"episodes", "FILE",
     "chains whose place in the bursts is told, or one chain itself, as `count` has them"},
    {.name = "least-similarity"},
    {.name = "network-method"},
    {.name = "active"},
    {.name = "network-share"},
    {.name = "network-spikes"},
    {.name = "network-within"},
    {.name = "surrogates"},
    {.name = "alpha"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int parse(sequences *s, sf_error *error)
{
    const app_call *call = s->call;
    s->activity = SF_ACTIVITY_OPTIONS;
    s->options = SF_SEQUENCE_OPTIONS;
    int status = app_options_read(call, &sf_activity_table, &s->activity, error);
    if (status == SF_OK)
        status = app_options_read(call, &sf_sequence_table, &s->options, error);
    if (status == SF_OK)
        status = app_table_asked(call, &s->table, error);
    if (status == SF_OK && s->table == TABLE_CHAINS && !app_has(call, "episodes"))
        status = sf_fail(error, SF_USAGE, "--table", "chains are those of --episodes");
    return status;
}

static int place_chain(sequences *s, const sf_occurrences_columns *told, size_t i, sf_error *error)
{
    const sf_episode *episode = &told->episodes[i];
    chain_row *row = &s->chains[i];
    sf_text spelt = app_episode_text(s->recording, episode);
    int64_t *starts_ns = sf_alloc((size_t)told->counts[i], sizeof *starts_ns);
    row->count = told->counts[i];
    row->episode = spelt.data;
    sf_recording_episode_id(s->recording, episode, row->id);
    if (starts_ns == NULL || spelt.data == NULL) {
        sf_free(starts_ns);
        return sf_fail_memory(error);
    }
    for (size_t k = 0; k < told->counts[i]; k++)
        starts_ns[k] = told->times_ns[i][k * episode->size];
    sf_times_sort(starts_ns, (size_t)told->counts[i]);
    int status = sf_sequences_place(&row->place, &s->found, s->recording, starts_ns, (size_t)told->counts[i],
                                    episode->units, episode->size, &s->options, i, error);
    sf_free(starts_ns);
    return status;
}

/* Chains whose q is at most alpha have a fixed place. */
static int mark_fixed(sequences *s, sf_error *error)
{
    sf_sequence_place **places = sf_alloc(s->chain_count, sizeof *places);
    if (places == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < s->chain_count; i++)
        places[i] = &s->chains[i].place;
    int status = sf_sequences_correct(places, s->chain_count, error);
    for (size_t i = 0; status == SF_OK && i < s->chain_count; i++)
        s->chains[i].fixed = s->chains[i].place.q <= s->options.alpha;
    sf_free(places);
    return status;
}

static int find_chains(sequences *s, sf_error *error)
{
    sf_occurrences *listed = NULL;
    sf_occurrences_columns told = {.size = sizeof told};
    sf_progress progress = app_progress(s->call);
    sf_episode *episodes;
    size_t count;
    int status =
        app_episodes_read(&episodes, &count, app_value(s->call, "episodes", ""), s->recording, error);
    if (status != SF_OK)
        return status;
    s->chains = sf_alloc(count, sizeof *s->chains);
    status = s->chains == NULL
                 ? sf_fail_memory(error)
                 : sf_occurrences_list(&listed, s->recording, episodes, NULL, count, &progress, error);
    sf_free(episodes);
    if (status == SF_OK)
        sf_occurrences_get_columns(listed, &told);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        s->chain_count++;
        status = place_chain(s, &told, i, error);
    }
    if (status == SF_OK)
        status = mark_fixed(s, error);
    sf_occurrences_free(listed);
    return status;
}

static int find(sequences *s, sf_error *error)
{
    s->of = (sf_recording_columns){.size = sizeof s->of};
    sf_recording_get_columns(s->recording, &s->of);
    int status = sf_bursts_find(&s->network, s->recording, &s->activity.network, error);
    if (status == SF_OK)
        status = sf_sequences_find(&s->found, s->recording, &s->network, &s->options, error);
    if (status == SF_OK && app_has(s->call, "episodes"))
        status = find_chains(s, error);
    return status;
}

static void free_all(sequences *s)
{
    for (size_t i = 0; i < s->chain_count; i++)
        sf_free(s->chains[i].episode);
    sf_free(s->chains);
    sf_sequences_free(&s->found);
    sf_bursts_free(&s->network);
}

/* ---- rows ---- */

static sequence_row row_of_all(const sequences *s)
{
    const sf_sequences *f = &s->found;
    return (sequence_row){.bursts = f->burst_count,
                          .ordered = f->ordered,
                          .backbone = f->backbone,
                          .mean_similarity = f->mean_similarity,
                          .p = f->p,
                          .counted = f->counted,
                          .window_ms = (double)f->window_ns * 1e-6,
                          .placed = f->placed,
                          .placed_similarity = f->placed_similarity,
                          .placed_p = f->placed_p,
                          .sequence = f->sequence,
                          .members = f->members};
}

static unit_row row_of_unit(const sequences *s, size_t u)
{
    const sf_sequence_unit *unit = &s->found.units[u];
    return (unit_row){.unit = unit->unit,
                      .name = s->of.units[u].name,
                      .bursts = unit->bursts,
                      .share = unit->share,
                      .spikes = unit->spikes,
                      .first_ms = unit->first_ms,
                      .backbone = unit->backbone,
                      .position = unit->position,
                      .kept = unit->place.kept,
                      .place_ms = unit->place.place_ms,
                      .jitter_ms = unit->place.jitter_ms,
                      .kept_chance = unit->place.kept_chance,
                      .p = unit->place.p,
                      .q = unit->place.q,
                      .member = unit->member,
                      .order = unit->order};
}

static burst_row row_of_burst(const sequences *s, size_t b)
{
    const sf_sequence_burst *burst = &s->found.bursts[b];
    return (burst_row){.burst = b,
                       .start_ns = burst->span.start_ns,
                       .stop_ns = burst->span.stop_ns,
                       .begin_ns = burst->begin_ns,
                       .units = burst->units,
                       .kept = burst->kept,
                       .mean_similarity = burst->mean_similarity};
}

/* Calls `put` with each row of a table. */
typedef void put_row(void *user, const sf_table *table, const void *row);

static void each_latency(const sequences *s, put_row *put, void *user)
{
    const sf_sequences *f = &s->found;
    for (size_t b = 0; b < f->burst_count; b++)
        for (size_t i = 0; i < f->backbone; i++) {
            uint32_t unit = f->backbone_units[i];
            int64_t first_ns = f->first_ns[unit * f->burst_count + b];
            if (first_ns == INT64_MIN)
                continue;
            latency_row row = {.burst = b,
                               .unit = unit,
                               .name = s->of.units[unit].name,
                               .first_ns = first_ns,
                               .latency_ms = (double)(first_ns - f->bursts[b].begin_ns) * 1e-6};
            for (size_t k = 0; k < f->backbone; k++) {
                int64_t other_ns = f->first_ns[f->backbone_units[k] * f->burst_count + b];
                row.rank += other_ns != INT64_MIN && other_ns < first_ns;
            }
            put(user, &latencies_table, &row);
        }
}

static void each_row(const sequences *s, int table, put_row *put, void *user)
{
    const sf_sequences *f = &s->found;
    for (size_t u = 0; table == TABLE_UNITS && u < f->unit_count; u++) {
        const unit_row row = row_of_unit(s, u);
        put(user, &units_table, &row);
    }
    for (size_t b = 0; table == TABLE_BURSTS && b < f->burst_count; b++) {
        const burst_row row = row_of_burst(s, b);
        put(user, &bursts_table, &row);
    }
    if (table == TABLE_LATENCIES)
        each_latency(s, put, user);
    for (size_t b = 0; table == TABLE_SIMILARITY && b < f->burst_count; b++)
        for (size_t c = b + 1; c < f->burst_count; c++)
            put(user, &similarity_table, &(similarity_row){b, c, f->similarity[b * f->burst_count + c]});
    for (size_t i = 0; table == TABLE_CHAINS && i < s->chain_count; i++)
        put(user, &chains_table, &s->chains[i]);
    if (table == TABLE_SUMMARY) {
        const sequence_row row = row_of_all(s);
        put(user, &sequence_table, &row);
    }
}

/* ---- telling ---- */

static void put_json(void *user, const sf_table *table, const void *row)
{
    sf_table_json_struct(user, table, row);
}

static void write_json(sf_text *text, const void *what)
{
    const sequences *s = what;
    static const char *const keys[] = {"unit_detail", "burst_detail", "latencies", "similarity", "chains"};
    sf_json json = sf_json_start(text);
    const sequence_row all = row_of_all(s);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "recording", s->of.path);
    sf_json_string(&json, "network_method", sf_network_method_names[s->activity.network.method]);
    sf_table_json_fields(&json, &sequence_table, &all);
    for (int table = TABLE_UNITS; table <= TABLE_CHAINS; table++) {
        sf_json_array(&json, keys[table]);
        each_row(s, table, put_json, &json);
        sf_json_end_array(&json);
    }
    app_provenance_json(&json, s->call);
    sf_json_end_object(&json);
}

static void put_csv(void *user, const sf_table *table, const void *row)
{
    app_csv_struct(user, table, row);
}

static void write_csv(sf_text *text, const void *what)
{
    const sequences *s = what;
    static const sf_table *const of[] = {&units_table,      &bursts_table, &latencies_table,
                                         &similarity_table, &chains_table, &sequence_table};
    app_csv csv = app_csv_start_table(text, of[s->table]);
    each_row(s, s->table, put_csv, &csv);
}

static void print_order(sf_text *text, const sequences *s)
{
    const sf_sequences *f = &s->found;
    sf_text_printf(text,
                   "%zu network burst%s by %s, %zu with an order; %zu of %zu unit%s take%s part in %.3g of "
                   "them or more\n",
                   f->burst_count, f->burst_count == 1 ? "" : "s",
                   sf_network_method_names[s->activity.network.method], f->ordered, f->backbone,
                   f->unit_count, f->unit_count == 1 ? "" : "s", f->backbone == 1 ? "s" : "",
                   s->options.backbone);
    if (isnan(f->p)) {
        sf_text_printf(text, "fewer than two bursts have an order, so nothing can be said of sequences\n");
        return;
    }
    sf_text_printf(text,
                   "order     two bursts are similar by %.3g in the mean; p %.3g, bursts played either way",
                   f->mean_similarity, f->p);
    sf_text_printf(text, f->counted ? ", all counted\n" : "\n");
    sf_text_printf(text, "places    %zu unit%s keep%s %s within %.3g ms (q of %.3g or less)", f->placed,
                   f->placed == 1 ? "" : "s", f->placed == 1 ? "s" : "",
                   f->placed == 1 ? "its own" : "theirs", (double)f->window_ns * 1e-6, s->options.alpha);
    if (!isnan(f->placed_p))
        sf_text_printf(text, "; among themselves bursts are similar by %.3g, p %.3g", f->placed_similarity,
                       f->placed_p);
    sf_text_printf(text, "\n");
    if (!f->sequence) {
        sf_text_printf(text, "sequence  none\n");
        return;
    }
    sf_text_printf(text, "sequence ");
    for (uint64_t order = 1; order <= f->members; order++)
        for (size_t u = 0; u < f->unit_count; u++)
            if (f->units[u].order == order)
                sf_text_printf(text, "%s%s", order > 1 ? " > " : " ", s->of.units[u].name);
    sf_text_printf(text, "\n");
}

#define LISTED 10

/* Backbone units by their place: those of a sequence, or the best kept. */
static size_t next_unit(const sequences *s, const bool *shown)
{
    const sf_sequences *f = &s->found;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < f->backbone; i++) {
        size_t u = f->backbone_units[i];
        const sf_sequence_unit *unit = &f->units[u], *than = best < SIZE_MAX ? &f->units[best] : NULL;
        if (shown[u])
            continue;
        if (than == NULL || (unit->member && !than->member) ||
            (unit->member == than->member &&
             (unit->member ? unit->order < than->order : unit->place.p < than->place.p)))
            best = u;
    }
    return best;
}

static int print_units(sf_text *text, const sequences *s, sf_error *error)
{
    static const char *const heads[] = {"#",        "unit",      "name",   "share",     "spikes", "position",
                                        "place ms", "jitter ms", "bursts", "by chance", "q"};
    size_t listed = s->found.members > LISTED ? s->found.members : LISTED;
    bool *shown = sf_alloc(s->found.unit_count, sizeof *shown);
    app_table table = {0};
    if (shown == NULL)
        return sf_fail_memory(error);
    listed = s->call->verbose || s->found.backbone < listed ? s->found.backbone : listed;
    if (listed > 0)
        app_table_heads(&table, heads, 11);
    for (size_t k = 0; k < listed; k++) {
        size_t u = next_unit(s, shown);
        const unit_row row = row_of_unit(s, u);
        shown[u] = true;
        if (row.member)
            app_table_cell(&table, "%" PRIu64, row.order);
        else
            app_table_cell(&table, "-");
        app_table_cell(&table, "#%zu", u);
        app_table_cell(&table, "%s", row.name);
        app_table_real(&table, 3, row.share);
        app_table_real(&table, 3, row.spikes);
        app_table_real(&table, 3, row.position);
        app_table_real(&table, 3, row.place_ms);
        app_table_real(&table, 3, row.jitter_ms);
        app_table_cell(&table, "%" PRIu64, row.kept);
        app_table_real(&table, 3, row.kept_chance);
        app_table_real(&table, 3, row.q);
    }
    if (listed > 0)
        app_table_print(&table, text, 11);
    if (listed < s->found.backbone)
        sf_text_printf(text, "%zu of %zu backbone units; --verbose, --csv and --json list all\n", listed,
                       s->found.backbone);
    sf_free(shown);
    return SF_OK;
}

static void print_chains(sf_text *text, const sequences *s)
{
    static const char *const heads[] = {"chain",  "count",     "place ms", "jitter ms",
                                        "bursts", "by chance", "q",        "place"};
    app_table table = {0};
    app_table_heads(&table, heads, 8);
    for (size_t i = 0; i < s->chain_count; i++) {
        const chain_row *row = &s->chains[i];
        app_table_cell(&table, "%s", row->episode);
        app_table_cell(&table, "%" PRIu64, row->count);
        app_table_real(&table, 3, row->place.place_ms);
        app_table_real(&table, 3, row->place.jitter_ms);
        app_table_cell(&table, "%" PRIu64, row->place.kept);
        app_table_real(&table, 3, row->place.kept_chance);
        app_table_real(&table, 3, row->place.q);
        app_table_cell(&table, "%s", row->fixed ? "fixed" : "-");
    }
    sf_text_printf(text, "\n");
    app_table_print(&table, text, 8);
}

static int print_text(sf_text *text, const void *what, sf_error *error)
{
    const sequences *s = what;
    print_order(text, s);
    sf_text_printf(text, "\n");
    int status = print_units(text, s, error);
    if (s->chain_count > 0)
        print_chains(text, s);
    return status;
}

static const app_telling telling = {write_json, write_csv, print_text};

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    sequences s = {.call = call};
    int status = parse(&s, error);
    if (status == SF_OK)
        status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    s.recording = recording;
    app_tell_seed(call, s.options.seed);
    status = find(&s, error);
    if (status == SF_OK)
        status = app_tell(call, &telling, &s, error);
    free_all(&s);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_sequences = {
    .name = "sequences",
    .group = "look",
    .summary = "the order of units within network bursts, and which of them keep their place",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire simulate demo.h5 --preset sym26 --burst-rate 0.2 && synfire sequences demo.h5",
    .notes =
        "A unit's place in the order of a burst is that of its first and of its last spike together, so that "
        "a "
        "fast unit, which fires first and last, is not early. p: of so similar bursts if each were played "
        "forwards or backwards. A unit keeps its place where it fires within --window in more bursts than "
        "its "
        "own train does that begins anywhere in the burst. There is a sequence where both say so, and where "
        "the units that keep their place are in order among themselves. docs/sequences.md says what "
        "misleads.",
    .options = {options, app_selection_options},
    .rows = {&sf_activity_table, &sf_sequence_table},
    .tables = {&sequence_table, &units_table, &bursts_table, &latencies_table, &similarity_table,
               &chains_table},
    .run = run,
};
