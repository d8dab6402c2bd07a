/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of name,seconds. */
#include "support/support.h"

#include "core/memory.h"
#include "core/text.h"
#include "replay/csv.h"
#include "replay/recording_file.h"

#include <math.h>

#include <unistd.h>

#define UNNAMED ", as no unit of time is named"

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
    static const char *const formats[] = {
        "CSV: units of column 1, times of column 2 in s" UNNAMED, "CSV of name,seconds",
        "CSV: units of column 1 'unit', times of column 2 'time' in s" UNNAMED, "CSV of name,seconds",
        "CSV of name,seconds"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_recording recording;
        sf_error error;
        int status = read_text(&recording, texts[i], &error);
        if (status != SF_OK) fail_msg("%zu: %s", i, error.text);
        assert_int_equal(recording.units.count, 2);
        assert_string_equal(recording.units.items[0].name, "a");
        assert_int_equal(recording.spike_count, 3);
        assert_int_equal(recording.spikes[0].time_ns, 106540);
        assert_int_equal(recording.spikes[1].time_ns, 2000000000);
        assert_int_equal(recording.spikes[1].unit, 0);
        assert_int_equal(recording.spikes[2].unit, 1);
        assert_string_equal(recording.format, formats[i]);
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
        if (read_text(&recording, texts[i], &error) != SF_OK) fail_msg("%zu: %s", i, error.text);
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

/* A text of times alone is one unit, and what was taken is told. */
static void one_column_is_one_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text, *format;
        int64_t first_ns, last_ns; /* of three spikes; 0: refused */
    } cases[] = {
        {"0.5\n1.25\n\n3\n", "CSV: one column of times of one unit, in s" UNNAMED, 500000000, 3000000000},
        {"time_ms\r\n0.5\r\n1.25\r\n3", "CSV: one column of times 'time_ms' of one unit, in ms", 500000,
         3000000},
        {"Spike times (ms)\n0.5\n1.25\n3\n", "CSV: one column of times 'Spike times(ms)' of one unit, in ms",
         500000, 3000000},
        {"# made by hand\n# time_us\n5\n12.5\n30\n", "CSV: one column of times 'time_us' of one unit, in us",
         5000, 30000},
        {"# time\nA,0.5\nA,1.25\nA,3\n", "CSV: units of column 1, times of column 2 in s" UNNAMED, 500000000,
         3000000000},
        {"0.5\nA,1.25\n", NULL, 0, 0},
        {"0.5\n-12\n", NULL, 0, 0},
        {"word\n0.5\n", NULL, 0, 0},
        {"samples\n1\n", NULL, 0, 0}, /* without a rate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_recording recording;
        sf_error error;
        int status = read_text(&recording, cases[i].text, &error);
        if ((status == SF_OK) != (cases[i].format != NULL)) fail_msg("%zu: %s", i, error.text);
        if (status != SF_OK) continue;
        assert_string_equal(recording.format, cases[i].format);
        assert_int_equal(recording.units.count, 1);
        assert_int_equal(recording.spike_count, 3);
        assert_int_equal(recording.spikes[0].time_ns, cases[i].first_ns);
        assert_int_equal(recording.spikes[2].time_ns, cases[i].last_ns);
        sf_recording_clear(&recording);
    }
}

/* A unit of time is known in words and encodings that people write, or the heading is refused. */
static void units_of_time_are_known_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *heading;
        int64_t time_ns; /* of a 2; 0: refused */
    } cases[] = {
        {"time [\xb5s]", 2000},
        {"time [\xc2\xb5s]", 2000},
        {"time (\xce\xbcs)", 2000},
        {"\xb5s", 2000},
        {"t_micros", 2000},
        {"timeMs", 2000000},
        {"spike_time_ms_corrected", 2000000},
        {"t0_ms", 2000000},
        {"timestamp_ns", 2},
        {"Time of the spike", 2000000000},
        {"time_1", 2000000000},
        {"temps \xc3\xa9"
         "coul\xc3\xa9 (s)",
         2000000000},
        {"time \xe2\x80\x93 s", 2000000000},
        {"time_ms_x10", 0},
        {"time 10 us", 0},
        {"time (fortnights)", 0},
        {"time [\xef\xbf\xbds]", 0}, /* where a micro sign was lost */
        {"time [?s]", 0},
        {"time_?s", 0},
        {"time_\xe6s", 0},
        {"time [\xe6s]", 0},
        {"time (s or ms)", 0},
        {"time_s_ms", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_text text = {0};
        sf_recording recording;
        sf_error error;
        sf_text_printf(&text, "unit;%s\nA;2\n", cases[i].heading);
        int status = read_text(&recording, text.data, &error);
        if (cases[i].time_ns == 0) {
            if (status == SF_OK) fail_msg("%s is read", cases[i].heading);
            test_assert_fails(status, &error, SF_DATA, "line 1: times in 'time");
        } else {
            if (status != SF_OK || recording.spikes[0].time_ns != cases[i].time_ns)
                fail_msg("%s: %s", cases[i].heading, status != SF_OK ? error.text : "another time");
            sf_recording_clear(&recording);
        }
        sf_text_free(&text);
    }
    char *path = test_data_path("cases/text/latin1_us.csv");
    sf_recording recording;
    if (path == NULL) skip();
    assert_int_equal(sf_recording_read(&recording, path, NULL, NULL, NULL), SF_OK);
    assert_int_equal(recording.spikes[0].time_ns, 1500000);
    sf_recording_clear(&recording);
    free(path);
}

