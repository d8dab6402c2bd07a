/* SPDX-License-Identifier: Apache-2.0 */
/* Units whose spikes look like one neuron's: seen again with a fixed lag, or split by a sorter. */
#include "support/support.h"

#include "analysis/one_neuron.h"
#include "core/clock.h"
#include "core/random.h"

#include <math.h>

enum { UNITS = 6, SPIKES = 16000 };

/* Of one neuron at 10 Hz unit 1 sees every second spike 0.7 ms after unit 0; units 2 and 3 are the halves of
 * another, whose spikes keep 3 ms apart; 4 and 5 are on their own. */
static sf_recording make(sf_unit *units, sf_spike *spikes)
{
    sf_random random = sf_random_start(5, 1);
    sf_recording recording = {.spikes = spikes, .units = {.items = units, .count = UNITS}};
    for (uint32_t u = 0; u < UNITS; u++)
        units[u] = (sf_unit){.name = "u", .x_um = 100 * u, .y_um = 0, .electrode = -1};
    for (uint32_t neuron = 0; neuron < 4; neuron++) {
        int64_t at = 0;
        for (size_t i = 0; i < SPIKES / 4; i++) {
            at += 3 * SF_MILLISECOND + (int64_t)(sf_random_exponential(&random) * 97e6);
            uint32_t unit = neuron == 0 ? 0 : neuron == 1 ? 2 + (uint32_t)(i % 2) : 2 + neuron;
            spikes[recording.spike_count++] = (sf_spike){.time_ns = at, .unit = unit};
            if (neuron == 0 && i % 2 == 0)
                spikes[recording.spike_count++] =
                    (sf_spike){.time_ns = at + 7 * SF_MILLISECOND / 10, .unit = 1};
        }
    }
    assert_int_equal(sf_spikes_sort(spikes, recording.spike_count, NULL), SF_OK);
    return recording;
}

static void one_neuron_in_two_units_is_seen(void **state)
{
    (void)state;
    sf_unit units[UNITS];
    static sf_spike spikes[2 * SPIKES];
    sf_recording recording = make(units, spikes);
    sf_neurons neurons;
    assert_int_equal(sf_neurons_lay_out(&neurons, &recording, NULL), SF_OK);
    for (uint32_t a = 0; a < UNITS; a++)
        for (uint32_t b = 0; b < UNITS; b++) {
            bool alike = a != b && a / 2 == b / 2 && a < 4;
            if (sf_neurons_look_alike(&neurons, a, b) != alike) fail_msg("units %u and %u", a, b);
        }
    units[1].x_um = 500; /* too far apart to see one neuron */
    assert_false(sf_neurons_look_alike(&neurons, 0, 1));
    units[1].x_um = NAN; /* nobody knows */
    assert_true(sf_neurons_look_alike(&neurons, 0, 1));
    recording.tick_ns = SF_MILLISECOND; /* all lags come again */
    assert_false(sf_neurons_look_alike(&neurons, 0, 1));
    units[4].electrode = units[5].electrode = 7;
    assert_true(sf_neurons_look_alike(&neurons, 4, 5));
    sf_neurons_free(&neurons);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_neuron_in_two_units_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
