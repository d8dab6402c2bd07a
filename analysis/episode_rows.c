/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of episodes that were found or counted: what each is called and means, in every output. */
#include "analysis/episode_columns.h"
#include "analysis/episodes.h"
#include "analysis/tables.h"
#include "core/episode.h"

#include <stddef.h>

/* ---- what names an episode ---- */

static const sf_episode *episode_of(const sf_column_row *column, const void *of, size_t row)
{
    return *(const sf_episode *const *)((const char *)of + column->member) + row;
}

static const sf_units *units_of(const sf_column_row *column, const void *of)
{
    return &(*(const sf_recording *const *)((const char *)of + column->within))->units;
}

static void put_id(const sf_episode *episode, const sf_units *units, sf_value *value)
{
    char id[SF_EPISODE_ID_SIZE];
    sf_episode_id(id, episode, units);
    sf_text_append(sf_value_room(value), id, sizeof id - 1);
    sf_value_set_room(value);
}

SF_SHARED_GETTER(sf_episode_get_id)
{
    put_id(episode_of(column, of, row), units_of(column, of), value);
}

SF_SHARED_GETTER(sf_episode_get_size)
{
    sf_value_set_count(value, episode_of(column, of, row)->size);
}

SF_SHARED_GETTER(sf_episode_get_words)
{
    sf_episode_print(sf_value_room(value), episode_of(column, of, row), units_of(column, of));
    sf_value_set_room(value);
}

SF_SHARED_GETTER(sf_episode_get_unit)
{
    sf_value_set_count(value, episode_of(column, of, row)->units[item]);
}

SF_SHARED_GETTER(sf_episode_get_name)
{
    sf_value_set_text(value, units_of(column, of)->items[episode_of(column, of, row)->units[item]].name);
}

SF_SHARED_GETTER(sf_episode_get_delay)
{
    const sf_delay *delay = &episode_of(column, of, row)->delays[item];
    sf_value_set_delay(value, delay->low_ns, delay->high_ns);
}

bool sf_episode_length(const sf_column_row *column, const void *of, size_t row, size_t *length)
{
    *length = episode_of(column, of, row)->size - (column->is.type == SF_COLUMN_PAIR);
    return true;
}

/* ---- what is known of it ---- */

SF_GETTER(get_ratio)
{
    const sf_episodes *e = of;
    sf_value_set_pair(value, e->ratio_low[row], e->ratio_high[row]);
}

SF_GETTER(get_worth)
{
    const sf_episodes *e = of;
    value->known = e->is_tested && e->worth_showing != NULL;
    value->flag = value->known && e->worth_showing[row];
}

static const char *spell_reason(const void *reason)
{
    return sf_not_tested_text(*(const sf_not_tested *)reason);
}

SF_GETTER(get_one_electrode)
{
    const sf_episodes *e = of;
    value->known = e->one_electrode != NULL;
    value->flag = value->known && e->one_electrode[row] != 0;
}

SF_GETTER(get_parent)
{
    const sf_episodes *e = of;
    if (e->parents != NULL && e->parents[row] != SF_NO_PARENT)
        put_id(&e->episodes[e->parents[row]], &e->recording->units, value);
}

/* ---- its links ---- */

SF_GETTER(get_quantile)
{
    const sf_link_delays *link = of;
    uint64_t occurrences = 0;
    for (size_t bin = 0; bin < SF_DELAY_BINS; bin++)
        occurrences += link->histogram[bin];
    sf_value_set_real(value, occurrences > 0 ? (double)link->quantiles_ns[column->member] / 1e6 : NAN);
}

SF_LENGTH(count_bins)
{
    *length = SF_DELAY_BINS;
    return true;
}

SF_GETTER(get_bin)
{
    sf_value_set_count(value, ((const sf_link_delays *)of)->histogram[item]);
}

#define QUANTILE(place, name, about)                                                                         \
    {                                                                                                        \
        .is = SF_IS(name, about, "ms", "it never occurs", SF_COLUMN_REAL), .get = get_quantile,              \
        .member = (place)                                                                                    \
    }

static const sf_column_row link_rows[] = {
    QUANTILE(0, "least_ms", "least delay"),
    QUANTILE(1, "lower_quarter_ms", "a quarter of the delays is at most this"),
    QUANTILE(2, "median_ms", "median delay"),
    QUANTILE(3, "upper_quarter_ms", "three quarters of the delays are at most this"),
    QUANTILE(4, "greatest_ms", "greatest delay"),
    SF_LIST_BY(COUNT, "histogram", get_bin, count_bins, "delays in ten equal parts of the interval"),
};

SF_LENGTH(count_detailed)
{
    const sf_episodes *e = of;
    *length = e->episodes[row].size - 1;
    return e->details != NULL;
}

SF_GETTER(get_link)
{
    sf_value_set_record(value, &((const sf_episodes *)of)->details[row].links[item], 0);
}

/* ---- epochs ---- */

SF_GETTER(get_epochs)
{
    const sf_episodes *e = of;
    uint64_t with = 0;
    for (size_t k = 0; e->span_counts != NULL && k < e->span_count; k++)
        with += e->span_counts[k * e->count + row] > 0;
    sf_value_set_count(value, e->span_counts != NULL ? with : SF_NO_COUNT);
}

static bool has_epochs(const sf_column_row *column, const void *of)
{
    (void)column;
    return ((const sf_episodes *)of)->span_counts != NULL;
}

SF_LENGTH(count_epochs)
{
    const sf_episodes *e = of;
    *length = e->span_count;
    return e->span_counts != NULL;
}

