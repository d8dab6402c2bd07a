/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "io/crc32c.h"

/* RFC 3720, appendix B.4, and the check value of the catalogues. */
static void known_sums(void **state)
{
    (void)state;
    unsigned char block[32] = {0};
    assert_int_equal(sf_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(sf_crc32c(0, block, 32), 0x8a9136aa);
    memset(block, 0xff, sizeof block);
    assert_int_equal(sf_crc32c(0, block, 32), 0x62a8ab43);
    for (unsigned i = 0; i < 32; i++)
        block[i] = (unsigned char)i;
    assert_int_equal(sf_crc32c(0, block, 32), 0x46dd794e);
    assert_int_equal(sf_crc32c(0, NULL, 0), 0);
}

static uint32_t bit_by_bit(const unsigned char *data, size_t size)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < size * 8; i++) {
        uint32_t bit = (sum ^ (uint32_t)data[i / 8] >> i % 8) & 1;
        sum = sum >> 1 ^ (bit ? UINT32_C(0x82f63b78) : 0);
    }
    return ~sum;
}

static void the_same_however_it_is_computed(void **state)
{
    (void)state;
    test_random random = test_random_start("crc32c", 3);
    unsigned char data[300];
    for (int round = 0; round < 300; round++) {
        size_t size = (size_t)test_random_below(&random, 280), from = (size_t)test_random_below(&random, 16);
        size_t cut = (size_t)test_random_below(&random, size + 1);
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (unsigned char)test_random_bits(&random);
        uint32_t expected = bit_by_bit(data + from, size);
        assert_int_equal(sf_crc32c(0, data + from, size), expected);
        assert_int_equal(sf_crc32c_portable(0, data + from, size), expected);
        assert_int_equal(sf_crc32c(sf_crc32c(0, data + from, cut), data + from + cut, size - cut), expected);
        assert_int_equal(
            sf_crc32c_portable(sf_crc32c_portable(0, data + from, cut), data + from + cut, size - cut),
            expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sums),
        cmocka_unit_test(the_same_however_it_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
