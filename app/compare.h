/* SPDX-License-Identifier: Apache-2.0 */
/**
 * synfire compare: a table of recordings, what each of them is like, and whether groups of them differ.
 *
 * Each recording is analysed in a process of its own, which leaves what it found in a folder named by a hash
 * of the recording and of the options: it is not done again, and a recording on which an analysis ends badly
 * ends no other. The program then puts these parts together, behind the columns of the table.
 */
#ifndef SF_APP_COMPARE_H
#define SF_APP_COMPARE_H

#include "app/command.h"
#include "app/csv.h"

/* ---- one recording ---- */

/** The files of a part, and of the result: what there is a row of in each, and its columns. */
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

/** Appends the columns of a file, which begin with `well`, as they stand in its first line. */
void app_compared_columns(sf_text *text, app_compared_file file);

/** What may be left out, as bits: then it has no rows and no measures. */
typedef enum app_part { APP_PART_GRAPH = 1, APP_PART_CHAINS = 2 } app_part;

/** What is done with each recording. */
typedef struct app_comparing {
    const app_call *call; /**< whose options it is by, with those that compare adds */
    sf_activity_options activity;
    sf_criticality_options criticality;
    sf_response_options response; /**< without a marker: none are looked for */
    bool sequences;               /**< they are looked for, ... */
    sf_sequence_options sequence; /**< ... by these */
    unsigned without;             /**< app_part */
    uint64_t seed;                /**< of what chance gives */
    uint64_t options;             /**< a hash of all that the result depends on beside the recording */
} app_comparing;

/** What a row of the table is of, and what it says of that. */
typedef struct app_compared_input {
    char *path;           /**< a file or a folder */
    const char *recorded; /**< as of --recorded; NULL: as the call has it */
    char *positions;      /**< as of --positions; likewise */
} app_compared_input;

typedef struct app_compared {
    int status;
    bool kept;    /**< it was done before */
    char key[17]; /**< the name of its folder */
    double seconds;
    sf_error error;
} app_compared;

/** Analyses a recording, of a plate or a file of several streams each of them, into FOLDER/key, unless that
 * is there. SF_NO_INPUT, SF_DATA, ...: it is not then. */
void app_compare_recording(app_compared *result, const app_comparing *how, const app_compared_input *input,
                           const char *folder);

/** True of a file or a folder that is there. */
bool app_is_file(const char *path);

/** Adds the content of a file, or of all files of a folder by their names: of raw data, which no reader takes
 * spikes from, size and time of writing alone. SF_NO_INPUT, SF_IO. */
int app_hash_input(uint64_t *hash, const char *path, sf_error *error);

/** The same of all of them, in so many processes at once; a signal or an ending that is none of theirs is a
 * status of theirs. SF_CANCELLED. */
int app_compare_recordings(app_compared *results, const app_comparing *how, const app_compared_input *inputs,
                           size_t count, const char *folder, size_t jobs, sf_error *error);

/* ---- groups ---- */

/** A recording, or one well of it. */
typedef struct app_compared_row {
    size_t table_row, file;      /**< in the table; which of its files */
    size_t condition, replicate; /**< set by app_groups_make: which of them it is of */
    char *well;                  /**< "" where there is none */
    double duration_s;
    bool declared; /**< the file or the table says how long; else it is from the first to the last spike */
    double values[SF_MEASURES]; /**< NaN where it has none */
    double chance[SF_MEASURES]; /**< what chance gives of it; NaN where it has none, or no part in it */
} app_compared_row;

/** What is one independent observation: it has one name within a block. */
typedef struct app_replicate {
    const char *name;
    size_t block; /**< of app_groups; 0 without --block */
} app_replicate;

/** Replicates of a condition, of two factors at one level of the second one, in the order of the table. */
typedef struct app_condition {
    const char *name;
    size_t first, level; /**< of app_groups: which of the names, and of the levels */
    app_replicate *replicates;
    size_t count;   /**< replicates */
    size_t rows;    /**< recordings and wells */
    double *values; /**< count rows of SF_MEASURES: means over recordings of means over wells */
    double *chance; /**< likewise */
} app_condition;

/** Two conditions of one level compared. */
typedef struct app_contrast {
    size_t first, second; /**< conditions */
    bool paired;          /**< of the replicates that are in both */
    size_t left_out;  /**< replicates that are not, where it is paired; or of blocks without the other one */
    sf_contrast told; /**< by the measures that were asked for, q of all contrasts together */
} app_contrast;

typedef struct app_groups {
    app_condition *conditions; /**< level after level */
    size_t condition_count;
    const char *factor; /**< the column of the second factor; NULL: there is none */
    const char **names, **levels;
    size_t name_count, level_count; /**< one level without a factor */
    sf_factors factors;             /**< of the measures, q of all effects together; empty without a factor */
    size_t effects_tested;
    app_contrast *contrasts;
    size_t contrast_count;
    size_t tested;         /**< contrasts with replicates enough for any p: q is of these */
    const char *replicate; /**< the column that replicates are of; NULL: each file is one */
    const char *block;     /**< the column whose values they are dealt within; NULL: all together */
    const char **blocks;   /**< these values */
    size_t block_count;    /**< 1 where there is no such column */
    sf_measured measures[SF_MEASURES];
    size_t measure_count;
    sf_compared_by by;
} app_groups;

/** The options of groups: --by, --factor, --replicate, --block, --measures, and those that rows describe.
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

/** Puts rows into groups, which they are told, and compares these. app_groups_free whatever happened.
 * SF_DATA, SF_NO_MEMORY. */
int app_groups_make(app_groups *groups, const app_grouping *grouping, const sf_delimited *table,
                    app_compared_row *rows, size_t count, sf_error *error);
void app_groups_free(app_groups *groups);

/** "knock-out", of two factors "knock-out at 9". */
#define APP_CONDITION_WORDS 128
void app_condition_words(char words[APP_CONDITION_WORDS], const app_groups *groups, size_t condition);

/* ---- all of it ---- */

typedef struct app_comparison {
    const app_call *call; /**< as given */
    const char *table_path, *folder;
    bool shared_scale;   /**< of its panels: multiples of the mean of the first condition */
    const char *picture; /**< a file besides measures.svg of the folder that gets the picture; or NULL */
    sf_delimited table;
    app_grouping grouping;
    app_comparing how;
    size_t *files; /**< of each row of the table: which of `inputs` */
    app_compared_input *inputs;
    size_t input_count;
    app_compared *results; /**< of these */
    app_compared_row *rows;
    size_t row_count;
    app_groups groups;
} app_comparison;

/** What an effect of two factors is of: "genotype", "age" or "genotype x age". */
#define APP_EFFECT_WORDS 128
void app_effect_words(char words[APP_EFFECT_WORDS], const app_comparison *c, sf_factor effect);

/** Writes the parts of all recordings behind the columns of the table, the means of replicates, the tests and
 * the document of --json as summary.json. SF_CANNOT_CREATE, SF_IO. */
int app_compare_write(const app_comparison *c, sf_error *error);

/** Draws the measures by condition, by the ending of the path: .svg, or where synfire was built with Cairo
 * .pdf and .png. */
int app_compare_draw(const app_comparison *c, const char *path, sf_error *error);

void app_compare_json(sf_text *text, const app_comparison *c);
void app_compare_print(sf_text *text, const app_comparison *c);

#endif
