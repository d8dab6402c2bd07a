/* SPDX-License-Identifier: Apache-2.0 */
/* However a stream is cut into pieces, and whatever ranks go through them: what is found is what one finds
 * who holds it all, and none holds more than a piece and what reaches into it. */
#include "support/ranks.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/pieces.h"
#include "mine/mine.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIECES = 12, UNITS = 4 };

/* Pieces of a stream in memory. */
typedef struct cut_stream {
    sf_pieces base; /* first: what reading is given */
    const sf_spike *spikes;
    size_t count, cuts[MOST_PIECES + 1];
    uint32_t damaged; /* a piece that cannot be read, or none */
} cut_stream;

static int read_piece(const sf_pieces *pieces, uint32_t piece, sf_recording *recording, sf_error *error)
{
    const cut_stream *s = (const cut_stream *)pieces;
    size_t count = s->cuts[piece + 1] - s->cuts[piece];
    *recording = (sf_recording){0};
    if (piece == s->damaged) return sf_fail(error, SF_DATA, "stream", "piece %u is damaged", piece);
    recording->spikes = sf_resize(NULL, count, sizeof *recording->spikes);
    if (recording->spikes == NULL) return sf_fail_memory(error);
    if (count > 0) memcpy(recording->spikes, s->spikes + s->cuts[piece], count * sizeof *recording->spikes);
    recording->spike_count = count;
    return SF_OK;
}

static int compare_cuts(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Anywhere, also so that pieces are empty. */
static cut_stream cut(test_random *random, const sf_spike *spikes, size_t count)
{
    cut_stream s = {.spikes = spikes, .count = count, .damaged = UINT32_MAX};
    s.base.read = read_piece;
    s.base.count = 1 + (uint32_t)test_random_below(random, MOST_PIECES);
    for (uint32_t i = 1; i < s.base.count; i++)
        s.cuts[i] = (size_t)test_random_below(random, count + 1);
    s.cuts[s.base.count] = count;
    qsort(s.cuts, s.base.count + 1, sizeof *s.cuts, compare_cuts);
    return s;
}

static size_t longest_piece(const cut_stream *s)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < s->base.count; i++)
        longest = s->cuts[i + 1] - s->cuts[i] > longest ? s->cuts[i + 1] - s->cuts[i] : longest;
    return longest;
}

/* ---- walking ---- */

typedef struct walking {
    const cut_stream *stream;
    int64_t reach_ns;
    size_t seen[TEST_MOST_RANKS], most[TEST_MOST_RANKS]; /* by rank: spikes of its own; held at once */
    bool wrong[TEST_MOST_RANKS];
    int status[TEST_MOST_RANKS];
    sf_error errors[TEST_MOST_RANKS];
} walking;

typedef struct walker {
    walking *all;
    uint32_t rank;
} walker;

/* Where a piece lies in the stream is told by its first spike: these are numbered by their amplitudes. */
static int look_at(void *context, const sf_piece *piece, sf_error *error)
{
    (void)error;
    const walker *own = context;
    walking *w = own->all;
    const sf_spike *all = w->stream->spikes;
    size_t first = (size_t)piece->spikes[0].amplitude, begin = first + piece->before;
    bool same = piece->count > piece->before && first + piece->count <= w->stream->count &&
                memcmp(piece->spikes, all + first, piece->count * sizeof *all) == 0;
    bool reaches = same && (first == 0 ||
                            (piece->before > 0 && all[first - 1].time_ns < all[begin].time_ns - w->reach_ns));
    w->wrong[own->rank] = w->wrong[own->rank] || !same || !reaches;
    w->seen[own->rank] += piece->count - piece->before;
    size_t held = piece->count;
    /* What a piece is preceded by may reach back from the last spike before it. */
    size_t reaching = 1;
    while (same && begin > reaching &&
           all[begin - 1 - reaching].time_ns >= all[begin - 1].time_ns - w->reach_ns)
        reaching++;
    w->wrong[own->rank] = w->wrong[own->rank] || held > longest_piece(w->stream) + reaching;
    w->most[own->rank] = held > w->most[own->rank] ? held : w->most[own->rank];
    return SF_OK;
}

static void walk(void *context, uint32_t rank)
{
    walking *w = context;
    walker own = {w, rank};
    w->status[rank] = sf_pieces_walk(&w->stream->base, w->reach_ns, look_at, &own, &w->errors[rank]);
}

