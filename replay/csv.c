/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "replay/binary.h"
#include "replay/csv_form.h"
#include "replay/csv_plate.h"
#include "replay/reader.h"
#include "replay/sessions.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 255
#define LEAST_SWAPPED 20 /* minimum spikes for detecting swapped columns */
#define LINES_PER_UPDATE 65536
#define MOST_NOTES 64

/* A stream belongs to a well, to a part, or to both. */
typedef struct stream_key {
    const char *well; /* of a unit; NULL: of none */
    uint32_t part;    /* or SF_NO_UNIT */
} stream_key;

typedef struct csv {
    sf_recording *recording;
    sf_lines lines;
    size_t capacity;
    sf_csv_form form;
    bool is_told;        /* `form` is from a heading or the caller, not the default */
    char first_line[64]; /* where nothing in it is known; else "" */
    bool is_plate;       /* a spike list of AxIS: units are WELL_ELECTRODE */
    bool is_past_first;  /* a line that is neither blank nor a comment was read */
    bool has_begun;      /* a spike was read */
    bool has_ended;      /* what follows are no spikes */
    size_t notes;        /* metadata of a plate's first two columns */
    double rate_hz;      /* of samples */
    bool rate_given;
    sf_units parts;    /* trials, sweeps or sessions, by name */
    uint32_t *part_of; /* of each spike, where there are any */
    size_t part_capacity;
    sf_streams streams; /* wells, parts, or parts of wells */
    stream_key *keys;   /* what each of them is of */
    size_t key_capacity;
    sf_error *error;
} csv;

/* Description of an expected spike; a helpful message may be long. */
static const char plain_form[] = "a unit's name, a comma and a time in seconds"; /* or what separates here */

static const char only_unit[] = "1"; /* of a file of times alone */

/* ---- fields ---- */

/* Whether a field is a word, and not a number as broken exports write it; a field that begins beyond ASCII,
 * such as with a Unicode minus, counts if it has no digits. */
static bool is_word(const char *field)
{
    if ((unsigned char)*field >= 0x80) return strpbrk(field, "0123456789") == NULL;
    return (isalpha((unsigned char)*field) || *field == '_') && strncasecmp(field, "nan", 3) != 0 &&
           strncasecmp(field, "inf", 3) != 0;
}

/* Cuts a line into fields in place; returns their number, which may exceed the room for them. */
static size_t cut(const sf_lines *lines, char *line, char **fields)
{
    size_t count = 0;
    for (char *rest = line; rest != NULL; count++) {
        char *field = sf_lines_field(lines, &rest);
        if (count < SF_CSV_MOST_COLUMNS) fields[count] = field;
    }
    return count;
}

static bool is_blank(char *const *fields, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (fields[i][0] != '\0') return false;
    return true;
}

/* ---- the heading ---- */

/* In a blank-separated heading `Time (s)` is one name, and in `# unit time` the mark is removed. */
static void mend_heading(const sf_lines *lines, char *line)
{
    char *to = line, *from = line;
    if (lines->separator != ' ') return;
    from += *from == '#' && from[1] == ' ' ? 2 : 0;
    for (; *from != '\0'; from++) {
        const char *after = from + strspn(from, " ");
        if (after > from && (*after == '(' || *after == '[')) from += after - from;
        *to++ = *from;
    }
    *to = '\0';
}

/* With two columns any word in the second makes a heading; with more, one of the words must denote times,
 * because a spike's line may have words in all fields but its time. */
static bool is_heading(const csv *in, char *const *fields, size_t count)
{
    if (in->is_told) return in->form.time < count && is_word(fields[in->form.time]);
    return count == 2 ? is_word(fields[1]) : sf_csv_heads_times(fields, count);
}

/* Records how the file was read; briefly if its heading says just name,seconds. */
static int tell_form(csv *in, char *const *names)
{
    const sf_csv_form *form = &in->form, plain = sf_csv_form_plain();
    const char *in_units = form->counts_samples ? "samples" : sf_csv_scale_name(form->exponent);
    char name[64] = "", time[64] = "";
    if (form->unit == plain.unit && form->time == plain.time && form->count == plain.count &&
        form->exponent == plain.exponent && form->names_scale && !form->counts_samples &&
        in->lines.separator != ' ')
        return sf_reader_set_format(in->recording, in->error, "CSV of name,seconds");
    if (names != NULL) {
        if (form->unit != SF_CSV_NONE) snprintf(name, sizeof name, " '%.40s'", names[form->unit]);
        snprintf(time, sizeof time, " '%.40s'", names[form->time]);
    }
    const char *unnamed = form->names_scale                  ? ""
                          : form->exponent != plain.exponent ? ", as NEST writes .gdf"
                                                             : ", as no unit of time is named";
    if (form->unit == SF_CSV_NONE)
        return sf_reader_set_format(in->recording, in->error,
                                    "CSV: one column of times%s of one unit, in %s%s", time, in_units,
                                    unnamed);
    char parts[48] = "";
    if (form->part_count > 0 && names != NULL)
        snprintf(parts, sizeof parts, ", each %.24s apart", names[form->parts[0]]);
    return sf_reader_set_format(in->recording, in->error,
                                "CSV: units of column %zu%s, times of column %zu%s in %s%s%s", form->unit + 1,
                                name, form->time + 1, time, in_units, unnamed, parts);
}

