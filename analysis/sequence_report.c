/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sequence_report.h"

#include "analysis/tables.h"
#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"
#include "mine/occurrences.h"

#include <math.h>
#include <stdlib.h>

/* ---- columns ---- */

#define FEW_BURSTS .null = "fewer than two bursts have an order"
#define ROW sf_sequence_summary_row
static const sf_column_row sequence_rows[] = {
    SF_MEMBER_IS(TEXT, order_by, "what the order of a burst is of: first-last, first-spike or rate-peak"),
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
    SF_MEMBER_IS(REAL, without_one,
                 "placed_similarity without one of these: the one without which it is least",
                 .null = "fewer than three units keep their place, or fewer than two bursts have an order"),
    SF_MEMBER_IS(REAL, dealt_p,
                 "of so high a placed_similarity where the spikes of these from the first place to the last "
                 "are dealt anew among them",
                 .unit = "probability", .null = "something else already says that there is no sequence"),
    SF_MEMBER_IS(FLAG, sequence,
                 "three units or more keep their place, p is --alpha or less and placed_p a fifth of it, "
                 "placed_similarity is --least-similarity or more and without_one a quarter of it, and "
                 "dealt_p is --alpha or less"),
    SF_MEMBER_IS(COUNT, members, "units of the sequence: those that keep their place; 0 without one"),
};
#undef ROW

const sf_table sf_sequence_summary_table = {.name = "sequence",
                                            .row = "sequence",
                                            .about = "whether there is a sequence in the bursts",
                                            SF_TABLE_OF(sequence_rows)};

#define NO_BACKBONE .null = "it is not of the backbone"
#define ROW sf_sequence_unit_row
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
                 "where it stands in the order of backbone units, by order_by: -1 before all, 1 "
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
    SF_MEMBER_IS(REAL, shape,
                 "how alike its time courses in two bursts are: mean cosine of its spikes under exponentials "
                 "that decay with the width of a place",
                 NO_BACKBONE ", or fires in one burst"),
    SF_MEMBER_IS(REAL, shape_chance, "shape, where its train begins anywhere in the burst, mean",
                 NO_BACKBONE ", or fires in one burst"),
    SF_MEMBER_IS(FLAG, member, "it is of the sequence"),
    SF_MEMBER_IS(COUNT, order, "its number in the sequence, from 1 on; 0: it is not of it"),
};
#undef ROW

const sf_table sf_sequence_units_table = {.name = "sequence_units",
                                          .row = "sequence_unit",
                                          .about = "every unit within the network bursts",
                                          SF_TABLE_OF(unit_rows)};

#define ROW sf_sequence_burst_row
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

const sf_table sf_sequence_bursts_table = {.name = "sequence_bursts",
                                           .row = "sequence_burst",
                                           .about = "every network burst, in order",
                                           SF_TABLE_OF(burst_rows)};

#define ROW sf_sequence_latency_row
static const sf_column_row latency_rows[] = {
    SF_MEMBER_IS(COUNT, burst, "the burst's number"),
    SF_MEMBER_IS(UNIT, unit, "0-based index of a backbone unit that takes part in it"),
    SF_MEMBER_IS(TEXT, name, "its name"),
    SF_FIELD_IS(TIME, "first_s", first_ns, "its first spike in the burst", .unit = "s"),
    SF_MEMBER_IS(REAL, latency_ms, "from the begin of the burst's sequence to it", .unit = "ms"),
    SF_MEMBER_IS(COUNT, rank, "backbone units whose first spike in the burst is earlier"),
};
#undef ROW

const sf_table sf_sequence_latencies_table = {.name = "sequence_latencies",
                                              .row = "sequence_latency",
                                              .about = "first spikes of backbone units in every burst",
                                              SF_TABLE_OF(latency_rows)};

#define ROW sf_burst_similarity_row
static const sf_column_row similarity_rows[] = {
    SF_MEMBER_IS(COUNT, burst, "number of a burst"),
    SF_MEMBER_IS(COUNT, other, "that of a later one"),
    SF_MEMBER_IS(REAL, similarity, "of their orders: 1 the same, -1 the opposite, over the units of both",
                 .null = "one of them has no order"),
};
#undef ROW

const sf_table sf_burst_similarity_table = {.name = "burst_similarity",
                                            .row = "burst_similarity",
                                            .about = "similarity of every two bursts",
                                            SF_TABLE_OF(similarity_rows)};

#define NO_CHAIN .null = "no occurrence begins in a burst"
#define ROW sf_sequence_chain_row
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

const sf_table sf_sequence_chains_table = {.name = "sequence_chains",
                                           .row = "sequence_chain",
                                           .about = "chains of --episodes, and their place in the bursts",
                                           SF_TABLE_OF(chain_rows)};

/* ---- chains ---- */

