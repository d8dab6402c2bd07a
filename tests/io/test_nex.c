/* SPDX-License-Identifier: Apache-2.0 */
/* NeuroExplorer's .nex and .nex5, written here byte by byte as their headers are published. */
#include "support/recordings.h"
#include "support/support.h"

#include "core/memory.h"
#include "replay/recording_file.h"

#include <math.h>

/* ---- a writer ---- */

enum { NEURON, EVENT, INTERVAL, WAVEFORM, VECTOR, CONTINUOUS, MARKER };

typedef struct variable {
    int type;
    int32_t version; /* 0: as NeuroExplorer writes it */
    const char *name;
    int32_t wire, unit;
    double x, y;
    size_t count; /* entries, of which an interval has two times */
    const int64_t *times;
    size_t fields, length;
    const char *values; /* of markers: fields * count * length bytes */
    bool is_numeric;
    size_t points; /* int16 numbers of each waveform, or of the continuous variable */
} variable;

typedef struct file {
    bool is_nex5, wide;
    int32_t version;
    double rate_hz;
    int64_t begin, end;
    const char *json;
    const variable *variables;
    size_t count;
    unsigned char bytes[16384];
    size_t size;
} file;

static void put(file *to, const void *bytes, size_t size)
{
    assert_true(to->size + size <= sizeof to->bytes);
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void put_int(file *to, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        put(to, &(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

static void put_real(file *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_int(to, bits, 8);
}

static void put_text(file *to, const char *text, size_t size)
{
    char room[256] = "";
    for (size_t i = 0; i < size && text[i] != '\0'; i++)
        room[i] = text[i];
    put(to, room, size);
}

static size_t size_of(const file *of, const variable *v)
{
    size_t width = of->wide ? 8 : 4;
    switch (v->type) {
    case INTERVAL:
        return 2 * v->count * width;
    case WAVEFORM:
        return v->count * (width + 2 * v->points);
    case VECTOR:
        return v->count * 8;
    case CONTINUOUS:
        return v->count * (width + 4) + 2 * v->points;
    case MARKER:
        return v->count * width + v->fields * (64 + v->count * v->length);
    default:
        return v->count * width;
    }
}

static void put_header(file *to, const variable *v, size_t at)
{
    put_int(to, (uint64_t)v->type, 4);
    int32_t version = v->wire != 0 || v->unit != 0 ? 101 : 100;
    put_int(to, to->is_nex5 ? 500 : v->version != 0 ? (uint64_t)v->version : (uint64_t)version, 4);
    put_text(to, v->name, 64);
    put_int(to, at, to->is_nex5 ? 8 : 4);
    put_int(to, v->count, to->is_nex5 ? 8 : 4);
    if (to->is_nex5) {
        put_int(to, to->wide, 4);
        put_int(to, 0, 4);
        put_real(to, 1000);
        put_text(to, "mV", 32);
        put_real(to, 1);
        put_real(to, 0);
        put_int(to, v->points, 8);
        put_real(to, 0);
        put_int(to, v->is_numeric, 4);
        put_int(to, v->fields, 4);
        put_int(to, v->length, 4);
        put_text(to, "", 64);
    } else {
        put_int(to, (uint64_t)v->wire, 4);
        put_int(to, (uint64_t)v->unit, 4);
        put_int(to, 0, 8);
        put_real(to, v->x);
        put_real(to, v->y);
        put_real(to, 1000);
        put_real(to, 1);
        put_int(to, v->points, 4);
        put_int(to, v->fields, 4);
        put_int(to, v->length, 4);
        put_text(to, "", 68);
    }
}

static void put_data(file *to, const variable *v)
{
    size_t end = to->size + size_of(to, v), times = v->type == INTERVAL ? 2 * v->count : v->count;
    for (size_t i = 0; v->times != NULL && i < times; i++)
        put_int(to, (uint64_t)v->times[i], to->wide ? 8 : 4);
    for (size_t f = 0; f < v->fields; f++) {
        put_text(to, "field", 64);
        put(to, v->values + f * v->count * v->length, v->count * v->length);
    }
    while (to->size < end)
        put_int(to, 7, 1);
}

static void build(file *to)
{
    size_t at = to->is_nex5 ? 356 + 244 * to->count : 544 + 208 * to->count, json_at = at;
    for (size_t i = 0; i < to->count; i++)
        json_at += size_of(to, &to->variables[i]);
    to->size = 0;
    put_text(to, to->is_nex5 ? "NEX5" : "NEX1", 4);
    put_int(to, to->version != 0 ? (uint64_t)to->version : to->is_nex5 ? 501 : 106, 4);
    put_text(to, "a comment", 256);
    put_real(to, to->rate_hz != 0 ? to->rate_hz : 1000);
    put_int(to, (uint64_t)to->begin, to->is_nex5 ? 8 : 4);
    if (!to->is_nex5) put_int(to, (uint64_t)to->end, 4);
    put_int(to, to->count, 4);
    if (to->is_nex5) {
        put_int(to, to->json != NULL ? json_at : 0, 8);
        put_int(to, (uint64_t)to->end, 8);
    }
    for (size_t rest = to->is_nex5 ? 56 : 260; rest > 0; rest--)
        put_int(to, 0, 1);
    for (size_t i = 0; i < to->count; i++) {
        put_header(to, &to->variables[i], at);
        at += size_of(to, &to->variables[i]);
    }
    for (size_t i = 0; i < to->count; i++)
        put_data(to, &to->variables[i]);
    if (to->json != NULL) put(to, to->json, strlen(to->json) + 1);
}

static void save(const file *of, size_t size)
{
    FILE *out = fopen(test_path, "wb");
    assert_int_equal(fwrite(of->bytes, 1, size, out), size);
    fclose(out);
}

static sf_recording read_good(const char *stream)
{
    sf_recording recording;
    sf_error error = {0};
    if (sf_recording_read(&recording, test_path, &(sf_reading){.stream = stream}, NULL, &error) != SF_OK)
        fail_msg("%s", error.text);
    return recording;
}

static sf_recording read_file(file *of, const char *stream)
{
    build(of);
    save(of, of->size);
    return read_good(stream);
}

static void assert_refused(sf_status code, const char *words)
{
    sf_recording recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_read(&recording, test_path, NULL, NULL, &error), &error, code, words);
    assert_int_equal(sf_memory_live(), 0);
}

static void assert_metadata(const sf_recording *recording, const char *key, const char *value)
{
    const char *found = test_metadata(recording, key);
    if (value == NULL)
        assert_null(found);
    else if (found == NULL)
        fail_msg("no metadata %s", key);
    else
        assert_string_equal(found, value);
}

/* ---- what is read ---- */

static const int64_t long_train[] = {100, 200, 300, 400, 500, 600, 700, 800, 900}, short_train[] = {150, 250},
                     edges[] = {50, 1500}, trials[] = {100, 1000, 300, 1200}, all_file[] = {0, 2000},
                     codes[] = {10, 20};

static const variable every_type[] = {
    {.type = NEURON,
     .name = "sig001a",
     .wire = 1,
     .unit = 1,
     .x = 10,
     .y = 5,
     .count = 9,
     .times = long_train},
    {.type = NEURON, .name = "sig001U", .wire = 1, .x = 10, .y = 5, .count = 2, .times = short_train},
    {.type = NEURON, .name = "silent", .wire = 2, .unit = 3, .x = 40, .y = 5},
    {.type = WAVEFORM,
     .name = "sig001a_wf",
     .wire = 1,
     .unit = 1,
     .count = 9,
     .times = long_train,
     .points = 2},
    {.type = EVENT, .name = "light", .count = 2, .times = edges},
    {.type = INTERVAL, .name = "trial", .count = 2, .times = trials},
    {.type = INTERVAL, .name = "AllFile", .count = 1, .times = all_file},
    {.type = VECTOR, .name = "pop", .count = 2},
    {.type = CONTINUOUS, .name = "FP01", .count = 1, .points = 10},
    {.type = CONTINUOUS, .name = "FP02", .count = 1, .points = 10},
    {.type = MARKER,
     .name = "Strobed",
     .count = 2,
     .times = codes,
     .fields = 2,
     .length = 4,
     .values = "0001"
               "42\0\0"
               "a   "
               "abcd"},
};

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static const char json[] = "{\"file\":{},\"variables\":[{\"name\":\"silent\",\"unitNumber\":3,\"probe\":{"
                           "\"wireNumber\":2,\"position\":"
                           "{\"x\":40,\"y\":5}}},{\"name\":\"sig001a\",\"unitNumber\":1,\"probe\":{"
                           "\"wireNumber\":1,\"position\":{\"x\":10,"
                           "\"y\":5}}},{\"name\":\"sig001U\",\"unitNumber\":0,\"probe\":{\"wireNumber\":1,"
                           "\"position\":{\"x\":10,\"y\":5}}}]}";

static void assert_every_type(const sf_recording *recording)
{
    static const sf_unit_kind kinds[] = {SF_UNIT_SORTED, SF_UNIT_MULTI_UNIT, SF_UNIT_SORTED};
    static const int32_t electrodes[] = {1, 1, 2};
    static const double x_um[] = {10, 10, 40};
    static const struct {
        int64_t ms;
        const char *text;
    } marks[] = {{10, "Strobed 0001 a"}, {20, "Strobed 42 abcd"}, {50, "light"},       {100, "trial"},
                 {300, "trial end"},     {1000, "trial"},         {1200, "trial end"}, {1500, "light"}};
    assert_int_equal(recording->units.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(recording->units.items[i].name, every_type[i].name);
        assert_int_equal(recording->units.items[i].kind, kinds[i]);
        assert_int_equal(recording->units.items[i].electrode, electrodes[i]);
        assert_true(recording->units.items[i].x_um == x_um[i] && recording->units.items[i].y_um == 5);
    }
    assert_int_equal(recording->spike_count, 11); /* a spike of the neuron and its waveform counts once */
    assert_int_equal(recording->spikes[1].time_ns, 150000000);
    assert_int_equal(recording->spikes[1].unit, 1);
    assert_int_equal(recording->tick_ns, 1000000);
    assert_int_equal(recording->marker_count, COUNT_OF(marks));
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        assert_int_equal(recording->markers[i].time_ns, marks[i].ms * 1000000);
        assert_string_equal(recording->markers[i].text, marks[i].text);
    }
    assert_true(recording->declared);
    assert_int_equal(sf_recording_duration_ns(recording), 2000000000);
    assert_int_equal(recording->observed_count, 0);
    assert_metadata(recording, "comment", "a comment");
    assert_metadata(recording, "sampling_rate", "1000");
    assert_metadata(recording, "left_out", "2 continuous variables (FP01, FP02); 1 population vector (pop)");
    assert_metadata(recording, "waveforms", "1 variable is left out: its spikes are those of others");
    assert_metadata(recording, "positions", "those of NeuroExplorer's 3D view, from 0 to 100, taken as um");
    assert_metadata(recording, "order", NULL);
}

static void every_type_is_read(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) { /* .nex, .nex5 of 32 and of 64 bits */
        file of = {.is_nex5 = kind > 0,
                   .wide = kind > 1,
                   .begin = 5,
                   .end = 1700,
                   .json = kind > 0 ? json : NULL,
                   .variables = every_type,
                   .count = COUNT_OF(every_type)};
        sf_recording recording = read_file(&of, NULL);
        assert_string_equal(recording.format, kind > 0 ? "NeuroExplorer .nex5, version 501"
                                                       : "NeuroExplorer .nex, version 106");
        assert_every_type(&recording);
        sf_recording_clear(&recording);
    }
}

static void times_of_64_bits_and_integers_are_read(void **state)
{
    (void)state;
    static const int64_t late[] = {5000000000, 6000000001};
    static const variable variables[] = {
        {.type = NEURON, .name = "n", .count = 2, .times = late},
        {.type = MARKER,
         .name = "m",
         .count = 2,
         .times = late,
         .fields = 1,
         .length = 4,
         .values = "\1\0\0\0\377\377\377\377",
         .is_numeric = true},
    };
    file of = {.is_nex5 = true, .wide = true, .rate_hz = 1e6, .variables = variables, .count = 2};
    sf_recording recording = read_file(&of, NULL);
    assert_int_equal(recording.spikes[1].time_ns, 6000000001000);
    assert_string_equal(recording.markers[0].text, "m 1");
    assert_string_equal(recording.markers[1].text, "m 4294967295");
    assert_int_equal(recording.units.items[0].electrode, -1);
    assert_true(isnan(recording.units.items[0].x_um));
    sf_recording_clear(&recording);
}

/* ---- units ---- */

static void names_tell_kinds_where_numbers_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        sf_unit_kind kind;
    } names[] = {{"sig001a", SF_UNIT_SORTED},       {"sig001U", SF_UNIT_MULTI_UNIT},
                 {"SPK01b_wf", SF_UNIT_SORTED},     {"sig001i", SF_UNIT_UNKNOWN},
                 {"Neuron1", SF_UNIT_UNKNOWN},      {"a", SF_UNIT_UNKNOWN},
                 {"sig01U_wf", SF_UNIT_MULTI_UNIT}, {"nr\265", SF_UNIT_UNKNOWN}};
    variable variables[COUNT_OF(names)];
    for (size_t i = 0; i < COUNT_OF(names); i++)
        variables[i] =
            (variable){.type = NEURON, .name = names[i].name, .count = i == 0 ? 2 : 0, .times = short_train};
    file of = {.variables = variables, .count = COUNT_OF(names)};
    sf_recording recording = read_file(&of, NULL);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_int_equal(recording.units.items[i].kind, names[i].kind);
        assert_int_equal(recording.units.items[i].electrode, -1);
    }
    assert_string_equal(recording.units.items[7].name, "nr\302\265"); /* Latin-1 */
    assert_metadata(&recording, "positions", NULL);
    sf_recording_clear(&recording);
}

