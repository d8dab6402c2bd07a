/* SPDX-License-Identifier: Apache-2.0 */
/* A file of electrodes: each has a name and a channel, which in a table names need not be, or it is refused
 * with a sentence. */
#include "core/memory.h"
#include "fuzz/file_input.h"
#include "io/electrodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    file_input input = open_input(data, size);
    sf_electrodes electrodes;
    sf_error error = {0};
    if (sf_electrodes_read(&electrodes, input.path, &error) == SF_OK) {
        for (size_t i = 0; i < electrodes.units.count; i++)
            if (electrodes.units.items[i].name[0] == '\0' ||
                electrodes.channels[i] < (electrodes.is_table ? -1 : 0))
                abort();
    } else if (error.text[0] == '\0') {
        abort();
    }
    sf_electrodes_free(&electrodes);
    close_input(&input);
    if (sf_memory_live() != 0) abort();
    return 0;
}
