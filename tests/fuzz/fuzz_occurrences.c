/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `mine --occurrences` with other contents: occurrences that are those of their episodes, or a
 * refusal. */
#include "core/memory.h"
#include "fuzz/hdf_image.h"
#include "fuzz/hdf_parcel.h"
#include "io/occurrence_file.h"

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

static int take(void *to, sf_parcel *parcel, sf_error *error)
{
    return sf_occurrence_set_take(to, parcel, "fuzz", error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    hid_t file = fuzz_make_file(&layout, data, size);
    sf_occurrence_set set;
    sf_error error = {0};
    if (fuzz_hand_over(file, sf_occurrence_set_put, take, &set, &error) == SF_OK)
        sf_occurrence_set_free(&set);
    else if (error.text[0] == '\0')
        abort();
    sf_hdf_close(file);
    if (sf_memory_live() != 0) abort();
    return 0;
}
