/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of what a live run publishes: what each is called and means, in every encoding. */
#include "core/message_rows.h"

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

/* ---- what several have ---- */

#define WINDOW_IN_NS                                                                                         \
    SF_FIELD_IS(INTEGER, "from_ns", window.start_ns, "start of the window", .unit = "ns"),                   \
        SF_FIELD_IS(INTEGER, "to_ns", window.stop_ns, "its end, not included", .unit = "ns")
#define WINDOW                                                                                               \
    WINDOW_IN_NS,                                                                                            \
        SF_FIELD_IS(TIME, "from_s", window.start_ns, "from_ns, for people", .unit = "s", .again = true),     \
        SF_FIELD_IS(TIME, "to_s", window.stop_ns, "to_ns, for people", .unit = "s", .again = true)

#define P_AND_Q                                                                                              \
    SF_MEMBER_IS(                                                                                            \
        REAL, p,                                                                                             \
        "of the newest stretch that it was tested in, by itself: the share of surrogates that count as "     \
        "much",                                                                                              \
        .unit = "probability", .null = "no test so far, as not_tested says"),                                \
        SF_MEMBER_IS(REAL, q,                                                                                \
                     "corrected for everything the run has put to a test, for all stretches so far and for " \
                     "whenever you look",                                                                    \
                     .unit = "probability", .null = "there is no p"),                                        \
        SF_MEMBER_IS(REAL, p_age_s, "stream time from the end of that stretch to time_ns", .unit = "s",      \
                     .null = "there is no p")
#define NOT_TESTED SF_MEMBER_IS(TEXT, not_tested, "why there is no p", .null = "there is one")
#define LEAST_Q                                                                                              \
    SF_MEMBER_IS(REAL, least_q,                                                                              \
                 "the least that q can be after so many tests, were p in each of them the least that the "   \
                 "surrogates allow: above 0.05 it is too early for a verdict",                               \
                 .unit = "probability", .null = "there is no p")
#define VERDICT P_AND_Q, SF_MEMBER_IS(COUNT, tests, "stretches that q rests on"), LEAST_Q, NOT_TESTED

#define OF_EPISODE "of the episode: follows from its units, names and delays"

#define ROW sf_left_out
SF_GETTER(get_limit)
{
    const double *limit = (const void *)((const char *)of + column->member);
    sf_value_set_real(value, *limit > 0 ? *limit : NAN);
}

static const sf_column_row left_out_rows[] = {
    SF_GOT_FROM(REAL, "max_p", get_limit, max_p, "the most p", .unit = "probability", .null = "any will do"),
    SF_GOT_FROM(REAL, "max_q", get_limit, max_q, "the most q", .unit = "probability", .null = "any will do"),
    SF_MEMBER_IS(COUNT, count, "so many are frequent and beyond the limits"),
    SF_MEMBER_IS(COUNT, untested, "of these: without a p so far"),
};
#undef ROW

SF_GETTER(get_left_out)
{
    const sf_left_out *left_out = (const void *)((const char *)of + column->member);
    value->known = left_out->max_p > 0 || left_out->max_q > 0;
    value->record.of = left_out;
}

#define LEFT_OUT                                                                                             \
    SF_RECORD_FROM("left_out", get_left_out, left_out, left_out_rows, "what limits of p and q keep back",    \
                   .null = "there are no limits")

#define ROW sf_took
#define TOOK                                                                                                 \
    SF_FIELD_IS(COUNT, "count", TOOK_IN count, "times that it was done"),                                    \
        SF_FIELD_IS(REAL, "busy_ms", TOOK_IN busy_ms, "all of them together", .unit = "ms"),                 \
        SF_FIELD_IS(REAL, "p50_ms", TOOK_IN p50_ms, "half of them took at most so long, to 2 %",             \
                    .unit = "ms", .null = "it never was done"),                                              \
        SF_FIELD_IS(REAL, "p99_ms", TOOK_IN p99_ms, "99 of 100 took at most so long, to 2 %", .unit = "ms",  \
                    .null = "it never was done")
#define LONGEST                                                                                              \
    SF_FIELD_IS(REAL, "max_ms", TOOK_IN max_ms, "the longest", .unit = "ms", .null = "it never was done")

#define TOOK_IN
static const sf_column_row latency_rows[] = {TOOK, LONGEST};
#undef TOOK_IN
#define TOOK_IN took.
#undef ROW

/* ---- every message ---- */

#define ROW sf_message
SF_GETTER(get_version)
{
    set_natural(value, SF_MESSAGE_VERSION);
}

SF_GETTER(get_topic)
{
    sf_value_set_text(value, sf_topic_name(((const sf_message *)of)->topic));
}

SF_GETTER(get_stream)
{
    sf_value_set_text(value, told_of(value)->stream->name);
}

SF_GETTER(get_age)
{
    sf_value_set_real(value, sf_message_age_ms(of));
}

static const sf_column_row common_rows[] = {
    SF_GOT_BY(COUNT, "v", get_version,
              "version of these columns. Columns may be added to a version; if one is removed or changes its "
              "meaning, v grows"),
    SF_GOT_BY(TEXT, "topic", get_topic, "what it is", .words = sf_topic_names),
    SF_MEMBER_IS(
        COUNT, seq,
        "number of the message within its topic, from 1 without holes: a hole in what you receive is "
        "a loss"),
    SF_GOT_BY(TEXT, "stream", get_stream, "`stream` of the configuration"),
    SF_MEMBER_IS(INTEGER, time_ns,
                 "stream time: the end of the window; of a trigger, the time of its last spike",
                 .unit = "ns"),
    SF_GOT_BY(REAL, "age_ms", get_age,
              "wall time since the newest spike in it was due at synfire, when the message was encoded",
              .unit = "ms", .null = "it rests on no spike"),
};
#undef ROW

const sf_table sf_message_common_table = {.name = "message",
                                          .row = "message",
                                          .about = "what every published message has first",
                                          SF_TABLE_OF(common_rows)};

/* ---- episodes ---- */

#define ROW sf_episode_count
SF_LENGTH(count_units)
{
    *length = ((const sf_episode_count *)of)->episode.size;
    return true;
}

SF_LENGTH(count_links)
{
    *length = ((const sf_episode_count *)of)->episode.size - 1;
    return true;
}

SF_GETTER(get_unit)
{
    set_natural(value, ((const sf_episode_count *)of)->episode.units[item]);
}

SF_GETTER(get_unit_name)
{
    set_name(value, ((const sf_episode_count *)of)->episode.units[item]);
}

SF_GETTER(get_delay)
{
    const sf_delay *delay = &((const sf_episode_count *)of)->episode.delays[item];
    sf_value_set_delay(value, delay->low_ns, delay->high_ns);
}

SF_GETTER(get_folded)
{
    const char *parent = ((const sf_episode_count *)of)->folded_under;
    sf_value_set_text(value, parent[0] != '\0' ? parent : NULL);
}

