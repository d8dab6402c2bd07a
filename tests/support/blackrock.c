/* SPDX-License-Identifier: Apache-2.0 */
#include "support/blackrock.h"

#include "support/folders.h"

#include <stdlib.h>
#include <string.h>

static void put_number(unsigned char *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static unsigned char *append(test_nev *nev, size_t size)
{
    if (size > TEST_NEV_ROOM - nev->size) abort();
    unsigned char *at = nev->bytes + nev->size;
    nev->size += size;
    return at;
}

/* Without the end of the text: the room is zeroed. */
static void put_letters(unsigned char *at, const char *text)
{
    while (*text != '\0')
        *at++ = (unsigned char)*text++;
}

void test_nev_change(test_nev *nev, size_t at, uint32_t value)
{
    put_number(nev->bytes + at, value, 4);
}

void test_nev_begin(test_nev *nev, int version, int minor, uint32_t resolution, size_t packet_bytes)
{
    static const uint16_t date[] = {2021, 3, 2, 9, 14, 5, 6, 789};
    memset(nev, 0, sizeof *nev);
    nev->time_bytes = version >= 3 ? 8 : 4;
    nev->packet_bytes = packet_bytes;
    unsigned char *at = append(nev, 336);
    put_letters(at, version >= 3 ? "BREVENTS" : "NEURALEV");
    at[8] = (unsigned char)version;
    at[9] = (unsigned char)minor;
    test_nev_change(nev, 12, 336);
    test_nev_change(nev, 16, (uint32_t)packet_bytes);
    test_nev_change(nev, 20, resolution);
    test_nev_change(nev, 24, 30000);
    for (size_t i = 0; i < 8; i++)
        put_number(at + 28 + 2 * i, date[i], 2);
    put_letters(at + 44, "Central");
}

void test_nev_header(test_nev *nev, const char *name, int number, const char *text)
{
    unsigned char *at = append(nev, 32);
    put_letters(at, name);
    put_number(at + 8, (uint64_t)number, 2);
    if (text != NULL) put_letters(at + 10, text);
    test_nev_change(nev, 332, ++nev->headers);
    test_nev_change(nev, 12, 336 + 32 * nev->headers);
}

void test_nev_text(test_nev *nev, const char *name, const char *text)
{
    test_nev_header(nev, name, 0, NULL);
    memcpy(nev->bytes + nev->size - 24, text, strlen(text));
}

void test_nev_packet(test_nev *nev, uint64_t time, int id, const void *of, size_t size)
{
    unsigned char *at = append(nev, nev->packet_bytes);
    put_number(at, time, nev->time_bytes);
    put_number(at + nev->time_bytes, (uint64_t)id, 2);
    memcpy(at + nev->time_bytes + 2, of, size);
}

void test_nev_spike(test_nev *nev, uint64_t time, int electrode, int unit_class)
{
    const unsigned char of[] = {(unsigned char)unit_class, 0, 0xff, 0xff};
    test_nev_packet(nev, time, electrode, of, sizeof of);
}

void test_nev_digital(test_nev *nev, uint64_t time, int reason, int value)
{
    unsigned char of[4] = {(unsigned char)reason, 0, 0, 0};
    put_number(of + 2, (uint64_t)value, 2);
    test_nev_packet(nev, time, 0, of, sizeof of);
}

void test_nev_comment(test_nev *nev, uint64_t time, int charset, const void *text, size_t size)
{
    unsigned char of[256] = {(unsigned char)charset};
    memcpy(of + 6, text, size);
    test_nev_packet(nev, time, 0xffff, of, 6 + size);
}

void test_nev_put(const test_nev *nev, const char *folder, const char *name)
{
    test_folder_put(folder, name, nev->bytes, nev->size);
}

void test_fill_blackrock(const char *folder)
{
    test_nev nev;
    test_nev_begin(&nev, 2, 3, 30000, 32);
    test_nev_header(&nev, "NEUEVWAV", 3, NULL);
    test_nev_header(&nev, "NEUEVWAV", 1, NULL);
    test_nev_header(&nev, "NEUEVWAV", 2, NULL);
    test_nev_header(&nev, "NEUEVLBL", 1, "a");
    test_nev_header(&nev, "NEUEVLBL", 2, "b");
    test_nev_header(&nev, "NEUEVLBL", 3, "c");
    test_nev_spike(&nev, 3000, 2, 255);
    test_nev_spike(&nev, 15000, 1, 0);
    test_nev_spike(&nev, 15000, 2, 1);
    test_nev_digital(&nev, 16000, 1, 513);
    test_nev_spike(&nev, 37500, 1, 0);
    test_nev_digital(&nev, 38000, 129, 7);
    test_nev_comment(&nev, 45000, 0, "drug", 4);
    test_nev_spike(&nev, 60000, 2, 1);
    test_nev_spike(&nev, 90000, 1, 0);
    test_nev_put(&nev, folder, "rec.nev");
}

size_t test_voltages(unsigned char *to, const char *kind, const uint64_t (*stretches)[2], size_t count)
{
    bool is_old = strcmp(kind, "NEURALSG") == 0, is_3 = strcmp(kind, "BRSMPGRP") == 0;
    size_t size = is_old ? 32 + 8 : 314 + 2 * 66;
    memset(to, 0, size);
    memcpy(to, kind, 8);
    put_number(to + (is_old ? 24 : 286), 1, 4);
    put_number(to + (is_old ? 28 : 310), 2, 4);
    if (!is_old) {
        put_number(to + 10, size, 4);
        put_number(to + 290, 30000, 4);
    }
    for (size_t i = 0; i < count; i++) {
        size_t head = is_old ? 0 : is_3 ? 13 : 9, bytes = (size_t)stretches[i][1] * 4;
        memset(to + size, 0, head + bytes);
        if (head > 0) {
            to[size] = 1;
            put_number(to + size + 1, stretches[i][0], head - 5);
            put_number(to + size + head - 4, stretches[i][1], 4);
        }
        size += head + bytes;
    }
    return size;
}
