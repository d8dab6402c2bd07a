/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/outline.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

enum { ALIGNMENT = 64 };

static void add_rows(sf_joint *joint, const uint64_t *rows)
{
    bool is_known = rows == NULL;
    for (uint32_t i = 0; i < joint->count; i++)
        is_known = is_known || joint->rows[i] == rows;
    if (!is_known) joint->rows[joint->count++] = rows;
}

static void find_joint(sf_outline *o, const sf_rows *rows, uint32_t a, uint32_t b)
{
    sf_joint *joint = &o->joints[a][b];
    joint->count = 0;
    joint->apart = (o->term->apart[a] >> b & 1) != 0;
    for (uint64_t ws = o->term->members[a]; ws != 0; ws &= ws - 1)
        for (uint64_t us = o->term->members[b]; us != 0; us &= us - 1)
            add_rows(joint, rows->between[sf_lowest(ws)][sf_lowest(us)]);
}

uint64_t *sf_outline_room(void **memory, size_t words)
{
    *memory = sf_resize(NULL, words * sizeof(uint64_t) + ALIGNMENT, 1);
    uintptr_t begin = ((uintptr_t)*memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return *memory != NULL ? (uint64_t *)begin : NULL;
}

/* What is a candidate of every member. */
static void find_start(uint64_t *start, uint32_t words, const sf_rows *rows, uint64_t members)
{
    memset(start, 0xff, words * sizeof *start);
    for (; members != 0; members &= members - 1)
        for (uint32_t i = 0; i < words; i++)
            start[i] &= rows->starts[sf_lowest(members)][i];
}

int sf_outline_open(sf_outline *o, const sf_summand *t, const sf_rows *rows)
{
    size_t words = 0;
    o->term = t;
    for (uint32_t b = 0; b < t->count; b++) {
        uint32_t first = sf_lowest(t->members[b]);
        o->places[b] = rows->counts[rows->list_of[first]];
        words += o->words[b] = sf_rows_words(rows, first);
        for (uint32_t a = 0; a < t->count; a++)
            find_joint(o, rows, a, b);
    }
    uint64_t *room = sf_outline_room(&o->memory, words);
    if (room == NULL) return SF_NO_MEMORY;
    for (uint32_t b = 0; b < t->count; room += o->words[b++]) {
        o->starts[b] = room;
        find_start(room, o->words[b], rows, t->members[b]);
    }
    return SF_OK;
}

void sf_outline_close(sf_outline *o)
{
    sf_free(o->memory);
    o->memory = NULL;
}
