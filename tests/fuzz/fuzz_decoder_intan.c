/* SPDX-License-Identifier: Apache-2.0 */
/* Intan RHX: whatever arrives is read or left out, however it is cut. */
#include "decoder_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sf_unit units[] = {{.name = "A-000"}, {.name = "A-001"}};
    const decoder_input input = {.protocol = "intan", .units = units, .unit_count = 2};
    decoder_run(&input, data, size);
    return 0;
}
