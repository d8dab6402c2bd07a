/* SPDX-License-Identifier: Apache-2.0 */
/* Which electrodes a rig has, by files of probeinterface, of MaxLab Live and of Blackrock, and units that are
 * put where those are. */
#include "support/support.h"

#include "core/file.h"
#include "core/memory.h"
#include "io/electrodes.h"
#include "replay/positions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *write_file(const char *text)
{
    char *path = test_temporary_path(".json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static int read_text(sf_electrodes *electrodes, const char *text, sf_error *error)
{
    char *path = write_file(text);
    int status = sf_electrodes_read(electrodes, path, error);
    remove(path);
    free(path);
    return status;
}

static void require_unit(const sf_electrodes *it, size_t index, const char *name, double x_um, double y_um,
                         int32_t channel)
{
    const sf_unit *unit = &it->units.items[index];
    assert_true(index < it->units.count);
    assert_string_equal(unit->name, name);
    assert_true(fabs(unit->x_um - x_um) < 1e-9 && fabs(unit->y_um - y_um) < 1e-9);
    assert_int_equal(it->channels[index], channel);
}

static void probeinterface_files_are_read(void **state)
{
    (void)state;
    sf_electrodes it;
    sf_error error = {0};
    static const char text[] =
        "{\"specification\": \"probeinterface\", \"version\": \"0.2.21\", \"probes\": [\n"
        " {\"ndim\": 2, \"si_units\": \"um\", \"annotations\": {\"model_name\": \"A1x3\"},\n"
        "  \"contact_positions\": [[0, 0], [0, 25.5], [0, 50]], \"contact_shapes\": [\"circle\"],\n"
        "  \"contact_ids\": [\"a\", \"b\", \"c\"], \"device_channel_indices\": [5, -1, 3]},\n"
        " {\"ndim\": 2, \"si_units\": \"mm\", \"contact_positions\": [[1.5, -2], [1, 1]],\n"
        "  \"device_channel_indices\": [8, 9]}]}";
    if (read_text(&it, text, &error) != SF_OK) fail_msg("%s", error.text);
    assert_int_equal(it.units.count, 4); /* b is not connected */
    require_unit(&it, 0, "a", 0, 0, 5);
    require_unit(&it, 1, "c", 0, 50, 3);
    require_unit(&it, 2, "e3", 1500, -2000, 8);
    require_unit(&it, 3, "e4", 1000, 1000, 9);
    sf_electrodes_free(&it);
    assert_int_equal(read_text(&it, "{\"probes\": [{\"contact_positions\": [[1, 2], [3]]}]}", &error), SF_OK);
    require_unit(&it, 0, "e1", 1, 2, 0); /* where no channels are told, they are in order */
    assert_true(isnan(it.units.items[1].y_um));
    sf_electrodes_free(&it);
}

static void routings_are_read(void **state)
{
    (void)state;
    sf_electrodes it;
    sf_error error = {0};
    if (read_text(&it, " 0(4886)1172.5/1540.0;1023(12)0/17.5;\n7(9000)35/52.5", &error) != SF_OK)
        fail_msg("%s", error.text);
    assert_int_equal(it.units.count, 3);
    require_unit(&it, 0, "4886", 1172.5, 1540, 0);
    require_unit(&it, 1, "12", 0, 17.5, 1023);
    require_unit(&it, 2, "9000", 35, 52.5, 7);
    assert_int_equal(it.units.items[1].electrode, 12);
    sf_electrodes_free(&it);
}

static void maps_of_blackrock_are_read(void **state)
{
    (void)state;
    sf_electrodes it;
    sf_error error = {0};
    static const char text[] =
        "// a, b; c\n  //\n\nCerebus mapping, 10 by 10\n//col\trow\tbank\telec\tlabel\r\n"
        "0\t9\tA\t1\telec1-1\r\n 9 0 c 32 \"elec 2\" more\n// end\n3 4 B 7\n";
    if (read_text(&it, text, &error) != SF_OK) fail_msg("%s", error.text);
    assert_true(it.is_map);
    assert_int_equal(it.units.count, 3);
    require_unit(&it, 0, "elec1-1", 0, 3600, 1);
    require_unit(&it, 1, "elec 2", 3600, 0, 96);
    require_unit(&it, 2, "chan39", 1200, 1600, 39);
    sf_electrodes_free(&it);
}

static void what_is_neither_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "no electrode that is connected"},
        {"a,b,c\n", "line 1: expected a heading such as name,x,y"},
        {"name,x,y\na,1\n", "line 2: expected a name, x and y, found 'a'"},
        {"name,x,y\na,1,wide\n", "line 2: expected x and y, as numbers"},
        {"name,x,y\na,1,2\na,3,4\n", "line 3: expected each name once"},
        {"name,x (inch),y\na,1,2\n", "expected x and y in um or mm, found 'x (inch)'"},
        {"index,x,y\na,1,2\n", "line 2: expected the index of a unit, found 'a'"},
        {"a\n", "after 0 electrodes found 'a"},
        {"1(2)3/4;5(6)7;", "after 1 electrodes found '5(6)7;'"},
        {"1(2)3/4,5", "found '1(2)3/4,5'"},
        {"-1(2)3/4", "found '-1(2)3/4'"},
        {"1.5(2)3/4", "found '1.5(2)"},
        {"99999999999(2)3/4", "found '99999999999"},
        {"1(2)nan/4", "found '1(2)nan/4'"},
        {"0 1 A 2 a\n0 2 A 2 b\n", "line 2: expected each pin once, found 'b'"},
        {"map\n0 1 A 2 a\n0 2 A 3 a\n", "line 3: expected each label once, found 'a'"},
        {"0 1 A 2 a\n\n0 2 A x b\n",
         "line 3: expected COLUMN ROW BANK PIN LABEL, as 0 9 A 3 elec1-67, found"},
        {"0 1 A 33 a\n", "after 0 electrodes found '0 1 A 33 a"},
        {"0 1 AB 3 a\n", "after 0 electrodes"},
        {"{\"probes\": 1", "line 1"},
        {"{}", "without \"probes\""},
        {"{\"probes\": []}", "no electrode"},
        {"{\"probes\": [{\"si_units\": \"inch\", \"contact_positions\": [[0, 0]]}]}", "expected um or mm"},
        {"{\"probes\": [{\"contact_positions\": [[0, 0]], \"device_channel_indices\": [-1]}]}",
         "no electrode"},
        {"{\"probes\": [{\"contact_positions\": 7}, 3]}", "no electrode"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_electrodes it;
        sf_error error = {0};
        test_assert_fails(read_text(&it, cases[i].text, &error), &error, SF_DATA, cases[i].sentence);
        assert_null(it.channels);
    }
    sf_electrodes it;
    sf_error error = {0};
    test_assert_fails(sf_electrodes_read(&it, "/nowhere/at/all", &error), &error, SF_NO_INPUT, NULL);
}

