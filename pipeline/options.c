/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of sf_live_options, its default and its row here. */
#include "pipeline/options.h"

#include "analysis/responses.h"
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/filter.h"
#include "core/message_rows.h"
#include "core/options.h"
#include "core/row_macros.h"
#include "density/live.h"
#include "density/rows.h"
#include "mine/isi_n.h"
#include "mine/rows.h"

#include <stdio.h>
#include <string.h>

/* ---- defaults ---- */

const sf_live_options sf_live_defaults = {
    .stream = "synfire",
    .merge = {.lateness_ms = 0, .stall_ms = 1000, .leap_s = 10, .drop_duplicates = false},
    .window = {.length_s = 10, .hop_s = 1, .silence_s = 3600},
    .device = "auto",
    .device_memory = "auto",
    .mine = {.every = 5, .delays_ms = "0.5:5", .max_size = 4, .engine = "auto", .track_most = 200},
    .graph = {.enabled = true, .metric = SF_LIVE_EPISODES, .dt_ms = 50, .surrogates = 200, .seed = 1},
    .significance = {.kind = SF_SIGNIFICANCE_SEGMENT_SHIFT, .surrogates = 500, .most = 1000, .seed = 1},
    .safe_loss = {.gaps = true, .malformed = true, .late = true, .dropped = true, .leaps = true},
    .topics = (1u << SF_TOPIC_COUNT) - 1,
    .queue = 1024,
    .bursts = {.spikes = 10},
    .responses = {.marker = SF_LIVE_NO_MARKER, .to_ms = 100, .baseline = 3, .bin_ms = 5, .every = 1},
    .queue_policy = SF_RING_BLOCK,
    .criticality = {.length_s = 100, .bin_ms = 4, .lags = 500},
};

#define DEFAULT_RATE_HZ 0.5 /* the threshold where none is given */

static const sf_live_density densities[] = {
    [SF_QUANTITY_ISI] = {.quantity = SF_QUANTITY_ISI, .method = "isj", .reselect = 0.2, .grid = 64},
    [SF_QUANTITY_DELAY] = {.quantity = SF_QUANTITY_DELAY, .method = "isj", .reselect = 0.2, .grid = 64},
    [SF_QUANTITY_RATE] = {.quantity = SF_QUANTITY_RATE, .method = "isj", .reselect = 0.2, .grid = 64},
    [SF_QUANTITY_POSITION] = {.quantity = SF_QUANTITY_POSITION,
                              .method = "silverman",
                              .reselect = 0.2,
                              .grid = 32},
};

static const sf_live_reach default_reach = {.hops = 2};
static const sf_live_pattern default_pattern = {.limit = 10};
static const sf_live_blank default_blank = {.to_ms = 1};

/* As SF_LIVE_TRIGGER_DEFAULTS, with a word for any label. */
static const sf_live_trigger default_trigger = {.armed = true,
                                                .max_age_ms = 100,
                                                .most_s = 1,
                                                .within_s = 1,
                                                .max_q = 1,
                                                .seed = 1,
                                                .label = "*",
                                                .spike = 1};

void sf_live_options_init(void *options, size_t size)
{
    sf_options_init(options, size, &sf_live_defaults, sizeof sf_live_defaults);
}

sf_live_density sf_live_density_default(sf_quantity quantity)
{
    bool is_known = (size_t)quantity < sizeof densities / sizeof densities[0];
    sf_live_density density = densities[is_known ? quantity : SF_QUANTITY_ISI];
    density.quantity = quantity; /* of one that is unknown, to be refused with it */
    return density;
}

/* ---- keys ---- */

static const char *const significances[] = {"off", "segment-shift", "jitter", "shift", NULL};
_Static_assert(SF_SIGNIFICANCE_SEGMENT_SHIFT == 1 && SF_SIGNIFICANCE_JITTER == 2 &&
                   SF_SIGNIFICANCE_SHIFT == 3,
               "the kinds are the places of their names");
static const char *const schedules[] = {"derived", "sequential", NULL};

