/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds every file of a corpus folder to a fuzz target, and each file's beginnings too: no engine needed. The
 * targets are in one program; there, each has its own name in place of LLVMFuzzerTestOneInput. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzz_target(const uint8_t *data, size_t size);

#define TARGET(name) fuzz_target name;
#include TARGETS_LIST
#undef TARGET

static fuzz_target *find(const char *called)
{
#define TARGET(name)                                                                                         \
    if (strcmp(called, #name) == 0) return name;
#include TARGETS_LIST
#undef TARGET
    return NULL;
}

static int replay_file(fuzz_target *target, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    size_t step = size / 64 + 1;
    for (size_t length = 0; length < size; length += step) {
        uint8_t *cut = malloc(length + 1); /* a block of its own, so that a read past the end is found */
        for (size_t i = 0; i < length; i++)
            cut[i] = data[i];
        target(cut, length);
        free(cut);
    }
    target(data, size);
    return 1;
}

int main(int count, char **arguments)
{
    fuzz_target *target = count > 2 ? find(arguments[1]) : NULL;
    DIR *folder = target != NULL ? opendir(arguments[2]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "replay TARGET FOLDER: no such target, or no such folder of inputs\n");
        return 1;
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", arguments[2], entry->d_name);
        if (entry->d_name[0] != '.') files += replay_file(target, path);
    }
    closedir(folder);
    printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