static const sf_column_row count_rows[] = {
    SF_MEMBER_IS(TEXT, id, OF_EPISODE),
    SF_LIST_BY(UNIT, "units", get_unit, count_units, "the chain, first unit first",
               .most = SF_EPISODE_MAX_SIZE),
    SF_LIST_BY(TEXT, "names", get_unit_name, count_units, "of these units"),
    SF_LIST_BY(PAIR, "delays_ms", get_delay, count_links,
               "of each link: above the first and at most the second", .unit = "ms",
               .most = SF_EPISODE_MAX_SIZE - 1),
    SF_MEMBER_IS(COUNT, count,
                 "occurrences in the window of which no two overlap; what `synfire count` gives for it"),
    SF_MEMBER_IS(REAL, expected, "the count expected by rates, those of the window", .null = "not computed"),
    VERDICT,
    SF_MEMBER_IS(COUNT, standing,
                 "its place by what stands out most, from 1: first what has a q of 0.05 or less, then what "
                 "is part of no other episode, then what counts more than by chance, then the longer one, "
                 "then the one furthest above chance, by "
                 "(count - expected) / sqrt(expected), with at least 1 for the root"),
    SF_GOT_BY(TEXT, "folded_under", get_folded,
              "id of the longer episode that with chance accounts for this one; of one with a q of 0.05 or "
              "less only a longer one that has this, too",
              .null = "there is none", .bytes = SF_EPISODE_ID_SIZE - 1),
};
#undef ROW

#define ROW sf_prediction
static const sf_column_row prediction_rows[] = {
    SF_MEMBER_IS(TEXT, rule, "the name of its file"),
    SF_MEMBER_IS(TEXT, id, OF_EPISODE),
    SF_MEMBER_IS(COUNT, count, "of its episode"),
    SF_MEMBER_IS(TEXT, label, "what it predicts", .null = "of a partial window, whose count says nothing"),
    SF_MEMBER_IS(FLAG, changed, "the full window before had another label"),
    SF_MEMBER_IS(TEXT, before, "that label", .null = "it did not change"),
};
#undef ROW

#define LIST_AGE                                                                                             \
    SF_MEMBER_IS(REAL, list_age_s,                                                                           \
                 "stream time from the end of the window in which discovery found the list of tracked "      \
                 "episodes to time_ns",                                                                      \
                 .unit = "s", .null = "discovery has found nothing yet")

#define ROW sf_episodes_message
static const sf_column_row episodes_rows[] = {
    SF_MEMBER_IS(COUNT, hop,
                 "number of the hop, from 0. It passes over the empty windows of a silence longer than "
                 "`window.silence_s`, and of what a clock stepped over, which are not published"),
    WINDOW,
    SF_MEMBER_IS(FLAG, partial, "the window is not full: the stream began or ended inside it"),
    SF_MEMBER_IS(COUNT, spikes, "in the window"),
    SF_RECORDS_OF("episodes", items, count, count_rows,
                  "those that are tracked; where a sink has `top`, those of them that stand out most"),
    SF_FIELD_IS(COUNT, "counted", counted, "so many are tracked and within the limits of left_out"),
    SF_FIELD_IS(COUNT, "chains", chains,
                "of those with a q of 0.05 or less, within the limits or not: that are part of no other"),
    SF_FIELD_IS(COUNT, "significant_parts", parts,
                "likewise: that are folded under one of these, directly or by way of others"),
    SF_RECORDS_OF("rules", rules, rule_count, prediction_rows,
                  "what each rule of the configuration says of the window"),
    LEFT_OUT,
    LIST_AGE,
};
#undef ROW

/* ---- triggers, and what became of them ---- */

#define ROW sf_trigger_message
SF_LENGTH(count_spikes)
{
    *length = ((const sf_trigger_message *)of)->size;
    return true;
}

SF_GETTER(get_spike_time)
{
    set_integer(value, true, ((const sf_trigger_message *)of)->spike_times_ns[item]);
}

static const sf_column_row trigger_rows[] = {
    SF_MEMBER_IS(TEXT, name,
                 "of the trigger; of an episode under `watch` the episode as the configuration has it, cut "
                 "to 127 bytes"),
    SF_MEMBER_IS(TEXT, id, OF_EPISODE, .null = "it rests on none"),
    SF_MEMBER_IS(COUNT, occurrence, "number of this completion in the run, from 1"),
    SF_LIST_BY(INTEGER, "spike_times_ns", get_spike_time, count_spikes, "its spikes, first to last",
               .unit = "ns", .most = SF_EPISODE_MAX_SIZE),
    SF_MEMBER_IS(INTEGER, decided_ns,
                 "when it was decided to send it, by the monotonic clock of this machine; on a virtual clock "
                 "stream time",
                 .unit = "ns"),
    VERDICT,
};
#undef ROW

#define ROW sf_decision_message
SF_GETTER(get_trigger_seq)
{
    value->count = ((const sf_decision_message *)of)->trigger_seq;
    value->known = value->count > 0;
}

const char *const sf_decision_words[] = {"sent", "sham", "withheld", NULL};

static const sf_column_row decision_rows[] = {
    SF_MEMBER_IS(TEXT, name, "of the trigger; time_ns is that of the last spike"),
    SF_MEMBER_IS(TEXT, id, OF_EPISODE, .null = "it rests on none"),
    SF_MEMBER_IS(COUNT, occurrence, "as of the trigger"),
    SF_MEMBER_IS(TEXT, outcome, "what became of it; sham: it was treated as if it were sent",
                 .words = sf_decision_words),
    SF_MEMBER_IS(TEXT, reason, "why it was withheld", .null = "it was not"),
    SF_GOT_BY(COUNT, "trigger_seq", get_trigger_seq, "`seq` of the trigger's message",
              .null = "none was sent"),
    SF_MEMBER_IS(INTEGER, decided_ns, "when that was decided, as of the trigger", .unit = "ns"),
    SF_MEMBER_IS(REAL, wait_ms,
                 "from when the last spike was due to the decision, a delay that was asked for among it",
                 .unit = "ms", .null = "not known"),
};
#undef ROW

#define ROW sf_delivery_message
static const char *const deliveries[] = {"sent", "failed", "too old", NULL};

static const sf_column_row delivery_rows[] = {
    SF_MEMBER_IS(TEXT, name, "of the trigger; time_ns is that of its last spike"),
    SF_MEMBER_IS(COUNT, trigger_seq, "`seq` of its message"),
    SF_MEMBER_IS(TEXT, sink, "as in the status"),
    SF_MEMBER_IS(
        TEXT, outcome,
        "failed: it could not be sent, or the answer was another than expected; too old: its time was up "
        "when its turn came, so it was kept, and the trigger disarmed",
        .words = deliveries),
    SF_MEMBER_IS(INTEGER, sent_ns,
                 "when it was handed to the socket or line, and answered where an answer is awaited, by the "
                 "monotonic clock",
                 .unit = "ns"),
    SF_MEMBER_IS(REAL, latency_ms, "from when its last spike was due to that", .unit = "ms",
                 .null = "not known"),
};
#undef ROW

/* ---- features ---- */

