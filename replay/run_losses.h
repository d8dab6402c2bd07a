/* SPDX-License-Identifier: Apache-2.0 */
/** What a run knows of the spikes that were sent and are not in the recording that it wrote: each of its
 * statuses, in /results, counts them by cause. */
#ifndef SF_REPLAY_RUN_LOSSES_H
#define SF_REPLAY_RUN_LOSSES_H

#include "core/recording.h"
#include "io/hdf.h"

/**
 * Adds them to `dropped`, as SF_DROP_LOST, and takes whole stretches that are gone out of `observed`: those
 * without a spike that are longer than any such stretch where nothing was lost, and in which at least half as
 * many spikes were lost as the mean rate lets expect, 30 at least. The recording has its units and its spans;
 * spikes are read from the file, all of them, also of a part. Of several recorders of one run the one that
 * lost most counts. Of tables that are damaged the metadata `losses` tells, and nothing is known.
 * SF_NO_MEMORY; SF_DATA for spikes that cannot be read.
 */
int sf_run_losses_read(sf_recording *recording, const sf_hdf_input *input, sf_error *error);

#endif
