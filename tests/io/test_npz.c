/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of arrays whose members are compressed: what they unpack to, and what is wrong with them. */
#include "support/folders.h"
#include "support/support.h"

#include "core/memory.h"
#include "io/npz.h"

static char *folder, path[4096];

static int make_folder(void **state)
{
    (void)state;
    folder = test_folder_new();
    snprintf(path, sizeof path, "%s/x.npz", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    free(folder);
    return 0;
}

enum { LONG = 150000, HUGE_COUNT = 3000000 };

/* Numbers that no compression makes short. */
static double *draw(size_t count)
{
    double *numbers = malloc(count * sizeof *numbers);
    uint64_t state = 1;
    assert_non_null(numbers);
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        numbers[i] = (double)(state >> 11);
    }
    return numbers;
}

static void assert_reads(const sf_npy *npy, const double *numbers, size_t first, size_t count)
{
    double *found = malloc(count * sizeof *found);
    sf_error error = {0};
    assert_non_null(found);
    if (sf_npy_read_reals(npy, first, count, found, &error) != SF_OK) fail_msg("%s", error.text);
    assert_memory_equal(found, numbers + first, count * sizeof *found);
    free(found);
}

static void any_part_is_read_in_any_order(void **state)
{
    (void)state;
    double *numbers = draw(LONG);
    sf_npy npy;
    sf_error error = {0};
    test_folder_archive(folder, "x.npz", 2,
                        (const test_member[]){{"a.npy", "<f8", "(2,)", 2, numbers},
                                              {"b.npy", "<f8", "(150000,)", LONG, numbers}},
                        &(test_packing){0});
    assert_int_equal(sf_npz_open(&npy, path, "b.npy", &error), SF_OK);
    assert_int_equal(npy.count, LONG);
    assert_reads(&npy, numbers, 0, LONG);
    assert_reads(&npy, numbers, LONG - 1, 1);
    assert_reads(&npy, numbers, 70000, 20000);
    assert_reads(&npy, numbers, 0, 1);
    assert_reads(&npy, numbers, 0, 0);
    sf_npy_close(&npy);
    assert_int_equal(sf_memory_live(), 0);
    free(numbers);
}

static void assert_refused(size_t count, const double *numbers, const char *shape, test_packing how,
                           const char *words)
{
    sf_npy npy;
    sf_error error = {0};
    double *found = malloc((count + 8) * sizeof *found);
    assert_non_null(found);
    test_folder_archive(folder, "x.npz", 1, &(test_member){"a.npy", "<f8", shape, count, numbers}, &how);
    int status = sf_npz_open(&npy, path, "a.npy", &error);
    if (status == SF_OK) status = sf_npy_read_reals(&npy, 0, npy.count, found, &error);
    test_assert_fails(status, &error, SF_DATA, words);
    sf_npy_close(&npy);
    free(found);
    assert_int_equal(sf_memory_live(), 0);
}

static void damage_is_refused(void **state)
{
    (void)state;
    static const double numbers[9] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        size_t count;
        test_packing how;
        const char *words;
    } cases[] = {
        {8, {.wrong = 1}, "a.npy is not what its checksum says"},
        {9, {0}, "holds 72 bytes of data, expected 8 x 1 numbers of 8"},
        {7, {.says_length = 192}, "a.npy unpacks to 184 bytes, and the archive says 192"},
        {9, {.says_length = 192}, "a.npy unpacks to more than the 192 bytes that the archive says"},
        {8, {.says_packed = 60}, "a.npy cannot be unpacked (it ends after"},
        {8, {.says_packed = 100000}, "a.npy has 100000 bytes from byte 39 and the file ends at byte"},
        {8, {.method = 12}, "holds a.npy encrypted, packed by method 12 or of more than 4 GiB"},
        {8, {.flags = 1}, "holds a.npy encrypted"},
        {8, {.is_stored = true, .method = 8}, "a.npy unpacks to 6 bytes, and the archive says 192"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].count, numbers, "(8,)", cases[i].how, cases[i].words);
}

/* Archives that unpack to much more than they are, or say so. */
static void archives_that_would_fill_memory_are_refused(void **state)
{
    (void)state;
    double *zeros = calloc(HUGE_COUNT, sizeof *zeros);
    assert_non_null(zeros);
    assert_refused(HUGE_COUNT, zeros, "(3000000,)", (test_packing){0},
                   "bytes to 24000128, as no array of a recording does");
    assert_refused(8, zeros, "(8,)", (test_packing){.says_length = 4000000000},
                   "bytes to 4000000000, as no array of a recording does");
    assert_refused(8, zeros, "(500000000,)", (test_packing){0},
                   "holds 64 bytes of data, expected 500000000 x 1 numbers of 8");
    free(zeros);
}

static int read_and_close(void *context)
{
    sf_npy npy;
    sf_error error;
    int status = sf_npz_open(&npy, path, "a.npy", &error);
    if (status == SF_OK) status = sf_npy_read_reals(&npy, 0, npy.count, context, &error);
    sf_npy_close(&npy);
    return status;
}

static void memory_may_be_short(void **state)
{
    (void)state;
    static const double numbers[] = {1, 2, 3};
    double found[3];
    test_folder_archive(folder, "x.npz", 1, &(test_member){"a.npy", "<f8", "(3,)", 3, numbers},
                        &(test_packing){0});
    test_fail_every_allocation(read_and_close, found);
    assert_memory_equal(found, numbers, sizeof numbers);
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(any_part_is_read_in_any_order),
        WITH_FOLDER(damage_is_refused),
        WITH_FOLDER(archives_that_would_fill_memory_are_refused),
        WITH_FOLDER(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
