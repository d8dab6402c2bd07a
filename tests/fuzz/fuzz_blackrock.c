/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Blackrock's systems. The first byte chooses what the others are: a file of spikes, or voltages or
 * a map that lie beside a good one; a recording in order, or a refusal. */
#include "core/memory.h"
#include "replay/recording_file.h"
#include "support/blackrock.h"
#include "support/folders.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {"rec.nev", "rec.ns5", "rec.cmp"};
enum { FILES = sizeof files / sizeof files[0] };

static char *folders[FILES]; /* each with the one file that changes */

static void remove_folders(void)
{
    for (int i = 0; i < FILES; i++) {
        if (folders[i] != NULL)
            test_folder_remove(folders[i]);
        free(folders[i]);
    }
}

static void check(const sf_recording *recording)
{
    for (size_t i = 0; i < recording->spike_count; i++)
        if (recording->spikes[i].unit >= recording->units.count ||
            (i > 0 && recording->spikes[i].time_ns < recording->spikes[i - 1].time_ns))
            abort();
    for (size_t i = 0; i < recording->observed_count; i++)
        if (recording->observed[i].start_ns >= recording->observed[i].stop_ns ||
            (i > 0 && recording->observed[i].start_ns < recording->observed[i - 1].stop_ns))
            abort();
    if (recording->recorded.start_ns > recording->recorded.stop_ns)
        abort();
}

static void read_all(const char *path)
{
    static const char *const streams[] = {NULL, "session2", "joined"};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (sf_recording_read(&recording, path, &(sf_reading){.stream = streams[i]}, NULL, &error) == SF_OK)
            check(&recording);
        else if (error.text[0] == '\0')
            abort();
        sf_recording_clear(&recording);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    if (!begun)
        atexit(remove_folders);
    begun = true;
    if (size == 0)
        return 0;
    int which = data[0] % FILES;
    if (folders[which] == NULL) {
        folders[which] = test_folder_new();
        test_fill_blackrock(folders[which]);
    }
    char path[4096];
    test_folder_put(folders[which], files[which], data + 1, size - 1);
    snprintf(path, sizeof path, "%s/rec.nev", folders[which]);
    read_all(path);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
