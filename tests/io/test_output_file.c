/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written: nothing that another process writes is ever touched, whichever way it is asked. */
#include "support/support.h"

#include "core/file.h"
#include "core/memory.h"
#include "io/file.h"
#include "io/layout.h"
#include "io/output_file.h"

#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_text(const char *path, const char *words)
{
    FILE *file = fopen(path, "w");
    fputs(words, file);
    fclose(file);
}

static void holds(const char *path, const char *words)
{
    sf_text text = {0};
    sf_error error;
    if (sf_file_read(&text, path, &error) != SF_OK) fail_msg("%s: %s", path, error.text);
    assert_string_equal(text.data, words);
    sf_text_free(&text);
}

static int replace_text(const char *path, const char *words, sf_error *error)
{
    sf_text text = {0};
    sf_text_printf(&text, "%s", words);
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

/* ---- another process that writes ---- */

/* The child: opens the file as it is told to, says whether it could, and writes until it is let go. */
static int hold(const char *path, const char *existing, int parent)
{
    sf_output_file file;
    int status = sf_output_file_open(&file, path, (sf_existing)atoi(existing), NULL);
    if (status == SF_OK) status = sf_output_file_commit(&file, NULL);
    if (status == SF_OK && write(file.fd, "held", 4) != 4) return 1;
    char go;
    if (write(parent, &status, sizeof status) != sizeof status || read(parent, &go, 1) < 0) return 1;
    sf_output_file_close(&file, true);
    return 0;
}

typedef struct holder {
    pid_t process;
    int socket;
} holder;

static holder start_holder(const char *path, sf_existing existing)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    holder made = {fork(), ends[0]};
    if (made.process == 0) {
        char theirs[16], how[16];
        snprintf(theirs, sizeof theirs, "%d", dup(ends[1])); /* which stays open */
        snprintf(how, sizeof how, "%d", existing);
        execl("/proc/self/exe", "test_output_file", path, how, theirs, (char *)NULL);
        _exit(127);
    }
    assert_true(made.process > 0);
    close(ends[1]);
    return made;
}

static int result_of(const holder *which)
{
    int status;
    assert_int_equal(read(which->socket, &status, sizeof status), sizeof status);
    return status;
}

static void let_go(const holder *which)
{
    close(which->socket);
    waitpid(which->process, NULL, 0);
}

static void what_another_process_writes_is_left_alone(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        char *path = test_temporary_path(".h5"), *successor = test_successor(path, 2);
        if (before == 1) write_text(path, "an older one");
        holder other = start_holder(path, SF_EXISTING_REPLACE);
        assert_int_equal(result_of(&other), SF_OK);
        sf_output_file file;
        sf_error error;
        test_assert_fails(sf_output_file_open(&file, path, SF_EXISTING_REPLACE, &error), &error,
                          SF_CANNOT_CREATE, "another program is writing");
        test_assert_fails(sf_output_file_open(&file, path, SF_EXISTING_REFUSE, &error), &error,
                          SF_CANNOT_CREATE, "already");
        test_assert_fails(replace_text(path, "mine", &error), &error, SF_CANNOT_CREATE,
                          "another program is writing");
        sf_layout *layout;
        const sf_recording about = {0};
        const sf_layout_options how = {.kind = "recording", .overwrite = true};
        test_assert_fails(sf_layout_create(&layout, path, &about, &how, &error), &error, SF_CANNOT_CREATE,
                          "another program is writing");
        holds(path, "held");
        assert_int_equal(sf_output_file_open(&file, path, SF_EXISTING_NUMBER, &error), SF_OK);
        assert_string_equal(file.path, successor);
        sf_output_file_close(&file, false);
        assert_int_not_equal(access(successor, F_OK), 0);
        holds(path, "held");
        if (before == 0) kill(other.process, SIGKILL); /* which ends a lock as an orderly end does */
        let_go(&other);
        assert_int_equal(replace_text(path, "mine", &error), SF_OK);
        holds(path, "mine");
        unlink(path);
        free(path);
        free(successor);
    }
}

