/* SPDX-License-Identifier: Apache-2.0 */
#include "io/curve.h"

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define MOST_BYTES ((size_t)64 << 10)
#define TEXT_LENGTH (SF_CURVE_TEXT_SIZE - 1)

/* ---- the text of a file ---- */

/* Trims blanks and quotes, which are no characters of a key. */
static void trim(const char **from, const char **to)
{
    static const char left_out[] = " \t\r\"'";
    while (*from < *to && strchr(left_out, **from) != NULL && **from != '\0')
        ++*from;
    while (*from < *to && strchr(left_out, (*to)[-1]) != NULL && (*to)[-1] != '\0')
        --*to;
}

static bool is_word(const char *from, const char *to, const char *word)
{
    return (size_t)(to - from) == strlen(word) && memcmp(from, word, (size_t)(to - from)) == 0;
}

/* The error message about a damaged file must not contain its secret. */
static int take_key(char into[SF_CURVE_TEXT_SIZE], const char *from, const char *to, const char *name,
                    size_t line, const char *place, sf_error *error)
{
    uint8_t bytes[SF_CURVE_KEY_BYTES];
    size_t length = (size_t)(to - from);
    if (into[0] != '\0') return sf_fail(error, SF_CONFIG, place, "line %zu: a second %s", line, name);
    if (length != TEXT_LENGTH)
        return sf_fail(error, SF_CONFIG, place, "line %zu: a %s of %zu characters, expected the %d of Z85",
                       line, name, length, TEXT_LENGTH);
    memcpy(into, from, length);
    into[length] = '\0';
    bool is_key = strlen(into) == length && zmq_z85_decode(bytes, into) != NULL;
    explicit_bzero(bytes, sizeof bytes);
    return is_key ? SF_OK
                  : sf_fail(error, SF_CONFIG, place, "line %zu: the %s has characters that Z85 has not", line,
                            name);
}

static int take_line(sf_curve_keys *keys, const char *from, const char *to, size_t line, const char *place,
                     sf_error *error)
{
    const char *equals = memchr(from, '=', (size_t)(to - from)), *name_end = equals;
    if (equals == NULL || *from == '#') /* a section, or a comment */
        return SF_OK;
    trim(&from, &name_end);
    bool is_secret = is_word(from, name_end, "secret-key");
    if (!is_secret && !is_word(from, name_end, "public-key")) return SF_OK; /* what people wrote about it */
    const char *value = equals + 1;
    trim(&value, &to);
    return take_key(is_secret ? keys->secret_key : keys->public_key, value, to,
                    is_secret ? "secret-key" : "public-key", line, place, error);
}

int sf_curve_parse(sf_curve_keys *keys, const char *bytes, size_t length, const char *place, sf_error *error)
{
    *keys = (sf_curve_keys){0};
    if (length > MOST_BYTES)
        return sf_fail(error, SF_CONFIG, place, "is no key file: it has %zu bytes", length);
    const char *end = bytes + length;
    size_t line = 0;
    int status = SF_OK;
    for (const char *from = bytes; from < end && status == SF_OK;) {
        const char *newline = memchr(from, '\n', (size_t)(end - from)), *to = newline != NULL ? newline : end;
        const char *begin = from;
        while (begin < to && (*begin == ' ' || *begin == '\t'))
            begin++;
        status = begin < to ? take_line(keys, begin, to, ++line, place, error) : (++line, SF_OK);
        from = newline != NULL ? newline + 1 : end;
    }
    if (status == SF_OK && keys->public_key[0] == '\0')
        status = sf_fail(error, SF_CONFIG, place,
                         "is no key file: it has no public-key, as those that `synfire keys` writes");
    if (status != SF_OK) explicit_bzero(keys, sizeof *keys);
    return status;
}

/* ---- files ---- */

static int no_curve(sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, NULL,
                   "keys need a libzmq that was built with CURVE, and this one was not: install libzmq5 of "
                   "Debian or Ubuntu, or leave keys away");
}

/* With a public key that does not match the secret one, every peer would refuse the connection silently. */
static int check_pair(const sf_curve_keys *keys, const char *path, sf_error *error)
{
    char own[SF_CURVE_TEXT_SIZE];
    if (keys->secret_key[0] == '\0')
        return sf_fail(error, SF_CONFIG, path,
                       "has no secret-key: expected the file NAME.key_secret of a pair");
    if (zmq_curve_public(own, keys->secret_key) != 0)
        return sf_fail(error, SF_CONFIG, path, "its secret-key is none");
    if (strcmp(own, keys->public_key) != 0)
        return sf_fail(error, SF_CONFIG, path, "its public-key and its secret-key are not of one pair");
    return sf_file_check_secret(path, "the key", error);
}

int sf_curve_read(sf_curve_keys *keys, const char *path, bool secret, sf_error *error)
{
    sf_text text = {0};
    *keys = (sf_curve_keys){0};
    if (zmq_has("curve") == 0) return no_curve(error);
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK) status = sf_curve_parse(keys, text.data, text.length, path, error);
    if (text.data != NULL) explicit_bzero(text.data, text.length);
    sf_text_free(&text);
    if (status == SF_OK && secret) status = check_pair(keys, path, error);
    if (!secret || status != SF_OK) explicit_bzero(keys->secret_key, sizeof keys->secret_key);
    return status;
}

