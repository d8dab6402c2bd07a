/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The devices that do a job together, or one alone. A job is divided into items, each member takes one of its
 * own and then what is left, and what a member refuses or loses the others do. A member that has refused or
 * failed leaves, with its reason as the crew's note; a crew without members is the CPU.
 */
#ifndef SF_CORE_BACKEND_CREW_H
#define SF_CORE_BACKEND_CREW_H

#include "core/backend/find.h"

typedef struct sf_member {
    sf_device *device;
    void *part;      /**< what lies on it for the job: of whoever put it there, who takes it away */
    bool leads;      /**< works on the calling thread, and tells of progress */
    bool out;        /**< it does not take part any more */
    sf_error reason; /**< then, what it has said */
} sf_member;

/** Zeroed or cleared, it is the CPU. Used by one thread at a time. */
typedef struct sf_crew {
    sf_member members[SF_MOST_DEVICES];
    uint32_t count;
    char all[16];   /**< "cuda:all", where that was asked for */
    char note[256]; /**< what the last member that left has said, or empty */
} sf_crew;

/** Without members, the CPU. What members will say has much room, which is not written to before. */
static inline void sf_crew_clear(sf_crew *crew)
{
    crew->count = 0;
    crew->all[0] = crew->note[0] = '\0';
}

/** Who is to take part. */
typedef struct sf_crew_request {
    const char *device; /**< as include/synfire/device.h says; NULL is "auto" */
    uint32_t most;  /**< the maximum number of devices of "cuda:all" to use; 0: the job cannot be divided */
    bool forgiving; /**< a device that is missing is told of in the note, and is no error */
    /**
     * Whether a device can do the job: SF_USAGE refuses one that is named, SF_UNAVAILABLE leaves it out with
     * a note; one that "auto" might take is then not taken.
     */
    int (*supports)(const void *context, const sf_device *device, sf_error *why);
    double (*seconds)(const void *context); /**< what the CPU would need; asked of "auto" alone, and then, */
    double (*device_seconds)(const void *context); /**< one that is running; NULL: SF_READY_SECONDS */
    const void *context;
} sf_crew_request;

/** SF_UNAVAILABLE for a device that is missing, SF_USAGE for a name that is none, or from `supports`. */
int sf_crew_open(sf_crew *crew, const sf_crew_request *request, sf_error *error);

/** How many devices are worth dividing a job among that one core of the CPU would need so long for, at least
 * 1: each repeats what all need, above all the copy of the spikes. */
uint32_t sf_devices_worth(double core_seconds);

#define SF_DEVICE_SECONDS 10.0 /**< of a core's work, that a device more is worth it for */

/** Tests and benchmarks: sets the work, in seconds of a core, from which a device pays (0: it always does),
 * and the maximum number of devices. Initially SF_DEVICE_SECONDS and SF_MOST_DEVICES. */
void sf_devices_set_worth(double core_seconds, uint32_t most);

/** How many members are left. */
uint32_t sf_crew_left(const sf_crew *crew);

/** "cuda:0", "cuda:all (2)" where more than one is left, "cpu" where none is. */
void sf_crew_name(const sf_crew *crew, char name[32]);

/** The most bytes that any one member still in the pool took; the use of each member is logged. */
uint64_t sf_crew_memory(const sf_crew *crew);

/** Does an item on a member. SF_UNAVAILABLE: the member leaves, and another is to do it. */
typedef int sf_crew_body(void *context, sf_member *member, size_t item, sf_error *error);

/** Divides `count` items, which are few, among the members that are left. SF_UNAVAILABLE: none is. */
int sf_crew_divide(sf_crew *crew, size_t count, sf_crew_body *body, void *context, sf_error *error);

/** Each member that is left does the item of its number among them, all at once; the first failure is told,
 * and SF_UNAVAILABLE where a member has left. */
int sf_crew_together(sf_crew *crew, sf_crew_body *body, void *context, sf_error *error);

/** Takes a member out of the crew for what it has given as its reason; or all, for this one. */
void sf_crew_dismiss(sf_crew *crew, sf_member *member);
void sf_crew_dismiss_all(sf_crew *crew, const sf_error *reason);

/** Those that `may` and have not failed take part again, or do not any more; false: there is none. */
bool sf_crew_recall(sf_crew *crew, bool (*may)(const sf_member *member));

#endif
