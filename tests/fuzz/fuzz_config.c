/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused with a sentence, or loads, prints and loads again to the same. */
#include "core/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const sf_config *config)
{
    sf_text text = {0};
    if (sf_config_print(&text, config, NULL) != SF_OK)
        abort();
    return text.data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_config config, again;
    sf_error error = {0};
    if (sf_config_parse(&config, (const char *)data, size, "fuzz", NULL, 0, &error) != SF_OK) {
        if (error.text[0] == '\0')
            abort();
        return 0;
    }
    char *first = print(&config);
    if (sf_config_parse(&again, first, strlen(first), "printed", NULL, 0, &error) != SF_OK)
        abort();
    char *second = print(&again);
    if (strcmp(first, second) != 0)
        abort();
    sf_text_free(&(sf_text){.data = first});
    sf_text_free(&(sf_text){.data = second});
    sf_config_free(&config);
    sf_config_free(&again);
    return 0;
}