#define ROW sf_features_message
static const sf_column_row features_rows[] = {
    SF_MEMBER_IS(COUNT, bin,
                 "its number, from 0. It passes over the empty bins of a silence longer than "
                 "`window.silence_s`, and of what a clock stepped over, which are not published, and over "
                 "what features_lost of the status counts"),
    WINDOW_IN_NS,
    SF_MEMBER_IS(FLAG, partial, "of the last one: the stream ended in it"),
    SF_MEMBER_IS(
        FLAG, lost,
        "spikes may be missing: a source lost frames or spikes, its clock stepped, or it is silent, from "
        "the bin that was open when that was noticed to the one of the first spike that arrived later; "
        "or a recording that is replayed has a pause in the bin"),
    SF_ITEMS_ARE(
        COUNT, "values", values, count,
        "of each name: spikes of each unit, then completions of each episode and of each edge, which "
        "belong to the bin of their last spike"),
};
#undef ROW

static const char *const burst_events[] = {"begin", "end", NULL};

#define ROW sf_burst_message
static const sf_column_row burst_rows[] = {
    SF_MEMBER_IS(TEXT, event,
                 "begin: the burst is known by the spike at time_ns; end: none after time_ns is of it",
                 .words = burst_events),
    SF_MEMBER_IS(COUNT, burst, "its number in the run, from 0"),
    SF_MEMBER_IS(INTEGER, first_ns, "its first spike", .unit = "ns"),
    SF_MEMBER_IS(INTEGER, last_ns, "its last spike, of one that begins so far, as what follows",
                 .unit = "ns"),
    SF_MEMBER_IS(COUNT, spikes, "spikes in it"),
    SF_MEMBER_IS(COUNT, units, "units that fire in it"),
};
#undef ROW

#define ROW sf_response_unit
SF_GETTER(get_response_name)
{
    set_name(value, ((const sf_response_unit *)of)->unit);
}

static const sf_column_row response_unit_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit"),
    SF_GOT_BY(TEXT, "name", get_response_name, "its name"),
    SF_MEMBER_IS(COUNT, spikes, "spikes in response windows"),
    SF_MEMBER_IS(COUNT, baseline_spikes, "spikes in all windows before markers"),
    SF_MEMBER_IS(REAL, reliability, "share of trials with a spike in the response window",
                 .unit = "probability"),
    SF_MEMBER_IS(REAL, baseline_reliability, "share of the windows before with a spike",
                 .unit = "probability"),
    SF_MEMBER_IS(REAL, latency_ms, "first spike of the response window after the marker, median",
                 .unit = "ms", .null = "there is no spike in any"),
    SF_MEMBER_IS(REAL, jitter_ms, "standard deviation of these first spikes", .unit = "ms",
                 .null = "of fewer than two trials with a spike"),
    SF_ITEMS_ARE(COUNT, "bins", bins, bin_count, "spikes of each bin of its histogram"),
};
#undef ROW

#define ROW sf_response_chain
static const sf_column_row response_chain_rows[] = {
    SF_MEMBER_IS(TEXT, id, OF_EPISODE),
    SF_MEMBER_IS(TEXT, name,
                 "of its trigger; of an episode under `watch` as the configuration has it, cut to 127 bytes"),
    SF_FIELD_IS(COUNT, "spikes", counts.spikes, "occurrences whose first spike is in a response window"),
    SF_FIELD_IS(COUNT, "baseline_spikes", counts.baseline_spikes, "likewise in the windows before markers"),
    SF_FIELD_IS(REAL, "reliability", counts.reliability,
                "share of trials with such an occurrence in the response window", .unit = "probability"),
    SF_FIELD_IS(REAL, "baseline_reliability", counts.baseline_reliability,
                "share of the windows before with one", .unit = "probability"),
    SF_FIELD_IS(REAL, "latency_ms", counts.latency_ms,
                "first such spike of the response window after the marker, median", .unit = "ms",
                .null = "there is none"),
    SF_FIELD_IS(REAL, "jitter_ms", counts.jitter_ms, "standard deviation of these", .unit = "ms",
                .null = "of fewer than two trials with one"),
    SF_ITEMS_ARE(COUNT, "bins", counts.bins, counts.bin_count, "first spikes in each bin of its histogram"),
};
#undef ROW

#define ROW sf_response_message
static const sf_column_row response_rows[] = {
    SF_MEMBER_IS(TEXT, marker, "the stimulus, as the configuration has it"),
    SF_MEMBER_IS(INTEGER, marker_ns, "of this trial", .unit = "ns"),
    SF_MEMBER_IS(COUNT, trials, "trials so far: markers whose windows were recorded at some offset"),
    SF_MEMBER_IS(COUNT, markers, "markers of that name so far whose windows are over"),
    SF_MEMBER_IS(REAL, exposed, "share of the windows of this trial that was recorded and not blanked",
                 .unit = "probability"),
    SF_MEMBER_IS(COUNT, spikes, "spikes of all units in the response window of this trial"),
    SF_MEMBER_IS(COUNT, baseline_spikes, "spikes of all units in all of its windows before the marker"),
    SF_FIELD_IS(COUNT, "answers", answers, "units with a spike in its response window"),
    SF_FIELD_IS(TIME, "exposed_s", exposed_ns, "of the response windows of all trials so far", .unit = "s"),
    SF_MEMBER_IS(COUNT, baseline_windows, "windows before each marker"),
    SF_FIELD_IS(TIME, "from_ms", first_ns, "start of the first bin of histograms, after the marker",
                .unit = "ms"),
    SF_FIELD_IS(TIME, "bin_ms", bin_ns, "the length of a bin", .unit = "ms"),
    SF_ITEMS_ARE(INTEGER, "bins_exposed_ns", bin_exposed_ns, bin_count,
                 "what was recorded of each bin, of all trials so far", .unit = "ns"),
    SF_RECORDS_OF("units", units, unit_count, response_unit_rows, "every unit, in all trials so far"),
    SF_RECORDS_OF(
        "chains", chains, chain_count, response_chain_rows,
        "every episode that is watched, in all trials so far: its occurrences, by their first spikes"),
};
#undef ROW

#define ROW sf_live_caution
static const sf_column_row caution_rows[] = {
    SF_MEMBER_IS(TEXT, caution, "why, in a word"),
    SF_MEMBER_IS(TEXT, text, "why, in a sentence"),
};
#undef ROW

