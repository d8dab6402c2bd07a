/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of name,seconds. */
#include "support/support.h"

#include "core/memory.h"
#include "core/text.h"
#include "replay/recording_file.h"

#include <unistd.h>

/* Reads the text as a file. */
static int read_text(sf_recording *recording, const char *text, sf_error *error)
{
    char *path = test_temporary_path(".txt");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    *error = (sf_error){0};
    int status = sf_recording_read(recording, path, NULL, NULL, error);
    unlink(path);
    free(path);
    return status;
}

static void good_lines_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "b,2\na,1.0654e-4\na,2\n",
        "name,seconds\nb,2\na,1.0654e-4\na,2",
        "unit , time\r\nb, 2\r\n\r\n a ,1.0654E-4 \r\na,2\r\n",
        "\xef\xbb\xbf\"name\",\"seconds\"\n\"b\",\"2\"\n\"a\",0.00010654\na,+2.0000000000001\n",
        "\nname,t_s\na,2\na,0.0001065400004\nb,2\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_recording recording;
        sf_error error;
        int status = read_text(&recording, texts[i], &error);
        if (i == 4) { /* only the first line may be a heading */
            test_assert_fails(status, &error, SF_DATA, "line 2: expected a time");
            continue;
        }
        if (status != SF_OK)
            fail_msg("%zu: %s", i, error.text);
        assert_int_equal(recording.units.count, 2);
        assert_string_equal(recording.units.items[0].name, "a");
        assert_int_equal(recording.spike_count, 3);
        assert_int_equal(recording.spikes[0].time_ns, 106540);
        assert_int_equal(recording.spikes[1].time_ns, 2000000000);
        assert_int_equal(recording.spikes[1].unit, 0);
        assert_int_equal(recording.spikes[2].unit, 1);
        assert_string_equal(recording.format, "CSV");
        sf_recording_clear(&recording);
    }
}

/* As spreadsheets write them where the comma is the decimal mark; and times in ms, if the heading says so. */
static void other_separators_and_units_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "b;2\na;0,00010654\na;2,0\n",
        "unit;time\n\"b\";2\n a ; 1,0654E-4\na;2.0\n",
        "b\t2\na\t0,00010654\na\t2\n",
        "\nb\t2\na\t0.00010654\r\na\t2\n",
        "unit\tt (s)\nb\t2\na\t0,00010654\na\t2,0\n",
        "unit,ms\nb,2000\na,0.10654\na,2000\n",
        "unit,time_ms\nb,2000\na,0.10654\na,2000\n",
        "unit;t [ms]\nb;2000\na;0,10654\na;2000\n",
        "unit,items\nb,2\na,0.00010654\na,2\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_recording recording;
        sf_error error;
        if (read_text(&recording, texts[i], &error) != SF_OK)
            fail_msg("%zu: %s", i, error.text);
        assert_int_equal(recording.units.count, 2);
        assert_string_equal(recording.units.items[0].name, "a");
        assert_int_equal(recording.spike_count, 3);
        assert_int_equal(recording.spikes[0].time_ns, 106540);
        assert_int_equal(recording.spikes[2].time_ns, 2000000000);
        sf_recording_clear(&recording);
    }
    sf_recording recording;
    sf_error error;
    assert_int_equal(read_text(&recording, "\"a;b\",1,5\n", &error), SF_DATA);
    assert_int_equal(read_text(&recording, "\"a;b\",1\n\"a,b\",2\n", &error), SF_OK);
    assert_string_equal(recording.units.items[1].name, "a;b");
    sf_recording_clear(&recording);
}

/* `seconds,name` reads as thousands of units that fire once; units that are numbers do not. */
static void swapped_columns_are_seen(void **state)
{
    (void)state;
    sf_text swapped = {0}, right = {0};
    for (int i = 0; i < 40; i++) {
        sf_text_printf(&swapped, "%d.%03d,%d\n", i, 7 * i, i % 3);
        sf_text_printf(&right, "%d,%d.%03d\n", i % 3, i, 7 * i);
    }
    sf_recording recording;
    sf_error error;
    test_assert_fails(read_text(&recording, swapped.data, &error), &error, SF_DATA, "swap the columns");
    assert_null(recording.spikes);
    assert_int_equal(read_text(&recording, right.data, &error), SF_OK);
    assert_int_equal(recording.units.count, 3);
    sf_recording_clear(&recording);
    sf_text_free(&swapped);
    sf_text_free(&right);
}