#define ROW sf_live_reach
static const sf_key reach_keys[] = {
    TEXT("from", from, .needed = true, .example = "#0", .what = "a unit"),
    WHOLE("hops", hops, 1, 1000000, .what = "edges"),
    {0},
};
#undef ROW

#define ROW sf_live_pattern
static const sf_key pattern_keys[] = {
    TEXT("pattern", pattern, .needed = true, .example = "feed-forward-loop",
         .what = "a name, a file or the motif language, as `synfire match` takes it"),
    WHOLE("limit", limit, 0, 100000, .what = "list so many embeddings"),
    {0},
};
#undef ROW

#define ROW sf_live_density
static const sf_key density_keys[] = {
    CHOICE("quantity", quantity, sf_quantity_words,
           .what = "isi: inter-spike intervals of a unit, estimated on a logarithmic scale; delay: of the "
                   "last link of an episode; rate: of a unit's firing, one value a hop; position: where on "
                   "the array all spikes of the window were seen"),
    TEXT("unit", unit, .where = "quantity=isi,rate", .needed = true, .example = "#0",
         .what = "\"*\": every unit, each published when its bandwidth is chosen again"),
    TEXT("episode", episode, .where = "quantity=delay", .needed = true, .example = "#0 -(0,5]-> #1",
         .what = "\"*\": every episode under `track`"),
    TEXT("method", method, .words = sf_moving_methods, .where = "quantity=isi,delay,rate",
         .what = "how the bandwidth is chosen"),
    TEXT("method", method, .words = sf_moving_plane_methods, .where = "quantity=position",
         .what = "how the bandwidth is chosen"),
    REAL("reselect", reselect, 0, 100,
         .what = "and chosen again once this share of the samples has come or gone"),
    WHOLE("grid", grid, 2, 65536, .where = "quantity=isi,delay,rate",
          .what = "bins; of positions in x, and as many in y"),
    WHOLE("grid", grid, 2, 1024, .where = "quantity=position",
          .what = "bins; of positions in x, and as many in y"),
    {0},
};
#undef ROW

static bool is_name(const char *text)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return strlen(text) < 64 && text[strspn(text, allowed)] == '\0';
}

#define ROW sf_live_trigger
static const char *const trigger_causes[] = {"episode", "trigger", "rule", "burst", "burst-end", NULL};
static const sf_key trigger_keys[] = {
    CHOICE(
        "on", on, trigger_causes,
        .what =
            "episode: it completes; trigger: another was sent, as a yoked control; rule: it predicts another "
            "label; burst: one of the network is known; burst-end: none of its spikes is to come any more"),
    TEXT("name", name, .needed = true, .takes = is_name, .form = "at most 63 letters, digits, - and _",
         .what = "what messages call it"),
    TEXT("episode", episode, .where = "on=episode", .needed = true, .example = "#0 -(0,5]-> #1",
         .what = "that completes"),
    TEXT("follows", follows, .where = "on=trigger", .needed = true,
         .what = "the name of one that stands before it", .example = "episode"),
    TEXT("rule", rule, .where = "on=rule", .needed = true, .example = "stimulus.rule",
         .what = "the file of one of `rules`"),
    TEXT("label", label, .where = "on=rule", .what = "only where it predicts this one; \"*\": any"),
    WHOLE("spike", spike, 1, 1000000, .where = "on=burst",
          .what = "the k-th of the burst, or the one by which it is known where that is later"),
    SWITCH("armed", armed, .what = "from the beginning"),
    REAL("arm_s", arm_s, 0, 1e6, .live = true,
         .what = "arming lasts so long unless it is renewed; 0: to the end"),
    REAL("max_age_ms", max_age_ms, 0, 60000, .live = true,
         .what = "since its last spike was due: older ones are withheld and disarm it; 0: any age"),
    REAL("refractory_ms", refractory_ms, 0, 1e9, .live = true, .what = "the least time between two"),
    WHOLE("most", most, 0, 100000, .live = true, .what = "at most so many, 0: any number, ..."),
    REAL("most_s", most_s, 0.001, 1e6, .live = true, .what = "... within any so many seconds"),
    WHOLE("min_count", min_count, 0, 100000, .live = true,
          .what = "it takes so many completions, this one among them, ..."),
    REAL("within_s", within_s, 0.001, 1e6, .live = true, .what = "... within so many seconds of the stream"),
    REAL("max_q", max_q, 0, 1, .live = true,
         .what = "withheld above, and without a q; 1: whatever tests say"),
    REAL("delay_ms", delay_ms, 0, 1e7, .what = "sent so long after it completed, ..."),
    REAL("delay_to_ms", delay_to_ms, 0, 1e7,
         .what = "... or after a time between that and this one, drawn anew for each; 0: always delay_ms"),
    REAL("sham", sham, 0, 1, .live = true,
         .what = "this share is treated and logged as if it were sent, and is not"),
    WHOLE("seed", seed, 0, UINT32_MAX, .what = "of delays and shams"),
    REAL("blank_ms", blank_ms, 0, 60000, .what = "so long after it was sent nothing is analysed; 0: all is"),
    {0},
};
#undef ROW