/* ---- forms ---- */

enum { SEPARATORS = 4, UNITS_OF_TIME = 5, FORMS = SEPARATORS * UNITS_OF_TIME * 2 };

/* The same spikes with the columns in an order, between separators, in a unit of time. */
static void write_form(sf_text *text, int form, const int64_t *times_us, const int *units, size_t count)
{
    static const char separators[SEPARATORS] = {',', ';', '\t', ' '};
    static const char *const heads[UNITS_OF_TIME] = {"Time (s)", "time_ms", "t [\xc2\xb5s]", "SpikeTimeNs",
                                                     "sample_number"};
    static const int digits[UNITS_OF_TIME] = {6, 3, 0, 0, 0};
    char separator = separators[form % SEPARATORS];
    int scale = form / SEPARATORS % UNITS_OF_TIME;
    bool first = form / SEPARATORS / UNITS_OF_TIME == 1;
    if (first)
        sf_text_printf(text, "%s%cNeuron%camplitude\n", heads[scale], separator, separator);
    else
        sf_text_printf(text, "unit_id%c%s\n", separator, heads[scale]);
    for (size_t i = 0; i < count; i++) {
        sf_text time = {0};
        sf_text_scaled(&time,
                       scale == 3   ? times_us[i] * 1000
                       : scale == 4 ? times_us[i] / 50
                                    : times_us[i],
                       digits[scale]);
        char *point = strchr(time.data, '.');
        if (point != NULL && (separator == ';' || separator == '\t')) *point = ',';
        if (first)
            sf_text_printf(text, "%s%cu%d%c3\n", time.data, separator, units[i], separator);
        else
            sf_text_printf(text, "u%d%c%s\n", units[i], separator, time.data);
        sf_text_free(&time);
    }
}

static int read_how(sf_recording *recording, const char *text, const sf_reading *how, sf_error *error)
{
    char *copy = strdup(text); /* which no test lets fail */
    assert_non_null(copy);
    sf_lines lines = sf_lines_over("text", copy, strlen(copy));
    *error = (sf_error){0};
    int status = sf_csv_read_lines(recording, &lines, how, NULL, error);
    free(copy);
    return status;
}

static void the_same_spikes_in_every_form_are_the_same(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    test_random random = test_random_start("forms of text", 17);
    int64_t times_us[COUNT];
    int units[COUNT];
    for (int i = 0; i < COUNT; i++) {
        times_us[i] = 50 * (int64_t)test_random_below(&random, 1000000);
        units[i] = (int)test_random_below(&random, 12);
    }
    uint64_t hash = 0;
    for (int form = 0; form < FORMS; form++) {
        sf_text text = {0};
        sf_recording recording;
        sf_error error;
        sf_reading how = {.rate_hz = form / SEPARATORS % UNITS_OF_TIME == 4 ? 20000 : 0};
        write_form(&text, form, times_us, units, COUNT);
        if (read_how(&recording, text.data, &how, &error) != SF_OK)
            fail_msg("form %d: %s in\n%.80s", form, error.text, text.data);
        hash = form == 0 ? sf_recording_hash(&recording) : hash;
        if (sf_recording_hash(&recording) != hash || recording.spike_count != COUNT ||
            recording.spikes[0].time_ns % 50000 != 0)
            fail_msg("form %d differs:\n%.80s", form, text.data);
        sf_recording_clear(&recording);
        sf_text_free(&text);
    }
}

