/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of files that hold spikes train by train: pieces of the stream follow one another as in the whole,
 * and parts of the rows are together the rows. */
#include "support/hdf_files.h"
#include "support/support.h"

#include "replay/reader.h"
#include "support/read_hdf5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *path;

static int make_path(void **state)
{
    (void)state;
    sf_hdf_begin();
    path = test_temporary_path(".h5");
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    free(path);
    return 0;
}

enum { MOST_TRAINS = 9 };

/* Trains one after the other; what lies between the counts of a layout is its own. */
typedef struct trains {
    double *seconds, counts[MOST_TRAINS], ends[MOST_TRAINS];
    size_t rows, count;
} trains;

static int compare_seconds(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Some are empty, some silent for long, and many spikes are at the same time. */
static trains make_trains(test_random *random, size_t most)
{
    trains t = {.count = 1 + test_random_below(random, MOST_TRAINS)};
    t.seconds = calloc(t.count * most + 1, sizeof *t.seconds);
    for (size_t i = 0; i < t.count; i++) {
        size_t own = test_random_below(random, 4) == 0 ? 0 : test_random_below(random, most);
        own += t.rows + own == 0 && i + 1 == t.count; /* of all, one at least */
        double *seconds = t.seconds + t.rows;
        for (size_t k = 0; k < own; k++) {
            double at = test_random_below(random, 3) == 0 ? 1000 + pow(10, 4 * test_random_unit(random))
                                                          : (double)test_random_below(random, 300) * 1e-3;
            seconds[k] = round(at * 1000) * 1e-3;
        }
        qsort(seconds, own, sizeof *seconds, compare_seconds);
        t.counts[i] = (double)own;
        t.rows += own;
        t.ends[i] = (double)t.rows;
    }
    return t;
}

static void write_trains(const trains *t, bool nwb)
{
    hid_t file = test_hdf_create(path);
    if (nwb) test_hdf_attribute(file, "/", "nwb_version", true, "2.6.0");
    test_hdf_numbers(file, nwb ? "/units/spike_times" : "/spikes", H5T_IEEE_F64LE, t->rows, 0, t->seconds);
    test_hdf_numbers(file, nwb ? "/units/spike_times_index" : "/sCount", H5T_STD_I64LE, t->count, 0,
                     nwb ? t->ends : t->counts);
    test_hdf_close(file);
}

static int read_part(sf_recording *recording, uint32_t part, uint32_t parts, bool piece, sf_error *error)
{
    sf_hdf_input input = {.path = path};
    int status = sf_hdf_open_file(&input, error);
    input.part = part;
    input.parts = parts;
    input.only_part = piece;
    if (status == SF_OK) status = test_read_hdf5(recording, &input, error);
    sf_hdf_close(input.file);
    return status;
}

static void assert_same_spikes(const sf_spike *a, const sf_spike *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].time_ns, b[i].time_ns);
        assert_int_equal(a[i].unit, b[i].unit);
    }
}

/* All parts, one after the other. */
static void check_parts(const sf_recording *whole, uint32_t parts, bool piece)
{
    sf_spike *all = calloc(whole->spike_count + 1, sizeof *all);
    size_t count = 0;
    for (uint32_t p = 0; p < parts; p++) {
        sf_recording part;
        sf_error error = {0};
        if (read_part(&part, p, parts, piece, &error) != SF_OK) fail_msg("%s", error.text);
        assert_true(part.is_part);
        assert_int_equal(part.file_spikes, whole->spike_count);
        assert_int_equal(part.units.count, whole->units.count);
        assert_int_equal(part.spike_count, (uint64_t)whole->spike_count * (p + 1) / parts - count);
        memcpy(all + count, part.spikes, part.spike_count * sizeof *all);
        count += part.spike_count;
        sf_recording_clear(&part);
    }
    if (!piece) assert_int_equal(sf_spikes_sort(all, count, NULL), SF_OK);
    assert_int_equal(count, whole->spike_count);
    assert_same_spikes(all, whole->spikes, count);
    free(all);
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    test_random random = test_random_start("parts_make_the_whole", 9301);
    for (int round = 0; round < test_rounds(24); round++) {
        trains t = make_trains(&random, round % 3 == 0 ? 5 : 700);
        write_trains(&t, round % 2 != 0);
        sf_recording whole;
        assert_int_equal(read_part(&whole, 0, 0, false, NULL), SF_OK);
        assert_false(whole.is_part);
        assert_int_equal(whole.spike_count, t.rows);
        for (uint32_t parts = 1; parts <= 8; parts = parts * 2 + (parts == 1))
            for (int piece = 0; piece < 2; piece++)
                check_parts(&whole, parts, piece != 0);
        if (t.rows > 0 && t.rows < 40) check_parts(&whole, (uint32_t)t.rows, true);
        sf_recording_clear(&whole);
        free(t.seconds);
    }
}