#define ROW sf_live_blank
static const sf_key blank_keys[] = {
    TEXT("marker", marker, .needed = true, .example = "ttl2",
         .what = "a marker's text, or ttl2: rising edges of line 2"),
    REAL("from_ms", from_ms, 0, 60000,
         .form = "a number from 0 to 60000: live, what comes before a marker has gone by",
         .what = "left out from so long after it, ..."),
    REAL("to_ms", to_ms, 0, 60000, .what = "... until so long"),
    {0},
};
#undef ROW

static const sf_key_table blank_table = SF_KEY_TABLE(blank_keys, default_blank);
static const sf_key_table trigger_table = SF_KEY_TABLE(trigger_keys, default_trigger);
static const sf_key_table reach_table = SF_KEY_TABLE(reach_keys, default_reach);
static const sf_key_table pattern_table = SF_KEY_TABLE(pattern_keys, default_pattern);
static const sf_key_table density_table = {
    .parts = {density_keys}, .size = sizeof densities[0], .defaults = densities, .by_first = true};

static bool is_memory(const char *text)
{
    uint64_t bytes = 0;
    return strcmp(text, "auto") == 0 || (sf_parse_bytes(text, &bytes) && bytes > 0);
}

#define ROW sf_live_options
static const sf_key merge_keys[] = {
    REAL("lateness_ms", merge.lateness_ms, 0, 60000,
         .what = "how long a source's newest spike waits for older ones"),
    REAL("stall_ms", merge.stall_ms, 1, 600000,
         .what = "a silent source without a clock holds the others at most this long"),
    REAL("leap_s", merge.leap_s, 0, 1e9,
         .what = "a live time further ahead, or behind by over lateness_ms and 100 ms, is held until the "
                 "stream goes on from there; 0: every time is believed"),
    SWITCH("drop_duplicates", merge.drop_duplicates,
           .what = "drop a unit's second spike at one instant (it is counted either way)"),
    {0},
};

static const sf_key dedup_keys[] = {
    REAL("ms", dedup.ms, 0, 1000, .what = "within so long; 0: all are analysed"),
    REAL("um", dedup.um, 0, 1e6, .what = "of the same unit, or of one at most so far away"),
    {0},
};

static const sf_key safe_loss_keys[] = {
    SWITCH("gaps", safe_loss.gaps, .what = "frames missing by the sender's numbers"),
    SWITCH("malformed", safe_loss.malformed, .what = "frames with a fault"),
    SWITCH("late", safe_loss.late, .what = "spikes older than lateness_ms allows"),
    SWITCH("dropped", safe_loss.dropped, .what = "spikes that found a full ring"),
    SWITCH("leaps", safe_loss.leaps, .what = "spikes of times that were not believed"),
    SWITCH("out_of_range", safe_loss.out_of_range,
           .what = "spikes of units that were never told of; true: they disarm, and are holes as the others"),
    {0},
};

static const sf_key window_keys[] = {
    REAL("length_s", window.length_s, 0.001, 86400, .what = "a whole number of hops"),
    REAL("hop_s", window.hop_s, 0.001, 86400, .what = "counts are published once a hop"),
    REAL("silence_s", window.silence_s, 0, 1e9,
         .what = "of a longer silence the empty windows are left out; 0: none are. Of what a clock steps "
                 "over they always are"),
    {0},
};

