/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of Blackrock's and Ripple's systems share, and the voltages that lie beside spikes. */
#ifndef SF_REPLAY_BLACKROCK_H
#define SF_REPLAY_BLACKROCK_H

#include "core/recording.h"
#include "replay/binary.h"

/** A clock that steps back before it has run longer than this was set anew as recording began: what came
 * before, as two systems were synchronised, is no part of the recording. */
#define SF_BLACKROCK_START_NS INT64_C(1000000000)

/**
 * Declares when was recorded, as the voltages beside the file of spikes say (.ns6 to .ns1 of the same name),
 * and pauses as observation intervals. Where there are none, or they run back, nothing is changed.
 * SF_NO_MEMORY.
 */
int sf_blackrock_recorded(sf_recording *recording, const char *path, sf_error *error);

#endif