/* What a train holds before a piece is not looked at but for a few rows: nobody sees that it is no number. */
static void a_piece_is_read_alone(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    trains t = {.seconds = calloc(2 * ROWS, sizeof *t.seconds), .rows = 2 * ROWS, .count = 2};
    for (size_t i = 0; i < 2 * ROWS; i++)
        t.seconds[i] = (double)(i % ROWS) * 1e-3;
    t.counts[0] = t.counts[1] = ROWS;
    t.seconds[ROWS / 10] = NAN;
    write_trains(&t, false);
    sf_recording part;
    sf_error error = {0};
    assert_int_equal(read_part(&part, 3, 4, true, &error), SF_OK);
    assert_int_equal(part.spike_count, ROWS / 2);
    assert_int_equal(part.spikes[0].time_ns, (int64_t)ROWS * 3 / 4 * 1000000);
    sf_recording_clear(&part);
    test_assert_fails(read_part(&part, 0, 4, true, &error), &error, SF_DATA,
                      "spike 2000 of unit 'e1' (#0) is at nan s, which is not a number");
    free(t.seconds);
}

/* Trains out of order are read as a whole; pieces of them are refused or follow one another all the same. */
static void trains_out_of_order_are_noticed(void **state)
{
    (void)state;
    test_random random = test_random_start("trains_out_of_order_are_noticed", 9302);
    int refused = 0;
    for (int round = 0; round < test_rounds(20); round++) {
        trains t = make_trains(&random, 1500);
        for (size_t k = 0; k < 1 + t.rows / 10 && t.rows > 0; k++)
            t.seconds[test_random_below(&random, t.rows)] = 1e3 * test_random_unit(&random);
        write_trains(&t, false);
        sf_recording whole, part;
        assert_int_equal(read_part(&whole, 0, 0, false, NULL), SF_OK);
        check_parts(&whole, 3, false);
        size_t count = 0;
        bool good = true;
        for (uint32_t p = 0; p < 5 && good; p++) {
            sf_error error = {0};
            good = read_part(&part, p, 5, true, &error) == SF_OK;
            if (!good) {
                test_assert_fails(SF_DATA, &error, SF_DATA, "not in the order of time");
                continue;
            }
            for (size_t i = 0; i < part.spike_count && good; i++, count++)
                good = part.spikes[i].time_ns == whole.spikes[count].time_ns;
            sf_recording_clear(&part);
        }
        refused += !good;
        sf_recording_clear(&whole);
        free(t.seconds);
    }
    assert_true(refused > 0);
}

static void a_layout_that_has_no_parts_says_so(void **state)
{
    (void)state;
    hid_t file = test_hdf_create(path);
    test_hdf_fill_nwb_1(file);
    test_hdf_close(file);
    sf_recording part;
    sf_error error = {0};
    test_assert_fails(read_part(&part, 0, 2, true, &error), &error, SF_USAGE, "synfire convert");
    assert_int_equal(read_part(&part, 0, 2, false, NULL), SF_OK);
    assert_false(part.is_part);
    sf_recording_clear(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(a_piece_is_read_alone),
        cmocka_unit_test(trains_out_of_order_are_noticed),
        cmocka_unit_test(a_layout_that_has_no_parts_says_so),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
