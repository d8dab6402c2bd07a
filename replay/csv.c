/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "replay/csv_form.h"
#include "replay/csv_plate.h"
#include "replay/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NAME 255
#define LEAST_SWAPPED 20 /* spikes that tell whether columns are swapped */
#define LINES_PER_UPDATE 65536
#define MOST_WELLS 1536
#define MOST_NOTES 64

typedef struct csv {
    sf_recording *recording;
    sf_lines lines;
    size_t capacity;
    sf_csv_form form;
    bool is_told;   /* `form` is by a heading or by the caller, else the plain one */
    bool is_plate;  /* a spike list of AxIS: units are WELL_ELECTRODE */
    bool has_begun; /* a spike was read */
    bool has_ended; /* what follows are no spikes */
    size_t notes;   /* metadata of a plate's first two columns */
    double rate_hz; /* of samples */
    bool rate_given;
    sf_streams wells;
    sf_error *error;
} csv;

/* What stands where a spike is expected; a fitting sentence is rather long than wrong. */
static const char plain_form[] = "a unit's name, a comma and a time in seconds"; /* or what separates here */

/* ---- fields ---- */

/* A word, and not one that a broken export writes for a number. */
static bool is_word(const char *field)
{
    return (isalpha((unsigned char)*field) || *field == '_') && strncasecmp(field, "nan", 3) != 0 &&
           strncasecmp(field, "inf", 3) != 0;
}

/* Fields of a line, cut in place; their number, with those beyond the room for them. */
static size_t cut(const sf_lines *lines, char *line, char **fields)
{
    size_t count = 0;
    for (char *rest = line; rest != NULL; count++) {
        char *field = sf_lines_field(lines, &rest);
        if (count < SF_CSV_MOST_COLUMNS)
            fields[count] = field;
    }
    return count;
}

static bool is_blank(char *const *fields, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (fields[i][0] != '\0')
            return false;
    return true;
}

/* ---- the heading ---- */

/* Between blanks `Time (s)` is one name, and `# unit time` has a mark before it. */
static void mend_heading(const sf_lines *lines, char *line)
{
    char *to = line, *from = line;
    if (lines->separator != ' ')
        return;
    from += *from == '#' && from[1] == ' ' ? 2 : 0;
    for (; *from != '\0'; from++) {
        const char *after = from + strspn(from, " ");
        if (after > from && (*after == '(' || *after == '['))
            from += after - from;
        *to++ = *from;
    }
    *to = '\0';
}

/* With two columns any word in the second is a heading; with more, words of which one heads times, as a line
 * of a spike may hold nothing but words beside its time. */
static bool is_heading(const csv *in, char *const *fields, size_t count)
{
    if (count < 2)
        return false;
    if (in->is_told)
        return in->form.time < count && is_word(fields[in->form.time]);
    return count == 2 ? is_word(fields[1]) : sf_csv_heads_times(fields, count);
}