static sf_spike *make_stream(test_random *random, size_t *count)
{
    sf_spike *spikes;
    *count = test_random_stream(random, &spikes, 20 + test_random_below(random, 300), UNITS, 600);
    for (size_t i = 0; i < *count; i++)
        spikes[i].amplitude = (float)i;
    return spikes;
}

static void test_a_walk_holds_a_piece_and_what_reaches_into_it(void **state)
{
    (void)state;
    test_random random = test_random_start("test_a_walk_holds_a_piece_and_what_reaches_into_it", 9101);
    for (int round = 0; round < test_rounds(200); round++) {
        size_t count;
        sf_spike *spikes = make_stream(&random, &count);
        cut_stream s = cut(&random, spikes, count);
        walking w = {.stream = &s, .reach_ns = (int64_t)test_random_below(&random, 60)};
        uint32_t ranks = 1 + (uint32_t)test_random_below(&random, TEST_MOST_RANKS);
        test_ranks_run(ranks, 1, walk, &w);
        size_t seen = 0;
        for (uint32_t r = 0; r < ranks; r++) {
            assert_int_equal(w.status[r], SF_OK);
            assert_false(w.wrong[r]);
            seen += w.seen[r];
        }
        assert_int_equal(seen, count);
        free(spikes);
    }
}

static void test_pieces_out_of_order_are_refused(void **state)
{
    (void)state;
    sf_spike spikes[] = {{10, 0, 0}, {20, 0, 1}, {15, 0, 2}, {30, 0, 3}};
    cut_stream s = {.spikes = spikes, .count = 4, .damaged = UINT32_MAX, .cuts = {0, 2, 4}};
    s.base.read = read_piece;
    s.base.count = 2;
    for (uint32_t ranks = 1; ranks <= 2; ranks++) { /* within a rank, and where two meet */
        walking w = {.stream = &s};
        test_ranks_run(ranks, 1, walk, &w);
        test_assert_fails(w.status[ranks - 1], &w.errors[ranks - 1], SF_DATA, "not in the order of time");
    }
}

/* ---- mining ---- */

typedef struct mining {
    const cut_stream *stream;
    const sf_units *units;
    sf_mining_options options;
    sf_mine_result *results[TEST_MOST_RANKS];
    int status[TEST_MOST_RANKS];
    sf_error errors[TEST_MOST_RANKS];
} mining;

static int mine_pieces(const mining *m, sf_mine_result **result, sf_error *error)
{
    cut_stream *own = malloc(sizeof *own); /* a survey is a rank's own */
    *own = *m->stream;
    *result = NULL;
    int status = sf_pieces_survey(&own->base, UNITS, NULL, error);
    sf_mine_input input = {
        .spike_count = own->base.spike_count, .units = m->units, .duration_ns = 1000, .pieces = &own->base};
    if (status == SF_OK) status = sf_mine_spikes(result, &input, &m->options, NULL, error);
    sf_free(own->base.unit_spikes);
    sf_free(own->base.own_spikes);
    free(own);
    return status;
}

static void mine(void *context, uint32_t rank)
{
    mining *m = context;
    m->status[rank] = mine_pieces(m, &m->results[rank], &m->errors[rank]);
}

static void check_same(const sf_mine_result *found, const sf_mine_result *expected)
{
    assert_int_equal(found->count, expected->count);
    assert_int_equal(found->level_count, expected->level_count);
    for (uint32_t i = 0; i < expected->level_count; i++) {
        assert_int_equal(found->levels[i].candidates, expected->levels[i].candidates);
        assert_int_equal(found->levels[i].frequent, expected->levels[i].frequent);
    }
    for (size_t i = 0; i < expected->count; i++) {
        sf_episode one, other;
        sf_mine_result_episode(found, i, &one);
        sf_mine_result_episode(expected, i, &other);
        assert_int_equal(sf_episode_compare(&one, &other), 0);
        assert_int_equal(found->items[i].count, expected->items[i].count);
        test_assert_same(found->items[i].expected, expected->items[i].expected);
        test_assert_same(found->items[i].strength, expected->items[i].strength);
    }
}

static sf_units make_units(void)
{
    const sf_unit unit = {.x_um = 0, .y_um = 0, .electrode = -1};
    sf_units units = {0};
    for (int u = 0; u < UNITS; u++)
        assert_int_equal(sf_units_add(&units, &unit, NULL), SF_OK);
    return units;
}