static int check_rate(csv *in)
{
    if (in->form.counts_samples)
        return in->rate_given ? SF_OK
                              : sf_fail(in->error, SF_DATA, in->lines.path,
                                        "its times are samples, and text does not say how many a second has: "
                                        "give --rate HZ");
    return in->rate_given ? sf_refuse_rate(in->lines.path, in->error) : SF_OK;
}

/* Interprets the first non-empty line, if it is a heading. */
static int take_heading(csv *in, char *const *fields, size_t count)
{
    if (in->is_told) /* by the caller, who says it otherwise */
        return SF_OK;
    sf_error reason = {0};
    int status = sf_csv_form_of(&in->form, fields, count, in->lines.path, &reason);
    if (status != SF_OK)
        return sf_fail(in->error, status, in->lines.path, "line %zu: %s", in->lines.number, reason.text);
    status = tell_form(in, fields);
    if (status == SF_OK) status = check_rate(in);
    in->is_told = true;
    return status;
}

/* What the caller says of the columns. */
static int take_columns(csv *in, const char *columns)
{
    char *copy = sf_copy_string(columns), *fields[SF_CSV_MOST_COLUMNS];
    sf_lines commas = {.separator = ','};
    if (copy == NULL) return sf_fail_memory(in->error);
    size_t count = cut(&commas, copy, fields);
    sf_error reason = {0};
    int status = count < 2 && !sf_csv_heads_times(fields, count)
                     ? sf_fail(in->error, SF_USAGE, "columns",
                               "found '%s', expected all columns as time_ms,unit", columns)
                     : sf_csv_form_of(&in->form, fields, count, NULL, &reason);
    if (status == SF_DATA) status = sf_fail(in->error, SF_USAGE, "columns", "%s", reason.text);
    in->is_told = true;
    if (status == SF_OK) status = tell_form(in, fields);
    sf_free(copy);
    return status;
}

/* ---- a spike ---- */

static int add_spike(csv *in, uint32_t unit, int64_t time_ns, float amplitude)
{
    sf_recording *recording = in->recording;
    void *spikes = recording->spikes;
    if (sf_reserve(&spikes, &in->capacity, recording->spike_count + 1, sizeof(sf_spike)) != 0)
        return sf_fail_memory(in->error);
    recording->spikes = spikes;
    recording->spikes[recording->spike_count++] =
        (sf_spike){.time_ns = time_ns, .unit = unit, .amplitude = amplitude};
    return SF_OK;
}

/* Finds the unit; if the file names wells, the well is the prefix of its name. */
static int find_unit(csv *in, const char *name, const char *well, int electrode, uint32_t *index)
{
    sf_units *units = &in->recording->units;
    size_t before = units->count;
    int status = sf_units_intern(units, name, index, in->error);
    if (status != SF_OK || well == NULL) return status;
    sf_unit *unit = &units->items[*index];
    if (units->count > before) {
        unit->well = sf_copy_string(well);
        unit->electrode = electrode;
        unit->kind = electrode >= 0 ? SF_UNIT_MULTI_UNIT : SF_UNIT_UNKNOWN;
        return unit->well != NULL ? SF_OK : sf_fail_memory(in->error);
    }
    return strcmp(unit->well, well) == 0
               ? SF_OK
               : sf_lines_refuse(&in->lines, "names that differ between wells", name, in->error);
}

static bool read_time(const csv *in, char *field, int64_t *time_ns)
{
    if (!in->form.counts_samples)
        return sf_lines_scaled(&in->lines, field, in->form.exponent, time_ns) && *time_ns >= 0 &&
               *time_ns < SF_TIME_LIMIT_NS;
    int64_t thousandths;
    return sf_lines_scaled(&in->lines, field, 3, &thousandths) && thousandths % 1000 == 0 &&
           thousandths >= 0 && sf_samples_to_ns(thousandths / 1000, in->rate_hz, time_ns);
}

static float read_amplitude(const csv *in, char *const *fields, size_t count)
{
    size_t at = in->form.amplitude;
    double value;
    char *comma = at < count && in->lines.separator != ',' ? strchr(fields[at], ',') : NULL;
    if (comma != NULL) *comma = '.';
    return at < count && sf_parse_real(fields[at], &value) ? (float)value : NAN;
}

