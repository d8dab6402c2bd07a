/* SPDX-License-Identifier: Apache-2.0 */
/* Mines spikes that lie in an array. cc mine_array.c $(pkg-config --cflags --libs synfire) -o mine_array */
#include <stdio.h>
#include <synfire/synfire.h>

int main(void)
{
    /* Three units; every second 0 fires, 5 ms later 1, 10 ms later 2, and 2 fires once more at any time. */
    sf_spike spikes[400];
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 4; k++)
            spikes[4 * i + k] =
                (sf_spike){.time_ns = i * INT64_C(1000000000) + (k < 3 ? k * 5000000 : i * 7000000),
                           .unit = k < 3 ? (uint32_t)k : 2};
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = 3, input.spikes = spikes, input.spike_count = 400;
    sf_mining_options options = sf_mining_options_default();
    options.delays = &(sf_delay){4000000, 6000000}, options.delay_count = 1, options.threshold = 50;

    sf_recording *recording = NULL;
    sf_episodes *episodes = NULL;
    sf_error error;
    int status = sf_recording_new(&recording, &input, &error);
    if (status == SF_OK) status = sf_mine(&episodes, recording, &options, NULL, &error);
    if (status != SF_OK) fprintf(stderr, "%s %s\n", error.place, error.text);
    sf_episodes_columns found = {.size = sizeof found};
    for (size_t i = 0; status == SF_OK && (sf_episodes_get_columns(episodes, &found), i < found.count); i++) {
        char text[256];
        sf_recording_print_episode(recording, &found.episodes[i], text, sizeof text);
        printf("%s: %llu, by chance %.2f\n", text, (unsigned long long)found.counts[i], found.expected[i]);
    }
    sf_episodes_free(episodes);
    sf_recording_free(recording);
    return status == SF_OK ? 0 : 1;
}