static int write_new(const char *path, mode_t mode, const char *text, sf_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST)
        return sf_fail(error, SF_CANNOT_CREATE, path, "is there already, and keys are never replaced");
    if (fd < 0) return sf_fail(error, SF_CANNOT_CREATE, path, "cannot create: %s", strerror(errno));
    size_t length = strlen(text);
    bool written = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    int reason = errno;
    if (close(fd) == 0 && written) return SF_OK;
    unlink(path);
    return sf_fail(error, SF_IO, path, "cannot write: %s", strerror(reason));
}

#define SECTION "metadata\ncurve\n    public-key = \"%s\"\n"

int sf_curve_make(sf_curve_keys *keys, const char *path, sf_error *error)
{
    char public_path[4096], secret_path[4096], text[512];
    *keys = (sf_curve_keys){0};
    if (snprintf(public_path, sizeof public_path, "%s.key", path) >= (int)sizeof public_path - 8)
        return sf_fail(error, SF_CANNOT_CREATE, path, "the name is too long");
    snprintf(secret_path, sizeof secret_path, "%s.key_secret", path);
    if (zmq_has("curve") == 0 || zmq_curve_keypair(keys->public_key, keys->secret_key) != 0)
        return no_curve(error);
    snprintf(text, sizeof text,
             "# The secret half of a pair for CURVE: nobody but its owner may read this file.\n" SECTION
             "    secret-key = \"%s\"\n",
             keys->public_key, keys->secret_key);
    int status = write_new(secret_path, 0600, text, error);
    snprintf(text, sizeof text,
             "# The public half of a pair for CURVE: give this file to the other side.\n" SECTION,
             keys->public_key);
    if (status == SF_OK && (status = write_new(public_path, 0644, text, error)) != SF_OK) unlink(secret_path);
    explicit_bzero(text, sizeof text);
    explicit_bzero(keys->secret_key, sizeof keys->secret_key);
    return status;
}

/* ---- what is wanted ---- */

bool sf_curve_is_given(const char *path)
{
    return path != NULL && strcmp(path, SF_CURVE_NONE) != 0;
}

/* Fails if only one of two settings that belong together is given. */
static int both(bool *wanted, const char *key, const char *other, const char *name, const char *what,
                sf_error *error)
{
    *wanted = sf_curve_is_given(key);
    if (*wanted == sf_curve_is_given(other)) return SF_OK;
    if (*wanted) return sf_fail(error, SF_CONFIG, name, "is missing beside key: expected %s", what);
    return sf_fail(error, SF_CONFIG, "key",
                   "is missing beside %s: expected the secret file of a pair, as "
                   "`synfire keys` makes",
                   name);
}

int sf_curve_server_wanted(bool *wanted, const sf_curve_server *server, sf_error *error)
{
    return both(wanted, server->key, server->clients, "clients",
                "the public file of a client, or a folder of such files", error);
}

int sf_curve_client_wanted(bool *wanted, const sf_curve_client *client, sf_error *error)
{
    return both(wanted, client->key, client->server_key, "server_key",
                "the public file of the server that is connected", error);
}

/* The key of a setting, of a configuration or of options, in place of the file's path. */
int sf_curve_fail_at(const char *setting, int status, const sf_error *reason, sf_error *error)
{
    if (status == SF_NO_MEMORY) return sf_fail_memory(error);
    if (status == SF_UNAVAILABLE) return sf_fail(error, SF_UNAVAILABLE, setting, "%s", reason->text);
    return sf_fail(error, SF_CONFIG, setting, "%s: %s", reason->place, reason->text);
}

/* Both are zeros where none are wanted. */
static int read_client(sf_curve_keys *own, sf_curve_keys *server, const sf_curve_client *client,
                       sf_error *error)
{
    bool wanted;
    sf_error reason = {0};
    *own = *server = (sf_curve_keys){0};
    int status = sf_curve_client_wanted(&wanted, client, error);
    if (status != SF_OK || !wanted) return status;
    status = sf_curve_read(server, client->server_key, false, &reason);
    if (status != SF_OK) return sf_curve_fail_at("server_key", status, &reason, error);
    status = sf_curve_read(own, client->key, true, &reason);
    return status == SF_OK ? SF_OK : sf_curve_fail_at("key", status, &reason, error);
}

int sf_curve_client_check(const sf_curve_client *client, sf_error *error)
{
    sf_curve_keys own, server;
    int status = read_client(&own, &server, client, error);
    explicit_bzero(&own, sizeof own);
    return status;
}

int sf_curve_connect(void *socket, const sf_curve_client *client, sf_error *error)
{
    sf_curve_keys own, server;
    int status = read_client(&own, &server, client, error);
    if (status != SF_OK || own.secret_key[0] == '\0') return status;
    bool set = zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server.public_key, SF_CURVE_TEXT_SIZE) == 0 &&
               zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own.public_key, SF_CURVE_TEXT_SIZE) == 0 &&
               zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own.secret_key, SF_CURVE_TEXT_SIZE) == 0;
    explicit_bzero(&own, sizeof own);
    return set ? SF_OK
               : sf_fail(error, SF_UNAVAILABLE, "key", "the socket takes no keys: %s",
                         zmq_strerror(zmq_errno()));
}
