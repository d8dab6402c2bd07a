/* SPDX-License-Identifier: Apache-2.0 */
/* Files of AxIS, of any bytes, as they are and with their checksums put right: a recording in order, or a
 * refusal. */
#include "core/memory.h"
#include "fuzz/file_input.h"
#include "fuzz/hdf_recording.h"
#include "replay/recording_file.h"
#include "support/axion_sums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_streams(const uint8_t *data, size_t size)
{
    static const sf_reading hows[] = {
        {0}, {.stream = "A1"}, {.stream = "A2/joined", .rate_hz = 1e9}, {.stream = "1/A1"}};
    file_input file = open_input(data, size);
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (sf_recording_read(&recording, file.path, &hows[i], NULL, &error) == SF_OK)
            check_recording(&recording);
        else if (error.text[0] == '\0')
            abort();
        sf_recording_clear(&recording);
    }
    close_input(&file);
    if (sf_memory_live() != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size + 1);
    if (mended == NULL) abort();
    memcpy(mended, data, size);
    axion_mend(mended, size);
    read_streams(data, size);
    read_streams(mended, size);
    free(mended);
    return 0;
}
