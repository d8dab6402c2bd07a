/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Blackrock's systems. The first byte chooses what the others are: a file of spikes, or voltages or
 * a map that lie beside a good one; a recording in order, or a refusal. */
#include "fuzz/recording_input.h"
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
        if (folders[i] != NULL) test_folder_remove(folders[i]);
        free(folders[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading ways[] = {{0}, {.stream = "session2"}, {.stream = "joined"}};
    static bool begun;
    if (!begun) atexit(remove_folders);
    begun = true;
    if (size == 0) return 0;
    int which = data[0] % FILES;
    if (folders[which] == NULL) {
        folders[which] = test_folder_new();
        test_fill_blackrock(folders[which]);
    }
    char path[4096];
    test_folder_put(folders[which], files[which], data + 1, size - 1);
    snprintf(path, sizeof path, "%s/rec.nev", folders[which]);
    read_each_way(path, ways, sizeof ways / sizeof ways[0], read_any);
    return 0;
}