static const sf_key mine_keys[] = {
    WHOLE("every", mine.every, 0, 1000000,
          .what = "hops between discoveries; 0: none, only `track` is counted. What takes longer comes "
                  "later: the status says how old the list is (list_age_s), and how often others come"),
    TEXT("delays_ms", mine.delays_ms,
         .what = "allowed delays LO:HI, several with commas: 0.5:5,5:10; 0.5:20/4 is the interval, its "
                 "halves and quarters"),
    REAL("min_count", mine.min_count, 0, 1e12,
         .what = "frequent from this count on. Of this and the two below at most one is over 0"),
    REAL("min_rate_hz", mine.min_rate_hz, 0, 1e6,
         .what = "... or from this count per second of the window on; it is 0.5 where none is given"),
    REAL("min_fraction", mine.min_fraction, 0, 1,
         .what = "... or from this count per spike of the window on. By rate or fraction at least 5 are "
                 "asked for"),
    {SF_ROW_MAX_SIZE, AT(mine.max_size)},
    {SF_ROW_REPEATS, AT(mine.repeats)},
    {SF_ROW_ENGINE, AT(mine.engine)},
    {SF_ROW_THREADS, AT(mine.threads)},
    WHOLE("track_most", mine.track_most, 0, 100000,
          .what = "track at most so many of the episodes found, the most significant first"),
    {0},
};

static const sf_key graph_keys[] = {
    SWITCH("enabled", graph.enabled, .what = "false: none is built"),
    CHOICE("metric", graph.metric, sf_metric_words,
           .what = "episodes: all frequent pairs, every hop; sttc: spike-time tiling, in the background"),
    REAL("dt_ms", graph.dt_ms, 0.000001, 3600000, .where = "metric=sttc",
         .what = "spikes at most so far apart are together"),
    WHOLE("surrogates", graph.surrogates, 0, 100000, .where = "metric=sttc",
          .what = "shifts of which a pair must exceed 95 %; 0: all pairs are edges"),
    LIST("reach", graph.reach, graph.reach_count, 1000, &reach_table,
         .what = "which units are within so many edges of a unit, and after what delay"),
    WHOLE("reach_all", graph.reach_all, 0, 1000000,
          .what = "how many units each unit reaches in so many edges; 0: not asked"),
    SWITCH("components", graph.components, .what = "which units are joined at all"),
    LIST("patterns", graph.patterns, graph.pattern_count, 100, &pattern_table,
         .what = "how often a pattern occurs"),
    SWITCH("census", graph.census, .what = "how often three units are joined in each of the 16 ways"),
    WHOLE("measures", graph.measures, 0, 1000000,
          .what =
              "degree, strength and module of every unit, each so many windows, in the background; 0: never"),
    WHOLE("rewired", graph.rewired, 2, 100000, .zero = "no comparison",
          .form = "a whole number from 2 to 100000, as one graph has no spread",
          .what = "hold these counts against so many rewired graphs, in the background"),
    WHOLE("seed", graph.seed, 0, UINT32_MAX, .what = "of shifts and of rewired graphs"),
    {0},
};

static const sf_key significance_keys[] = {
    CHOICE("kind", significance.kind, significances, .what = "see `synfire mine --help`"),
    REAL("length_s", significance.length_s, 0, 86400,
         .what = "of a stretch, a whole number of hops; 0: as long as the window, and at least 30 s. Where "
                 "too few occurrences are expected several are taken together, up to 600 s"),
    WHOLE("surrogates", significance.surrogates, 20, 100000, .what = "how many of each test"),
    WHOLE("most", significance.most, 1, 100000,
          .what = "test at most so many: watched, then tracked, then the edges most above chance"),
    WHOLE("seed", significance.seed, 0, UINT32_MAX, .what = "of surrogates"),
    {SF_ROW_MAX_P, AT(significance.max_p)},
    {SF_ROW_MAX_Q, AT(significance.max_q)},
    {0},
};

