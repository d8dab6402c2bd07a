/* SPDX-License-Identifier: Apache-2.0 */
/* Cortical Labs CL1: whatever comes is read, left out and counted, or refused. */
#include "message_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sf_decoder_options options = {.size = sizeof options, .protocol = "cortical", .learn_s = 0.01};
    message_run(&options, data, size);
    return 0;
}
