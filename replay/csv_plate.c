/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv_plate.h"

#include "replay/reader.h"

#include "core/seconds.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sf_plate_electrode(const char *text, char well[8], int *column, int *row)
{
    size_t letters = 0, length;
    while (letters < 3 && text[letters] >= 'A' && text[letters] <= 'Z')
        letters++;
    for (length = letters; length < letters + 3 && isdigit((unsigned char)text[length]); length++)
        ;
    const char *place = text + length;
    if (letters < 1 || letters > 2 || length == letters || length > letters + 2 || place[0] != '_' ||
        place[1] < '1' || place[1] > '9' || place[2] < '1' || place[2] > '9' || place[3] != '\0')
        return false;
    memcpy(well, text, length);
    well[length] = '\0';
    *column = place[1] - '0';
    *row = place[2] - '0';
    return true;
}

int sf_plate_place(sf_recording *recording, sf_error *error)
{
    int most = 0;
    for (size_t i = 0; i < recording->units.count; i++) {
        int electrode = recording->units.items[i].electrode;
        most = electrode / 10 > most ? electrode / 10 : most;
        most = electrode % 10 > most ? electrode % 10 : most;
    }
    double pitch_um = most > 4 ? 200 : 350;
    for (size_t i = 0; i < recording->units.count; i++) {
        sf_unit *unit = &recording->units.items[i];
        unit->x_um = (unit->electrode / 10 - 1) * pitch_um;
        unit->y_um = (unit->electrode % 10 - 1) * pitch_um;
    }
    return sf_reader_metadata_real(recording, "pitch_um", pitch_um, error);
}

/* `18m2s`, `1h3m`, `0s`, `2m0.5s`; what follows it in *at. */
static bool read_duration(const char **at, double *seconds)
{
    bool any = false;
    *seconds = 0;
    for (;;) {
        char *end;
        double number = isdigit((unsigned char)**at) ? strtod(*at, &end) : -1;
        double scale = number < 0 ? 0 : *end == 'h' ? 3600 : *end == 'm' ? 60 : *end == 's' ? 1 : 0;
        if (scale == 0) return any;
        *seconds += number * scale;
        *at = end + 1;
        any = true;
    }
}

int sf_plate_take_section(sf_recording *recording, sf_error *error)
{
    const char *text = sf_recording_metadata(recording, "Actual File Section Run");
    double from = 0, to = 0;
    if (text == NULL || !read_duration(&text, &from) || strncmp(text, " to ", 4) != 0) return SF_OK;
    text += 4;
    if (!read_duration(&text, &to) || *text != '\0' || !(from < to && to < 1e9)) return SF_OK;
    double last = (double)sf_reader_last_ns(recording) * 1e-9;
    if (last >= from + (to - from) / 2) {
        recording->recorded = (sf_span){sf_seconds_to_ns(from), sf_seconds_to_ns(to)};
        recording->declared = true;
        return SF_OK;
    }
    char said[160];
    snprintf(said, sizeof said,
             "%.9g to %.9g s by the file, which ends at %s s: it was cut, and is not believed", from, to,
             sf_seconds_of(sf_reader_last_ns(recording)).text);
    return sf_recording_set_metadata(recording, "recorded", said, error);
}
