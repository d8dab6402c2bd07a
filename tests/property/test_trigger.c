/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of completions, held against an oracle that keeps everything that ever happened and looks
 * through all of it for each decision. */
#include "support/support.h"

#include "core/clock.h"
#include "core/random.h"
#include "pipeline/trigger.h"

#include <math.h>

#define MOST_TRIGGERS 4
#define MOST_LOG 20000

/* ---- the oracle ---- */

typedef struct told {
    uint32_t trigger;
    sf_outcome outcome;
    sf_trigger_reason reason;
    int64_t decided_ns;
    uint64_t number;
} told;

typedef struct past {
    int64_t completed[MOST_LOG], sent[MOST_LOG];
    size_t completed_count, sent_count, delayed;
    struct {
        int64_t due_ns;
        sf_cause occurrence;
        bool over;
    } waits[MOST_LOG];
    size_t wait_count;
    sf_trigger_reason disarmed; /* since the last arming */
    int64_t armed_until_ns;
} past;

typedef struct oracle {
    const sf_trigger_settings *settings;
    size_t count;
    past pasts[MOST_TRIGGERS];
    told told[MOST_LOG];
    size_t told_count;
} oracle;

static double drawn(const oracle *o, uint32_t t, unsigned stream, uint64_t index)
{
    uint64_t words[2];
    sf_random_block(words, o->settings[t].seed, 2 * (uint64_t)t + stream, index);
    return sf_random_unit(words[0]);
}

static void tell(oracle *o, uint32_t t, const sf_cause *occurrence, sf_outcome outcome,
                 sf_trigger_reason reason, int64_t now_ns)
{
    assert_true(o->told_count < MOST_LOG);
    o->told[o->told_count++] = (told){t, outcome, reason, now_ns, occurrence->number};
}

static size_t waiting_of(const past *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->wait_count; i++)
        count += !p->waits[i].over;
    return count;
}

static void oracle_disarm(oracle *o, uint32_t t, sf_trigger_reason why, int64_t now_ns)
{
    past *p = &o->pasts[t];
    bool armed = p->disarmed == SF_TRIGGER_OF_ITSELF && now_ns < p->armed_until_ns;
    if (armed || why == SF_TRIGGER_DISARMED) p->disarmed = why;
    for (size_t i = 0; i < p->wait_count; i++) {
        if (p->waits[i].over) continue;
        p->waits[i].over = true;
        tell(o, t, &p->waits[i].occurrence, SF_OUTCOME_WITHHELD, why, now_ns);
    }
}

static void oracle_arm(oracle *o, uint32_t t, int64_t for_ns, int64_t now_ns)
{
    past *p = &o->pasts[t];
    int64_t lasts = for_ns > 0 ? for_ns : o->settings[t].arm_ns;
    p->disarmed = SF_TRIGGER_OF_ITSELF;
    p->armed_until_ns = lasts > 0 ? now_ns + lasts : INT64_MAX;
}

static sf_trigger_reason not_armed(const past *p, int64_t now_ns)
{
    if (p->disarmed != SF_TRIGGER_OF_ITSELF) return p->disarmed;
    return now_ns >= p->armed_until_ns ? SF_TRIGGER_EXPIRED : SF_TRIGGER_OF_ITSELF;
}

static size_t newer_than(const int64_t *times, size_t count, int64_t now_ns, int64_t span_ns)
{
    size_t newer = 0;
    for (size_t i = 0; i < count; i++)
        newer += now_ns - times[i] < span_ns;
    return newer;
}

static void oracle_complete(oracle *o, uint32_t t, const sf_cause *occurrence, int64_t now_ns);

