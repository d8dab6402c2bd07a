/* SPDX-License-Identifier: Apache-2.0 */
/** Folders of .npy files in tests, written byte by byte. */
#ifndef SF_TESTS_FOLDERS_H
#define SF_TESTS_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A new empty folder, and taking one away with all in it. free() takes the name. */
char *test_folder_new(void);
void test_folder_remove(const char *folder);

/** Folders below it are made. */
void test_folder_put(const char *folder, const char *name, const void *bytes, size_t size);
void test_folder_take(const char *folder, const char *name); /**< the file away */

/** An array: `descr` and `shape` as NumPy writes them, and numbers that become what the type is,
 * little-endian. Of records, the numbers of each one after the other. */
void test_folder_array(const char *folder, const char *name, const char *descr, const char *shape,
                       size_t count, const double *numbers);

/** The bytes of such an array, free() takes them. */
unsigned char *test_array_bytes(size_t *size, const char *descr, const char *shape, size_t count,
                                const double *numbers);

/** An array of an archive (.npz). */
typedef struct test_member {
    const char *name, *descr, *shape;
    size_t count;
    const double *numbers;
} test_member;

/** How members are packed by deflate, and what is wrong with them; zero where nothing is. */
typedef struct test_packing {
    uint64_t says_packed, says_length; /**< what the archive's list has in place of their bytes */
    unsigned method, flags, wrong;     /**< how they would be packed; of their checksum */
    bool is_stored;                    /**< they are not */
} test_packing;

/** `packing` NULL: they are stored as they are. */
void test_folder_archive(const char *folder, const char *file, size_t count, const test_member *members,
                         const test_packing *packing);

/** The six spikes of support/systems.h. */
void test_fill_phy(
    const char *folder); /**< 20 kHz; clusters 2 (good), 5 (mua) and 9 (noise), of which 9 was merged */
void test_fill_spikeinterface(const char *folder); /**< 10 kHz, two segments, units "a", "b", "c" */
void test_fill_npz(const char *folder);            /**< 10 kHz, one segment, units 7, 8, 9 */
void test_fill_npz_of_one(const char *folder);     /**< the same, as spikeextractors wrote it */
void test_fill_npz_of_names(const char *folder);   /**< the same, units "n7", "µ8", "x" */
/** group.npz: units 7, 8, 9, observed from 0 to 0.75 s and from 1 to 4 s. */
void test_fill_pynapple(const char *folder);
void test_fill_pynapple_packed(const char *folder); /**< the same, compressed */
void test_fill_pynapple_epochs(const char *folder); /**< epochs.npz: the same epochs, and two of no length */
/** ts.npz: one unit, no epochs but from its first to its last spike; or values over time. */
void test_fill_pynapple_ts(const char *folder, bool has_values);
void test_fill_open_ephys(const char *folder); /**< 30 kHz, two folders of spikes, one of TTL */
void test_fill_open_ephys_before_0_6(const char *folder);

#endif
