/* SPDX-License-Identifier: Apache-2.0 */
/* A file of episodes, text and JSON: each episode that is read is sound and reads back as it is printed. */
#include "app/mining.h"
#include "core/episode.h"
#include "core/memory.h"
#include "fuzz/file_input.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const sf_episode *episode, const sf_units *units)
{
    sf_error error = {0};
    sf_text text = {0};
    sf_episode again;
    if (sf_episode_check(episode, units->count, &error) != SF_OK)
        abort();
    sf_episode_print(&text, episode, units);
    if (sf_episode_parse(&again, text.data, units, &error) != SF_OK ||
        sf_episode_compare(&again, episode) != 0)
        abort();
    sf_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"A", "B", "ch_58a", "-> (", "#1", "3"};
    sf_units units = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sf_unit unit = {.name = names[i], .electrode = -1};
        if (sf_units_add(&units, &unit, NULL) != SF_OK)
            abort();
    }
    if (sf_units_finish(&units, NULL) != SF_OK)
        abort();
    file_input input = open_input(data, size);
    sf_episode *episodes;
    size_t count;
    sf_error error = {0};
    if (app_episodes_read(&episodes, &count, input.path, &units, &error) == SF_OK) {
        for (size_t i = 0; i < count; i++)
            check(&episodes[i], &units);
        sf_free(episodes);
    } else if (error.text[0] == '\0') {
        abort();
    }
    close_input(&input);
    sf_units_free(&units);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