/* Builds the name of a unit from its columns: 1 to 255 bytes. */
static bool make_name(const csv *in, char *const *fields, char name[LONGEST_NAME + 1])
{
    const sf_csv_form *form = &in->form;
    const char *well = form->well != SF_CSV_NONE ? fields[form->well] : NULL;
    const char *more = form->of_unit != SF_CSV_NONE ? fields[form->of_unit] : NULL;
    if (form->unit == SF_CSV_NONE) {
        snprintf(name, LONGEST_NAME + 1, "%s", only_unit);
        return true;
    }
    if (fields[form->unit][0] == '\0' || (well != NULL && well[0] == '\0')) return false;
    int length =
        snprintf(name, LONGEST_NAME + 1, "%s%s%s%s%s", well != NULL ? well : "", well != NULL ? "_" : "",
                 sf_text_of_cell(fields[form->unit]), more != NULL ? ":" : "", more != NULL ? more : "");
    return length > 0 && length <= LONGEST_NAME;
}

/* Records which trial, sweep or session the next spike belongs to. */
static int take_part(csv *in, char *const *fields)
{
    char name[LONGEST_NAME + 1] = "";
    size_t length = 0, next = in->recording->spike_count;
    for (size_t i = 0; i < in->form.part_count && length < sizeof name; i++)
        length += (size_t)snprintf(name + length, sizeof name - length, "%s%s", i > 0 ? "/" : "",
                                   fields[in->form.parts[i]]);
    if (length == 0 || length > LONGEST_NAME)
        return sf_lines_refuse(&in->lines, "the name of a trial, session or the like, of 1 to 255 bytes",
                               name, in->error);
    if (sf_reserve(&in->part_of, &in->part_capacity, next + 1, sizeof *in->part_of) != 0)
        return sf_fail_memory(in->error);
    return sf_units_intern(&in->parts, name, &in->part_of[next], in->error);
}

/* If times are samples, explains a negative time that an unsigned 64-bit counter wrote. */
static int refuse_time(const csv *in, const char *time)
{
    char *end;
    unsigned long long number = strtoull(time, &end, 10);
    if (in->form.counts_samples && *end == '\0' && number > INT64_MAX && number < ULLONG_MAX)
        return sf_fail(in->error, SF_DATA, in->lines.path,
                       "line %zu: %llu is %lld stored unsigned: a time before 0", in->lines.number, number,
                       (long long)number);
    return sf_lines_refuse(&in->lines,
                           in->form.counts_samples ? "a whole number of samples, of 146 years at most"
                                                   : "a time from 0 to 4.6e9 seconds",
                           time, in->error);
}

static int take_spike(csv *in, char *const *fields, size_t count, const char *original)
{
    char name[LONGEST_NAME + 1], in_well[8];
    char *time = fields[in->form.time];
    const char *well = in->form.well != SF_CSV_NONE ? fields[in->form.well] : NULL;
    int column, row, electrode = -1;
    int64_t time_ns;
    double number;
    uint32_t unit;
    if (!make_name(in, fields, name))
        return sf_lines_refuse(&in->lines,
                               in->form.well != SF_CSV_NONE ? "a well and a unit's name, of 1 to 255 bytes"
                                                            : "a unit's name of 1 to 255 bytes",
                               fields[in->form.unit], in->error);
    if (is_word(time) && !in->is_told && sf_parse_real(name, &number))
        return sf_lines_refuse(&in->lines, "name,seconds in this order, or a first line such as time,unit",
                               original, in->error);
    if (in->is_plate && well == NULL) {
        if (!sf_plate_electrode(name, in_well, &column, &row))
            return sf_lines_refuse(&in->lines, "an electrode of a well, as A1_11", name, in->error);
        well = in_well;
        electrode = 10 * column + row;
    }
    if (!read_time(in, time, &time_ns)) return refuse_time(in, time);
    int status = find_unit(in, name, well, electrode, &unit);
    if (status == SF_OK && in->form.part_count > 0) status = take_part(in, fields);
    return status == SF_OK ? add_spike(in, unit, time_ns, read_amplitude(in, fields, count)) : status;
}

/* ---- spike lists of AxIS ---- */

/* Reads a note beside the spikes, in the first two columns; the list of wells ends the notes. */
static int take_note(csv *in, char *const *fields)
{
    if (in->form.time < 2 || in->form.unit < 2 || fields[0][0] == '\0') return SF_OK;
    in->has_ended = strncasecmp(fields[0], "Well Information", 16) == 0;
    if (in->has_ended || fields[1][0] == '\0' || in->notes++ >= MOST_NOTES) return SF_OK;
    return sf_recording_set_metadata(in->recording, fields[0], fields[1], in->error);
}

/* Whether a line of such a list only describes the recording. */
static bool is_note(const csv *in, char *const *fields)
{
    const char *unit = fields[in->form.unit];
    char well[8], *time = fields[in->form.time];
    int column, row;
    int64_t time_ns;
    if (unit[0] == '\0' && time[0] == '\0') return true;
    return fields[0][0] != '\0' && !sf_plate_electrode(unit, well, &column, &row) &&
           !read_time(in, time, &time_ns);
}

