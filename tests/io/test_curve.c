/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of synfire's own sockets: files, who is let in and who is not, and that secrets stay where they are.
 */
#include "support/runs.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "ingest/protocol.h"
#include "io/curve.h"
#include "io/publisher.h"
#include "live/config_keys.h"
#include "live/run.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define TOKEN "0123456789abcdef"
#define PATIENCE_MS 60000

/* ---- files ---- */

/* Pairs of keys in a folder of their own: server, client and other; `clients` is a folder with client.key. */
typedef struct pairs {
    char *folder;
    char server[300], client[300], other[300], server_public[300], clients[300], allowed[300];
    char secrets[3][SF_CURVE_TEXT_SIZE];
} pairs;

static void secret_of(char secret[SF_CURVE_TEXT_SIZE], const char *path)
{
    char text[1000] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    sf_curve_keys keys;
    assert_int_equal(sf_curve_parse(&keys, text, length, path, NULL), SF_OK);
    assert_int_equal(strlen(keys.secret_key), SF_CURVE_TEXT_SIZE - 1);
    memcpy(secret, keys.secret_key, SF_CURVE_TEXT_SIZE);
}

static void make(const pairs *of, const char *name, char into[300], char secret[SF_CURVE_TEXT_SIZE])
{
    char path[300];
    sf_curve_keys keys;
    sf_error error;
    snprintf(path, sizeof path, "%s/%s", of->folder, name);
    if (sf_curve_make(&keys, path, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_string_equal(keys.secret_key, "");
    snprintf(into, 300, "%s/%s.key_secret", of->folder, name);
    secret_of(secret, into);
}

static void copy_file(const char *from, const char *to)
{
    char text[1000];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_true(in != NULL && out != NULL);
    fwrite(text, 1, fread(text, 1, sizeof text, in), out);
    fclose(in);
    fclose(out);
}

static void open_pairs(pairs *it)
{
    char from[300];
    *it = (pairs){.folder = test_temporary_path("")};
    unlink(it->folder);
    assert_int_equal(mkdir(it->folder, 0700), 0);
    make(it, "server", it->server, it->secrets[0]);
    make(it, "client", it->client, it->secrets[1]);
    make(it, "other", it->other, it->secrets[2]);
    snprintf(it->server_public, sizeof it->server_public, "%s/server.key", it->folder);
    snprintf(it->clients, sizeof it->clients, "%s/clients", it->folder);
    snprintf(it->allowed, sizeof it->allowed, "%s/clients/client.key", it->folder);
    assert_int_equal(mkdir(it->clients, 0700), 0);
    snprintf(from, sizeof from, "%s/client.key", it->folder);
    copy_file(from, it->allowed);
}

static void close_pairs(pairs *it)
{
    char command[400];
    snprintf(command, sizeof command, "rm -r '%s'", it->folder);
    assert_int_equal(system(command), 0);
    free(it->folder);
}

static void has_no_secret(const pairs *of, const char *text)
{
    for (int i = 0; i < 3; i++)
        assert_null(strstr(text, of->secrets[i]));
}

static void pairs_are_made_and_never_replaced(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    struct stat about;
    assert_int_equal(stat(it.server, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    char path[300], public_text[1000] = "", secret[SF_CURVE_TEXT_SIZE];
    snprintf(path, sizeof path, "%s/server", it.folder);
    sf_curve_keys keys;
    sf_error error;
    test_assert_fails(sf_curve_make(&keys, path, &error), &error, SF_CANNOT_CREATE, "is there already");
    secret_of(secret, it.server);
    assert_string_equal(secret, it.secrets[0]);
    FILE *file = fopen(it.server_public, "r");
    assert_true(fread(public_text, 1, sizeof public_text - 1, file) > 0);
    fclose(file);
    has_no_secret(&it, public_text);
    assert_int_equal(unlink(it.server), 0); /* half a pair that was there leaves no half behind */
    test_assert_fails(sf_curve_make(&keys, path, &error), &error, SF_CANNOT_CREATE, "is there already");
    assert_non_null(strstr(error.place, "server.key"));
    assert_int_equal(access(it.server, F_OK), -1);
    close_pairs(&it);
}

#define GOOD "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define SECRET "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"

static void texts_are_read_as_other_programs_write_them(void **state)
{
    (void)state;
    static const char *const good[] = {
        "public-key=\"" GOOD "\"",
        "# made by somebody\r\nmetadata\r\n    name = \"rig = 1\"\r\ncurve\r\n\tpublic-key = \"" GOOD
        "\"\r\n",
        "curve\n    public-key = '" GOOD "'\n    secret-key = \"" SECRET "\"",
    };
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"", "has no public-key"},
        {"curve\n", "has no public-key"},
        {"# public-key = \"" GOOD "\"\n", "has no public-key"},
        {"secret-key = \"" SECRET "\"\n", "has no public-key"},
        {"\n\npublic-key = \"" GOOD "x\"\n", "line 3: a public-key of 41 characters, expected the 40 of Z85"},
        {"public-key =\n", "line 1: a public-key of 0 characters"},
        {"public-key = \"" GOOD "\"\npublic-key = \"" GOOD "\"\n", "line 2: a second public-key"},
        {"public-key = \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]y~7\"\n", "has characters that Z85 has not"},
        {"public-key = \"#####################################"
         "###\"\n",
         "has characters that Z85 has not"},
        {"public-key = \"" GOOD "\"\nsecret-key = \"" SECRET "~\"", "line 2: a secret-key of 41 characters"},
    };
    sf_curve_keys keys;
    sf_error error;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(sf_curve_parse(&keys, good[i], strlen(good[i]), "f", &error), SF_OK);
        assert_string_equal(keys.public_key, GOOD);
        assert_string_equal(keys.secret_key, i == 2 ? SECRET : "");
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        test_assert_fails(sf_curve_parse(&keys, bad[i].text, strlen(bad[i].text), "f", &error), &error,
                          SF_CONFIG, bad[i].sentence);
        assert_null(strstr(error.text, SECRET));
        assert_string_equal(keys.secret_key, "");
    }
}

static void refuses_server(const char *key, const char *clients, const char *place, const char *sentence)
{
    sf_zmq_publisher publisher;
    sf_error error;
    const sf_publisher_settings settings = {
        .endpoint = "tcp://127.0.0.1:*", .queue = 10, .permit = "it", .curve = {key, clients}};
    test_assert_fails(sf_publisher_open(&publisher, &settings, &error), &error, SF_CONFIG, sentence);
    assert_string_equal(error.place, place);
}

static void bad_key_files_are_one_sentence(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    char nowhere[300], empty[300], text[1000] = "";
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", it.folder);
    snprintf(empty, sizeof empty, "%s/empty", it.folder);
    assert_int_equal(mkdir(empty, 0700), 0);
    refuses_server(it.server, "none", "clients", "is missing beside key");
    refuses_server("none", it.clients, "key", "is missing beside clients");
    refuses_server(nowhere, it.clients, "key", "No such file");
    refuses_server(it.server, nowhere, "clients", "No such file");
    refuses_server(it.server, empty, "clients", "holds no file *.key");
    refuses_server(it.server_public, it.clients, "key",
                   "has no secret-key: expected the file NAME.key_secret");
    assert_int_equal(chmod(it.server, 0640), 0);
    refuses_server(it.server, it.clients, "key", "chmod 600");
    assert_int_equal(chmod(it.server, 0600), 0);
    snprintf(text, sizeof text, "public-key = \"%s\"\nsecret-key = \"%s\"\n", GOOD, it.secrets[0]);
    FILE *file = fopen(it.server, "w");
    fputs(text, file);
    fclose(file);
    refuses_server(it.server, it.clients, "key", "are not of one pair");
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_SUB);
    sf_error error;
    test_assert_fails(sf_curve_connect(socket, &(sf_curve_client){it.client, NULL}, &error), &error,
                      SF_CONFIG, "is missing beside key");
    assert_string_equal(error.place, "server_key");
    test_assert_fails(sf_curve_connect(socket, &(sf_curve_client){it.client, nowhere}, &error), &error,
                      SF_CONFIG, "No such file");
    zmq_close(socket);
    zmq_ctx_term(context);
    close_pairs(&it);
}

