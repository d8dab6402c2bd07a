/* SPDX-License-Identifier: Apache-2.0 */
/* Open Ephys' Event Broadcaster: whatever comes is read, left out and counted, or refused. */
#include "message_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 2; i++) {
        const sf_decoder_options options = {.size = sizeof options,
                                            .protocol = "event-broadcaster",
                                            .learn_s = 0.01,
                                            .sample_rate_hz = i == 0 ? 0 : 30000};
        message_run(&options, data, size);
    }
    return 0;
}
