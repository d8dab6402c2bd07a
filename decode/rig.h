/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What decoders of amplifiers have in common. Their messages name an electrode and count samples; here these
 * become units and times.
 *
 * - Units are those that were given (sf_decoder_options.units), or the electrodes that are heard of in the
 *   first learn_s of the stream. The stream becomes known once they are, and the sampling rate with them;
 *   the spikes that came before are kept and go out first.
 * - Stream time is sample number over sampling rate, as a whole number of nanoseconds to the nearest: a
 *   stream's zero is the rig's.
 * - Spikes of several messages go out together, in time order; but where the rig's clock goes back, what came
 *   before goes out before. What is first of all and first after such a place goes out time by time, so that
 *   window/continuity.h sees the stream go on from there, however much came at once.
 * - What was kept while units were learnt goes out as what arrived then, in steps of SF_RIG_STEP_NS.
 * - Message numbers: a gap is a loss, a smaller number a new run of the sender and none.
 */
#ifndef SF_DECODE_RIG_H
#define SF_DECODE_RIG_H

#include "decode/decoder.h"

#define SF_RIG_BATCH 1024      /**< spikes that go out together */
#define SF_RIG_KEPT (1u << 20) /**< spikes or markers that are kept until the stream is known, and clocks */
#define SF_RIG_BACK_NS (100 * INT64_C(1000000)) /* further is no order of messages: the clock went back */
#define SF_RIG_STEP_NS (100 * INT64_C(1000000))
#define SF_RIG_MOST_UNITS 65536 /**< that are learnt: a sender cannot ask for more memory */

/** Where among what waits the clock went back, or what comes next arrived later. */
typedef struct sf_rig_seam {
    size_t spikes, markers;
    bool went_back;
    uint64_t restarts;  /**< of the sender, while units were learnt */
    int64_t arrival_ns; /**< 0: it goes out as it comes */
} sf_rig_seam;

/** A decoder of a rig begins with it. Its kind has sf_rig_gave, and sf_rig_close or a `close` that calls it.
 */
typedef struct sf_rig {
    sf_decoder decoder;
    uint64_t rate_uhz;   /**< samples in a million seconds; 0: not known yet, times are samples still */
    double told_hz;      /**< by sf_rig_hear_rate, the last; 0: none */
    bool is_anything;    /**< since the last seam */
    int64_t first, last; /**< times since then, and ... */
    int64_t learnt;      /**< ... how much passed before, while units are learnt */
    int64_t furthest;    /**< that was reached since then, less what may follow behind; and ... */
    int64_t before;      /**< ... by the messages before this one; INT64_MIN: by none */
    sf_spike *spikes;    /**< in time order from seam to seam; before spikes_given they went out */
    sf_marker *markers;  /**< likewise */
    size_t spike_count, spike_capacity, spikes_given;
    size_t marker_count, marker_capacity, markers_given;
    size_t spikes_going, markers_going; /**< of what waits, those in the decoder's batch */
    sf_rig_seam *seams;                 /**< of what waits; before seams_given it went out */
    size_t seam_count, seam_capacity, seams_given;
    size_t back_spikes, back_markers; /**< where the clock went back last: nothing is sorted in before */
    bool broke;                       /**< what comes next is behind a seam */
    uint64_t restarts, runs;          /**< of the sender: that no seam has yet, and all */
    int64_t arrival_ns;               /**< of what goes out, as seams have it */
    unsigned alone;                   /**< so many batches yet go out with the spikes of one time */
    int64_t clock;                    /**< promised, and not told yet; INT64_MIN: none */
    bool is_numbered;
    int64_t expected;       /**< message number */
    uint64_t *number_names; /**< of electrodes that were given: the hash of the name that each number came
                               with; 0: none */
    bool shared_was_told;   /**< that two have one number */
    bool slow_was_told;     /**< that one is heard of for the first time after learn_s */
    /** Of learnt units, or NULL: gives them the names that they keep, once all are heard of, and is told
     * where each then stands: at places[its index until now]. */
    int (*name_units)(struct sf_rig *rig, sf_error *error);
    void (*place_units)(struct sf_rig *rig, const uint32_t *places);
} sf_rig;