/* ---- who is let in ---- */

static void *subscribe(void *context, const char *endpoint, const sf_curve_client *client, int wait_ms)
{
    void *socket = zmq_socket(context, ZMQ_SUB);
    int none = 0;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    assert_int_equal(sf_curve_connect(socket, client, NULL), SF_OK);
    assert_int_equal(zmq_connect(socket, endpoint), 0);
    return socket;
}

static void await_refused(const sf_zmq_publisher *publisher, int64_t least)
{
    int64_t until_ns = sf_clock_monotonic_ns() + PATIENCE_MS * SF_MILLISECOND;
    while (sf_curve_gate_refused(publisher->gate) < least) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
}

static void only_clients_in_the_list_are_served(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    char other_public[300], byte;
    snprintf(other_public, sizeof other_public, "%s/other.key", it.folder);
    for (int single = 0; single < 2; single++) { /* a folder, or the file of the one client */
        sf_zmq_publisher publisher;
        sf_error error;
        const sf_publisher_settings settings = {.endpoint = "tcp://127.0.0.1:*",
                                                .queue = 10,
                                                .permit = "it",
                                                .curve = {it.server, single ? it.allowed : it.clients}};
        if (sf_publisher_open(&publisher, &settings, &error) != SF_OK)
            fail_msg("%s: %s", error.place, error.text);
        void *context = zmq_ctx_new();
        const sf_curve_client allowed = {it.client, it.server_public},
                              unlisted = {it.other, it.server_public}, misled = {it.client, other_public},
                              bare = {"none", NULL};
        void *good = subscribe(context, publisher.address, &allowed, PATIENCE_MS);
        while (sf_publisher_update(&publisher) < 1)
            sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
        assert_int_equal(sf_curve_gate_refused(publisher.gate), 0);
        void *refused[3] = {subscribe(context, publisher.address, &unlisted, 0)};
        await_refused(&publisher, 1);
        refused[1] = subscribe(context, publisher.address, &misled, 0);
        await_refused(&publisher, 2);
        int64_t before = sf_curve_gate_refused(publisher.gate);
        refused[2] = subscribe(context, publisher.address, &bare, 0);
        await_refused(&publisher, before + 1);
        assert_int_equal(sf_publisher_update(&publisher), 1); /* nobody else has subscribed */
        assert_int_equal(sf_publisher_send(&publisher, &(sf_part){"x", 1}, 1, NULL), SF_SENT);
        assert_int_equal(zmq_recv(good, &byte, 1, 0), 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(zmq_recv(refused[i], &byte, 1, 0), -1);
            zmq_close(refused[i]);
        }
        zmq_close(good);
        zmq_ctx_term(context);
        sf_publisher_close(&publisher, 0);
    }
    close_pairs(&it);
}