#define NO_RATIO .null = "it is not known: see `cautions`"
#define NO_INTERVAL .null = "there is none: see `cautions`"
#define ROW sf_criticality_message
static const sf_column_row criticality_rows[] = {
    WINDOW,
    SF_MEMBER_IS(FLAG, partial, "the stream began in the window"),
    SF_MEMBER_IS(COUNT, spikes, "spikes in the window"),
    SF_MEMBER_IS(REAL, duration_s, "of the window, what was recorded and not blanked", .unit = "s"),
    SF_MEMBER_IS(REAL, branching_ratio,
                 "spikes that a spike brings about in the next bin, by multistep regression", NO_RATIO),
    SF_MEMBER_IS(REAL, branching_low, "lower end of its 95 % interval", NO_INTERVAL),
    SF_MEMBER_IS(REAL, branching_high, "upper end of its 95 % interval", NO_INTERVAL),
    SF_MEMBER_IS(REAL, branching_ratio_conventional,
                 "the same by one step: too small, as not all units are recorded", NO_RATIO),
    SF_MEMBER_IS(REAL, timescale_s, "time constant of the autocorrelation, -bin / ln branching ratio",
                 .unit = "s", NO_RATIO),
    SF_MEMBER_IS(REAL, timescale_low_s, "lower end of its 95 % interval", .unit = "s", NO_INTERVAL),
    SF_MEMBER_IS(REAL, timescale_high_s, "upper end of its 95 % interval", .unit = "s", NO_INTERVAL),
    SF_MEMBER_IS(REAL, own_share,
                 "share of the covariance up to the time constant that units have each by itself", NO_RATIO),
    SF_MEMBER_IS(COUNT, lags, "bins that the ratio was fitted to"),
    SF_MEMBER_IS(COUNT, blocks, "blocks that its interval was drawn from"),
    SF_MEMBER_IS(COUNT, missed, "windows so far that were due while the one before was still looked at"),
    SF_RECORDS_OF("cautions", cautions, caution_count, caution_rows, "why the ratio may not be believed"),
};
#undef ROW

#define ROW sf_features_names_message
static const sf_column_row features_names_rows[] = {
    SF_FIELD_IS(TIME, "bin_ms", bin_ns, "the length of a bin", .unit = "ms"),
    SF_FIELD_IS(COUNT, "units", units, "so many of the names are of units, which come first"),
    SF_FIELD_IS(COUNT, "episodes", episodes, "then so many of episodes"),
    SF_FIELD_IS(COUNT, "edges", edges, "then so many of edges"),
    SF_ITEMS_ARE(
        TEXT, "names", names, count,
        "one for each value: of units, episodes and edges as the configuration has them, of triggers, and "
        "last `bursts` where features.bursts is set: spikes of network bursts, from the one on by which a "
        "burst is known"),
};
#undef ROW

/* ---- density ---- */

#define ROW sf_density_message
static bool is_plane(const void *of)
{
    return ((const sf_density_message *)of)->rows > 0;
}

SF_GETTER(get_axis)
{
    sf_value_set_text(value, ((const sf_density_message *)of)->log_axis ? "log" : "linear");
}

SF_GETTER(get_bins)
{
    const sf_density_message *density = of;
    set_natural(value, is_plane(of) ? density->count / density->rows : density->count);
}

/* Of a plane alone. */
SF_GETTER(get_of_rows)
{
    const double *real = (const void *)((const char *)of + column->member);
    sf_value_set_real(value, is_plane(of) ? *real : NAN);
}

SF_GETTER(get_rows)
{
    value->known = is_plane(of);
    value->count = ((const sf_density_message *)of)->rows;
}

static const char *const axes[] = {"linear", "log", NULL};

static const sf_column_row grid_rows[] = {
    SF_GOT_BY(TEXT, "axis", get_axis, "linear: of the quantity; log, of `isi`: of its natural logarithm",
              .words = axes),
    SF_FIELD_IS(REAL, "start", grid_start, "the middle of the first bin; of `position` in x"),
    SF_FIELD_IS(REAL, "step", grid_step, "the width of each"),
    SF_GOT_BY(COUNT, "count", get_bins, "bins side by side"),
    SF_GOT_FROM(REAL, "row_start", get_of_rows, row_start, "of `position`: the middle of the first bin in y",
                .null = "of all else"),
    SF_GOT_FROM(REAL, "row_step", get_of_rows, row_step, "of `position`: the width of each",
                .null = "of all else"),
    SF_GOT_BY(COUNT, "rows", get_rows, "of `position`: bins in y", .null = "of all else"),
};

static const sf_column_row density_rows[] = {
    WINDOW,
    SF_MEMBER_IS(TEXT, quantity,
                 "`isi UNIT`, `delay EPISODE-ID` (both in seconds), `rate UNIT` (Hz) or `position` (um)"),
    SF_MEMBER_IS(REAL, h,
                 "the bandwidth, in the unit of the axis; of `position` the factor of the covariance root",
                 .null = "there is none"),
    SF_MEMBER_IS(REAL, outside, "the share of the samples' density that lies outside the grid",
                 .null = "not computed"),
    SF_RECORD_BY("grid", sf_column_own_row, grid_rows, "the bins, in the unit of the axis"),
    SF_ITEMS_ARE(
        REAL, "values", values, count,
        "the density averaged over each bin, in 1 by the unit of the axis; of `position` row after row, "
        "1/um^2"),
};
#undef ROW

/* ---- graph ---- */

#define ROW sf_edge_change
SF_GETTER(get_from_name)
{
    set_name(value, ((const sf_edge_change *)of)->from);
}

SF_GETTER(get_to_name)
{
    set_name(value, ((const sf_edge_change *)of)->to);
}

SF_GETTER(get_edge_delay)
{
    const sf_edge_change *edge = of;
    sf_value_set_delay(value, edge->delay.low_ns, edge->delay.high_ns);
}

SF_GETTER(get_edge_count)
{
    value->known = !told_of(value)->message->graph.is_tiling;
    value->count = ((const sf_edge_change *)of)->count;
}

static const sf_column_row change_rows[] = {
    SF_FIELD_IS(UNIT, "from", from, "the unit that it leaves"),
    SF_GOT_BY(TEXT, "from_name", get_from_name, "its name"),
    SF_FIELD_IS(UNIT, "to", to, "the unit that it leads to"),
    SF_GOT_BY(TEXT, "to_name", get_to_name, "its name"),
    SF_GOT_BY(PAIR, "delay_ms", get_edge_delay, "above the first and at most the second", .unit = "ms",
              .first_name = "delay_low_ms", .second_name = "delay_high_ms"),
    SF_GOT_BY(COUNT, "count", get_edge_count, "of the episode from -> to", .null = "with sttc"),
    SF_MEMBER_IS(REAL, expected, "by rates", .null = "with sttc"),
    SF_MEMBER_IS(REAL, weight, "count - expected, or the tiling coefficient of a pair that has no direction"),
    SF_MEMBER_IS(
        REAL, p,
        "of that episode, when the change was told, as in `episodes`; with sttc the share of shifted "
        "trains with as high a coefficient",
        .unit = "probability", .null = "no test so far, as not_tested says"),
    SF_MEMBER_IS(REAL, q, "as in `episodes`; with sttc corrected for all pairs of this window",
                 .unit = "probability", .null = "there is no p"),
    SF_MEMBER_IS(REAL, p_age_s, "as in `episodes`", .unit = "s", .null = "there is no p; with sttc"),
    SF_MEMBER_IS(REAL, least_q, "as in `episodes`", .unit = "probability",
                 .null = "there is no p; with sttc"),
    SF_MEMBER_IS(TEXT, not_tested, "why there is no p", .null = "there is one; with sttc"),
    SF_MEMBER_IS(FLAG, removed, "the edge is gone"),
};
#undef ROW

