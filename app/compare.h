/* SPDX-License-Identifier: Apache-2.0 */
/**
 * synfire compare: takes a table of recordings, measures each, and tests whether groups of them differ.
 *
 * Each recording is analysed in a process of its own, which writes its results to a folder named by a hash of
 * the recording and the options: finished ones are not repeated, and a recording that crashes its process
 * stops no other. The program then appends these results to the columns of the table.
 */
#ifndef SF_APP_COMPARE_H
#define SF_APP_COMPARE_H

#include "app/command.h"
#include "app/csv.h"

/* ---- one recording ---- */

/** The files of one recording's results, and of the whole: what a row of each is, and its columns. */
typedef enum app_compared_file {
    APP_COMPARED_RECORDINGS,
    APP_COMPARED_UNITS,
    APP_COMPARED_BURSTS,
    APP_COMPARED_EDGES,
    APP_COMPARED_CHAINS,
    APP_COMPARED_RESPONSES,
    APP_COMPARED_SEQUENCES,
    APP_COMPARED_FILES
} app_compared_file;

extern const char *const app_compared_names[APP_COMPARED_FILES]; /**< "recordings.csv", ... */

extern const sf_table app_compared_recordings, app_compared_units, app_compared_tests_table,
    app_compared_effects_table, app_compare_document;

/** Appends the columns of a file, starting with `well`, as in its first line. */
void app_compared_columns(sf_text *text, app_compared_file file);

/** Analyses that can be left out, as bits: then they have no rows and no measures. */
typedef enum app_part { APP_PART_GRAPH = 1, APP_PART_CHAINS = 2 } app_part;

/** What to do with each recording. */
typedef struct app_comparing {
    const app_call *call; /**< the options to use, and those that compare adds */
    sf_activity_options activity;
    sf_criticality_options criticality;
    sf_response_options response; /**< without a marker: no responses */
    bool sequences;               /**< analyse sequences, ... */
    sf_sequence_options sequence; /**< ... with these options */
    unsigned without;             /**< app_part */
    uint64_t seed;                /**< for chance levels */
    uint64_t options; /**< a hash of everything, besides the recording, that the result depends on */
} app_comparing;

/** The recording of a table row, and what the row says of it. */
typedef struct app_compared_input {
    char *path;           /**< a file or a folder */
    const char *recorded; /**< as --recorded; NULL: as in the call */
    char *positions;      /**< as --positions; likewise */
} app_compared_input;

typedef struct app_compared {
    int status;
    bool kept;    /**< the result existed before */
    char key[17]; /**< the name of its folder */
    double seconds;
    sf_error error;
} app_compared;

/** Analyses a recording (of a plate or a file of several streams, each of them) into FOLDER/key, unless that
 * exists. SF_NO_INPUT, SF_DATA, ...: then the folder does not exist. */
void app_compare_recording(app_compared *result, const app_comparing *how, const app_compared_input *input,
                           const char *folder);

/** True if the file or folder exists. */
bool app_is_file(const char *path);

/** Adds the content of a file, or of all files of a folder in name order, to a hash; for raw data, from which
 * no reader takes spikes, only size and modification time. SF_NO_INPUT, SF_IO. */
int app_hash_input(uint64_t *hash, const char *path, sf_error *error);

/** Does the same for all inputs, in parallel processes; a crash or an unexpected exit becomes the status of
 * that input. SF_CANCELLED. */
int app_compare_recordings(app_compared *results, const app_comparing *how, const app_compared_input *inputs,
                           size_t count, const char *folder, size_t jobs, sf_error *error);

/* ---- groups ---- */

/** A recording, or one well of it. */
typedef struct app_compared_row {
    size_t table_row, file;      /**< row of the table; which of its files */
    size_t condition, replicate; /**< set by app_groups_make */
    char *well;                  /**< "" if there are no wells */
    double duration_s;
    bool declared; /**< the file or the table states the duration; else it is from the first to the last spike
                    */
    double values[SF_MEASURES]; /**< NaN: not available */
    double chance[SF_MEASURES]; /**< the measure expected by chance; NaN: not available, or not applicable */
} app_compared_row;

/** One independent observation; its name is unique within a block. */
typedef struct app_replicate {
    const char *name;
    size_t block; /**< index in app_groups; 0 without --block */
} app_replicate;

