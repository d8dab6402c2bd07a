/* SPDX-License-Identifier: Apache-2.0 */
/* What was done, as a paper prints it. */
#include "analysis/episodes.h"
#include "core/error.h"
#include "core/provenance.h"
#include "mine/best_delay.h"
#include "mine/found.h"

#include <inttypes.h>

/* `family`: of what q is corrected for. */
static void describe_surrogates(sf_text *text, const sf_significance *told, const char *family)
{
    const sf_significance_options *done = &told->options;
    if (told->not_tested != SF_TESTABLE) {
        sf_text_printf(text, "; surrogates gave no verdict (%s)", sf_not_tested_text(told->not_tested));
        return;
    }
    sf_text_printf(text, "; each count was compared with those in %" PRIu32 " surrogates (seed %" PRIu64 ", ",
                   done->surrogates, done->seed);
    double width_ms = (double)done->width_ns * 1e-6, segment_s = (double)done->segment_ns * 1e-9;
    if (done->kind == SF_SIGNIFICANCE_SEGMENT_SHIFT)
        sf_text_printf(text,
                       "each spike train shifted by up to %g ms either way, independently in each segment of "
                       "%g s",
                       width_ms, segment_s);
    else if (done->kind == SF_SIGNIFICANCE_JITTER)
        sf_text_printf(text, "each spike placed anew within its interval of %g ms", 2 * width_ms);
    else if (done->kind == SF_SIGNIFICANCE_DITHER)
        sf_text_printf(text,
                       "each spike moved by up to %g ms either way, not nearer to its neighbours than its "
                       "unit's dead time (uniform dithering with dead time, Stella et al. 2022)",
                       width_ms);
    else if (done->kind == SF_SIGNIFICANCE_JOINT_ISI)
        sf_text_printf(text,
                       "each spike moved by up to %g ms either way as its unit's intervals follow each other "
                       "(joint-ISI dithering, Louis et al. 2010)",
                       width_ms);
    else
        sf_text_printf(text, "each spike train shifted as a whole by up to %g ms either way", width_ms);
    if (done->kind == SF_SIGNIFICANCE_SEGMENT_SHIFT)
        sf_text_printf(text,
                       "; what that blurs of shared bursts was estimated, as one part in %.3g of what "
                       "counts lose by three shifts, and taken off",
                       told->sharpness.divisor);
    sf_text_printf(text,
                   done->splits
                       ? "), for every split of a chain's units into two groups once with one group moved "
                         "as a whole, and p and q of a chain are the largest of these; "
                       : "), once with only the last unit of an episode moved and once with only the "
                         "first, and p and q of a chain are the largest of these two and of its "
                         "consecutive links, each tested as a pair; ");
    if (done->correction == SF_CORRECTION_RATE)
        sf_text_printf(
            text,
            "q is the false-discovery rate (Benjamini and Hochberg) over all candidates %s, of all "
            "sizes and delays together, by tails fitted to the surrogates",
            family);
    else
        sf_text_printf(
            text,
            "q is corrected for all candidates %s, of all sizes and delays together, by the maximum "
            "of the standardised count of each size in each surrogate",
            family);
    sf_text_printf(text, "; episodes in which a unit returns were not tested");
}

static void describe_test(sf_text *text, const sf_episodes *e)
{
    const sf_significance *told = e->is_tested ? &e->significance : NULL;
    if (told == NULL)
        sf_text_printf(text, "; no test was made");
    else if (told->options.kind == SF_SIGNIFICANCE_ANALYTIC)
        sf_text_printf(text,
                       "; p is the analytic bound of Sastry and Unnikrishnan (2010) for links that hold with "
                       "a probability of %g",
                       told->options.link);
    else
        describe_surrogates(text, told,
                            e->result != NULL          ? "searched"
                            : e->registered[0] != '\0' ? "registered"
                                                       : "given");
}

/* Without a selection, as for a recording in memory, everything was analysed. */
static sf_selected all_of(const sf_recording *recording)
{
    return (sf_selected){.unit_count = recording->units.count,
                         .units_in_file = recording->units.count,
                         .spikes = recording->spike_count,
                         .spikes_in_file = recording->spike_count,
                         .duration_ns = sf_recording_duration_ns(recording),
                         .recorded = recording->recorded,
                         .declared = recording->declared || recording->observed_count > 0,
                         .data = sf_recording_hash(recording)};
}

static void describe_mining(sf_text *text, const sf_episodes *e)
{
    const sf_mining_options *mining = &e->mining;
    sf_text_printf(text, "synfire %s mined episodes of up to %" PRIu32 " units with delays of ", sf_version(),
                   mining->max_size);
    sf_text_delays(text, mining->delays, mining->delay_count);
    sf_text_printf(text, " ms%s and a count of %" PRIu32 " or more%s from ",
                   mining->repeats ? ", units following themselves included," : "", e->result->least,
                   mining->closed ? ", none part of a longer one with the same count," : "");
}

static void describe_counting(sf_text *text, const sf_episodes *e)
{
    const char *many = e->given == 1 ? "" : "s";
    if (e->registered[0] == '\0')
        sf_text_printf(text, "synfire %s counted %zu given episode%s in ", sf_version(), e->given, many);
    else
        sf_text_printf(text,
                       "synfire %s counted %zu episode%s that had been registered in a file (SHA-256 %s) in ",
                       sf_version(), e->given, many, e->registered);
}

int sf_episodes_methods(const sf_episodes *e, const char *preset, char **words, sf_error *error)
{
    *words = NULL;
    const sf_recording *recording = e->recording;
    const sf_provenance of = {.selected =
                                  recording->selected != NULL ? *recording->selected : all_of(recording),
                              .preset = (char *)(uintptr_t)preset,
                              .min_distance_um = e->mining.min_distance_um};
    sf_text text = {0};
    if (e->result != NULL)
        describe_mining(&text, e);
    else
        describe_counting(&text, e);
    sf_provenance_words(&text, &of);
    bool searched = e->result != NULL && sf_delays_overlap(e->mining.delays, e->mining.delay_count);
    if (searched)
        sf_text_printf(&text,
                       "; of intervals that overlap each pair has the one in which it stands out most");
    describe_test(&text, e);
    if (searched && e->is_tested)
        sf_text_printf(&text, "; p is corrected for the intervals that a link was chosen from (Bonferroni)");
    if (e->stopped == SF_STOPPED_SEARCHING)
        sf_text_printf(&text, "; the search was stopped when sizes up to %" PRIu32 " were complete",
                       e->result->found->tree.complete);
    sf_text_printf(&text, ".");
    if (text.failed) {
        sf_text_free(&text);
        return sf_fail_memory(error);
    }
    *words = text.data;
    return SF_OK;
}
