/* SPDX-License-Identifier: Apache-2.0 */
/** Files of spikes of Blackrock's systems in tests, written byte by byte. */
#ifndef SF_TESTS_BLACKROCK_H
#define SF_TESTS_BLACKROCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEST_NEV_ROOM 65536

typedef struct test_nev {
    unsigned char bytes[TEST_NEV_ROOM];
    size_t size, time_bytes, packet_bytes;
    uint32_t headers;
} test_nev;

/** A header alone; headers and then packets are appended. */
void test_nev_begin(test_nev *nev, int version, int minor, uint32_t resolution, size_t packet_bytes);

/** A header of 32 bytes: its name, a number and what follows, a text or NULL. */
void test_nev_header(test_nev *nev, const char *name, int number, const char *text);
/** The same without a number. */
void test_nev_text(test_nev *nev, const char *name, const char *text);

/** A packet of any kind with the first bytes of what it has. */
void test_nev_packet(test_nev *nev, uint64_t time, int id, const void *of, size_t size);
void test_nev_spike(test_nev *nev, uint64_t time, int electrode, int unit_class);
void test_nev_digital(test_nev *nev, uint64_t time, int reason, int value);
void test_nev_comment(test_nev *nev, uint64_t time, int charset, const void *text, size_t size);

/** Numbers of the header: 12 bytes of all headers, 16 bytes of a packet, 332 number of headers. */
void test_nev_change(test_nev *nev, size_t at, uint32_t value);

void test_nev_put(const test_nev *nev, const char *folder, const char *name);

/** rec.nev of version 2.3: electrodes 1 ("a"), 2 ("b", classes 1 and 255) and 3 ("c", silent) at 30 kHz, with
 * the six spikes of support/systems.h, a digital input, a serial one and a comment. */
void test_fill_blackrock(const char *folder);

/** Voltages beside it: `kind` NEURALSG, NEURALCD or BRSMPGRP, of 2 channels at 30 kHz, each stretch a time
 * and a number of points. Returns the number of bytes. */
size_t test_voltages(unsigned char *to, const char *kind, const uint64_t (*stretches)[2], size_t count);

#endif
