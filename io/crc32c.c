/* SPDX-License-Identifier: Apache-2.0 */
#include "io/crc32c.h"

#include <pthread.h>
#include <string.h>

/* What a byte becomes that k more bytes follow: eight bytes are then taken at a time. */
static uint32_t steps[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_steps(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0x82f63b78) : 0);
        steps[0][byte] = sum;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t byte = 0; byte < 256; byte++)
            steps[k][byte] = steps[k - 1][byte] >> 8 ^ steps[0][steps[k - 1][byte] & 0xff];
}

uint32_t sf_crc32c_portable(uint32_t sum, const void *data, size_t size)
{
    pthread_once(&once, make_steps);
    const unsigned char *at = data;
    sum = ~sum;
    for (; size >= 8; size -= 8, at += 8) {
        uint32_t low = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        low ^= sum;
        sum = steps[7][low & 0xff] ^ steps[6][low >> 8 & 0xff] ^ steps[5][low >> 16 & 0xff] ^
              steps[4][low >> 24] ^ steps[3][at[4]] ^ steps[2][at[5]] ^ steps[1][at[6]] ^ steps[0][at[7]];
    }
    for (; size > 0; size--, at++)
        sum = sum >> 8 ^ steps[0][(sum ^ *at) & 0xff];
    return ~sum;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t sum, const void *data, size_t size)
{
    const unsigned char *at = data;
    uint64_t wide = ~sum;
    for (uint64_t eight; size >= 8; size -= 8, at += 8) {
        memcpy(&eight, at, sizeof eight);
        wide = __builtin_ia32_crc32di(wide, eight);
    }
    uint32_t narrow = (uint32_t)wide;
    for (; size > 0; size--, at++)
        narrow = __builtin_ia32_crc32qi(narrow, *at);
    return ~narrow;
}

uint32_t sf_crc32c(uint32_t sum, const void *data, size_t size)
{
    return __builtin_cpu_supports("sse4.2") ? by_instruction(sum, data, size)
                                            : sf_crc32c_portable(sum, data, size);
}
#else
uint32_t sf_crc32c(uint32_t sum, const void *data, size_t size)
{
    return sf_crc32c_portable(sum, data, size);
}
#endif