static const sf_key features_keys[] = {
    REAL("bin_ms", features.bin_ms, 1, 100, .zero = "nothing is counted", .what = "how long a bin is"),
    LIST("units", features.units, features.unit_count, 100000, NULL,
         .what = "names, #index, or \"*\" alone: all"),
    LIST("episodes", features.episodes, features.episode_count, 100000, NULL,
         .what = "as under `track`, names of triggers, or \"*\" alone: those under `watch`, then those of "
                 "triggers"),
    LIST("edges", features.edges, features.edge_count, 100000, NULL, .what = "episodes of two units"),
    SWITCH("bursts", bursts.in_features,
           .what = "spikes of network bursts, as `bursts` has them, from the one on by which each is known"),
    {0},
};

static const sf_key bursts_keys[] = {
    WHOLE("spikes", bursts.spikes, 2, SF_ISI_N_MOST, .what = "in a row"),
    REAL("within_ms", bursts.within_ms, 0, 60000,
         .what = "0: none are looked for; `synfire bursts --network-method isi-n` of a recording tells one"),
    {0},
};

static const sf_key responses_keys[] = {
    TEXT("marker", responses.marker,
         .what = "its text, or ttl3 for a rising edge of line 3; none: they are not looked for"),
    REAL("from_ms", responses.from_ms, 0, 1e6, .what = "of the window, after the marker, ..."),
    REAL("to_ms", responses.to_ms, 0.001, 1e6, .what = "... to"),
    WHOLE("baseline", responses.baseline, 1, SF_MOST_BASELINE, .what = "windows before it"),
    REAL("bin_ms", responses.bin_ms, 0.001, 1e6, .what = "of histograms"),
    WHOLE("every", responses.every, 1, 1000000, .what = "a message each so many trials"),
    {0},
};

static const sf_key criticality_keys[] = {
    REAL("every_s", criticality.every_s, 0.1, 86400, .zero = "off",
         .what = "of the stream, from its first spike on"),
    REAL("length_s", criticality.length_s, 1, 3600,
         .what = "of what it is of: at least four times the longest lag. Before so much has come it is of "
                 "all there is"),
    REAL("bin_ms", criticality.bin_ms, 0.1, 1000, .what = "of its fit"),
    WHOLE("lags", criticality.lags, 3, 10000, .what = "of its fit, in these bins"),
    {0},
};

static const sf_key_table criticality_table = {.parts = {criticality_keys}};
static const sf_key_table responses_table = {.parts = {responses_keys}};
static const sf_key_table bursts_table = {.parts = {bursts_keys}};
static const sf_key_table features_table = {.parts = {features_keys}};
static const sf_key_table merge_table = {.parts = {merge_keys}};
static const sf_key_table dedup_table = {.parts = {dedup_keys}};
static const sf_key_table safe_loss_table = {.parts = {safe_loss_keys}};
static const sf_key_table window_table = {.parts = {window_keys}};
static const sf_key_table mine_table = {.parts = {mine_keys}};
static const sf_key_table graph_table = {.parts = {graph_keys}};
static const sf_key_table significance_table = {.parts = {significance_keys}};

const sf_key sf_live_first_keys[] = {
    TEXT("stream", stream, .what = "the name that every published message carries"), {0}};