/* NeuroExplorer's Python package writes version 102 and numbers of 0 where it knows none. */
static void numbers_count_where_they_mean_something(void **state)
{
    (void)state;
    static const variable variables[] = {
        {.type = NEURON, .name = "a", .unit = 1, .count = 2, .times = short_train},
        {.type = NEURON, .version = 101, .name = "b"},
        {.type = NEURON, .version = 102, .name = "c"}};
    static const sf_unit_kind kinds[] = {SF_UNIT_SORTED, SF_UNIT_MULTI_UNIT, SF_UNIT_UNKNOWN};
    static const int32_t electrodes[] = {0, 0, -1};
    file of = {.variables = variables, .count = 3};
    sf_recording recording = read_file(&of, NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(recording.units.items[i].kind, kinds[i]);
        assert_int_equal(recording.units.items[i].electrode, electrodes[i]);
    }
    sf_recording_clear(&recording);
}

static void no_spike_counts_twice(void **state)
{
    (void)state;
    static const int64_t more[] = {150, 170, 250};
    static const variable variables[] = {
        {.type = WAVEFORM,
         .name = "x_wf",
         .wire = 4,
         .unit = 1,
         .count = 9,
         .times = long_train,
         .points = 1},
        {.type = NEURON, .name = "a", .wire = 1, .unit = 1, .count = 2, .times = short_train},
        {.type = NEURON, .name = "b", .wire = 2, .unit = 1, .count = 2, .times = edges},
        {.type = WAVEFORM, .name = "a", .count = 2, .times = short_train, .points = 1}, /* of its name */
        {.type = WAVEFORM, .name = "a_wf", .count = 3, .times = more, .points = 1}, /* and one spike more */
        {.type = WAVEFORM, .name = "c", .wire = 2, .unit = 1, .count = 1, .times = edges}, /* of its numbers
                                                                                            */
        {.type = WAVEFORM,
         .name = "y_wf",
         .wire = 5,
         .unit = 1,
         .count = 9,
         .times = long_train,
         .points = 1},
        {.type = WAVEFORM, .name = "z", .wire = 6, .unit = 1, .count = 2, .times = short_train, .points = 1},
    };
    static const char *const names[] = {"a", "b", "x_wf", "z"};
    file of = {.variables = variables, .count = COUNT_OF(variables)};
    sf_recording recording = read_file(&of, NULL);
    assert_int_equal(recording.units.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(recording.units.items[i].name, names[i]);
    assert_int_equal(recording.spike_count, 2 + 2 + 9 + 2);
    assert_metadata(&recording, "waveforms", "4 variables are left out: their spikes are those of others");
    assert_int_equal(recording.dropped_count, 1);
    assert_string_equal(recording.dropped[0].cause, "of waveforms and not among their neuron's spikes");
    assert_int_equal(recording.dropped[0].count, 1);
    sf_recording_clear(&recording);
}

/* ---- times ---- */

static void times_out_of_order_are_told(void **state)
{
    (void)state;
    static const int64_t back[] = {300, 200, 250, 100};
    static const variable variables[] = {{.type = NEURON, .name = "n", .count = 4, .times = back},
                                         {.type = WAVEFORM, .name = "n_wf", .count = 4, .times = back}};
    file of = {.variables = variables, .count = 2};
    sf_recording recording = read_file(&of, NULL);
    assert_int_equal(recording.spike_count, 4);
    assert_int_equal(recording.spikes[0].time_ns, 100000000);
    assert_metadata(&recording, "order",
                    "2 timestamps are earlier than the one before, first in 'n': spikes were put in order");
    assert_metadata(&recording, "clock", NULL);
    sf_recording_clear(&recording);
}

static void counters_that_overflow_are_sessions(void **state)
{
    (void)state;
    static const int64_t wrapped[] = {1000000000, 2147483500, -2147483500, -2000000000};
    static const variable variables[] = {{.type = NEURON, .name = "n", .count = 4, .times = wrapped}};
    file of = {.rate_hz = 40000, .variables = variables, .count = 1, .begin = 1000000000, .end = -2000000000};
    sf_recording recording = read_file(&of, NULL);
    assert_non_null(
        strstr(test_metadata(&recording, "clock"), "a counter of 32 bits overflows every 107374.182 s"));
    assert_metadata(&recording, "recorded",
                    "by the header of the file, which is damaged: it is not believed");
    sf_recording_clear(&recording);
    recording = read_good("joined");
    assert_int_equal(recording.spike_count, 4);
    assert_int_equal(recording.spikes[2].time_ns - recording.spikes[1].time_ns, 296 * INT64_C(25000));
    sf_recording_clear(&recording);
}

static void recorded_time_is_what_the_file_says(void **state)
{
    (void)state;
    static const int64_t pauses[] = {0, 500, 450, 1000}, over[] = {0, 400, 450, 1000};
    variable variables[] = {{.type = NEURON, .name = "n", .count = 9, .times = long_train},
                            {.type = INTERVAL, .name = "AllFile", .count = 2, .times = pauses}};
    file of = {.variables = variables, .count = 2};
    sf_recording recording = read_file(&of, NULL);
    assert_int_equal(recording.observed_count, 2); /* the end of an interval is in it */
    assert_int_equal(recording.observed[0].stop_ns, 450000001);
    assert_int_equal(recording.observed[1].start_ns, 500000000);
    sf_recording_clear(&recording);

    variables[1].times = over;
    recording = read_file(&of, NULL);
    assert_metadata(&recording, "recorded", "by its variable AllFile, which is damaged: it is not believed");
    assert_false(recording.declared);
    sf_recording_clear(&recording);

    of.count = 1; /* the header says it */
    of.begin = 50;
    of.end = 1050;
    recording = read_file(&of, NULL);
    assert_true(recording.declared);
    assert_int_equal(sf_recording_duration_ns(&recording), 1000000000);
    sf_recording_clear(&recording);

    of.begin = 100; /* no more than that there were spikes */
    of.end = 901;
    recording = read_file(&of, NULL);
    assert_false(recording.declared);
    sf_recording_clear(&recording);

    of.is_nex5 = true; /* before it had an end */
    of.version = 500;
    of.end = 1050;
    recording = read_file(&of, NULL);
    assert_false(recording.declared);
    sf_recording_clear(&recording);
}

/* ---- damage ---- */

static void damage_is_refused(void **state)
{
    (void)state;
    static const struct {
        bool is_nex5;
        size_t at, width;
        uint64_t value;
        const char *words;
    } damages[] = {
        {false, 4, 4, 103, "this is a NeuroExplorer file of version 103, expected 100, 101, 104, 105 or 106"},
        {false, 264, 8, 0, "the timestamp frequency in its header"},
        {false, 280, 4, 0xffffffff, "damaged: it says that it has -1 variables"},
        {false, 280, 4, 100, "damaged: it says that it has 100 variables"},
        {false, 544 + 72, 4, 544,
         "the data of variable 'sig001a' would begin at byte 544, within the headers"},
        {false, 544 + 72, 4, 0xfffffff0, "and the file ends at byte"},
        {false, 544 + 76, 4, 0xffffffff, "and the file ends at byte"},
        {false, 544 + 76, 4, 100000, "variable 'sig001a' has 100000 entries from byte"},
        {false, 544 + 208 * 10 + 132, 4, 0x7fffffff, "variable 'Strobed' has 2 entries from byte"},
        {false, 544 + 208 * 10 + 136, 4, 0x7fffffff,
         "damaged: markers 'Strobed' have 2 fields of 2147483647 bytes"},
        {true, 4, 4, 600, "this is a NeuroExplorer file of version 600, expected 500 or later"},
        {true, 356 + 4, 4, 501, "the header of variable 0, 'sig001a', is of version 501, expected 500"},
        {true, 356 + 80, 8, UINT64_MAX, "and the file ends at byte"},
        {true, 356 + 80, 8, UINT64_C(1) << 62, "and the file ends at byte"},
        {true, 356 + 88, 4, 2, "timestamps of variable 'sig001a' are of kind 2"},
    };
    for (size_t i = 0; i < COUNT_OF(damages); i++) {
        file of = {.is_nex5 = damages[i].is_nex5,
                   .json = damages[i].is_nex5 ? json : NULL,
                   .variables = every_type,
                   .count = COUNT_OF(every_type)};
        build(&of);
        size_t size = of.size;
        of.size = damages[i].at;
        put_int(&of, damages[i].value, damages[i].width);
        save(&of, size);
        assert_refused(SF_DATA, damages[i].words);
    }
}

/* What a file that was cut off has of its variables' data is all there. */
static void json_beyond_the_file_is_told(void **state)
{
    (void)state;
    file of = {.is_nex5 = true, .json = json, .variables = every_type, .count = COUNT_OF(every_type)};
    build(&of);
    size_t size = of.size;
    of.size = 284;
    put_int(&of, 1 << 20, 8);
    save(&of, size);
    sf_recording recording = read_good(NULL);
    assert_int_equal(recording.spike_count, 11);
    assert_int_equal(recording.units.items[0].electrode, -1);
    assert_non_null(strstr(test_metadata(&recording, "json"), "it would begin at byte 1048576"));
    sf_recording_clear(&recording);
}

static void variables_of_the_same_bytes_are_refused(void **state)
{
    (void)state;
    file of = {.variables = every_type, .count = COUNT_OF(every_type)};
    build(&of);
    size_t size = of.size, data = 544 + 208 * of.count;
    for (size_t i = 0; i < of.count; i++) {
        of.size = 544 + 208 * i;
        put_int(&of, NEURON, 4);
        of.size = 544 + 208 * i + 72;
        put_int(&of, data, 4);
        put_int(&of, (size - data) / 4, 4);
    }
    save(&of, size);
    assert_refused(SF_DATA, "damaged: its variables hold more bytes than the file has");
}

/* A file that is cut off anywhere is refused, unless nothing that counts is missing. */
static void files_that_are_cut_off_are_refused(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        file of = {.is_nex5 = kind > 0,
                   .json = kind > 0 ? json : NULL,
                   .variables = every_type,
                   .count = COUNT_OF(every_type)};
        build(&of);
        for (size_t size = 8; size < of.size; size += 7) {
            save(&of, size);
            sf_recording recording;
            sf_error error = {0};
            int status = sf_recording_read(&recording, test_path, NULL, NULL, &error);
            if (status == SF_OK) {
                assert_true(size > 356 && kind > 0); /* the JSON */
                assert_non_null(strstr(test_metadata(&recording, "json"),
                                       "damaged, so that wires, units and positions are not known: line 1"));
                assert_int_equal(recording.spike_count, 11);
                sf_recording_clear(&recording);
            } else {
                test_assert_fails(status, &error, SF_DATA, "cut off");
            }
        }
    }
    variable last[] = {{.type = NEURON, .name = "n", .count = 9, .times = long_train},
                       {.type = CONTINUOUS, .name = "FP01", .count = 1, .points = 10}};
    file of = {.variables = last, .count = 2};
    build(&of);
    save(&of, of.size - 4);
    sf_recording recording = read_good(NULL);
    assert_metadata(&recording, "left_out", "1 continuous variable (FP01), 1 of them cut off with the file");
    sf_recording_clear(&recording);
}

