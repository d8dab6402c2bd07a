/* SPDX-License-Identifier: Apache-2.0 */
#include "io/electrodes.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INDEX ((1 << 20) - 1)

static int add(sf_electrodes *to, size_t *capacity, const sf_unit *unit, int32_t channel, sf_error *error)
{
    if (sf_reserve(&to->channels, capacity, to->units.count + 1, sizeof *to->channels) != 0)
        return sf_fail_memory(error);
    to->channels[to->units.count] = channel;
    return sf_units_add(&to->units, unit, error);
}

/* ---- MaxLab Live: channel(electrode)x/y;... ---- */

/* Parses a number up to the character `after`, and skips that; false if there is none. */
static bool take_number(const char **at, char after, double *number)
{
    const char *end, ends[] = {after, '\0'};
    if (!sf_parse_real_until(*at + strspn(*at, " \t"), ends, number, &end) || *end != after) return false;
    *at = end + (after != '\0');
    return true;
}

static bool take_index(const char **at, char after, int *index)
{
    double number;
    if (!take_number(at, after, &number) || number != floor(number) || number < 0 || number > MOST_INDEX)
        return false;
    *index = (int)number;
    return true;
}

/* Parses one entry of a routing; false if the text is not of this form. */
static bool take_routed(const char **at, int *channel, int *electrode, double *x_um, double *y_um)
{
    if (!take_index(at, '(', channel) || !take_index(at, ')', electrode) || !take_number(at, '/', x_um) ||
        !(take_number(at, ';', y_um) || take_number(at, '\n', y_um) || take_number(at, '\0', y_um)))
        return false;
    *at += strspn(*at, "; \t\r\n");
    return true;
}

/* Channels or electrodes seen so far. */
typedef struct taken {
    uint8_t of[2][(MOST_INDEX + 1) / 8];
} taken;

static bool was_taken(taken *all, int which, int index)
{
    uint8_t bit = (uint8_t)(1 << index % 8), *of = &all->of[which][index / 8];
    bool was = (*of & bit) != 0;
    *of |= bit;
    return was;
}

/* A channel is one unit, even if it is wired to two electrodes, and so is an electrode that two channels
 * read. */
static int read_routing(sf_electrodes *to, const char *text, const char *path, sf_error *error)
{
    size_t capacity = 0;
    int status = SF_OK;
    taken *all = sf_alloc(1, sizeof *all);
    if (all == NULL) return sf_fail_memory(error);
    to->is_routing = true;
    for (const char *at = text; *at != '\0' && status == SF_OK;) {
        const char *begin = at;
        int channel, electrode;
        char name[16];
        sf_unit unit = {.kind = SF_UNIT_MULTI_UNIT, .name = name};
        if (!take_routed(&at, &channel, &electrode, &unit.x_um, &unit.y_um)) {
            status =
                sf_fail(error, SF_DATA, path,
                        "after %zu electrodes found '%.24s', expected CHANNEL(ELECTRODE)X/Y; as MaxLab Live "
                        "writes, a probeinterface file (JSON), a map of Blackrock's (.cmp), or a table of "
                        "name,x,y",
                        to->units.count, begin);
            break;
        }
        if (was_taken(all, 0, channel) || was_taken(all, 1, electrode)) {
            to->shared++;
            continue;
        }
        snprintf(name, sizeof name, "%d", electrode);
        unit.electrode = electrode;
        status = add(to, &capacity, &unit, channel, error);
    }
    sf_free(all);
    return status;
}

/* ---- Blackrock: column row bank pin label ---- */

#define MAP_PITCH_UM 400.0
#define MAP_BANK 32 /* electrodes of a bank */
#define MAP_BANKS 26
#define MAP_MOST 1024 /* columns or rows */

typedef struct map_row {
    int column, row, electrode; /* electrodes count from 1, bank A first */
    const char *label;          /* "" where it has none */
} map_row;

/* The next blank-separated field, "" at the end, without quotes around it. */
static char *next_word(char **rest)
{
    char *at = *rest + strspn(*rest, " \t");
    bool quoted = *at == '"';
    at += quoted;
    size_t length = strcspn(at, quoted ? "\"" : " \t");
    *rest = at + length + (at[length] != '\0');
    at[length] = '\0';
    return at;
}

/* Modifies the line; false if it describes no electrode. */
static bool read_map_row(map_row *row, char *line)
{
    uint64_t column, line_up, pin;
    char *rest = line, *words[5];
    for (int i = 0; i < 5; i++)
        words[i] = next_word(&rest);
    int bank = toupper((unsigned char)words[2][0]) - 'A';
    if (!sf_parse_uint(words[0], MAP_MOST, &column) || !sf_parse_uint(words[1], MAP_MOST, &line_up) ||
        bank < 0 || bank >= MAP_BANKS || words[2][1] != '\0' || !sf_parse_uint(words[3], MAP_BANK, &pin) ||
        pin == 0)
        return false;
    *row = (map_row){(int)column, (int)line_up, bank * MAP_BANK + (int)pin, words[4]};
    return true;
}

