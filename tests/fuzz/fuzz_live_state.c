/* SPDX-License-Identifier: Apache-2.0 */
/* What comes to `synfire aggregate --from-state` from the control socket of a run, or whoever answers there.
 */
#include "live/live_state.h"
#include "tools/states.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_state state;
    sf_error error = {0};
    int status = sf_live_state_read(&state, (const char *)data, size, &error);
    if (status != SF_OK && error.text[0] == '\0') abort();
    if (status != SF_OK) return 0;
    sf_aggregate answer = {.size = sizeof answer};
    double from = state.synopsis.axes[0].least, to = state.synopsis.axes[0].most + 1;
    if (sf_synopsis_check(&state.synopsis, NULL) != SF_OK) abort();
    if (sf_synopsis_aggregate(&state.synopsis, 1, SF_AGGREGATE_VARIANCE, &from, &to, 1, &answer, NULL) !=
        SF_OK)
        abort();
    sf_state_free(&state);
    return 0;
}