static void files_without_spikes_say_what_they_hold(void **state)
{
    (void)state;
    file of = {.variables = every_type + 4, .count = 5};
    build(&of);
    save(&of, of.size);
    assert_refused(
        SF_DATA,
        "no spike times: this NeuroExplorer file holds 1 event variable (light); 2 interval variables "
        "(trial, AllFile); 1 continuous variable (FP01); 1 population vector (pop); expected neurons "
        "or waveforms");
    of.count = 0;
    build(&of);
    save(&of, of.size);
    assert_refused(SF_DATA, "this NeuroExplorer file holds no variables");
}

static void text_that_begins_so_is_text(void **state)
{
    (void)state;
    file of = {.size = 0};
    put_text(&of, "NEX1,0.5\nNEX5,1.5\n", 18);
    save(&of, of.size);
    sf_recording recording = read_good(NULL);
    assert_string_equal(recording.units.items[1].name, "NEX5");
    sf_recording_clear(&recording);
}

static void memory_may_be_short(void **state)
{
    (void)state;
    file of = {.variables = every_type, .count = COUNT_OF(every_type)};
    build(&of);
    save(&of, of.size);
    test_fail_every_allocation(test_read_and_free, &(test_reading){test_path, NULL});
}

#define WITH_FILE(test) test_with_file(test, ".nex")

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(every_type_is_read),
        WITH_FILE(times_of_64_bits_and_integers_are_read),
        WITH_FILE(names_tell_kinds_where_numbers_do_not),
        WITH_FILE(numbers_count_where_they_mean_something),
        WITH_FILE(no_spike_counts_twice),
        WITH_FILE(times_out_of_order_are_told),
        WITH_FILE(counters_that_overflow_are_sessions),
        WITH_FILE(recorded_time_is_what_the_file_says),
        WITH_FILE(damage_is_refused),
        WITH_FILE(json_beyond_the_file_is_told),
        WITH_FILE(variables_of_the_same_bytes_are_refused),
        WITH_FILE(files_that_are_cut_off_are_refused),
        WITH_FILE(files_without_spikes_say_what_they_hold),
        WITH_FILE(text_that_begins_so_is_text),
        WITH_FILE(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
