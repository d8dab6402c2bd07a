/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"
#include "tools/files.h"

#include <inttypes.h>

static const app_option options[] = {
    {"layout", "LAYOUT", "synfire, nwb, carmen or csv (default by the name of OUT: .h5 synfire, .nwb, .csv)"},
    {NULL, NULL, NULL},
};

static void print(sf_text *out, const app_call *call, const sf_recording_columns *of, const char *layout,
                  const char *lost)
{
    const char *path = call->arguments[1];
    if (!call->json) {
        sf_text_printf(out, "%s: %s, %zu units, %zu spikes", path, layout, of->unit_count, of->spike_count);
        if (lost[0] != '\0')
            sf_text_printf(out, "; without %s, for which it has no place", lost);
        return;
    }
    sf_json json = sf_json_start(out);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "recording", call->arguments[0]);
    sf_json_string(&json, "file", path);
    sf_json_string(&json, "layout", layout);
    sf_json_uint(&json, "units", of->unit_count);
    sf_json_uint(&json, "spikes", of->spike_count);
    sf_json_string(&json, "left_out", lost[0] != '\0' ? lost : NULL);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
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
        print(&out, call, &of, layout, lost.data != NULL ? lost.data : "");
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
    if (status != SF_OK)
        return status;
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
