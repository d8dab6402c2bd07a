/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/numbering.h"

void sf_numbering_begin(sf_numbering *it, uint64_t number)
{
    *it = (sf_numbering){.expected = number + 1};
}

static sf_numbered go_on(sf_numbering *it, uint64_t number)
{
    *it = (sf_numbering){.expected = number + 1, .followed = true};
    return (sf_numbered){.read = true};
}

static void count_gap(sf_numbered *is, uint64_t lost)
{
    is->gaps += lost > 0;
    is->lost += lost;
}

/* Accepts the doubted number, because this number continues from it. */
static sf_numbered believe(sf_numbering *it, uint64_t number)
{
    uint64_t place = it->expected - 1; /* that the doubted frame took */
    uint64_t skipped = it->doubted > place ? it->doubted - place : 0;
    if (!it->followed && skipped > SF_NUMBERING_GAP) skipped = 0;
    uint64_t between = number - it->doubted - 1;
    sf_numbered is = go_on(it, number);
    count_gap(&is, skipped);
    count_gap(&is, between);
    return is;
}

static sf_numbered repeat(sf_numbering *it, uint64_t number)
{
    bool in_a_row = it->repeats > 0 && number == it->doubted + 1;
    it->repeats = in_a_row ? it->repeats + 1 : 1;
    it->doubted = number;
    it->doubting = false;
    if (it->repeats <= SF_NUMBERING_REPEATS) return (sf_numbered){.broken = true};
    sf_numbered is = go_on(it, number);
    is.anew = true;
    return is;
}

sf_numbered sf_numbering_follow(sf_numbering *it, uint64_t number, bool last)
{
    bool was_doubting = it->doubting;
    bool goes_on = was_doubting && number > it->doubted && number - it->doubted <= SF_NUMBERING_GAP;
    sf_numbered is = {.read = true};
    if (number == it->expected) {
        is = go_on(it, number);
        is.broken = was_doubting;
    } else if (goes_on) {
        is = believe(it, number);
    } else if (number < it->expected && it->followed) {
        is = repeat(it, number);
    } else if (last && number > it->expected && number - it->expected <= SF_NUMBERING_GAP) {
        uint64_t lost = number - it->expected;
        is = go_on(it, number);
        is.broken = was_doubting;
        count_gap(&is, lost);
    } else {
        is.broken = was_doubting;
        it->repeats = 0;
        it->doubted = number;
        it->doubting = true;
        it->expected++;
    }
    return is;
}