/* How the file is read is told where it is not the plain way. */
static int tell_form(csv *in, char *const *names)
{
    static const char *const scales[] = {[0] = "ns", [3] = "us", [6] = "ms", [9] = "s"};
    const sf_csv_form *form = &in->form, plain = sf_csv_form_plain();
    const char *in_units = form->counts_samples ? "samples" : scales[form->exponent];
    char name[64] = "", time[64] = "";
    if (form->unit == plain.unit && form->time == plain.time && form->count == plain.count &&
        form->exponent == plain.exponent && !form->counts_samples && in->lines.separator != ' ')
        return SF_OK;
    if (names != NULL) {
        snprintf(name, sizeof name, " '%.40s'", names[form->unit]);
        snprintf(time, sizeof time, " '%.40s'", names[form->time]);
    }
    return sf_reader_set_format(in->recording, in->error,
                                "CSV: units of column %zu%s, times of column %zu%s in %s", form->unit + 1,
                                name, form->time + 1, time, in_units);
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

/* The first line that holds anything, where it is a heading. */
static int take_heading(csv *in, char *const *fields, size_t count)
{
    if (in->is_told) /* by the caller, who says it otherwise */
        return SF_OK;
    int status = sf_csv_form_of(&in->form, fields, count, in->lines.path, in->error);
    if (status == SF_OK)
        status = tell_form(in, fields);
    if (status == SF_OK)
        status = check_rate(in);
    in->is_told = true;
    return status;
}

/* What the caller says of the columns. */
static int take_columns(csv *in, const char *columns)
{
    char *copy = sf_copy_string(columns), *fields[SF_CSV_MOST_COLUMNS];
    sf_lines commas = {.separator = ','};
    if (copy == NULL)
        return sf_fail_memory(in->error);
    size_t count = cut(&commas, copy, fields);
    sf_error reason = {0};
    int status = count < 2 ? sf_fail(in->error, SF_USAGE, "columns",
                                     "found '%s', expected all columns as time_ms,unit", columns)
                           : sf_csv_form_of(&in->form, fields, count, NULL, &reason);
    if (status == SF_DATA)
        status = sf_fail(in->error, SF_USAGE, "columns", "%s", reason.text);
    in->is_told = true;
    if (status == SF_OK)
        status = tell_form(in, fields);
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

/* A unit of a well, where the file tells of wells: its name begins with that. */
static int find_unit(csv *in, const char *name, const char *well, int electrode, uint32_t *index)
{
    sf_units *units = &in->recording->units;
    size_t before = units->count;
    int status = sf_units_intern(units, name, index, in->error);
    if (status != SF_OK || well == NULL)
        return status;
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
    if (comma != NULL)
        *comma = '.';
    return at < count && sf_parse_real(fields[at], &value) ? (float)value : NAN;
}

/* The name as the columns say it: 1 to 255 bytes. */
static bool make_name(const csv *in, char *const *fields, char name[LONGEST_NAME + 1])
{
    const sf_csv_form *form = &in->form;
    const char *well = form->well != SF_CSV_NONE ? fields[form->well] : NULL;
    const char *more = form->of_unit != SF_CSV_NONE ? fields[form->of_unit] : NULL;
    if (fields[form->unit][0] == '\0' || (well != NULL && well[0] == '\0'))
        return false;
    int length =
        snprintf(name, LONGEST_NAME + 1, "%s%s%s%s%s", well != NULL ? well : "", well != NULL ? "_" : "",
                 fields[form->unit], more != NULL ? ":" : "", more != NULL ? more : "");
    return length > 0 && length <= LONGEST_NAME;
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
    if (!read_time(in, time, &time_ns))
        return sf_lines_refuse(&in->lines,
                               in->form.counts_samples ? "a whole number of samples, of 146 years at most"
                                                       : "a time from 0 to 4.6e9 seconds",
                               time, in->error);
    int status = find_unit(in, name, well, electrode, &unit);
    return status == SF_OK ? add_spike(in, unit, time_ns, read_amplitude(in, fields, count)) : status;
}

/* ---- spike lists of AxIS ---- */

/* What stands beside the spikes in the first two columns; the wells' own list ends them. */
static int take_note(csv *in, char *const *fields)
{
    if (in->form.time < 2 || in->form.unit < 2 || fields[0][0] == '\0')
        return SF_OK;
    in->has_ended = strncasecmp(fields[0], "Well Information", 16) == 0;
    if (in->has_ended || fields[1][0] == '\0' || in->notes++ >= MOST_NOTES)
        return SF_OK;
    return sf_recording_set_metadata(in->recording, fields[0], fields[1], in->error);
}

/* A line of such a list that only says what the recording is. */
static bool is_note(const csv *in, char *const *fields)
{
    const char *unit = fields[in->form.unit];
    char well[8], *time = fields[in->form.time];
    int column, row;
    int64_t time_ns;
    if (unit[0] == '\0' && time[0] == '\0')
        return true;
    return fields[0][0] != '\0' && !sf_plate_electrode(unit, well, &column, &row) &&
           !read_time(in, time, &time_ns);
}

/* Told by the first electrode; until then lines without one may come. */
static int begin_plate(csv *in, char *const *fields)
{
    char well[8];
    int column, row;
    in->is_plate = in->form.of_electrodes && in->form.well == SF_CSV_NONE &&
                   sf_plate_electrode(fields[in->form.unit], well, &column, &row);
    in->has_begun = in->is_plate || fields[in->form.unit][0] != '\0';
    return in->is_plate ? sf_reader_set_format(in->recording, in->error, "Axion spike list") : SF_OK;
}

static size_t last_needed(const sf_csv_form *form)
{
    size_t last = form->unit > form->time ? form->unit : form->time;
    last = form->of_unit != SF_CSV_NONE && form->of_unit > last ? form->of_unit : last;
    return form->well != SF_CSV_NONE && form->well > last ? form->well : last;
}

/* ---- lines ---- */

static int refuse_count(const csv *in, const char *original)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%zu fields", in->form.count);
    return sf_lines_refuse(&in->lines, in->is_told ? expected : plain_form, original, in->error);
}

static int read_line(csv *in, char *line)
{
    char original[64],
        *fields[SF_CSV_MOST_COLUMNS]; /* fields are cut in place, and a refusal shows the line */
    bool is_first = in->lines.number == 1;
    snprintf(original, sizeof original, "%s", line);
    if (is_first)
        mend_heading(&in->lines, line);
    size_t count = cut(&in->lines, line, fields),
           seen = count < SF_CSV_MOST_COLUMNS ? count : SF_CSV_MOST_COLUMNS;
    if (is_blank(fields, 0, seen))
        return SF_OK;
    if (is_first && is_heading(in, fields, seen)) {
        int status = take_heading(in, fields, seen);
        return status == SF_OK && in->form.of_electrodes ? take_note(in, fields) : status;
    }
    if (is_first && !in->is_told && count > 2)
        return sf_fail(
            in->error, SF_DATA, in->lines.path,
            "line 1 has %zu columns and none of them is headed as times: --columns says what they are, with "
            "- for one that does not matter, as --columns unit,-,time_ms",
            count);
    if (last_needed(&in->form) >= seen)
        return in->is_plate ? SF_OK : refuse_count(in, original);
    int status = SF_OK;
    if (!in->has_begun)
        status = begin_plate(in, fields);
    bool may_be_note = in->form.of_electrodes && (in->is_plate || !in->has_begun);
    if (status == SF_OK && may_be_note)
        status = take_note(in, fields);
    if (status != SF_OK || in->has_ended || (may_be_note && is_note(in, fields)))
        return status;
    if (count > in->form.count && !is_blank(fields, in->form.count, seen))
        return refuse_count(in, original);
    return take_spike(in, fields, count, original);
}

/* Times where names should be: nearly every line names another unit, all of them numbers. */
static int refuse_swapped(const csv *in)
{
    const sf_units *units = &in->recording->units;
    size_t spikes = in->recording->spike_count;
    if (in->is_told || spikes < LEAST_SWAPPED || 2 * units->count < spikes)
        return SF_OK;
    double time;
    for (size_t i = 0; i < units->count; i++)
        if (!sf_parse_real(units->items[i].name, &time))
            return SF_OK;
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
    int order = strverscmp(left->name, right->name);
    return order != 0 ? order : strcmp(left->name, right->name);
}

/* Keeps these units, in this order, and their spikes. */
static int keep_units(sf_recording *recording, const sf_unit *const *kept, size_t count, sf_error *error)
{
    sf_units before = recording->units, after = {0};
    uint32_t *moved = sf_alloc(before.count, sizeof *moved);
    int status = moved != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < before.count; i++)
        moved[i] = SF_NO_UNIT;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        moved[kept[i] - before.items] = (uint32_t)i;
        status = sf_units_add(&after, kept[i], error);
    }
    size_t spikes = 0;
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++) {
        sf_spike spike = recording->spikes[i];
        spike.unit = moved[spike.unit];
        if (spike.unit != SF_NO_UNIT)
            recording->spikes[spikes++] = spike;
    }
    sf_free(moved);
    if (status != SF_OK) {
        sf_units_free(&after);
        return status;
    }
    recording->spike_count = spikes;
    sf_units_free(&recording->units);
    recording->units = after;
    return SF_OK;
}

