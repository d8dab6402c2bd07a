/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory.h"
#include "io/samples_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = sf_resize(NULL, size + 1, 1);
    if (text == NULL) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    sf_samples samples;
    if (sf_samples_parse(&samples, "input", text, size, NULL) == SF_OK)
        for (size_t i = 0; i < samples.n * samples.d; i++)
            if (!isfinite(samples.values[i])) abort();
    sf_samples_free(&samples);
    sf_free(text);
    return 0;
}