/* The first electrode name identifies a spike list; until then lines without one are allowed. */
static int begin_plate(csv *in, char *const *fields)
{
    char well[8];
    int column, row;
    in->is_plate = in->form.of_electrodes && in->form.well == SF_CSV_NONE &&
                   sf_plate_electrode(fields[in->form.unit], well, &column, &row);
    in->has_begun = in->is_plate || in->form.unit == SF_CSV_NONE || fields[in->form.unit][0] != '\0';
    return in->is_plate ? sf_reader_set_format(in->recording, in->error, "Axion spike list") : SF_OK;
}

static size_t last_needed(const sf_csv_form *form)
{
    size_t last = form->unit != SF_CSV_NONE && form->unit > form->time ? form->unit : form->time;
    last = form->of_unit != SF_CSV_NONE && form->of_unit > last ? form->of_unit : last;
    for (size_t i = 0; i < form->part_count; i++)
        last = form->parts[i] > last ? form->parts[i] : last;
    return form->well != SF_CSV_NONE && form->well > last ? form->well : last;
}

/* ---- lines ---- */

static int refuse_count(const csv *in, const char *original)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%zu field%s", in->form.count, in->form.count == 1 ? "" : "s");
    return sf_lines_refuse(&in->lines, in->is_told ? expected : plain_form, original, in->error);
}

/* True if this heading denotes times and is the only column: the line after it is one number. */
static bool heads_one_column(const sf_lines *lines, const char *heading)
{
    if (lines->at >= lines->end) return false;
    char *names[] = {(char *)(uintptr_t)heading};
    const char *next = lines->at + strspn(lines->at, " \t\r\n"), *rest;
    double number;
    return sf_csv_heads_times(names, 1) && sf_parse_real_until(next, " \t\r\n", &number, &rest) &&
           strchr("\n", rest[strspn(rest, " \t\r")]) != NULL;
}

/* A line with # before the first spike is a comment, unless it is the heading. */
static int is_comment(bool *is, csv *in, const char *line)
{
    char *copy, *fields[SF_CSV_MOST_COLUMNS];
    *is = false;
    if (in->is_past_first || line[strspn(line, " \t")] != '#') return SF_OK;
    if ((copy = sf_copy_string(line)) == NULL) return sf_fail_memory(in->error);
    mend_heading(&in->lines, copy);
    size_t count = cut(&in->lines, copy, fields);
    *is = count < 2 ? !heads_one_column(&in->lines, fields[0])
                    : !sf_csv_heads_times(fields, count < SF_CSV_MOST_COLUMNS ? count : SF_CSV_MOST_COLUMNS);
    sf_free(copy);
    if (*is) sf_lines_separate_anew(&in->lines);
    return SF_OK;
}

/* Interprets a first line that holds only the times of one unit. */
static int take_one_column(csv *in)
{
    in->form = sf_csv_form_plain();
    in->form.count = 1;
    in->form.unit = SF_CSV_NONE;
    in->form.time = 0;
    in->form.names_scale = false;
    in->is_told = true;
    return tell_form(in, NULL);
}

/* A first line without a possible number, that denotes neither times nor units, is no recording; nor is JSON,
 * XML or PDF. */
static bool is_nothing_known(const csv *in, char *const *fields, size_t count)
{
    char first = fields[0][0];
    bool is_markup = first == '{' || first == '<'; /* whatever words are in it */
    bool known = in->is_told || (!is_markup && sf_csv_heads_times(fields, count));
    if (!known && first != '\0' && strchr("{[<%", first) != NULL) return true;
    for (size_t i = 0; !known && i < count; i++)
        known = sf_csv_heads_units(fields[i]) || strcasecmp(fields[i], "nan") == 0 ||
                strcasecmp(fields[i], "inf") == 0 ||
                (fields[i][0] != '\0' && strchr("+-.0123456789", fields[i][0]) != NULL);
    return !known;
}

/* One helpful message for a letter or a program, instead of what its first or second line lacks. */
static int refuse_unknown(const csv *in)
{
    char shown[41];
    sf_visible_printf(shown, sizeof shown, "%s", in->first_line);
    return sf_fail(
        in->error, SF_DATA, in->lines.path,
        "this is no recording that is known: it begins '%s', expected lines of name,seconds such as "
        "A,0.0135, a heading such as unit,time_s above them, or a file or folder of the systems in "
        "docs/formats.md",
        shown);
}

