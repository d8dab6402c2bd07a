/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/nwb_parts.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/hdf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- which version ---- */

bool sf_nwb_is_2(hid_t file)
{
    if (H5Aexists(file, "nwb_version") > 0) return true;
    if (sf_hdf_is_dataset(file, "/nwb_version"))
        return sf_hdf_dataset_begins(file, "/nwb_version", "2") ||
               sf_hdf_dataset_begins(file, "/nwb_version", "NWB-2");
    return sf_hdf_attribute_begins(file, "neurodata_type", "NWBFile");
}

/* ---- where tables are ---- */

typedef struct processed {
    int (*visit)(void *context, const char *path);
    void *context;
    const char *module;
} processed;

static int visit_processed(void *context, hid_t group, const char *name)
{
    (void)group;
    processed *all = context;
    char path[600];
    snprintf(path, sizeof path, "processing/%s/%s", all->module, name);
    return all->visit(all->context, path);
}

static int visit_module(void *context, hid_t group, const char *name)
{
    processed *all = context;
    hid_t module = sf_hdf_open(group, name);
    all->module = name;
    int result = module >= 0 && H5Iget_type(module) == H5I_GROUP
                     ? sf_hdf_each_member(module, visit_processed, all)
                     : 0;
    sf_hdf_close(module);
    return result;
}

void sf_nwb_each_processed(hid_t file, int (*visit)(void *context, const char *path), void *context)
{
    processed all = {.visit = visit, .context = context};
    hid_t modules = sf_hdf_open(file, "/processing");
    if (modules >= 0 && H5Iget_type(modules) == H5I_GROUP) sf_hdf_each_member(modules, visit_module, &all);
    sf_hdf_close(modules);
}

/* ---- metadata ---- */

int sf_nwb_read_metadata(sf_recording *recording, hid_t file, sf_error *error)
{
    static const char *const entries[][2] = {
        {"/general/subject/subject_id", "subject"},
        {"/general/subject/species", "species"},
        {"/general/subject/strain", "strain"},
        {"/general/subject/genotype", "genotype"},
        {"/general/subject/sex", "sex"},
        {"/general/subject/age", "age"},
        {"/general/session_id", "session"},
        {"/session_start_time", "started"},
        {"/session_description", "description"},
        {"/identifier", "identifier"},
        {"/general/experimenter", "experimenter"},
        {"/general/lab", "lab"},
        {"/general/institution", "institution"},
    };
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof entries / sizeof entries[0]; i++)
        status = sf_reader_metadata(recording, file, entries[i][0], entries[i][1], error);
    return status;
}

/* ---- intervals ---- */

static int add_marker(sf_nwb_markers *to, double seconds, const char *label, const char *suffix)
{
    if (isnan(seconds)) return SF_OK;
    if (!sf_seconds_fit(seconds))
        return sf_fail(to->error, SF_DATA, to->path, "damaged: the interval %s is at %g s", label, seconds);
    return sf_reader_mark(to->recording, &to->capacity, sf_seconds_to_ns(seconds), label, suffix, to->error);
}

int sf_nwb_add_interval(sf_nwb_markers *to, double start_s, double stop_s, const char *label)
{
    int status = add_marker(to, start_s, label, "");
    return status == SF_OK ? add_marker(to, stop_s, label, " end") : status;
}

void sf_nwb_name_interval(char label[SF_MARKER_TEXT_SIZE], char *const *tags, size_t count,
                          const char *otherwise)
{
    size_t length = 0;
    snprintf(label, SF_MARKER_TEXT_SIZE, "%s", count > 0 ? "" : otherwise);
    for (size_t i = 0; i < count && length < SF_MARKER_TEXT_SIZE; i++)
        length +=
            (size_t)snprintf(label + length, SF_MARKER_TEXT_SIZE - length, "%s%s", i > 0 ? "," : "", tags[i]);
}
