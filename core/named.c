/* SPDX-License-Identifier: Apache-2.0 */
#include "core/named.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <string.h>

/* The name that shares the longest beginning with the word, ignoring case, or NULL. */
static const char *nearest_name(const sf_named *named, const char *word)
{
    const char *nearest = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < named->count; i++) {
        const char *name = named->name(named->things, i);
        size_t shared = 0;
        while (word[shared] != '\0' &&
               tolower((unsigned char)word[shared]) == tolower((unsigned char)name[shared]))
            shared++;
        if (shared > longest) {
            longest = shared;
            nearest = name;
        }
    }
    return nearest;
}

static int resolve_index(const sf_named *named, const char *digits, uint32_t *index, sf_error *error)
{
    uint64_t number;
    if (!sf_parse_uint(digits, UINT32_MAX, &number))
        return sf_fail(error, SF_USAGE, NULL, "'#%s' is not a %s index: expected # and a number, as #2",
                       digits, named->one);
    if (named->count == 0)
        return sf_fail(error, SF_USAGE, NULL, "no %s has index #%s: there are none", named->one, digits);
    if (number >= named->count)
        return sf_fail(error, SF_USAGE, NULL, "no %s has index #%s: there are %zu %s, #0 to #%zu", named->one,
                       digits, named->count, named->many, named->count - 1);
    *index = (uint32_t)number;
    return SF_OK;
}

static int refuse_name(const sf_named *named, const char *word, sf_error *error)
{
    uint64_t number;
    if (sf_parse_uint(word, UINT32_MAX, &number) && number < named->count)
        return sf_fail(error, SF_USAGE, NULL, "no %s is named '%s'; the %s with that index is written #%s",
                       named->one, word, named->one, word);
    const char *nearest = nearest_name(named, word);
    if (nearest != NULL)
        return sf_fail(error, SF_USAGE, NULL, "no %s is named '%s'; did you mean '%s'?", named->one, word,
                       nearest);
    return sf_fail(error, SF_USAGE, NULL, "no %s is named '%s'; %s lists the %zu names", named->one, word,
                   named->list, named->count);
}

/* What stands between the double quotes around a text, as a string of its own; NULL: no quotes, or no memory.
 */
static char *unquoted(const char *text)
{
    size_t length = strlen(text);
    if (length < 2 || text[0] != '"' || text[length - 1] != '"') return NULL;
    char *inside = sf_copy_string(text + 1);
    if (inside != NULL) inside[length - 2] = '\0';
    return inside;
}

int sf_named_resolve(const sf_named *named, const char *text, uint32_t *index, sf_error *error)
{
    if (text[0] == '#') return resolve_index(named, text + 1, index, error);
    if (named->name == NULL && isdigit((unsigned char)text[0]))
        return resolve_index(named, text, index, error);
    if (named->name == NULL)
        return sf_fail(error, SF_USAGE, NULL, "'%s' cannot be a name: the %s have none; write #2 for index 2",
                       text, named->many);
    *index = named->find(named->things, text);
    if (*index != SF_NO_NAMED) return SF_OK;
    char *inside = unquoted(text);
    if (inside != NULL) *index = named->find(named->things, inside);
    sf_free(inside);
    return *index != SF_NO_NAMED ? SF_OK : refuse_name(named, text, error);
}