static void oracle_send(oracle *o, uint32_t t, const sf_cause *occurrence, int64_t due_ns, int64_t now_ns)
{
    past *p = &o->pasts[t];
    const sf_trigger_settings *s = &o->settings[t];
    sf_trigger_reason reason = not_armed(p, now_ns);
    bool old = s->max_age_ns > 0 && now_ns - due_ns > s->max_age_ns;
    if (reason == SF_TRIGGER_OF_ITSELF && old) reason = SF_TRIGGER_OLD;
    if (reason == SF_TRIGGER_OF_ITSELF && newer_than(p->sent, p->sent_count, now_ns, s->refractory_ns) > 0)
        reason = SF_TRIGGER_REFRACTORY;
    if (reason == SF_TRIGGER_OF_ITSELF && s->most > 0 &&
        newer_than(p->sent, p->sent_count, now_ns, s->most_ns) >= s->most)
        reason = SF_TRIGGER_RATE;
    if (reason != SF_TRIGGER_OF_ITSELF) {
        tell(o, t, occurrence, SF_OUTCOME_WITHHELD, reason, now_ns);
        if (reason == SF_TRIGGER_OLD) oracle_disarm(o, t, reason, now_ns);
        return;
    }
    bool sham = drawn(o, t, 1, p->sent_count) < s->sham;
    p->sent[p->sent_count++] = now_ns;
    tell(o, t, occurrence, sham ? SF_OUTCOME_SHAM : SF_OUTCOME_SENT, SF_TRIGGER_OF_ITSELF, now_ns);
    sf_cause followed = *occurrence;
    followed.arrival_ns = now_ns;
    for (uint32_t f = 0; f < o->count; f++)
        if (!sham && o->settings[f].follows == t) oracle_complete(o, f, &followed, now_ns);
}

static void oracle_complete(oracle *o, uint32_t t, const sf_cause *occurrence, int64_t now_ns)
{
    past *p = &o->pasts[t];
    const sf_trigger_settings *s = &o->settings[t];
    p->completed[p->completed_count++] = occurrence->time_ns;
    sf_trigger_reason reason = not_armed(p, now_ns);
    if (reason == SF_TRIGGER_OF_ITSELF && s->max_age_ns > 0 &&
        now_ns - occurrence->arrival_ns > s->max_age_ns)
        reason = SF_TRIGGER_OLD;
    size_t wanted = s->min_count > 1 ? s->min_count : 1, known = p->completed_count;
    if (reason == SF_TRIGGER_OF_ITSELF && wanted > 1 &&
        (known < wanted || occurrence->time_ns - p->completed[known - wanted] >= s->within_ns))
        reason = SF_TRIGGER_COUNT;
    if (reason == SF_TRIGGER_OF_ITSELF && !isnan(s->max_q) && !(occurrence->q <= s->max_q))
        reason = SF_TRIGGER_Q;
    int64_t delay_ns = s->delay_ns, spread = s->delay_to_ns - s->delay_ns;
    if (reason == SF_TRIGGER_OF_ITSELF && spread > 0)
        delay_ns += (int64_t)(drawn(o, t, 0, p->delayed++) * ((double)spread + 1));
    if (reason == SF_TRIGGER_OF_ITSELF && delay_ns > 0 && waiting_of(p) == SF_TRIGGER_WAITING)
        reason = SF_TRIGGER_NO_ROOM;
    if (reason != SF_TRIGGER_OF_ITSELF) {
        tell(o, t, occurrence, SF_OUTCOME_WITHHELD, reason, now_ns);
        if (reason == SF_TRIGGER_OLD) oracle_disarm(o, t, reason, now_ns);
    } else if (delay_ns == 0) {
        oracle_send(o, t, occurrence, now_ns, now_ns);
    } else {
        p->waits[p->wait_count].due_ns = now_ns + delay_ns;
        p->waits[p->wait_count++].occurrence = *occurrence;
    }
}

/* The first of what is due; false where nothing is. */
static bool oracle_release(oracle *o, int64_t now_ns)
{
    int64_t first_ns = INT64_MAX;
    uint32_t of = 0;
    size_t at = 0;
    for (uint32_t t = 0; t < o->count; t++)
        for (size_t i = 0; i < o->pasts[t].wait_count; i++)
            if (!o->pasts[t].waits[i].over && o->pasts[t].waits[i].due_ns < first_ns) {
                first_ns = o->pasts[t].waits[i].due_ns;
                of = t;
                at = i;
            }
    if (first_ns > now_ns) return false;
    o->pasts[of].waits[at].over = true;
    oracle_send(o, of, &o->pasts[of].waits[at].occurrence, first_ns, now_ns);
    return true;
}

/* ---- both, side by side ---- */

typedef struct pair {
    sf_triggers *triggers;
    oracle *oracle;
    size_t compared, outcomes[3], reasons[SF_TRIGGER_NO_ROOM + 1];
} pair;

