/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lab Streaming Layer. liblsl is loaded at run time when needed, and optional. The table has the functions
 * that synfire calls, under liblsl's names without `lsl_`; its own headers document them. Every version
 * since 1.12 has them. A handle is used by one thread at a time.
 */
#ifndef SF_IO_LSL_H
#define SF_IO_LSL_H

#include <synfire/error.h>

#include <stddef.h>
#include <stdint.h>

#define SF_LSL_INT32 4         /**< formats of channels */
#define SF_LSL_STRING 3        /**< all others are numbers */
#define SF_LSL_LOST (-2)       /**< error of an inlet whose outlet is gone */
#define SF_LSL_BUFFERED 10000  /**< capacity of an outlet or inlet, in hundreds of samples */
#define SF_LSL_DESCRIPTORS 64u /**< sockets of it, about */

typedef struct sf_lsl_info *sf_lsl_info; /**< of liblsl, like all below */
typedef struct sf_lsl_node *sf_lsl_node;
typedef struct sf_lsl_resolver *sf_lsl_resolver;
typedef struct sf_lsl_inlet *sf_lsl_inlet;
typedef struct sf_lsl_outlet *sf_lsl_outlet;

typedef struct sf_lsl {
    double (*local_clock)(void);
    int32_t (*library_version)(void);
    void (*destroy_string)(char *text);

    sf_lsl_info (*create_streaminfo)(const char *name, const char *type, int32_t channels, double rate_hz,
                                     int32_t format, const char *source_id);
    void (*destroy_streaminfo)(sf_lsl_info info);
    const char *(*get_name)(sf_lsl_info info);
    const char *(*get_type)(sf_lsl_info info);
    const char *(*get_hostname)(sf_lsl_info info);
    int32_t (*get_channel_count)(sf_lsl_info info);
    int32_t (*get_channel_format)(sf_lsl_info info);
    double (*get_nominal_srate)(sf_lsl_info info);
    sf_lsl_node (*get_desc)(sf_lsl_info info);
    sf_lsl_node (*child)(sf_lsl_node node, const char *name);
    sf_lsl_node (*next_sibling_n)(sf_lsl_node node, const char *name);
    sf_lsl_node (*append_child)(sf_lsl_node node, const char *name);
    sf_lsl_node (*append_child_value)(sf_lsl_node node, const char *name, const char *value);
    const char *(*child_value_n)(sf_lsl_node node, const char *name);
    int32_t (*empty)(sf_lsl_node node);

    sf_lsl_resolver (*create_continuous_resolver_byprop)(const char *property, const char *value,
                                                         double forget_after_s);
    int32_t (*resolver_results)(sf_lsl_resolver resolver, sf_lsl_info *infos, uint32_t room);
    void (*destroy_continuous_resolver)(sf_lsl_resolver resolver);

    sf_lsl_inlet (*create_inlet)(sf_lsl_info info, int32_t buffered, int32_t chunk, int32_t recover);
    void (*destroy_inlet)(sf_lsl_inlet inlet);
    sf_lsl_info (*get_fullinfo)(sf_lsl_inlet inlet, double timeout_s, int32_t *failure);
    void (*open_stream)(sf_lsl_inlet inlet, double timeout_s, int32_t *failure);
    double (*time_correction)(sf_lsl_inlet inlet, double timeout_s, int32_t *failure);
    double (*pull_sample_d)(sf_lsl_inlet inlet, double *values, int32_t count, double timeout_s,
                            int32_t *failure);
    double (*pull_sample_str)(sf_lsl_inlet inlet, char **texts, int32_t count, double timeout_s,
                              int32_t *failure);

    sf_lsl_outlet (*create_outlet)(sf_lsl_info info, int32_t chunk, int32_t buffered);
    void (*destroy_outlet)(sf_lsl_outlet outlet);
    int32_t (*have_consumers)(sf_lsl_outlet outlet);
    int32_t (*push_sample_itp)(sf_lsl_outlet outlet, const int32_t *values, double stamp_s, int32_t now);
    int32_t (*push_sample_strtp)(sf_lsl_outlet outlet, const char **texts, double stamp_s, int32_t now);
} sf_lsl;

/** Loads liblsl once: the file named by PYLSL_LIB, as pylsl does, or else that of the system. SF_UNAVAILABLE,
 * saying what to install. Any thread. */
int sf_lsl_load(const sf_lsl **lsl, sf_error *error);

/** Refuses an outlet that `permit` (such as "--insecure") does not allow: every machine in reach receives
 * what an outlet sends, without authentication. SF_USAGE. */
int sf_lsl_refuse(const char *place, const char *permit, sf_error *error);

/** Opens an outlet with one channel and irregular timing; its `source_id`, by which inlets find it again, is
 * `name`. `describe` (or NULL) fills in its description from `of`. NULL: out of memory. */
sf_lsl_outlet sf_lsl_open_outlet(const sf_lsl *lsl, const char *name, const char *type, int32_t format,
                                 void (*describe)(const sf_lsl *lsl, sf_lsl_node node, const void *of),
                                 const void *of);

#endif
