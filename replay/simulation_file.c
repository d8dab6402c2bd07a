/* SPDX-License-Identifier: Apache-2.0 */
/* Writes simulations to files of synfire's own layout. */
#include "core/error.h"
#include "io/layout.h"
#include "replay/recording_file.h"
#include "replay/truth.h"

static int append_spikes(sf_simulation *simulation, sf_layout *layout, uint64_t *spike_count,
                         const sf_progress *progress, sf_error *error)
{
    sf_span span = sf_simulation_about(simulation)->recorded;
    for (;;) {
        const sf_spike *spikes;
        size_t count;
        int status = sf_simulation_next(simulation, &spikes, &count, error);
        if (status != SF_OK || count == 0) return status;
        status = sf_layout_append_spikes(layout, spikes, count, error);
        if (status != SF_OK) return status;
        *spike_count += count;
        if (!sf_progress_update(progress, "simulating",
                                (double)(sf_simulation_done_ns(simulation) - span.start_ns) * 1e-9,
                                (double)(span.stop_ns - span.start_ns) * 1e-9))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped");
    }
}

int sf_simulation_write(sf_simulation *simulation, const char *path, uint64_t *spike_count,
                        const sf_progress *progress, sf_error *error)
{
    const sf_recording *about = sf_simulation_about(simulation);
    sf_layout_options how = {.kind = "recording", .overwrite = true};
    int status = sf_recording_spare(path, error);
    if (status != SF_OK) return status;
    sf_layout *layout;
    status = sf_layout_create(&layout, path, about, &how, error);
    if (status != SF_OK) return status;
    status = sf_truth_write(layout, sf_simulation_truth(simulation), &about->units, error);
    if (status == SF_OK)
        status = sf_layout_append_markers(layout, about->markers, about->marker_count, error);
    if (status == SF_OK) status = append_spikes(simulation, layout, spike_count, progress, error);
    if (status == SF_OK) return sf_layout_close(layout, &about->recorded, error);
    sf_layout_discard(layout);
    return status;
}
