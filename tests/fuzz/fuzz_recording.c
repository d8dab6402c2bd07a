/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings in HDF5, of every layout that is read, with other contents: a recording in order, or a refusal.
 */
#include "fuzz/hdf_recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define UNIT_TIMES "/processing/sorting/UnitTimes"

static const char *const images[] = {"recording/synfire.h5",
                                     "recording/carmen.h5",
                                     "recording/nwb.h5",
                                     "recording/nwb1.h5",
                                     "recording/empty.h5",
                                     "recording/bxr.h5",
                                     NULL};
static const char *const objects[] = {"/spikes",
                                      "/sCount",
                                      "/epos",
                                      "/names",
                                      "/array",
                                      "/meta",
                                      "/meta/age",
                                      "/recordingtime",
                                      "/spikes/time_ns",
                                      "/spikes/unit",
                                      "/spikes/amplitude",
                                      "/units",
                                      "/units/name",
                                      "/units/kind",
                                      "/units/x_um",
                                      "/units/y_um",
                                      "/units/electrode",
                                      "/units/well",
                                      "/markers",
                                      "/markers/time_ns",
                                      "/markers/kind",
                                      "/markers/state",
                                      "/markers/line",
                                      "/markers/text",
                                      "/observed",
                                      "/metadata",
                                      "/units/spike_times",
                                      "/units/spike_times_index",
                                      "/units/id",
                                      "/units/unit_name",
                                      "/units/quality",
                                      "/units/electrodes",
                                      "/units/electrodes_index",
                                      "/units/obs_intervals",
                                      "/general/extracellular_ephys/electrodes/rel_x",
                                      "/general/extracellular_ephys/electrodes/rel_y",
                                      "/general/extracellular_ephys/electrodes/x",
                                      "/general/extracellular_ephys/electrodes/id",
                                      "/general/subject/subject_id",
                                      "/intervals/epochs/start_time",
                                      "/intervals/epochs/stop_time",
                                      "/intervals/epochs/tags",
                                      "/intervals/epochs/tags_index",
                                      "/processing/more/table/spike_times",
                                      "/processing/more/table/spike_times_index",
                                      "/nwb_version",
                                      UNIT_TIMES,
                                      (UNIT_TIMES "/unit_list"),
                                      (UNIT_TIMES "/unit_1/times"),
                                      (UNIT_TIMES "/unit_2/times"),
                                      (UNIT_TIMES "/unit_2"),
                                      (UNIT_TIMES "/unit_10/times"),
                                      (UNIT_TIMES "/unit_10/unit_description"),
                                      "/processing/other/UnitTimes/a/times",
                                      "/epochs/first/start_time",
                                      "/epochs/first/stop_time",
                                      "/epochs/first/tags",
                                      "/epochs/second/start_time",
                                      "/epochs/second/stop_time",
                                      "/acquisition/probe",
                                      "/version",
                                      "/mapping",
                                      NULL};
static const char *const attributes[] = {
    "synfire",        "layout",      "start_ns",   "stop_ns",      "program",        "created", "subject",
    "neurodata_type", "nwb_version", "resolution", "kwik_version", "McsHdf5Version", "ID.Type", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    read_recording(fuzz_make_file(&layout, data, size));
    return 0;
}