static int read_line(csv *in, char *line)
{
    char original[64],
        *fields[SF_CSV_MOST_COLUMNS]; /* fields are cut in place, but the error message shows the line */
    bool is_first = !in->is_past_first, is_note_alone;
    int noted = is_comment(&is_note_alone, in, line);
    if (noted != SF_OK || is_note_alone) return noted;
    snprintf(original, sizeof original, "%s", line);
    if (is_first) mend_heading(&in->lines, line);
    if (is_first && in->lines.separator == ' ' && heads_one_column(&in->lines, line))
        in->lines.separator = ','; /* its heading is of several words */
    size_t count = cut(&in->lines, line, fields),
           seen = count < SF_CSV_MOST_COLUMNS ? count : SF_CSV_MOST_COLUMNS;
    if (is_blank(fields, 0, seen)) return SF_OK;
    in->is_past_first = true;
    if (is_first && is_nothing_known(in, fields, seen))
        snprintf(in->first_line, sizeof in->first_line, "%s", original);
    if (is_first && is_heading(in, fields, seen)) {
        int status = take_heading(in, fields, seen);
        return status == SF_OK && in->form.of_electrodes ? take_note(in, fields) : status;
    }
    double number;
    if (is_first && !in->is_told && count == 1 && sf_parse_real(fields[0], &number)) {
        int status = take_one_column(in);
        if (status != SF_OK) return status;
    }
    if (is_first && !in->is_told && count > 2)
        return sf_fail(in->error, SF_DATA, in->lines.path,
                       "line %zu has %zu columns and none of them is headed as times: --columns says what "
                       "they are, with "
                       "- for one that does not matter, as --columns unit,-,time_ms",
                       in->lines.number, count);
    if (last_needed(&in->form) >= seen) return in->is_plate ? SF_OK : refuse_count(in, original);
    int status = SF_OK;
    if (!in->has_begun) status = begin_plate(in, fields);
    bool may_be_note = in->form.of_electrodes && (in->is_plate || !in->has_begun);
    if (status == SF_OK && may_be_note) status = take_note(in, fields);
    if (status != SF_OK || in->has_ended || (may_be_note && is_note(in, fields))) return status;
    if (count > in->form.count && !is_blank(fields, in->form.count, seen)) return refuse_count(in, original);
    return take_spike(in, fields, count, original);
}

/* Detects swapped columns without a heading: nearly every line names another unit, all of them numbers; or
 * unit names have decimals and times have none. */
static int refuse_swapped(const csv *in)
{
    const sf_units *units = &in->recording->units;
    size_t spikes = in->recording->spike_count;
    size_t decimals = 0;
    double time;
    if (in->is_told && !in->form.is_guess) return SF_OK;
    for (size_t i = 0; i < units->count; i++) {
        if (!sf_parse_real(units->items[i].name, &time)) return SF_OK;
        decimals += strchr(units->items[i].name, '.') != NULL;
    }
    bool whole = 2 * decimals >= units->count && units->count > 1;
    for (size_t i = 0; whole && i < spikes; i++)
        whole = in->recording->spikes[i].time_ns % SF_SECOND == 0;
    if (!whole && (spikes < LEAST_SWAPPED || 2 * units->count < spikes)) return SF_OK;
    return sf_fail(
        in->error, SF_DATA, in->lines.path,
        "%zu lines name %zu units, all of them numbers: these are times. Expected name,seconds: swap "
        "the columns, or say --columns time,unit",
        spikes, units->count);
}

/* ---- units in order, and wells ---- */

static int compare_names(const void *a, const void *b)
{
    const sf_unit *left = *(const sf_unit *const *)a, *right = *(const sf_unit *const *)b;
    return sf_text_compare(left->name, right->name);
}

/* Sorts units by name, so that an index does not depend on which unit fires first; for a well, keeps only its
 * own. */
static int order_units(sf_recording *recording, const char *well, sf_error *error)
{
    const sf_units *units = &recording->units;
    const sf_unit **kept = sf_alloc(units->count, sizeof *kept);
    size_t count = 0;
    if (kept == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < units->count; i++)
        if (well == NULL || strcmp(units->items[i].well, well) == 0) kept[count++] = &units->items[i];
    qsort(kept, count, sizeof *kept, compare_names);
    int status = sf_reader_keep_units(recording, kept, count, error);
    sf_free(kept);
    return status;
}

/* ---- streams ---- */

static const char *well_of(const csv *in, size_t spike)
{
    return in->recording->units.items[in->recording->spikes[spike].unit].well;
}

static uint32_t part_of(const csv *in, size_t spike)
{
    return in->part_of != NULL ? in->part_of[spike] : SF_NO_UNIT;
}

static bool is_of(const csv *in, size_t spike, const stream_key *key)
{
    const char *well = well_of(in, spike);
    return part_of(in, spike) == key->part &&
           (well == key->well || (well != NULL && key->well != NULL && strcmp(well, key->well) == 0));
}

static void name_stream(const csv *in, const stream_key *key, char name[2 * LONGEST_NAME])
{
    const char *part = key->part != SF_NO_UNIT ? in->parts.items[key->part].name : "";
    snprintf(name, 2 * LONGEST_NAME, "%s%s%s", key->well != NULL ? key->well : "",
             key->well != NULL && part[0] != '\0' ? "/" : "", part);
}

typedef struct counted_stream {
    char *name;
    stream_key key;
    uint64_t spikes;
    sf_span span; /* of its spikes */
} counted_stream;

static int by_name(const void *a, const void *b)
{
    const counted_stream *left = a, *right = b;
    return sf_text_compare(left->name, right->name);
}

static int by_start(const void *a, const void *b)
{
    const counted_stream *left = a, *right = b;
    return (left->span.start_ns > right->span.start_ns) - (left->span.start_ns < right->span.start_ns);
}

