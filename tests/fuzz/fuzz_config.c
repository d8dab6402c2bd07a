/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused with a sentence, or loads, prints and loads again to the same. What follows a NUL is a
 * --set of it. */
#include "live/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const sf_config *config)
{
    sf_text text = {0};
    if (sf_config_print(&text, config, NULL) != SF_OK) abort();
    return text.data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_config config, again;
    sf_error error = {0};
    const uint8_t *nul = size > 0 ? memchr(data, '\0', size) : NULL;
    size_t yaml = nul != NULL ? (size_t)(nul - data) : size;
    char *setting = nul != NULL ? strndup((const char *)nul + 1, size - yaml - 1) : NULL;
    const char *const settings[] = {setting};
    int status =
        sf_config_parse(&config, (const char *)data, yaml, "fuzz", settings, setting != NULL, &error);
    free(setting);
    if (status != SF_OK) {
        if (error.text[0] == '\0') abort();
        return 0;
    }
    char *first = print(&config);
    if (sf_config_parse(&again, first, strlen(first), "printed", NULL, 0, &error) != SF_OK) abort();
    char *second = print(&again);
    if (strcmp(first, second) != 0) abort();
    sf_text_free(&(sf_text){.data = first});
    sf_text_free(&(sf_text){.data = second});
    sf_config_free(&config);
    sf_config_free(&again);
    return 0;
}