SF_GETTER(get_epoch_count)
{
    const sf_episodes *e = of;
    sf_value_set_count(value, e->span_counts[item * e->count + row]);
}

/* ---- all of it ---- */

#define NOT_TESTED "not tested, or no verdict: `not_tested` says why"
#define TOO_MUCH "of more episodes than are looked at one by one, and of spikes read in pieces"
#define NO_EPOCHS "no epochs were given"

#define ROW sf_episodes
#define MEMBER(of) .get = sf_column_value, .member = offsetof(ROW, of)
#define DETAIL(of) MEMBER(details), .element = sizeof(sf_details), .within = offsetof(sf_details, of)

static const sf_column_row episode_rows[] = {
    SF_EPISODE_ID_IS("id", episodes, recording),
    SF_EPISODE_IS(COUNT, "size", sf_episode_get_size, episodes, recording, "number of units"),
    SF_EPISODE_WORDS_ARE(episodes, recording),
    SF_EPISODE_UNITS_ARE(episodes, recording),
    SF_ARRAY_IS(COUNT, "count", counts, "occurrences of which no two overlap"),
    SF_ARRAY_IS(
        REAL, "expected", expected,
        "by rates: the count that units which fire independently at their rates would give, tested or not",
        .null = "nothing is known of the rates"),
    SF_ARRAY_IS(
        REAL, "p", p,
        "share of surrogates with as high a count, of this episode by itself: not corrected for how much "
        "was looked at, nor for a threshold that selected it",
        .unit = "probability", .null = NOT_TESTED),
    SF_ARRAY_IS(REAL, "q", q, "p corrected for all that was searched", .unit = "probability",
                .null = NOT_TESTED),
    SF_ARRAY_IS(REAL, "strength", strength, "probability of a link at which the count would be expected",
                .unit = "probability", .null = "the episode was given, or nothing is expected"),
    {.is = SF_IS("not_tested", "why a test gave no p", NULL, "it gave one, or none was made", SF_COLUMN_TEXT),
     MEMBER(not_tested),
     .element = sizeof(sf_not_tested),
     .word = spell_reason},
    SF_GOT_BY(PAIR, "ratio_interval", get_ratio,
              "95 % confidence interval of count / expected, which is by rates; too narrow where bursts hold "
              "most spikes",
              .null = "nothing is expected", .first_name = "ratio_low", .second_name = "ratio_high"),
    SF_ARRAY_IS(COUNT, "needed", needed, "the least count that would have had a q below 0.05",
                .null = "not tested, or no count would"),
    SF_ARRAY_IS(REAL, "expected_given_rest", expected_given_rest,
                "the mean count in the surrogates of a test, which keep bursts and the rest of the chain",
                .null = NOT_TESTED),
    SF_ARRAY_IS(REAL, "p_first", p_first, "p with only the first unit moved", .unit = "probability",
                .null = NOT_TESTED),
    SF_ARRAY_IS(REAL, "p_last", p_last, "p with only the last unit moved", .unit = "probability",
                .null = NOT_TESTED),
    SF_ARRAY_IS(REAL, "p_links", p_links,
                "of chains the largest p of their consecutive links, each tested as a pair",
                .unit = "probability", .null = NOT_TESTED),
    SF_GOT_BY(FLAG, "worth_showing", get_worth,
              "a count of 20 or more, a q below 0.05, and units that all fire faster than 0.1 Hz",
              .null = "not tested"),
    {.is = SF_IS("bursts", "network bursts that an occurrence begins in", NULL, TOO_MUCH, SF_COLUMN_COUNT),
     DETAIL(bursts)},
    {.is = SF_IS("in_bursts", "occurrences that begin in a network burst", NULL, TOO_MUCH, SF_COLUMN_COUNT),
     DETAIL(in_bursts)},
    {.is = SF_IS("links", "the delays of each link as they occur", NULL, TOO_MUCH, SF_COLUMN_RECORD,
                 .list = true),
     .get = get_link,
     .length = count_detailed,
     .record = link_rows,
     .record_count = sizeof link_rows / sizeof *link_rows},
    SF_ARRAY_IS(COUNT, "reverse_count", reverse, "count of the pair the other way round, B -> A",
                .null = "it was not counted: of chains, and of spikes read in pieces"),
    SF_ARRAY_IS(REAL, "asymmetry", asymmetry, "(count - reverse_count) / (count + reverse_count)",
                .null = "the reverse was not counted, or both are 0"),
    SF_GOT_BY(FLAG, "one_electrode", get_one_electrode,
              "units of a link were seen by one electrode, where sorters err, or their spikes look like one "
              "neuron's",
              .null = "no details were asked for"),
    SF_GOT_BY(
        TEXT, "folded_under", get_parent,
        "id of the longer episode that with chance accounts for this one; of one with a q of 0.05 or less "
        "only a longer one that has this, too",
        .null = "there is none, or it is not told of"),
    SF_GOT_BY(COUNT, "epochs", get_epochs, "epochs in which it occurs", .null = NO_EPOCHS),
    {.is = SF_IS("epoch_counts", "the count in each epoch alone", NULL, NO_EPOCHS, SF_COLUMN_COUNT,
                 .list = true),
     .get = get_epoch_count,
     .length = count_epochs,
     .applies = has_epochs},
};

const sf_table sf_episodes_columns_table = {.name = "episodes",
                                            .row = "episode",
                                            .about = "episodes that were found or counted",
                                            SF_TABLE_OF(episode_rows)};

void sf_episodes_get_table(const sf_episodes *episodes, sf_table *table)
{
    *table = sf_episodes_columns_table;
    table->row_count = episodes->count;
    table->of = episodes;
}