#define ROW sf_reach_result
SF_GETTER(get_source_name)
{
    set_name(value, ((const sf_reach_result *)of)->source);
}

SF_GETTER(get_reached_name)
{
    set_name(value, ((const sf_reach_result *)of)->units[item]);
}

SF_GETTER(get_parent)
{
    uint32_t parent = ((const sf_reach_result *)of)->parents[item];
    set_integer(value, true, parent == SF_NO_UNIT ? -1 : (int64_t)parent);
}

SF_GETTER(get_path_delay)
{
    const sf_delay *delay = &((const sf_reach_result *)of)->delays[item];
    sf_value_set_delay(value, delay->low_ns, delay->high_ns);
}

static const sf_column_row reach_rows[] = {
    SF_FIELD_IS(UNIT, "source", source, "the unit it starts from"),
    SF_GOT_BY(TEXT, "source_name", get_source_name, "its name"),
    SF_ITEMS_ARE(UNIT, "units", units, count, "each unit reached, the source among them",
                 .first_name = "unit"),
    SF_ITEMS_BY(TEXT, "names", get_reached_name, units, count, "of these"),
    SF_ITEMS_ARE(COUNT, "levels", levels, count, "in how many steps each is reached", .first_name = "level"),
    SF_ITEMS_BY(INTEGER, "parents", get_parent, parents, count, "from which unit; -1 of the source itself",
                .first_name = "parent"),
    SF_ITEMS_BY(
        PAIR, "delays_ms", get_path_delay, delays, count,
        "of the path from the source along the parents, the sums of its edges' bounds. Of all paths with "
        "the fewest steps it is the one with the smallest high, then low, then parent",
        .unit = "ms", .first_name = "delay_low_ms", .second_name = "delay_high_ms"),
};
#undef ROW

#define ROW sf_graph_message
SF_GETTER(get_reach_all)
{
    value->known = ((const sf_graph_message *)of)->reach_all.reached != NULL;
    value->record.of = of;
}

static const sf_column_row reach_all_rows[] = {
    SF_ITEMS_ARE(COUNT, "reached", reach_all.reached, unit_count,
                 "by unit: how many units it reaches within `reach_all` steps, itself included"),
    SF_ITEMS_ARE(COUNT, "depth", reach_all.depth, unit_count,
                 "by unit: the most steps that one of them takes"),
};

SF_GETTER(get_components)
{
    value->known = ((const sf_graph_message *)of)->components.of_unit != NULL;
    value->record.of = of;
}

static const sf_column_row component_rows[] = {
    SF_FIELD_IS(COUNT, "count", components.count,
                "groups of units that edges join in whatever direction; a unit alone is one"),
    SF_FIELD_IS(COUNT, "largest", components.largest, "units of the largest"),
    SF_ITEMS_ARE(UNIT, "of_unit", components.of_unit, unit_count, "by unit: the smallest index in its group"),
};
#undef ROW

#define ROW sf_motif_spread
static const sf_column_row spread_rows[] = {
    SF_FIELD_IS(INTEGER, "from_ns", window.start_ns, "start of the window that was compared", .unit = "ns"),
    SF_FIELD_IS(INTEGER, "to_ns", window.stop_ns, "its end, not included", .unit = "ns"),
    SF_MEMBER_IS(COUNT, count, "the count in it"),
    SF_MEMBER_IS(COUNT, graphs, "rewired graphs"),
    SF_MEMBER_IS(REAL, mean, "of their counts", .null = "not computed"),
    SF_MEMBER_IS(REAL, sd, "standard deviation of their counts", .null = "not computed"),
    SF_MEMBER_IS(REAL, z, "(count - mean) / sd", .null = "sd is 0"),
};
#undef ROW

SF_GETTER(get_spread)
{
    const sf_motif_spread *spread = (const void *)((const char *)of + column->member);
    value->known = spread->graphs > 0;
    value->record.of = spread;
}

#define SPREAD                                                                                               \
    SF_RECORD_FROM("rewired", get_spread, spread, spread_rows, "the count beside those in rewired graphs",   \
                   .null = "until the first comparison is done")

#define ROW sf_motif_result
static const uint32_t *embedding(const void *of, size_t item)
{
    const sf_motif_result *motif = of;
    return motif->embeddings + item * motif->size;
}

SF_GETTER(get_embedding)
{
    value->known = true;
    value->group = embedding(of, item);
    value->group_size = ((const sf_motif_result *)of)->size;
}

SF_GETTER(get_embedding_names)
{
    set_names(value, embedding(of, item), ((const sf_motif_result *)of)->size);
}

static const sf_column_row motif_rows[] = {
    SF_MEMBER_IS(TEXT, pattern, "as configured"),
    SF_MEMBER_IS(COUNT, count, "how often it occurs"),
    SF_MEMBER_IS(FLAG, truncated, "the search took too long for the hop: count is a lower bound"),
    SF_ITEMS_BY(UNITS, "embeddings", get_embedding, embeddings, kept,
                "up to `limit` of them, each in the order in which the pattern names its vertices"),
    SF_ITEMS_BY(NAMES, "names", get_embedding_names, embeddings, kept, "of these"),
    SPREAD,
};
#undef ROW

#define ROW sf_triad_result
static const char *const triads[] = {"003",  "012", "102",  "021D", "021U", "021C", "111D", "111U", "030T",
                                     "030C", "201", "120D", "120U", "120C", "210",  "300",  NULL};

static const sf_column_row triad_rows[] = {
    SF_MEMBER_IS(
        TEXT, name,
        "of the way to join three units, after Holland and Leinhardt: from 003, not at all, to 300, all "
        "both ways",
        .words = triads),
    SF_MEMBER_IS(COUNT, count, "how many sets of three units are joined so"),
    SPREAD,
};
#undef ROW

#define ROW sf_unit_measures
static const sf_column_row unit_measures_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of a unit that has an edge"),
    SF_MEMBER_IS(COUNT, degree, "units that it has an edge with, in whichever direction"),
    SF_MEMBER_IS(REAL, strength, "the weight of its edges, to and from it"),
    SF_FIELD_IS(COUNT, "module_weighted", module,
                "0-based number of its module by weights, the largest first; of that window alone: the same "
                "number in the next may be other units"),
};
#undef ROW

#define ROW sf_graph_message
SF_LENGTH(count_measures)
{
    *length = ((const sf_graph_message *)of)->measure_count;
    return ((const sf_graph_message *)of)->measured;
}

SF_GETTER(get_measured_to)
{
    const sf_graph_message *message = of;
    value->integer = message->measured_in.stop_ns;
    value->known = message->measured;
}

SF_GETTER(get_measure)
{
    sf_value_set_record(value, &((const sf_graph_message *)of)->measures[item], 0);
}

const char *const sf_metric_words[] = {"episodes", "sttc", NULL};

SF_GETTER(get_metric)
{
    sf_value_set_text(value, sf_metric_words[((const sf_graph_message *)of)->is_tiling]);
}