/* What is no recording at all is told so, in one line. */
static void what_is_nothing_known_is_said(void **state)
{
    (void)state;
    static const char *const texts[] = {"hello world\n",      "hello\n",    "Dear all,\nspikes are below.\n",
                                        "import os\nx = 1\n", "%PDF-1.4\n", "{\"a\": 1}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_recording recording;
        sf_error error;
        test_assert_fails(read_text(&recording, texts[i], &error), &error, SF_DATA,
                          "this is no recording that is known: it begins '");
    }
    sf_recording recording;
    sf_error error;
    test_assert_fails(read_text(&recording, "A,-1\n", &error), &error, SF_DATA,
                      "line 1: expected a time from 0");
    test_assert_fails(read_how(&recording, "unit,sample\nA,18446744073709551604\n",
                               &(sf_reading){.rate_hz = 20000}, &error),
                      &error, SF_DATA, "line 2: 18446744073709551604 is -12 stored unsigned");
}

/* What columns are is said by a heading or by the caller, or asked for. */
static void columns_are_found_or_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *text, *columns, *format, *sentence; /* of what is read, or of a refusal */
    } cases[] = {
        {"t,cell\n2,a\n", NULL, "CSV: units of column 2 'cell', times of column 1 't' in s" UNNAMED, NULL},
        {"foo,time\na,2\n", NULL, "CSV: units of column 1 'foo', times of column 2 'time' in s" UNNAMED,
         NULL},
        {"id,x,time\na,1,2\n", "unit,-,time",
         "CSV: units of column 1 'unit', times of column 3 'time' in s" UNNAMED, NULL},
        {"2,7,a\n", "time,-,unit", "CSV: units of column 3 'unit', times of column 1 'time' in s" UNNAMED,
         NULL},
        {"2000,a,b\n", "ms,unit,unit", "CSV: units of column 2 'unit', times of column 1 'ms' in ms", NULL},
        {"unit,time\na,2\n", "-,time,unit,well", NULL, "line 2: expected 4 fields"},
        {"2,a,\n", "time,unit", "CSV: units of column 2 'unit', times of column 1 'time' in s" UNNAMED, NULL},
        {"# unit time\n a   2\n", NULL,
         "CSV: units of column 1 'unit', times of column 2 'time' in s" UNNAMED, NULL},
        {"Channel,Unit,Timestamp\n1,2,3\n", NULL, NULL,
         "both 'Channel' and 'Unit' may be the column of units"},
        {"unit,time_s,time_ms\na,1,2\n", NULL, NULL,
         "both 'time_s' and 'time_ms' may be the column of times"},
        {"unit,Time (min)\na,1\n", NULL, NULL, "line 1: times in 'Time (min)' are not read"},
        {"unit,time [10us]\na,1\n", NULL, NULL, "times in 'time [10us]' are not read"},
        {"unit,time_in_days\na,1\n", NULL, NULL, "times in 'time_in_days' are not read"},
        {"{\"id\": 1, \"timestamps\": [], \"ts\": 2}\n", NULL, NULL,
         "this is no recording that is known: it begins"},
        {"sender\ttime_step\na\t20\n", NULL, NULL, "times in 'time_step' are not read"},
        {"unit,time (a.u.)\na,1\n", NULL, NULL, "times in 'time (a.u.)' are not read"},
        {"unit,time (0.1 ms)\na,1\n", NULL, NULL, "times in 'time (0.1 ms)' are not read"},
        {"# by a program\n\n# 12 cells\nsender\ttime_ms\na\t2000\n", NULL,
         "CSV: units of column 1 'sender', times of column 2 'time_ms' in ms", NULL},
        {"unit,time_millis\na,2000\n", NULL,
         "CSV: units of column 1 'unit', times of column 2 'time_millis' in ms", NULL},
        {"unit;time [\xb5s]\na;2000000\n", NULL,
         "CSV: units of column 1 'unit', times of column 2 'time [\xb5s]' in us", NULL},
        {"Uhr,Spalte\n39.3,2\n40.1,2\n", NULL, NULL, "all of them numbers: these are times"},
        {"x,y,time\n1,2,3\n", NULL, NULL, "none of the columns 'x', 'y', 'time' is known as that of units"},
        {"unit,electrode\n1,2\n", NULL, NULL, "is known as that of times"},
        {"1,2,3\n", NULL, NULL, "line 1 has 3 columns and none of them is headed as times: --columns says"},
        {"sample,unit\n1,a\n", NULL, NULL, "give --rate HZ"},
        {"time,unit\n0,5,a\n", NULL, NULL, "line 2: expected 2 fields, found '0,5,a'"},
        {"time,unit\n-1,a\n", NULL, NULL, "line 2: expected a time from 0"},
        {"time,unit\n1,a\n1,\n", NULL, NULL, "line 3: expected a unit's name"},
        {"time,unit,x\n1\n", NULL, NULL, "line 2: expected 3 fields, found '1'"},
        {"1,a\n", "what", NULL, "found 'what', expected all columns"},
        {"1\n1,a\n", "time", NULL, "line 2: expected 1 field, found '1,a'"},
        {"1,a\n", "a,b,c", NULL, "is known as that of times"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_recording recording;
        sf_error error;
        sf_reading how = {.columns = cases[i].columns};
        int status = read_how(&recording, cases[i].text, &how, &error);
        if (cases[i].sentence != NULL) {
            bool of_line = strncmp(cases[i].sentence, "line 2", 6) == 0;
            test_assert_fails(status, &error, cases[i].columns != NULL && !of_line ? SF_USAGE : SF_DATA,
                              cases[i].sentence);
            continue;
        }
        if (status != SF_OK) fail_msg("%zu: %s", i, error.text);
        assert_string_equal(recording.format, cases[i].format);
        assert_int_equal(recording.spikes[0].time_ns, 2000000000);
        assert_string_equal(recording.units.items[0].name,
                            strcmp(cases[i].text, "2000,a,b\n") == 0 ? "a:b" : "a");
        sf_recording_clear(&recording);
    }
    sf_recording recording;
    sf_error error;
    const sf_reading rate = {.rate_hz = 1000};
    test_assert_fails(read_how(&recording, "a,1\n", &rate, &error), &error, SF_USAGE,
                      "has its times in seconds");
    test_assert_fails(read_how(&recording, "sample,unit\n1.5,a\n", &rate, &error), &error, SF_DATA,
                      "line 2: expected a whole number of samples");
}

