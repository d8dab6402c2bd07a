/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of arrays: one file of a good folder is replaced by any bytes, which the first byte chooses; a
 * recording in order, or a refusal. */
#include "fuzz/recording_input.h"
#include "support/folders.h"

#include <stdio.h>
#include <stdlib.h>

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
        if (folders[i] != NULL) test_folder_remove(folders[i]);
        free(folders[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading ways[] = {{0}, {.stream = "segment0"}, {.stream = "probe"}};
    static bool begun;
    if (!begun) atexit(remove_folders);
    begun = true;
    if (size == 0) return 0;
    int kind = data[0] % KINDS;
    if (folders[kind] == NULL) {
        folders[kind] = test_folder_new();
        kinds[kind].fill(folders[kind]);
    }
    char path[4096];
    test_folder_put(folders[kind], kinds[kind].file, data + 1, size - 1);
    snprintf(path, sizeof path, "%s/%s", folders[kind], kinds[kind].file);
    read_each_way(kinds[kind].is_whole ? path : folders[kind], ways, sizeof ways / sizeof ways[0], read_any);
    return 0;
}