/* Puts units in the order of their names, so that an index does not depend on which unit fires first; of a
 * well, only its own. */
static int order_units(sf_recording *recording, const char *well, sf_error *error)
{
    const sf_units *units = &recording->units;
    const sf_unit **kept = sf_alloc(units->count, sizeof *kept);
    size_t count = 0;
    if (kept == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < units->count; i++)
        if (well == NULL || strcmp(units->items[i].well, well) == 0)
            kept[count++] = &units->items[i];
    qsort(kept, count, sizeof *kept, compare_names);
    int status = keep_units(recording, kept, count, error);
    sf_free(kept);
    return status;
}

static int find_well(csv *in, const char *name, size_t *at)
{
    sf_streams *wells = &in->wells;
    for (*at = wells->count; *at > 0; (*at)--)
        if (strcmp(wells->items[*at - 1].name, name) == 0) {
            (*at)--;
            return SF_OK;
        }
    *at = wells->count;
    if (wells->count == MOST_WELLS)
        return sf_fail(in->error, SF_DATA, in->lines.path, "names more than %d wells, which no plate has",
                       MOST_WELLS);
    return sf_streams_add(wells, name, 0, in->error);
}

/* In the order of their names, with their spikes; none where the file tells of none. Units are in order. */
static int count_wells(csv *in)
{
    const sf_recording *recording = in->recording;
    const sf_units *units = &recording->units;
    in->wells.what = "well";
    if (units->count == 0 || units->items[0].well == NULL)
        return SF_OK;
    size_t *wells = sf_alloc(units->count, sizeof *wells);
    int status = wells != NULL ? SF_OK : sf_fail_memory(in->error);
    for (size_t i = 0; status == SF_OK && i < units->count; i++)
        status = find_well(in, units->items[i].well, &wells[i]);
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++)
        in->wells.items[wells[recording->spikes[i].unit]].spikes++;
    sf_free(wells);
    return status;
}

