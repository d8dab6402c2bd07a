/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of what a live run publishes: what each is called and means, in every encoding. */
#include "core/message_rows.h"

#include "core/describe/members.h"

#include <math.h>
#include <stdio.h>

static const sf_message_names *told_of(const sf_value *value)
{
    return value->with;
}

static void set_natural(sf_value *value, uint64_t natural)
{
    value->known = true;
    value->count = natural;
}

static void set_integer(sf_value *value, bool known, int64_t integer)
{
    value->known = known;
    value->integer = integer;
}

/* Units whose names are asked for. */
static void set_names(sf_value *value, const uint32_t *units, size_t count)
{
    value->known = true;
    value->group = units;
    value->group_size = count;
    value->units = told_of(value)->stream->units;
}

static void set_name(sf_value *value, uint32_t unit)
{
    const sf_units *units = told_of(value)->stream->units;
    sf_value_set_text(value, unit < units->count ? units->items[unit].name : NULL);
}

#define GETTER(name)                                                                                         \
    static void name(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
#define UNUSED (void)column, (void)of, (void)row, (void)item

/* ---- what several have ---- */

#define WINDOW_IN_NS                                                                                         \
    MEMBER_AS("from_ns", window.start_ns, "start of the window", .is.unit = "ns"),                           \
        MEMBER_AS("to_ns", window.stop_ns, "its end, not included", .is.unit = "ns")
#define WINDOW                                                                                               \
    WINDOW_IN_NS, MEMBER_TIME("from_s", window.start_ns, "s", "from_ns, for people", .is.again = true),      \
        MEMBER_TIME("to_s", window.stop_ns, "s", "to_ns, for people", .is.again = true)

#define P_AND_Q                                                                                              \
    MEMBER(p,                                                                                                \
           "of the newest stretch that it was tested in, by itself: the share of surrogates that count as "  \
           "much",                                                                                           \
           .is.unit = "probability", .is.null = "no test so far, as not_tested says"),                       \
        MEMBER(q,                                                                                            \
               "corrected for everything the run has put to a test, for all stretches so far and for "       \
               "whenever you look",                                                                          \
               .is.unit = "probability", .is.null = "there is no p"),                                        \
        MEMBER(p_age_s, "stream time from the end of that stretch to time_ns", .is.unit = "s",               \
               .is.null = "there is no p")
#define NOT_TESTED MEMBER(not_tested, "why there is no p", .is.null = "there is one")
#define VERDICT P_AND_Q, MEMBER(tests, "stretches that q rests on"), NOT_TESTED

#define ID(...) MEMBER(id, "of the episode: follows from its units, names and delays", __VA_ARGS__)

#define ROW sf_left_out
GETTER(get_limit)
{
    (void)row, (void)item;
    const double *limit = (const void *)((const char *)of + column->member);
    sf_value_set_real(value, *limit > 0 ? *limit : NAN);
}

static const sf_column_row left_out_rows[] = {
    READ("max_p", SF_COLUMN_REAL, get_limit, "the most p", .is.unit = "probability", .is.null = "any will do",
         .member = offsetof(ROW, max_p)),
    READ("max_q", SF_COLUMN_REAL, get_limit, "the most q", .is.unit = "probability", .is.null = "any will do",
         .member = offsetof(ROW, max_q)),
    MEMBER(count, "so many are frequent and beyond the limits"),
    MEMBER(untested, "of these: without a p so far"),
};
#undef ROW

GETTER(get_left_out)
{
    (void)row, (void)item;
    const sf_left_out *left_out = (const void *)((const char *)of + column->member);
    value->known = left_out->max_p > 0 || left_out->max_q > 0;
    value->record.of = left_out;
}

#define LEFT_OUT                                                                                             \
    READ("left_out", SF_COLUMN_RECORD, get_left_out, "what limits of p and q keep back",                     \
         .is.null = "there are no limits", .member = offsetof(ROW, left_out), OF_ROWS(left_out_rows))

#define ROW sf_took
#define TOOK                                                                                                 \
    MEMBER_AS("count", TOOK_IN count, "times that it was done"),                                             \
        MEMBER_AS("busy_ms", TOOK_IN busy_ms, "all of them together", .is.unit = "ms"),                      \
        MEMBER_AS("p50_ms", TOOK_IN p50_ms, "half of them took at most so long, to 2 %", .is.unit = "ms",    \
                  .is.null = "it never was done"),                                                           \
        MEMBER_AS("p99_ms", TOOK_IN p99_ms, "99 of 100 took at most so long, to 2 %", .is.unit = "ms",       \
                  .is.null = "it never was done")
#define LONGEST                                                                                              \
    MEMBER_AS("max_ms", TOOK_IN max_ms, "the longest", .is.unit = "ms", .is.null = "it never was done")

#define TOOK_IN
static const sf_column_row latency_rows[] = {TOOK, LONGEST};
#undef TOOK_IN
#define TOOK_IN took.
#undef ROW

/* ---- every message ---- */

#define ROW sf_message
GETTER(get_version)
{
    UNUSED;
    set_natural(value, SF_MESSAGE_VERSION);
}

GETTER(get_topic)
{
    UNUSED;
    sf_value_set_text(value, sf_topic_name(((const sf_message *)of)->topic));
}

GETTER(get_stream)
{
    UNUSED;
    sf_value_set_text(value, told_of(value)->stream->name);
}

GETTER(get_age)
{
    UNUSED;
    sf_value_set_real(value, sf_message_age_ms(of));
}

static const sf_column_row common_rows[] = {
    READ("v", SF_COLUMN_COUNT, get_version,
         "version of these columns. Columns may be added to a version; if one is removed or changes its "
         "meaning, v grows"),
    READ("topic", SF_COLUMN_TEXT, get_topic, "what it is", .is.words = sf_topic_names),
    MEMBER(seq, "number of the message within its topic, from 1 without holes: a hole in what you receive is "
                "a loss"),
    READ("stream", SF_COLUMN_TEXT, get_stream, "`stream` of the configuration"),
    MEMBER(time_ns, "stream time: the end of the window; of a trigger, the time of its last spike",
           .is.unit = "ns"),
    READ("age_ms", SF_COLUMN_REAL, get_age,
         "wall time since the newest spike in it was due at synfire, when the message was encoded",
         .is.unit = "ms", .is.null = "it rests on no spike"),
};
#undef ROW

const sf_table sf_message_common_table = {.name = "message",
                                          .row = "message",
                                          .about = "what every published message has first",
                                          SF_TABLE_OF(common_rows)};

/* ---- episodes ---- */

#define ROW sf_episode_count
static bool count_units(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    (void)row;
    *length = ((const sf_episode_count *)of)->episode.size - column->element;
    return true;
}

GETTER(get_unit)
{
    (void)column, (void)row;
    set_natural(value, ((const sf_episode_count *)of)->episode.units[item]);
}

GETTER(get_unit_name)
{
    (void)column, (void)row;
    set_name(value, ((const sf_episode_count *)of)->episode.units[item]);
}

GETTER(get_delay)
{
    (void)column, (void)row;
    const sf_delay *delay = &((const sf_episode_count *)of)->episode.delays[item];
    sf_value_set_delay(value, delay->low_ns, delay->high_ns);
}

static const sf_column_row count_rows[] = {
    ID(),
    READ_LIST("units", SF_COLUMN_UNIT, get_unit, count_units, "the chain, first unit first",
              .is.most = SF_EPISODE_MAX_SIZE),
    READ_LIST("names", SF_COLUMN_TEXT, get_unit_name, count_units, "of these units"),
    READ_LIST("delays_ms", SF_COLUMN_PAIR, get_delay, count_units,
              "of each link: above the first and at most the second", .is.unit = "ms",
              .is.most = SF_EPISODE_MAX_SIZE - 1, .element = 1),
    MEMBER(count, "occurrences in the window of which no two overlap; what `synfire count` gives for it"),
    MEMBER(expected, "the count expected by rates, those of the window", .is.null = "not computed"),
    VERDICT,
};
#undef ROW

#define ROW sf_prediction
static const sf_column_row prediction_rows[] = {
    MEMBER(rule, "the name of its file"),
    ID(),
    MEMBER(count, "of its episode"),
    MEMBER(label, "what it predicts", .is.null = "of a partial window, whose count says nothing"),
    MEMBER(changed, "the full window before had another label"),
    MEMBER(before, "that label", .is.null = "it did not change"),
};
#undef ROW

#define ROW sf_episodes_message
static const sf_column_row episodes_rows[] = {
    MEMBER(hop, "number of the hop, from 0. It passes over the empty windows of a silence longer than "
                "`window.silence_s`, and of what a clock stepped over, which are not published"),
    WINDOW,
    MEMBER(partial, "the window is not full: the stream began or ended inside it"),
    MEMBER(spikes, "in the window"),
    MEMBER_RECORDS("episodes", items, count, count_rows, "those that are tracked"),
    MEMBER_RECORDS("rules", rules, rule_count, prediction_rows,
                   "what each rule of the configuration says of the window"),
    LEFT_OUT,
};
#undef ROW

/* ---- triggers, and what became of them ---- */

#define ROW sf_trigger_message
static bool count_spikes(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    (void)column, (void)row;
    *length = ((const sf_trigger_message *)of)->size;
    return true;
}

GETTER(get_spike_time)
{
    (void)column, (void)row;
    set_integer(value, true, ((const sf_trigger_message *)of)->spike_times_ns[item]);
}

static const sf_column_row trigger_rows[] = {
    MEMBER(name, "of the trigger; of an episode under `watch` the episode as the configuration has it, cut "
                 "to 127 bytes"),
    ID(.is.null = "it rests on none"),
    MEMBER(occurrence, "number of this completion in the run, from 1"),
    READ_LIST("spike_times_ns", SF_COLUMN_INTEGER, get_spike_time, count_spikes, "its spikes, first to last",
              .is.unit = "ns", .is.most = SF_EPISODE_MAX_SIZE),
    MEMBER(decided_ns,
           "when it was decided to send it, by the monotonic clock of this machine; on a virtual clock "
           "stream time",
           .is.unit = "ns"),
    VERDICT,
};
#undef ROW

#define ROW sf_decision_message
GETTER(get_trigger_seq)
{
    UNUSED;
    value->count = ((const sf_decision_message *)of)->trigger_seq;
    value->known = value->count > 0;
}

static const char *const decisions[] = {"sent", "sham", "withheld", NULL};

static const sf_column_row decision_rows[] = {
    MEMBER(name, "of the trigger; time_ns is that of the last spike"),
    ID(.is.null = "it rests on none"),
    MEMBER(occurrence, "as of the trigger"),
    MEMBER(outcome, "what became of it; sham: it was treated as if it were sent", .is.words = decisions),
    MEMBER(reason, "why it was withheld", .is.null = "it was not"),
    READ("trigger_seq", SF_COLUMN_COUNT, get_trigger_seq, "`seq` of the trigger's message",
         .is.null = "none was sent"),
    MEMBER(decided_ns, "when that was decided, as of the trigger", .is.unit = "ns"),
    MEMBER(wait_ms, "from when the last spike was due to the decision, a delay that was asked for among it",
           .is.unit = "ms", .is.null = "not known"),
};
#undef ROW

#define ROW sf_delivery_message
static const char *const deliveries[] = {"sent", "failed", "too old", NULL};

static const sf_column_row delivery_rows[] = {
    MEMBER(name, "of the trigger; time_ns is that of its last spike"),
    MEMBER(trigger_seq, "`seq` of its message"),
    MEMBER(sink, "as in the status"),
    MEMBER(outcome,
           "failed: it could not be sent, or the answer was another than expected; too old: its time was up "
           "when its turn came, so it was kept, and the trigger disarmed",
           .is.words = deliveries),
    MEMBER(sent_ns,
           "when it was handed to the socket or line, and answered where an answer is awaited, by the "
           "monotonic clock",
           .is.unit = "ns"),
    MEMBER(latency_ms, "from when its last spike was due to that", .is.unit = "ms", .is.null = "not known"),
};
#undef ROW

/* ---- features ---- */

#define ROW sf_features_message
static const sf_column_row features_rows[] = {
    MEMBER(bin, "its number, from 0. It passes over the empty bins of a silence longer than "
                "`window.silence_s`, and of what a clock stepped over, which are not published, and over "
                "what features_lost of the status counts"),
    WINDOW_IN_NS,
    MEMBER(partial, "of the last one: the stream ended in it"),
    MEMBER(lost,
           "spikes may be missing: a source lost frames or spikes, its clock stepped, or it is silent, from "
           "the bin that was open when that was noticed to the one of the first spike that arrived later; "
           "or a recording that is replayed has a pause in the bin"),
    MEMBERS("values", SF_COLUMN_COUNT, sf_members_whole, values, count,
            "of each name: spikes of each unit, then completions of each episode and of each edge, which "
            "belong to the bin of their last spike"),
};
#undef ROW

#define ROW sf_features_names_message
static const sf_column_row features_names_rows[] = {
    MEMBER_TIME("bin_ms", bin_ns, "ms", "the length of a bin"),
    MEMBER_OF(SF_COLUMN_COUNT, "units", units, "so many of the names are of units, which come first"),
    MEMBER_OF(SF_COLUMN_COUNT, "episodes", episodes, "then so many of episodes"),
    MEMBER_OF(SF_COLUMN_COUNT, "edges", edges, "then so many of edges"),
    MEMBERS("names", SF_COLUMN_TEXT, sf_members_text, names, count,
            "one for each value: of units, episodes and edges as the configuration has them, of triggers"),
};
#undef ROW

/* ---- density ---- */

#define ROW sf_density_message
static bool is_plane(const void *of)
{
    return ((const sf_density_message *)of)->rows > 0;
}

GETTER(get_axis)
{
    UNUSED;
    sf_value_set_text(value, ((const sf_density_message *)of)->log_axis ? "log" : "linear");
}

GETTER(get_bins)
{
    UNUSED;
    const sf_density_message *density = of;
    set_natural(value, is_plane(of) ? density->count / density->rows : density->count);
}

/* Of a plane alone. */
GETTER(get_of_rows)
{
    (void)row, (void)item;
    const double *real = (const void *)((const char *)of + column->member);
    sf_value_set_real(value, is_plane(of) ? *real : NAN);
}

GETTER(get_rows)
{
    UNUSED;
    value->known = is_plane(of);
    value->count = ((const sf_density_message *)of)->rows;
}

static const char *const axes[] = {"linear", "log", NULL};

static const sf_column_row grid_rows[] = {
    READ("axis", SF_COLUMN_TEXT, get_axis, "linear: of the quantity; log, of `isi`: of its natural logarithm",
         .is.words = axes),
    MEMBER_AS("start", grid_start, "the middle of the first bin; of `position` in x"),
    MEMBER_AS("step", grid_step, "the width of each"),
    READ("count", SF_COLUMN_COUNT, get_bins, "bins side by side"),
    READ("row_start", SF_COLUMN_REAL, get_of_rows, "of `position`: the middle of the first bin in y",
         .is.null = "of all else", .member = offsetof(ROW, row_start)),
    READ("row_step", SF_COLUMN_REAL, get_of_rows, "of `position`: the width of each",
         .is.null = "of all else", .member = offsetof(ROW, row_step)),
    READ("rows", SF_COLUMN_COUNT, get_rows, "of `position`: bins in y", .is.null = "of all else"),
};

GETTER(get_itself)
{
    UNUSED;
    value->known = true;
    value->record.of = of;
}

static const sf_column_row density_rows[] = {
    WINDOW,
    MEMBER(quantity, "`isi UNIT`, `delay EPISODE-ID` (both in seconds), `rate UNIT` (Hz) or `position` (um)"),
    MEMBER(h, "the bandwidth, in the unit of the axis; of `position` the factor of the covariance root",
           .is.null = "there is none"),
    MEMBER(outside, "the share of the samples' density that lies outside the grid",
           .is.null = "not computed"),
    READ("grid", SF_COLUMN_RECORD, get_itself, "the bins, in the unit of the axis", OF_ROWS(grid_rows)),
    MEMBERS("values", SF_COLUMN_REAL, sf_members_real, values, count,
            "the density averaged over each bin, in 1 by the unit of the axis; of `position` row after row, "
            "1/um^2"),
};
#undef ROW

/* ---- graph ---- */

#define ROW sf_edge_change
GETTER(get_edge_names)
{
    UNUSED;
    const sf_edge_change *edge = of;
    set_name(value, item == 0 ? edge->from : edge->to);
}

static bool count_two(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    (void)column, (void)of, (void)row;
    *length = 2;
    return true;
}

GETTER(get_edge_delay)
{
    UNUSED;
    const sf_edge_change *edge = of;
    sf_value_set_delay(value, edge->delay.low_ns, edge->delay.high_ns);
}

GETTER(get_edge_count)
{
    UNUSED;
    value->known = !told_of(value)->message->graph.is_tiling;
    value->count = ((const sf_edge_change *)of)->count;
}

static const sf_column_row change_rows[] = {
    MEMBER_OF(SF_COLUMN_UNIT, "from", from, "the unit that it leaves"),
    MEMBER_OF(SF_COLUMN_UNIT, "to", to, "the unit that it leads to"),
    READ_LIST("names", SF_COLUMN_TEXT, get_edge_names, count_two, "of the two"),
    READ("delay_ms", SF_COLUMN_PAIR, get_edge_delay, "above the first and at most the second",
         .is.unit = "ms", .is.first_name = "delay_low_ms", .is.second_name = "delay_high_ms"),
    READ("count", SF_COLUMN_COUNT, get_edge_count, "of the episode from -> to", .is.null = "with sttc"),
    MEMBER(expected, "by rates", .is.null = "with sttc"),
    MEMBER(weight, "count - expected, or the tiling coefficient of a pair that has no direction"),
    MEMBER(p,
           "of that episode, when the change was told, as in `episodes`; with sttc the share of shifted "
           "trains with as high a coefficient",
           .is.unit = "probability", .is.null = "no test so far, as not_tested says"),
    MEMBER(q, "as in `episodes`; with sttc corrected for all pairs of this window", .is.unit = "probability",
           .is.null = "there is no p"),
    MEMBER(p_age_s, "as in `episodes`", .is.unit = "s", .is.null = "there is no p; with sttc"),
    MEMBER(not_tested, "why there is no p", .is.null = "there is one; with sttc"),
    MEMBER(removed, "the edge is gone"),
};
#undef ROW

#define ROW sf_reach_result
GETTER(get_source_name)
{
    UNUSED;
    set_name(value, ((const sf_reach_result *)of)->source);
}

GETTER(get_reached_name)
{
    UNUSED;
    set_name(value, ((const sf_reach_result *)of)->units[item]);
}

GETTER(get_parent)
{
    UNUSED;
    uint32_t parent = ((const sf_reach_result *)of)->parents[item];
    set_integer(value, true, parent == SF_NO_UNIT ? -1 : (int64_t)parent);
}

GETTER(get_path_delay)
{
    UNUSED;
    const sf_delay *delay = &((const sf_reach_result *)of)->delays[item];
    sf_value_set_delay(value, delay->low_ns, delay->high_ns);
}

static const sf_column_row reach_rows[] = {
    MEMBER_OF(SF_COLUMN_UNIT, "source", source, "the unit it starts from"),
    READ("source_name", SF_COLUMN_TEXT, get_source_name, "its name"),
    MEMBERS("units", SF_COLUMN_UNIT, sf_members_whole, units, count,
            "each unit reached, the source among them", .is.first_name = "unit"),
    MEMBERS("names", SF_COLUMN_TEXT, get_reached_name, units, count, "of these"),
    MEMBERS("levels", SF_COLUMN_COUNT, sf_members_whole, levels, count, "in how many steps each is reached",
            .is.first_name = "level"),
    MEMBERS("parents", SF_COLUMN_INTEGER, get_parent, parents, count,
            "from which unit; -1 of the source itself", .is.first_name = "parent"),
    MEMBERS("delays_ms", SF_COLUMN_PAIR, get_path_delay, delays, count,
            "of the path from the source along the parents, the sums of its edges' bounds. Of all paths with "
            "the fewest steps it is the one with the smallest high, then low, then parent",
            .is.unit = "ms", .is.first_name = "delay_low_ms", .is.second_name = "delay_high_ms"),
};
#undef ROW

#define ROW sf_graph_message
GETTER(get_reach_all)
{
    UNUSED;
    value->known = ((const sf_graph_message *)of)->reach_all.reached != NULL;
    value->record.of = of;
}

static const sf_column_row reach_all_rows[] = {
    MEMBERS("reached", SF_COLUMN_COUNT, sf_members_whole, reach_all.reached, unit_count,
            "by unit: how many units it reaches within `reach_all` steps, itself included"),
    MEMBERS("depth", SF_COLUMN_COUNT, sf_members_whole, reach_all.depth, unit_count,
            "by unit: the most steps that one of them takes"),
};

GETTER(get_components)
{
    UNUSED;
    value->known = ((const sf_graph_message *)of)->components.of_unit != NULL;
    value->record.of = of;
}

static const sf_column_row component_rows[] = {
    MEMBER_AS("count", components.count,
              "groups of units that edges join in whatever direction; a unit alone is one"),
    MEMBER_AS("largest", components.largest, "units of the largest"),
    MEMBERS("of_unit", SF_COLUMN_UNIT, sf_members_whole, components.of_unit, unit_count,
            "by unit: the smallest index in its group"),
};
#undef ROW

#define ROW sf_motif_spread
static const sf_column_row spread_rows[] = {
    MEMBER_AS("from_ns", window.start_ns, "start of the window that was compared", .is.unit = "ns"),
    MEMBER_AS("to_ns", window.stop_ns, "its end, not included", .is.unit = "ns"),
    MEMBER(count, "the count in it"),
    MEMBER(graphs, "rewired graphs"),
    MEMBER(mean, "of their counts", .is.null = "not computed"),
    MEMBER(sd, "standard deviation of their counts", .is.null = "not computed"),
    MEMBER(z, "(count - mean) / sd", .is.null = "sd is 0"),
};
#undef ROW

GETTER(get_spread)
{
    (void)row, (void)item;
    const sf_motif_spread *spread = (const void *)((const char *)of + column->member);
    value->known = spread->graphs > 0;
    value->record.of = spread;
}

#define SPREAD                                                                                               \
    READ("rewired", SF_COLUMN_RECORD, get_spread, "the count beside those in rewired graphs",                \
         .is.null = "until the first comparison is done", .member = offsetof(ROW, spread),                   \
         OF_ROWS(spread_rows))

#define ROW sf_motif_result
static const uint32_t *embedding(const void *of, size_t item)
{
    const sf_motif_result *motif = of;
    return motif->embeddings + item * motif->size;
}

GETTER(get_embedding)
{
    (void)column, (void)row;
    value->known = true;
    value->group = embedding(of, item);
    value->group_size = ((const sf_motif_result *)of)->size;
}

GETTER(get_embedding_names)
{
    (void)column, (void)row;
    set_names(value, embedding(of, item), ((const sf_motif_result *)of)->size);
}

static const sf_column_row motif_rows[] = {
    READ("pattern", SF_COLUMN_TEXT, sf_member_text, "as configured", .member = offsetof(ROW, pattern)),
    MEMBER(count, "how often it occurs"),
    MEMBER(truncated, "the search took too long for the hop: count is a lower bound"),
    MEMBERS("embeddings", SF_COLUMN_UNITS, get_embedding, embeddings, kept,
            "up to `limit` of them, each in the order in which the pattern names its vertices"),
    MEMBERS("names", SF_COLUMN_NAMES, get_embedding_names, embeddings, kept, "of these"),
    SPREAD,
};
#undef ROW

#define ROW sf_triad_result
static const char *const triads[] = {"003",  "012", "102",  "021D", "021U", "021C", "111D", "111U", "030T",
                                     "030C", "201", "120D", "120U", "120C", "210",  "300",  NULL};

static const sf_column_row triad_rows[] = {
    MEMBER(name,
           "of the way to join three units, after Holland and Leinhardt: from 003, not at all, to 300, all "
           "both ways",
           .is.words = triads),
    MEMBER(count, "how many sets of three units are joined so"),
    SPREAD,
};
#undef ROW

#define ROW sf_graph_message
GETTER(get_metric)
{
    UNUSED;
    sf_value_set_text(value, ((const sf_graph_message *)of)->is_tiling ? "sttc" : "episodes");
}

static bool count_triads(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    return sf_members_length(column, of, row, length) && *length > 0;
}

GETTER(get_pairs_tested)
{
    UNUSED;
    value->count = ((const sf_graph_message *)of)->pairs_tested;
    value->known = value->count > 0;
}

static const char *const metrics[] = {"episodes", "sttc", NULL};

static const sf_column_row graph_rows[] = {
    WINDOW,
    READ("metric", SF_COLUMN_TEXT, get_metric, "what an edge is", .is.words = metrics),
    MEMBER(threshold, "the count from which a pair is an edge in this window", .is.null = "with sttc"),
    MEMBER_OF(SF_COLUMN_COUNT, "edges", edges, "in the whole graph now"),
    MEMBER_RECORDS("changes", changes, change_count, change_rows, "edges that came, changed or went"),
    MEMBER_RECORDS("bfs", reach, reach_count, reach_rows, "one for each configured `reach`"),
    READ("reach_all", SF_COLUMN_RECORD, get_reach_all, "how far units reach", .is.null = "not asked for",
         OF_ROWS(reach_all_rows)),
    READ("components", SF_COLUMN_RECORD, get_components, "groups of units", .is.null = "not asked for",
         OF_ROWS(component_rows)),
    MEMBER_RECORDS("match", motifs, motif_count, motif_rows, "one for each configured pattern"),
    READ_LIST("census", SF_COLUMN_RECORD, sf_members_record, count_triads,
              "one for each of the 16 ways to join three units", .is.null = "not asked for",
              .member = offsetof(ROW, triads), .count = offsetof(ROW, triad_count),
              .element = sizeof(sf_triad_result), OF_ROWS(triad_rows)),
    LEFT_OUT,
    READ("pairs_tested", SF_COLUMN_COUNT, get_pairs_tested,
         "with sttc: pairs whose coefficients were compared with shifted trains",
         .is.null = "else, and where none was"),
    MEMBER(pairs_by_chance,
           "of these, so many would be edges on average if no two units had anything to do with each other",
           .is.null = "pairs_tested is null; with max_q, which bounds the chance of any in this window"),
};
#undef ROW

/* ---- status ---- */

#define ROW sf_source_status
static bool is_paired(const sf_source_status *source)
{
    return source->pulses != NULL && source->pulse_ns != INT64_MIN;
}

GETTER(get_state)
{
    UNUSED;
    sf_value_set_text(value, sf_source_state_name(((const sf_source_status *)of)->state));
}

GETTER(get_behind)
{
    UNUSED;
    int64_t behind_ns = ((const sf_source_status *)of)->behind_ns;
    sf_value_set_real(value, behind_ns >= 0 ? (double)behind_ns * 1e-9 : NAN);
}

GETTER(get_pulse_time)
{
    (void)row, (void)item;
    set_integer(value, is_paired(of), *(const int64_t *)(const void *)((const char *)of + column->member));
}

GETTER(get_pulse_real)
{
    (void)row, (void)item;
    sf_value_set_real(
        value, is_paired(of) ? *(const double *)(const void *)((const char *)of + column->member) : NAN);
}

static const char *const pulses[] = {"reference", "searching", "ambiguous", "locked", "lost", NULL};
static const char *const proofs[] = {"curve", "none", NULL};

static const sf_column_row source_rows[] = {
    MEMBER(name, "file or endpoint"),
    READ("state", SF_COLUMN_TEXT, get_state,
         "stalled: nothing was heard of the sender for 1 s; lost: for `timeout_s`; failed: it ended with an "
         "error, which the log has. Only a live source stalls, and only in real time",
         .is.words = sf_source_state_names),
    MEMBER_TIME("silent_ms", silent_ns, "ms", "since it was heard last, by wall clock; 0 of a recording"),
    READ("behind_s", SF_COLUMN_REAL, get_behind, "its newest spikes came so long after they were due",
         .is.unit = "s", .is.null = "of a recording, and before the first"),
    MEMBER(spikes, "that came, whatever became of them"),
    MEMBER(held, "spikes at a time that is in doubt now"),
    MEMBER(late, "spikes that came too late to be put in order"),
    MEMBER(duplicate, "spikes that repeat a spike of the same unit and instant"),
    MEMBER(out_of_range, "spikes that name no unit"),
    MEMBER(dropped, "spikes that found the ring full"),
    MEMBER(leaps, "spikes left out because the stream did not go on from their time: broken time stamps"),
    MEMBER_OF(SF_COLUMN_COUNT, "missing_spikes", missing_spikes,
              "that the sender counts in its END and that did not come: lost in gaps and in malformed "
              "frames, or sent before the run joined it",
              .is.null = "until END, and of a recording"),
    MEMBER(markers, "that went through"),
    MEMBER(markers_late, "that did not: too late"),
    MEMBER(markers_dropped, "that did not: no room"),
    MEMBER(markers_left_out, "that did not: a broken time stamp"),
    MEMBER_OF(SF_COLUMN_COUNT, "missing_markers", missing_markers, "as of spikes",
              .is.null = "until END, and of a recording"),
    MEMBER(gaps, "breaks in the sender's sequence numbers"),
    MEMBER(gap_lost, "frames lost in them"),
    MEMBER(malformed,
           "frames with a fault. They are left out, but for one whose sequence number alone was broken"),
    MEMBER(restarts, "new runs of the sender"),
    MEMBER(undone, "times that were in doubt and that the stream did not go on from"),
    MEMBER(steps, "of its clock ahead; stream time leapt with them"),
    MEMBER(epochs, "times that its clock began anew, or went back, and was joined on"),
    MEMBER(shift_ns, "stream time less the source's own time, since the last of these", .is.unit = "ns"),
    MEMBER(ring_fill, "spikes that wait"),
    MEMBER(ring_size, "room for them"),
    MEMBER_TIME("lateness_max_ms", lateness_max_ns, "ms",
                "the most that a spike was behind the newest of its source"),
    MEMBER(ended, "the source has ended"),
    MEMBER(pulses, "of TTL pulses that sources share: reference, or how its clock lies to the reference's",
           .is.null = "it shares none", .is.words = pulses),
    READ("pulse_ns", SF_COLUMN_INTEGER, get_pulse_time,
         "the newest pulse that both have, on the reference's clock", .is.unit = "ns",
         .is.null = "before a lock", .member = offsetof(ROW, pulse_ns)),
    READ("offset_ns", SF_COLUMN_INTEGER, get_pulse_time, "that clock less the source's own there",
         .is.unit = "ns", .is.null = "before a lock", .member = offsetof(ROW, offset_ns)),
    READ("drift_ppm", SF_COLUMN_REAL, get_pulse_real, "how much faster the reference's clock is",
         .is.unit = "ppm", .is.null = "before a lock", .member = offsetof(ROW, drift_ppm)),
    READ("residual_us", SF_COLUMN_REAL, get_pulse_real, "root mean square of the pulses about this line",
         .is.unit = "us", .is.null = "before a lock", .member = offsetof(ROW, residual_us)),
    MEMBER(authentication,
           "curve: sender and run have shown each other their keys; none: whoever answers at the endpoint "
           "is believed, as of every rig",
           .is.null = "it does not come over a network", .is.words = proofs),
};
#undef ROW

#define ROW sf_sink_status
static const char *const health[] = {"ok", "failed", NULL};

static const sf_column_row sink_rows[] = {
    MEMBER(name, "type and address"),
    MEMBER(state, "failed: something could not be written or sent", .is.words = health),
    MEMBER(note, "what failed first, else empty"),
    MEMBER(published, "messages handed on"),
    MEMBER(dropped, "messages lost to a full ring, or to a receiver given up at the end"),
    MEMBER(failed,
           "messages that could not be written; a write to disk that failed later counts as one more"),
    MEMBER(ring_fill, "messages that wait"),
    MEMBER(ring_size, "room for them"),
    MEMBER(spikes, "raw, that a recorder (`hdf5`) has written; of other sinks 0"),
    MEMBER(spikes_lost,
           "raw, that it could not write: recording had failed, or the disk was too slow for too long"),
    MEMBER(markers, "as of spikes"),
    MEMBER(markers_lost, "as of spikes"),
    /* writing or sending a message, without its time in the ring */
    TOOK,
    LONGEST,
    MEMBER(journal_bytes, "of a recorder: bytes that went into its journals; of other sinks 0"),
    MEMBER(syncs, "how often that was brought to the disk"),
    MEMBER(sync_max_ms, "the longest that this took", .is.unit = "ms", .is.null = "it was not done"),
    MEMBER(disk_left_s, "until the recorder's disk is full at the present rate, less what `reserve_mb` keeps",
           .is.unit = "s", .is.null = "not known yet, or no recorder"),
    MEMBER_OF(SF_COLUMN_COUNT, "refused", refused,
              "of a `zmq` sink with keys: connections that showed no key that is let in",
              .is.null = "it asks nobody for one"),
};
#undef ROW

#define ROW sf_stage_status
static const char *const stages[] = {"count",   "discover", "test",   "graph", "density",
                                     "publish", "hop",      "pairs",  "reach", "patterns",
                                     "census",  "mine",     "rewire", "watch", NULL};

static const sf_column_row stage_rows[] = {
    MEMBER(name,
           "a step of a hop; hop, the whole of it; of graph reach, patterns and census; mine and rewire, "
           "which go on in the background; watch, which is done each time that spikes come",
           .is.words = stages),
    MEMBER(last_ms, "how long the newest took", .is.unit = "ms"),
    MEMBER(max_ms, "the longest", .is.unit = "ms"),
    MEMBER(share, "last_ms as a share of a hop", .is.null = "of watch"),
    MEMBER(device,
           "where it was done last: cpu, or a GPU; empty where it was not done yet, or not in one place"),
    MEMBER(missed, "hops in which it took longer than a hop lasts; 0 of mine and rewire, which may"),
    /* by hop, without the newest */
    TOOK,
};
#undef ROW

#define ROW sf_trigger_status
GETTER(get_armed)
{
    UNUSED;
    value->known = true;
    value->flag = ((const sf_trigger_status *)of)->not_armed == NULL;
}

static const sf_column_row armed_rows[] = {
    MEMBER(name, "of the trigger"),
    READ("armed", SF_COLUMN_FLAG, get_armed, "it may be sent"),
    MEMBER(not_armed, "why it may not", .is.null = "it may"),
    MEMBER(armed_s, "how long it stays armed unless that is renewed", .is.unit = "s",
           .is.null = "to the end, or it is not armed"),
    MEMBER(completed, "completions so far: sent + sham + withheld + waiting"),
    MEMBER(sent, "of these"),
    MEMBER(sham, "of these: treated as if they were sent"),
    MEMBER(withheld, "of these"),
    MEMBER(waiting, "of these: for their delay"),
    MEMBER(chance_per_min,
           "completions expected by rates, those of the units in the stream so far, whatever tests say; of "
           "one that `follows` another: how often that one would be sent then",
           .is.unit = "1/min", .is.null = "before the first hop, and of rules"),
};
#undef ROW

#define ROW sf_status_message
static bool count_stages(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    (void)column, (void)row;
    *length = ((const sf_status_message *)of)->stage_count;
    return true;
}

GETTER(get_stage)
{
    (void)column, (void)row;
    value->known = true;
    value->record.of = &((const sf_status_message *)of)->stages[item];
}

GETTER(get_program)
{
    UNUSED;
    sf_text_printf(sf_value_room(value), "synfire %s", sf_version());
    sf_value_set_room(value);
}

GETTER(get_command)
{
    UNUSED;
    const sf_provenance *provenance = told_of(value)->stream->provenance;
    sf_value_set_text(value, provenance != NULL ? provenance->command : NULL);
}

GETTER(get_selection)
{
    UNUSED;
    const sf_provenance *provenance = told_of(value)->stream->provenance;
    if (provenance == NULL || !provenance->of_recording)
        return;
    sf_provenance_words(sf_value_room(value), provenance);
    sf_value_set_room(value);
}

static const char *const health_of_device[] = {"ok", "sick", NULL};

static const sf_column_row status_rows[] = {
    MEMBER(spikes, "that have come to the windows"),
    MEMBER(rate_hz, "all units together, over what was recorded of the window, as a replayed recording says",
           .is.unit = "Hz", .is.null = "nothing was"),
    MEMBERS("unit_rates_hz", SF_COLUMN_REAL, sf_members_real, unit_rates_hz, unit_count,
            "each unit, likewise, by index", .is.unit = "Hz", .is.item_null = "nothing was recorded of it"),
    MEMBER_RECORDS("sources", sources, source_count, source_rows, "one each"),
    MEMBER_RECORDS("sinks", sinks, sink_count, sink_rows, "one each"),
    READ_LIST("stages", SF_COLUMN_RECORD, get_stage, count_stages, "what takes the time",
              OF_ROWS(stage_rows)),
    MEMBER_RECORDS("triggers", triggers, trigger_count, armed_rows, "those with a name"),
    MEMBER(decisions_lost, "decisions that no message tells, for want of room"),
    MEMBER(features_lost, "bins of `features` that no message tells, for want of room"),
    MEMBER(dedup_dropped, "spikes that are recorded and not analysed: repeats (`dedup`)"),
    MEMBER(blank_dropped, "likewise: blanked after a marker (`blank`)"),
    MEMBER(trigger_dropped, "likewise: blanked after a trigger was sent (`blank_ms`)"),
    MEMBER_OF(SF_COLUMN_COUNT, "tracked", tracked, "episodes counted every hop"),
    MEMBER_OF(SF_COLUMN_COUNT, "watched", watched, "episodes watched"),
    MEMBER_OF(SF_COLUMN_COUNT, "edges", edges, "of the graph"),
    MEMBER(window_dropped,
           "spikes that the window path had no room for; the watch saw them, and a recorder has them"),
    MEMBER(watch_overflows,
           "occurrences in progress that the watch gave up because too many were open at once"),
    MEMBER(device, "of the run: cpu, or a GPU, as cuda:0"),
    MEMBER(device_state, "sick: the device has failed, and the CPU does its work from now on",
           .is.words = health_of_device),
    MEMBER(device_note, "how it failed, or why it refused the newest discovery; otherwise empty"),
    MEMBER(device_memory, "of the device that the run's jobs took at most", .is.unit = "bytes"),
    MEMBER(counting_device, "where the tracked episodes were counted"),
    MEMBER(discovery_device, "where the newest discovery that was taken up ran; empty before the first"),
    MEMBER(discovery_ms, "how long it took, from the window's spikes to the episodes to track",
           .is.unit = "ms", .is.null = "before the first"),
    MEMBER_OF(SF_COLUMN_COUNT, "tested", tested,
              "episodes and edges that the newest tested stretch gave a p"),
    MEMBER(tests, "stretches tested"),
    MEMBER(tests_missed, "stretches left out for the time that tests take"),
    MEMBER(test_device, "where the surrogates of the newest test were counted; empty before the first"),
    MEMBER(test_ms, "how long the newest test took", .is.unit = "ms", .is.null = "before the first"),
    MEMBER(test_share, "that as a share of the time that its stretch lasted", .is.null = "before the first"),
    MEMBER(not_tested, "why the newest stretch gave no p at all", .is.null = "it did, or there was none yet"),
    MEMBER(last, "in the run's last message"),
    MEMBER(run_s, "wall time since the run was opened", .is.unit = "s"),
    MEMBER(hop_ms, "how long a hop lasts", .is.unit = "ms"),
    MEMBER(window_fill, "spikes that wait for the windows"),
    MEMBER(window_size, "room for them"),
    MEMBER_OF(SF_COLUMN_COUNT, "control_refused", control_refused,
              "connections to the control socket that showed no key, a wrong one, or one that is not among "
              "its `clients`",
              .is.null = "it asks nobody for one"),
    MEMBER_RECORD("latency", latency, latency_rows,
                  "from when a spike was due until it had been watched, of the oldest that come together. "
                  "Waiting for older spikes (`lateness_ms`) is in it"),
    READ("program", SF_COLUMN_TEXT, get_program, "what publishes this, with its version"),
    READ("command", SF_COLUMN_TEXT, get_command, "the command line it was started by",
         .is.null = "not known"),
    READ("selection", SF_COLUMN_TEXT, get_selection, "what of a recording is replayed, in words",
         .is.null = "of live sources"),
};
#undef ROW

/* ---- all of them ---- */

#define TABLE_OF(topic, rows, what)                                                                          \
    {                                                                                                        \
        .name = "message-" topic, .row = topic, .about = what, SF_TABLE_OF(rows)                             \
    }

static const sf_table tables[SF_TOPIC_COUNT] = {
    [SF_TOPIC_EPISODES] = TABLE_OF("episodes", episodes_rows, "the counts of all tracked episodes, each hop"),
    [SF_TOPIC_TRIGGER] = TABLE_OF("trigger", trigger_rows, "a watched episode has completed"),
    [SF_TOPIC_DENSITY] = TABLE_OF("density", density_rows, "how a quantity is distributed"),
    [SF_TOPIC_GRAPH] = TABLE_OF("graph", graph_rows, "what changed in the connectivity graph"),
    [SF_TOPIC_STATUS] = TABLE_OF("status", status_rows, "how the run is doing"),
    [SF_TOPIC_DECISION] =
        TABLE_OF("decision", decision_rows, "what became of a completion of a trigger with a name"),
    [SF_TOPIC_DELIVERY] =
        TABLE_OF("delivery", delivery_rows, "what a sink did with a trigger that has a name"),
    [SF_TOPIC_FEATURES] = TABLE_OF("features", features_rows, "what was counted in a bin of the stream"),
    [SF_TOPIC_FEATURES_NAMES] =
        TABLE_OF("features_names", features_names_rows, "what the values of features are of"),
};

const sf_table *sf_message_table(sf_topic topic)
{
    return topic < SF_TOPIC_COUNT ? &tables[topic] : NULL;
}

sf_table sf_message_row(const sf_message *message)
{
    sf_table own = tables[message->topic];
    own.of = &message->episodes; /* members of a union begin where it does */
    own.row_count = 1;
    return own;
}

bool sf_message_tell(const sf_message *message, const sf_stream_info *stream, const sf_encoding *as, void *to)
{
    const sf_message_names with = {message, stream};
    sf_table common = sf_message_common_table, own = sf_message_row(message);
    common.of = message;
    as->map(to, NULL, common.column_count + own.column_count);
    bool all = sf_table_tell_row(&common, 0, &with, as, to);
    all = sf_table_tell_row(&own, 0, &with, as, to) && all;
    as->end_map(to);
    return all;
}

void sf_message_to_json(sf_text *text, const sf_message *message, const sf_stream_info *stream)
{
    sf_json json = sf_json_start(text);
    if (!sf_message_tell(message, stream, &sf_json_encoding, &json))
        text->failed = true;
}
