/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shared by decoders of amplifiers. Their messages name an electrode and count samples; this unit converts
 * them to units and times.
 *
 * - Units are those of sf_decoder_options.units, or the electrodes that appear in the first learn_s of the
 * stream. The stream becomes known once the units and the sampling rate are; earlier spikes are kept and go
 * out first.
 * - Stream time is sample number over sampling rate, rounded to a nanosecond, so its zero is that of the rig.
 * - Spikes of several messages go out together, in time order; but when the clock of the rig goes back,
 * everything before goes out first. The first batches of a stream, and those after such a seam, hold the
 * spikes of one time only, so that window/continuity.h sees the stream continue, however much arrived at
 * once.
 * - Spikes kept while units were learnt go out with their original arrival times, in steps of SF_RIG_STEP_NS.
 * - Message numbers: a gap is a loss; a smaller number is a new run of the sender, and no loss.
 */
#ifndef SF_DECODE_RIG_H
#define SF_DECODE_RIG_H

#include "decode/decoder.h"

#define SF_RIG_BATCH 1024 /**< spikes that go out together */
/** Maximum number of spikes, and of markers, kept until the stream is known. */
#define SF_RIG_KEPT (1u << 20)
/* Times further back than this are no reordering of messages: the clock went back. */
#define SF_RIG_BACK_NS (100 * INT64_C(1000000))
#define SF_RIG_STEP_NS (100 * INT64_C(1000000))
/** Maximum number of learnt units, so that a sender cannot claim more memory. */
#define SF_RIG_MOST_UNITS 65536

/** A position in the waiting data at which the clock went back, or from which data arrived later. */
typedef struct sf_rig_seam {
    size_t spikes, markers;
    bool went_back;
    uint64_t restarts;  /**< restarts of the sender while units were learnt */
    int64_t arrival_ns; /**< 0: it goes out as it comes */
} sf_rig_seam;

/** The decoder of a rig begins with this struct. Its kind uses sf_rig_gave, and sf_rig_close or a `close`
 * that calls it. */
typedef struct sf_rig {
    sf_decoder decoder;
    uint64_t rate_uhz;   /**< samples per million seconds; 0: not known yet, and times are still in samples */
    double told_hz;      /**< last rate passed to sf_rig_hear_rate; 0: none */
    bool is_anything;    /**< since the last seam */
    int64_t first, last; /**< times since then, and ... */
    int64_t learnt;      /**< ... time passed before the seam, while units are learnt */
    int64_t furthest;    /**< latest time since the seam, minus how far later data may lie behind; and ... */
    int64_t before;      /**< ... the same up to the message before this one; INT64_MIN: none */
    sf_spike *spikes;    /**< in time order between seams; those before spikes_given went out */
    sf_marker *markers;  /**< likewise */
    size_t spike_count, spike_capacity, spikes_given;
    size_t marker_count, marker_capacity, markers_given;
    size_t spikes_going, markers_going; /**< number of waiting ones that are in the decoder's batch */
    sf_rig_seam *seams;                 /**< seams in the waiting data; those before seams_given went out */
    size_t seam_count, seam_capacity, seams_given;
    size_t back_spikes, back_markers; /**< where the clock last went back: nothing is sorted in before */
    bool broke;                       /**< what comes next is behind a seam */
    uint64_t restarts, runs;          /**< restarts of the sender not yet recorded in a seam; all restarts */
    int64_t arrival_ns;               /**< of what goes out, as seams have it */
    unsigned alone;                   /**< number of further batches that hold the spikes of one time only */
    int64_t clock;                    /**< promised clock that has not gone out yet; INT64_MIN: none */
    bool is_numbered;
    int64_t expected;       /**< message number */
    uint64_t *number_names; /**< given electrodes: hash of the name that came with each number; 0: none */
    bool shared_was_told;   /**< that two have one number */
    bool slow_was_told;     /**< logged that an electrode first appeared after learn_s */
    /** For learnt units (or NULL): name_units sets their final names, once all are known; place_units then
     * receives the new index of each, places[old index]. */
    int (*name_units)(struct sf_rig *rig, sf_error *error);
    void (*place_units)(struct sf_rig *rig, const uint32_t *places);
} sf_rig;