const sf_key sf_live_keys[] = {
    GROUP("merge", merge_table, .what = "how several sources become one stream"),
    GROUP("dedup", dedup_table,
          .what = "spikes that are recorded and not analysed, counted by cause in every status message "
                  "(docs/closed-loop.md): one that follows a kept one"),
    LIST("blank", blank, blank_count, 64, &blank_table,
         .what = "spikes after markers, likewise recorded and not analysed"),
    GROUP("window", window_table, .what = "what is counted and discovered in"),
    TEXT("device", device, .takes = sf_device_may_be, .form = "auto, cpu, cuda, cuda:N or cuda:all",
         .what = "where episodes are discovered and counted: cpu; cuda, cuda:1: this GPU, which must be "
                 "there; auto: the first GPU, if there is one, for what it does faster than the CPU; "
                 "cuda:all: the first GPU, and large discoveries on all"),
    TEXT("device_memory", device_memory, .takes = is_memory, .form = "auto or a size such as 8G or 512M",
         .what = "what may be taken of the memory of `device`; auto: nine tenths of what is free"),
    GROUP("mine", mine_table, .what = "discovery of frequent episodes in the window"),
    LIST("track", track, track_count, 100000, NULL,
         .what = "episodes that are counted every hop whatever discovery finds, as [\"A -(0.5,5]-> B\", \"#2 "
                 "-(0,5]-> #3\"]. A word is a unit's name, #2 an index from 0; quotes keep YAML from reading "
                 "# as a comment. \"@mined.json\" stands for all episodes of a file: what `synfire mine "
                 "--json` printed, or one a line"),
    LIST("watch", watch, watch_count, 100000, NULL,
         .what = "episodes that are published the moment one completes; files of them as under `track`"),
    LIST("triggers", triggers, trigger_count, 256, &trigger_table,
         .what = "triggers that may act on tissue: each has a name, is armed or not, and is withheld where "
                 "it must not be sent (docs/closed-loop.md)"),
    GROUP("safe_loss", safe_loss_table,
          .what = "which losses of a source disarm the triggers on its units. All are counted and told; all "
                  "but spikes of unknown units are holes, too: bins of features say so, and no p or q rests "
                  "on the stretch"),
    GROUP("features", features_table,
          .what = "what decoders take: counts in bins of the stream, each bin once (docs/closed-loop.md)"),
    GROUP("bursts", bursts_table,
          .what = "network bursts by ISI_N: so many spikes of any units in a row within so long "
                  "(docs/bursts.md). Their begin and end are messages, and what triggers wait for"),
    GROUP("responses", responses_table,
          .what = "responses to stimuli, told as trials come (docs/responses.md): spikes in a window after "
                  "each marker beside windows of the same length before it"),
    GROUP("criticality", criticality_table,
          .what = "the branching ratio of the last spikes, by multistep regression, with its interval and "
                  "when not to believe it, in the background (docs/criticality.md)"),
    GROUP("significance", significance_table,
          .what = "what counts are worth, in the background: the stream is cut into stretches, and what is "
                  "watched, tracked or an edge when one begins is tested in it. docs/messages.md says what p "
                  "and q are"),
    GROUP("graph", graph_table,
          .what = "the connectivity graph, and the questions asked of it; answers are published with the "
                  "graph. By the metric episodes an edge is a pair of units that is frequent in the window "
                  "at a delay under `mine`; whether it is tracked does not matter"),
    LIST("density", density, density_count, 1000, &density_table,
         .what = "distributions of timing. Each follows the window; of one unit or episode it is published "
                 "after each hop"),
    CHOICE("schedule", schedule, schedules,
           .what = "the stages of a hop: at once where what they read and change allows it, as `synfire "
                   "plan` prints, or one after the other. The results are the same"),
    {0},
};
#undef ROW

/* ---- what options mean together ---- */