SF_LENGTH(count_triads)
{
    *length = ((const sf_graph_message *)of)->triad_count;
    return *length > 0;
}

SF_GETTER(get_triad)
{
    sf_value_set_record(value, &((const sf_graph_message *)of)->triads[item], 0);
}

SF_GETTER(get_pairs_tested)
{
    value->count = ((const sf_graph_message *)of)->pairs_tested;
    value->known = value->count > 0;
}

static const sf_column_row graph_rows[] = {
    WINDOW,
    SF_GOT_BY(TEXT, "metric", get_metric, "what an edge is", .words = sf_metric_words),
    SF_MEMBER_IS(REAL, threshold, "the count from which a pair is an edge in this window",
                 .null = "with sttc"),
    SF_FIELD_IS(COUNT, "edges", edges, "in the whole graph now"),
    SF_RECORDS_OF("changes", changes, change_count, change_rows, "edges that came, changed or went"),
    SF_RECORDS_OF("bfs", reach, reach_count, reach_rows, "one for each configured `reach`"),
    SF_RECORD_BY("reach_all", get_reach_all, reach_all_rows, "how far units reach", .null = "not asked for"),
    SF_RECORD_BY("components", get_components, component_rows, "groups of units", .null = "not asked for"),
    SF_RECORDS_OF("match", motifs, motif_count, motif_rows, "one for each configured pattern"),
    SF_RECORDS_BY("census", get_triad, count_triads, triad_rows,
                  "one for each of the 16 ways to join three units", .null = "not asked for"),
    LEFT_OUT,
    SF_GOT_BY(COUNT, "pairs_tested", get_pairs_tested,
              "with sttc: pairs whose coefficients were compared with shifted trains",
              .null = "else, and where none was"),
    SF_MEMBER_IS(
        REAL, pairs_by_chance,
        "of these, so many would be edges on average if no two units had anything to do with each other",
        .null = "pairs_tested is null; with max_q, which bounds the chance of any in this window"),
    SF_RECORDS_BY("measures", get_measure, count_measures, unit_measures_rows,
                  "of every unit that has an edge, each as many windows as `measures` says: of the window "
                  "that ends at `measured_to_ns`",
                  .null = "not asked for, or none since the last message"),
    SF_FIELD_IS(REAL, "modularity_weighted", modularity, "of these modules",
                .null = "likewise, or there is no edge"),
    SF_GOT_BY(INTEGER, "measured_to_ns", get_measured_to, "end of the window that `measures` are of",
              .unit = "ns", .null = "`measures` is null"),
};
#undef ROW

/* ---- status ---- */

#define ROW sf_source_status
static bool is_paired(const sf_source_status *source)
{
    return source->pulses != NULL && source->pulse_ns != INT64_MIN;
}

SF_GETTER(get_state)
{
    sf_value_set_text(value, sf_source_state_name(((const sf_source_status *)of)->state));
}

SF_GETTER(get_behind)
{
    int64_t behind_ns = ((const sf_source_status *)of)->behind_ns;
    sf_value_set_real(value, behind_ns >= 0 ? (double)behind_ns * 1e-9 : NAN);
}

SF_GETTER(get_pulse_time)
{
    set_integer(value, is_paired(of), *(const int64_t *)(const void *)((const char *)of + column->member));
}

SF_GETTER(get_pulse_real)
{
    sf_value_set_real(
        value, is_paired(of) ? *(const double *)(const void *)((const char *)of + column->member) : NAN);
}

static const char *const pulses[] = {"reference", "searching", "ambiguous", "locked", "lost", NULL};
const char *const sf_authentication_names[] = {"curve", "none", NULL};

static const sf_column_row source_rows[] = {
    SF_MEMBER_IS(TEXT, name, "file or endpoint"),
    SF_GOT_BY(
        TEXT, "state", get_state,
        "stalled: nothing was heard of the sender for 1 s; lost: for `timeout_s`; failed: it ended with an "
        "error, which the log has. Only a live source stalls, and only in real time. What is live in the "
        "last "
        "status was left before its end: the run was stopped, or its duration was over",
        .words = sf_source_state_names),
    SF_FIELD_IS(TIME, "silent_ms", silent_ns, "since it was heard last, by wall clock; 0 of a recording",
                .unit = "ms"),
    SF_GOT_BY(REAL, "behind_s", get_behind, "its newest spikes came so long after they were due", .unit = "s",
              .null = "of a recording, and before the first"),
    SF_MEMBER_IS(COUNT, spikes, "that came, whatever became of them"),
    SF_MEMBER_IS(COUNT, held, "spikes at a time that is in doubt now"),
    SF_MEMBER_IS(COUNT, late, "spikes that came too late to be put in order"),
    SF_MEMBER_IS(COUNT, duplicate, "spikes that repeat a spike of the same unit and instant"),
    SF_MEMBER_IS(COUNT, out_of_range, "spikes that name no unit"),
    SF_MEMBER_IS(COUNT, dropped, "spikes that found the ring full"),
    SF_MEMBER_IS(COUNT, leaps,
                 "spikes left out because the stream did not go on from their time: broken time stamps"),
    SF_FIELD_IS(COUNT, "missing_spikes", missing_spikes,
                "that the sender counts in its END and that did not come: lost in gaps and in malformed "
                "frames, or sent before the run joined it",
                .null = "until END, and of a recording"),
    SF_MEMBER_IS(COUNT, markers, "that went through"),
    SF_MEMBER_IS(COUNT, markers_late, "that did not: too late"),
    SF_MEMBER_IS(COUNT, markers_dropped, "that did not: no room"),
    SF_MEMBER_IS(COUNT, markers_left_out, "that did not: a broken time stamp"),
    SF_FIELD_IS(COUNT, "missing_markers", missing_markers, "as of spikes",
                .null = "until END, and of a recording"),
    SF_MEMBER_IS(COUNT, gaps, "breaks in the sender's sequence numbers"),
    SF_MEMBER_IS(COUNT, gap_lost, "frames lost in them"),
    SF_MEMBER_IS(
        COUNT, malformed,
        "frames with a fault. They are left out, but for one whose sequence number alone was broken"),
    SF_MEMBER_IS(COUNT, other_streams,
                 "events or datagrams of other streams than the one that is read, left out: of which spikes "
                 "are in none of the counts above"),
    SF_MEMBER_IS(COUNT, restarts, "new runs of the sender"),
    SF_MEMBER_IS(COUNT, undone, "times that were in doubt and that the stream did not go on from"),
    SF_MEMBER_IS(COUNT, steps, "of its clock ahead; stream time leapt with them"),
    SF_MEMBER_IS(COUNT, epochs, "times that its clock began anew, or went back, and was joined on"),
    SF_MEMBER_IS(INTEGER, shift_ns, "stream time less the source's own time, since the last of these",
                 .unit = "ns"),
    SF_MEMBER_IS(COUNT, ring_fill, "spikes that wait"),
    SF_MEMBER_IS(COUNT, ring_size, "room for them"),
    SF_FIELD_IS(TIME, "lateness_max_ms", lateness_max_ns,
                "the most that a spike was behind the newest of its source", .unit = "ms"),
    SF_MEMBER_IS(FLAG, ended, "the source has ended"),
    SF_MEMBER_IS(TEXT, pulses,
                 "of TTL pulses that sources share: reference, or how its clock lies to the reference's",
                 .null = "it shares none", .words = pulses),
    SF_GOT_FROM(INTEGER, "pulse_ns", get_pulse_time, pulse_ns,
                "the newest pulse that both have, on the reference's clock", .unit = "ns",
                .null = "before a lock"),
    SF_GOT_FROM(INTEGER, "offset_ns", get_pulse_time, offset_ns, "that clock less the source's own there",
                .unit = "ns", .null = "before a lock"),
    SF_GOT_FROM(REAL, "drift_ppm", get_pulse_real, drift_ppm, "how much faster the reference's clock is",
                .unit = "ppm", .null = "before a lock"),
    SF_GOT_FROM(REAL, "residual_us", get_pulse_real, residual_us,
                "root mean square of the pulses about this line", .unit = "us", .null = "before a lock"),
    SF_MEMBER_IS(
        TEXT, authentication,
        "curve: sender and run have shown each other their keys; none: whoever answers at the endpoint "
        "is believed, as of every rig",
        .null = "it does not come over a network", .words = sf_authentication_names),
};
#undef ROW

