/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits on the memory of decompressed data. Values may take SF_COMPRESSION_MOST times the bytes that the
 * file stores for them, the maximum ratio of deflate, and SF_COMPRESSION_MOST_OF_FILE times the size of the
 * whole file, far above that of real recordings; so a small file cannot claim much memory. A few megabytes
 * are always allowed.
 */
#ifndef SF_IO_COMPRESSION_H
#define SF_IO_COMPRESSION_H

#define SF_COMPRESSION_MOST 1100
#define SF_COMPRESSION_MOST_OF_FILE 32
#define SF_COMPRESSION_ALWAYS_TAKEN (1 << 24)

#endif
