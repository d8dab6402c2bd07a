/* SPDX-License-Identifier: Apache-2.0 */
/* synfire bench: starts synfire-bench (bench/command), which measures what lies inside the library too. */
#include "app/command.h"

static const app_option options[] = {
    {"calibrate", NULL, "episodes: only from how many episodes of each size on hybrid counts as ptpe does"},
    {"graph", "FILE", "bfs: the graph of a file, both ways, in place of a drawn one"},
    {"kronecker", "SCALE:EDGEFACTOR:SEED[:A,B,C]",
     "bfs: the graph (default 20:16:1); with A,B,C the chances of R-MAT, as 0.45,0.15,0.15, in place of "
     "those of "
     "Graph500"},
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {"data", "DIR", "episodes, match: where the data are (default: $SYNFIRE_DATA, else ../shared/data)"},
    {"device", "DEVICE",
     "bfs: cpu (default), a GPU, which then draws the graph, or cuda:all for a search on all of them; "
     "episodes: this device alone, mining "
     "with cuda:all on one GPU, two, four ... and all; latency, throughput: as the key `device` of a "
     "configuration (default: cpu, then the first GPU, if any)"},
    {"levels", NULL, "bfs: the time of each level of the median search; of rules: a row a source"},
    {"seconds", "S",
     "latency: of the parts trigger and rigs (default 10); throughput: of each row over sockets (default 5)"},
    {"threads", "N", "bfs, episodes, match, plan: threads of the fast rows (default: all cores)"},
    {0},
};

static int start(app_call *call, sf_error *error)
{
    return sf_tool_bench(call->words, error);
}

const app_command app_command_bench = {
    .name = "bench",
    .group = "advanced",
    .summary = "reproducible benchmarks",
    .arguments = "NAME [PART...]",
    .least_arguments = 1,
    .most_arguments = -1,
    .example = "synfire bench bfs --kronecker 16:16:1",
    .notes =
        "bfs: 64 random sources on a Kronecker graph; teps is the harmonic mean of directed edges of the\n"
        "reached component over seconds, as Graph500 has it, in which one source in a component of a few "
        "vertices "
        "weighs as much as all others; median_teps is the median of the sources'. ratio is the speed over "
        "that of a plain queue on one thread in the "
        "same\n"
        "run. What a search prepares once per graph is shown apart. On a device the first row is the "
        "fastest\n"
        "way, the others are Enterprise with one technique more at a time, and ratio is over the first row.\n"
        "With cuda:all on several GPUs the rows are all these ways on one, and then on all together.\n"
        "graph500_teps counts edges as Graph500 does: those of the list in the component, loops and repeats "
        "among\n"
        "them, each once; it is left out of graphs that a device draws. Part ways is what is said so far; "
        "only "
        "where named:\n"
        "rules, what a search reads that switches once to bottom-up where gamma (over 30 % of the hubs in "
        "the "
        "frontier)\n"
        "or alpha (a fourteenth of the edges that are left) says, where it is best, and never, as a share of "
        "the edges,\n"
        "and which share of the bottom-up reads the hub cache saves; and scaling, 1, 2, 4, ... threads on "
        "the "
        "same graph\n"
        "(strong) and on one twice as large each time (weak), teps being all edges over all seconds.\n"
        "floor_mb is 8 bytes a vertex for levels and parents, and 4 for each twentieth edge.\n"
        "episodes: mining data sets by every engine on the CPU, on every device and divided among all. Words "
        "after the name "
        "choose "
        "parts: sym26, sim-64 and sim-64-high (the miners' own benchmark stream at two thresholds, simulated "
        "where it is absent), retina (two hours of a recording), array-60, array-600 and array-3600 (4,096 "
        "units "
        "at 10 Hz for so many seconds; the longer two only where there is a device, unless named), counts "
        "(10 to "
        "100,000 episodes of 2 to 8 units by each engine side by side). seconds is the median of up to "
        "eleven "
        "runs, ratio the speed over the first row of the job. All rows of a job must find the same; an "
        "engine "
        "that would take too long is left out.\n"
        "density: bandwidths by direct sums on one core, on every device, and by the characteristic\n"
        "function (part direct), of a million samples (million), and what the densities of a live run cost\n"
        "(live); only where named: series, the plug-in and least squares over n, by direct sums as far as "
        "they go.\n"
        "latency: part hop: 22 s of 4,096 units at 100,000 spikes a second through the live pipeline in real "
        "time: a "
        "window "
        "of 10 s, a hop of 100 ms, a discovery each second, 1,000 episodes tracked, the graph, three "
        "densities. What "
        "each stage of a hop took, how old the counts were when they were published, how long discoveries "
        "took. Part test: the same, with what is tracked and linked tested in 1,000 surrogates of 10 s. Part "
        "trigger: from a spike that is sent over the loopback interface, among 100,000 a second, to the "
        "trigger that "
        "`synfire run` sends back, by ZeroMQ and by OSC, with 100 watched episodes; beside it what a bare "
        "message takes one way in the same moments, and the ratio. Part rigs: from a spike that is handed to "
        "what plays "
        "a rig's protocol to the trigger, of each protocol, without merge.lateness_ms; held is what it keeps "
        "spikes back "
        "to send them in blocks.\n"
        "throughput: part pipeline: spikes a second of the same stream through the pipeline without a clock; "
        "the best of "
        "three. Part sockets: frames of 4,096 spikes over the loopback interface, as fast as they are taken, "
        "by a "
        "receiver that does nothing but take them from libzmq, and by `synfire run` with windows of 1 s, "
        "with "
        "mining "
        "each minute of the stream, and with a recorder that writes below $TMPDIR; memory is what the run "
        "took at "
        "most, and ns_per_spike the processor time of each of its threads. Part rigs: 100,000 spikes a "
        "second "
        "as Open "
        "Ephys and as MaxWell sends them, for seconds: what was sent is what was watched and what was lost "
        "by "
        "cause.\n"
        "plan: 1R on up to a million made-up vectors, one function after the other and by its parallel form "
        "on 1, 2, 4, ... threads, on one model and on copies; amdahl is the greatest speedup that the share "
        "which stays serial allows.\n"
        "match: patterns on one core, on all, on every device and where the estimated work puts them "
        "(on_device is how many went to a device). Parts: hprd (40 dense patterns in the protein network), "
        "celegans (feed-forward loops), votes-4 and votes-10 (24 patterns in a generated graph of 7,115 "
        "vertices and about 100,000 edges with so many labels), clique (5 vertices, unlabelled), gvsm (that "
        "engine without each of its techniques), large (10 million edges, 4 labels); only where named: "
        "labels (the same edges and shapes with 2 to 64 labels), orders (what gvsm's order tries beside the "
        "best and worst of all 120 numberings of 24 patterns), kronecker-20 and kronecker-22 (Graph500's "
        "graphs of that scale, 64 labels), edge-labels (a million edges, 4 labels of vertices and 4 of "
        "edges, "
        "with the engine gvsm without each of its techniques). Each device's row is followed by two whose "
        "candidates the CPU "
        "makes, and the device, space_seconds being what they take. A search is stopped "
        "after a second: complete is then 0 and embeddings a lower bound.",
    .options = {options},
    .run = start,
};
