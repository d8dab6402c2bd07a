/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `mine --occurrences` with other contents: occurrences that are those of their episodes, or a
 * refusal. */
#include "core/memory.h"
#include "core/occurrence_file.h"
#include "fuzz/hdf_image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const images[] = {"occurrences/chain.h5", NULL};
static const char *const objects[] = {"/units",
                                      "/units/name",
                                      "/episodes",
                                      "/episodes/text",
                                      "/episodes/count",
                                      "/episodes/expected",
                                      "/occurrences",
                                      "/occurrences/times_ns",
                                      "/occurrences/episode",
                                      NULL};
static const char *const attributes[] = {"synfire", "recording", "layout", "program", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    hid_t file = fuzz_make_file(&layout, data, size);
    sf_occurrence_set set;
    sf_error error = {0};
    if (sf_occurrence_set_read(&set, file, "fuzz", &error) == SF_OK)
        sf_occurrence_set_free(&set);
    else if (error.text[0] == '\0')
        abort();
    sf_hdf_close(file);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
