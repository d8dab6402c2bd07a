/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/background.h"

#include "core/backend/device.h"

static void finish(sf_background *background)
{
    background->work(background->job);
    atomic_store(&background->state, SF_BACKGROUND_DONE);
    if (background->place != SF_BACKGROUND_INSIDE) sf_bell_ring(&background->done);
}

static void *run(void *argument)
{
    sf_background *background = argument;
    if (background->place == SF_BACKGROUND_BESIDE)
        sf_thread_give_way(); /* to the hops: on two cores such work wants both */
    sf_device_be_patient();
    while (!atomic_load(&background->leave)) {
        if (atomic_load(&background->state) == SF_BACKGROUND_BUSY)
            finish(background);
        else
            sf_bell_wait(&background->bell, -1);
    }
    return NULL;
}

int sf_background_open(sf_background *background, const char *name, sf_background_place place,
                       void (*work)(void *job), void *job, sf_error *error)
{
    *background = (sf_background){.work = work, .job = job, .place = place};
    if (place == SF_BACKGROUND_INSIDE) return SF_OK;
    int status = sf_bell_open(&background->bell, error);
    if (status == SF_OK) status = sf_bell_open(&background->done, error);
    if (status == SF_OK) status = sf_thread_start(&background->thread, name, run, background, error);
    if (status != SF_OK) sf_background_close(background);
    return status;
}

void sf_background_close(sf_background *background)
{
    atomic_store(&background->leave, true);
    if (background->thread.running) sf_bell_ring(&background->bell);
    sf_thread_join(&background->thread);
    sf_bell_close(&background->bell);
    sf_bell_close(&background->done);
    *background = (sf_background){0};
}

static bool keep_going(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    const sf_background *background = user;
    return !atomic_load(&background->leave) && !atomic_load(&background->halted);
}

void sf_background_halt(sf_background *background)
{
    atomic_store(&background->halted, true);
    if (background->thread.running) sf_bell_ring(&background->done);
}

sf_progress sf_background_progress(sf_background *background)
{
    return (sf_progress){.update = keep_going, .user = background};
}

bool sf_background_is_idle(const sf_background *background)
{
    return atomic_load(&background->state) == SF_BACKGROUND_IDLE;
}

void sf_background_start(sf_background *background)
{
    atomic_store(&background->state, SF_BACKGROUND_BUSY);
    if (background->place == SF_BACKGROUND_INSIDE)
        finish(background);
    else
        sf_bell_ring(&background->bell);
}

void sf_background_wait(sf_background *background)
{
    while (atomic_load(&background->state) == SF_BACKGROUND_BUSY && !atomic_load(&background->halted))
        sf_bell_wait(&background->done, -1);
}

bool sf_background_take(sf_background *background)
{
    int done = SF_BACKGROUND_DONE;
    return atomic_compare_exchange_strong(&background->state, &done, SF_BACKGROUND_IDLE);
}
