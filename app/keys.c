/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

#include "io/curve.h"

static void add_json(sf_text *text, const app_call *call, const char *path, const char *public_key)
{
    sf_text file = {0};
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_text_printf(&file, "%s.key", path);
    sf_json_string(&json, "public_file", file.failed ? NULL : file.data);
    sf_text_printf(&file, "_secret");
    sf_json_string(&json, "secret_file", file.failed ? NULL : file.data);
    sf_json_string(&json, "public_key", public_key);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
    sf_text_free(&file);
}

static int run(app_call *call, sf_error *error)
{
    const char *path = call->arguments[0];
    sf_curve_keys keys;
    sf_text text = {0};
    int status = sf_curve_make(&keys, path, error);
    if (status != SF_OK)
        return status;
    if (call->json)
        add_json(&text, call, path, keys.public_key);
    else
        sf_text_printf(
            &text,
            "%s.key         %s\n"
            "%s.key_secret  stays here: nobody but you may read it\n"
            "Give %s.key to the other side: a run takes it in the folder of `clients`, a client as "
            "`server_key`.",
            path, keys.public_key, path, path);
    return app_print(&text, error);
}

static const app_option options[] = {{NULL, NULL, NULL}};

const app_command app_command_keys = {
    .name = "keys",
    .group = "live",
    .summary = "makes a pair of keys, by which runs, players and clients know each other",
    .arguments = "NAME",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire keys rig",
    .notes = "Writes NAME.key, which goes to the other side, and NAME.key_secret, which stays; what is there "
             "stays, "
             "and is refused. They are those of ZeroMQ's CURVE, as czmq and pyzmq write and read them. "
             "docs/operations.md says which socket takes which.",
    .options = {options},
    .run = run,
};
