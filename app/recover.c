/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/recover.h"
#include "app/command.h"

#include <inttypes.h>

static void print_json(const app_call *call, sf_text *text, const sf_recovered *told)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "out", told->out);
    sf_json_string(&json, "file", told->file);
    sf_json_string(&json, "file_note", told->file_note);
    sf_json_string(&json, "journal", told->journal);
    sf_json_uint(&json, "journal_bytes", told->journal_bytes);
    sf_json_uint(&json, "damaged_bytes", told->damaged_bytes);
    sf_json_uint(&json, "records", told->records);
    sf_json_uint(&json, "records_lost", told->records_lost);
    sf_json_bool(&json, "ended", told->ended);
    sf_json_seconds(&json, "from_s", told->recorded.start_ns);
    sf_json_seconds(&json, "to_s", told->recorded.stop_ns);
    sf_json_uint(&json, "spikes", told->spikes);
    sf_json_uint(&json, "spikes_of_file", told->spikes_of_file);
    sf_json_uint(&json, "spikes_missing", told->spikes_missing);
    sf_json_uint(&json, "spikes_lost", told->spikes_lost);
    sf_json_uint(&json, "markers", told->markers);
    sf_json_uint(&json, "markers_of_file", told->markers_of_file);
    sf_json_uint(&json, "markers_missing", told->markers_missing);
    sf_json_uint(&json, "markers_lost", told->markers_lost);
    sf_json_uint(&json, "rows", told->rows);
    sf_json_uint(&json, "rows_missing", told->rows_missing);
    sf_json_uint(&json, "rows_of_others", told->rows_of_others);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

static void add_row(app_table *table, const char *what, uint64_t found, uint64_t of_file, uint64_t missing,
                    uint64_t lost)
{
    app_table_cell(table, "%s", what);
    app_table_cell(table, "%" PRIu64, found);
    app_table_cell(table, "%" PRIu64, of_file);
    app_table_cell(table, "%" PRIu64, missing);
    app_table_cell(table, "%" PRIu64, lost);
}

static void print_table(sf_text *text, const sf_recovered *told)
{
    app_table table = {.columns = 5};
    const char *const head[] = {"", "recovered", "of these from the file alone", "missing", "never recorded"};
    for (size_t i = 0; i < 5; i++)
        app_table_cell(&table, "%s", head[i]);
    add_row(&table, "spikes", told->spikes, told->spikes_of_file, told->spikes_missing, told->spikes_lost);
    add_row(&table, "markers", told->markers, told->markers_of_file, told->markers_missing,
            told->markers_lost);
    add_row(&table, "rows of results", told->rows, 0, told->rows_missing, 0);
    app_table_print(&table, text, 5);
}

static void print_words(sf_text *text, const sf_recovered *told)
{
    if (told->out == NULL) {
        sf_text_printf(text, "%s is whole, and there is no journal beside it: nothing is to be recovered",
                       told->file);
        return;
    }
    if (told->journal == NULL)
        sf_text_printf(text, "journal  none\n");
    else
        sf_text_printf(text,
                       "journal  %s: %" PRIu64 " bytes, %" PRIu64 " records, %" PRIu64 " lost, %" PRIu64
                       " bytes damaged; recording %s\n",
                       told->journal, told->journal_bytes, told->records, told->records_lost,
                       told->damaged_bytes, told->ended ? "ended in order" : "broke off");
    sf_text_printf(text, "file     %s: %s\n", told->file,
                   told->file_note != NULL ? told->file_note : "can be read");
    print_table(text, told);
    if (told->rows_of_others > 0)
        sf_text_printf(text,
                       "%" PRIu64
                       " rows of results are left out: another version of synfire wrote the journal, "
                       "and `recover` of that one takes them\n",
                       told->rows_of_others);
    sf_text_printf(text, "%s holds what was recovered, from ", told->out);
    sf_text_scaled(text, told->recorded.start_ns, 9);
    sf_text_printf(text, " s to ");
    sf_text_scaled(text, told->recorded.stop_ns, 9);
    sf_text_printf(text, " s; the originals are as they were");
}

static int run(app_call *call, sf_error *error)
{
    app_catch_signals();
    const sf_progress progress = app_progress(call);
    sf_recovered told;
    int status = sf_recover(&told, call->arguments[0], app_value(call, "out", NULL), &progress, error);
    if (status != SF_OK)
        return status;
    sf_text text = {0};
    if (call->json)
        print_json(call, &text, &told);
    else
        print_words(&text, &told);
    sf_recovered_free(&told);
    return app_print(&text, error);
}

static const app_option options[] = {
    {"out", "FILE",
     "write here (default: beside it, as run-recovered.h5); what is there stays, and is refused"},
    {NULL, NULL, NULL},
};

const app_command app_command_recover = {
    .name = "recover",
    .group = "live",
    .summary = "makes a sound recording of one that broke off, from its journal and its file",
    .arguments = "FILE.h5",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire recover demo.h5",
    .notes = "A recorder writes a journal, run.h5.journal, ahead of run.h5. After a kill, a power loss or a "
             "full disk both "
             "stay as they are; FILE is either of them. What is in neither is counted, and where spikes are "
             "missing "
             "the new file is marked as not observed.",
    .options = {options},
    .run = run,
};