/* What waits and is withheld at once comes in no order that means anything. */
static bool is_told(oracle *o, const sf_decision *decision, size_t from)
{
    for (size_t i = from; i < o->told_count; i++) {
        told *t = &o->told[i];
        if (t->trigger != decision->trigger || t->number != decision->occurrence.number ||
            t->outcome != decision->outcome || t->reason != decision->reason ||
            t->decided_ns != decision->decided_ns)
            continue;
        told swapped = o->told[from];
        o->told[from] = *t;
        *t = swapped;
        return true;
    }
    return false;
}

static void take(pair *both, const sf_trigger_event *event, int64_t now_ns)
{
    const sf_decision *decisions;
    size_t count = sf_triggers_take(both->triggers, event, now_ns, &decisions);
    assert_int_equal(count, both->oracle->told_count - both->compared);
    for (size_t i = 0; i < count; i++) {
        assert_true(is_told(both->oracle, &decisions[i], both->compared++));
        both->outcomes[decisions[i].outcome]++;
        both->reasons[decisions[i].reason]++;
    }
    for (uint32_t t = 0; t < both->oracle->count; t++) {
        const past *p = &both->oracle->pasts[t];
        sf_trigger_state state = sf_triggers_state(both->triggers, t, now_ns);
        assert_int_equal(state.why, not_armed(p, now_ns));
        assert_int_equal(state.completed, p->completed_count);
        assert_int_equal(state.sent + state.sham, p->sent_count);
        assert_int_equal(state.waiting, waiting_of(p));
        assert_int_equal(state.completed, state.sent + state.sham + state.withheld + state.waiting);
    }
}

static void pass_time(pair *both, int64_t now_ns)
{
    const sf_trigger_event over = {.kind = SF_EVENT_TIME};
    while (oracle_release(both->oracle, now_ns)) {
        assert_true(sf_triggers_next_ns(both->triggers) <= now_ns);
        take(both, &over, now_ns);
    }
    assert_true(sf_triggers_next_ns(both->triggers) > now_ns);
}

static sf_trigger_settings random_settings(test_random *random, uint32_t index)
{
    sf_trigger_settings settings = {.armed = test_random_below(random, 4) > 0,
                                    .arm_ns = (int64_t)test_random_below(random, 3) * 400,
                                    .max_age_ns = (int64_t)test_random_below(random, 3) * 6,
                                    .refractory_ns = (int64_t)test_random_below(random, 3) * 12,
                                    .most = (uint32_t)test_random_below(random, 4),
                                    .most_ns = 1 + (int64_t)test_random_below(random, 60),
                                    .min_count = (uint32_t)test_random_below(random, 4),
                                    .within_ns = 1 + (int64_t)test_random_below(random, 30),
                                    .max_q = test_random_below(random, 2) ? NAN : test_random_unit(random),
                                    .sham = test_random_below(random, 3) ? 0 : test_random_unit(random),
                                    .seed = test_random_bits(random),
                                    .sources = test_random_below(random, 4),
                                    .follows = SF_NO_TRIGGER};
    if (test_random_below(random, 2)) settings.delay_ns = (int64_t)test_random_below(random, 20);
    if (test_random_below(random, 2))
        settings.delay_to_ns = settings.delay_ns + (int64_t)test_random_below(random, 20);
    if (index > 0 && test_random_below(random, 2))
        settings.follows = (uint32_t)test_random_below(random, index);
    return settings;
}

