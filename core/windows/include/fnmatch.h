/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SF_WINDOWS_FNMATCH_H
#define SF_WINDOWS_FNMATCH_H

/** 0 where the name is of the pattern: *, ?, [a-z], [!a-z] and backslashes before what stands for itself. No
 * flag is known. */
int fnmatch(const char *pattern, const char *name, int flags);

#endif
