/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How much memory compressed data may ask for. Values may take SF_COMPRESSION_MOST times more bytes than the
 * file stores for them, which is the most deflate can do, and SF_COMPRESSION_MOST_OF_FILE times more than the
 * whole file, which recordings never come near: a small file cannot ask for much. A few megabytes are taken
 * without asking.
 */
#ifndef SF_IO_COMPRESSION_H
#define SF_IO_COMPRESSION_H

#define SF_COMPRESSION_MOST 1100
#define SF_COMPRESSION_MOST_OF_FILE 32
#define SF_COMPRESSION_ALWAYS_TAKEN (1 << 24)

#endif
