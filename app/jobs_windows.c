/* SPDX-License-Identifier: Apache-2.0 */
/* Windows has no fork: the pieces are done one after the other in this process, and what they write is taken
 * by a file in between. */
#include "app/jobs.h"

#include "app/command.h"
#include "core/clock.h"
#include "io/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <windows.h>

/* Where one of the program's own streams goes meanwhile. */
typedef struct taken {
    FILE *stream;
    int before, file; /* -1: none */
} taken;

static int make_file(void)
{
    char folder[MAX_PATH], path[MAX_PATH];
    if (GetTempPathA(sizeof folder, folder) == 0 || GetTempFileNameA(folder, "syn", 0, path) == 0) return -1;
    HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                              CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    return file != INVALID_HANDLE_VALUE ? _open_osfhandle((intptr_t)file, O_BINARY) : -1;
}

static bool take(taken *it, FILE *stream)
{
    fflush(stream);
    *it = (taken){.stream = stream, .before = dup(_fileno(stream)), .file = make_file()};
    return it->before >= 0 && it->file >= 0 && dup2(it->file, _fileno(stream)) == 0;
}

static void give_back(taken *it, sf_text *text)
{
    fflush(it->stream);
    if (it->before >= 0) dup2(it->before, _fileno(it->stream));
    if (it->file >= 0) sf_file_append_to(text, it->file);
    if (it->before >= 0) close(it->before);
    if (it->file >= 0) close(it->file);
}

static bool work(const app_jobs *jobs, app_job *job)
{
    taken out, said;
    double begun = sf_clock_seconds();
    bool is_ready = take(&out, stdout);
    is_ready = take(&said, stderr) && is_ready;
    if (is_ready) job->exit_code = jobs->work(jobs->context, job->item);
    give_back(&said, &job->said);
    give_back(&out, &job->out);
    job->seconds = sf_clock_seconds() - begun;
    return is_ready;
}

static int run_one(const app_jobs *jobs, app_job *job, sf_error *error)
{
    if (!work(jobs, job))
        return sf_fail(error, SF_UNAVAILABLE, NULL, "no file for what is printed can be made");
    if (jobs->ended != NULL) jobs->ended(jobs->context, job);
    if (job->out.failed || job->said.failed) return sf_fail_memory(error);
    return jobs->take != NULL ? jobs->take(jobs->context, job, error) : SF_OK;
}

int app_jobs_run(const app_jobs *jobs, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < jobs->count; i++) {
        app_job job = {.item = i};
        if (app_stop_requested())
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped after %zu of %zu", i, jobs->count);
        else
            status = run_one(jobs, &job, error);
        sf_text_free(&job.out);
        sf_text_free(&job.said);
    }
    return status;
}
