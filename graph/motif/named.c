/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns by name, and as they are. */
#include "graph/motif/motif.h"

#include "core/error.h"

#include <string.h>

enum { LEAST = 2, MOST = 16 };

static char letter(uint64_t vertex)
{
    return (char)('A' + vertex);
}

static void print_chain(sf_text *text, uint64_t count)
{
    for (uint64_t i = 0; i + 1 < count; i++)
        sf_text_printf(text, "%c -> %c; ", letter(i), letter(i + 1));
}

/* A is the middle; the others are all alike. */
static void print_star(sf_text *text, uint64_t count, bool out)
{
    for (uint64_t i = 1; i <= count; i++)
        sf_text_printf(text, "%c -> %c; ", letter(out ? 0 : i), letter(out ? i : 0));
    for (uint64_t i = 1; i < count; i++)
        sf_text_printf(text, "%c === %c; ", letter(i), letter(i + 1));
}

/* The number after `prefix`, or 0 where the name is another. */
static uint64_t number_after(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    uint64_t number;
    if (strncmp(name, prefix, length) != 0 || !sf_parse_uint(name + length, MOST, &number) || number < LEAST)
        return 0;
    return number;
}

bool sf_motif_named(sf_text *text, const char *name)
{
    uint64_t count;
    if (strcmp(name, "feed-forward-loop") == 0)
        sf_text_printf(text, "A -> B; B -> C; A -> C");
    else if (strcmp(name, "reciprocal-pair") == 0)
        sf_text_printf(text, "A -> B; B -> A; A === B");
    else if ((count = number_after(name, "chain-")) > 0)
        print_chain(text, count);
    else if ((count = number_after(name, "diverging-")) > 0)
        print_star(text, count, true);
    else if ((count = number_after(name, "converging-")) > 0)
        print_star(text, count, false);
    else
        return false;
    return true;
}

/* Every pattern in the language says something of this kind, or is a triad, which begins with a digit. */
static bool is_sentence(const char *given)
{
    return strpbrk(given, "<>=(") != NULL || strspn(given, " \t\n#;") == strlen(given) ||
           (given[0] >= '0' && given[0] <= '9');
}

static int fail_unknown(const char *given, sf_error *error)
{
    return sf_fail(error, SF_USAGE, given,
                   "is no pattern: expected feed-forward-loop, reciprocal-pair, chain-N, diverging-N or "
                   "converging-N (N from %d to %d), a triad such as 030T, a file, or the motif language",
                   LEAST, MOST);
}

int sf_motif_of_text(sf_pattern *pattern, const char *given, sf_error *error)
{
    *pattern = (sf_pattern){0};
    sf_text named = {0};
    if (!sf_motif_named(&named, given))
        return is_sentence(given) ? sf_motif_parse(pattern, "pattern", given, strlen(given), error)
                                  : fail_unknown(given, error);
    int status = named.failed ? sf_fail_memory(error)
                              : sf_motif_parse(pattern, given, named.data, named.length, error);
    sf_text_free(&named);
    return status;
}
