/* SPDX-License-Identifier: Apache-2.0 */
/* What `synfire recover` makes of a journal and a file that hold anything: a recording that adds up, or a
 * sentence. Sums are mended, which no fuzzer finds; the file is no HDF5, of which fuzz_recording has whole
 * ones. */
#include "core/memory.h"
#include "io/journal.h"
#include "io/journal_head.h"
#include "tools/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/synfire-recovery-XXXXXX";

static void require(bool holds)
{
    if (!holds) abort();
}

static void leave(void)
{
    rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char paths[2][64];
    static int next;
    next = 1 - next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    require(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static void mend(unsigned char *bytes, size_t size)
{
    sf_journal_head head;
    for (size_t at = 0; at + sizeof head <= size; at += 8) {
        memcpy(&head, bytes + at, sizeof head);
        if (head.magic != SF_JOURNAL_MAGIC || (head.table & 0x8000) != 0) continue;
        if (head.length <= size - at - sizeof head)
            head.sum = sf_crc32c(0, bytes + at + sizeof head, head.length);
        head.head_sum = sf_journal_head_sum(&head);
        memcpy(bytes + at, &head, sizeof head);
    }
}

static void recover(void)
{
    sf_recovered told;
    sf_error error = {0};
    struct stat about;
    int status = sf_recover(&told, path_of("run.h5"), path_of("out.h5"), NULL, &error);
    bool is_made = stat(path_of("out.h5"), &about) == 0;
    require(status == SF_OK || error.text[0] != '\0');
    if (status == SF_OK)
        require(is_made == (told.out != NULL) && told.damaged_bytes <= told.journal_bytes &&
                told.spikes_of_file <= told.spikes && told.recorded.start_ns <= told.recorded.stop_ns);
    else
        require(!is_made);
    sf_recovered_free(&told);
    unlink(path_of("out.h5"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_made;
    if (!is_made) {
        require(mkdtemp(folder) != NULL);
        is_made = true;
        atexit(leave);
    }
    unsigned char *bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    mend(bytes, size);
    write_file("run.h5.journal", bytes, size);
    if (size > 0 && data[size - 1] % 2 == 1) write_file("run.h5", data, size);
    recover();
    unlink(path_of("run.h5.journal"));
    unlink(path_of("run.h5"));
    free(bytes);
    require(sf_memory_live() == 0);
    return 0;
}