/* Skips blank lines and comments; NULL at the end. */
static char *next_map_line(char **rest, size_t *number)
{
    while (*rest != NULL) {
        char *line = strsep(rest, "\n");
        line[strcspn(line, "\r")] = '\0';
        ++*number;
        size_t blanks = strspn(line, " \t");
        if (line[blanks] != '\0' && strncmp(line + blanks, "//", 2) != 0) return line;
    }
    return NULL;
}

/* Whether the first line, or the second after a title, describes an electrode. */
static bool looks_like_map(const char *text)
{
    for (int found = 0; found < 2 && *text != '\0';) {
        char line[160];
        map_row row;
        size_t length = strcspn(text, "\r\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
        text += length + strspn(text + length, "\r\n");
        size_t blanks = strspn(line, " \t");
        if (line[blanks] == '\0' || strncmp(line + blanks, "//", 2) == 0) continue;
        if (read_map_row(&row, line)) return true;
        found++;
    }
    return false;
}

static int refuse_map(const char *path, size_t number, const char *expected, const char *found,
                      sf_error *error)
{
    char shown[41];
    sf_visible_printf(shown, sizeof shown, "%s", found);
    return sf_fail(error, SF_DATA, path, "line %zu: expected %s, found '%s'", number, expected, shown);
}

static int add_map_row(sf_electrodes *to, size_t *capacity, const map_row *row, const char *path,
                       size_t number, sf_error *error)
{
    char name[32];
    snprintf(name, sizeof name, "chan%d", row->electrode);
    const char *label = row->label[0] != '\0' ? row->label : name;
    uint32_t unit;
    size_t before = to->units.count;
    if (sf_reserve(&to->channels, capacity, before + 1, sizeof *to->channels) != 0)
        return sf_fail_memory(error);
    for (size_t i = 0; i < before; i++)
        if (to->channels[i] == row->electrode) return refuse_map(path, number, "each pin once", label, error);
    int status = sf_units_intern(&to->units, label, &unit, error);
    if (status == SF_OK && unit != before) return refuse_map(path, number, "each label once", label, error);
    if (status != SF_OK) return status;
    to->channels[unit] = row->electrode;
    to->units.items[unit].x_um = MAP_PITCH_UM * row->column;
    to->units.items[unit].y_um = MAP_PITCH_UM * row->row;
    to->units.items[unit].electrode = row->electrode;
    to->units.items[unit].kind = SF_UNIT_MULTI_UNIT;
    return SF_OK;
}

static int read_map(sf_electrodes *to, char *text, const char *path, sf_error *error)
{
    size_t capacity = 0, number = 0, title = 0;
    int status = SF_OK;
    to->is_map = true;
    for (char *rest = text, *line; status == SF_OK && (line = next_map_line(&rest, &number)) != NULL;) {
        map_row row;
        char begin[41];
        snprintf(begin, sizeof begin, "%.40s", line);
        if (read_map_row(&row, line))
            status = add_map_row(to, &capacity, &row, path, number, error);
        else if (title++ > 0 || to->units.count > 0)
            status = refuse_map(path, number, "COLUMN ROW BANK PIN LABEL, as 0 9 A 3 elec1-67", begin, error);
    }
    return status;
}

/* ---- a table of name, x and y ---- */

#define MOST_COLUMNS 64

typedef struct table {
    char separator;
    size_t line, name, x, y, needed; /* columns, and how many a line must have */
    double x_um, y_um;               /* of one unit of x and y */
    const char *path;
} table;

/* Separator of a line of fields. A line that begins with a number and a bracket is a routing instead. */
static char separator_of(const char *line)
{
    size_t digits = strspn(line, "0123456789"), length = strcspn(line, "\r\n");
    if (digits > 0 && line[digits] == '(') return '\0';
    for (const char *of = ";\t,"; *of != '\0'; of++)
        if (memchr(line, *of, length) != NULL) return *of;
    return '\0';
}

static size_t cut(const table *of, char *line, char *fields[MOST_COLUMNS])
{
    size_t count = 0;
    for (char *rest = line; rest != NULL && count < MOST_COLUMNS;)
        fields[count++] = sf_text_field(&rest, of->separator);
    return count;
}

/* Micrometres per unit that a heading such as x_um or `y (mm)` names; 0: unknown unit. */
static double length_of(const char *heading, bool *is_named)
{
    char word[16] = "";
    size_t length = 0;
    for (const char *at = heading + 1; *at != '\0' && length + 1 < sizeof word; at++) {
        bool micro = (unsigned char)*at >= 0x80; /* a micro sign, in UTF-8 or Latin-1 */
        if (isalpha((unsigned char)*at) || (micro && (length == 0 || word[length - 1] != 'u')))
            word[length++] = micro ? 'u' : (char)tolower((unsigned char)*at);
    }
    *is_named = *is_named || length > 0;
    return length == 0 || strcmp(word, "um") == 0 || strncmp(word, "micro", 5) == 0 ? 1
           : strcmp(word, "mm") == 0                                                ? 1e3
                                                                                    : 0;
}

static bool heads(const char *field, char axis)
{
    return tolower((unsigned char)field[0]) == axis && !isalnum((unsigned char)field[1]);
}

static int refuse_row(const table *of, const char *expected, const char *found, sf_error *error)
{
    char shown[41];
    sf_visible_printf(shown, sizeof shown, "%s", found);
    return sf_fail(error, SF_DATA, of->path, "line %zu: expected %s, found '%s'", of->line, expected, shown);
}

/* Identifies the columns by the heading; without one they are name, x, y. */
static int take_heading(table *of, sf_electrodes *to, char *const *fields, size_t count, sf_error *error)
{
    static const char *const names[] = {"name",      "unit",    "neuron",  "cell",    "cluster",
                                        "electrode", "channel", "contact", "site",    "id",
                                        "ch",        "index",   "idx",     "unit_id", "unit_index"};
    of->name = of->x = of->y = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (heads(fields[i], 'x') && of->x == SIZE_MAX)
            of->x = i;
        else if (heads(fields[i], 'y') && of->y == SIZE_MAX)
            of->y = i;
        for (size_t n = 0; of->name == SIZE_MAX && n < sizeof names / sizeof names[0]; n++)
            if (strcasecmp(fields[i], names[n]) == 0) {
                of->name = i;
                to->has_indices = strstr(names[n], "ind") == names[n] || strcmp(names[n], "idx") == 0 ||
                                  strcmp(names[n], "unit_index") == 0;
            }
    }
    if (of->name == SIZE_MAX || of->x == SIZE_MAX || of->y == SIZE_MAX)
        return refuse_row(of, "a heading such as name,x,y, with `index` for the place of a unit", fields[0],
                          error);
    of->x_um = length_of(fields[of->x], &to->names_length);
    of->y_um = length_of(fields[of->y], &to->names_length);
    if (of->x_um == 0 || of->y_um == 0)
        return refuse_row(of, "x and y in um or mm", fields[of->x_um == 0 ? of->x : of->y], error);
    of->needed = of->name > of->x ? of->name : of->x;
    of->needed = 1 + (of->needed > of->y ? of->needed : of->y);
    return SF_OK;
}

