/* SPDX-License-Identifier: Apache-2.0 */
/* What made a result, as the command tells it; and the start of the benchmarks. */
#include "run/tool.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/place.h"
#include "core/provenance.h"
#include "core/thread.h"
#include "io/last_words.h"
#include "io/occurrence_file.h"
#include "replay/convert.h"
#include "replay/recording_file.h"
#include "run/journals.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Words as a shell would take them: quotes where they are needed. */
static void print_command(sf_text *text, size_t count, char *const *words)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        sf_text_printf(text, i > 0 ? " " : "");
        if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
            sf_text_append(text, word, strlen(word));
            continue;
        }
        sf_text_append(text, "'", 1);
        for (; *word != '\0'; word++)
            sf_text_append(text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
        sf_text_append(text, "'", 1);
    }
}

int sf_tool_provenance_new(sf_provenance **out, size_t word_count, char *const *words, sf_error *error)
{
    sf_text command = {0};
    sf_text_printf(&command, "synfire ");
    print_command(&command, word_count, words);
    *out = command.failed ? NULL : sf_alloc(1, sizeof **out);
    if (*out == NULL) {
        sf_text_free(&command);
        return sf_fail_memory(error);
    }
    (*out)->command = command.data;
    return SF_OK;
}

void sf_tool_provenance_free(sf_provenance *provenance)
{
    if (provenance == NULL)
        return;
    sf_free(provenance->command);
    sf_free(provenance->preset);
    sf_selected_free(&provenance->selected);
    sf_free(provenance);
}

void sf_tool_tell_seed(sf_provenance *provenance, uint64_t seed)
{
    provenance->drew = true;
    provenance->seed = seed;
}

int sf_tool_tell_recording(sf_provenance *provenance, const sf_recording *recording, const char *preset,
                           sf_error *error)
{
    sf_selected_free(&provenance->selected);
    sf_free(provenance->preset);
    provenance->preset = preset != NULL ? sf_copy_string(preset) : NULL;
    if ((preset == NULL) != (provenance->preset == NULL))
        return sf_fail_memory(error);
    provenance->of_recording = true;
    return sf_selected_copy(&provenance->selected, recording->selected, error);
}

void sf_tool_tell_distance(sf_provenance *provenance, double min_distance_um)
{
    provenance->min_distance_um = min_distance_um;
}

void sf_tool_losses_words(sf_text *text, const sf_drop *dropped, size_t count)
{
    sf_losses_words(text, dropped, count);
}

void sf_tool_undeclared_words(sf_text *text, const sf_provenance *provenance)
{
    const sf_selected *of = &provenance->selected;
    if (provenance->of_recording && !of->declared && of->spikes > 0)
        sf_text_printf(
            text,
            "%s: the file does not say how long was recorded: rates are from first to last spike, %.6g s; "
            "--recorded A:B says it",
            of->recording, (double)(of->recorded.stop_ns - of->recorded.start_ns) * 1e-9);
}

void sf_tool_provenance_json(sf_json *json, const char *key, const sf_provenance *provenance)
{
    sf_provenance_json(json, key, provenance);
}

int sf_tool_bench(char **words, sf_error *error)
{
    char program[SF_PLACE_SIZE];
    if (!sf_place_program(program, "bench/command", "synfire-bench"))
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the program synfire-bench is not installed beside synfire");
    execv(program, words);
    return sf_fail(error, SF_UNAVAILABLE, program, "cannot be started: %s", strerror(errno));
}

unsigned sf_tool_cores(void)
{
    return sf_thread_cores();
}

void sf_tool_allot(unsigned cores)
{
    sf_thread_allot(cores);
}

int sf_tool_convert(const sf_recording *recording, const char *path, const char *to, const char *provenance,
                    const char **layout, sf_text *lost, sf_error *error)
{
    const sf_conversion *found;
    int status = sf_conversion_find(&found, to, path, error);
    if (status != SF_OK)
        return status;
    *layout = found->name;
    return sf_recording_convert(recording, path, found, provenance, lost, error);
}

int sf_tool_nwb(const sf_recording *recording, const char *path, const sf_table *tables, size_t count,
                const char *provenance, sf_error *error)
{
    return sf_nwb_results_write(recording, path, tables, count, provenance, error);
}

int sf_tool_spare(const char *path, sf_error *error)
{
    return sf_recording_spare(path, error);
}

bool sf_tool_occurrences_in_file(const char *path)
{
    return sf_occurrence_file_is(path);
}

void sf_tool_streams_free(sf_tool_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        sf_free(streams->names[i]);
    sf_free(streams->names);
    sf_free(streams->spikes);
    *streams = (sf_tool_streams){0};
}

int sf_tool_streams_of(sf_tool_streams *streams, const char *path, const char *columns, double rate_hz,
                       sf_error *error)
{
    const sf_reading how = {.columns = columns, .rate_hz = rate_hz};
    sf_streams found = {0};
    *streams = (sf_tool_streams){0};
    int status = sf_recording_list(&found, path, &how, error);
    if (status != SF_OK)
        return status;
    streams->names = sf_alloc(found.count, sizeof *streams->names);
    streams->spikes = sf_alloc(found.count, sizeof *streams->spikes);
    if (streams->names == NULL || streams->spikes == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < found.count; i++) {
        streams->names[streams->count++] = found.items[i].name;
        streams->spikes[i] = found.items[i].spikes;
        found.items[i].name = NULL;
    }
    sf_streams_free(&found);
    if (status != SF_OK)
        sf_tool_streams_free(streams);
    return status;
}

bool sf_tool_has_journal(const char *path)
{
    char *journal;
    sf_kinship kinship;
    bool has = sf_journal_find(&journal, &kinship, path, NULL) == SF_OK && journal != NULL &&
               kinship != SF_KIN_OTHER;
    sf_free(journal);
    return has;
}

void sf_tool_say_last_words(void)
{
    sf_last_words_say();
}