/* ---- the file ---- */

static int read_lines(csv *in, const sf_reading *how, const sf_progress *progress)
{
    sf_lines *lines = &in->lines;
    int status = how->columns != NULL ? take_columns(in, how->columns) : SF_OK;
    if (status == SF_OK && how->columns != NULL)
        status = check_rate(in);
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
    if (status == SF_OK)
        status = refuse_swapped(in);
    if (status == SF_OK && in->is_plate)
        status = sf_plate_place(in->recording, in->error);
    if (status == SF_OK)
        status = order_units(in->recording, NULL, in->error);
    return status == SF_OK ? count_wells(in) : status;
}

static int choose_well(csv *in, const char *asked)
{
    const char *well;
    if (in->wells.count == 0)
        return asked == NULL ? SF_OK : sf_refuse_stream(in->lines.path, asked, in->error);
    int status = sf_streams_choose(&in->wells, asked, in->lines.path, &well, in->error);
    return status == SF_OK ? order_units(in->recording, well, in->error) : status;
}

/* All wells, which the caller frees with the recording; nothing where it fails. */
static int read_all(csv *in, const sf_reading *how, const sf_progress *progress)
{
    static const sf_reading as_it_says;
    how = how != NULL ? how : &as_it_says;
    in->rate_hz = how->rate_hz;
    in->rate_given = how->rate_hz > 0;
    in->form = sf_csv_form_plain();
    in->recording->path = sf_copy_string(in->lines.path);
    in->recording->format = sf_copy_string("CSV");
    return in->recording->path != NULL && in->recording->format != NULL ? read_lines(in, how, progress)
                                                                        : sf_fail_memory(in->error);
}

