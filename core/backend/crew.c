/* SPDX-License-Identifier: Apache-2.0 */
#include "core/backend/crew.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- who takes part ---- */

uint32_t sf_crew_left(const sf_crew *crew)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < crew->count; i++)
        left += !crew->members[i].out;
    return left;
}

void sf_crew_name(const sf_crew *crew, char name[32])
{
    uint32_t left = sf_crew_left(crew), i = 0;
    while (i < crew->count && crew->members[i].out)
        i++;
    if (left > 1)
        snprintf(name, 32, "%s (%" PRIu32 ")", crew->all, left);
    else
        snprintf(name, 32, "%s", sf_device_name(left > 0 ? crew->members[i].device : NULL));
}

static void note(sf_crew *crew, const sf_error *reason)
{
    snprintf(crew->note, sizeof crew->note, "%.255s", reason->text);
}

/* A device of all that does not start, or has failed before, is no member, but the note tells. */
static void note_sick(sf_crew *crew)
{
    crew->note[0] = '\0';
    for (uint32_t i = 0; crew->all[0] != '\0' && i < sf_device_count(); i++) {
        sf_error reason;
        if (sf_device_sick(sf_device_at(i), &reason)) note(crew, &reason);
    }
}

static bool names_all(const char *name)
{
    size_t length = strlen(name), ending = strlen(SF_ALL_DEVICES);
    return length > ending && strcmp(name + length - ending, SF_ALL_DEVICES) == 0;
}

static void add_member(sf_crew *crew, sf_device *device)
{
    crew->members[crew->count++] = (sf_member){.device = device};
}

static int find_named(sf_crew *crew, const sf_crew_request *request, sf_error *error)
{
    sf_device *devices[SF_MOST_DEVICES];
    if (request->most == 0) {
        int status = sf_device_find(&devices[0], request->device, error);
        if (status == SF_OK && devices[0] != NULL) add_member(crew, devices[0]);
        return status;
    }
    uint32_t count;
    int status = sf_devices_find(devices, request->most, &count, request->device, error);
    for (uint32_t i = 0; i < count; i++)
        add_member(crew, devices[i]);
    if (status == SF_OK && names_all(request->device)) {
        snprintf(crew->all, sizeof crew->all, "%.15s", request->device);
        note_sick(crew);
    }
    return status;
}

/* Those that cannot do the job leave. */
static int ask_members(sf_crew *crew, const sf_crew_request *request, sf_error *error)
{
    for (uint32_t i = 0; i < crew->count && request->supports != NULL; i++) {
        sf_member *member = &crew->members[i];
        int status = request->supports(request->context, member->device, &member->reason);
        if (status == SF_UNAVAILABLE) {
            sf_crew_dismiss(crew, member);
        } else if (status != SF_OK) {
            if (error != NULL) *error = member->reason;
            return status;
        }
    }
    return SF_OK;
}

/* One that pays, and can. */
static void find_any(sf_crew *crew, const sf_crew_request *request)
{
    sf_error reason = {0};
    double here = request->seconds(request->context);
    double there =
        request->device_seconds != NULL ? request->device_seconds(request->context) : SF_READY_SECONDS;
    sf_device *device = sf_device_auto(here, there, &reason);
    if (device == NULL && reason.code != SF_OK) note(crew, &reason);
    bool takes = device != NULL &&
                 (request->supports == NULL || request->supports(request->context, device, &reason) == SF_OK);
    if (takes) add_member(crew, device);
}

int sf_crew_open(sf_crew *crew, const sf_crew_request *request, sf_error *error)
{
    sf_crew_clear(crew);
    if (request->device == NULL || strcmp(request->device, "auto") == 0) {
        find_any(crew, request);
        return SF_OK;
    }
    sf_error reason = {0};
    int status = find_named(crew, request, &reason);
    if (status == SF_OK) status = ask_members(crew, request, &reason);
    if (status == SF_OK) return SF_OK;
    crew->count = 0;
    if (status == SF_UNAVAILABLE && request->forgiving) {
        note(crew, &reason);
        return SF_OK;
    }
    if (error != NULL) *error = reason;
    return status;
}

void sf_crew_dismiss(sf_crew *crew, sf_member *member)
{
    member->out = true;
    note(crew, &member->reason);
}

void sf_crew_dismiss_all(sf_crew *crew, const sf_error *reason)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        if (crew->members[i].out) continue;
        crew->members[i].reason = *reason;
        sf_crew_dismiss(crew, &crew->members[i]);
    }
}

bool sf_crew_recall(sf_crew *crew, bool (*may)(const sf_member *member))
{
    uint32_t back = 0;
    for (uint32_t i = 0; i < crew->count; i++) {
        sf_member *member = &crew->members[i];
        member->out = !may(member) || sf_device_sick(member->device, NULL);
        back += !member->out;
    }
    if (back > 0) note_sick(crew);
    return back > 0;
}

