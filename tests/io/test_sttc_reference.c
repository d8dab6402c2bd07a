/* SPDX-License-Identifier: Apache-2.0 */
/* Spike-time tiling of two real recordings, beside matrices computed elsewhere in floating-point seconds.
 *
 * Spikes of these recordings lie on a grid of 50 us, so pairs of spikes exactly dt apart are common, and in
 * floating point the last bit of each time decides whether they are at most dt apart: differently in the two
 * files, since one holds times rounded from decimals and the other multiples of the tick. In integers they
 * always are. So pairs of units without such a tie must agree to 1e-12, and the others must lie where ties
 * can put them: between the coefficient with none of the ties counted and that with all of them, which is
 * ours. */
#include "support/support.h"

#include "analysis/sttc.h"
#include "replay/recording_file.h"

#include <math.h>

typedef struct shares {
    double close, close_without_ties;
    bool ties;
} shares;

static shares count_shares(sf_train a, sf_train b, int64_t dt)
{
    size_t close = 0, inside = 0;
    for (size_t i = 0; i < a.count; i++) {
        int64_t nearest = INT64_MAX;
        for (size_t j = 0; j < b.count; j++) {
            int64_t distance = llabs(a.times_ns[i] - b.times_ns[j]);
            nearest = distance < nearest ? distance : nearest;
        }
        close += nearest <= dt;
        inside += nearest < dt;
    }
    return (shares){(double)close / (double)a.count, (double)inside / (double)a.count, close != inside};
}

static double tiled_share(sf_train train, const sf_sttc_options *options)
{
    double tiled = 2.0 * (double)options->dt_ns * (double)train.count, dt = (double)options->dt_ns;
    for (size_t i = 1; i < train.count; i++) {
        double gap = (double)(train.times_ns[i] - train.times_ns[i - 1]);
        tiled -= gap < 2 * dt ? 2 * dt - gap : 0;
    }
    double start = (double)(train.times_ns[0] - options->recorded.start_ns);
    double stop = (double)(options->recorded.stop_ns - train.times_ns[train.count - 1]);
    tiled -= start < dt ? dt - start : 0;
    tiled -= stop < dt ? dt - stop : 0;
    return tiled / (double)(options->recorded.stop_ns - options->recorded.start_ns);
}

static double combine(double pa, double pb, double ta, double tb)
{
    return ((pa - tb) / (1 - pa * tb) + (pb - ta) / (1 - pb * ta)) / 2;
}

/* Returns whether the pair has ties. */
static bool compare_pair(sf_train a, sf_train b, const sf_sttc_options *options, double found,
                         double expected)
{
    shares x = count_shares(a, b, options->dt_ns), y = count_shares(b, a, options->dt_ns);
    double ta = tiled_share(a, options), tb = tiled_share(b, options);
    double upper = combine(x.close, y.close, ta, tb);
    double lower = combine(x.close_without_ties, y.close_without_ties, ta, tb);
    if (!(fabs(found - upper) <= 1e-12 && expected >= lower - 1e-12 && expected <= upper + 1e-12))
        fail_msg("found %.17g, expected %.17g, between %.17g and %.17g", found, expected, lower, upper);
    return x.ties || y.ties;
}

static void compare(const char *recording_path, const char *matrix_path, size_t most_ties)
{
    char *path = test_data_path(recording_path), *expected_path = test_data_path(matrix_path);
    if (path == NULL || expected_path == NULL) {
        free(path);
        free(expected_path);
        skip();
    }
    sf_recording recording;
    sf_error error;
    if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    sf_unit_trains trains;
    assert_int_equal(
        sf_trains_split(&trains, recording.spikes, recording.spike_count, recording.units.count, NULL),
        SF_OK);
    const sf_sttc_options options = {
        .dt_ns = 50000000,
        .recorded = {recording.spikes[0].time_ns, recording.spikes[recording.spike_count - 1].time_ns},
        .threads = 2};
    size_t n = trains.count, values = 0, ties = 0;
    double *matrix = calloc(n * n, sizeof *matrix), expected;
    sf_connectivity graph;
    assert_int_equal(sf_sttc_graph(&graph, &trains, &options, NULL), SF_OK);
    assert_int_equal(graph.count, n * (n - 1) / 2);
    for (size_t i = 0; i < graph.count; i++)
        matrix[graph.links[i].from * n + graph.links[i].to] = graph.links[i].coefficient;
    sf_connectivity_free(&graph);
    FILE *file = fopen(expected_path, "r");
    assert_non_null(file);
    for (; fscanf(file, "%lf", &expected) == 1 && values < n * n; values++)
        if (values / n < values % n)
            ties += compare_pair(trains.items[values / n], trains.items[values % n], &options, matrix[values],
                                 expected);
    assert_int_equal(values, n * n);
    assert_true(ties > 0 && ties <= most_ties);
    fclose(file);
    free(matrix);
    sf_trains_free(&trains);
    sf_recording_clear(&recording);
    free(path);
    free(expected_path);
}

static void demas(void **state)
{
    (void)state;
    compare("recordings/Demas2003_P9_CTRL_MY1_1A.h5", "sttc/demas2003_P9_CTRL_MY1_1A_sttc_dt50ms.tsv", 40);
}

static void wong(void **state)
{
    (void)state;
    compare("recordings/Wong1993_P0.h5", "sttc/wong1993_P0_sttc_dt50ms.tsv", 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(demas), cmocka_unit_test(wong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
