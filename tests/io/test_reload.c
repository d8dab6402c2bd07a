/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose configuration is read again each minute, as its control socket is asked to: nothing is lost by
 * it, what may change does, and what may not is refused by its name. */
#include "support/runs.h"

#include "core/memory.h"
#include "live/run.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define TOKEN "0123456789abcdef"
#define MINUTES 10
#define SPIKES 180000

typedef struct reloads {
    test_collector *all;
    void *context, *socket;
    char *endpoint;
    int64_t began_ns, minute;
    atomic_int turns; /* of one thread and then of the other: what ZeroMQ orders, in a way that tsan sees */
    int done;
    bool configured;
    char answer[1024];
    const char *yaml; /* what the file holds now; NULL: another refractory time each minute */
    char *base;
} reloads;

/* ---- the configuration, as a file holds it ---- */

static int configure(void *user, sf_config *next, sf_error *error)
{
    reloads *it = user;
    char yaml[2048];
    it->turns++;
    int minute = it->configured ? it->done + 1 : 0; /* one that was not taken up is asked for again */
    it->configured = true;
    snprintf(yaml, sizeof yaml, it->yaml != NULL ? it->yaml : it->base, minute % 2 == 0 ? 50000 : 0);
    it->turns++;
    return sf_config_parse(next, yaml, strlen(yaml), "test", NULL, 0, error);
}

static const char *ask(reloads *it, const char *command)
{
    char request[200];
    snprintf(request, sizeof request, "{\"token\": \"" TOKEN "\", \"command\": \"%s\"}", command);
    it->turns++;
    assert_true(zmq_send(it->socket, request, strlen(request), 0) >= 0);
    int length = zmq_recv(it->socket, it->answer, sizeof it->answer - 1, 0);
    it->turns++;
    assert_in_range(length, 1, sizeof it->answer - 1);
    it->answer[length] = '\0';
    return it->answer;
}

/* ---- what hears the run, and asks ---- */

static void publish(void *self, sf_message *message)
{
    reloads *it = self;
    sf_outlet collector = test_outlet(it->all);
    collector.kind->publish(collector.self, message);
    if (message->topic != SF_TOPIC_EPISODES) return;
    if (it->began_ns == 0) it->began_ns = message->time_ns;
    int64_t minute = (message->time_ns - it->began_ns) / INT64_C(60000000000);
    if (it->endpoint == NULL || minute == it->minute) return;
    if (strstr(ask(it, "reload"), "ask again") != NULL)
        return; /* the watching thread, which is behind: with the next message */
    assert_string_equal(it->answer, "{\"ok\":true}");
    it->minute = minute;
    it->done++;
}

static void trigger(void *self, const sf_message *message)
{
    sf_outlet collector = test_outlet(((reloads *)self)->all);
    if (collector.kind->trigger != NULL) collector.kind->trigger(collector.self, message);
}

static sf_run *open_run(reloads *it, const sf_config *config, const sf_recording *recording)
{
    static const sf_outlet_kind kind = {.publish = publish, .trigger = trigger};
    const sf_run_options options = {.config = config,
                                    .recording = recording,
                                    .handoff_room = 4096, /* so that the front is no minute ahead */
                                    .configure = configure,
                                    .configure_user = it,
                                    .outlet = {&kind, it}};
    sf_run *run;
    sf_error error = {0};
    if (sf_run_open(&run, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), &error), SF_OK);
    return run;
}

static void finish_run(sf_run *run)
{
    sf_error error = {0};
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, &error), SF_OK);
}

static char *text_of(const char *format, const char *endpoint, const char *token)
{
    char *text = malloc(2048);
    snprintf(text, 2048, format, endpoint, token);
    return text;
}

