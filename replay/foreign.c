/* SPDX-License-Identifier: Apache-2.0 */
/* Files that no reader takes: recognises voltages, and says what was searched for. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/text.h"
#include "io/hdf.h"

#include <string.h>

/* ---- voltages ---- */

static int has_dataset(void *context, hid_t group, const char *name)
{
    hid_t member = strncmp(name, "Well_", 5) == 0 ? sf_hdf_open(group, name) : H5I_INVALID_HID;
    bool found = false;
    for (const char *const *wanted = context; member >= 0 && *wanted != NULL; wanted++)
        found = found || sf_hdf_is_dataset(member, *wanted);
    sf_hdf_close(member);
    return found;
}

/* Whether some group /Well_* holds one of these datasets. */
static bool some_well_has(hid_t file, const char *const *wanted)
{
    return sf_hdf_each_member(file, has_dataset, (void *)(uintptr_t)wanted) != 0;
}

static bool is_brw(hid_t file)
{
    static const char *const voltages[] = {"Raw", "EventsBasedSparseRaw", "WaveletBasedEncodedRaw", NULL};
    return sf_hdf_is_dataset(file, "/3BData/Raw") || some_well_has(file, voltages);
}

/* Result files whose spikes were deleted or never detected. */
static bool is_bxr(hid_t file)
{
    static const char *const channels[] = {"StoredChIdxs", NULL};
    return sf_hdf_is_group(file, "/3BRecInfo") || some_well_has(file, channels);
}

static bool recognises(hid_t file)
{
    (void)file;
    return true;
}

/* ---- sentences ---- */

static int add_name(void *context, hid_t group, const char *name)
{
    sf_text *names = context, file = {0};
    if (names->length > 200) return 1;
    sf_text_printf(names, "%s/%s", names->length > 0 ? ", " : "", name);
    if (sf_hdf_external_link(group, name, &file))
        sf_text_printf(names, " (a link into another file, '%s', which is not followed: give that)",
                       file.data);
    sf_text_free(&file);
    return 0;
}

/* An unknown layout: the message lists what the file's root holds. */
static int refuse_unknown(const sf_hdf_input *input, sf_error *error)
{
    sf_text names = {0};
    bool more = sf_hdf_each_member(input->file, add_name, &names) != 0;
    int status =
        names.failed
            ? sf_fail_memory(error)
            : sf_fail(error, SF_DATA, input->path,
                      "no spike times: looked for those of synfire, CARMEN, NWB 1 and 2, Multi Channel "
                      "Systems, MaxWell, 3Brain, Kwik, HerdingSpikes and Cortical Labs; this file holds "
                      "%s%s; what "
                      "SpikeInterface or Neo reads, Python hands over: synfire.Recording.from_arrays",
                      names.length > 0 ? names.data : "nothing", more ? ", ..." : "");
    sf_text_free(&names);
    return status;
}

static int refuse(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    (void)recording;
    if (is_brw(input->file))
        return sf_fail(
            error, SF_DATA, input->path,
            "no spike times: this is a 3Brain BRW file of raw voltages; detect spikes in BrainWave and "
            "export them as a .bxr file");
    if (is_bxr(input->file))
        return sf_fail(error, SF_DATA, input->path,
                       "no spike times: this is a 3Brain file with neither voltages nor SpikeTimes, so its "
                       "results were deleted or spikes never detected; detect them in BrainWave and export "
                       "them as a .bxr file");
    return refuse_unknown(input, error);
}

/* The requested stream does not matter, because the file itself is refused. */
static int list_none(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    (void)streams, (void)input, (void)error;
    return SF_OK;
}

const sf_reader sf_reader_foreign = {
    .counts_samples = true, .recognises = recognises, .list = list_none, .read = refuse};
