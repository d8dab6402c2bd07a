/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a person is shown is UTF-8 without a character that is hidden, and showing it again changes
 * nothing. */
#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, bool lines)
{
    for (size_t length; *text != '\0'; text += length) {
        length = sf_utf8_length(text);
        if (length == 0 || (sf_utf8_is_hidden(sf_utf8_code(text, length)) && !(lines && *text == '\n')))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int lines = 0; lines < 2; lines++) {
        sf_text text = {0}, again = {0}, quoted = {0};
        sf_text_append(&text, (const char *)data, size);
        sf_text_make_visible(&text, lines != 0);
        check(text.data, lines != 0);
        if (strlen(text.data) != text.length) abort();
        sf_text_append(&again, text.data, text.length);
        sf_text_make_visible(&again, lines != 0);
        if (strcmp(text.data, again.data) != 0) abort();
        sf_text_clear(&again);
        sf_text_append(&again, (const char *)data, size);
        sf_error error;
        sf_fail(&error, SF_DATA, again.data, "%s", again.data);
        check(error.place, false);
        check(error.text, false);
        sf_json json = sf_json_start(&quoted);
        sf_json_string(&json, NULL, again.data);
        check(quoted.data, false);
        sf_text_free(&text);
        sf_text_free(&again);
        sf_text_free(&quoted);
    }
    if (sf_memory_live() != 0) abort();
    return 0;
}
