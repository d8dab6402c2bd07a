/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

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

int app_provenance_new(sf_provenance **out, size_t word_count, char *const *words, sf_error *error)
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

void app_provenance_free(sf_provenance *provenance)
{
    if (provenance == NULL) return;
    sf_free(provenance->command);
    sf_free(provenance->preset);
    sf_selected_free(&provenance->selected);
    sf_free(provenance);
}

int app_tell_recording(const app_call *call, const sf_recording *recording, sf_error *error)
{
    sf_provenance *provenance = call->provenance;
    const char *preset = app_value(call, "preset", NULL);
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    sf_selected_free(&provenance->selected);
    sf_free(provenance->preset);
    provenance->preset = preset != NULL ? sf_copy_string(preset) : NULL;
    if ((preset == NULL) != (provenance->preset == NULL)) return sf_fail_memory(error);
    provenance->of_recording = true;
    return sf_selected_copy(&provenance->selected, of.selected, error);
}

void app_tell_seed(const app_call *call, uint64_t seed)
{
    call->provenance->drew = true;
    call->provenance->seed = seed;
}

void app_provenance_json(sf_json *json, const app_call *call)
{
    sf_provenance_json(json, "provenance", call->provenance);
}

void app_document_json(sf_text *text, const app_call *call, const sf_table *document, const void *of)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_table_json_fields(&json, document, of);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

sf_text app_provenance_text(const app_call *call)
{
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_provenance_json(&json, NULL, call->provenance);
    return text;
}