/* ---- positions of a recording ---- */

static int place(sf_recording *recording, const char *const *names, const int *electrodes, const char *file,
                 sf_error *error)
{
    *recording = (sf_recording){0};
    for (size_t i = 0; names[i] != NULL; i++) {
        const sf_unit unit = {.name = names[i], .x_um = 7, .y_um = 7, .electrode = electrodes[i]};
        assert_int_equal(sf_units_add(&recording->units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&recording->units, NULL), SF_OK);
    char *path = write_file(file);
    int status = sf_positions_take(recording, path, error);
    remove(path);
    free(path);
    return status;
}

static void units_are_placed_by_what_the_file_calls_them(void **state)
{
    (void)state;
    static const char probe[] =
        "{\"probes\": [{\"contact_positions\": [[0, 10], [0, 20], [0, 30]], "
        "\"contact_ids\": [\"a\", \"b\", \"c\"], \"device_channel_indices\": [5, 4, 3]}]}";
    static const char routing[] = "5(400)0/10;400(4)0/20;3(300)0/30;";
    static const struct {
        const char *file, *names[3];
        int electrodes[2];
        double y_um[2]; /* NAN: none */
        const char *told;
    } cases[] = {
        {probe, {"c", "x3", NULL}, {-1, 5}, {30, NAN}, "1 of 2 units by name, of "},
        {probe, {"u1", "u2", NULL}, {4, 9}, {20, NAN}, "1 of 2 units by electrode number, of "},
        {probe, {"ch_5", "ch_03", NULL}, {-1, -1}, {10, 30}, "2 of 2 units by the number in the name, of "},
        {routing, {"400", "4", NULL}, {-1, -1}, {10, 20}, "2 of 2 units by name, of "},
        {routing, {"e1", "e2", NULL}, {300, 400}, {30, 10}, "2 of 2 units by electrode number, of "},
        {"name,x,y\nb,0,20\na,0,10\n", {"a", "b", NULL}, {-1, -1}, {10, 20}, "2 of 2 units by name, of "},
        {"b;0;20,5\nc;0;10\n", {"a", "b", NULL}, {-1, -1}, {NAN, 20.5}, "1 of 2 units by name, of "},
        {"y (mm),kind,x [\xc2\xb5m],unit\n0.02,good,0,b\n", {"a", "b", NULL}, {-1, -1}, {NAN, 20}, "1 of 2"},
        {"channel,x_um,y_um\n7,0,20\n9,,\n",
         {"a", "b", NULL},
         {9, 7},
         {NAN, 20},
         "2 of 2 units by electrode"},
        {"index,x,y\n1,0,20\n0,0,10\n", {"4", "1", NULL}, {-1, -1}, {10, 20}, "2 of 2 units by index, of "},
        {"name,x,y\n#1,0,20\n#0,0,10\n", {"4", "1", NULL}, {-1, -1}, {10, 20}, "2 of 2 units by index, of "},
        {"0 1 A 1 a\n0 2 A 2 b\n", {"b:2", "a:b:0", NULL}, {1, 9}, {800, NAN}, "1 of 2 units by the name of"},
        {"0 1 A 1 a\n0 2 A 2 b\n", {"x:1", "y:2", NULL}, {9, 2}, {NAN, 800}, "1 of 2 units by electrode"},
        {probe, {"ch4:5", "x:3", NULL}, {9, 9}, {20, NAN}, "1 of 2 units by the number in the name"},
        {probe, {"e:5", "z:3", NULL}, {-1, -1}, {10, 30}, "2 of 2 units by the number in the name"},
        {"5(400)0/10;5(401)0/20;6(400)0/30;7(1)0/20;",
         {"400", "1", NULL},
         {-1, -1},
         {10, 20},
         "2 of 2 units by name, of "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (place(&recording, cases[i].names, cases[i].electrodes, cases[i].file, &error) != SF_OK)
            fail_msg("%zu: %s", i, error.text);
        for (size_t k = 0; k < 2; k++) {
            const sf_unit *unit = &recording.units.items[k];
            assert_true(isnan(cases[i].y_um[k]) ? isnan(unit->y_um) && isnan(unit->x_um)
                                                : unit->y_um == cases[i].y_um[k] && unit->x_um == 0);
        }
        assert_string_equal(recording.metadata[0].key, "positions");
        assert_int_equal(strncmp(recording.metadata[0].value, cases[i].told, strlen(cases[i].told)), 0);
        sf_recording_clear(&recording);
    }
    sf_recording recording;
    sf_error error = {0};
    static const char *const none[] = {"u", "v9", NULL};
    static const int numbers[] = {-1, 2};
    test_assert_fails(place(&recording, none, numbers, probe, &error), &error, SF_DATA,
                      "has 3 electrodes and none of the 2 units");
    assert_true(recording.units.items[0].x_um == 7);
    sf_recording_clear(&recording);
}

static int read_path(void *context)
{
    sf_electrodes it;
    int status = sf_electrodes_read(&it, context, NULL);
    sf_electrodes_free(&it);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    char *path = write_file("7(4711)35/52.5;8(12)0/0");
    test_fail_every_allocation(read_path, path);
    remove(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probeinterface_files_are_read),
        cmocka_unit_test(routings_are_read),
        cmocka_unit_test(maps_of_blackrock_are_read),
        cmocka_unit_test(what_is_neither_is_refused),
        cmocka_unit_test(units_are_placed_by_what_the_file_calls_them),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
