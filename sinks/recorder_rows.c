/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/recorder_rows.h"

#include "core/hash.h"

#include <string.h>

static const sf_recorder_form forms[SF_RECORDER_TABLES] = {
    [SF_TABLE_WINDOWS] = {.name = "windows", .chunk = 512, .topic = SF_TOPIC_EPISODES},
    [SF_TABLE_EPISODES] =
        {.name = "episodes", .chunk = 128, .topic = SF_TOPIC_EPISODES, .of = "episodes", .end = "count"},
    [SF_TABLE_COUNTS] = {.name = "counts",
                         .chunk = 2048,
                         .topic = SF_TOPIC_EPISODES,
                         .of = "episodes",
                         .first = "count",
                         .extras = {"episode"}},
    [SF_TABLE_TRIGGERS] = {.name = "triggers", .chunk = 256, .topic = SF_TOPIC_TRIGGER, .timed = true},
    [SF_TABLE_DECISIONS] = {.name = "decisions", .chunk = 256, .topic = SF_TOPIC_DECISION, .timed = true},
    [SF_TABLE_DELIVERIES] = {.name = "deliveries", .chunk = 256, .topic = SF_TOPIC_DELIVERY, .timed = true},
    [SF_TABLE_DENSITIES] = {.name = "densities",
                            .chunk = 256,
                            .topic = SF_TOPIC_DENSITY,
                            .extras = {"first_value"}},
    [SF_TABLE_GRAPHS] = {.name = "graphs", .chunk = 512, .topic = SF_TOPIC_GRAPH},
    [SF_TABLE_EDGES] = {.name = "edges", .chunk = 1024, .topic = SF_TOPIC_GRAPH, .of = "changes"},
    [SF_TABLE_REACH] =
        {.name = "reach", .chunk = 1024, .topic = SF_TOPIC_GRAPH, .of = "bfs", .by_item = true},
    [SF_TABLE_REACH_ALL] = {.name = "reach_all",
                            .chunk = 1024,
                            .topic = SF_TOPIC_GRAPH,
                            .of = "reach_all",
                            .by_item = true,
                            .number = "unit"},
    [SF_TABLE_COMPONENTS] = {.name = "components",
                             .chunk = 1024,
                             .topic = SF_TOPIC_GRAPH,
                             .of = "components",
                             .by_item = true,
                             .number = "unit"},
    [SF_TABLE_MATCHES] = {.name = "matches",
                          .chunk = 256,
                          .topic = SF_TOPIC_GRAPH,
                          .of = "match",
                          .number = "pattern",
                          .extras = {"first_unit", "size"}},
    [SF_TABLE_TRIADS] = {.name = "triads", .chunk = 256, .topic = SF_TOPIC_GRAPH, .of = "census"},
    [SF_TABLE_STATUS] = {.name = "status", .chunk = 128, .topic = SF_TOPIC_STATUS, .timed = true},
    [SF_TABLE_SOURCES] = {.name = "sources", .chunk = 256, .topic = SF_TOPIC_STATUS, .of = "sources"},
    [SF_TABLE_SINKS] =
        {.name = "sinks", .chunk = 256, .topic = SF_TOPIC_STATUS, .of = "sinks", .extras = {"own"}},
    [SF_TABLE_CRITICALITY] = {.name = "criticality", .chunk = 128, .topic = SF_TOPIC_CRITICALITY},
    [SF_TABLE_CAUTIONS] = {.name = "criticality_cautions",
                           .chunk = 128,
                           .topic = SF_TOPIC_CRITICALITY,
                           .of = "cautions"},
    [SF_TABLE_DENSITY_VALUES] = {.name = "density_values",
                                 .chunk = 4096,
                                 .topic = SF_TOPIC_COUNT,
                                 .plain = SF_PACKED_REAL},
    [SF_TABLE_MATCH_UNITS] = {.name = "match_units",
                              .chunk = 1024,
                              .topic = SF_TOPIC_COUNT,
                              .plain = SF_PACKED_WHOLE},
};

const sf_recorder_form *sf_recorder_form_of(sf_recorder_table table)
{
    return &forms[table];
}

bool sf_recorder_is_plain(sf_recorder_table table)
{
    return forms[table].topic == SF_TOPIC_COUNT;
}

/* ---- which columns it has ---- */

/* Those of a table that rows have. */
static sf_table narrow(const sf_recorder_form *form, sf_table table)
{
    size_t end = form->end != NULL ? sf_table_find_column(&table, form->end) : table.column_count;
    size_t first = form->first != NULL ? sf_table_find_column(&table, form->first) : 0;
    table.columns = (const sf_column_row *)table.columns + first;
    table.column_count = end - first;
    return table;
}

static sf_table columns_of(const sf_recorder_form *form)
{
    const sf_table *table = sf_message_table(form->topic);
    if (form->of == NULL) return narrow(form, *table);
    return narrow(form, sf_table_record(table, sf_table_find_column(table, form->of)));
}

/* ---- fields ---- */

static sf_packed_field number_field(sf_packed_type type, size_t bytes, const char *name)
{
    sf_packed_field field = {.type = type, .bytes = bytes, .parts = 1};
    for (size_t i = 0; name[i] != '\0' && i + 1 < sizeof field.name; i++)
        field.name[i] = name[i];
    return field;
}

