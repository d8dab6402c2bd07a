/* SPDX-License-Identifier: Apache-2.0 */
/** CRC-32C (Castagnoli: reflected polynomial 0x82f63b78), as of iSCSI (RFC 3720, appendix B.4). */
#ifndef SF_IO_CRC32C_H
#define SF_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** The sum of `size` bytes; of bytes that come in pieces the sum so far goes in first, which begins as 0. By
 * the processor's own instruction where it has one. Any thread. */
uint32_t sf_crc32c(uint32_t sum, const void *data, size_t size);

/** The same without that instruction. */
uint32_t sf_crc32c_portable(uint32_t sum, const void *data, size_t size);

#endif