static void random_event(pair *both, test_random *random, int64_t now_ns, uint64_t *number)
{
    oracle *o = both->oracle;
    uint32_t t = (uint32_t)test_random_below(random, o->count);
    sf_trigger_event event = {.trigger = t};
    sf_cause occurrence = {.time_ns = now_ns - 5,
                           .arrival_ns = now_ns - (int64_t)test_random_below(random, 9),
                           .q = test_random_below(random, 5) ? test_random_unit(random) : NAN,
                           .number = ++*number};
    switch (test_random_below(random, 40)) {
    case 0:
        event.kind = SF_EVENT_DISARM;
        oracle_disarm(o, t, SF_TRIGGER_DISARMED, now_ns);
        break;
    case 1:
    case 2:
    case 3:
        event.kind = test_random_below(random, 3) ? SF_EVENT_ARM : SF_EVENT_RENEW;
        event.trigger = test_random_below(random, 2) ? SF_ALL_TRIGGERS : t;
        event.arm_ns = (int64_t)test_random_below(random, 2) * 100;
        for (uint32_t i = 0; i < o->count; i++)
            if ((event.trigger == SF_ALL_TRIGGERS || i == t) &&
                (event.kind == SF_EVENT_ARM || not_armed(&o->pasts[i], now_ns) == SF_TRIGGER_OF_ITSELF))
                oracle_arm(o, i, event.arm_ns, now_ns);
        break;
    case 4:
        event.kind = SF_EVENT_FAULT;
        event.sources = 1 + test_random_below(random, 3);
        event.reason = SF_TRIGGER_SOURCE_SILENT + (sf_trigger_reason)test_random_below(random, 3);
        for (uint32_t i = 0; i < o->count; i++)
            if (o->settings[i].sources & event.sources) oracle_disarm(o, i, event.reason, now_ns);
        break;
    default:
        event.kind = SF_EVENT_COMPLETED;
        event.occurrence = &occurrence;
        oracle_complete(o, t, &occurrence, now_ns);
    }
    take(both, &event, now_ns);
}

static void decides_as_the_oracle_does(void **state)
{
    (void)state;
    test_random random = test_random_start("triggers", 13);
    size_t outcomes[3] = {0}, reasons[SF_TRIGGER_NO_ROOM + 1] = {0};
    oracle *o = malloc(sizeof *o);
    for (int round = 0; round < 150; round++) {
        sf_trigger_settings settings[MOST_TRIGGERS];
        memset(o, 0, sizeof *o);
        o->settings = settings;
        o->count = round % 10 == 0 ? 1 : 1 + test_random_below(&random, MOST_TRIGGERS);
        for (uint32_t i = 0; i < o->count; i++)
            settings[i] = random_settings(&random, i);
        if (round % 10 == 0) /* so that many wait */
            settings[0] = (sf_trigger_settings){
                .armed = true, .delay_ns = 3000, .max_q = NAN, .follows = SF_NO_TRIGGER};
        pair both = {.oracle = o};
        assert_int_equal(sf_triggers_open(&both.triggers, settings, o->count, NULL), SF_OK);
        int64_t now_ns = INT64_C(1000000) * (round % 2 ? 1 : -1);
        for (uint32_t i = 0; i < o->count; i++) {
            o->pasts[i].disarmed = settings[i].armed ? SF_TRIGGER_OF_ITSELF : SF_TRIGGER_DISARMED;
            o->pasts[i].armed_until_ns = INT64_MAX;
            if (settings[i].armed) oracle_arm(o, i, 0, now_ns);
        }
        uint64_t number = 0;
        for (int e = 0; e < 400; e++) {
            random_event(&both, &random, now_ns, &number);
            now_ns += (int64_t)(test_random_below(&random, 3) ? test_random_below(&random, 4)
                                                              : test_random_below(&random, 40));
            pass_time(&both, now_ns);
        }
        sf_triggers_close(both.triggers);
        for (size_t i = 0; i < 3; i++)
            outcomes[i] += both.outcomes[i];
        for (size_t i = 0; i <= SF_TRIGGER_NO_ROOM; i++)
            reasons[i] += both.reasons[i];
    }
    free(o);
    printf("%zu sent, %zu sham, %zu withheld\n", outcomes[0], outcomes[1], outcomes[2]);
    for (size_t i = 0; i < 3; i++)
        assert_true(outcomes[i] > 100);
    for (sf_trigger_reason i = SF_TRIGGER_DISARMED; i <= SF_TRIGGER_NO_ROOM; i++) {
        printf("  %s: %zu\n", sf_trigger_reason_text(i), reasons[i]);
        assert_true(reasons[i] > 10);
    }
}