static int place_chain(sf_sequence_report *s, const sf_occurrences_columns *told, size_t i, sf_error *error)
{
    const sf_episode *episode = &told->episodes[i];
    sf_sequence_chain_row *row = &s->chains[i];
    sf_text spelt = {0};
    int64_t *starts_ns = sf_occurrences_begins(told, i);
    sf_episode_print(&spelt, episode, &s->recording->units);
    row->count = told->counts[i];
    row->episode = spelt.data;
    sf_recording_episode_id(s->recording, episode, row->id);
    if (starts_ns == NULL || spelt.failed) {
        sf_free(starts_ns);
        return sf_fail_memory(error);
    }
    int status = sf_sequences_place(&row->place, &s->found, s->recording, starts_ns, (size_t)told->counts[i],
                                    episode->units, episode->size, &s->options, i, error);
    sf_free(starts_ns);
    return status;
}

/* Chains whose q is at most alpha have a fixed place. */
static int mark_fixed(sf_sequence_report *s, sf_error *error)
{
    sf_sequence_place **places = sf_alloc(s->chain_count, sizeof *places);
    if (places == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < s->chain_count; i++)
        places[i] = &s->chains[i].place;
    int status = sf_sequences_correct(places, s->chain_count, error);
    for (size_t i = 0; status == SF_OK && i < s->chain_count; i++)
        s->chains[i].fixed = s->chains[i].place.q <= s->options.alpha;
    sf_free(places);
    return status;
}

static int find_chains(sf_sequence_report *s, const sf_episode *episodes, size_t count,
                       const sf_progress *progress, sf_error *error)
{
    sf_occurrences *listed = NULL;
    sf_occurrences_columns told = {.size = sizeof told};
    s->chains = sf_alloc(count, sizeof *s->chains);
    int status = s->chains == NULL
                     ? sf_fail_memory(error)
                     : sf_occurrences_list(&listed, s->recording, episodes, NULL, count, progress, error);
    if (status == SF_OK) sf_occurrences_get_columns(listed, &told);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        s->chain_count++;
        status = place_chain(s, &told, i, error);
    }
    if (status == SF_OK) status = mark_fixed(s, error);
    sf_occurrences_free(listed);
    return status;
}

/* ---- rows ---- */

static sf_sequence_summary_row row_of_all(const sf_sequence_report *s)
{
    const sf_sequences *f = &s->found;
    return (sf_sequence_summary_row){.order_by = sf_sequence_order_names[s->options.order_by],
                                     .bursts = f->burst_count,
                                     .ordered = f->ordered,
                                     .backbone = f->backbone,
                                     .mean_similarity = f->mean_similarity,
                                     .p = f->p,
                                     .counted = f->counted,
                                     .window_ms = (double)f->window_ns * 1e-6,
                                     .placed = f->placed,
                                     .placed_similarity = f->placed_similarity,
                                     .placed_p = f->placed_p,
                                     .without_one = f->without_one,
                                     .dealt_p = f->dealt_p,
                                     .sequence = f->sequence,
                                     .members = f->members};
}

static sf_sequence_unit_row row_of_unit(const sf_sequence_report *s, size_t u)
{
    const sf_sequence_unit *unit = &s->found.units[u];
    return (sf_sequence_unit_row){.unit = unit->unit,
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
                                  .shape = unit->shape.shape,
                                  .shape_chance = unit->shape.chance,
                                  .member = unit->member,
                                  .order = unit->order};
}

static sf_sequence_burst_row row_of_burst(const sf_sequence_report *s, size_t b)
{
    const sf_sequence_burst *burst = &s->found.bursts[b];
    return (sf_sequence_burst_row){.burst = b,
                                   .start_ns = burst->span.start_ns,
                                   .stop_ns = burst->span.stop_ns,
                                   .begin_ns = burst->begin_ns,
                                   .units = burst->units,
                                   .kept = burst->kept,
                                   .mean_similarity = burst->mean_similarity};
}