#define ROW sf_sink_status
static const char *const health[] = {"ok", "failed", NULL};

static const sf_column_row sink_rows[] = {
    SF_MEMBER_IS(TEXT, name, "type and address"),
    SF_MEMBER_IS(TEXT, state, "failed: something could not be written or sent", .words = health),
    SF_MEMBER_IS(TEXT, note, "what failed first", .null = "nothing did"),
    SF_MEMBER_IS(COUNT, published, "messages handed on"),
    SF_MEMBER_IS(COUNT, dropped, "messages lost to a full ring, or to a receiver given up at the end"),
    SF_MEMBER_IS(COUNT, failed,
                 "messages that could not be written; a write to disk that failed later counts as one more"),
    SF_MEMBER_IS(COUNT, ring_fill, "messages that wait"),
    SF_MEMBER_IS(COUNT, ring_size, "room for them"),
    SF_MEMBER_IS(COUNT, spikes, "raw, that a recorder (`hdf5`) has written; of other sinks 0"),
    SF_MEMBER_IS(COUNT, spikes_lost,
                 "raw, that it could not write: recording had failed, or the disk was too slow for too long"),
    SF_MEMBER_IS(COUNT, markers, "as of spikes"),
    SF_MEMBER_IS(COUNT, markers_lost, "as of spikes"),
    /* writing or sending a message, without its time in the ring */
    TOOK,
    LONGEST,
    SF_MEMBER_IS(COUNT, journal_bytes, "of a recorder: bytes that went into its journals; of other sinks 0"),
    SF_MEMBER_IS(COUNT, syncs, "how often that was brought to the disk"),
    SF_MEMBER_IS(REAL, sync_max_ms, "the longest that this took", .unit = "ms", .null = "it was not done"),
    SF_MEMBER_IS(REAL, disk_left_s,
                 "until the recorder's disk is full at the present rate, less what `reserve_mb` keeps",
                 .unit = "s", .null = "not known yet, or no recorder"),
    SF_FIELD_IS(COUNT, "refused", refused,
                "of a `zmq` sink with keys: connections that showed no key that is let in",
                .null = "it asks nobody for one"),
};
#undef ROW

#define ROW sf_stage_status
static const char *const stages[] = {"count",   "discover", "test",   "graph", "density",
                                     "publish", "hop",      "pairs",  "reach", "patterns",
                                     "census",  "mine",     "rewire", "watch", NULL};

static const sf_column_row stage_rows[] = {
    SF_MEMBER_IS(
        TEXT, name,
        "a step of a hop; hop, the whole of it; of graph reach, patterns and census; mine and rewire, "
        "which go on in the background; watch, which is done each time that spikes come",
        .words = stages),
    SF_MEMBER_IS(REAL, last_ms, "how long the newest took", .unit = "ms"),
    SF_MEMBER_IS(REAL, max_ms, "the longest", .unit = "ms"),
    SF_MEMBER_IS(REAL, share, "last_ms as a share of a hop", .null = "of watch"),
    SF_MEMBER_IS(TEXT, device, "where it was done last: cpu, or a GPU",
                 .null = "it was not done yet, or not in one place"),
    SF_MEMBER_IS(COUNT, missed,
                 "hops in which it took longer than a hop lasts; 0 of mine and rewire, which may"),
    /* by hop, without the newest */
    TOOK,
};
#undef ROW

#define ROW sf_trigger_status
SF_GETTER(get_armed)
{
    sf_value_set_flag(value, ((const sf_trigger_status *)of)->not_armed == NULL);
}

static const sf_column_row armed_rows[] = {
    SF_MEMBER_IS(TEXT, name, "of the trigger"),
    SF_GOT_BY(FLAG, "armed", get_armed, "it may be sent"),
    SF_MEMBER_IS(TEXT, not_armed, "why it may not", .null = "it may"),
    SF_MEMBER_IS(REAL, armed_s, "how long it stays armed unless that is renewed", .unit = "s",
                 .null = "to the end, or it is not armed"),
    SF_MEMBER_IS(TEXT, armed_by, "who armed it: configuration, control (the control socket) or page",
                 .null = "it is not armed"),
    SF_MEMBER_IS(REAL, armed_at_s, "when it was armed, in stream time; renewing changes it not", .unit = "s",
                 .null = "before the first spike, or it is not armed"),
    SF_MEMBER_IS(COUNT, completed, "completions so far: sent + sham + withheld + waiting"),
    SF_MEMBER_IS(COUNT, sent, "of these"),
    SF_MEMBER_IS(COUNT, sham, "of these: treated as if they were sent"),
    SF_MEMBER_IS(COUNT, withheld, "of these"),
    SF_MEMBER_IS(COUNT, waiting, "of these: for their delay"),
    SF_MEMBER_IS(
        REAL, chance_per_min,
        "completions expected by rates, those of the units in the stream so far, whatever tests say; of "
        "one that `follows` another: how often that one would be sent then",
        .unit = "1/min", .null = "before the first hop, and of rules"),
};
#undef ROW

#define ROW sf_status_message
SF_LENGTH(count_stages)
{
    *length = ((const sf_status_message *)of)->stage_count;
    return true;
}

SF_GETTER(get_stage)
{
    sf_value_set_record(value, &((const sf_status_message *)of)->stages[item], 0);
}

SF_GETTER(get_program)
{
    sf_text_printf(sf_value_room(value), "synfire %s", sf_version());
    sf_value_set_room(value);
}

SF_GETTER(get_command)
{
    const sf_provenance *provenance = told_of(value)->stream->provenance;
    sf_value_set_text(value, provenance != NULL ? provenance->command : NULL);
}