/* ---- spike lists of AxIS ---- */

static const char plate[] = "Investigator,Dr. X,Time (s),Electrode,Amplitude(mV)\r\n"
                            "Recording Name,r 1,0.0100,A1_11,0.5\r\n"
                            "Sampling Frequency,12.5 kHz,0.0154,A1_12,\r\n"
                            ",,,,\r\n"
                            "Note,x,,,\r\n"
                            ",,0.0201,B12_31,0.01\r\n"
                            ",,0.03,A1_11,0.04\r\n"
                            "Well Information,,,,\r\n"
                            "Well,A1,A2,B12,C1\r\n"
                            "Concentration,1,2,3,4\r\n";

static void check_plate(const char *text)
{
    sf_recording recording;
    sf_error error;
    test_assert_fails(read_how(&recording, text, NULL, &error), &error, SF_USAGE,
                      "there are 2 wells; choose one with --stream: A1 (3 spikes), B12 (1 spikes)");
    sf_reading how = {.stream = "A1"};
    if (read_how(&recording, text, &how, &error) != SF_OK) fail_msg("%s", error.text);
    const sf_unit *unit = &recording.units.items[1];
    assert_string_equal(recording.format, "Axion spike list");
    assert_int_equal(recording.spike_count, 3);
    assert_int_equal(recording.spikes[2].time_ns, 30000000);
    assert_int_equal(recording.units.count, 2);
    assert_string_equal(unit->name, "A1_12");
    assert_string_equal(unit->well, "A1");
    assert_int_equal(unit->electrode, 12);
    assert_true(unit->x_um == 0 && unit->y_um == 350);
    assert_true(recording.spikes[0].amplitude == 0.5f && isnan(recording.spikes[1].amplitude));
    sf_recording_clear(&recording);
    how.stream = "C1";
    test_assert_fails(read_how(&recording, text, &how, &error), &error, SF_USAGE, "there is no well 'C1'");
}

