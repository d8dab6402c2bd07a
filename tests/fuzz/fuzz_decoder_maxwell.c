/* SPDX-License-Identifier: Apache-2.0 */
/* MaxLab Live: whatever comes is read, left out and counted, or refused, in either layout. */
#include "message_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const layouts[] = {"auto", "mxw24"};
    for (int i = 0; i < 2; i++) {
        const sf_decoder_options options = {
            .size = sizeof options, .protocol = "maxwell", .learn_s = 0.01, .layout = layouts[i]};
        message_run(&options, data, size);
    }
    return 0;
}