SF_GETTER(get_selection)
{
    const sf_provenance *provenance = told_of(value)->stream->provenance;
    if (provenance == NULL || !provenance->of_recording) return;
    sf_provenance_words(sf_value_room(value), provenance);
    sf_value_set_room(value);
}

static const char *const health_of_device[] = {"ok", "sick", NULL};

static const sf_column_row status_rows[] = {
    SF_MEMBER_IS(COUNT, spikes, "that have come to the windows"),
    SF_MEMBER_IS(REAL, rate_hz,
                 "all units together, over what was recorded of the window, as a replayed recording says",
                 .unit = "Hz", .null = "nothing was"),
    SF_ITEMS_ARE(REAL, "unit_rates_hz", unit_rates_hz, unit_count, "each unit, likewise, by index",
                 .unit = "Hz", .item_null = "nothing was recorded of it"),
    SF_RECORDS_OF("sources", sources, source_count, source_rows, "one each"),
    SF_RECORDS_OF("sinks", sinks, sink_count, sink_rows, "one each"),
    SF_RECORDS_BY("stages", get_stage, count_stages, stage_rows, "what takes the time"),
    SF_RECORDS_OF("triggers", triggers, trigger_count, armed_rows, "those with a name"),
    SF_MEMBER_IS(COUNT, decisions_lost, "decisions that no message tells, for want of room"),
    SF_MEMBER_IS(COUNT, features_lost, "bins of `features` that no message tells, for want of room"),
    SF_MEMBER_IS(COUNT, dedup_dropped, "spikes that are recorded and not analysed: repeats (`dedup`)"),
    SF_MEMBER_IS(COUNT, blank_dropped, "likewise: blanked after a marker (`blank`)"),
    SF_MEMBER_IS(COUNT, trigger_dropped, "likewise: blanked after a trigger was sent (`blank_ms`)"),
    SF_FIELD_IS(COUNT, "tracked", tracked, "episodes counted every hop"),
    LIST_AGE,
    SF_MEMBER_IS(REAL, list_every_s,
                 "stream time from the window of the list before to that of this one; `mine.every` asks for "
                 "that many hops",
                 .unit = "s", .null = "there was no list before"),
    SF_MEMBER_IS(COUNT, lists_missed,
                 "windows that `mine.every` asks for and that were not mined, since the list before was not "
                 "ready or too many episodes were frequent"),
    SF_FIELD_IS(COUNT, "watched", watched, "episodes watched"),
    SF_FIELD_IS(COUNT, "edges", edges, "of the graph"),
    SF_MEMBER_IS(COUNT, window_dropped,
                 "spikes that the window path had no room for; the watch saw them, and a recorder has them"),
    SF_MEMBER_IS(COUNT, watch_overflows,
                 "occurrences in progress that the watch gave up because too many were open at once"),
    SF_MEMBER_IS(TEXT, device, "of the run: cpu, or a GPU, as cuda:0"),
    SF_MEMBER_IS(TEXT, device_state, "sick: the device has failed, and the CPU does its work from now on",
                 .words = health_of_device),
    SF_MEMBER_IS(TEXT, device_note, "how it failed, or why it refused the newest discovery",
                 .null = "neither"),
    SF_MEMBER_IS(COUNT, device_memory, "of the device that the run's jobs took at most", .unit = "bytes"),
    SF_MEMBER_IS(TEXT, counting_device, "where the tracked episodes were counted"),
    SF_MEMBER_IS(TEXT, discovery_device, "where the newest discovery that was taken up ran",
                 .null = "before the first"),
    SF_MEMBER_IS(REAL, discovery_ms, "how long it took, from the window's spikes to the episodes to track",
                 .unit = "ms", .null = "before the first"),
    SF_FIELD_IS(COUNT, "tested", tested, "episodes and edges that the newest tested stretch gave a p"),
    SF_MEMBER_IS(COUNT, tests, "stretches tested"),
    SF_MEMBER_IS(REAL, test_length_s, "the length of a stretch; a q of 0.05 takes four of them or more",
                 .unit = "s", .null = "nothing is tested"),
    SF_MEMBER_IS(COUNT, tests_missed, "stretches left out for the time that tests take"),
    SF_MEMBER_IS(TEXT, test_device, "where the surrogates of the newest test were counted",
                 .null = "before the first"),
    SF_MEMBER_IS(REAL, test_ms, "how long the newest test took", .unit = "ms", .null = "before the first"),
    SF_MEMBER_IS(REAL, test_share, "that as a share of the time that its stretch lasted",
                 .null = "before the first"),
    SF_MEMBER_IS(TEXT, not_tested, "why the newest stretch gave no p at all",
                 .null = "it did, or there was none yet"),
    SF_MEMBER_IS(FLAG, last, "in the run's last message"),
    SF_MEMBER_IS(REAL, run_s, "wall time since the run was opened", .unit = "s"),
    SF_MEMBER_IS(REAL, hop_ms, "how long a hop lasts", .unit = "ms"),
    SF_MEMBER_IS(COUNT, window_fill, "spikes that wait for the windows"),
    SF_MEMBER_IS(COUNT, window_size, "room for them"),
    SF_FIELD_IS(COUNT, "control_refused", control_refused,
                "connections to the control socket that showed no key, a wrong one, or one that is not among "
                "its `clients`",
                .null = "it asks nobody for one"),
    SF_MEMBER_IS(REAL, branching_ratio, "of the newest message of the topic `criticality`",
                 .null =
                     "not known there, or no such message so far, as of all that begins with `branching_`"),
    SF_MEMBER_IS(REAL, branching_low, "lower end of its 95 % interval", .null = "likewise"),
    SF_MEMBER_IS(REAL, branching_high, "upper end of its 95 % interval", .null = "likewise"),
    SF_MEMBER_IS(REAL, branching_at_s, "stream time: the end of the window that it is of", .unit = "s",
                 .null = "likewise"),
    SF_MEMBER_IS(TEXT, branching_cautions, "why it may not be believed, in words, as `drift, long`",
                 .null = "no such reason is known"),
    SF_MEMBER_IS(COUNT, branching_missed, "windows that were due while the one before was still looked at"),
    SF_RECORD_IS("latency", latency, latency_rows,
                 "from when a spike was due until it had been watched, of the oldest that come together. "
                 "Waiting for older spikes (`lateness_ms`) is in it"),
    SF_GOT_BY(TEXT, "program", get_program, "what publishes this, with its version"),
    SF_GOT_BY(TEXT, "command", get_command, "the command line it was started by", .null = "not known"),
    SF_GOT_BY(TEXT, "selection", get_selection, "what of a recording is replayed, in words",
              .null = "of live sources"),
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
    [SF_TOPIC_BURST] = TABLE_OF("burst", burst_rows, "a network burst is known, or over"),
    [SF_TOPIC_RESPONSE] = TABLE_OF("response", response_rows, "a trial around a stimulus is over"),
    [SF_TOPIC_CRITICALITY] =
        TABLE_OF("criticality", criticality_rows, "the branching ratio of the last spikes"),
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
    if (!sf_message_tell(message, stream, &sf_json_encoding, &json)) text->failed = true;
}
