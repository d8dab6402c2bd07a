/* SPDX-License-Identifier: Apache-2.0 */
/* Hundreds of damaged HDF5 files, made from small sound ones: each is read, or refused in one sentence, and
 * this program lives on; libhdf5 itself crashes on some and goes round for ever on others. */
#include "support/hdf_files.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "graph/store/csr.h"
#include "io/apart.h"
#include "io/graph/file.h"
#include "io/hdf.h"
#include "io/layout.h"
#include "io/occurrence_file.h"
#include "mine/occurrences.h"
#include "replay/recording_file.h"
#include "replay/truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS INT64_C(1000000)

static char *path;
static sf_units planted; /* units that a damaged /truth is read with */
static size_t sound, refused, crashed, endless;

static int set_up(void **state)
{
    (void)state;
    sf_hdf_begin();
    path = test_temporary_path(".h5");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    free(path);
    sf_units_free(&planted);
    return 0;
}

/* ---- reading whatever it has become ---- */

static void judge(int status, const sf_error *error)
{
    if (status == SF_OK) {
        sound++;
        return;
    }
    if (status != SF_DATA && status != SF_NO_INPUT)
        fail_msg("status %d: %s: %s", status, error->place, error->text);
    assert_int_equal(error->code, status);
    assert_int_not_equal(error->text[0], '\0');
    assert_null(strchr(error->text, '\n'));
    refused++;
    crashed += strstr(error->text, "crashes") != NULL;
    endless += strstr(error->text, "does not end") != NULL;
}

static void read_recording(void)
{
    sf_recording recording;
    sf_error error = {0};
    int status = sf_recording_read(&recording, path, NULL, NULL, &error);
    judge(status, &error);
    if (status != SF_OK) return;
    for (size_t i = 0; i < recording.spike_count; i++) {
        assert_true(recording.spikes[i].unit < recording.units.count);
        assert_true(i == 0 || recording.spikes[i].time_ns >= recording.spikes[i - 1].time_ns);
    }
    sf_recording_clear(&recording);
}

static void read_truth(void)
{
    sf_truth truth;
    sf_error error = {0};
    int status = sf_truth_read(&truth, path, &planted, &error);
    judge(status, &error);
    if (status == SF_OK) sf_truth_free(&truth);
}

static void read_occurrences(void)
{
    sf_occurrence_set set;
    sf_error error = {0};
    int status = sf_occurrence_file_read(&set, path, &error);
    judge(status, &error);
    if (status == SF_OK) sf_occurrence_set_free(&set);
}

static void read_graph(void)
{
    sf_edge_list list = {0};
    sf_error error = {0};
    int status = sf_graph_hdf5.read(&list, path, &error);
    judge(status, &error);
    sf_edge_list_free(&list);
}

/* ---- damage ---- */

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes load(const char *from)
{
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    bytes all = {.size = (size_t)ftell(file)};
    rewind(file);
    all.data = malloc(all.size);
    assert_int_equal(fread(all.data, 1, all.size, file), all.size);
    fclose(file);
    return all;
}