static int by_first(const void *a, const void *b)
{
    const sf_sequence_latency_row *x = a, *y = b;
    return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

static int by_unit(const void *a, const void *b)
{
    const sf_sequence_latency_row *x = a, *y = b;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* First spikes of backbone units in a burst, by unit; returns their number. */
static size_t list_latencies(sf_sequence_latency_row *rows, const sf_sequence_report *s, size_t b)
{
    const sf_sequences *f = &s->found;
    size_t count = 0;
    for (size_t i = 0; i < f->backbone; i++) {
        uint32_t unit = f->backbone_units[i];
        int64_t first_ns = f->first_ns[unit * f->burst_count + b];
        if (first_ns != INT64_MIN)
            rows[count++] =
                (sf_sequence_latency_row){.burst = b,
                                          .unit = unit,
                                          .name = s->of.units[unit].name,
                                          .first_ns = first_ns,
                                          .latency_ms = (double)(first_ns - f->bursts[b].begin_ns) * 1e-6};
    }
    qsort(rows, count, sizeof *rows, by_first);
    for (size_t i = 1; i < count; i++)
        rows[i].rank = rows[i].first_ns == rows[i - 1].first_ns ? rows[i - 1].rank : i;
    qsort(rows, count, sizeof *rows, by_unit);
    return count;
}

static int list_rows(sf_sequence_report *s, sf_error *error)
{
    const sf_sequences *f = &s->found;
    size_t bursts = f->burst_count, firsts = 0;
    for (size_t b = 0; b < bursts; b++)
        firsts += (size_t)f->bursts[b].units;
    s->all = row_of_all(s);
    s->units = sf_alloc(f->unit_count, sizeof *s->units);
    s->bursts = sf_alloc(bursts, sizeof *s->bursts);
    s->latencies = sf_alloc(firsts, sizeof *s->latencies);
    s->similarities = sf_alloc(bursts * bursts / 2, sizeof *s->similarities);
    if (s->units == NULL || s->bursts == NULL || s->latencies == NULL || s->similarities == NULL)
        return sf_fail_memory(error);
    for (size_t u = 0; u < f->unit_count; u++)
        s->units[u] = row_of_unit(s, u);
    for (size_t b = 0; b < bursts; b++) {
        s->bursts[b] = row_of_burst(s, b);
        s->latency_count += list_latencies(s->latencies + s->latency_count, s, b);
        for (size_t c = b + 1; c < bursts; c++)
            s->similarities[s->similarity_count++] =
                (sf_burst_similarity_row){b, c, f->similarity[b * bursts + c]};
    }
    return SF_OK;
}

int sf_sequence_report_find(sf_sequence_report *report, const sf_recording *recording,
                            const sf_activity_options *activity, const sf_sequence_options *options,
                            const sf_episode *episodes, size_t count, const sf_progress *progress,
                            sf_error *error)
{
    *report = (sf_sequence_report){.recording = recording,
                                   .activity = *activity,
                                   .options = *options,
                                   .of = {.size = sizeof report->of}};
    sf_recording_get_columns(recording, &report->of);
    int status = sf_bursts_find(&report->network, recording, &activity->network, error);
    if (status == SF_OK)
        status = sf_sequences_find(&report->found, recording, &report->network, options, error);
    if (status == SF_OK && count > 0) status = find_chains(report, episodes, count, progress, error);
    if (status == SF_OK) status = list_rows(report, error);
    return status;
}

void sf_sequence_report_free(sf_sequence_report *report)
{
    for (size_t i = 0; i < report->chain_count; i++)
        sf_free(report->chains[i].episode);
    sf_free(report->chains);
    sf_free(report->units);
    sf_free(report->bursts);
    sf_free(report->latencies);
    sf_free(report->similarities);
    sf_sequences_free(&report->found);
    sf_bursts_free(&report->network);
    *report = (sf_sequence_report){0};
}

/* ---- what was found ---- */

sf_table sf_sequence_report_table(const sf_sequence_report *report, size_t which)
{
    const sf_table_rows parts[SF_SEQUENCE_TABLES] = {
        {&sf_sequence_units_table, report->units, report->found.unit_count},
        {&sf_sequence_bursts_table, report->bursts, report->found.burst_count},
        {&sf_sequence_latencies_table, report->latencies, report->latency_count},
        {&sf_burst_similarity_table, report->similarities, report->similarity_count},
        {&sf_sequence_chains_table, report->chains, report->chain_count},
        {&sf_sequence_summary_table, &report->all, 1}};
    return sf_table_with(&parts[which]);
}

#define ROW sf_sequence_report
static const sf_column_row document_rows[] = {
    SF_WORD_IS("network_method", activity.network.method, sf_network_method_word, "--network-method",
               .words = sf_network_method_names),
    SF_COLUMNS_OF(all, &sf_sequence_summary_table),
    SF_STRUCTS_ARE("unit_detail", units, found.unit_count, &sf_sequence_units_table, "every unit"),
    SF_STRUCTS_ARE("burst_detail", bursts, found.burst_count, &sf_sequence_bursts_table,
                   "network bursts, in order"),
    SF_STRUCTS_ARE("latencies", latencies, latency_count, &sf_sequence_latencies_table,
                   "first spikes of backbone units in each burst"),
    SF_STRUCTS_ARE("similarity", similarities, similarity_count, &sf_burst_similarity_table,
                   "every two bursts"),
    SF_STRUCTS_ARE("chains", chains, chain_count, &sf_sequence_chains_table,
                   "those of --episodes; empty without it"),
};
#undef ROW

const sf_table sf_sequence_report_document = {
    .name = "sequences", .about = "in which order units fire in network bursts", SF_TABLE_OF(document_rows)};