static void a_sham_is_as_frequent_as_asked(void **state)
{
    (void)state;
    const sf_trigger_settings settings = {.armed = true, .sham = 0.3, .max_q = NAN, .follows = SF_NO_TRIGGER};
    sf_triggers *triggers;
    assert_int_equal(sf_triggers_open(&triggers, &settings, 1, NULL), SF_OK);
    const sf_decision *decisions;
    for (int i = 0; i < 10000; i++) {
        const sf_cause occurrence = {.time_ns = i, .arrival_ns = i};
        const sf_trigger_event event = {.kind = SF_EVENT_COMPLETED, .occurrence = &occurrence};
        assert_int_equal(sf_triggers_take(triggers, &event, i, &decisions), 1);
    }
    sf_trigger_state after = sf_triggers_state(triggers, 0, 10000);
    assert_true(after.sham > 2800 && after.sham < 3200);
    assert_int_equal(after.sent, 10000 - after.sham);
    sf_triggers_close(triggers);
}

/* Sends a second of a trigger that is completed so often at random. */
static double sent_hz_of(test_random *random, const sf_trigger_settings *settings, double completed_hz)
{
    enum { COMPLETIONS = 100000 };
    sf_triggers *triggers;
    assert_int_equal(sf_triggers_open(&triggers, settings, 1, NULL), SF_OK);
    const sf_decision *decisions;
    int64_t now_ns = 0;
    for (int i = 0; i < COMPLETIONS; i++) {
        now_ns += (int64_t)(-log(1 - test_random_unit(random)) / completed_hz * 1e9);
        const sf_cause occurrence = {.time_ns = now_ns, .arrival_ns = now_ns, .q = NAN};
        const sf_trigger_event event = {.kind = SF_EVENT_COMPLETED, .occurrence = &occurrence};
        assert_int_equal(sf_triggers_take(triggers, &event, now_ns, &decisions), 1);
    }
    uint64_t sent = sf_triggers_state(triggers, 0, now_ns).sent;
    sf_triggers_close(triggers);
    return (double)sent / ((double)now_ns * 1e-9);
}

/* By the refractory time, the limit of the rate or the least count alone what is said is exact; together they
 * turn away what the others have, and completions that come in groups more. */
static void chance_is_sent_as_often_as_said(void **state)
{
    (void)state;
    const int64_t s = INT64_C(1000000000);
    const struct {
        sf_trigger_settings settings;
        double completed_hz, most_off;
    } cases[] = {
        {{.sham = 0.25}, 3, 0.02},
        {{.refractory_ns = s / 2}, 0.5, 0.02},
        {{.refractory_ns = 2 * s}, 3, 0.02},
        {{.most = 30, .most_ns = 60 * s}, 0.4, 0.02},
        {{.most = 5, .most_ns = 10 * s}, 3, 0.02},
        {{.min_count = 2, .within_ns = s}, 0.3, 0.02},
        {{.min_count = 4, .within_ns = 2 * s}, 2, 0.02},
        {{.refractory_ns = s / 2, .most = 30, .most_ns = 60 * s, .sham = 0.5}, 0.6, 0.05},
        {{.min_count = 2, .within_ns = s, .refractory_ns = s / 5}, 1, 0.1},
    };
    test_random random = test_random_start("what chance sends", 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_trigger_settings settings = cases[i].settings;
        settings.armed = true;
        settings.max_q = NAN;
        settings.follows = SF_NO_TRIGGER;
        double said = sf_trigger_sent_hz(&settings, cases[i].completed_hz),
               sent = sent_hz_of(&random, &settings, cases[i].completed_hz);
        print_message("case %zu: %.4f Hz said, %.4f sent\n", i, said, sent);
        assert_true(sent < 0.97 * cases[i].completed_hz);
        assert_true(fabs(said / sent - 1) < cases[i].most_off);
    }
    assert_true(isnan(sf_trigger_sent_hz(&cases[0].settings, NAN)));
    assert_true(sf_trigger_sent_hz(&cases[1].settings, 0) == 0);
}

static int open_and_close(void *context)
{
    (void)context;
    const sf_trigger_settings settings[2] = {{.delay_ns = 3, .follows = SF_NO_TRIGGER}, {.follows = 0}};
    sf_triggers *triggers;
    int status = sf_triggers_open(&triggers, settings, 2, NULL);
    sf_triggers_close(triggers);
    return status;
}

