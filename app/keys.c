/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

#include "core/describe/table.h"
#include "io/curve.h"

typedef struct made {
    const char *public_file, *secret_file, *public_key;
} made;

#define ROW made
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, public_file, "goes to the other side"),
    SF_MEMBER_IS(TEXT, secret_file, "stays; only its owner may read it"),
    SF_MEMBER_IS(TEXT, public_key, "Z85, 40 characters"),
};
#undef ROW

static const sf_table document = {
    .name = "keys", .about = "the pair that was made", SF_TABLE_OF(document_rows)};

static int run(app_call *call, sf_error *error)
{
    const char *path = call->arguments[0];
    sf_curve_keys keys;
    sf_text text = {0}, public_file = {0}, secret_file = {0};
    int status = sf_curve_make(&keys, path, error);
    if (status != SF_OK) return status;
    sf_text_printf(&public_file, "%s.key", path);
    sf_text_printf(&secret_file, "%s.key_secret", path);
    text.failed = public_file.failed || secret_file.failed;
    if (call->json)
        app_document_json(&text, call, &document,
                          &(made){public_file.data, secret_file.data, keys.public_key});
    else
        sf_text_printf(&text,
                       "%s         %s\n"
                       "%s  stays here: nobody but you may read it\n"
                       "Give %s to the other side: a run takes it in the folder of `clients`, a client as "
                       "`server_key`.",
                       public_file.data, keys.public_key, secret_file.data, public_file.data);
    sf_text_free(&public_file);
    sf_text_free(&secret_file);
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
    .documents = {&document},
    .run = run,
};