int sf_csv_read_lines(sf_recording *recording, const sf_lines *lines, const sf_reading *how,
                      const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    csv in = {.recording = recording, .lines = *lines, .error = error};
    int status = read_all(&in, how, progress);
    if (status == SF_OK)
        status = choose_well(&in, how != NULL ? how->stream : NULL);
    if (status == SF_OK)
        status = sf_recording_finish(recording, error);
    sf_streams_free(&in.wells);
    if (status != SF_OK)
        sf_recording_clear(recording);
    return status;
}

static int open_lines(sf_lines *lines, const char *path, sf_error *error)
{
    sf_error reason;
    int status = sf_lines_open(lines, path, &reason);
    if (status == SF_DATA)
        return sf_fail(error, SF_DATA, path, "this is neither HDF5 nor lines of name,seconds: %s",
                       reason.text);
    return status == SF_OK ? SF_OK : sf_fail(error, reason.code, reason.place, "%s", reason.text);
}

/* A system whose files of bytes people have spikes in, or voltages that they may take for them. */
typedef struct other_system {
    const char *suffix, *system, *way; /* way NULL: through Neo or SpikeInterface */
    bool voltages;
    const char *begins; /* its first bytes, where others have the ending, too; else NULL */
} other_system;

#define SORT "sort them, and open what the sorter writes"

static const other_system other_systems[] = {
    {".spk", "AxIS (.spk)", "export its spike list (CSV) in AxIS Navigator", false, NULL},
    {".raw", "AxIS (.raw)", "detect spikes in AxIS Navigator and export its spike list (CSV)", true,
     "AxionBio"},
    {".mcd", "MC_Rack (.mcd)", "export it as HDF5 with Multi Channel DataManager", false, NULL},
    {".nev", "Blackrock (.nev)", NULL, false, NULL},
    {".ns5", "Blackrock (.ns5)", "spikes are in the .nev file beside it", true, NULL},
    {".ns6", "Blackrock (.ns6)", "spikes are in the .nev file beside it", true, NULL},
    {".nex", "NeuroExplorer (.nex)", NULL, false, NULL},
    {".nex5", "NeuroExplorer (.nex5)", NULL, false, NULL},
    {".smr", "Spike2 (.smr)", NULL, false, NULL},
    {".smrx", "Spike2 (.smrx)", NULL, false, NULL},
    {".plx", "Plexon (.plx)", NULL, false, NULL},
    {".pl2", "Plexon (.pl2)", NULL, false, NULL},
    {".nse", "Neuralynx (.nse)", NULL, false, NULL},
    {".ntt", "Neuralynx (.ntt)", NULL, false, NULL},
    {".nst", "Neuralynx (.nst)", NULL, false, NULL},
    {".ncs", "Neuralynx (.ncs)", SORT, true, NULL},
    {".tsq", "Tucker-Davis (.tsq)", NULL, false, NULL},
    {".tev", "Tucker-Davis (.tev)", NULL, false, NULL},
    {".mat", "MATLAB (.mat)", NULL, false, NULL},
    {".spikes", "Open Ephys (.spikes)", NULL, false, NULL},
    {".continuous", "Open Ephys (.continuous)", SORT, true, NULL},
    {".rhd", "Intan (.rhd)", SORT, true, NULL},
    {".rhs", "Intan (.rhs)", SORT, true, NULL},
    {".nix", "NIX (.nix)", NULL, false, NULL},
};

static bool begins_with(const char *path, const char *mark)
{
    char found[16];
    size_t length = strlen(mark);
    FILE *file = fopen(path, "rb");
    bool begins = file != NULL && length <= sizeof found && fread(found, 1, length, file) == length &&
                  memcmp(found, mark, length) == 0;
    if (file != NULL)
        fclose(file);
    return begins;
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
    if (status != SF_OK)
        return status;
    sf_lines whole = in.lines;
    status = read_all(&in, how, NULL);
    sf_lines_close(&whole);
    sf_recording_clear(&recording);
    if (status == SF_OK)
        *streams = in.wells;
    else
        sf_streams_free(&in.wells);
    return status;
}
