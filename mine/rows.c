/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "mine/rows.h"

#include "core/clock.h"
#include "core/row_macros.h"
#include "mine/engine.h"

#define WORD(variable, name) name,
const char *const sf_engine_words[] = {"auto", SF_ENGINES(WORD, WORD) NULL};

/* ---- mining ---- */

static const sf_delay usual_delay = {SF_MILLISECOND / 2, 5 * SF_MILLISECOND};
static const sf_mining_options mining = {
    .delays = &usual_delay, .delay_count = 1, .max_size = 4, .most = 5000000};

static const char *const threshold_kinds[] = {"count", "rate", "fraction", NULL};
static const char *const orders[] = {"count", "q", "ratio", "strength", "standing", NULL};

#define ROW sf_mining_options
static const sf_key mining_rows[] = {
    {SF_ROW_MAX_SIZE, AT(max_size)},
    SWITCH("closed", closed, .what = "leave out episodes that a longer one contains with the same count"),
    COUNT("top", top, 1, INFINITY, .zero = "all", .argument = "K",
          .what = "of each size only the first K episodes"),
    CHOICE("order", order, orders, .option = "sort",
           .what =
               "what comes first of each size: count, q (then, and without a test, as ratio), ratio "
               "(count/expected, by the lower end of its interval), strength; or of all: standing "
               "(what stands out most: q <= 0.05, folded under no other, the longest, most above chance)"),
    REAL("threshold", threshold, 0, 1e300, .option = ""),
    CHOICE("threshold_kind", threshold_kind, threshold_kinds, .option = ""),
    {SF_ROW_REPEATS, AT(repeats)},
    {SF_ROW_MIN_DISTANCE, AT(min_distance_um)},
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_ENGINE, AT(engine)},
    {SF_ROW_DEVICE, AT(device)},
    {SF_ROW_MAX_Q, AT(max_q)},
    {SF_ROW_MAX_P, AT(max_p)},
    {0},
};
#undef ROW

const sf_key_table sf_mining_table = SF_KEY_TABLE(mining_rows, mining);

void sf_mining_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_mining_table, options, size);
}

/* ---- counting ---- */

static const sf_counting_options counting = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};

#define ROW sf_counting_options
static const sf_key counting_rows[] = {
    TIME("window_ns", window_ns, 0, INFINITY, .zero = "none", .unit = "s", .argument = "S",
         .what = "count in windows of this length too, each as if it were all there is"),
    TIME("hop_ns", hop_ns, 0, INFINITY, .zero = "the window", .unit = "s", .argument = "S",
         .what = "from the start of one window to the start of the next"),
    SWITCH("correlograms", correlograms, .option = "correlogram",
           .what = "the cross-correlogram of the two units of every link, in bins of 1 ms"),
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_ENGINE, AT(engine)},
    {SF_ROW_DEVICE, AT(device)},
    {SF_ROW_MAX_Q, AT(max_q)},
    {SF_ROW_MAX_P, AT(max_p)},
    TEXT("registered", registered, .option = ""),
    {0},
};
#undef ROW

const sf_key_table sf_counting_table = SF_KEY_TABLE(counting_rows, counting);

void sf_counting_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_counting_table, options, size);
}

/* ---- tests ---- */

static const sf_significance_options significance = {
    .kind = SF_SIGNIFICANCE_SEGMENT_SHIFT, .surrogates = 1000, .seed = 1, .link = 0.2};

static const char *const corrections[] = {"maximum", "rate", NULL};

#define ROW sf_significance_options
static const sf_key significance_rows[] = {
    {SF_ROW_SURROGATES, AT(surrogates)},
    {SF_ROW_SEED, AT(seed), .what = "of the surrogates"},
    TIME("width_ns", width_ns, 0, 0x1p61,
         .zero = "half more than the largest delay; by segment-shift three times as far as it where what "
                 "units share is smooth as far as that",
         .unit = "ms", .argument = "MS", .what = "how far surrogates move spikes"),
    TIME("segment_ns", segment_ns, 0, INFINITY,
         .zero = "a 360th of the recording, a 60th where a unit fires more than once in five largest delays, "
                 "a 12th where more than three times in four, a second or more",
         .unit = "s", .argument = "S",
         .what = "of segment-shift: how long the parts are that trains move by"),
    CHOICE("correction", correction, corrections, .option = ""),
    SWITCH("splits", splits,
           .what =
               "with --significance: test each chain of 3 to 5 units by every split into two groups, one "
               "shifted as a whole, in place of its ends and links; for chains whose links are weak alone"),
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_DEVICE, AT(device)},
    {0},
};
#undef ROW

const sf_key_table sf_significance_table = SF_KEY_TABLE(significance_rows, significance);

void sf_significance_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_significance_table, options, size);
}
