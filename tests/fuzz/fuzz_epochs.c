/* SPDX-License-Identifier: Apache-2.0 */
/* A file of epochs: in order and apart, or refused with a sentence. */
#include "analysis/selection.h"
#include "core/memory.h"
#include "fuzz/file_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    file_input input = open_input(data, size);
    sf_epoch *epochs;
    size_t count;
    sf_error error = {0};
    if (sf_epochs_read(&epochs, &count, input.path, &error) == SF_OK) {
        for (size_t i = 0; i < count; i++)
            if (epochs[i].span.start_ns >= epochs[i].span.stop_ns ||
                (i > 0 && epochs[i].span.start_ns < epochs[i - 1].span.stop_ns))
                abort();
        sf_free(epochs);
    } else if (error.text[0] == '\0') {
        abort();
    }
    close_input(&input);
    if (sf_memory_live() != 0) abort();
    return 0;
}