/* True if the spans do not overlap: then they are sessions of one clock, each recorded from its own first
 * spike on; otherwise they are trials with a time 0 of their own, all as long as the longest. */
static bool follow_each_other(counted_stream *list, size_t count)
{
    qsort(list, count, sizeof *list, by_start);
    for (size_t i = 1; i < count; i++)
        if (list[i].span.start_ns < list[i - 1].span.stop_ns) return false;
    return count > 1;
}

/* Finds the streams of all spikes. Consecutive spikes are mostly of the same stream. */
static int list_streams(csv *in, counted_stream **list, size_t *count)
{
    const sf_recording *recording = in->recording;
    size_t capacity = 0, last = 0;
    sf_units names = {0};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++) {
        uint32_t at = (uint32_t)last;
        if (*count == 0 || !is_of(in, i, &(*list)[last].key)) {
            char name[2 * LONGEST_NAME];
            const stream_key key = {well_of(in, i), part_of(in, i)};
            name_stream(in, &key, name);
            status = sf_units_intern(&names, name, &at, in->error);
            if (status == SF_OK && at == *count) {
                if (sf_reserve(list, &capacity, *count + 1, sizeof **list) != 0)
                    status = sf_fail_memory(in->error);
                else
                    (*list)[(*count)++] = (counted_stream){
                        .name = sf_copy_string(name), .key = key, .span = {INT64_MAX, INT64_MIN}};
                if (status == SF_OK && (*list)[at].name == NULL) status = sf_fail_memory(in->error);
            }
            last = at;
        }
        if (status != SF_OK) break;
        counted_stream *of = &(*list)[last];
        int64_t time_ns = recording->spikes[i].time_ns;
        of->spikes++;
        of->span.start_ns = time_ns < of->span.start_ns ? time_ns : of->span.start_ns;
        of->span.stop_ns = time_ns >= of->span.stop_ns ? time_ns + 1 : of->span.stop_ns;
    }
    sf_units_free(&names);
    return status;
}

/* Lists streams by name with their spikes; none if the file names none. The recorded span of each is that of
 * the file, if the file states one. */
static int count_streams(csv *in)
{
    sf_recording *recording = in->recording;
    bool wells = recording->units.count > 0 && recording->units.items[0].well != NULL;
    counted_stream *list = NULL;
    size_t count = 0;
    if (!wells && in->part_of == NULL) return SF_OK;
    in->streams.what = wells ? "well" : "stream";
    int status = list_streams(in, &list, &count);
    sf_span all = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < count; i++) {
        all.start_ns = list[i].span.start_ns < all.start_ns ? list[i].span.start_ns : all.start_ns;
        all.stop_ns = list[i].span.stop_ns > all.stop_ns ? list[i].span.stop_ns : all.stop_ns;
    }
    bool own = status == SF_OK && in->part_of != NULL && follow_each_other(list, count);
    if (status == SF_OK && !recording->declared && !own) recording->recorded = all;
    if (status == SF_OK && count > 0) qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        if (sf_reserve(&in->keys, &in->key_capacity, i + 1, sizeof *in->keys) != 0)
            status = sf_fail_memory(in->error);
        else
            in->keys[i] = list[i].key;
        if (status == SF_OK) status = sf_streams_add(&in->streams, list[i].name, list[i].spikes, in->error);
    }
    for (size_t i = 0; i < count; i++)
        sf_free(list[i].name);
    sf_free(list);
    return status;
}

static void free_streams(csv *in)
{
    sf_streams_free(&in->streams);
    sf_units_free(&in->parts);
    sf_free(in->part_of);
    sf_free(in->keys);
}

/* ---- the file ---- */

static int read_lines(csv *in, const sf_reading *how, const sf_progress *progress)
{
    sf_lines *lines = &in->lines;
    int status = how->columns != NULL ? take_columns(in, how->columns) : SF_OK;
    if (status == SF_OK && how->columns != NULL) status = check_rate(in);
    for (char *line; status == SF_OK && !in->has_ended && (line = sf_lines_next(lines)) != NULL;) {
        status = read_line(in, line);
        if (status == SF_OK && lines->number % LINES_PER_UPDATE == 0 &&
            !sf_progress_update(progress, "reading", (double)(lines->at - lines->text),
                                (double)(lines->end - lines->text)))
            status = sf_fail(in->error, SF_CANCELLED, lines->path, "stopped while reading");
    }
    if (status == SF_OK && in->rate_given && !in->form.counts_samples)
        status = sf_refuse_rate(lines->path, in->error);
    if (status == SF_OK && in->recording->spike_count == 0)
        status = sf_fail(in->error, SF_DATA, lines->path, "no spikes: expected lines of %s",
                         in->is_told ? "what the heading says" : plain_form);
    if (status == SF_OK) status = refuse_swapped(in);
    if (status == SF_DATA && in->recording->spike_count == 0 && in->first_line[0] != '\0')
        status = refuse_unknown(in);
    if (status == SF_OK && in->is_plate) status = sf_plate_place(in->recording, in->error);
    if (status == SF_OK) status = order_units(in->recording, NULL, in->error);
    if (status == SF_OK && in->is_plate) status = sf_plate_take_section(in->recording, in->error);
    return status == SF_OK ? count_streams(in) : status;
}