static const sf_delay delays[] = {{0, 6}, {4, 15}};

static mining start_mining(const cut_stream *s, const sf_units *units)
{
    mining m = {.stream = s, .units = units};
    m.options = sf_mining_options_default();
    m.options.delays = delays;
    m.options.delay_count = 2;
    m.options.threshold = 6;
    m.options.repeats = true;
    m.options.threads = 1;
    return m;
}

static void test_pieces_are_mined_as_the_whole(void **state)
{
    (void)state;
    test_random random = test_random_start("test_pieces_are_mined_as_the_whole", 9102);
    sf_units units = make_units();
    size_t found = 0;
    for (int round = 0; round < test_rounds(25); round++) {
        size_t count;
        sf_spike *spikes = make_stream(&random, &count);
        cut_stream s = cut(&random, spikes, count);
        mining m = start_mining(&s, &units);
        sf_mine_input input = {.spikes = spikes, .spike_count = count, .units = &units, .duration_ns = 1000};
        sf_mine_result *expected;
        assert_int_equal(sf_mine_spikes(&expected, &input, &m.options, NULL, NULL), SF_OK);
        uint32_t ranks = 1 + (uint32_t)test_random_below(&random, TEST_MOST_RANKS);
        test_ranks_run(ranks, random.state, mine, &m);
        for (uint32_t r = 0; r < ranks; r++) {
            assert_int_equal(m.status[r], SF_OK);
            check_same(m.results[r], expected);
            sf_mine_result_free(m.results[r]);
        }
        found += expected->count;
        sf_mine_result_free(expected);
        free(spikes);
    }
    assert_true(found > 500);
    sf_units_free(&units);
}

/* ---- what goes wrong ---- */

static void test_a_damaged_piece_fails_all_ranks(void **state)
{
    (void)state;
    test_random random = test_random_start("test_a_damaged_piece_fails_all_ranks", 9103);
    sf_units units = make_units();
    size_t count;
    sf_spike *spikes = make_stream(&random, &count);
    cut_stream s = cut(&random, spikes, count);
    s.damaged = s.base.count - 1;
    mining m = start_mining(&s, &units);
    test_ranks_run(3, 1, mine, &m);
    for (uint32_t r = 0; r < 3; r++) {
        assert_null(m.results[r]);
        test_assert_fails(m.status[r], &m.errors[r], SF_DATA, "is damaged");
    }
    free(spikes);
    sf_units_free(&units);
}

static void test_only_the_interval_engine_counts_pieces(void **state)
{
    (void)state;
    test_random random = test_random_start("test_only_the_interval_engine_counts_pieces", 9104);
    sf_units units = make_units();
    size_t count;
    sf_error error;
    sf_mine_result *result;
    sf_spike *spikes = make_stream(&random, &count);
    cut_stream s = cut(&random, spikes, count);
    mining m = start_mining(&s, &units);
    m.options.engine = "mtpe";
    test_assert_fails(mine_pieces(&m, &result, &error), &error, SF_USAGE, "the engine interval counts");
    m.options.engine = NULL;
    m.options.device = "cuda";
    test_assert_fails(mine_pieces(&m, &result, &error), &error, SF_USAGE, "the CPU counts");
    free(spikes);
    sf_units_free(&units);
}

static int mine_little(void *context)
{
    sf_mine_result *result;
    sf_error error;
    int status = mine_pieces(context, &result, &error);
    sf_mine_result_free(result);
    return status;
}

static void test_without_memory(void **state)
{
    (void)state;
    test_random random = test_random_start("test_without_memory", 9105);
    sf_units units = make_units();
    sf_spike *spikes;
    size_t count = test_random_stream(&random, &spikes, 40, UNITS, 100);
    cut_stream s = cut(&random, spikes, count);
    mining m = start_mining(&s, &units);
    m.options.max_size = 2;
    test_fail_every_allocation(mine_little, &m);
    free(spikes);
    sf_units_free(&units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_walk_holds_a_piece_and_what_reaches_into_it),
        cmocka_unit_test(test_pieces_out_of_order_are_refused),
        cmocka_unit_test(test_pieces_are_mined_as_the_whole),
        cmocka_unit_test(test_a_damaged_piece_fails_all_ranks),
        cmocka_unit_test(test_only_the_interval_engine_counts_pieces),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
