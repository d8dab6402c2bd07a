/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds every file of a corpus folder to a fuzz target, and each file's beginnings too: no engine needed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    size_t step = size / 64 + 1;
    for (size_t length = 0; length < size; length += step) {
        uint8_t *cut = malloc(length + 1); /* a block of its own, so that a read past the end is found */
        for (size_t i = 0; i < length; i++)
            cut[i] = data[i];
        LLVMFuzzerTestOneInput(cut, length);
        free(cut);
    }
    LLVMFuzzerTestOneInput(data, size);
    return 1;
}

int main(int argc, char **argv)
{
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "no corpus folder %s\n", argc > 1 ? argv[1] : "");
        return 1;
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (entry->d_name[0] != '.')
            files += replay_file(path);
    }
    closedir(folder);
    printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
