/* SPDX-License-Identifier: Apache-2.0 */
/** Things that people call by a name or by `#` and an index: units of a recording, vertices of a graph. */
#ifndef SF_CORE_NAMED_H
#define SF_CORE_NAMED_H

#include <synfire/error.h>

/** What is called; its functions get `things`. */
typedef struct sf_named {
    const char *one, *many; /**< "unit", "units" */
    const void *things;
    size_t count;
    const char *(*name)(const void *things, size_t i);      /**< NULL: things without names */
    uint32_t (*find)(const void *things, const char *name); /**< SF_NO_NAMED where none has it */
    const char *list; /**< what lists the names, for messages, or NULL */
} sf_named;

#define SF_NO_NAMED UINT32_MAX

/**
 * Reads one as people write it: a bare word is a name (in double quotes always, as "#2" that is one), `#2` is
 * index 2. Where none has the name, the message offers the index (if the word is a number) or the nearest
 * name. Of things without names a number is the index, too. Fails with SF_USAGE.
 */
int sf_named_resolve(const sf_named *named, const char *text, uint32_t *index, sf_error *error);

#endif