int sf_live_refuse(const char *key, sf_error *error, const char *format, ...)
{
    char sentence[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return sf_fail(error, SF_CONFIG, key, "%s", sentence);
}

static int check_window(const sf_live_options *options, sf_error *error)
{
    int64_t length = sf_seconds_to_ns(options->window.length_s),
            hop = sf_seconds_to_ns(options->window.hop_s);
    if (length % hop == 0) return SF_OK;
    return sf_live_refuse("window.length_s", error, "found %g s, expected a whole number of hops of %g s",
                          options->window.length_s, options->window.hop_s);
}

static int check_blanks(const sf_live_options *options, sf_error *error)
{
    for (uint32_t i = 0; i < options->blank_count; i++) {
        const sf_live_blank *blank = &options->blank[i];
        char key[48];
        snprintf(key, sizeof key, "blank.%u.from_ms", i);
        if (blank->from_ms >= blank->to_ms)
            return sf_live_refuse(key, error, "found %g to %g ms, expected the first before the second",
                                  blank->from_ms, blank->to_ms);
        if (blank->from_ms > SF_BLANK_LEAD * (blank->to_ms - blank->from_ms))
            return sf_live_refuse(key, error,
                                  "found %g to %g ms, expected it to begin within %d times its length",
                                  blank->from_ms, blank->to_ms, SF_BLANK_LEAD);
    }
    return SF_OK;
}

static int resolve_mining(sf_live_options *options, sf_error *error)
{
    sf_live_mine *mine = &options->mine;
    int positive = (mine->min_count > 0) + (mine->min_rate_hz > 0) + (mine->min_fraction > 0);
    if (positive > 1)
        return sf_live_refuse("mine", error,
                              "found more than one of min_count, min_rate_hz and min_fraction, expected one");
    if (positive == 0) mine->min_rate_hz = DEFAULT_RATE_HZ;
    sf_delay delays[SF_LIVE_MOST_DELAYS];
    size_t count;
    sf_error problem;
    if (sf_delays_parse(delays, SF_LIVE_MOST_DELAYS, &count, mine->delays_ms, &problem) != SF_OK)
        return sf_live_refuse("mine.delays_ms", error, "%s", problem.text);
    int64_t length = sf_seconds_to_ns(options->window.length_s);
    for (size_t i = 0; i < count; i++)
        if (delays[i].high_ns >= length)
            return sf_live_refuse("mine.delays_ms", error,
                                  "found a delay of up to %g ms, expected less than the window of %g s",
                                  (double)delays[i].high_ns / 1e6, options->window.length_s);
    return SF_OK;
}

/* Stretches are made of whole hops, and no delay may reach over one. */
static int check_significance(const sf_live_options *options, sf_error *error)
{
    const sf_live_significance *asked = &options->significance;
    int64_t length = sf_seconds_to_ns(asked->length_s), hop = sf_seconds_to_ns(options->window.hop_s);
    if (length % hop != 0 || (asked->length_s > 0 && length == 0))
        return sf_live_refuse("significance.length_s", error,
                              "found %g s, expected 0 or a whole number of hops of %g s", asked->length_s,
                              options->window.hop_s);
    if (asked->kind == 0 && (asked->max_p > 0 || asked->max_q > 0))
        return sf_live_refuse(asked->max_q > 0 ? "significance.max_q" : "significance.max_p", error,
                              "found %g, expected 0 where significance.kind is off: nothing has a p or q",
                              asked->max_q > 0 ? asked->max_q : asked->max_p);
    return SF_OK;
}

static int check_graph(const sf_live_options *options, sf_error *error)
{
    if (options->graph.metric == SF_LIVE_STTC && options->graph.dt_ms >= options->window.length_s * 1e3)
        return sf_live_refuse("graph.dt_ms", error, "found %g ms, expected less than the window of %g s",
                              options->graph.dt_ms, options->window.length_s);
    return SF_OK;
}

uint32_t sf_live_find_trigger(const sf_live_options *options, const char *name)
{
    uint32_t i = 0;
    while (i < options->trigger_count && strcmp(options->triggers[i].name, name) != 0)
        i++;
    return i;
}

static int check_name(const sf_live_options *options, uint32_t index, const char *key, sf_error *error)
{
    const char *name = options->triggers[index].name;
    return sf_live_find_trigger(options, name) == index
               ? SF_OK
               : sf_live_refuse(key, error, "the name '%s' is given twice", name);
}

static int check_trigger(const sf_live_options *options, uint32_t index, sf_error *error)
{
    const sf_live_trigger *trigger = &options->triggers[index];
    char key[48];
    snprintf(key, sizeof key, "triggers.%u.name", index);
    int status = check_name(options, index, key, error);
    if (status != SF_OK) return status;
    snprintf(key, sizeof key, "triggers.%u.follows", index);
    if (trigger->on == SF_LIVE_ON_TRIGGER && sf_live_find_trigger(options, trigger->follows) >= index)
        return sf_live_refuse(key, error,
                              "found '%.60s', expected the name of a trigger that stands before it",
                              trigger->follows);
    snprintf(key, sizeof key, "triggers.%u.max_q", index);
    if (trigger->on == SF_LIVE_ON_RULE && trigger->max_q < 1)
        return sf_live_refuse(key, error, "found %g, expected 1: what a rule says of a window has no q",
                              trigger->max_q);
    bool of_bursts = trigger->on == SF_LIVE_ON_BURST || trigger->on == SF_LIVE_ON_BURST_END;
    if (of_bursts && trigger->max_q < 1)
        return sf_live_refuse(key, error, "found %g, expected 1: a network burst has no q", trigger->max_q);
    snprintf(key, sizeof key, "triggers.%u.on", index);
    if (of_bursts && options->bursts.within_ms <= 0)
        return sf_live_refuse(key, error, "it waits for network bursts: set bursts.within_ms");
    snprintf(key, sizeof key, "triggers.%u.delay_to_ms", index);
    if (trigger->delay_to_ms > 0 && trigger->delay_to_ms < trigger->delay_ms)
        return sf_live_refuse(key, error, "found %g ms, expected 0 or at least delay_ms, %g",
                              trigger->delay_to_ms, trigger->delay_ms);
    return SF_OK;
}

static int check_triggers(const sf_live_options *options, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < options->trigger_count && status == SF_OK; i++)
        status = check_trigger(options, i, error);
    return status;
}