/** First in every `decode`: what went out makes room. */
void sf_rig_begin(sf_rig *rig);

/** Last in every `decode` whose message was read: SF_OK where enough has come for a batch, else SF_AGAIN. */
int sf_rig_end(sf_rig *rig, sf_error *error);

/** A counter of which the sender sends the low bits. Zero-initialise. */
typedef struct sf_rig_counter {
    bool has_value;
    int64_t value;
} sf_rig_counter;

/** The whole of it: a step of less than half the range of its bits, either way, from what it was. `bits`: 1
 * to 64. */
int64_t sf_rig_count_on(sf_rig_counter *counter, uint64_t low, unsigned bits);

/** The sampling rate, as the stream tells. One that was given, or told before, stays. False: it is none. */
bool sf_rig_set_rate(sf_rig *rig, double hz);

/** The same of a sender that samples at what it tells: another than the one that stays is logged. */
bool sf_rig_hear_rate(sf_rig *rig, double hz);

/**
 * Message numbers, which count from `least` in each run. False: the message is not read: it was there before
 * or, where decoder.once_more is set, a new run begins with it and what waits of the old one goes out first.
 */
bool sf_rig_follow(sf_rig *rig, int64_t number, int64_t least);

/** The sender started again, as what is decoded tells. False as of sf_rig_follow. */
bool sf_rig_begin_run(sf_rig *rig);

/** What `decode` says where the message is not read. */
static inline int sf_rig_pass(const sf_rig *rig)
{
    return rig->decoder.once_more ? SF_OK : SF_AGAIN;
}

/** Something waits that is of the run that is known. */
static inline bool sf_rig_waits(const sf_rig *rig)
{
    return rig->decoder.is_known &&
           (rig->spikes_given < rig->spike_count || rig->markers_given < rig->marker_count);
}

/** The unit of an electrode by its name, and by its number (-1: none) among units that were given;
 * SF_NO_UNIT: it has none, which is counted. */
int sf_rig_find(sf_rig *rig, const char *name, int32_t channel, uint32_t *unit, sf_error *error);

/** The same by a name that people gave, as "Electrode 12", and the number of a neuron that was sorted there
 * (0: none): that is the unit "Electrode 12:3". Where units were given and none has that name it is that of
 * the electrode, and where none has the electrode's name, the one of number 11. */
int sf_rig_find_electrode(sf_rig *rig, const char *name, int64_t sorted_id, uint32_t *unit, sf_error *error);

/** These take samples; times where the rate is given as 1e9. What lies beyond 146 years is left out and
 * counted. */
int sf_rig_spike(sf_rig *rig, uint32_t unit, int64_t sample, float amplitude, sf_error *error);
int sf_rig_ttl(sf_rig *rig, int64_t sample, unsigned line, bool state, sf_error *error);
int sf_rig_text(sf_rig *rig, int64_t sample, const char *text, sf_error *error);
/** What the samples of a waveform are, all of them little-endian. */
typedef enum sf_rig_samples { SF_RIG_FLOAT32, SF_RIG_INT16 } sf_rig_samples;
/** The amplitude of a waveform: its trough, as every protocol has it here; where no sample is below zero its
 * peak, and NaN where none is finite. */
float sf_rig_amplitude(const void *samples, size_t bytes, sf_rig_samples are);
/** The stream has reached this sample: nothing that lies more than `behind` before it will follow. */
void sf_rig_clock(sf_rig *rig, int64_t sample, int64_t behind);

/** Something of the sender that holds no spikes: it is there. */
static inline void sf_rig_hear(sf_rig *rig)
{
    rig->decoder.batch.heard = rig->decoder.is_known;
}

/** How sf_decoder_kind.open, .gave and .close are served. */
int sf_rig_open(sf_decoder *decoder, sf_error *error);
void sf_rig_gave(sf_decoder *decoder);
void sf_rig_close(sf_decoder *decoder);

#endif
