/* SPDX-License-Identifier: Apache-2.0 */
/** Small files as recording systems write them, for tests: what is said of each layout in docs/formats.md. */
#ifndef SF_TESTS_SYSTEMS_H
#define SF_TESTS_SYSTEMS_H

#include "support/hdf_files.h"

/** All hold the same six spikes of three units, at 0.5, 1.25, 3; 0.5, 2; and 0.1 s, but for what the layout
 * cannot say; each has its traps in it, too. */
void test_fill_maxwell_old(
    hid_t file); /**< 20 kHz, first frame 70000, one spike before it, one on channel 9 */
/** Two wells; well000 has two recordings, of which the first has them, at 10 kHz from frame 1000 on. */
void test_fill_maxwell_new(hid_t file);
void test_fill_bxr_2(hid_t file); /**< 10 kHz, grouped by channel, sorted units, a marker */
void test_fill_bxr_3(hid_t file); /**< wells A1 and B2; those of A1 */
void test_fill_mcs(hid_t file);   /**< time stamps and the same as segments; info tables from last to first */
void test_fill_mcs_cmos(hid_t file);
void test_fill_kwik(hid_t file); /**< 256ths of samples; clusters 2, 5 and 9 of kinds good, mua, noise */
void test_fill_herding_spikes(hid_t file);
/** 25 kHz, frames from the start, three channels without an array; pickled attributes, stimuli, a data
 * stream. */
void test_fill_cortical(hid_t file);
void test_fill_nwb_events(hid_t file); /**< with TTL and messages */

#endif