/* Keeps the spikes of one stream, and all units of its well, silent ones included. */
static int choose_stream(csv *in, const char *asked)
{
    const char *name;
    sf_session session;
    sf_recording *recording = in->recording;
    int status = sf_streams_choose(&in->streams, asked, in->lines.path, &name, &session, in->error);
    size_t at = 0, kept = 0;
    while (status == SF_OK && name != NULL && in->streams.items[at].name != name)
        at++;
    for (size_t i = 0; status == SF_OK && name != NULL && i < recording->spike_count; i++)
        if (is_of(in, i, &in->keys[at])) recording->spikes[kept++] = recording->spikes[i];
    if (status == SF_OK && name != NULL) {
        recording->spike_count = kept;
        status = order_units(recording, in->keys[at].well, in->error);
    }
    return status == SF_OK
               ? sf_sessions_take(recording, in->streams.count > 1 ? name : NULL, session, in->error)
               : status;
}

/* Replaces streams whose clock steps back by their sessions. */
static int list_sessions(csv *in, sf_streams *streams)
{
    const sf_recording *all = in->recording;
    streams->what = in->streams.count > 0 ? in->streams.what : "session";
    int status = in->part_of == NULL ? sf_sessions_list(streams, NULL, true, all, in->error) : SF_OK;
    if (status != SF_OK || in->streams.count == 0) return status;
    if (in->part_of == NULL && streams->count == 0) { /* no unit steps back, of whatever well */
        *streams = in->streams;
        in->streams = (sf_streams){0};
        return SF_OK;
    }
    sf_streams_free(streams);
    streams->what = in->streams.what;
    sf_recording one = {.units = all->units};
    one.spikes = sf_resize(NULL, all->spike_count, sizeof *one.spikes);
    status = one.spikes != NULL ? SF_OK : sf_fail_memory(in->error);
    for (size_t s = 0; status == SF_OK && s < in->streams.count; s++) {
        one.spike_count = 0;
        for (size_t i = 0; i < all->spike_count; i++)
            if (is_of(in, i, &in->keys[s])) one.spikes[one.spike_count++] = all->spikes[i];
        status = sf_sessions_list(streams, &in->streams.items[s], in->streams.count == 1, &one, in->error);
    }
    sf_free(one.spikes);
    return status;
}

static bool is_gdf(const char *path)
{
    const char *suffix = strrchr(path, '.');
    return suffix != NULL && strcmp(suffix, ".gdf") == 0;
}

/* Reads all wells; the caller frees them with the recording. Empty on failure. */
static int read_all(csv *in, const sf_reading *how, const sf_progress *progress)
{
    static const sf_reading as_it_says;
    how = how != NULL ? how : &as_it_says;
    in->rate_hz = how->rate_hz;
    in->rate_given = how->rate_hz > 0;
    in->form = sf_csv_form_plain();
    if (is_gdf(in->lines.path)) {
        in->form.exponent = 6;
        in->form.names_scale = false;
    }
    in->recording->path = sf_copy_string(in->lines.path);
    int status = in->recording->path != NULL ? tell_form(in, NULL) : sf_fail_memory(in->error);
    return status == SF_OK ? read_lines(in, how, progress) : status;
}

int sf_csv_read_lines(sf_recording *recording, const sf_lines *lines, const sf_reading *how,
                      const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    csv in = {.recording = recording, .lines = *lines, .error = error};
    int status = read_all(&in, how, progress);
    if (status == SF_OK) status = choose_stream(&in, how != NULL ? how->stream : NULL);
    if (status == SF_OK) status = sf_recording_finish(recording, error);
    free_streams(&in);
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}

static int open_lines(sf_lines *lines, const char *path, sf_error *error)
{
    sf_error reason;
    int status = sf_lines_open(lines, path, &reason);
    if (status == SF_DATA)
        return sf_fail(error, SF_DATA, path,
                       "this is neither HDF5 nor lines of name,seconds: %s; docs/formats.md has what is read",
                       reason.text);
    return status == SF_OK ? SF_OK : sf_fail(error, reason.code, reason.place, "%s", reason.text);
}

/* A system whose binary files hold spikes, or voltages that users may take for spikes. */
typedef struct other_system {
    const char *suffix, *system, *way; /* way NULL: convert with Neo or SpikeInterface */
    bool voltages;
    const char *begins; /* first bytes, if other systems use the same suffix; else NULL */
} other_system;

#define SORT "sort them, and open what the sorter writes"