static void spike_lists_of_plates_are_read(void **state)
{
    (void)state;
    check_plate(plate);
    char *european = sf_copy_string(plate);
    for (char *at = european; *at != '\0'; at++)
        *at = *at == ',' ? ';' : *at;
    for (char *at = european; (at = strchr(at, '.')) != NULL; at++)
        *at = ',';
    check_plate(european);
    sf_free(european);
    sf_recording recording;
    sf_error error;
    static const char *const bad[][2] = {
        {",,Time (s),Electrode\n,,1,A1_11\n,,2,A111\n",
         "line 3: expected an electrode of a well, as A1_11, found 'A111'"},
        {",,Time (s),Electrode\n,,1,A1_11\n,,x,A1_11\n", "line 3: expected a time"},
        {",,Time (s),Electrode\nName,x,,\n", "no spikes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        test_assert_fails(read_how(&recording, bad[i][0], NULL, &error), &error, SF_DATA, bad[i][1]);
    /* One well is no choice; in wells of 8 by 8 electrodes are closer. */
    assert_int_equal(read_how(&recording, ",,Time (s),Electrode\n,,1,D3_31\n,,2,D3_85\n", NULL, &error),
                     SF_OK);
    assert_true(recording.units.items[1].x_um == 1400 && recording.units.items[1].y_um == 800);
    sf_recording_clear(&recording);
    /* Wells by a column of their own. */
    const sf_reading second = {.stream = "w2"};
    assert_int_equal(read_how(&recording, "time,well,channel\n1,w1,5\n2,w2,5\n", &second, &error), SF_OK);
    assert_string_equal(recording.units.items[0].name, "w2_5");
    assert_string_equal(recording.units.items[0].well, "w2");
    assert_int_equal(recording.spike_count, 1);
    sf_recording_clear(&recording);
    test_assert_fails(read_how(&recording, "time,well,channel\n1,a_b,c\n2,a,b_c\n", NULL, &error), &error,
                      SF_DATA, "line 3: expected names that differ between wells");
}

static void files_of_other_systems_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *suffix, *begins, *words;
    } systems[] = {
        {".nev", "NEURALXX",
         "a file of Blackrock (.nev), which is not read: it begins with neither NEURALEV"},
        {".nex", "NEX7\1\1\1\1", "neither HDF5 nor lines of name,seconds"},
        {".plx", "PLEX\1\1\1\1", "a file of Plexon (.plx), which is not read: it does not begin with PLEX"},
        {".pl2", "\1\2\3\4\1\1\1\1",
         "a file of Plexon (.pl2), which is not read: its layout is not published; export it as .plx"},
        {".SMR", "\2\1\1\1\1\1\1\1", "synfire.Recording.from_neo"},
        {".spk", "@\1\1\1\1\1\1\1",
         "a file of AxIS (.spk), which is not read: it does not begin with AxionBio"},
        {".raw", "voltages", "neither HDF5 nor lines of name,seconds"},
        {".mcd", "MCSSTRM ", "a file of MC_Rack (.mcd), which is not read: export it as HDF5"},
        {".ns6", "NEURALCD",
         "no spike times: this is a file of Blackrock (.ns6), which holds voltages; spikes are"},
        {".rhd", "\1\2\3\4\5\6\7\1", "a file of Intan (.rhd), which holds voltages; sort them, and open"},
        {".continuous", "header.f", "a file of Open Ephys (.continuous), which holds voltages; sort them"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        char *path = test_temporary_path(systems[i].suffix);
        FILE *file = fopen(path, "w");
        fwrite(systems[i].begins, 1, 8, file);
        fwrite("\2\3\0\0\1", 1, 5, file);
        fclose(file);
        sf_recording recording;
        sf_error error = {0};
        int status = sf_recording_read(&recording, path, NULL, NULL, &error);
        test_assert_fails(status, &error, SF_DATA, systems[i].words);
        unlink(path);
        free(path);
    }
}

static int read_plate(void *context)
{
    sf_recording recording;
    sf_error error;
    int status = read_how(&recording, plate, context, &error);
    sf_recording_clear(&recording);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_reading how = {.stream = "A1", .columns = "-,-,time,electrode,amplitude"};
    test_fail_every_allocation(read_plate, &how);
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
        {"a b\n", "this is no recording that is known: it begins 'a b'"},
        {"a,1\nb\x1b[31m\n", "found 'b\\x1b[31m'"},
        {"#include <stdio.h>\nint main(void)\n", "line 1: expected a time"},
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
        cmocka_unit_test(good_lines_are_read),
        cmocka_unit_test(units_are_in_the_order_of_names),
        cmocka_unit_test(small_recordings_are_read),
        cmocka_unit_test(other_separators_and_units_are_read),
        cmocka_unit_test(one_column_is_one_unit),
        cmocka_unit_test(what_is_nothing_known_is_said),
        cmocka_unit_test(units_of_time_are_known_or_refused),
        cmocka_unit_test(swapped_columns_are_seen),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(many_units_are_told_apart),
        cmocka_unit_test(the_same_spikes_in_every_form_are_the_same),
        cmocka_unit_test(columns_are_found_or_asked_for),
        cmocka_unit_test(spike_lists_of_plates_are_read),
        cmocka_unit_test(files_of_other_systems_are_named),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