static void store(const unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Most of a file's structure lies where it has few zeros; damage there is worth more than in empty space. */
static size_t structured_place(test_random *random, const bytes *whole)
{
    size_t at = (size_t)test_random_below(random, whole->size);
    for (int tries = 0; tries < 50 && whole->data[at] == 0; tries++)
        at = (size_t)test_random_below(random, whole->size);
    return at;
}

static void damage(test_random *random, unsigned char *data, const bytes *whole)
{
    static const unsigned char telling[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
    size_t changes = 1 + (size_t)test_random_below(random, 4);
    for (size_t i = 0; i < changes; i++) {
        size_t at = structured_place(random, whole), length = 1 + (size_t)test_random_below(random, 8);
        length = length < whole->size - at ? length : whole->size - at;
        switch (test_random_below(random, 3)) {
        case 0:
            data[at] = (unsigned char)(data[at] ^ 1 << test_random_below(random, 8));
            break;
        case 1:
            memset(data + at, telling[test_random_below(random, sizeof telling)], length);
            break;
        default:
            memmove(data + at, data + test_random_below(random, whole->size - length + 1), length);
        }
    }
}

/* The file at `path` in as many damaged forms as `usual`, and cut at every power of two. */
static void read_damaged(const char *what, const char *original, int usual, void (*read)(void))
{
    test_random random = test_random_start(what, 12);
    bytes whole = load(original);
    unsigned char *copy = malloc(whole.size);
    sound = refused = crashed = endless = 0;
    for (size_t size = 1; size < whole.size; size *= 2) {
        store(whole.data, size);
        read();
    }
    for (int i = 0; i < test_rounds(usual); i++) {
        memcpy(copy, whole.data, whole.size);
        damage(&random, copy, &whole);
        store(copy, whole.size);
        read();
    }
    free(copy);
    free(whole.data);
    print_message("%s: %zu read, %zu refused; the library crashed on %zu and did not end on %zu\n", what,
                  sound, refused, crashed, endless);
    assert_true(refused > 0);
}

/* ---- files made here ---- */

static void simulate(void)
{
    static const sf_simulation_chain chain = {{3, {0, 1, 2}, {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}}, 2.0};
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 5;
    settings.duration_ns = 5000 * MS;
    settings.marker_every_ns = 1000 * MS;
    settings.chains = &chain;
    settings.chain_count = 1;
    sf_recording recording;
    sf_truth truth;
    sf_layout *layout;
    const sf_layout_options how = {.kind = "recording", .overwrite = true};
    assert_int_equal(sf_simulate(&recording, &truth, &settings, NULL, NULL), SF_OK);
    assert_int_equal(sf_layout_create(&layout, path, &recording, &how, NULL), SF_OK);
    assert_int_equal(sf_truth_write(layout, &truth, &recording.units, NULL), SF_OK);
    assert_int_equal(sf_layout_append_spikes(layout, recording.spikes, recording.spike_count, NULL), SF_OK);
    assert_int_equal(sf_layout_append_markers(layout, recording.markers, recording.marker_count, NULL),
                     SF_OK);
    assert_int_equal(sf_layout_close(layout, &recording.recorded, NULL), SF_OK);
    sf_units_free(&planted);
    planted = (sf_units){0};
    assert_int_equal(sf_units_copy(&planted, &recording.units, NULL), SF_OK);
    sf_truth_free(&truth);
    sf_recording_clear(&recording);
}

static void fill(void (*content)(hid_t file))
{
    hid_t file = test_hdf_create(path);
    content(file);
    test_hdf_close(file);
}

static void write_occurrences(void)
{
    simulate();
    sf_recording recording;
    sf_episode episode = {2, {0, 1}, {{4 * MS, 6 * MS}}};
    double expected = 1.5;
    uint64_t count = 2;
    int64_t times[] = {0, 5 * MS, 10 * MS, 15 * MS}, *all = times;
    assert_int_equal(sf_recording_read(&recording, path, NULL, NULL, NULL), SF_OK);
    const sf_occurrences occurrences = {.recording = &recording,
                                        .count = 1,
                                        .episodes = &episode,
                                        .expected = &expected,
                                        .counts = &count,
                                        .times_ns = &all};
    assert_int_equal(sf_occurrences_write(&occurrences, path, NULL, NULL, NULL), SF_OK);
    sf_recording_clear(&recording);
}

static void write_graph(void)
{
    sf_edge_list list = {0};
    sf_csr graph;
    size_t column;
    for (uint32_t v = 0; v < 20; v++) {
        char name[16];
        snprintf(name, sizeof name, "unit %u", v);
        assert_int_equal(sf_edge_list_add_named(&list, name, NULL), SF_OK);
    }
    for (uint32_t v = 0; v < 60; v++)
        assert_int_equal(sf_edge_list_add(&list, v % 20, v * 7 % 20, NULL), SF_OK);
    assert_int_equal(sf_columns_grow(&list.edge_columns, list.edge_count, NULL), SF_OK);
    assert_int_equal(sf_columns_add(&list.edge_columns, "weight", &column, NULL), SF_OK);
    for (size_t e = 0; e < list.edge_count; e++)
        list.edge_columns.items[column].values[e] = (double)e;
    assert_int_equal(sf_csr_build(&graph, &list, 0, NULL), SF_OK);
    assert_int_equal(sf_graph_hdf5.write(&graph, path, NULL), SF_OK);
    sf_csr_free(&graph);
    sf_edge_list_free(&list);
}

/* Reads what lies at `path` now in damaged forms. */
static void read_forms(const char *what, int variants, void (*read)(void))
{
    char *original = test_temporary_path(".whole");
    assert_int_equal(rename(path, original), 0);
    read_damaged(what, original, variants, read);
    unlink(original);
    free(original);
}

#define VARIANTS 100

static void recordings_of_synfire(void **state)
{
    (void)state;
    simulate();
    read_forms("synfire", VARIANTS, read_recording);
}

static void carmen_files(void **state)
{
    (void)state;
    fill(test_hdf_fill_carmen);
    read_forms("CARMEN", VARIANTS, read_recording);
}

static void nwb_files(void **state)
{
    (void)state;
    fill(test_hdf_fill_nwb);
    read_forms("NWB", VARIANTS, read_recording);
}

static void planted_truth(void **state)
{
    (void)state;
    simulate();
    read_forms("truth", VARIANTS, read_truth);
}

static void occurrence_files(void **state)
{
    (void)state;
    write_occurrences();
    read_forms("occurrences", VARIANTS, read_occurrences);
}

static void graph_files(void **state)
{
    (void)state;
    write_graph();
    read_forms("graph", VARIANTS, read_graph);
}

static void real_recordings(void **state)
{
    (void)state;
    static const char *const names[] = {"Kirkby2013_02_B2KO_P5.h5", "Torborg2004_2001-10-22-0.h5",
                                        "Wong1993_P0.h5", "pynapple_A8604-211122.nwb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char relative[128];
        snprintf(relative, sizeof relative, "recordings/%s", names[i]);
        char *original = test_data_path(relative);
        if (original == NULL) skip();
        read_damaged(names[i], original, VARIANTS / 4, read_recording);
        free(original);
    }
}

/* What a fuzzer found in libhdf5 1.10.8; what it says of them depends on what lies in memory. */
static void files_known_to_break_the_library(void **state)
{
    (void)state;
    static const char *const names[] = {"hostile/segfault.nwb", "hostile/endless-loop.nwb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *original = test_data_path(names[i]);
        if (original == NULL) skip();
        sf_recording recording;
        sf_error error;
        test_assert_fails(sf_recording_read(&recording, original, NULL, NULL, &error), &error, SF_DATA, NULL);
        free(original);
    }
}

/* ---- the reading program beside threads, and descriptors ---- */

static void *read_many(void *failures)
{
    for (int i = 0; i < 10; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK || recording.spike_count == 0) {
            print_error("%s\n", error.text);
            ++*(int *)failures;
            continue;
        }
        recording.spikes[0].time_ns++; /* private: the next reading does not see it */
        sf_recording_clear(&recording);
    }
    return NULL;
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1000; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void threads_read_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    simulate();
    pthread_t threads[THREADS];
    int failures[THREADS] = {0}, before = open_descriptors();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
    assert_int_equal(open_descriptors(), before);
}

/* A program may ignore its children; the parcel says all the same whether it is whole. */
static void a_program_that_ignores_its_children_reads(void **state)
{
    (void)state;
    simulate();
    signal(SIGCHLD, SIG_IGN);
    int failures = 0;
    read_many(&failures);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(failures, 0);
}

static bool wait_half_a_minute(void *user, const char *what, double done, double total)
{
    (void)what, (void)done, (void)total;
    return sf_clock_seconds() < *(const double *)user + 30;
}

/* No byte ever comes out of it, and no processor time is taken: only patience ends that. It is no damage. */
static void a_disk_that_never_answers_is_given_up(void **state)
{
    (void)state;
    char *fifo = test_temporary_path(".h5");
    double begun = sf_clock_seconds();
    const sf_progress progress = {wait_half_a_minute, &begun};
    sf_parcel parcel;
    sf_error error;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    test_assert_fails(sf_apart_read_within(&parcel, "recording", fifo, NULL, 0.5, &progress, &error), &error,
                      SF_IO, "its disk has given nothing");
    unlink(fifo);
    free(fifo);
}

/* The one process that this one has started. */
static pid_t only_child(void)
{
    char place[64];
    snprintf(place, sizeof place, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(place, "r");
    long child = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%ld", &child) != 1) child = 0;
    fclose(file);
    return (pid_t)child;
}

typedef struct hold {
    double until; /* nought before it is held */
    pid_t reader;
    bool held, let_go;
} hold;

/* Holds the reader as soon as it is there, for longer than a file of this length may take in all. */
static bool hold_reader(void *user, const char *what, double done, double total)
{
    (void)what, (void)total;
    hold *it = user;
    if (it->reader == 0 && done == 0 && (it->reader = only_child()) != 0) {
        it->held = kill(it->reader, SIGSTOP) == 0;
        it->until = sf_clock_seconds() + 11;
    }
    if (it->held && !it->let_go && sf_clock_seconds() > it->until)
        it->let_go = kill(it->reader, SIGCONT) == 0;
    return true;
}

static void a_reader_that_is_held_goes_on(void **state)
{
    (void)state;
    simulate();
    hold it = {0};
    const sf_progress progress = {hold_reader, &it};
    sf_parcel parcel;
    sf_error error = {0};
    assert_int_equal(sf_apart_read(&parcel, "recording", path, NULL, &progress, &error), SF_OK);
    sf_parcel_close(&parcel);
    if (!it.held) skip(); /* it had ended before it could be held */
    assert_true(it.let_go);
}

static void no_descriptor_is_left_is_said(void **state)
{
    (void)state;
    simulate();
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)open_descriptors();
    sf_recording recording;
    sf_error error = {0};
    int first = dup(0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int status = sf_recording_read(&recording, path, NULL, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    close(first);
    assert_int_not_equal(status, SF_OK);
    assert_int_not_equal(error.text[0], '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_of_synfire),
        cmocka_unit_test(carmen_files),
        cmocka_unit_test(nwb_files),
        cmocka_unit_test(planted_truth),
        cmocka_unit_test(occurrence_files),
        cmocka_unit_test(graph_files),
        cmocka_unit_test(real_recordings),
        cmocka_unit_test(files_known_to_break_the_library),
        cmocka_unit_test(threads_read_at_once),
        cmocka_unit_test(a_program_that_ignores_its_children_reads),
        cmocka_unit_test(a_disk_that_never_answers_is_given_up),
        cmocka_unit_test(a_reader_that_is_held_goes_on),
        cmocka_unit_test(no_descriptor_is_left_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