/* An unknown length is an empty field, or NaN. */
static bool read_length(const table *of, char *field, double scale, double *um)
{
    char *comma = of->separator != ',' ? strchr(field, ',') : NULL;
    if (comma != NULL) *comma = '.';
    *um = NAN;
    if (field[0] == '\0' || strcasecmp(field, "nan") == 0) return true;
    bool good = sf_parse_real(field, um);
    *um *= scale;
    return good;
}

static int take_row(table *of, sf_electrodes *to, size_t *capacity, char *const *fields, size_t count,
                    sf_error *error)
{
    double x_um, y_um;
    uint32_t unit;
    if (count < of->needed) return refuse_row(of, "a name, x and y", fields[0], error);
    const char *name = fields[of->name];
    const char *number = name + (name[0] == '#');
    size_t digits = strspn(number, "0123456789");
    bool is_number = digits > 0 && digits < 8 && number[digits] == '\0';
    if (name[0] == '#' && is_number) to->has_indices = true;
    if (name[0] == '\0' || (to->has_indices && !is_number))
        return refuse_row(of, to->has_indices ? "the index of a unit" : "a name", name, error);
    if (!read_length(of, fields[of->x], of->x_um, &x_um) || !read_length(of, fields[of->y], of->y_um, &y_um))
        return refuse_row(of, "x and y, as numbers", fields[of->x], error);
    if (sf_reserve(&to->channels, capacity, to->units.count + 1, sizeof *to->channels) != 0)
        return sf_fail_memory(error);
    size_t before = to->units.count;
    int status = sf_units_intern(&to->units, number, &unit, error);
    if (status == SF_OK && unit != before) return refuse_row(of, "each name once", name, error);
    if (status != SF_OK) return status;
    to->channels[unit] = is_number ? (int32_t)strtol(number, NULL, 10) : -1;
    to->units.items[unit].x_um = x_um;
    to->units.items[unit].y_um = y_um;
    to->units.items[unit].electrode = to->channels[unit];
    to->units.items[unit].kind = SF_UNIT_MULTI_UNIT;
    return SF_OK;
}

