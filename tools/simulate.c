/* SPDX-License-Identifier: Apache-2.0 */
/* Simulations into files. */
#include "tools/simulate.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "replay/simulation.h"

#include <inttypes.h>

int sf_simulation_names(sf_recording **units, const sf_simulation_settings *settings, sf_error *error)
{
    *units = sf_alloc(1, sizeof **units);
    if (*units == NULL) return sf_fail_memory(error);
    int status = sf_simulation_units(&(*units)->units, settings, error);
    if (status != SF_OK) {
        sf_recording_free(*units);
        *units = NULL;
    }
    return status;
}

/* The options that make this simulation again, defaults and presets written out. */
static int describe(sf_text *text, const sf_simulation_settings *settings, sf_error *error)
{
    sf_units units = {0};
    int status = sf_simulation_units(&units, settings, error);
    if (status != SF_OK) return status;
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(&sf_simulation_table, NULL, keys);
    for (size_t i = 0; i < count; i++) {
        if (keys[i]->zero != NULL && sf_key_is_zero(keys[i], settings)) continue;
        sf_text_printf(text, "%s--", i > 0 ? " " : "");
        sf_key_option(text, keys[i]);
        if (keys[i]->type == SF_KEY_COUNT)
            sf_text_printf(text, " %" PRIu64, *(const uint64_t *)sf_key_at(keys[i], settings));
        else
            sf_text_printf(text, " %.15g", sf_key_number(keys[i], settings));
    }
    for (size_t i = 0; i < settings->chain_count; i++) {
        sf_text_printf(text, " --chain '");
        sf_episode_print(text, &settings->chains[i].episode, &units);
        sf_text_printf(text, "' --chain-rate %.15g", settings->chains[i].rate_hz);
    }
    sf_units_free(&units);
    return text->failed ? sf_fail_memory(error) : SF_OK;
}

static int count_planted(sf_simulated *made, const sf_truth *truth, sf_error *error)
{
    made->chains = truth->chains;
    made->chain_count = truth->chain_count;
    made->planted = sf_alloc(truth->chain_count, sizeof *made->planted);
    if (made->planted == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < truth->occurrence_count; i++)
        made->planted[truth->occurrences[i].chain]++;
    return SF_OK;
}

static int simulate(sf_simulated *made, const char *path, const sf_simulation_settings *settings,
                    const sf_progress *progress, sf_error *error)
{
    sf_text description = {0};
    sf_simulation_settings described = *settings;
    sf_simulation *simulation = NULL;
    int status = describe(&description, settings, error);
    described.description = made->settings = description.data;
    if (status == SF_OK) status = sf_simulation_open(&simulation, &described, error);
    made->own = simulation;
    if (status == SF_OK) status = sf_simulation_write(simulation, path, &made->spikes, progress, error);
    if (status != SF_OK) return status;
    const sf_recording *about = sf_simulation_about(simulation);
    made->duplicates = sf_simulation_duplicates(simulation);
    made->unit_count = about->units.count;
    made->marker_count = about->marker_count;
    made->recorded = about->recorded;
    return count_planted(made, sf_simulation_truth(simulation), error);
}

int sf_simulation_save(sf_simulated *made, const char *path, const sf_simulation_settings *settings,
                       const sf_progress *progress, sf_error *error)
{
    *made = (sf_simulated){0};
    int status = simulate(made, path, settings, progress, error);
    if (status != SF_OK) sf_simulated_free(made);
    return status;
}

void sf_simulated_free(sf_simulated *made)
{
    sf_simulation_close(made->own);
    sf_free(made->settings);
    sf_free(made->planted);
    *made = (sf_simulated){0};
}