/* `base` keeps one %d for what configure puts there. */
static void open_reloads(reloads *it, const char *rest)
{
    char *path = test_temporary_path(".control"), *token = test_temporary_path(".token"), endpoint[256];
    FILE *file = fopen(token, "w");
    fputs(TOKEN "\n", file);
    fclose(file);
    chmod(token, 0600);
    snprintf(endpoint, sizeof endpoint, "ipc://%s", path);
    *it = (reloads){.all = test_collector_new(), .endpoint = strdup(endpoint)};
    char format[2048];
    snprintf(format, sizeof format, "%s%s", "control: [{endpoint: '%s', token_file: '%s', hold: true}]\n",
             rest);
    it->base = text_of(format, endpoint, token);
    it->context = zmq_ctx_new();
    it->socket = zmq_socket(it->context, ZMQ_REQ);
    int patience_ms = 60000;
    zmq_setsockopt(it->socket, ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
    assert_int_equal(zmq_connect(it->socket, endpoint), 0);
    free(path);
    free(token);
}

static void close_reloads(reloads *it)
{
    if (it->socket != NULL) zmq_close(it->socket);
    if (it->context != NULL) zmq_ctx_term(it->context);
    test_collector_free(it->all);
    free(it->endpoint);
    free(it->base);
}

static sf_config parse(reloads *it)
{
    sf_config config;
    sf_error error = {0};
    if (configure(it, &config, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    return config;
}

static const char rest[] = "window: {length_s: 10, hop_s: 5}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
                           "track: ['e1 -(0,9]-> e2']\n"
                           "triggers: [{name: a, episode: 'e1 -(0,9]-> e2', refractory_ms: %%d}]\n";

static sf_recording make_recording(void)
{
    test_random random = test_random_start("reload", 1);
    return test_random_recording(&random, SPIKES, 6, MINUTES * INT64_C(60000000000), 1000);
}

/* ---- the tests ---- */

static void reloads_lose_nothing(void **state)
{
    (void)state;
    sf_recording recording = make_recording();
    reloads it;
    open_reloads(&it, rest);
    sf_config config = parse(&it);
    sf_run *run = open_run(&it, &config, &recording);
    assert_false(sf_pipeline_wait(sf_run_pipeline(run), 50)); /* held: not a spike is read */
    assert_int_equal(it.all->count, 0);
    assert_string_equal(ask(&it, "start"), "{\"ok\":true}");
    finish_run(run);
    assert_in_range(it.done, 2, MINUTES); /* one that comes too soon waits for the next minute at worst */
    const sf_status_message *status = test_last_status(it.all);
    const sf_source_status *source = &status->sources[0];
    assert_int_equal(source->spikes, SPIKES);
    assert_int_equal(status->spikes + source->late + source->dropped + status->window_dropped + source->leaps,
                     SPIKES);
    assert_int_equal(status->spikes, SPIKES);
    assert_true(test_check_counts(it.all, recording.spikes, recording.spike_count) > 100);
    const sf_trigger_status *trigger = &status->triggers[0];
    assert_int_equal(trigger->completed,
                     trigger->sent + trigger->sham + trigger->withheld + trigger->waiting);
    /* Minutes in which one in 50 s is sent, and minutes in which all are: which they are from when on is told
     * by the watching thread, ahead or not. Without a reload it were a dozen, or all. */
    assert_in_range(trigger->sent, trigger->completed / 20, trigger->completed * 19 / 20);
    printf("%llu completed, %llu sent, %d reloads\n", (unsigned long long)trigger->completed,
           (unsigned long long)trigger->sent, it.done);

    uint64_t completed = trigger->completed;
    reloads never = {.all = test_collector_new(), .base = it.base, .began_ns = 1};
    sf_config alone =
        test_config("window: {length_s: 10, hop_s: 5}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
                    "triggers: [{name: a, episode: 'e1 -(0,9]-> e2'}]\n");
    finish_run(open_run(&never, &alone, &recording));
    assert_int_equal(test_last_status(never.all)->triggers[0].completed, completed);
    test_collector_free(never.all);
    sf_config_free(&alone);
    sf_config_free(&config);
    close_reloads(&it);
    sf_recording_clear(&recording);
}

static void assert_answer(reloads *it, const char *yaml, const char *words)
{
    it->yaml = yaml;
    if (strstr(ask(it, "reload"), words) == NULL) fail_msg("found %s, expected %s", it->answer, words);
}

static void replace(char *text, const char *what, const char *by)
{
    char *at = strstr(text, what), after[2048];
    assert_non_null(at);
    snprintf(after, sizeof after, "%s%s", by, at + strlen(what));
    snprintf(at, 2048 - (size_t)(at - text), "%s", after);
}

/* A change of the configuration, and what is answered. */
static const char *const refused[][3] = {
    {"length_s: 10", "length_s: 15",
     "window.length_s: has changed, which takes a new run: nothing was reloaded"},
    {"length_s: 10, hop_s: 5", "length_s: 15, hop_s: 3", "window.length_s: has changed (and 1 more)"},
    {"track:", "watch: ['e1 -(0,9]-> e2']\ntrack:", "watch: has changed, which takes a new run"},
    {"track: ['e1", "track: ['e3", "track.0: has changed, which takes a new run"},
    {"every: 0", "every: 0, min_count: 9", "mine.min_count: has changed"},
    {"every: 0", "every: 0, max_size: 2", "mine.max_size: has changed, which takes a new run"},
    {"{kind: 'off'}", "{max_p: 0.01, max_q: 0.05}", "significance.kind: has changed (and 2 more)"},
    {"hold: true", "hold: true, key: mine.key_secret, clients: folder",
     "control.0.key: has changed (and 1 more), which takes a new run"},
    {"name: a", "name: b", "triggers.0.name: has changed"},
    {"refractory_ms", "armed: false, refractory_ms", "triggers.0.armed: has changed"},
    {"refractory_ms", "blank_ms: 5, refractory_ms", "triggers.0.blank_ms: has changed"},
    {"refractory_ms", "most: 65, refractory_ms",
     "triggers.0.most: this run remembers fewer: expected at most 64"},
    {"hop_s", "hops", "test:2"},
};

static void what_takes_a_new_run_is_refused_by_name(void **state)
{
    (void)state;
    sf_recording recording = make_recording();
    reloads it;
    open_reloads(&it, rest);
    sf_config config = parse(&it);
    sf_run *run = open_run(&it, &config, &recording);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char yaml[2048];
        snprintf(yaml, sizeof yaml, "%s", it.base);
        replace(yaml, refused[i][0], refused[i][1]);
        assert_answer(&it, yaml, refused[i][2]);
    }
    assert_answer(&it, it.base, "{\"ok\":true}"); /* the run is as it was */
    it.yaml = NULL;
    ask(&it, "start");
    it.endpoint[0] = '\0';
    finish_run(run);
    assert_int_equal(test_last_status(it.all)->spikes, SPIKES);
    sf_config_free(&config);
    close_reloads(&it);
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reloads_lose_nothing),
        cmocka_unit_test(what_takes_a_new_run_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