static int check_features(const sf_live_options *options, sf_error *error)
{
    const sf_live_features *asked = &options->features;
    bool bursts = options->bursts.in_features,
         any = asked->unit_count + asked->episode_count + asked->edge_count > 0 || bursts;
    if (bursts && options->bursts.within_ms <= 0)
        return sf_live_refuse("features.bursts", error, "it counts network bursts: set bursts.within_ms");
    if (asked->bin_ms == 0 && any)
        return sf_live_refuse("features.bin_ms", error, "found 0 ms, expected from 1 to 100");
    if (asked->bin_ms > 0 && !any)
        return sf_live_refuse("features", error,
                              "found no units, episodes, edges or bursts, expected some to count");
    return SF_OK;
}

/* A message has the bins of every unit. */
#define MOST_RESPONSE_BINS 10000

static int check_responses(const sf_live_options *options, sf_error *error)
{
    const sf_live_responses *asked = &options->responses;
    double length = asked->to_ms - asked->from_ms, bins = (asked->baseline + 2) * length / asked->bin_ms;
    if (asked->to_ms <= asked->from_ms)
        return sf_live_refuse("responses.to_ms", error, "found %g, expected more than responses.from_ms, %g",
                              asked->to_ms, asked->from_ms);
    if (bins > MOST_RESPONSE_BINS)
        return sf_live_refuse("responses.bin_ms", error,
                              "found %g, which makes %.6g bins, expected at most %d", asked->bin_ms, bins,
                              MOST_RESPONSE_BINS);
    return SF_OK;
}

static int check_criticality(const sf_live_options *options, sf_error *error)
{
    const sf_live_criticality *asked = &options->criticality;
    double longest_s = asked->lags * asked->bin_ms * 1e-3;
    if (asked->length_s < 4 * longest_s)
        return sf_live_refuse(
            "criticality.length_s", error,
            "found %g s, expected at least %g: four times the longest lag, %u bins of %g ms", asked->length_s,
            4 * longest_s, asked->lags, asked->bin_ms);
    return SF_OK;
}

int sf_live_resolve(sf_live_options *options, sf_error *error)
{
    static const sf_key_table all = {.parts = {sf_live_first_keys, sf_live_keys}};
    int status = sf_keys_check(&all, options, SF_CONFIG, error);
    if (status == SF_OK) status = check_window(options, error);
    if (status == SF_OK) status = check_blanks(options, error);
    if (status == SF_OK) status = resolve_mining(options, error);
    if (status == SF_OK) status = check_significance(options, error);
    if (status == SF_OK) status = check_triggers(options, error);
    if (status == SF_OK) status = check_features(options, error);
    if (status == SF_OK) status = check_responses(options, error);
    if (status == SF_OK) status = check_criticality(options, error);
    return status == SF_OK ? check_graph(options, error) : status;
}