static const other_system other_systems[] = {
    {".spk", "AxIS (.spk)",
     "it does not begin with AxionBio, as one of AxIS 1 and later does; export its spike list (CSV) in AxIS "
     "Navigator",
     false, NULL},
    {".mcd", "MC_Rack (.mcd)", "export it as HDF5 with Multi Channel DataManager", false, NULL},
    {".nev", "Blackrock (.nev)",
     "it begins with neither NEURALEV nor BREVENTS, as one of version 2.1 to 3.0 does", false, NULL},
    {".ns2", "Blackrock (.ns2)", "spikes are in the .nev file beside it", true, NULL},
    {".ns3", "Blackrock (.ns3)", "spikes are in the .nev file beside it", true, NULL},
    {".ns5", "Blackrock (.ns5)", "spikes are in the .nev file beside it", true, NULL},
    {".ns6", "Blackrock (.ns6)", "spikes are in the .nev file beside it", true, NULL},
    {".smr", "Spike2 (.smr)", NULL, false, NULL},
    {".smrx", "Spike2 (.smrx)", NULL, false, NULL},
    {".plx", "Plexon (.plx)", "it does not begin with PLEX, as one of version 100 or later does", false,
     NULL},
    {".pl2", "Plexon (.pl2)",
     "its layout is not published; export it as .plx from Offline Sorter or PlexUtil, or as .nex5 from "
     "NeuroExplorer",
     false, NULL},
    {".nse", "Neuralynx (.nse)", NULL, false, NULL},
    {".ntt", "Neuralynx (.ntt)", NULL, false, NULL},
    {".nst", "Neuralynx (.nst)", NULL, false, NULL},
    {".ncs", "Neuralynx (.ncs)", SORT, true, NULL},
    {".tsq", "Tucker-Davis (.tsq)", NULL, false, NULL},
    {".tev", "Tucker-Davis (.tev)", NULL, false, NULL},
    {".mat", "MATLAB (.mat) of v4", "in MATLAB, save(..., '-v7.3') writes one that is", false, NULL},
    {".spikes", "Open Ephys (.spikes)", NULL, false, NULL},
    {".continuous", "Open Ephys (.continuous)", SORT, true, NULL},
    {".rhd", "Intan (.rhd)", SORT, true, NULL},
    {".rhs", "Intan (.rhs)", SORT, true, NULL},
    {".nix", "NIX (.nix)", NULL, false, NULL},
    {".npy", "NumPy (.npy)", "in Python synfire.Recording.from_arrays takes arrays of times and units over",
     false, "\x93NUMPY"},
    {".npz", "NumPy (.npz)", "in Python synfire.Recording.from_arrays takes arrays of times and units over",
     false, "PK"},
    {".gz", "gzip (.gz)", "`gunzip -k` unpacks it, and `zcat FILE | synfire info /dev/stdin` does without",
     false, "\x1f\x8b"},
    {".zip", "zip (.zip)", "unpack it", false, "PK"},
};

static bool begins_with(const char *path, const char *mark)
{
    char found[16];
    size_t length = strlen(mark);
    return length <= sizeof found && sf_binary_begin(path, found, length) && memcmp(found, mark, length) == 0;
}

static const other_system *system_of(const char *path)
{
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix != NULL && i < sizeof other_systems / sizeof other_systems[0]; i++) {
        const other_system *of = &other_systems[i];
        if (strcasecmp(suffix, of->suffix) == 0 && (of->begins == NULL || begins_with(path, of->begins)))
            return of;
    }
    return NULL;
}

static int refuse_other(const char *path, const other_system *of, sf_error *error)
{
    if (of->voltages)
        return sf_fail(error, SF_DATA, path, "no spike times: this is a file of %s, which holds voltages; %s",
                       of->system, of->way);
    if (of->way != NULL)
        return sf_fail(error, SF_DATA, path, "this is a file of %s, which is not read: %s", of->system,
                       of->way);
    return sf_fail(error, SF_DATA, path,
                   "this is a file of %s, which is not read: Neo or SpikeInterface reads it, and in Python "
                   "synfire.Recording.from_neo or from_sorting takes it over (docs/from-other-tools.md)",
                   of->system);
}

int sf_csv_read(sf_recording *recording, const char *path, const sf_reading *how, const sf_progress *progress,
                sf_error *error)
{
    *recording = (sf_recording){0};
    sf_lines lines;
    int status = open_lines(&lines, path, error);
    if (status == SF_OK) {
        status = sf_csv_read_lines(recording, &lines, how, progress, error);
        sf_lines_close(&lines);
    }
    const other_system *of = status == SF_DATA ? system_of(path) : NULL;
    return of != NULL ? refuse_other(path, of, error) : status;
}

int sf_csv_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error)
{
    sf_recording recording = {0};
    csv in = {.recording = &recording, .error = error};
    int status = open_lines(&in.lines, path, error);
    if (status != SF_OK) return status;
    sf_lines whole = in.lines;
    status = read_all(&in, how, NULL);
    sf_lines_close(&whole);
    if (status == SF_OK) status = list_sessions(&in, streams);
    if (status != SF_OK) sf_streams_free(streams);
    free_streams(&in);
    sf_recording_clear(&recording);
    return status;
}
