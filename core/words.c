/* SPDX-License-Identifier: Apache-2.0 */
#include "core/words.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* FNV-1a, folded so that the low bits depend on all. */
static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

/* The slot of a text, or the free one where it belongs. */
static size_t find_slot(const sf_words *words, const char *text)
{
    size_t slot = hash(text) & (words->slot_count - 1);
    while (words->slots[slot] != 0 && strcmp(words->items[words->slots[slot] - 1], text) != 0)
        slot = (slot + 1) & (words->slot_count - 1);
    return slot;
}

/* Keeps at least half of the slots free. */
static int grow_slots(sf_words *words)
{
    if (words->slot_count > 2 * words->count) return 0;
    size_t slot_count = words->slot_count == 0 ? 16 : 2 * words->slot_count;
    uint32_t *slots = sf_alloc(slot_count, sizeof *slots);
    if (slots == NULL) return -1;
    sf_free(words->slots);
    words->slots = slots;
    words->slot_count = slot_count;
    for (size_t i = 0; i < words->count; i++)
        slots[find_slot(words, words->items[i])] = (uint32_t)i + 1;
    return 0;
}

uint32_t sf_words_find(const sf_words *words, const char *text)
{
    uint32_t found = words->slot_count > 0 ? words->slots[find_slot(words, text)] : 0;
    return found != 0 ? found - 1 : SF_NO_WORD;
}

int sf_words_add(sf_words *words, const char *text, uint32_t *number, sf_error *error)
{
    *number = sf_words_find(words, text);
    if (*number != SF_NO_WORD) return SF_OK;
    if (words->count == SF_NO_WORD - 1)
        return sf_fail(error, SF_DATA, NULL, "more than %u different texts", SF_NO_WORD - 1);
    void *items = words->items;
    if (grow_slots(words) != 0 ||
        sf_reserve(&items, &words->capacity, words->count + 1, sizeof *words->items) != 0)
        return sf_fail_memory(error);
    words->items = items;
    words->items[words->count] = sf_copy_string(text);
    if (words->items[words->count] == NULL) return sf_fail_memory(error);
    words->slots[find_slot(words, text)] = (uint32_t)words->count + 1;
    *number = (uint32_t)words->count++;
    return SF_OK;
}

void sf_words_free(sf_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        sf_free(words->items[i]);
    sf_free(words->items);
    sf_free(words->slots);
    *words = (sf_words){0};
}
