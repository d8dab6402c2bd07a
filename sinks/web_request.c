/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/web_request.h"

#include "core/error.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The host of HOST, HOST:PORT, [SIX] or [SIX]:PORT; false where it is none of these. */
static bool cut_host(char host[256], const char *text)
{
    const char *end = text + strcspn(text, ":"), *begin = text;
    if (text[0] == '[') {
        begin = text + 1;
        end = strchr(text, ']');
        if (end == NULL) return false;
    }
    const char *port = end + (text[0] == '[' ? 1 : 0);
    if (end == begin || end - begin > 255) return false;
    if (port[0] != '\0' && (port[0] != ':' || strspn(port + 1, "0123456789") != strlen(port + 1)))
        return false;
    snprintf(host, 256, "%.*s", (int)(end - begin), begin);
    return true;
}

bool sf_web_host_is_known(const char *text, const char *name)
{
    char host[256];
    struct in6_addr room;
    if (text == NULL || !cut_host(host, text)) return false;
    if (text[0] == '[') return inet_pton(AF_INET6, host, &room) == 1;
    return inet_pton(AF_INET, host, &room) == 1 || strcasecmp(host, "localhost") == 0 ||
           strcasecmp(host, name) == 0;
}

bool sf_web_origin_is_own(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return origin != NULL && host != NULL && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

/* Takes `word ` and then digits to the end. */
static bool read_digits(char *digits, size_t count, const char *word, const char *text, size_t size)
{
    size_t length = strlen(word);
    if (size != length + count || memcmp(text, word, length) != 0) return false;
    for (size_t i = 0; i < count; i++) {
        digits[i] = text[length + i];
        if (digits[i] == '\0' || strchr("0123456789abcdef", digits[i]) == NULL) return false;
    }
    digits[count] = '\0';
    return true;
}

/* Takes `word ` and then the rest, which has no control characters. */
static bool read_word(char *into, size_t size, const char *word, const char *text, size_t count)
{
    size_t length = strlen(word);
    if (count <= length || count - length >= size || memcmp(text, word, length) != 0) return false;
    for (size_t i = length; i < count; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return false;
        into[i - length] = text[i];
    }
    into[count - length] = '\0';
    return true;
}

int sf_web_request_read(sf_web_request *request, const char *text, size_t size, sf_error *error)
{
    *request = (sf_web_request){0};
    if (read_digits(request->token, SF_WEB_TOKEN, "token ", text, size))
        request->word = SF_WEB_TRUST;
    else if (read_digits(request->id, SF_EPISODE_ID_SIZE - 1, "mark ", text, size))
        request->word = SF_WEB_MARK;
    else if (size == strlen("unmark") && memcmp(text, "unmark", size) == 0)
        request->word = SF_WEB_UNMARK;
    else if (read_word(request->control, sizeof request->control, "control ", text, size))
        request->word = SF_WEB_CONTROL_BY;
    else if (read_word(request->trigger, sizeof request->trigger, "arm ", text, size))
        request->word = SF_WEB_ARM;
    else if (read_word(request->trigger, sizeof request->trigger, "disarm ", text, size))
        request->word = SF_WEB_DISARM;
    else
        return sf_fail(
            error, SF_DATA, "request",
            "expected `token HEX`, `mark ID`, `unmark`, `control TOKEN`, `arm NAME` or `disarm NAME`");
    return SF_OK;
}
