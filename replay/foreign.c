/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is not read: layouts that are known are named, and what was looked for is said. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/text.h"
#include "io/hdf.h"

#include <string.h>

/* ---- what the known layouts are told by ---- */

static bool is_mcs(hid_t file)
{
    return sf_hdf_attribute_begins(file, "McsHdf5ProtocolType", "RawData") ||
           H5Aexists(file, "McsHdf5Version") > 0;
}

static bool is_mcs_cmos(hid_t file)
{
    return sf_hdf_attribute_begins(file, "ID.Type", "McsData");
}

static bool is_maxwell(hid_t file)
{
    return sf_hdf_is_dataset(file, "/version") &&
           (sf_hdf_is_dataset(file, "/mapping") || sf_hdf_is_group(file, "/wells") ||
            sf_hdf_is_group(file, "/data_store") || sf_hdf_is_group(file, "/recordings"));
}

static bool is_bxr_2(hid_t file)
{
    return sf_hdf_is_group(file, "/3BResults");
}

static int has_dataset(void *context, hid_t group, const char *name)
{
    hid_t member = sf_hdf_open(group, name);
    bool found = false;
    for (const char *const *wanted = context; strncmp(name, "Well_", 5) == 0 && *wanted != NULL; wanted++)
        found = found || (member >= 0 && sf_hdf_is_dataset(member, *wanted));
    sf_hdf_close(member);
    return found;
}

/* A group /Well_* that holds one of these datasets. */
static bool some_well_has(hid_t file, const char *const *wanted)
{
    return sf_hdf_each_member(file, has_dataset, (void *)(uintptr_t)wanted) != 0;
}

static bool is_bxr_3(hid_t file)
{
    static const char *const spikes[] = {"SpikeTimes", NULL};
    return some_well_has(file, spikes);
}

static bool is_brw(hid_t file)
{
    static const char *const voltages[] = {"Raw", "EventsBasedSparseRaw", "WaveletBasedEncodedRaw", NULL};
    return sf_hdf_is_dataset(file, "/3BData/Raw") || some_well_has(file, voltages);
}

static bool is_kwik(hid_t file)
{
    return H5Aexists(file, "kwik_version") > 0;
}

static bool is_herding_spikes(hid_t file)
{
    return sf_hdf_is_dataset(file, "/times") && sf_hdf_is_dataset(file, "/cluster_id") &&
           sf_hdf_is_dataset(file, "/centres") && sf_hdf_is_dataset(file, "/Sampling");
}

/* In the order of docs/formats.md. */
static const struct {
    bool (*recognises)(hid_t file);
    const char *what;
    const char *spikes; /* a dataset without which it holds none; NULL: it may hold some, "": it never does */
} layouts[] = {
    {is_mcs, "a Multi Channel Systems DataManager file", NULL},
    {is_mcs_cmos, "a Multi Channel Systems CMOS-MEA file", NULL},
    {is_maxwell, "a MaxWell recording", NULL},
    {is_bxr_2, "a 3Brain BXR file", "/3BResults/3BChEvents/SpikeTimes"},
    {is_bxr_3, "a 3Brain BXR file of BrainWave 5", NULL},
    {is_brw, "a 3Brain BRW file of raw voltages", ""},
    {is_kwik, "a Kwik file", NULL},
    {is_herding_spikes, "a HerdingSpikes file", NULL},
};

static bool recognises(hid_t file)
{
    (void)file;
    return true;
}

/* ---- sentences ---- */

static int add_name(void *context, hid_t group, const char *name)
{
    (void)group;
    sf_text *names = context;
    if (names->length > 200)
        return 1;
    sf_text_printf(names, "%s/%s", names->length > 0 ? ", " : "", name);
    return 0;
}

/* A file of no known layout: what its root holds may help its owner. */
static int refuse_unknown(const sf_hdf_input *input, sf_error *error)
{
    sf_text names = {0};
    bool more = sf_hdf_each_member(input->file, add_name, &names) != 0;
    int status = names.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_DATA, input->path, "no spike times: %s; this file holds %s%s",
                               SF_LOOKED_FOR, names.length > 0 ? names.data : "nothing", more ? ", ..." : "");
    sf_text_free(&names);
    return status;
}

static int refuse(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    (void)recording;
    size_t i = 0, count = sizeof layouts / sizeof layouts[0];
    while (i < count && !layouts[i].recognises(input->file))
        i++;
    if (i == count)
        return refuse_unknown(input, error);
    const char *spikes = layouts[i].spikes;
    if (spikes != NULL && spikes[0] == '\0')
        return sf_fail(error, SF_DATA, input->path,
                       "no spike times: this is %s; detect spikes with its own software first; %s",
                       layouts[i].what, SF_LOOKED_FOR);
    if (spikes != NULL && !sf_hdf_is_dataset(input->file, spikes))
        return sf_fail(error, SF_DATA, input->path, "no spike times: this is %s without %s; %s",
                       layouts[i].what, spikes, SF_LOOKED_FOR);
    return sf_fail(error, SF_DATA, input->path,
                   "this is %s, a layout that synfire does not read yet (%s); export its spikes as lines of "
                   "name,seconds",
                   layouts[i].what, SF_LOOKED_FOR);
}

const sf_reader sf_reader_foreign = {.has_streams = true, .recognises = recognises, .read = refuse};
