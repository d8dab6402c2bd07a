/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/recover.h"
#include "app/command.h"

#include "core/describe/table.h"

#include <inttypes.h>

#define ROW sf_recovered
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, out, "the file that was made",
                 .null = "the recording is whole, there was nothing to do"),
    SF_MEMBER_IS(TEXT, file, "the HDF5 file"),
    SF_MEMBER_IS(TEXT, file_note, "why it was of no use", .null = "it was read"),
    SF_MEMBER_IS(TEXT, journal, "its journal", .null = "there is none"),
    SF_MEMBER_IS(COUNT, journal_bytes, "its length"),
    SF_MEMBER_IS(COUNT, damaged_bytes, "of these such as are no whole record"),
    SF_MEMBER_IS(COUNT, records, "whole ones, in the journal"),
    SF_MEMBER_IS(COUNT, records_lost, "told by the numbers of those around them"),
    SF_MEMBER_IS(FLAG, ended, "the journal tells that recording ended in order"),
    SF_FIELD_IS(TIME, "from_s", recorded.start_ns, "where what was recorded begins", .unit = "s"),
    SF_FIELD_IS(TIME, "to_s", recorded.stop_ns, "where it ends", .unit = "s"),
    SF_MEMBER_IS(COUNT, spikes, "in the new file"),
    SF_MEMBER_IS(COUNT, spikes_of_file, "of these, that only the HDF5 file had"),
    SF_MEMBER_IS(COUNT, spikes_missing, "recorded, and in neither"),
    SF_MEMBER_IS(COUNT, spikes_lost, "never recorded, for want of room"),
    SF_MEMBER_IS(COUNT, markers, "in the new file"),
    SF_MEMBER_IS(COUNT, markers_of_file, "of these, that only the HDF5 file had"),
    SF_MEMBER_IS(COUNT, markers_missing, "recorded, and in neither"),
    SF_MEMBER_IS(COUNT, markers_lost, "never recorded, for want of room"),
    SF_MEMBER_IS(COUNT, rows, "of results, in the new file"),
    SF_MEMBER_IS(COUNT, rows_missing, "rows of zeros in place of what is missing"),
    SF_MEMBER_IS(COUNT, rows_of_others,
                 "rows of results that are left out: a version with other tables wrote them"),
};
#undef ROW

static const sf_table document = {
    .name = "recovery", .about = "what was found of a recording that broke off", SF_TABLE_OF(document_rows)};

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
    if (status != SF_OK) return status;
    sf_text text = {0};
    if (call->json)
        app_document_json(&text, call, &document, &told);
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
    .documents = {&document},
    .run = run,
};
