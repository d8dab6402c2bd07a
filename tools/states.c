/* SPDX-License-Identifier: Apache-2.0 */
/* Files of `aggregate --save`, written and asked, and densities of runs that go on. */
#include "tools/states.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/estimate.h"
#include "live/live_state.h"

#include <stdio.h>
#include <string.h>

struct sf_states {
    sf_state first; /* what it is of; without a synopsis */
    bool one_name;
    size_t files, parts;
    sf_synopsis *synopses;
};

int sf_state_save(const char *path, const sf_density *density, const char *quantity, const char *name,
                  int64_t unit, const char *provenance, sf_error *error)
{
    sf_state state = {.unit = unit};
    snprintf(state.quantity, sizeof state.quantity, "%s", quantity != NULL ? quantity : "");
    snprintf(state.name, sizeof state.name, "%s", name != NULL ? name : "");
    int status = sf_synopsis_of(&state.synopsis, density, error);
    if (status == SF_OK) status = sf_state_write(&state, path, provenance, error);
    sf_state_free(&state);
    return status;
}

void sf_states_close(sf_states *states)
{
    if (states == NULL) return;
    for (size_t i = 0; i < states->parts; i++)
        sf_synopsis_close(&states->synopses[i]);
    sf_free(states->synopses);
    sf_free(states);
}

static int check_alike(const sf_states *states, const sf_state *state, const char *path, sf_error *error)
{
    const sf_synopsis *first = &states->synopses[0], *this = &state->synopsis;
    if (strcmp(states->first.quantity, state->quantity) != 0)
        return sf_fail(error, SF_USAGE, path, "is a state of '%s', and the first one of '%s'",
                       state->quantity[0] != '\0' ? state->quantity : "numbers",
                       states->first.quantity[0] != '\0' ? states->first.quantity : "numbers");
    if (this->d != first->d || this->domain != first->domain)
        return sf_fail(error, SF_USAGE, path, "has other columns, or another axis, than the first one");
    return SF_OK;
}

/* Merges a state into the matching part, or appends it as a new part. Takes ownership of the synopsis. */
static int take(sf_states *states, sf_state *state, const char *path, sf_error *error)
{
    int status = states->files > 0 ? check_alike(states, state, path, error) : SF_OK;
    if (status != SF_OK) return status;
    size_t part = 0;
    while (part < states->parts && !sf_synopsis_fits(&states->synopses[part], &state->synopsis))
        part++;
    if (part < states->parts) {
        status = sf_synopsis_add(&states->synopses[part], &state->synopsis, error);
    } else {
        states->synopses[states->parts++] = state->synopsis;
        state->synopsis = (sf_synopsis){0};
    }
    if (states->files++ == 0) states->first = *state;
    states->one_name =
        states->files == 1 || (states->one_name && strcmp(states->first.name, state->name) == 0);
    states->first.synopsis = (sf_synopsis){0};
    return status;
}

bool sf_states_is_run(const char *path)
{
    return strncmp(path, "tcp://", 6) == 0 || strncmp(path, "ipc://", 6) == 0;
}

static int read_state(sf_state *state, const char *path, const sf_states_asking *asking, sf_error *error)
{
    *state = (sf_state){0};
    if (!sf_states_is_run(path)) return sf_state_read(state, path, error);
    if (asking->density == NULL)
        return sf_fail(error, SF_USAGE, "--density",
                       "is needed to ask the run at %.80s: expected a name as in `quantity` of its messages, "
                       "\"isi A\"",
                       path);
    if (asking->token_file == NULL)
        return sf_fail(error, SF_USAGE, "--token", "is needed to ask the run at %.80s: expected its file",
                       path);
    const sf_live_state_asking live = {asking->token_file, asking->key, asking->server_key, asking->density,
                                       (int)(asking->seconds * 1e3)};
    return sf_live_state_ask(state, path, &live, error);
}

int sf_states_open(sf_states **out, char *const *paths, size_t count, const sf_states_asking *asking,
                   sf_error *error)
{
    *out = NULL;
    sf_states *states = sf_alloc(1, sizeof *states);
    if (states == NULL) return sf_fail_memory(error);
    states->synopses = sf_alloc(count, sizeof *states->synopses);
    int status = states->synopses != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        sf_state state;
        status = read_state(&state, paths[i], asking, error);
        if (status == SF_OK) status = take(states, &state, paths[i], error);
        sf_state_free(&state);
    }
    if (status == SF_OK)
        *out = states;
    else
        sf_states_close(states);
    return status;
}

void sf_states_describe(const sf_states *states, sf_states_about *about)
{
    const sf_synopsis *first = &states->synopses[0];
    const sf_state *of = &states->first;
    *about = (sf_states_about){.quantity = of->quantity[0] != '\0' ? of->quantity : NULL,
                               .name = states->one_name && of->name[0] != '\0' ? of->name : NULL,
                               .unit = states->one_name ? of->unit : -1,
                               .files = states->files,
                               .parts = states->parts,
                               .h = first->h,
                               .method = first->method};
    for (size_t i = 0; i < states->parts; i++)
        about->n += states->synopses[i].n;
}

int sf_states_aggregate(const sf_states *states, sf_aggregate_kind kind, const double *from, const double *to,
                        size_t ranges, sf_aggregate *answer, sf_error *error)
{
    return sf_synopsis_aggregate(states->synopses, states->parts, kind, from, to, ranges, answer, error);
}

int sf_states_save(const sf_states *states, const char *path, const char *provenance, sf_error *error)
{
    if (states->parts != 1)
        return sf_fail(error, SF_USAGE, path,
                       "these states do not add up to one: their samples span too different ranges");
    sf_state all = states->first;
    if (!states->one_name) {
        all.name[0] = '\0';
        all.unit = -1;
    }
    all.synopsis = states->synopses[0]; /* borrowed */
    return sf_state_write(&all, path, provenance, error);
}
