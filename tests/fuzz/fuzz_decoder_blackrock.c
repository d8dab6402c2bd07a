/* SPDX-License-Identifier: Apache-2.0 */
/* Blackrock's systems: whatever comes is read, left out and counted, or refused; with what protocol it is
 * found out, and with units that are given. */
#include "message_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_unit units[] = {{.name = "elec1"}, {.name = "elec2:1"}, {.name = "chan3/1"}};
    static const int32_t channels[] = {-1, 2, 10003};
    static const char *const protocols[] = {"3.11", "4.0", "4.1"};
    const sf_decoder_options found = {.size = sizeof found, .protocol = "blackrock", .learn_s = 0.01};
    message_run(&found, data, size);
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        const sf_decoder_options given = {.size = sizeof given,
                                          .protocol = "blackrock",
                                          .layout = protocols[i],
                                          .sample_rate_hz = 30000,
                                          .units = units,
                                          .unit_count = 3,
                                          .channels = channels};
        message_run(&given, data, size);
    }
    return 0;
}
