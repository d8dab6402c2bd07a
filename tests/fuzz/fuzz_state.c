/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `aggregate --save` with other contents: a state that answers, or a refusal. */
#include "core/memory.h"
#include "fuzz/hdf_image.h"
#include "io/parcel.h"
#include "io/state_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const images[] = {"state/line.h5", "state/plane.h5", NULL};
static const char *const objects[] = {"/axes", "/phi", NULL};
static const char *const attributes[] = {"synfire", "layout", "quantity", "name",       "unit", "domain",
                                         "method",  "n",      "h",        "covariance", NULL};

/* As the program that reads files hands them over, through a file in memory. */
static int read_state(sf_state *state, hid_t file, sf_error *error)
{
    static sf_parcel_writer writer;
    sf_parcel parcel;
    writer = (sf_parcel_writer){.fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    int status = sf_state_put(&writer, &(sf_hdf_input){.file = file, .path = "fuzz"}, error);
    if (writer.fd < 0 || !sf_parcel_finish(&writer, status, error))
        abort();
    fcntl(writer.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    status = sf_parcel_map(&parcel, writer.fd, "fuzz", error);
    if (status == SF_OK) {
        status = sf_state_take(state, &parcel, "fuzz", error);
        sf_parcel_close(&parcel);
    }
    close(writer.fd);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    hid_t file = fuzz_make_file(&layout, data, size);
    sf_state state;
    sf_error error = {0};
    if (read_state(&state, file, &error) == SF_OK) {
        double from[2] = {state.synopsis.axes[0].mean, state.synopsis.axes[1].mean};
        double to[2] = {state.synopsis.axes[0].most + 1, state.synopsis.axes[1].most + 1};
        sf_aggregate answer = {.size = sizeof answer};
        sf_synopsis_aggregate(&state.synopsis, 1, SF_AGGREGATE_VARIANCE, from, to, state.synopsis.d, &answer,
                              &error);
        if (sf_synopsis_fits(&state.synopsis, &state.synopsis))
            sf_synopsis_add(&state.synopsis, &state.synopsis, &error);
        sf_state_free(&state);
    } else if (error.text[0] == '\0') {
        abort();
    }
    sf_hdf_close(file);
    if (sf_memory_live() != 0)
        abort();
    return 0;
}