/** Call first in every `decode`: removes what went out. */
void sf_rig_begin(sf_rig *rig);

/** Call last in every `decode` whose message was read: SF_OK if there is enough for a batch, else SF_AGAIN.
 */
int sf_rig_end(sf_rig *rig, sf_error *error);

/** A counter of which the sender transmits only the low bits. Zero-initialise. */
typedef struct sf_rig_counter {
    bool has_value;
    int64_t value;
} sf_rig_counter;

/** Extends `low` to the full counter: the value nearest to the previous one, at most half the range of its
 * `bits` (1 to 64) away. */
int64_t sf_rig_count_on(sf_rig_counter *counter, uint64_t low, unsigned bits);

/** Sets the sampling rate that the stream states, unless one was given or set before. False: it is no valid
 * rate. */
bool sf_rig_set_rate(sf_rig *rig, double hz);

/** The same for a sender that certainly samples at the stated rate: logs a difference from the rate in use.
 */
bool sf_rig_hear_rate(sf_rig *rig, double hz);

/**
 * Follows message numbers, which start at `least` in each run. False: do not read the message, because it is
 * a duplicate or, if decoder.once_more is set, because it begins a new run and the waiting data of the old
 * run goes out first.
 */
bool sf_rig_follow(sf_rig *rig, int64_t number, int64_t least);

/** Declares that the sender restarted, as the decoded message says. False as for sf_rig_follow. */
bool sf_rig_begin_run(sf_rig *rig);

/** Return value of `decode` for a message that is not read. */
static inline int sf_rig_pass(const sf_rig *rig)
{
    return rig->decoder.once_more ? SF_OK : SF_AGAIN;
}

/** Whether data of the current run is waiting. */
static inline bool sf_rig_waits(const sf_rig *rig)
{
    return rig->decoder.is_known &&
           (rig->spikes_given < rig->spike_count || rig->markers_given < rig->marker_count);
}

/** Finds the unit of an electrode by its name and, among given units, by its number (-1: none); SF_NO_UNIT:
 * it has none, which is counted. */
int sf_rig_find(sf_rig *rig, const char *name, int32_t channel, uint32_t *unit, sf_error *error);

/** The same for a name chosen by a user, such as "Electrode 12", and the number of a neuron sorted on it (0:
 * none), which together name the unit "Electrode 12:3". If units were given and none has that name, the unit
 * of the electrode is used, and if none has the name of the electrode, that of number 11. */
int sf_rig_find_electrode(sf_rig *rig, const char *name, int64_t sorted_id, uint32_t *unit, sf_error *error);

/** These take samples, or times if the rate is given as 1e9. Samples beyond 146 years are left out and
 * counted. */
int sf_rig_spike(sf_rig *rig, uint32_t unit, int64_t sample, float amplitude, sf_error *error);
int sf_rig_ttl(sf_rig *rig, int64_t sample, unsigned line, bool state, sf_error *error);
int sf_rig_text(sf_rig *rig, int64_t sample, const char *text, sf_error *error);
/** Sample type of a waveform, little-endian. */
typedef enum sf_rig_samples { SF_RIG_FLOAT32, SF_RIG_INT16 } sf_rig_samples;
/** Amplitude of a waveform, defined alike for all protocols: its trough; if no sample is below zero its peak;
 * NaN if no sample is finite. */
float sf_rig_amplitude(const void *samples, size_t bytes, sf_rig_samples are);
/** Declares that the stream has reached this sample: no later data lies more than `behind` samples before it.
 */
void sf_rig_clock(sf_rig *rig, int64_t sample, int64_t behind);

/** A message without spikes arrived, so the sender is alive. */
static inline void sf_rig_hear(sf_rig *rig)
{
    rig->decoder.batch.heard = rig->decoder.is_known;
}

/** Implementations of sf_decoder_kind.open, .gave and .close. */
int sf_rig_open(sf_decoder *decoder, sf_error *error);
void sf_rig_gave(sf_decoder *decoder);
void sf_rig_close(sf_decoder *decoder);

#endif