static size_t head_fields(const sf_recorder_form *form, sf_packed_field *head)
{
    size_t count = 0;
    head[count++] = number_field(SF_PACKED_COUNT, sizeof(uint64_t), "seq");
    if (form->timed) head[count++] = number_field(SF_PACKED_INTEGER, sizeof(int64_t), "time_ns");
    if (form->number != NULL) head[count++] = number_field(SF_PACKED_WHOLE, sizeof(uint32_t), form->number);
    for (size_t i = 0; i < SF_RECORDER_EXTRAS && form->extras[i] != NULL; i++)
        head[count++] = number_field(SF_PACKED_COUNT, sizeof(uint64_t), form->extras[i]);
    return count;
}

size_t sf_recorder_fields(sf_recorder_table table, sf_packed_field fields[SF_RECORDER_FIELDS])
{
    const sf_recorder_form *form = &forms[table];
    if (sf_recorder_is_plain(table)) {
        size_t bytes = form->plain == SF_PACKED_WHOLE ? sizeof(uint32_t) : sizeof(double);
        fields[0] = number_field(form->plain, bytes, "");
        return 1;
    }
    const sf_table columns = columns_of(form);
    size_t head = head_fields(form, fields);
    return head + sf_pack_fields(&columns, form->by_item, fields + head, SF_RECORDER_FIELDS - head);
}

size_t sf_recorder_row_size(sf_recorder_table table)
{
    sf_packed_field fields[SF_RECORDER_FIELDS];
    size_t count = sf_recorder_fields(table, fields), size = 0;
    for (size_t i = 0; i < count; i++)
        size += fields[i].bytes;
    return sf_recorder_is_plain(table) ? size : (size + 7) / 8 * 8;
}

uint64_t sf_recorder_table_form(sf_recorder_table table)
{
    sf_packed_field fields[SF_RECORDER_FIELDS];
    size_t count = sf_recorder_fields(table, fields);
    uint64_t hash = SF_HASH_START;
    for (size_t i = 0; i < count; i++) {
        hash = sf_hash_bytes(hash, fields[i].name, strlen(fields[i].name) + 1);
        hash = sf_hash_integer(hash, (uint64_t)fields[i].type);
        hash = sf_hash_integer(hash, fields[i].bytes);
    }
    return hash;
}

/* ---- rows ---- */

/* The records of a message that rows are of; `of` of their columns is set for one after the other. */
typedef struct records {
    const sf_recorder_form *form;
    sf_table message, columns;
    size_t column, count;
} records;

static void go_to(records *at, size_t record)
{
    sf_value value = {0};
    if (at->form->of == NULL) return;
    sf_table_get(&at->message, at->column, 0, record, &value);
    at->columns.of = value.known ? value.record.of : NULL;
}

static records records_of(sf_recorder_table table, const sf_message *message)
{
    records all = {.form = &forms[table], .message = sf_message_row(message), .count = 1};
    all.columns = columns_of(all.form);
    all.columns.of = all.message.of;
    if (all.form->of == NULL) return all;
    all.column = sf_table_find_column(&all.message, all.form->of);
    if (sf_table_column(&all.message, all.column)->list) {
        all.count = sf_table_length(&all.message, all.column, 0, NULL);
    } else {
        go_to(&all, 0);
        all.count = all.columns.of != NULL ? 1 : 0;
    }
    return all;
}

/* All lists of a record that is packed by item have one length. */
static size_t count_items(const records *at)
{
    size_t column = 0;
    while (at->form->by_item && !sf_table_column(&at->columns, column)->list)
        column++;
    return at->form->by_item ? sf_table_length(&at->columns, column, 0, NULL) : 1;
}

size_t sf_recorder_count(sf_recorder_table table, const sf_message *message)
{
    records all = records_of(table, message);
    if (!all.form->by_item) return all.count;
    size_t count = 0;
    for (size_t record = 0; record < all.count; record++) {
        go_to(&all, record);
        count += count_items(&all);
    }
    return count;
}

static char *put(char *to, const void *bytes, size_t count)
{
    memcpy(to, bytes, count);
    return to + count;
}

static char *put_head(char *to, const sf_recorder_form *form, const sf_message *message, size_t number,
                      const uint64_t extras[SF_RECORDER_EXTRAS])
{
    const uint32_t narrow_number = (uint32_t)number;
    to = put(to, &message->seq, sizeof message->seq);
    if (form->timed) to = put(to, &message->time_ns, sizeof message->time_ns);
    if (form->number != NULL) to = put(to, &narrow_number, sizeof narrow_number);
    for (size_t i = 0; i < SF_RECORDER_EXTRAS && form->extras[i] != NULL; i++)
        to = put(to, &extras[i], sizeof extras[i]);
    return to;
}

size_t sf_recorder_pack(char *to, sf_recorder_table table, const sf_message_names *names,
                        sf_recorder_take *take, void *self)
{
    records all = records_of(table, names->message);
    const bool by_item = all.form->by_item;
    const size_t size = sf_recorder_row_size(table);
    uint64_t extras[SF_RECORDER_EXTRAS] = {0};
    size_t rows = 0;
    for (size_t record = 0; record < all.count; record++) {
        if (take != NULL && !take(self, names->message, record, extras)) continue;
        go_to(&all, record);
        for (size_t item = 0, items = count_items(&all); item < items; item++, rows++) {
            char *end = put_head(to, all.form, names->message, by_item ? item : record, extras);
            end = sf_pack_row(end, &all.columns, 0, by_item ? item : SF_WHOLE_ROW, names);
            memset(end, 0, (size_t)(to + size - end));
            to += size;
        }
    }
    return rows;
}
