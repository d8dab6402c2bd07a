/* SPDX-License-Identifier: Apache-2.0 */
/** A status message, or what a control socket answers to `status`, as rows of sf_tool_top. It comes from
 * outside: what is missing in it is not known, and what is no status is refused. */
#ifndef SF_RUN_TOP_H
#define SF_RUN_TOP_H

#include "run/tool.h"

/** JSON or MessagePack. `busy` is since the start. SF_AGAIN where a run has no status yet; SF_UNAVAILABLE
 * with what a run answers that refuses; SF_DATA. */
int sf_top_read(sf_tool_top *top, const char *bytes, size_t length, sf_error *error);

/** Makes `busy` of `now` that since `before`, which is of the same run; `now` keeps its own sums apart. */
void sf_top_since(sf_tool_top *now, const sf_tool_top *before);

#endif
