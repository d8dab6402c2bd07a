/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, each in a process of its own. */
#include "app/compare.h"
#include "app/jobs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_S 5 /* for a process that was asked to end but, for example, waits for a file */

typedef struct comparing {
    app_compared *results;
    const app_comparing *how;
    const app_compared_input *inputs;
    const char *folder;
    const sf_progress *progress;
    size_t count, done;
} comparing;

/* Runs in the new process: writes the result as raw bytes. */
static int work(void *context, size_t item)
{
    const comparing *c = context;
    static app_compared result;
    app_call silent = app_silenced(c->how->call); /* many at once: the one that started them speaks */
    size_t words = 0;
    while (silent.words[words] != NULL)
        words++;
    sf_error error;
    if (app_provenance_new(&silent.provenance, words, silent.words, &error) != SF_OK)
        return sf_exit_code(SF_NO_MEMORY); /* a provenance of its own, only for what this process reads */
    app_comparing how = *c->how;
    how.call = &silent;
    app_catch_signals();
    memset(&result, 0, sizeof result); /* in all its bytes, also where another item had it before */
    app_compare_recording(&result, &how, &c->inputs[item], c->folder);
    app_provenance_free(silent.provenance);
    return write(STDOUT_FILENO, &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1;
}

/* Reads the result of a process, or reports that it ended without one. */
static void ended(void *context, const app_job *job)
{
    comparing *c = context;
    app_compared *result = &c->results[job->item];
    const char *path = c->inputs[job->item].path;
    if (job->out.length == sizeof *result)
        memcpy(result, job->out.data, sizeof *result);
    else if (job->signal != 0)
        result->status =
            sf_fail(&result->error, SF_INTERNAL, path, "its analysis was ended by signal %d (%s)",
                    job->signal, strsignal(job->signal));
    else
        result->status = sf_fail(&result->error, SF_INTERNAL, path, "its analysis ended without a result");
    if (job->said.length > 0) fwrite(job->said.data, 1, job->said.length, stderr);
    if (c->how->call->verbose)
        app_warn(c->how->call, "%s: %s, %.3g s", path,
                 result->status != SF_OK ? result->error.text
                 : result->kept          ? "was done before"
                                         : "done",
                 result->seconds);
    c->done++;
    if (c->progress->update != NULL)
        c->progress->update(c->progress->user, "recordings", (double)c->done, (double)c->count);
}

int app_compare_recordings(app_compared *results, const app_comparing *how, const app_compared_input *inputs,
                           size_t count, const char *folder, size_t jobs, sf_error *error)
{
    const sf_progress progress = app_progress(how->call);
    comparing c = {.results = results,
                   .how = how,
                   .inputs = inputs,
                   .folder = folder,
                   .progress = &progress,
                   .count = count};
    const app_jobs all = {.count = count,
                          .at_once = jobs,
                          .work = work,
                          .ended = ended,
                          .patience_s = PATIENCE_S,
                          .context = &c};
    app_catch_signals();
    int status = app_jobs_run(&all, error);
    if (status == SF_CANCELLED)
        return sf_fail(error, SF_CANCELLED, NULL,
                       "stopped: %zu of %zu recordings are done, and the same command goes on with the rest",
                       c.done, c.count);
    return status;
}
