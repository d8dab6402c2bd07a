/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's journal: what a power loss at any moment leaves of it makes a recording of everything that
 * was synced. */
#include "support/disk.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "io/journal.h"
#include "io/output_file.h"
#include "replay/recording_file.h"
#include "sinks/recorder_file.h"
#include "sinks/recorder_rows.h"
#include "tools/files.h"
#include "tools/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCHES 12
#define SPIKES 40 /* of a batch */
#define UNITS 5

typedef struct recording {
    char *file, *journal, *out;
    const char *of_file, *of_journal; /* identities; NULL: of older programs */
    sf_recording about;
    sf_journal_table tables[SF_RECORDER_TABLES];
    sf_spike spikes[BATCHES * SPIKES];
    sf_marker markers[BATCHES];
    char *windows; /* rows, of window_size bytes */
    size_t window_size;
} recording;

static void make_paths(recording *all)
{
    char path[300];
    all->file = test_temporary_path(".h5");
    snprintf(path, sizeof path, "%s.journal", all->file);
    all->journal = strdup(path);
    all->out = test_temporary_path(".h5");
}

/* As its journal has it. */
static const char *name_of(const recording *all)
{
    return strrchr(all->file, '/') + 1;
}

static recording *make_recording(void)
{
    test_random random = test_random_start("journal", 11);
    recording *all = calloc(1, sizeof *all);
    make_paths(all);
    all->window_size = sf_recorder_row_size(SF_TABLE_WINDOWS);
    all->windows = calloc(BATCHES, all->window_size);
    for (int i = 0; i < UNITS; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        const sf_unit unit = {
            .name = name, .x_um = i, .y_um = NAN, .electrode = i, .well = i == 3 ? "B2" : NULL};
        assert_int_equal(sf_units_add(&all->about.units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_recording_set_metadata(&all->about, "species", "mouse", NULL), SF_OK);
    for (int i = 0; i < SF_RECORDER_TABLES; i++)
        all->tables[i] = (sf_journal_table){sf_recorder_form_of((sf_recorder_table)i)->name,
                                            sf_recorder_row_size((sf_recorder_table)i),
                                            sf_recorder_table_form((sf_recorder_table)i)};
    for (size_t i = 0; i < BATCHES * SPIKES; i++)
        all->spikes[i] =
            (sf_spike){(int64_t)i * SF_MILLISECOND, (uint32_t)test_random_below(&random, UNITS), 1};
    for (int i = 0; i < BATCHES; i++) {
        all->markers[i] = (sf_marker){.time_ns = i * SF_SECOND, .kind = SF_MARKER_TTL, .line = (uint16_t)i};
        const uint64_t seq = (uint64_t)i + 1, hop = (uint64_t)i * 7; /* which a row begins with */
        memcpy(all->windows + (size_t)i * all->window_size, &seq, sizeof seq);
        memcpy(all->windows + (size_t)i * all->window_size + sizeof seq, &hop, sizeof hop);
    }
    return all;
}

static void remove_files(const recording *all)
{
    unlink(all->file);
    unlink(all->journal);
    unlink(all->out);
}

static void free_recording(recording *all)
{
    remove_files(all);
    sf_recording_clear(&all->about);
    free(all->file);
    free(all->journal);
    free(all->out);
    free(all->windows);
    free(all);
}

static sf_journal *open_journal(recording *all, const sf_disk *disk, double sync_s)
{
    const sf_journal_about about = {.file = name_of(all),
                                    .identity = all->of_journal,
                                    .program = "synfire test",
                                    .configuration = "stream: x\n",
                                    .part = 1,
                                    .recording = all->about,
                                    .tables = all->tables,
                                    .table_count = SF_RECORDER_TABLES};
    const sf_journal_options options = {.sync_s = sync_s, .disk = disk};
    sf_journal *journal;
    sf_error error;
    if (sf_journal_create(&journal, all->journal, &about, &options, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return journal;
}

static void a_link_is_no_journal(void **state)
{
    (void)state;
    recording *all = make_recording();
    char *target = test_temporary_path(".precious");
    FILE *file = fopen(target, "w");
    fputs("data", file);
    fclose(file);
    assert_int_equal(symlink(target, all->journal), 0);
    const sf_journal_about about = {.file = name_of(all), .program = "synfire test", .recording = all->about};
    const sf_journal_options options = {.overwrite = true};
    sf_journal *journal;
    sf_error error;
    test_assert_fails(sf_journal_create(&journal, all->journal, &about, &options, &error), &error,
                      SF_CANNOT_CREATE, "symbolic link");
    assert_int_equal(access(target, F_OK), 0);
    unlink(all->journal);
    unlink(target);
    free(target);
    free_recording(all);
}

static int append_batch(sf_journal *journal, const recording *all, size_t i, sf_error *error)
{
    int status = sf_journal_append(journal, SF_JOURNAL_SPIKES, 0, i * SPIKES, all->spikes + i * SPIKES,
                                   SPIKES * sizeof *all->spikes, error);
    if (status == SF_OK)
        status = sf_journal_append(journal, SF_JOURNAL_MARKERS, 0, i, &all->markers[i], sizeof *all->markers,
                                   error);
    if (status == SF_OK)
        status = sf_journal_append(journal, SF_JOURNAL_ROWS, SF_TABLE_WINDOWS, i,
                                   all->windows + i * all->window_size, all->window_size, error);
    return status;
}

/* The whole file, with `until` of its spikes, as it was before any damage. */
static void write_file(const recording *all, size_t until)
{
    sf_layout *layout;
    const sf_layout_options options = {.kind = "recording", .identity = all->of_file, .live = true};
    assert_int_equal(sf_layout_create(&layout, all->file, &all->about, &options, NULL), SF_OK);
    assert_int_equal(sf_layout_start_live(layout, NULL), SF_OK);
    assert_int_equal(sf_layout_append_spikes(layout, all->spikes, until, NULL), SF_OK);
    assert_int_equal(sf_layout_append_markers(layout, all->markers, until / SPIKES, NULL), SF_OK);
    assert_int_equal(sf_layout_flush(layout, false, NULL), SF_OK);
    sf_layout_abandon(layout);
}

static sf_recovered recover(const recording *all, const char *path)
{
    sf_recovered told;
    sf_error error;
    if (sf_recover(&told, path, all->out, NULL, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    return told;
}

static sf_recording read_back(const recording *all)
{
    sf_recording back;
    sf_error error;
    if (sf_recording_read(&back, all->out, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return back;
}

static bool same_spike(const sf_spike *one, const sf_spike *other)
{
    return one->time_ns == other->time_ns && one->unit == other->unit && one->amplitude == other->amplitude;
}

/* The first `sure` of the spikes that were recorded, and of those behind them any, in order. */
static void has_spikes(const recording *all, const sf_recording *back, size_t sure)
{
    assert_true(back->spike_count >= sure);
    size_t at = 0;
    for (size_t i = 0; i < back->spike_count; i++, at++) {
        while (i >= sure && at < BATCHES * SPIKES && !same_spike(&back->spikes[i], &all->spikes[at]))
            at++;
        assert_true(at < BATCHES * SPIKES && same_spike(&back->spikes[i], &all->spikes[at]));
    }
}

/* ---- power loss ---- */

static void check_cut(const recording *all, const test_disk *disk, size_t calls, test_loss loss,
                      test_random *random)
{
    size_t sure = test_disk_cut(disk, calls, loss, random, all->journal);
    size_t batches = (sure - 1) / 3; /* of three records each, behind the first */
    sf_recovered told = recover(all, all->file);
    assert_string_equal(told.out, all->out);
    assert_int_equal(told.spikes % SPIKES, 0);
    assert_true(told.markers >= batches && told.rows >= batches);
    assert_false(told.ended);
    sf_recording back = read_back(all);
    assert_int_equal(back.spike_count, told.spikes);
    assert_int_equal(back.marker_count, told.markers);
    assert_int_equal(back.units.count, UNITS);
    assert_string_equal(back.units.items[3].well, "B2");
    assert_string_equal(test_metadata(&back, "species"), "mouse");
    has_spikes(all, &back, batches * SPIKES);
    for (size_t i = 0; i < batches; i++)
        assert_int_equal(back.markers[i].line, i);
    if (loss != TEST_UNSYNCED_MIXED)
        assert_int_equal(told.spikes_missing + told.markers_missing + told.rows_missing, 0);
    assert_int_equal(back.observed_count > 0, told.spikes_missing > 0);
    sf_recording_clear(&back);
    sf_recovered_free(&told);
    unlink(all->out);
}

static void everything_that_was_synced_outlives_a_power_loss(void **state)
{
    (void)state;
    recording *all = make_recording();
    test_disk disk;
    test_disk_make(&disk);
    sf_journal *journal = open_journal(all, &disk.disk, 0);
    for (size_t i = 0; i < BATCHES; i++) {
        assert_int_equal(append_batch(journal, all, i, NULL), SF_OK);
        if (i % 4 == 2) assert_int_equal(sf_journal_sync(journal, NULL), SF_OK);
    }
    size_t calls = disk.count;
    assert_int_equal(sf_journal_close(journal, NULL), SF_OK);
    assert_int_equal(calls, 1 + 1 + 3 * BATCHES + 3);
    test_random random = test_random_start("power loss", 5);
    for (size_t i = 2; i <= calls; i++) /* before these two nothing is recorded */
        check_cut(all, &disk, i, (test_loss)(i % TEST_LOSSES), &random);
    test_disk_free(&disk);
    free_recording(all);
}

static void every_kind_of_loss_at_every_call(void **state)
{
    (void)state;
    recording *all = make_recording();
    test_disk disk;
    test_disk_make(&disk);
    sf_journal *journal = open_journal(all, &disk.disk, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(append_batch(journal, all, i, NULL), SF_OK);
        if (i == 1) assert_int_equal(sf_journal_sync(journal, NULL), SF_OK);
    }
    size_t calls = disk.count;
    assert_int_equal(sf_journal_close(journal, NULL), SF_OK);
    test_random random = test_random_start("losses", 9);
    for (size_t i = 2; i <= calls; i++)
        for (int loss = 0; loss < TEST_LOSSES; loss++)
            check_cut(all, &disk, i, (test_loss)loss, &random);
    test_disk_free(&disk);
    free_recording(all);
}

/* ---- holes ---- */

static void write_whole_journal(recording *all)
{
    sf_journal *journal = open_journal(all, NULL, 0);
    for (size_t i = 0; i < BATCHES; i++)
        assert_int_equal(append_batch(journal, all, i, NULL), SF_OK);
    assert_int_equal(sf_journal_close(journal, NULL), SF_OK);
}

/* Zeros in place of the bytes of the batches [from, to). */
static void punch(const recording *all, size_t from, size_t to)
{
    size_t batch = 3 * 40 + SPIKES * sizeof(sf_spike) + sizeof(sf_marker) + all->window_size;
    struct stat about;
    assert_int_equal(stat(all->journal, &about), 0);
    size_t first = (size_t)about.st_size - BATCHES * batch;
    char *zeros = calloc(to - from, batch);
    int fd = open(all->journal, O_RDWR);
    assert_int_equal(pwrite(fd, zeros, (to - from) * batch, (off_t)(first + from * batch)),
                     (to - from) * batch);
    close(fd);
    free(zeros);
}

static void the_file_fills_the_holes_of_the_journal(void **state)
{
    (void)state;
    recording *all = make_recording();
    write_whole_journal(all);
    punch(all, 2, 4);
    punch(all, 10, BATCHES);
    write_file(all, 11 * SPIKES);
    sf_recovered told = recover(all, all->journal); /* either of the two may be named */
    assert_null(told.file_note);
    assert_int_equal(told.spikes, 11 * SPIKES);
    assert_int_equal(told.spikes_of_file, 3 * SPIKES);
    assert_int_equal(told.markers_of_file, 3);
    assert_int_equal(told.spikes_missing + told.markers_missing, 0);
    assert_int_equal(told.rows_missing, 2);
    assert_int_equal(told.rows_of_others, 0);
    assert_int_equal(told.records_lost, 6);
    sf_recording back = read_back(all);
    has_spikes(all, &back, 11 * SPIKES);
    assert_int_equal(back.observed_count, 0);
    sf_recording_clear(&back);
    sf_recovered_free(&told);
    free_recording(all);
}

static void what_is_in_neither_was_not_observed(void **state)
{
    (void)state;
    recording *all = make_recording();
    write_whole_journal(all);
    punch(all, 2, 4);
    write_file(all, 3 * SPIKES);
    sf_recovered told = recover(all, all->file);
    assert_int_equal(told.spikes, (BATCHES - 1) * SPIKES);
    assert_int_equal(told.spikes_missing, SPIKES);
    assert_int_equal(told.markers_missing, 1);
    sf_recording back = read_back(all);
    assert_int_equal(back.observed_count, 2);
    assert_int_equal(back.observed[0].start_ns, 0);
    assert_int_equal(back.observed[0].stop_ns, all->spikes[3 * SPIKES - 1].time_ns + 1);
    assert_int_equal(back.observed[1].start_ns, all->spikes[4 * SPIKES].time_ns);
    assert_int_equal(back.observed[1].stop_ns, back.recorded.stop_ns);
    sf_recording_clear(&back);
    sf_recovered_free(&told);
    free_recording(all);
}

static void rows_of_another_version_are_left_out_and_counted(void **state)
{
    (void)state;
    recording *all = make_recording();
    all->tables[SF_TABLE_WINDOWS].form++;
    write_whole_journal(all);
    write_file(all, 1);
    sf_recovered told = recover(all, all->file);
    assert_int_equal(told.rows, 0);
    assert_int_equal(told.rows_of_others, BATCHES);
    assert_int_equal(told.spikes, BATCHES * SPIKES);
    sf_recovered_free(&told);
    free_recording(all);
}

static void a_flipped_bit_is_noticed(void **state)
{
    (void)state;
    recording *all = make_recording();
    write_whole_journal(all);
    size_t batch = 3 * 40 + SPIKES * sizeof(sf_spike) + sizeof(sf_marker) + all->window_size;
    struct stat about;
    assert_int_equal(stat(all->journal, &about), 0);
    off_t at = about.st_size - (off_t)(5 * batch) + 40 + 12; /* in the amplitude of a batch's first spike */
    unsigned char byte;
    int fd = open(all->journal, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
    sf_recovered told = recover(all, all->file);
    assert_int_equal(told.damaged_bytes, 40 + SPIKES * sizeof(sf_spike));
    assert_int_equal(told.records_lost, 1);
    assert_int_equal(told.spikes_missing, SPIKES);
    assert_int_equal(told.spikes, (BATCHES - 1) * SPIKES);
    assert_int_equal(told.markers, BATCHES);
    sf_recovered_free(&told);
    free_recording(all);
}

/* A batch that stands in the place of a later one, as a sector that a disk did not write. */
static void what_was_read_before_is_not_read_again(void **state)
{
    (void)state;
    recording *all = make_recording();
    write_whole_journal(all);
    size_t batch = 3 * 40 + SPIKES * sizeof(sf_spike) + sizeof(sf_marker) + all->window_size;
    struct stat about;
    assert_int_equal(stat(all->journal, &about), 0);
    size_t first = (size_t)about.st_size - BATCHES * batch;
    char *bytes = malloc(batch);
    int fd = open(all->journal, O_RDWR);
    assert_int_equal(pread(fd, bytes, batch, (off_t)(first + 2 * batch)), batch);
    assert_int_equal(pwrite(fd, bytes, batch, (off_t)(first + 5 * batch)), batch);
    close(fd);
    free(bytes);
    sf_recovered told = recover(all, all->file);
    assert_int_equal(told.records_lost, 3);
    assert_int_equal(told.damaged_bytes, batch);
    assert_int_equal(told.spikes, (BATCHES - 1) * SPIKES);
    assert_int_equal(told.markers, BATCHES - 1);
    sf_recovered_free(&told);
    free_recording(all);
}

/* A row of markers that was announced and never written, as a recorder that is killed leaves it. */
static void rows_that_were_never_written_are_left_out(void **state)
{
    (void)state;
    static const char *const columns[] = {"time_ns", "kind", "state", "line", "text"};
    recording *all = make_recording();
    sf_layout *layout;
    const sf_layout_options options = {.kind = "recording", .identity = all->of_file};
    assert_int_equal(sf_layout_create(&layout, all->file, &all->about, &options, NULL), SF_OK);
    assert_int_equal(sf_layout_append_spikes(layout, all->spikes, 3 * SPIKES, NULL), SF_OK);
    assert_int_equal(sf_layout_append_markers(layout, all->markers, 3, NULL), SF_OK);
    assert_int_equal(sf_layout_close(layout, &all->about.recorded, NULL), SF_OK);
    hid_t file = H5Fopen(all->file, H5F_ACC_RDWR, H5P_DEFAULT);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        char path[32];
        snprintf(path, sizeof path, "/markers/%s", columns[i]);
        hid_t column = H5Dopen2(file, path, H5P_DEFAULT);
        assert_true(H5Dset_extent(column, (hsize_t[]){4}) >= 0);
        H5Dclose(column);
    }
    H5Fclose(file);
    sf_recording back;
    assert_int_equal(sf_recording_read(&back, all->file, NULL, NULL, NULL), SF_OK);
    assert_int_equal(back.marker_count, 3);
    assert_true(back.markers[2].time_ns == all->markers[2].time_ns);
    sf_recording_clear(&back);
    free_recording(all);
}

static void refuses_the_pair(const recording *all, const char *named)
{
    sf_recovered told;
    sf_error error;
    test_assert_fails(sf_recover(&told, named, all->out, NULL, &error), &error, SF_DATA,
                      "is not the recording that the journal");
    assert_non_null(strstr(error.text, all->journal));
    assert_string_equal(error.place, all->file);
    assert_int_equal(access(all->out, F_OK), -1);
}

static void two_recordings_are_not_put_together(void **state)
{
    (void)state;
    recording *all = make_recording();
    all->of_file = "00000000000000000000000000000001";
    all->of_journal = "00000000000000000000000000000002";
    write_whole_journal(all);
    write_file(all, BATCHES * SPIKES);
    refuses_the_pair(all, all->file);
    refuses_the_pair(all, all->journal);
    assert_false(sf_file_has_journal(all->file));
    punch(all, 0, 1); /* also where the journal has lost some */
    refuses_the_pair(all, all->file);
    unlink(all->journal);
    all->of_journal = NULL; /* of an older program */
    write_whole_journal(all);
    refuses_the_pair(all, all->file);
    unlink(all->journal);
    all->of_journal = all->of_file;
    write_whole_journal(all);
    assert_true(sf_file_has_journal(all->file));
    sf_recovered told = recover(all, all->file);
    assert_null(told.file_note);
    sf_recovered_free(&told);
    free_recording(all);
}

/* Of an earlier run, whose journal kept the name: the one of the same identity is taken. */
static void the_journal_is_found_by_its_identity(void **state)
{
    (void)state;
    recording *all = make_recording();
    char *first = all->journal, second[320];
    all->of_file = "00000000000000000000000000000001";
    all->of_journal = "00000000000000000000000000000002";
    write_whole_journal(all);
    snprintf(second, sizeof second, "%s-2.journal", all->file);
    all->journal = second;
    all->of_journal = all->of_file;
    write_whole_journal(all);
    write_file(all, 3 * SPIKES);
    assert_true(sf_file_has_journal(all->file));
    sf_recovered told = recover(all, all->file);
    assert_string_equal(told.journal, second);
    assert_int_equal(told.spikes, BATCHES * SPIKES);
    sf_recovered_free(&told);
    unlink(all->out);
    told = recover(all, second); /* by its own name, too */
    assert_string_equal(told.file, all->file);
    sf_recovered_free(&told);
    unlink(second);
    all->journal = first;
    free_recording(all);
}

static void a_numbered_journal_alone_makes_a_name_that_ends_in_h5(void **state)
{
    (void)state;
    recording *all = make_recording();
    char *first = all->journal, second[320];
    snprintf(second, sizeof second, "%s-2.journal", all->file);
    all->journal = second;
    write_whole_journal(all);
    sf_recovered told;
    sf_error error;
    assert_int_equal(sf_recover(&told, second, NULL, NULL, &error), SF_OK);
    assert_string_equal(told.out + strlen(told.out) - strlen("-recovered.h5"), "-recovered.h5");
    assert_null(strstr(told.out, ".h5-"));
    unlink(told.out);
    unlink(second);
    sf_recovered_free(&told);
    all->journal = first;
    free_recording(all);
}

/* Though it is of the journal's recording: damage that HDF5 does not notice. */
static void a_file_that_disagrees_is_not_believed(void **state)
{
    (void)state;
    recording *all = make_recording();
    all->of_file = all->of_journal = "00000000000000000000000000000001";
    write_whole_journal(all);
    sf_spike kept = all->spikes[7];
    all->spikes[7].unit = (kept.unit + 1) % UNITS;
    write_file(all, BATCHES * SPIKES);
    all->spikes[7] = kept;
    sf_recovered told = recover(all, all->file);
    assert_string_equal(told.file_note, "its spikes are not those of the journal");
    assert_int_equal(told.spikes, BATCHES * SPIKES);
    sf_recording back = read_back(all);
    has_spikes(all, &back, BATCHES * SPIKES);
    sf_recording_clear(&back);
    sf_recovered_free(&told);
    unlink(all->out);
    unlink(all->file);
    unlink(all->journal);
    all->of_file = all->of_journal = NULL; /* of older programs: nothing tells that they belong together */
    write_whole_journal(all);
    all->spikes[7].unit = (kept.unit + 1) % UNITS;
    write_file(all, BATCHES * SPIKES);
    refuses_the_pair(all, all->file);
    free_recording(all);
}

/* The file alone, as older recordings have it; and a journal that lost its first record. */
static void the_file_alone_is_something(void **state)
{
    (void)state;
    recording *all = make_recording();
    write_file(all, 5 * SPIKES);
    sf_recovered told = recover(all, all->file);
    assert_null(told.journal);
    assert_int_equal(told.spikes, 5 * SPIKES);
    assert_int_equal(told.spikes_of_file, 5 * SPIKES);
    sf_recovered_free(&told);
    unlink(all->out);
    write_whole_journal(all);
    int fd = open(all->journal, O_RDWR);
    assert_int_equal(pwrite(fd, "damaged!", 8, 48), 8);
    close(fd);
    told = recover(all, all->file);
    assert_int_equal(told.spikes, BATCHES * SPIKES);
    sf_recovered_free(&told);
    free_recording(all);
}

static void what_cannot_be_recovered_is_refused(void **state)
{
    (void)state;
    recording *all = make_recording();
    sf_recovered told;
    sf_error error;
    test_assert_fails(sf_recover(&told, all->file, all->out, NULL, &error), &error, SF_NO_INPUT,
                      "cannot open");
    FILE *file = fopen(all->file, "w");
    fputs("no HDF5\n", file);
    fclose(file);
    test_assert_fails(sf_recover(&told, all->file, all->out, NULL, &error), &error, SF_DATA,
                      "there is no journal");
    sf_journal *journal = open_journal(all, NULL, 0);
    test_assert_fails(sf_recover(&told, all->file, all->out, NULL, &error), &error, SF_UNAVAILABLE,
                      "is being recorded");
    assert_int_equal(sf_journal_close(journal, NULL), SF_OK);
    told = recover(all, all->file);
    sf_recovered_free(&told);
    test_assert_fails(sf_recover(&told, all->file, all->out, NULL, &error), &error, SF_CANNOT_CREATE,
                      "a file of this name already");
    free_recording(all);
}

static int recover_it(void *context)
{
    const recording *all = context;
    sf_recovered told;
    int status = sf_recover(&told, all->journal, all->out, NULL, NULL);
    if (status == SF_OK) sf_recovered_free(&told);
    unlink(all->out);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    recording *all = make_recording();
    write_whole_journal(all);
    punch(all, 2, 4);
    test_fail_every_allocation(recover_it, all);
    write_file(all, 3 * SPIKES);
    test_fail_every_allocation(recover_it, all);
    free_recording(all);
}

/* ---- the thread that syncs ---- */

static void syncs_by_itself_and_says_once_that_it_cannot(void **state)
{
    (void)state;
    recording *all = make_recording();
    test_disk disk;
    test_disk_make(&disk);
    sf_journal *journal = open_journal(all, &disk.disk, 0.005);
    assert_int_equal(append_batch(journal, all, 0, NULL), SF_OK);
    while (sf_journal_count(journal).syncs < 2)
        usleep(1000);
    sf_error error = {0};
    assert_int_equal(sf_journal_check(journal, &error), SF_OK);
    pthread_mutex_lock(&disk.lock);
    disk.sync_fails = EIO;
    pthread_mutex_unlock(&disk.lock);
    assert_int_equal(append_batch(journal, all, 1, NULL), SF_OK);
    while (sf_journal_check(journal, &error) == SF_OK)
        usleep(1000);
    test_assert_fails(SF_IO, &error, SF_IO, strerror(EIO));
    assert_int_equal(sf_journal_check(journal, &error), SF_OK);
    assert_int_equal(sf_journal_close(journal, NULL), SF_OK);
    test_disk_free(&disk);
    free_recording(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_no_journal),
        cmocka_unit_test(everything_that_was_synced_outlives_a_power_loss),
        cmocka_unit_test(every_kind_of_loss_at_every_call),
        cmocka_unit_test(the_file_fills_the_holes_of_the_journal),
        cmocka_unit_test(what_is_in_neither_was_not_observed),
        cmocka_unit_test(rows_of_another_version_are_left_out_and_counted),
        cmocka_unit_test(a_flipped_bit_is_noticed),
        cmocka_unit_test(what_was_read_before_is_not_read_again),
        cmocka_unit_test(rows_that_were_never_written_are_left_out),
        cmocka_unit_test(two_recordings_are_not_put_together),
        cmocka_unit_test(the_journal_is_found_by_its_identity),
        cmocka_unit_test(a_numbered_journal_alone_makes_a_name_that_ends_in_h5),
        cmocka_unit_test(a_file_that_disagrees_is_not_believed),
        cmocka_unit_test(the_file_alone_is_something),
        cmocka_unit_test(what_cannot_be_recovered_is_refused),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(syncs_by_itself_and_says_once_that_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
