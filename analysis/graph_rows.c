/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the links of a recording's graph: what each is called and means, in every output. */
#include "analysis/graph.h"
#include "analysis/tables.h"
#include "core/describe/column.h"

#include <stddef.h>

SF_GETTER(get_name)
{
    const sf_graph_columns *g = of;
    const uint32_t *ends = column->member == offsetof(sf_graph_columns, from) ? g->from : g->to;
    sf_value_set_text(value, g->names[ends[row]]);
}

SF_GETTER(get_delay)
{
    const sf_graph_columns *g = of;
    sf_value_set_delay(value, g->low_ns[row], g->high_ns[row]);
}

SF_GETTER(get_count)
{
    if (!((const sf_graph_columns *)of)->is_tiling) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_sign)
{
    const sf_graph_columns *g = of;
    if (g->is_signed) sf_value_set_real(value, g->sign[row]);
}

SF_GETTER(get_ratio)
{
    const sf_graph_columns *g = of;
    sf_value_set_pair(value, g->ratio_low[row], g->ratio_high[row]);
}

#define TILING "of tiling coefficients"
#define UNSIGNED "edges have no sign: --metric of those that have one"
#define NOT_TESTED "not tested, or no verdict: `not_tested` says why"
#define ROW sf_graph_columns

static const sf_column_row edge_rows[] = {
    SF_ARRAY_IS(UNIT, "from", from, "0-based index of the unit that fires first"),
    {.is = SF_IS("from_name", "its name", NULL, NULL, SF_COLUMN_TEXT),
     .get = get_name,
     .member = offsetof(sf_graph_columns, from)},
    SF_ARRAY_IS(UNIT, "to", to, "0-based index of the unit that follows"),
    {.is = SF_IS("to_name", "its name", NULL, NULL, SF_COLUMN_TEXT),
     .get = get_name,
     .member = offsetof(sf_graph_columns, to)},
    SF_GOT_BY(PAIR, "delay_ms", get_delay,
              "above the first and at most the second; of tiling coefficients 0 and the window", .unit = "ms",
              .first_name = "delay_low_ms", .second_name = "delay_high_ms"),
    {.is = SF_IS("count", "occurrences of from -> to of which no two overlap", NULL, TILING, SF_COLUMN_COUNT),
     .get = get_count,
     .member = offsetof(sf_graph_columns, count)},
    SF_ARRAY_IS(
        REAL, "expected", expected,
        "by rates: the count that units which fire independently at their rates would give, tested or not",
        .null = TILING),
    SF_ARRAY_IS(REAL, "weight", weight,
                "count - expected, the spike-time tiling coefficient, or of edges with a sign the measure of "
                "their method"),
    SF_GOT_BY(PAIR, "ratio_interval", get_ratio,
              "95 % confidence interval of count / expected, which is by rates; too narrow where bursts hold "
              "most spikes",
              .null = TILING, .first_name = "ratio_low", .second_name = "ratio_high"),
    SF_ARRAY_IS(REAL, "asymmetry", asymmetry,
                "(count - reverse) / (count + reverse), the reverse being that of the edge back",
                .null = "there is no edge back"),
    SF_ARRAY_IS(REAL, "p", p, "share of surrogates with as much, of this edge by itself",
                .unit = "probability", .null = NOT_TESTED),
    SF_ARRAY_IS(REAL, "q", q, "p corrected for all that was searched", .unit = "probability",
                .null = NOT_TESTED),
    SF_ARRAY_IS(TEXT, "not_tested", not_tested, "why a test gave no p",
                .null = "it gave one, or none was made"),
    SF_ARRAY_IS(REAL, "expected_given_rest", expected_given_rest,
                "the mean count in the surrogates of a test, which keep bursts", .null = NOT_TESTED),
    SF_ARRAY_IS(
        FLAG, "one_electrode", one_electrode,
        "both units were seen by one electrode, where sorters err, or their spikes look like one neuron's"),
    {.is = SF_IS("sign", "1: more spikes of `to` follow those of `from` than chance has it; -1: fewer", NULL,
                 UNSIGNED, SF_COLUMN_REAL),
     .get = get_sign,
     .member = offsetof(sf_graph_columns, sign)},
    SF_ARRAY_IS(
        REAL, "confidence", confidence,
        "1 less the share of edges of its sign, as far out or further, that are like most pairs: that most "
        "pairs do not explain it, not that there is a synapse",
        .unit = "probability", .null = UNSIGNED),
    SF_ARRAY_IS(
        REAL, "score", score,
        "how far out the pair lies, in standard deviations of most pairs on its side of their median; of few "
        "coincidences no further than a Poisson variable so large is unlikely",
        .null = UNSIGNED),
};

const sf_table sf_edges_columns_table = {
    .name = "edges", .row = "edge", .about = "links between units of a recording", SF_TABLE_OF(edge_rows)};

void sf_graph_get_table(const sf_graph *graph, sf_table *table)
{
    *table = sf_edges_columns_table;
    table->row_count = graph->columns.link_count;
    table->of = &graph->columns;
}