/* Units are in the order of their names, numbers in names by value, whichever fires first. */
static void units_are_in_the_order_of_names(void **state)
{
    (void)state;
    sf_recording recording;
    sf_error error;
    assert_int_equal(read_text(&recording, "10,1\n9,2\nch_12b,3\nch_2,4\n\"a,b \"\"c\"\"\",5\n2,6\n", &error),
                     SF_OK);
    static const char *const names[] = {"2", "9", "10", "a,b \"c\"", "ch_2", "ch_12b"};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(recording.units.items[i].name, names[i]);
    assert_int_equal(recording.spikes[0].unit, 2);
    assert_int_equal(recording.spikes[5].unit, 0);
    assert_int_equal(sf_units_find(&recording.units, "ch_2"), 4);
    sf_recording_clear(&recording);
}

static void small_recordings_are_read(void **state)
{
    (void)state;
    sf_recording recording;
    sf_error error;
    assert_int_equal(read_text(&recording, "only,0", &error), SF_OK);
    assert_int_equal(recording.spike_count, 1);
    assert_int_equal(recording.units.count, 1);
    assert_int_equal(recording.recorded.stop_ns, 1);
    sf_recording_clear(&recording);
    /* Repeated times stay, unsorted ones are put in order. */
    assert_int_equal(read_text(&recording, "a,3\na,1\nb,1\na,1\n", &error), SF_OK);
    assert_int_equal(recording.spike_count, 4);
    assert_int_equal(recording.spikes[0].unit + recording.spikes[1].unit, 0);
    assert_int_equal(recording.spikes[2].unit, 1);
    assert_int_equal(recording.spikes[3].time_ns, 3000000000);
    sf_recording_clear(&recording);
}

static void bad_lines_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "the file is empty"},
        {"\n\n", "no spikes"},
        {"name,seconds\n", "no spikes"},
        {"a,1\nb\n", "line 2: expected a unit's name, a comma and a time in seconds, found 'b'"},
        {"a,1\nb,\n", "line 2: expected a time"},
        {"a,1\n,2\n", "line 2: expected a unit's name of 1 to 255 bytes"},
        {"a,1\nb,2,3\n", "line 2: expected a unit's name, a comma and a time in seconds, found 'b,2,3'"},
        {"a,1\n\nb,1.2.3\n", "line 3: expected a time from 0 to 4.6e9 seconds, found '1.2.3'"},
        {"a,1\nb,nan\n", "found 'nan'"},
        {"a,nan\n", "line 1: expected a time"},
        {"a,inf\n", "line 1: expected a time"},
        {"a,1\nb,-0.5\n", "line 2: expected a time from 0 to 4.6e9 seconds, found '-0.5'"},
        {"a,4.7e9\n", "line 1: expected a time"},
        {"a,1e10\n", "line 1: expected a time"},
        {"a,0x10\n", "line 1: expected a time"},
        {"a;1\nb,2\n", "line 2: expected a unit's name, a comma"},
        {"a;1.234,5\n", "line 1: expected a time"},
        {"a b\n", "line 1: expected a unit's name, a comma"},
        {"a,1\nb\x1b[31m\n", "found 'b\\x1b[31m'"},
        {"#include <stdio.h>\nint main(void)\n", "line 1: expected a unit's name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sf_recording recording;
        sf_error error;
        test_assert_fails(read_text(&recording, bad[i][0], &error), &error, SF_DATA, bad[i][1]);
        assert_null(recording.spikes);
    }
    char line[600];
    memset(line, 'x', sizeof line);
    memcpy(line + 256, ",1", 3);
    sf_recording recording;
    sf_error error;
    test_assert_fails(read_text(&recording, line, &error), &error, SF_DATA, "1 to 255 bytes");
    assert_int_equal(read_text(&recording, line + 1, &error), SF_OK);
    sf_recording_clear(&recording);
}

/* Thousands of units: the table of names grows as they come. */
static void many_units_are_told_apart(void **state)
{
    (void)state;
    enum { UNITS = 3000 };
    char *text = malloc(UNITS * 40);
    size_t length = 0;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < UNITS; i++)
            length += (size_t)sprintf(text + length, "u%d,%d\n", (i * 7) % UNITS, i);
    sf_recording recording;
    sf_error error;
    assert_int_equal(read_text(&recording, text, &error), SF_OK);
    assert_int_equal(recording.units.count, UNITS);
    assert_int_equal(recording.spike_count, 2 * UNITS);
    for (size_t i = 0; i < recording.spike_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%zu", (size_t)(recording.spikes[i].time_ns / 1000000000) * 7 % UNITS);
        assert_string_equal(recording.units.items[recording.spikes[i].unit].name, name);
    }
    sf_recording_clear(&recording);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lines_are_read),       cmocka_unit_test(units_are_in_the_order_of_names),
        cmocka_unit_test(small_recordings_are_read), cmocka_unit_test(other_separators_and_units_are_read),
        cmocka_unit_test(swapped_columns_are_seen),  cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(many_units_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
