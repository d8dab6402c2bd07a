/* SPDX-License-Identifier: Apache-2.0 */
/* Any file is refused with a sentence, or is a rule with a label for each interval. */
#include "fuzz/file_input.h"
#include "live/rule_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    file_input input = open_input(data, size);
    sf_live_rule *rules;
    sf_error error = {0};
    uint32_t failed;
    const char *path = input.path;
    int status = sf_rule_files_read(&rules, &path, 1, &failed, &error);
    if (status != SF_OK && error.text[0] == '\0') abort();
    if (status == SF_OK && (rules->label_count == 0 || rules->episode == NULL || !(rules->window_s > 0)))
        abort();
    sf_rule_files_free(rules, 1);
    close_input(&input);
    return 0;
}
