/* SPDX-License-Identifier: Apache-2.0 */
/* A file of episodes, text and JSON: each episode that is read is sound and reads back as it is printed. */
#include "app/mining.h"
#include "core/episode.h"
#include "core/memory.h"
#include "fuzz/file_input.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const sf_episode *episode, const sf_recording *recording)
{
    sf_error error = {0};
    sf_episode again;
    if (sf_recording_check_episode(recording, episode, &error) != SF_OK) abort();
    char text[4096];
    if (sf_recording_print_episode(recording, episode, text, sizeof text) >= sizeof text ||
        sf_recording_parse_episode(recording, text, &again, &error) != SF_OK ||
        sf_episode_compare(&again, episode) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"A", "B", "ch_58a", "-> (", "#1", "3"};
    sf_unit units[sizeof names / sizeof names[0]];
    sf_recording_input from = sf_recording_input_default();
    from.units = units;
    from.unit_count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < from.unit_count; i++)
        units[i] = (sf_unit){.name = names[i], .electrode = -1};
    sf_recording *recording;
    if (sf_recording_new(&recording, &from, NULL) != SF_OK) abort();
    file_input input = open_input(data, size);
    sf_episode *episodes;
    size_t count;
    sf_error error = {0};
    if (app_episodes_read(&episodes, &count, input.path, recording, &error) == SF_OK) {
        for (size_t i = 0; i < count; i++)
            check(&episodes[i], recording);
        sf_free(episodes);
    } else if (error.text[0] == '\0') {
        abort();
    }
    close_input(&input);
    sf_recording_free(recording);
    if (sf_memory_live() != 0) abort();
    return 0;
}