/* What is armed from the beginning is armed behind what waited for the run: by its first spike on time. */
static void arming_from_the_beginning_waits_for_spikes_on_time(void **state)
{
    (void)state;
    const int64_t begin_ns = 100 * SF_SECOND;
    const sf_trigger_settings settings[] = {
        {.armed = true, .max_age_ns = 20 * SF_MILLISECOND, .max_q = NAN, .follows = UINT32_MAX},
        {.armed = true, .max_q = NAN, .follows = UINT32_MAX},
        {.armed = false, .max_age_ns = 20 * SF_MILLISECOND, .max_q = NAN, .follows = UINT32_MAX}};
    for (int64_t caught_up_s = 1; caught_up_s <= 5; caught_up_s += 4) {
        sf_triggers *triggers;
        const sf_decision *decisions;
        assert_int_equal(sf_triggers_open(&triggers, settings, 3, NULL), SF_OK);
        assert_int_equal(sf_triggers_state(triggers, 0, begin_ns).why, SF_TRIGGER_OF_ITSELF);
        sf_triggers_await(triggers, begin_ns);
        for (int64_t s = 0; s < 8; s++) {
            int64_t now_ns = begin_ns + s * SF_SECOND, age_ns = s < caught_up_s ? SF_SECOND : SF_MILLISECOND;
            bool armed = caught_up_s == 1 && s > caught_up_s;
            const sf_cause cause = {.time_ns = s, .arrival_ns = now_ns - age_ns, .q = NAN};
            assert_int_equal(sf_triggers_state(triggers, 0, now_ns).why,
                             armed ? SF_TRIGGER_OF_ITSELF : SF_TRIGGER_OLD);
            assert_int_equal(sf_triggers_state(triggers, 1, now_ns).why, SF_TRIGGER_OF_ITSELF);
            assert_int_equal(sf_triggers_state(triggers, 2, now_ns).why, SF_TRIGGER_DISARMED);
            sf_triggers_take(triggers, &(sf_trigger_event){.kind = SF_EVENT_COMPLETED, .occurrence = &cause},
                             now_ns, &decisions);
            assert_int_equal(decisions[0].reason, armed ? SF_TRIGGER_OF_ITSELF : SF_TRIGGER_OLD);
            sf_triggers_on_time(triggers, age_ns, now_ns);
            assert_int_equal(sf_triggers_waits(triggers), s < caught_up_s && s <= 3);
        }
        sf_triggers_close(triggers);
    }
}

/* What disarms meanwhile does so for good, and arming by hand waits for nothing. */
static void a_start_ends_by_what_comes_meanwhile(void **state)
{
    (void)state;
    const sf_trigger_settings settings = {
        .armed = true, .max_age_ns = 20 * SF_MILLISECOND, .max_q = NAN, .follows = UINT32_MAX, .sources = 1};
    const sf_trigger_event fault = {
        .kind = SF_EVENT_FAULT, .sources = 1, .reason = SF_TRIGGER_SOURCE_STEPPED};
    const sf_trigger_event by_hand = {.kind = SF_EVENT_ARM, .trigger = SF_ALL_TRIGGERS};
    for (int hand = 0; hand < 2; hand++) {
        sf_triggers *triggers;
        const sf_decision *decisions;
        assert_int_equal(sf_triggers_open(&triggers, &settings, 1, NULL), SF_OK);
        sf_triggers_await(triggers, SF_SECOND);
        sf_triggers_take(triggers, hand ? &by_hand : &fault, SF_SECOND, &decisions);
        assert_false(sf_triggers_waits(triggers));
        sf_triggers_on_time(triggers, 0, SF_SECOND);
        assert_int_equal(sf_triggers_state(triggers, 0, SF_SECOND).why,
                         hand ? SF_TRIGGER_OF_ITSELF : SF_TRIGGER_SOURCE_STEPPED);
        sf_triggers_close(triggers);
    }
}

static void no_memory_is_said(void **state)
{
    (void)state;
    test_fail_every_allocation(open_and_close, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decides_as_the_oracle_does),
                                       cmocka_unit_test(a_sham_is_as_frequent_as_asked),
                                       cmocka_unit_test(chance_is_sent_as_often_as_said),
                                       cmocka_unit_test(arming_from_the_beginning_waits_for_spikes_on_time),
                                       cmocka_unit_test(a_start_ends_by_what_comes_meanwhile),
                                       cmocka_unit_test(no_memory_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
