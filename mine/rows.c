/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "mine/rows.h"

#include "core/clock.h"
#include "mine/engine.h"

#define WORD(variable, name) name,
#define AT(member) .offset = offsetof(ROW, member)

const char *const sf_engine_words[] = {"auto", SF_ENGINES(WORD, WORD) NULL};

/* ---- mining ---- */

static const sf_delay usual_delay = {SF_MILLISECOND / 2, 5 * SF_MILLISECOND};
static const sf_mining_options mining = {
    .delays = &usual_delay, .delay_count = 1, .max_size = 4, .most = 5000000};

static const char *const threshold_kinds[] = {"count", "rate", "fraction", NULL};
static const char *const orders[] = {"count", "q", "ratio", "strength", NULL};

#define ROW sf_mining_options
static const sf_key mining_rows[] = {
    {SF_ROW_MAX_SIZE, AT(max_size)},
    {.name = "closed",
     .type = SF_KEY_SWITCH,
     AT(closed),
     .what = "leave out episodes that a longer one contains with the same count"},
    {.name = "top",
     .type = SF_KEY_COUNT,
     AT(top),
     .least = 1,
     .most = INFINITY,
     .zero = "all",
     .argument = "K",
     .what = "of each size only the first K episodes"},
    {.name = "order",
     .type = SF_KEY_CHOICE,
     AT(order),
     .words = orders,
     .option = "sort",
     .what = "what comes first of each size: count, q (then, and without a test, as ratio), ratio "
             "(count/expected, by the lower end of its interval), strength"},
    {.name = "threshold", .type = SF_KEY_REAL, AT(threshold), .least = 0, .most = 1e300, .option = ""},
    {.name = "threshold_kind",
     .type = SF_KEY_CHOICE,
     AT(threshold_kind),
     .words = threshold_kinds,
     .option = ""},
    {SF_ROW_SELF, AT(self)},
    {SF_ROW_MIN_DISTANCE, AT(min_distance_um)},
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_ENGINE, AT(engine)},
    {SF_ROW_DEVICE, AT(device)},
    {SF_ROW_MAX_Q, AT(max_q)},
    {SF_ROW_MAX_P, AT(max_p)},
    {0},
};
#undef ROW

static const void *mining_defaults(int choice)
{
    (void)choice;
    return &mining;
}

const sf_key_table sf_mining_table = {{mining_rows}, sizeof mining, mining_defaults, NULL};

void sf_mining_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_mining_table, options, size);
}

/* ---- counting ---- */

static const sf_counting_options counting = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};

#define ROW sf_counting_options
static const sf_key counting_rows[] = {
    {.name = "window_ns",
     .type = SF_KEY_TIME,
     AT(window_ns),
     .least = 0,
     .most = INFINITY,
     .zero = "none",
     .unit = "s",
     .argument = "S",
     .what = "count in windows of this length too, each as if it were all there is"},
    {.name = "hop_ns",
     .type = SF_KEY_TIME,
     AT(hop_ns),
     .least = 0,
     .most = INFINITY,
     .zero = "the window",
     .unit = "s",
     .argument = "S",
     .what = "from the start of one window to the start of the next"},
    {.name = "correlograms",
     .type = SF_KEY_SWITCH,
     AT(correlograms),
     .option = "correlogram",
     .what = "the cross-correlogram of the two units of every link, in bins of 1 ms"},
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_ENGINE, AT(engine)},
    {SF_ROW_DEVICE, AT(device)},
    {SF_ROW_MAX_Q, AT(max_q)},
    {SF_ROW_MAX_P, AT(max_p)},
    {0},
};
#undef ROW

static const void *counting_defaults(int choice)
{
    (void)choice;
    return &counting;
}

const sf_key_table sf_counting_table = {{counting_rows}, sizeof counting, counting_defaults, NULL};

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
    {.name = "width_ns",
     .type = SF_KEY_TIME,
     AT(width_ns),
     .least = 0,
     .most = 0x1p61,
     .zero = "half more than the largest delay; by segment-shift three times as far as it where what units "
             "share is smooth as far as that",
     .unit = "ms",
     .argument = "MS",
     .what = "how far surrogates move spikes"},
    {.name = "segment_ns",
     .type = SF_KEY_TIME,
     AT(segment_ns),
     .least = 0,
     .most = INFINITY,
     .zero = "a 360th of the recording, a 60th where a unit fires more than once in five largest delays, a "
             "12th where more than three times in four, a second or more",
     .unit = "s",
     .argument = "S",
     .what = "of segment-shift: how long the parts are that trains move by"},
    {.name = "correction", .type = SF_KEY_CHOICE, AT(correction), .words = corrections, .option = ""},
    {.name = "splits",
     .type = SF_KEY_SWITCH,
     AT(splits),
     .what = "with --significance: test each chain of 3 to 5 units by every split into two groups, one "
             "shifted as a whole, in place of its ends and links; for chains whose links are weak alone"},
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_DEVICE, AT(device)},
    {0},
};
#undef ROW

static const void *significance_defaults(int choice)
{
    (void)choice;
    return &significance;
}

const sf_key_table sf_significance_table = {
    {significance_rows}, sizeof significance, significance_defaults, NULL};

void sf_significance_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_significance_table, options, size);
}
