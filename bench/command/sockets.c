/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/command/sockets.h"

#include "bench/command/stream.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/random.h"
#include "io/file.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LISTENERS_WITHIN_S 60
#define QUIET_S 0.5
#define QUIET_WITHIN_S 30
#define LOOK_EVERY_NS (20 * SF_MILLISECOND)

int bench_endpoint(char *endpoint, size_t size, sf_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool found = taken >= 0 && bind(taken, (const struct sockaddr *)&address, length) == 0 &&
                 getsockname(taken, (struct sockaddr *)&address, &length) == 0;
    if (taken >= 0) close(taken);
    if (!found) return sf_fail(error, SF_UNAVAILABLE, NULL, "no port is free: %s", strerror(errno));
    snprintf(endpoint, size, "tcp://127.0.0.1:%u", ntohs(address.sin_port));
    return SF_OK;
}

/* ---- the run ---- */

static void path_in(const bench_run *run, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", run->folder, name);
}

static int make_folder(bench_run *run, sf_error *error)
{
    const char *parent = getenv("TMPDIR");
    snprintf(run->folder, sizeof run->folder, "%.32s/synfire-bench-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(run->folder) != NULL) return SF_OK;
    int status = sf_fail(error, SF_CANNOT_CREATE, run->folder, "%s", strerror(errno));
    run->folder[0] = '\0';
    return status;
}

static int write_configuration(const bench_run *run, const char *yaml, sf_error *error)
{
    char path[128];
    sf_text text = {0};
    path_in(run, "run.yaml", path, sizeof path);
    sf_text_printf(&text, "%s", yaml);
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

static int place_files(const bench_run *run, posix_spawn_file_actions_t *files)
{
    char out[128], said[128];
    path_in(run, "summary.json", out, sizeof out);
    path_in(run, "said", said, sizeof said);
    int failed =
        posix_spawn_file_actions_addopen(files, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (failed == 0)
        failed =
            posix_spawn_file_actions_addopen(files, STDERR_FILENO, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (failed == 0) failed = posix_spawn_file_actions_addchdir_np(files, run->folder);
    return failed;
}

static int spawn(bench_run *run, char *program, sf_error *error)
{
    char *const words[] = {program, "run", "run.yaml", "--json", "--quiet", NULL};
    posix_spawn_file_actions_t files;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed == 0) {
        failed = place_files(run, &files);
        if (failed == 0) failed = posix_spawn(&run->process, program, &files, NULL, words, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    if (failed == 0) return SF_OK;
    run->process = 0;
    return sf_fail(error, SF_UNAVAILABLE, program, "cannot be started: %s", strerror(failed));
}

int bench_run_start(bench_run *run, const char *yaml, sf_error *error)
{
    static const char *const installed[] = {"synfire", NULL};
    char program[SF_PLACE_SIZE];
    if (!sf_place_find(program, "app/synfire", installed))
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the command synfire is not beside this program");
    int status = make_folder(run, error);
    if (status == SF_OK) status = write_configuration(run, yaml, error);
    return status == SF_OK ? spawn(run, program, error) : status;
}

/* The first line of a file of /proc; false where the thread or process is gone. */
static bool read_line(char *line, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool read_line(char *line, size_t size, const char *format, ...)
{
    char path[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return read;
}

static bench_thread *find_thread(bench_run *run, int id)
{
    for (size_t i = 0; i < run->thread_count; i++)
        if (run->threads[i].id == id) return &run->threads[i];
    if (run->thread_count == BENCH_THREADS) return NULL;
    run->threads[run->thread_count] = (bench_thread){.id = id};
    return &run->threads[run->thread_count++];
}

static void look_at_thread(bench_run *run, int id)
{
    char line[128], *rest;
    if (!read_line(line, sizeof line, "/proc/%d/task/%d/schedstat", run->process, id)) return;
    bench_thread *thread = find_thread(run, id);
    if (thread == NULL) return;
    thread->seconds = strtod(line, &rest) * 1e-9;
    thread->waited = strtod(rest, NULL) * 1e-9;
    if (read_line(line, sizeof line, "/proc/%d/task/%d/comm", run->process, id))
        snprintf(thread->name, sizeof thread->name, "%.15s", line);
}

static void look_at_memory(bench_run *run)
{
    char line[128], *rest;
    if (!read_line(line, sizeof line, "/proc/%d/statm", run->process)) return;
    strtoul(line, &rest, 10);
    double resident_mb = (double)strtoul(rest, NULL, 10) * (double)sysconf(_SC_PAGESIZE) * 1e-6;
    run->memory_mb = resident_mb > run->memory_mb ? resident_mb : run->memory_mb;
}

static void look_at_threads(bench_run *run)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", run->process);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') look_at_thread(run, atoi(entry->d_name));
    if (folder != NULL) closedir(folder);
}

/* What it said, in one line. */
static int fail_run(bench_run *run, int code, sf_error *error)
{
    char path[128];
    sf_text said = {0};
    path_in(run, "said", path, sizeof path);
    sf_file_read(&said, path, NULL);
    if (said.length > 0) said.data[strcspn(said.data, "\n")] = '\0';
    int status = sf_fail(error, SF_UNAVAILABLE, "synfire run", "ended with %d: %s", code,
                         said.data != NULL ? said.data : "");
    sf_text_free(&said);
    return status;
}

/* Looks whether it has ended, and how. */
static bool reap(bench_run *run, int *code)
{
    if (waitpid(run->process, code, WNOHANG) != run->process) return false;
    run->ended_s = sf_clock_seconds();
    run->process = 0;
    return true;
}

bool bench_run_look(bench_run *run)
{
    siginfo_t ended = {0};
    look_at_memory(run);
    look_at_threads(run);
    return run->process > 0 && waitid(P_PID, (id_t)run->process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
}

/* On a processor or waiting for one: on a busy machine both are work that is left. */
static double busy_seconds(bench_run *run)
{
    double sum = 0;
    bench_run_look(run);
    for (size_t i = 0; i < run->thread_count; i++)
        sum += run->threads[i].seconds + run->threads[i].waited;
    return sum;
}

/* In order, or `other`. */
static int finish(bench_run *run, int other, sf_error *error)
{
    int code = 0;
    char path[128];
    while (!reap(run, &code)) {
        bench_run_look(run);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + LOOK_EVERY_NS);
    }
    int ended = WIFEXITED(code) ? WEXITSTATUS(code) : -WTERMSIG(code);
    if (ended != 0 && ended != other) return fail_run(run, ended, error);
    path_in(run, "summary.json", path, sizeof path);
    return sf_file_read(&run->summary, path, error);
}

int bench_run_finish(bench_run *run, sf_error *error)
{
    return finish(run, 0, error);
}

int bench_run_interrupt(bench_run *run, sf_error *error)
{
    kill(run->process, SIGINT);
    return finish(run, 128 + SIGINT, error);
}

/* It has worked off all once it takes less than a tenth of a core; on a busy machine its threads may never.
 */
int bench_run_stop(bench_run *run, sf_error *error)
{
    double before = busy_seconds(run), now = before + 1, until = sf_clock_seconds() + QUIET_WITHIN_S;
    while (now - before > QUIET_S * 0.1 && sf_clock_seconds() < until && bench_run_look(run)) {
        before = busy_seconds(run);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + (int64_t)(QUIET_S * 1e9));
        now = busy_seconds(run);
    }
    return bench_run_interrupt(run, error);
}

double bench_run_counter(const bench_run *run, const char *after, const char *name)
{
    char key[64];
    const char *at = run->summary.data != NULL ? strstr(run->summary.data, after) : NULL;
    snprintf(key, sizeof key, "\"%s\":", name);
    at = at != NULL ? strstr(at, key) : NULL;
    return at != NULL ? strtod(at + strlen(key), NULL) : NAN;
}

double bench_at_share(const double *sorted, size_t count, double share)
{
    return count > 0 ? sorted[(size_t)((double)(count - 1) * share)] : NAN;
}

static void remove_folder(bench_run *run)
{
    DIR *folder = run->folder[0] != '\0' ? opendir(run->folder) : NULL;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder != NULL) closedir(folder);
    if (run->folder[0] != '\0') rmdir(run->folder);
}

void bench_run_close(bench_run *run)
{
    if (run->process > 0) {
        kill(run->process, SIGKILL);
        waitpid(run->process, NULL, 0);
    }
    remove_folder(run);
    sf_text_free(&run->summary);
    *run = (bench_run){0};
}

/* ---- the stream ---- */

int bench_frames_open(bench_frames *frames, size_t per_frame, int64_t frame_ns, uint32_t first_unit,
                      sf_error *error)
{
    *frames = (bench_frames){.per_frame = per_frame, .frame_ns = frame_ns};
    frames->spikes = sf_alloc(BENCH_FRAMES * per_frame, sizeof *frames->spikes);
    frames->frame = sf_alloc(per_frame, sizeof *frames->frame);
    if (frames->spikes == NULL || frames->frame == NULL) {
        bench_frames_close(frames);
        return sf_fail_memory(error);
    }
    sf_random random = sf_random_start(11, 0);
    for (size_t i = 0; i < BENCH_FRAMES * per_frame; i++)
        frames->spikes[i] =
            (sf_spike){.time_ns = (int64_t)(i % per_frame) * frame_ns / (int64_t)per_frame,
                       .unit = first_unit + (uint32_t)sf_random_below(&random, BENCH_UNITS - first_unit),
                       .amplitude = -50};
    return SF_OK;
}

void bench_frames_close(bench_frames *frames)
{
    sf_free(frames->spikes);
    sf_free(frames->frame);
    *frames = (bench_frames){0};
}

sf_batch bench_frames_next(bench_frames *frames)
{
    const sf_spike *pattern = frames->spikes + frames->sent % BENCH_FRAMES * frames->per_frame;
    int64_t begin_ns = (int64_t)frames->sent++ * frames->frame_ns;
    for (size_t i = 0; i < frames->per_frame; i++) {
        frames->frame[i] = pattern[i];
        frames->frame[i].time_ns += begin_ns;
    }
    return (sf_batch){
        .spikes = frames->frame, .spike_count = frames->per_frame, .clock_ns = begin_ns + frames->frame_ns};
}

int bench_about(sf_recording *about, sf_error *error)
{
    *about = (sf_recording){0};
    const sf_unit unnamed = {.electrode = -1};
    int status = SF_OK;
    for (int i = 0; i < BENCH_UNITS && status == SF_OK; i++)
        status = sf_units_add(&about->units, &unnamed, error);
    return status == SF_OK ? sf_units_finish(&about->units, error) : status;
}

static bool goes_on(void *user)
{
    return !app_stop_requested() && bench_run_look(user);
}

int bench_sender_open(sf_sender **sender, const char *name, const char *endpoint, bool own_pace,
                      bench_run *run, const sf_recording *about, sf_error *error)
{
    const sf_protocol *protocol;
    int status = sf_protocol_find(&protocol, name, error);
    if (status != SF_OK) return status;
    const sf_sender_settings settings = {.protocol = protocol->sender,
                                         .endpoint = endpoint,
                                         .name = "bench",
                                         .own_pace = own_pace,
                                         .go_on = run != NULL ? goes_on : NULL,
                                         .user = run};
    return sf_sender_open(sender, &settings, about, error);
}

int bench_sender_await(sf_sender *sender, int64_t listeners, sf_error *error)
{
    double until = sf_clock_seconds() + LISTENERS_WITHIN_S;
    while (sf_sender_subscribers(sender) < listeners) {
        if (app_stop_requested()) return sf_fail(error, SF_CANCELLED, NULL, "stopped");
        if (sf_clock_seconds() > until)
            return sf_fail(error, SF_UNAVAILABLE, sender->sending->address, "nobody came to listen");
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
    return SF_OK;
}