/* With keys other machines may connect; without they may not. */
static void keys_take_the_place_of_insecure(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    sf_zmq_publisher publisher;
    sf_error error;
    sf_publisher_settings settings = {.endpoint = "tcp://*:*", .queue = 10, .permit = "it"};
    test_assert_fails(sf_publisher_open(&publisher, &settings, &error), &error, SF_USAGE, "other machines");
    settings.curve = (sf_curve_server){it.server, it.clients};
    assert_int_equal(sf_publisher_open(&publisher, &settings, &error), SF_OK);
    sf_publisher_close(&publisher, 0);
    close_pairs(&it);
}

static int open_and_close(void *user)
{
    const pairs *it = user;
    sf_zmq_publisher publisher;
    const sf_publisher_settings settings = {
        .endpoint = "tcp://127.0.0.1:*", .queue = 10, .permit = "it", .curve = {it->server, it->clients}};
    sf_error error;
    int status = sf_publisher_open(&publisher, &settings, &error);
    if (status == SF_OK)
        sf_publisher_close(&publisher, 0);
    else
        assert_int_equal(status, SF_NO_MEMORY);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    test_fail_every_allocation(open_and_close, &it);
    close_pairs(&it);
}

/* ---- a run: control socket, sink, source ---- */

static void note_address(void *user, const char *name, const char *address)
{
    char(*addresses)[256] = user;
    if (strcmp(name, "control") == 0)
        snprintf(addresses[0], 256, "%s", address);
    else if (strncmp(name, "zmq", 3) == 0)
        snprintf(addresses[1], 256, "%s", address);
}

