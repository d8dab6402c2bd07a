/* SPDX-License-Identifier: Apache-2.0 */
/** CRC-32C (Castagnoli: reflected polynomial 0x82f63b78), as of iSCSI (RFC 3720, appendix B.4). */
#ifndef SF_IO_CRC32C_H
#define SF_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/** Checksum of `size` bytes, by the processor's instruction if it has one. To sum data in chunks, pass the
 * sum so far, initially 0. Any thread. */
uint32_t sf_crc32c(uint32_t sum, const void *data, size_t size);

/** The same without that instruction. */
uint32_t sf_crc32c_portable(uint32_t sum, const void *data, size_t size);

#endif