/* However many want a name at once, one gets it, and its file stays. */
static void of_many_at_once_one_writes(void **state)
{
    (void)state;
    enum { PROCESSES = 12 };
    for (int before = 0; before < 2; before++) {
        char *path = test_temporary_path(".jsonl");
        if (before == 1) write_text(path, "an older one");
        holder others[PROCESSES];
        for (int i = 0; i < PROCESSES; i++)
            others[i] = start_holder(path, SF_EXISTING_REPLACE);
        int writers = 0;
        for (int i = 0; i < PROCESSES; i++)
            writers += result_of(&others[i]) == SF_OK;
        assert_int_equal(writers, 1);
        holds(path, "held");
        for (int i = 0; i < PROCESSES; i++)
            let_go(&others[i]);
        for (int i = 0; i < PROCESSES; i++)
            others[i] = start_holder(path, SF_EXISTING_NUMBER);
        for (int i = 0; i < PROCESSES; i++)
            assert_int_equal(result_of(&others[i]), SF_OK);
        for (int i = 0; i < PROCESSES; i++)
            let_go(&others[i]);
        for (unsigned i = 0; i < PROCESSES; i++) {
            char *successor = test_successor(path, i + 2);
            holds(successor, "held");
            unlink(successor);
            free(successor);
        }
        unlink(path);
        free(path);
    }
}

/* A program that locks as HDF5 does, h5py for one, is a writer as well. */
static void what_hdf5_holds_is_left_alone(void **state)
{
    (void)state;
    char *path = test_temporary_path(".h5");
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    sf_error error;
    test_assert_fails(replace_text(path, "mine", &error), &error, SF_CANNOT_CREATE,
                      "another program is writing");
    H5Fclose(file);
    assert_true(H5Fis_hdf5(path) > 0);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); /* who reads goes on reading what it has open */
    assert_int_equal(replace_text(path, "mine", &error), SF_OK);
    hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    assert_true(root >= 0);
    H5Gclose(root);
    H5Fclose(file);
    unlink(path);
    free(path);
}

/* ---- one process ---- */