static void *asker(void *context, const char *endpoint, const sf_curve_client *client, int wait_ms)
{
    void *socket = zmq_socket(context, ZMQ_REQ);
    int none = 0;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    assert_int_equal(sf_curve_connect(socket, client, NULL), SF_OK);
    assert_int_equal(zmq_connect(socket, endpoint), 0);
    return socket;
}

/* Free with json_decref; its text must hold no secret. */
static json_t *ask(const pairs *it, void *socket, const char *command)
{
    char request[200];
    snprintf(request, sizeof request, "{\"token\": \"" TOKEN "\", \"command\": \"%s\"}", command);
    assert_true(zmq_send(socket, request, strlen(request), 0) >= 0);
    zmq_msg_t message;
    zmq_msg_init(&message);
    assert_true(zmq_msg_recv(&message, socket, 0) >= 0);
    char *text = strndup(zmq_msg_data(&message), zmq_msg_size(&message));
    has_no_secret(it, text);
    json_t *answer = json_loads(text, 0, NULL);
    assert_true(json_is_true(json_object_get(answer, "ok")));
    free(text);
    zmq_msg_close(&message);
    return answer;
}

/* Waits for a status that counts refused connections of both sockets. */
static void await_counted(const pairs *it, void *socket, sf_run *run)
{
    int64_t until_ns = sf_clock_monotonic_ns() + PATIENCE_MS * SF_MILLISECOND;
    for (bool there = false; !there;) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        json_t *answer = ask(it, socket, "status");
        const json_t *status = json_object_get(answer, "status"),
                     *sink = json_array_get(json_object_get(status, "sinks"), 0);
        there = json_integer_value(json_object_get(status, "control_refused")) > 0 &&
                json_integer_value(json_object_get(sink, "refused")) > 0;
        json_decref(answer);
        assert_false(
            sf_pipeline_wait(sf_run_pipeline(run), 10)); /* which lets it begin once sinks are ready */
    }
}

static void a_run_counts_whom_it_refuses_and_tells_no_secret(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    test_random random = test_random_start("curve", 1);
    sf_recording recording = test_random_recording(&random, 60000, 2, INT64_C(600000000000), 1000);
    char token[300], yaml[3000], addresses[2][256] = {"", ""};
    snprintf(token, sizeof token, "%s/token", it.folder);
    FILE *file = fopen(token, "w");
    fputs(TOKEN "\n", file);
    fclose(file);
    chmod(token, 0600);
    snprintf(yaml, sizeof yaml,
             "window: {length_s: 0.2, hop_s: 0.1}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
             "control: [{endpoint: 'tcp://127.0.0.1:*', token_file: '%s', key: '%s', clients: '%s'}]\n"
             "sinks: [{type: zmq, endpoint: 'tcp://127.0.0.1:*', key: '%s', clients: '%s'}]\n",
             token, it.server, it.clients, it.server, it.clients);
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    const sf_run_options options = {.config = &config,
                                    .recording = &recording,
                                    .speed = 1,
                                    .outlet = test_outlet(all),
                                    .opened = note_address,
                                    .user = addresses};
    sf_run *run;
    sf_error error = {0};
    if (sf_run_open(&run, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), &error), SF_OK);
    void *context = zmq_ctx_new();
    const sf_curve_client allowed = {it.client, it.server_public}, unlisted = {it.other, it.server_public};
    void *good = asker(context, addresses[0], &allowed, PATIENCE_MS),
         *bad = asker(context, addresses[0], &unlisted, 0),
         *listener = subscribe(context, addresses[1], &unlisted, 0);
    static const char request[] =
        "{\"token\": \"" TOKEN "\", \"command\": \"stop\"}"; /* with the right token */
    char byte;
    await_counted(&it, good, run);
    zmq_send(bad, request, strlen(request), ZMQ_DONTWAIT);
    json_decref(ask(&it, good, "mark\", \"text\": \"on")); /* later than what the other asked for */
    assert_int_equal(zmq_recv(bad, &byte, 1, 0), -1);
    assert_int_equal(zmq_recv(listener, &byte, 1, 0), -1);
    assert_false(sf_pipeline_wait(sf_run_pipeline(run), 1));
    json_decref(ask(&it, good, "stop"));
    zmq_close(good);
    zmq_close(bad);
    zmq_close(listener);
    zmq_ctx_term(context);
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, &error), SF_OK);
    sf_text printed = {0};
    assert_int_equal(sf_config_print(&printed, &config, NULL), SF_OK);
    has_no_secret(&it, printed.data);
    sf_text_free(&printed);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
    close_pairs(&it);
}

