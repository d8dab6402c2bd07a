/* SPDX-License-Identifier: Apache-2.0 */
/** The file that `synfire rules --rule` writes, as a live run takes it. */
#ifndef SF_LIVE_RULE_FILE_H
#define SF_LIVE_RULE_FILE_H

#include <synfire/live.h>

/** Reads `count` files. *failed is the index of the one that failed. Free with sf_rule_files_free whatever is
 * returned. SF_DATA for an invalid rule; SF_NO_INPUT, SF_NO_MEMORY. */
int sf_rule_files_read(sf_live_rule **rules, const char *const *paths, uint32_t count, uint32_t *failed,
                       sf_error *error);
void sf_rule_files_free(sf_live_rule *rules, uint32_t count);

#endif
