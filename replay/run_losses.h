/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes that were sent during a run and are missing in its recording: every status in the tables of
 * /results counts them by cause. */
#ifndef SF_REPLAY_RUN_LOSSES_H
#define SF_REPLAY_RUN_LOSSES_H

#include "core/recording.h"
#include "io/hdf.h"

/**
 * Adds the losses to `dropped`, as SF_DROP_LOST, and removes spans that were lost entirely from `observed`:
 * those without a spike that are longer than any such span where nothing was lost, and in which the number of
 * lost spikes is at least half of what the mean rate predicts, and at least 30. The recording must have its
 * units and its spans; reads all spikes from the file, even if only a part was requested. Among several
 * recorders of one run the one with most losses counts. If the tables are damaged, sets the metadata `losses`
 * and nothing else. SF_NO_MEMORY; SF_DATA for spikes that cannot be read.
 */
int sf_run_losses_read(sf_recording *recording, const sf_hdf_input *input, sf_error *error);

#endif
