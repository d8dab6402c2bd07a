/* SPDX-License-Identifier: Apache-2.0 */
/* The public header alone, as a program that links libsynfire uses it. */
#include "support/support.h"

#include <unistd.h>

static char *write_recording(void)
{
    char *path = test_temporary_path(".csv");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 100; i++)
        fprintf(file, "A,%d.000\nB,%d.005\nC,%d.012\n", i, i, i);
    fclose(file);
    return path;
}

static void a_program_finds_and_counts_a_chain(void **state)
{
    (void)state;
    char *path = write_recording();
    sf_recording *recording;
    sf_error error;
    assert_int_equal(sf_recording_open(&recording, path, NULL, NULL, &error), SF_OK);
    const sf_delay delays[] = {{4000000, 10000000}};
    sf_mining_options mining = sf_mining_options_default();
    mining.delays = delays;
    mining.threshold = 50;
    sf_episodes *episodes;
    sf_episodes_columns told = {.size = sizeof told};
    assert_int_equal(sf_mine(&episodes, recording, &mining, NULL, &error), SF_OK);
    sf_episodes_get_columns(episodes, &told);
    assert_int_equal(told.count, 3); /* A B, B C, A B C */
    assert_int_equal(told.episodes[2].size, 3);
    assert_int_equal(told.counts[2], 100);
    assert_true(told.expected[2] < 1);
    sf_episodes_free(episodes);

    sf_episode chain;
    assert_int_equal(sf_recording_parse_episode(recording, "A -(4,6]-> B -(6,8]-> #2", &chain, &error),
                     SF_OK);
    const sf_span span = {INT64_C(10000000000), INT64_C(20000000000)};
    sf_counting_options counting = sf_counting_options_default();
    counting.spans = &span;
    counting.span_count = 1;
    assert_int_equal(sf_count(&episodes, recording, &chain, 1, &counting, NULL, &error), SF_OK);
    sf_episodes_get_columns(episodes, &told);
    assert_true(told.counts[0] == 100 && told.span_counts[0] == 10);
    sf_episodes_free(episodes);
    sf_recording_free(recording);
    unlink(path);
    free(path);
}

static void what_cannot_be_says_why(void **state)
{
    (void)state;
    sf_recording *recording;
    sf_error error;
    char *path = write_recording();
    assert_int_equal(sf_recording_open(&recording, path, NULL, NULL, &error), SF_OK);
    sf_mining_options nothing = sf_mining_options_default();
    nothing.delay_count = 0;
    sf_episodes *episodes;
    test_assert_fails(sf_mine(&episodes, recording, &nothing, NULL, &error), &error, SF_USAGE, NULL);
    assert_null(episodes);
    sf_episode chain;
    test_assert_fails(sf_recording_parse_episode(recording, "A -(4,6]-> X", &chain, &error), &error, SF_USAGE,
                      "X");
    sf_recording_free(recording);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_finds_and_counts_a_chain),
        cmocka_unit_test(what_cannot_be_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
