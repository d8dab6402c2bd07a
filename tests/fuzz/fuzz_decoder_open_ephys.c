/* SPDX-License-Identifier: Apache-2.0 */
/* Open Ephys' ZMQ Interface: whatever comes is read, left out and counted, or refused, with units that are
 * given and with those that are learnt. */
#include "message_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sf_unit units[] = {{.name = "Electrode 1"}, {.name = "Electrode 2"}};
    const sf_decoder_options learning = {.size = sizeof learning, .protocol = "open-ephys", .learn_s = 0.01};
    const sf_decoder_options given = {.size = sizeof given,
                                      .protocol = "open-ephys",
                                      .sample_rate_hz = 30000,
                                      .units = units,
                                      .unit_count = 2,
                                      .channels = (const int32_t[]){0, 1}};
    message_run(&learning, data, size);
    message_run(&given, data, size);
    return 0;
}
