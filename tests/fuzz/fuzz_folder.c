/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of arrays: one file of a good folder is replaced by any bytes, which the first byte chooses; a
 * recording in order, or a refusal. */
#include "core/memory.h"
#include "replay/recording_file.h"
#include "support/folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    void (*fill)(const char *folder);
    const char *file;
    bool is_whole; /* the file is read, not its folder */
} kinds[] = {
    {test_fill_phy, "spike_times.npy", false},
    {test_fill_phy, "spike_clusters.npy", false},
    {test_fill_phy, "params.py", false},
    {test_fill_phy, "cluster_info.tsv", false},
    {test_fill_phy, "templates.npy", false},
    {test_fill_phy, "channel_positions.npy", false},
    {test_fill_spikeinterface, "spikes.npy", false},
    {test_fill_spikeinterface, "numpysorting_info.json", false},
    {test_fill_npz, "sorting_cached.npz", false},
    {test_fill_open_ephys, "structure.oebin", false},
    {test_fill_open_ephys, "spikes/one/electrode_indices.npy", false},
    {test_fill_open_ephys, "events/TTL/states.npy", false},
    {test_fill_pynapple, "group.npz", true},
    {test_fill_pynapple_packed, "group.npz", true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static char *folders[KINDS]; /* each with the one file that changes */

static void remove_folders(void)
{
    for (int i = 0; i < KINDS; i++) {
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const streams[] = {NULL, "segment0", "probe"};
    static bool begun;
    if (!begun)
        atexit(remove_folders);
    begun = true;
    if (size == 0)
        return 0;
    int kind = data[0] % KINDS;
    if (folders[kind] == NULL) {
        folders[kind] = test_folder_new();
        kinds[kind].fill(folders[kind]);
    }
    char path[4096];
    test_folder_put(folders[kind], kinds[kind].file, data + 1, size - 1);
    snprintf(path, sizeof path, "%s/%s", folders[kind], kinds[kind].file);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        sf_recording recording;
        sf_error error = {0};
        if (sf_recording_read(&recording, kinds[kind].is_whole ? path : folders[kind],
                              &(sf_reading){.stream = streams[i], .rate_hz = 0}, NULL, &error) == SF_OK)
            check(&recording);
        else if (error.text[0] == '\0')
            abort();
        sf_recording_clear(&recording);
    }
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