uint64_t sf_crew_memory(const sf_crew *crew)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < crew->count; i++) {
        uint64_t bytes = sf_device_memory(crew->members[i].device);
        if (!crew->members[i].out) most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- what pays ---- */

/* A GPU does in about 10 ms what a core does in 10 s. Below that, the copy outweighs what is saved. */
static _Atomic double seconds_a_device = SF_DEVICE_SECONDS;
static _Atomic uint32_t most_devices = SF_MOST_DEVICES;

uint32_t sf_devices_worth(double core_seconds)
{
    double devices = core_seconds / seconds_a_device;
    uint32_t most = most_devices;
    return devices < most ? devices < 1 ? 1 : (uint32_t)devices : most;
}

void sf_devices_set_worth(double core_seconds, uint32_t most)
{
    seconds_a_device = core_seconds;
    most_devices = most;
}

/* ---- dividing a job ---- */

typedef struct division {
    sf_crew *crew;
    sf_crew_body *body;
    void *context;
    size_t *left; /* items to do in this round, */
    bool *done;   /* and which of them are */
    size_t count;
    uint32_t active[SF_MOST_DEVICES]; /* the members of this round */
    atomic_size_t next;               /* of `left`, beyond the first of each member */
    atomic_bool stopped;
} division;

/* A member begins with an item of its own, however late its thread is, and takes others as long as it can. */
static int work_round(void *context, unsigned worker, size_t item)
{
    division *d = context;
    sf_member *member = &d->crew->members[d->active[item]];
    int status = SF_OK;
    member->leads = worker == 0;
    for (size_t i = item; i < d->count && status == SF_OK && !atomic_load(&d->stopped);
         i = atomic_fetch_add(&d->next, 1)) {
        status = d->body(d->context, member, d->left[i], &member->reason);
        d->done[i] = status == SF_OK;
    }
    member->out = status == SF_UNAVAILABLE;
    if (status != SF_OK && !member->out) atomic_store(&d->stopped, true);
    return member->out ? SF_OK : status;
}

static uint32_t list_active(division *d)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < d->crew->count; i++)
        if (!d->crew->members[i].out) d->active[members++] = i;
    return members;
}

/* Notes who has left, and hands on what the one has said that ended the round. */
static void hear_members(const division *d, uint32_t busy, int status, sf_error *error)
{
    for (uint32_t i = 0; i < busy; i++) {
        const sf_member *member = &d->crew->members[d->active[i]];
        if (member->out)
            note(d->crew, &member->reason);
        else if (status != SF_OK && (int)member->reason.code == status && error != NULL)
            *error = member->reason;
    }
}

static void forget_done(division *d)
{
    size_t left = 0;
    for (size_t i = 0; i < d->count; i++)
        if (!d->done[i]) d->left[left++] = d->left[i];
    d->count = left;
}

/* Everything that is left to do, on the members that are left. */
static int do_round(division *d, sf_error *error)
{
    uint32_t members = list_active(d), busy = members < d->count ? members : (uint32_t)d->count;
    atomic_store(&d->next, busy);
    memset(d->done, 0, d->count * sizeof *d->done);
    int status = sf_parallel_for(busy, busy, work_round, d);
    hear_members(d, busy, status, error);
    forget_done(d);
    return status;
}

static int fail_noted(const sf_crew *crew, sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, NULL, "%s", crew->note);
}

int sf_crew_divide(sf_crew *crew, size_t count, sf_crew_body *body, void *context, sf_error *error)
{
    division d = {.crew = crew, .body = body, .context = context, .count = count};
    d.left = sf_resize(NULL, count, sizeof *d.left);
    d.done = sf_resize(NULL, count, sizeof *d.done);
    int status = d.left != NULL && d.done != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        d.left[i] = i;
    while (d.count > 0 && status == SF_OK)
        status = sf_crew_left(crew) > 0 ? do_round(&d, error) : fail_noted(crew, error);
    sf_free(d.left);
    sf_free(d.done);
    return status;
}

static int work_once(void *context, unsigned worker, size_t item)
{
    division *d = context;
    sf_member *member = &d->crew->members[d->active[item]];
    member->leads = worker == 0;
    int status = d->body(d->context, member, item, &member->reason);
    member->out = status == SF_UNAVAILABLE;
    return member->out ? SF_OK : status;
}

int sf_crew_together(sf_crew *crew, sf_crew_body *body, void *context, sf_error *error)
{
    division d = {.crew = crew, .body = body, .context = context};
    uint32_t members = list_active(&d);
    int status = sf_parallel_for(members, members, work_once, &d);
    hear_members(&d, members, status, error);
    return status == SF_OK && sf_crew_left(crew) < members ? fail_noted(crew, error) : status;
}
