/* SPDX-License-Identifier: Apache-2.0 */
/* Any text gives a recording in order, or a refusal, whatever is said of its columns. */
#include "core/memory.h"
#include "replay/csv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_so(const uint8_t *data, size_t size, const sf_reading *how)
{
    char *text = malloc(size + 1);
    if (text == NULL) return;
    memcpy(text, data, size);
    text[size] = '\0';
    sf_lines lines = sf_lines_over("fuzz", text, size);
    sf_recording recording;
    sf_error error;
    if (sf_csv_read_lines(&recording, &lines, how, NULL, &error) == SF_OK) {
        for (size_t i = 0; i < recording.spike_count; i++) {
            const sf_spike *spike = &recording.spikes[i];
            if (spike->time_ns < 0 || spike->unit >= recording.units.count ||
                (i > 0 && spike->time_ns < spike[-1].time_ns))
                abort();
        }
        sf_recording_clear(&recording);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading ways[] = {
        {0}, {.rate_hz = 12500}, {.stream = "A1"}, {.columns = "-,time_ms,unit,well"}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        read_so(data, size, &ways[i]);
    if (sf_memory_live() != 0) abort();
    return 0;
}