static sf_source *open_source(const char *endpoint, const sf_curve_client *client, sf_error *error)
{
    static sf_live_settings settings; /* borrowed by the source */
    settings = *(const sf_live_settings *)sf_protocol_synfire.source.settings.defaults;
    sf_source *source = NULL;
    settings.endpoint = endpoint;
    settings.timeout_s = client->key != NULL ? 60 : 1;
    settings.key = client->key;
    settings.server_key = client->server_key;
    const sf_source_kind *kind = &sf_protocol_synfire.source;
    int status = kind->open(&source, kind, &settings.common, error);
    if (status != SF_OK || sf_source_begin(source, NULL, error) == SF_OK) return source;
    kind->close(source);
    return NULL;
}

/* Both ends say hello by themselves; the sender's thread is this one's child. */
typedef struct hello {
    sf_sender *sender;
    atomic_bool stop;
} hello;

static void *say_hello(void *user)
{
    hello *it = user;
    while (!atomic_load(&it->stop)) {
        sf_sender_send(it->sender, &(sf_batch){.clock_ns = sf_clock_monotonic_ns()}, NULL);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
    }
    return NULL;
}

static void a_source_and_a_player_know_each_other(void **state)
{
    (void)state;
    pairs it;
    open_pairs(&it);
    sf_recording about = {.recorded = {0, SF_SECOND}};
    assert_int_equal(sf_units_add(&about.units, &(sf_unit){.name = (char[]){"A"}}, NULL), SF_OK);
    const sf_sender_settings settings = {.protocol = sf_protocol_synfire.sender,
                                         .endpoint = "tcp://127.0.0.1:*",
                                         .name = "keys",
                                         .curve = {it.server, it.clients}};
    hello saying = {0};
    sf_error error = {0};
    if (sf_sender_open(&saying.sender, &settings, &about, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    sf_thread thread = {0};
    assert_int_equal(sf_thread_start(&thread, "hello", say_hello, &saying, NULL), SF_OK);
    char address[256];
    snprintf(address, sizeof address, "%s", saying.sender->sending->address);
    sf_source *source = open_source(address, &(sf_curve_client){it.client, it.server_public}, &error);
    if (source == NULL) fail_msg("%s: %s", error.place, error.text);
    assert_string_equal(source->authentication, "curve");
    assert_int_equal(source->units.count, 1);
    source->kind->close(source);
    assert_null(open_source(address, &(sf_curve_client){NULL, NULL}, &error));
    assert_int_equal(error.code, SF_UNAVAILABLE);
    atomic_store(&saying.stop, true);
    sf_thread_join(&thread);
    sf_sender_close(saying.sender, 0);
    sf_units_free(&about.units);
    close_pairs(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_made_and_never_replaced),
        cmocka_unit_test(texts_are_read_as_other_programs_write_them),
        cmocka_unit_test(bad_key_files_are_one_sentence),
        cmocka_unit_test(only_clients_in_the_list_are_served),
        cmocka_unit_test(keys_take_the_place_of_insecure),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(a_run_counts_whom_it_refuses_and_tells_no_secret),
        cmocka_unit_test(a_source_and_a_player_know_each_other),
    };
    if (zmq_has("curve") == 0) {
        puts("skipped: this libzmq was built without CURVE");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
