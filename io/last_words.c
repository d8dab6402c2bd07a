/* SPDX-License-Identifier: Apache-2.0 */
#include "io/last_words.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 64

struct sf_last_words {
    atomic_bool claimed, owed;
    int file;
    size_t length;
    char bytes[SF_LAST_WORDS_BYTES];
};

static sf_last_words slots[SLOTS]; /* of the whole program, as signals are */

sf_last_words *sf_last_words_claim(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (!atomic_exchange(&slots[i].claimed, true)) return &slots[i];
    return NULL;
}

void sf_last_words_release(sf_last_words *slot)
{
    if (slot == NULL) return;
    sf_last_words_clear(slot);
    atomic_store(&slot->claimed, false);
}

void sf_last_words_owe(sf_last_words *slot, int file, const char *bytes, size_t length)
{
    if (slot == NULL || length > sizeof slot->bytes) return;
    slot->file = file;
    slot->length = length;
    memcpy(slot->bytes, bytes, length);
    atomic_store(&slot->owed, true);
}

void sf_last_words_clear(sf_last_words *slot)
{
    if (slot != NULL) atomic_store(&slot->owed, false);
}

void sf_last_words_say(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (atomic_exchange(&slots[i].owed, false) &&
            write(slots[i].file, slots[i].bytes, (unsigned)slots[i].length) < 0)
            continue; /* the output line is gone, and nothing can report it */
}
