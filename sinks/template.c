/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/template.h"

#include "core/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const fields[] = {"name", "id", "occurrence", "seq", "time_ns"};
enum { NAME, ID, OCCURRENCE, SEQ, TIME, FIELDS };

/* One piece of a text: a byte or a field. */
typedef struct piece {
    int field; /* FIELDS: it is a byte */
    char byte;
    size_t length; /* in the text; 0: what stands there means nothing */
} piece;

static int digit_of(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = letter != '\0' ? strchr(digits, letter | 0x20) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static piece escaped(const char *at)
{
    static const char letters[] = "nrt0\\", bytes[] = "\n\r\t\0\\";
    const char *known = at[1] != '\0' ? strchr(letters, at[1]) : NULL;
    if (known != NULL) return (piece){FIELDS, bytes[known - letters], 2};
    int high = at[1] == 'x' ? digit_of(at[2]) : -1, low = high >= 0 ? digit_of(at[3]) : -1;
    return (piece){FIELDS, (char)(unsigned char)(high * 16 + low), low >= 0 ? 4 : 0};
}

static piece braced(const char *at)
{
    if (at[1] == at[0]) return (piece){FIELDS, at[0], 2};
    for (int i = 0; i < FIELDS && at[0] == '{'; i++) {
        size_t length = strlen(fields[i]);
        if (strncmp(at + 1, fields[i], length) == 0 && at[1 + length] == '}')
            return (piece){i, 0, length + 2};
    }
    return (piece){0};
}

static piece next(const char *at)
{
    if (*at == '\\') return escaped(at);
    if (*at == '{' || *at == '}') return braced(at);
    return (piece){FIELDS, *at, 1};
}

int sf_template_check(const char *text, const char *key, sf_error *error)
{
    for (const char *at = text; *at != '\0';) {
        piece found = next(at);
        if (found.length == 0)
            return sf_fail(
                error, SF_CONFIG, key,
                "found '%.12s', expected {name}, {id}, {occurrence}, {seq} or {time_ns}, {{ or }}, "
                "\\n, \\r, \\t, \\0, \\xHH or \\\\",
                at);
        at += found.length;
    }
    return SF_OK;
}

static void fill_field(sf_text *into, int field, const sf_message *trigger)
{
    if (field == NAME)
        sf_text_append(into, trigger->trigger.name, strlen(trigger->trigger.name));
    else if (field == ID)
        sf_text_append(into, trigger->trigger.id, strlen(trigger->trigger.id));
    else if (field == TIME)
        sf_text_printf(into, "%" PRId64, trigger->time_ns);
    else
        sf_text_printf(into, "%" PRIu64, field == SEQ ? trigger->seq : trigger->trigger.occurrence);
}

void sf_template_fill(sf_text *into, const char *text, const sf_message *trigger)
{
    for (const char *at = text; *at != '\0';) {
        piece found = next(at);
        if (found.length == 0) return;
        if (found.field == FIELDS)
            sf_text_append(into, &found.byte, 1);
        else
            fill_field(into, found.field, trigger);
        at += found.length;
    }
}