static int read_table(sf_electrodes *to, char *text, char separator, const char *path, sf_error *error)
{
    table of = {
        .separator = separator, .name = 0, .x = 1, .y = 2, .needed = 3, .x_um = 1, .y_um = 1, .path = path};
    char *fields[MOST_COLUMNS];
    size_t capacity = 0;
    int status = SF_OK;
    bool begun = false;
    to->is_table = true;
    for (char *rest = text; status == SF_OK && rest != NULL;) {
        char *line = strsep(&rest, "\n");
        double number;
        of.line++;
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")] == '\0') continue;
        size_t count = cut(&of, line, fields);
        bool is_heading = !begun && !(count > 1 && sf_parse_real(fields[1], &number));
        begun = true;
        status = is_heading ? take_heading(&of, to, fields, count, error)
                            : take_row(&of, to, &capacity, fields, count, error);
    }
    return status;
}

/* ---- probeinterface ---- */

static double number_at(const json_t *list, size_t index)
{
    const json_t *value = json_array_get(list, index);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Adds a contact; one without a channel is not connected. */
static int take_contact(sf_electrodes *to, size_t *capacity, const json_t *probe, size_t index, double scale,
                        sf_error *error)
{
    const json_t *place = json_array_get(json_object_get(probe, "contact_positions"), index);
    const json_t *channels = json_object_get(probe, "device_channel_indices");
    double channel = channels != NULL ? number_at(channels, index) : (double)to->units.count;
    const char *name = json_string_value(json_array_get(json_object_get(probe, "contact_ids"), index));
    const sf_unit unit = {.name = name,
                          .x_um = number_at(place, 0) * scale,
                          .y_um = number_at(place, 1) * scale,
                          .kind = SF_UNIT_MULTI_UNIT,
                          .electrode = (int32_t)index};
    if (!(channel >= 0 && channel <= MOST_INDEX)) return SF_OK;
    return add(to, capacity, &unit, (int32_t)channel, error);
}

static int read_probes(sf_electrodes *to, const json_t *document, const char *path, sf_error *error)
{
    const json_t *probes = json_object_get(document, "probes"), *probe;
    size_t capacity = 0, number;
    int status = SF_OK;
    if (!json_is_array(probes))
        return sf_fail(error, SF_DATA, path, "is JSON without \"probes\", expected a probeinterface file");
    json_array_foreach(probes, number, probe)
    {
        const char *units = json_string_value(json_object_get(probe, "si_units"));
        double scale = units == NULL || strcmp(units, "um") == 0 ? 1 : strcmp(units, "mm") == 0 ? 1e3 : NAN;
        size_t contacts = json_array_size(json_object_get(probe, "contact_positions"));
        if (isnan(scale))
            return sf_fail(error, SF_DATA, path, "probe %zu: found si_units %s, expected um or mm", number,
                           units);
        for (size_t i = 0; i < contacts && status == SF_OK; i++)
            status = take_contact(to, &capacity, probe, i, scale, error);
    }
    return status;
}

static int read_json(sf_electrodes *to, const sf_text *text, const char *path, sf_error *error)
{
    json_error_t reason;
    json_t *document = json_loadb(text->data, text->length, 0, &reason);
    if (document == NULL) return sf_fail(error, SF_DATA, path, "line %d: %s", reason.line, reason.text);
    int status = read_probes(to, document, path, error);
    json_decref(document);
    return status;
}

/* ---- the file ---- */

int sf_electrodes_read(sf_electrodes *electrodes, const char *path, sf_error *error)
{
    sf_text text = {0};
    *electrodes = (sf_electrodes){0};
    int status = sf_file_read(&text, path, error);
    if (status != SF_OK) return status;
    char *begin = text.data + strspn(text.data, "\xef\xbb\xbf \t\r\n");
    char separator = separator_of(begin);
    status = *begin == '{'           ? read_json(electrodes, &text, path, error)
             : looks_like_map(begin) ? read_map(electrodes, begin, path, error)
             : separator != '\0'     ? read_table(electrodes, begin, separator, path, error)
                                     : read_routing(electrodes, begin, path, error);
    sf_text_free(&text);
    if (status == SF_OK && electrodes->units.count == 0)
        status = sf_fail(error, SF_DATA, path, "has no electrode that is connected");
    if (status == SF_OK) status = sf_units_finish(&electrodes->units, error);
    if (status != SF_OK) sf_electrodes_free(electrodes);
    return status;
}

void sf_electrodes_free(sf_electrodes *electrodes)
{
    sf_units_free(&electrodes->units);
    sf_free(electrodes->channels);
    *electrodes = (sf_electrodes){0};
}
