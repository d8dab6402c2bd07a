/* SPDX-License-Identifier: Apache-2.0 */
/** Shared by the files of Blackrock's and Ripple's systems, and the voltage files that lie beside spike
 * files. */
#ifndef SF_REPLAY_BLACKROCK_H
#define SF_REPLAY_BLACKROCK_H

#include "core/recording.h"
#include "replay/binary.h"

/** If the clock steps back before it has run this long, it was reset as recording began (for example when two
 * systems were synchronised), and everything before is not part of the recording. */
#define SF_BLACKROCK_START_NS INT64_C(1000000000)

/**
 * Sets recorded time and pauses (as observation intervals) from the voltage files beside the spike file (.ns6
 * to .ns1 of the same name). Changes nothing if there are none, or if their times run back. SF_NO_MEMORY.
 */
int sf_blackrock_recorded(sf_recording *recording, const char *path, sf_error *error);

#endif
