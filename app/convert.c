/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"
#include "tools/files.h"

#include "core/describe/table.h"

#include <inttypes.h>

static const app_option options[] = {
    {"layout", "LAYOUT", "synfire, nwb, carmen or csv (default by the name of OUT: .h5 synfire, .nwb, .csv)"},
    {NULL, NULL, NULL},
};

typedef struct converted {
    const char *recording, *file, *layout;
    uint64_t units, spikes;
    const char *left_out;
} converted;

#define ROW converted
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, recording, "what was read"),
    SF_MEMBER_IS(TEXT, file, "what was written"),
    SF_MEMBER_IS(TEXT, layout, "its layout",
                 .words = (const char *const[]){"synfire", "nwb", "carmen", "csv", NULL}),
    SF_MEMBER_IS(COUNT, units, "units"),
    SF_MEMBER_IS(COUNT, spikes, "spikes"),
    SF_MEMBER_IS(TEXT, left_out, "what the layout has no place for, in words", .null = "all is in it"),
};
#undef ROW

static const sf_table document = {
    .name = "conversion", .about = "what was written", SF_TABLE_OF(document_rows)};

static void print(sf_text *out, const converted *told)
{
    sf_text_printf(out, "%s: %s, %" PRIu64 " units, %" PRIu64 " spikes", told->file, told->layout,
                   told->units, told->spikes);
    if (told->left_out != NULL)
        sf_text_printf(out, "; without %s, for which it has no place", told->left_out);
}

static int convert(const app_call *call, const sf_recording *recording, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    const char *layout = NULL;
    sf_text out = {0}, lost = {0}, provenance = app_provenance_text(call);
    int status = provenance.failed
                     ? sf_fail_memory(error)
                     : sf_convert(recording, call->arguments[1], app_value(call, "layout", NULL),
                                  provenance.data, &layout, &lost, error);
    if (status == SF_OK) {
        const converted told = {.recording = call->arguments[0],
                                .file = call->arguments[1],
                                .layout = layout,
                                .units = of.unit_count,
                                .spikes = of.spike_count,
                                .left_out = lost.length > 0 ? lost.data : NULL};
        if (call->json)
            app_document_json(&out, call, &document, &told);
        else
            print(&out, &told);
        status = app_print(&out, error);
    }
    sf_text_free(&lost);
    sf_text_free(&provenance);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    int status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    status = convert(call, recording, error);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_convert = {
    .name = "convert",
    .group = "look",
    .summary = "writes a recording, or a part of it, in another layout",
    .arguments = "REC... OUT",
    .least_arguments = 2,
    .keeps_noise = true,
    .most_arguments = 2,
    .takes_several = true,
    .writes_last = true,
    .documents = {&document},
    .example = "synfire simulate demo.h5 --preset sym26 && synfire convert demo.h5 demo.nwb",
    .notes = "Times, names and which unit fired come back as they were, to the nanosecond, from every "
             "layout; what a "
             "layout has no place for is told. synfire's own has place for all. A recording that is there is "
             "never "
             "replaced. Several recordings go each into its own OUT, in which {} stands for their names: "
             "synfire convert *.h5 nwb/{}.nwb.",
    .options = {options, app_selection_options},
    .run = run,
};