static void a_file_is_replaced_whole(void **state)
{
    (void)state;
    char *path = test_temporary_path(".txt"), *link = test_temporary_path(".link");
    write_text(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    sf_output_file file;
    sf_error error;
    for (int keep = 0; keep < 2; keep++) {
        assert_int_equal(sf_output_file_open(&file, link, SF_EXISTING_REPLACE, &error), SF_OK);
        assert_string_equal(file.path, path);
        assert_int_equal(write(file.fd, "new", 3), 3);
        holds(path, "old");
        char *building = strdup(sf_output_file_name(&file));
        if (keep == 1) assert_int_equal(sf_output_file_commit(&file, &error), SF_OK);
        sf_output_file_close(&file, true);
        assert_int_not_equal(access(building, F_OK), 0);
        free(building);
    }
    holds(path, "new");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_true(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    unlink(path);
    test_assert_fails(sf_output_file_open(&file, link, SF_EXISTING_REPLACE, &error), &error, SF_CANNOT_CREATE,
                      "leads nowhere");
    unlink(link);
    free(path);
    free(link);
}

static void successors_are_numbered(void **state)
{
    (void)state;
    char folder[] = "/tmp/synfire-test.XXXXXX";
    assert_non_null(mkdtemp(folder));
    const struct {
        const char *name, *second, *third;
    } cases[] = {{"run.h5", "run-2.h5", "run-3.h5"},
                 {"run", "run-2", "run-3"},
                 {".hidden", ".hidden-2", ".hidden-3"},
                 {"a.b.jsonl", "a.b-2.jsonl", "a.b-3.jsonl"},
                 {"run-2.csv", "run-2-2.csv", "run-2-3.csv"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const names[] = {cases[i].name, cases[i].second, cases[i].third};
        char path[3][100];
        for (int n = 0; n < 3; n++) {
            snprintf(path[n], sizeof path[n], "%s/%s", folder, names[n]);
            sf_output_file file;
            assert_int_equal(sf_output_file_open(&file, path[0], SF_EXISTING_NUMBER, NULL), SF_OK);
            assert_string_equal(file.path, path[n]);
            sf_output_file_close(&file, true);
        }
        for (int n = 0; n < 3; n++)
            assert_int_equal(unlink(path[n]), 0);
    }
    rmdir(folder);
}

static void a_removed_file_is_noticed(void **state)
{
    (void)state;
    char *path = test_temporary_path(".h5"), *moved = test_temporary_path(".moved");
    sf_output_file file;
    sf_error error;
    assert_int_equal(sf_output_file_open(&file, path, SF_EXISTING_REFUSE, &error), SF_OK);
    assert_int_equal(sf_output_file_check(&file, &error), SF_OK);
    assert_int_equal(rename(path, moved), 0); /* who moves it has it still */
    assert_int_equal(sf_output_file_check(&file, &error), SF_OK);
    assert_int_equal(unlink(moved), 0);
    test_assert_fails(sf_output_file_check(&file, &error), &error, SF_IO, "removed");
    write_text(path, "somebody else's");
    sf_output_file_close(&file, false);
    holds(path, "somebody else's");
    unlink(path);
    free(path);
    free(moved);
}

static void a_file_in_a_folder_that_was_moved_is_found(void **state)
{
    (void)state;
    char *before = test_temporary_path(""), *after = test_temporary_path(""), path[300], moved[300];
    assert_int_equal(mkdir(before, 0777), 0);
    snprintf(path, sizeof path, "%s/run.h5", before);
    snprintf(moved, sizeof moved, "%s/run.h5", after);
    sf_output_file file;
    assert_int_equal(sf_output_file_open(&file, path, SF_EXISTING_REFUSE, NULL), SF_OK);
    assert_int_equal(rename(before, after), 0);
    sf_output_file_follow(&file);
    assert_string_equal(file.path, moved);
    assert_int_equal(rename(after, before), 0);
    sf_output_file_close(&file, false); /* taken away where it is now */
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(before), 0);
    free(before);
    free(after);
}

static void a_whole_file_takes_no_name_that_another_has(void **state)
{
    (void)state;
    char *path = test_temporary_path(".h5");
    sf_output_file file;
    sf_error error;
    for (int faster = 0; faster < 2; faster++) { /* somebody else makes the file meanwhile */
        assert_int_equal(sf_output_file_open(&file, path, SF_EXISTING_REFUSE_WHOLE, &error), SF_OK);
        assert_int_equal(access(path, F_OK), -1);
        char *building = sf_copy_string(sf_output_file_name(&file));
        assert_int_equal(write(file.fd, "whole", 5), 5);
        if (faster) write_text(path, "somebody else's");
        int status = sf_output_file_commit(&file, &error);
        sf_output_file_close(&file, status == SF_OK);
        if (faster)
            test_assert_fails(status, &error, SF_CANNOT_CREATE, "of this name already");
        else
            assert_int_equal(status, SF_OK);
        holds(path, faster ? "somebody else's" : "whole");
        assert_int_equal(access(building, F_OK), -1);
        sf_free(building);
        test_assert_fails(sf_output_file_open(&file, path, SF_EXISTING_REFUSE_WHOLE, &error), &error,
                          SF_CANNOT_CREATE, "of this name already");
        unlink(path);
    }
    free(path);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    sf_output_file file;
    sf_error error;
    for (int existing = SF_EXISTING_REFUSE; existing <= SF_EXISTING_NUMBER; existing++) {
        test_assert_fails(sf_output_file_open(&file, "/no/such/folder/x", (sf_existing)existing, &error),
                          &error, SF_CANNOT_CREATE, "No such file");
        test_assert_fails(sf_output_file_open(&file, "/tmp", (sf_existing)existing, &error), &error,
                          SF_CANNOT_CREATE, "is a directory");
        assert_int_equal(sf_output_file_open(&file, "/dev/null", (sf_existing)existing, &error), SF_OK);
        assert_true(file.is_special);
        assert_int_equal(sf_output_file_commit(&file, &error), SF_OK);
        assert_int_equal(sf_output_file_check(&file, &error), SF_OK);
        assert_int_equal(sf_output_file_sync(&file, &error), SF_OK);
        sf_output_file_close(&file, false);
        assert_int_equal(access("/dev/null", F_OK), 0);
    }
    assert_int_equal(replace_text("/dev/full", "x", &error), SF_IO);
}

static int open_and_close(void *path)
{
    sf_output_file file;
    int status = sf_output_file_open(&file, path, SF_EXISTING_REPLACE, NULL);
    if (status != SF_OK) return status;
    sf_output_file_close(&file, true);
    status = sf_output_file_open(&file, path, SF_EXISTING_NUMBER, NULL);
    if (status == SF_OK) sf_output_file_close(&file, false);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    char *path = test_temporary_path(".txt");
    write_text(path, "old");
    test_fail_every_allocation(open_and_close, path);
    holds(path, "old");
    unlink(path);
    free(path);
}

int main(int count, char **arguments)
{
    if (count == 4) return hold(arguments[1], arguments[2], atoi(arguments[3]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_process_writes_is_left_alone),
        cmocka_unit_test(of_many_at_once_one_writes),
        cmocka_unit_test(what_hdf5_holds_is_left_alone),
        cmocka_unit_test(a_file_is_replaced_whole),
        cmocka_unit_test(successors_are_numbered),
        cmocka_unit_test(a_removed_file_is_noticed),
        cmocka_unit_test(a_file_in_a_folder_that_was_moved_is_found),
        cmocka_unit_test(a_whole_file_takes_no_name_that_another_has),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
