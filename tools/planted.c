/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says was planted, beside what was found in it. */
#include "tools/planted.h"

#include "core/recording.h"
#include "replay/truth.h"

int sf_planted_read(sf_planted *planted, const char *path, const sf_recording *units,
                    const sf_episodes_message *found, sf_error *error)
{
    *planted = (sf_planted){0};
    if (!sf_truth_in_file(path)) return SF_OK;
    sf_truth truth;
    int status = sf_truth_read(&truth, path, &units->units, error);
    if (status != SF_OK) return status;
    status = sf_planted_compare(planted, &truth, found, error);
    sf_truth_free(&truth);
    return status;
}
