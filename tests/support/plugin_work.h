/* SPDX-License-Identifier: Apache-2.0 */
/** What the test plugin has done: shared by it and the tests that look. */
#ifndef SF_TESTS_PLUGIN_WORK_H
#define SF_TESTS_PLUGIN_WORK_H

#include <synfire/error.h>

typedef struct test_plugin_work {
    _Atomic uint32_t copied;        /**< streams of events that came from the program, laid out there */
    _Atomic uint32_t raw;           /**< streams of spikes that came as they are */
    _Atomic uint32_t raw_spikes;    /**< in them */
    _Atomic uint32_t units_counted; /**< times that what each unit fires was counted */
    _Atomic uint32_t appended;      /**< spikes that were copied to windows there */
    _Atomic uint32_t kept;          /**< summaries that were taken from the list before */
    _Atomic uint32_t from_windows;  /**< streams of windows that lay on the device */
    _Atomic uint32_t searches;      /**< for episodes */
    _Atomic uint32_t paired;        /**< searches that began with pairs which were known */
    _Atomic uint32_t counted;       /**< shares of candidates */
    _Atomic uint32_t all_reached;   /**< searches from every vertex */
    _Atomic uint32_t drawn;         /**< densities that follow a window */
    _Atomic uint32_t as_enterprise; /**< searches in parts with techniques of Enterprise */
    _Atomic uint32_t techniques;    /**< of the last of them */
    _Atomic uint32_t wait_ms;       /**< set by the test: counting takes so long at least */
    _Atomic uint32_t graphs_sent;   /**< for candidate spaces */
    _Atomic uint32_t graphs_asked;  /**< for that: also those that were not sent */
    _Atomic bool has_no_room;       /**< set by the test: for graphs */
    _Atomic bool lacks_memory;      /**< set by the test: graphs that lie there are given back */
    _Atomic uint32_t
        copy_ms; /**< set by the test: a graph takes so long to be sent, or until it is to stop */
    _Atomic uint32_t link_ms;     /**< set by the test: and links of what is excluded so long to be made */
    _Atomic uint32_t late_after;  /**< set by the test: in the search after so many time is up; 0: never */
    _Atomic uint32_t sampled;     /**< searches of engine auto, instead of being done */
    _Atomic uint64_t sample_says; /**< set by the test: the candidates that each would try; UINT64_MAX: those
                                     that it does */
    _Atomic uint64_t tried;       /**< candidates, by the search of engine auto */
    _Atomic uint32_t most_slots;  /**< expansions of gvsm that were under way at once, at most */
} test_plugin_work;

/** Of a plugin that is loaded; borrowed until that is closed. */
test_plugin_work *test_plugin_work_of(const char *path);

#endif
