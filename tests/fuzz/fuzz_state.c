/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `aggregate --save` with other contents: a state that answers, or a refusal. */
#include "core/memory.h"
#include "fuzz/hdf_image.h"
#include "fuzz/hdf_parcel.h"
#include "io/state_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const images[] = {"state/line.h5", "state/plane.h5", NULL};
static const char *const objects[] = {"/axes", "/phi", NULL};
static const char *const attributes[] = {"synfire", "layout", "quantity", "name",       "unit", "domain",
                                         "method",  "n",      "h",        "covariance", NULL};

static int take(void *to, sf_parcel *parcel, sf_error *error)
{
    return sf_state_take(to, parcel, "fuzz", error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    hid_t file = fuzz_make_file(&layout, data, size);
    sf_state state;
    sf_error error = {0};
    if (fuzz_hand_over(file, sf_state_put, take, &state, &error) == SF_OK) {
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
    if (sf_memory_live() != 0) abort();
    return 0;
}
