/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A stretch of the stream from a file that has it train by train: the spikes of all trains together, in the
 * order of time and unit, from one number of them to another. Of every train it is found where its share
 * begins and ends by looking at few of its rows, so nothing but the stretch is read.
 */
#ifndef SF_REPLAY_STRETCH_H
#define SF_REPLAY_STRETCH_H

#include "replay/reader.h"

/**
 * begins[i] becomes how many of the first `row` spikes of the stream are of train i. Of trains that do not
 * ascend nothing follows: whoever takes stretches holds their ends together. SF_DATA, SF_NO_MEMORY.
 */
int sf_stretch_begins(size_t *begins, size_t row, const sf_trains_in_seconds *trains, sf_error *error);

/** Rows first .. first + count - 1 of all trains, one after the other, as nanoseconds; what is no time is
 * refused. SF_DATA. */
int sf_train_times_read(int64_t *times_ns, const sf_trains_in_seconds *trains, size_t train, size_t first,
                        size_t count, sf_error *error);

#endif
