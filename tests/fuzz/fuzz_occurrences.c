/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `mine --occurrences` with other contents: occurrences that are those of their episodes, or a
 * refusal. */
#include "core/memory.h"
#include "fuzz/hdf_image.h"
#include "io/occurrence_file.h"
#include "io/parcel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* As the program that reads files hands them over, through a file in memory. */
static int read_set(sf_occurrence_set *set, hid_t file, sf_error *error)
{
    static sf_parcel_writer writer;
    sf_parcel parcel;
    writer = (sf_parcel_writer){.fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    int status = sf_occurrence_set_put(&writer, &(sf_hdf_input){.file = file, .path = "fuzz"}, error);
    if (writer.fd < 0 || !sf_parcel_finish(&writer, status, error))
        abort();
    fcntl(writer.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    status = sf_parcel_map(&parcel, writer.fd, "fuzz", error);
    if (status == SF_OK) {
        status = sf_occurrence_set_take(set, &parcel, "fuzz", error);
        sf_parcel_close(&parcel);
    }
    close(writer.fd);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    hid_t file = fuzz_make_file(&layout, data, size);
    sf_occurrence_set set;
    sf_error error = {0};
    if (read_set(&set, file, &error) == SF_OK)
        sf_occurrence_set_free(&set);
    else if (error.text[0] == '\0')
        abort();
    sf_hdf_close(file);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