/** The replicates of one condition (with two factors, at one level of the second), in table order. */
typedef struct app_condition {
    const char *name;
    size_t first, level; /**< indices in app_groups: of its name, and of its level */
    app_replicate *replicates;
    size_t count;   /**< replicates */
    size_t rows;    /**< number of recordings and wells */
    double *values; /**< count rows of SF_MEASURES: means over recordings of the means over their wells */
    double *chance; /**< likewise */
} app_condition;

/** Comparison of two conditions of one level. */
typedef struct app_contrast {
    size_t first, second; /**< conditions */
    bool paired;          /**< by replicates that are in both */
    size_t left_out; /**< if paired, replicates that are not in both; else those of blocks that lack the other
                        condition */
    sf_contrast told; /**< for the selected measures, with q over all contrasts together */
} app_contrast;

typedef struct app_groups {
    app_condition *conditions; /**< level after level */
    size_t condition_count;
    const char *factor; /**< column of the second factor; NULL: none */
    const char **names, **levels;
    size_t name_count, level_count; /**< one level without a second factor */
    sf_factors factors; /**< for the selected measures, with q over all effects together; empty without a
                           second factor */
    size_t effects_tested;
    app_contrast *contrasts;
    size_t contrast_count;
    size_t tested;         /**< contrasts with enough replicates for a p: q corrects for these */
    const char *replicate; /**< column that identifies replicates; NULL: each file is one */
    const char *block;     /**< column within whose values conditions are permuted; NULL: no blocks */
    const char **blocks;   /**< values of that column */
    size_t block_count;    /**< 1 without such a column */
    sf_measured measures[SF_MEASURES];
    size_t measure_count;
    sf_compared_by by;
} app_groups;

/** Options of groups: --by, --factor, --replicate, --block, --measures, and those that rows describe.
 * SF_USAGE. */
typedef struct app_grouping {
    size_t by, replicate, block,
        factor;          /**< columns of the table; SIZE_MAX: of the file, no blocks, no factor */
    const char *control; /**< or NULL */
    sf_measured measures[SF_MEASURES];
    size_t measure_count;
    sf_compared_by test;
    uint64_t permutations, seed;
} app_grouping;

extern const sf_key_table app_grouping_table;
extern const char *const app_compared_tests[]; /**< as sf_compared_by, up to NULL */

int app_grouping_parse(app_grouping *grouping, const app_comparing *how, const app_call *call,
                       const sf_delimited *table, sf_error *error);

/** Assigns rows to groups, records that in the rows, and compares the groups. Call app_groups_free whatever
 * is returned. SF_DATA, SF_NO_MEMORY. */
int app_groups_make(app_groups *groups, const app_grouping *grouping, const sf_delimited *table,
                    app_compared_row *rows, size_t count, sf_error *error);
void app_groups_free(app_groups *groups);

/** "knock-out", or with two factors "knock-out at 9". */
#define APP_CONDITION_WORDS 128
void app_condition_words(char words[APP_CONDITION_WORDS], const app_groups *groups, size_t condition);

/* ---- the whole comparison ---- */

typedef struct app_comparison {
    const app_call *call; /**< as given */
    const char *table_path, *folder;
    bool shared_scale;   /**< the picture's panels show multiples of the mean of the first condition */
    const char *picture; /**< a second file for the picture, besides measures.svg in the folder; or NULL */
    sf_delimited table;
    app_grouping grouping;
    app_comparing how;
    size_t *files; /**< index in `inputs` of each row of the table */
    app_compared_input *inputs;
    size_t input_count;
    app_compared *results; /**< of `inputs` */
    app_compared_row *rows;
    size_t row_count;
    app_groups groups;
} app_comparison;

/** Name of an effect of two factors: "genotype", "age" or "genotype x age". */
#define APP_EFFECT_WORDS 128
void app_effect_words(char words[APP_EFFECT_WORDS], const app_comparison *c, sf_factor effect);

/** Writes the results of all recordings appended to the columns of the table, the means of replicates, the
 * tests, and the document of --json as summary.json. SF_CANNOT_CREATE, SF_IO. */
int app_compare_write(const app_comparison *c, sf_error *error);

/** Draws the measures by condition, in the format of the path's extension: .svg, or if built with Cairo .pdf
 * and .png. */
int app_compare_draw(const app_comparison *c, const char *path, sf_error *error);

void app_compare_json(sf_text *text, const app_comparison *c);
void app_compare_print(sf_text *text, const app_comparison *c);

#endif
