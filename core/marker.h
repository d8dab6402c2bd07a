/* SPDX-License-Identifier: Apache-2.0 */
/** How people call markers: a text by itself, a rising edge of line 3 ttl3. */
#ifndef SF_CORE_MARKER_H
#define SF_CORE_MARKER_H

#include <synfire/recording.h>

#include <stdbool.h>

/** Whether a marker is called so. */
bool sf_marker_is(const sf_marker *marker, const char *name);

typedef struct sf_marker_name {
    char name[SF_MARKER_TEXT_SIZE];
    size_t count; /**< of markers called so */
} sf_marker_name;

/** What markers are called, in the order in which names first come, the first `room` of them; the number of
 * names. */
size_t sf_marker_names(sf_marker_name *names, size_t room, const sf_marker *markers, size_t count);

/** What most of these are called, of names that come alike often the one that comes first. SF_DATA: no name
 * comes twice. */
int sf_marker_commonest(char name[SF_MARKER_TEXT_SIZE], const sf_marker *markers, size_t count,
                        sf_error *error);

/** SF_DATA: none of these is called so; the sentence says what the first of them are called. */
int sf_marker_fail_unknown(const sf_marker *markers, size_t count, const char *name, sf_error *error);

#endif
