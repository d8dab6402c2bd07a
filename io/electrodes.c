/* SPDX-License-Identifier: Apache-2.0 */
#include "io/electrodes.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"

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

/* A number up to the character that ends it, which is passed over; false where there is none. */
static bool take_number(const char **at, char after, double *number)
{
    char *end;
    *number = strtod(*at, &end);
    bool is_there = end > *at && isfinite(*number) && *end == after;
    *at = is_there ? end + (after != '\0') : *at;
    return is_there;
}

static bool take_index(const char **at, char after, int *index)
{
    double number;
    if (!take_number(at, after, &number) || number != floor(number) || number < 0 || number > MOST_INDEX)
        return false;
    *index = (int)number;
    return true;
}

/* One of them; false where the text is no such. */
static bool take_routed(const char **at, int *channel, int *electrode, double *x_um, double *y_um)
{
    if (!take_index(at, '(', channel) || !take_index(at, ')', electrode) || !take_number(at, '/', x_um) ||
        !(take_number(at, ';', y_um) || take_number(at, '\n', y_um) || take_number(at, '\0', y_um)))
        return false;
    *at += strspn(*at, "; \t\r\n");
    return true;
}

static int read_routing(sf_electrodes *to, const char *text, const char *path, sf_error *error)
{
    size_t capacity = 0;
    int status = SF_OK;
    to->is_routing = true;
    for (const char *at = text; *at != '\0' && status == SF_OK;) {
        const char *begin = at;
        int channel, electrode;
        char name[16];
        sf_unit unit = {.kind = SF_UNIT_MULTI_UNIT, .name = name};
        if (!take_routed(&at, &channel, &electrode, &unit.x_um, &unit.y_um))
            return sf_fail(
                error, SF_DATA, path,
                "after %zu electrodes found '%.24s', expected CHANNEL(ELECTRODE)X/Y; as MaxLab Live "
                "writes, or a probeinterface file (JSON)",
                to->units.count, begin);
        snprintf(name, sizeof name, "%d", electrode);
        unit.electrode = electrode;
        status = add(to, &capacity, &unit, channel, error);
    }
    return status;
}

/* ---- probeinterface ---- */

static double number_at(const json_t *list, size_t index)
{
    const json_t *value = json_array_get(list, index);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* A contact; without a channel of its own it is not connected. */
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
    if (!(channel >= 0 && channel <= MOST_INDEX))
        return SF_OK;
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
    if (document == NULL)
        return sf_fail(error, SF_DATA, path, "line %d: %s", reason.line, reason.text);
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
    if (status != SF_OK)
        return status;
    const char *begin = text.data + strspn(text.data, " \t\r\n");
    status = *begin == '{' ? read_json(electrodes, &text, path, error)
                           : read_routing(electrodes, begin, path, error);
    sf_text_free(&text);
    if (status == SF_OK && electrodes->units.count == 0)
        status = sf_fail(error, SF_DATA, path, "has no electrode that is connected");
    if (status == SF_OK)
        status = sf_units_finish(&electrodes->units, error);
    if (status != SF_OK)
        sf_electrodes_free(electrodes);
    return status;
}

void sf_electrodes_free(sf_electrodes *electrodes)
{
    sf_units_free(&electrodes->units);
    sf_free(electrodes->channels);
    *electrodes = (sf_electrodes){0};
}
