/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are read as the description of an algorithm and judged, or refused with a sentence and its place.
 */
#include "core/memory.h"
#include "plan/analysis.h"
#include "tools/plan_file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const sf_plan_algorithm *algorithm)
{
    sf_plan_analysis analysis;
    sf_text form = {0};
    if (sf_plan_analyse(&analysis, algorithm, NULL) != SF_OK) abort();
    sf_plan_write_form(&form, algorithm, &analysis);
    if (form.failed) abort();
    sf_text_free(&form);
    sf_plan_analysis_free(&analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_plan_algorithm algorithm;
    sf_error error = {0};
    if (sf_plan_parse(&algorithm, (const char *)data, size, "fuzz", &error) == SF_OK) {
        judge(&algorithm);
        sf_plan_algorithm_free(&algorithm);
    } else if (error.text[0] == '\0' || error.place[0] == '\0') {
        abort();
    }
    if (sf_memory_live() != 0) abort();
    return 0;
}
