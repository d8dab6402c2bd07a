/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv_plate.h"

#include "replay/reader.h"

#include <ctype.h>
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
