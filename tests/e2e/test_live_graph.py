# SPDX-License-Identifier: Apache-2.0
"""The graph that a run publishes is that of `synfire graph` on the same slice, in every window: between discoveries, however few
episodes are tracked, with several delays, in windows that are not full and across silences."""
import command
from live import exact_seconds, write

YAML = """\
window: {{length_s: {window}, hop_s: {hop}}}
mine: {{delays_ms: "{delays}", max_size: 2, {mine}}}
sinks: [{{type: jsonl, path: run.jsonl, overwrite: true, policy: block}}]
"""
TILED = """\
window: {{length_s: 5, hop_s: 2.5}}
mine: {{every: 0}}
blank: [{{marker: ttl0, from_ms: 0, to_ms: 150}}]
graph: {{metric: sttc, dt_ms: 6, surrogates: 40, seed: 1}}
significance: {{max_q: {max_q}}}
sinks: [{{type: jsonl, path: run.jsonl, overwrite: true, policy: block}}]
"""


def key_of(edge):
    return edge["from"], edge["to"], *edge["delay_ms"]


def numbers_of(metric, edge):
    """What a window alone says of an edge: of episodes p and q are those of stretches."""
    return tuple(edge[key] for key in ("count", "expected", "weight") + (("p", "q") if metric == "sttc" else ()))


class LiveGraph(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 20, "--seed", 9, "--quiet")
        cls.synfire("simulate", "marked.h5", "--preset", "sym26", "--duration", 20, "--seed", 4, "--marker-every", 0.7, "--quiet")

    def snapshots(self):
        """The messages with the graph that a subscriber holds after each."""
        graph, snapshots = {}, []
        for message in command.messages_of("run.jsonl", "graph"):
            for change in message["changes"]:
                if change["removed"]:
                    del graph[key_of(change)]
                else:
                    graph[key_of(change)] = numbers_of(message["metric"], change)
            self.assertEqual(len(graph), message["edges"])
            snapshots.append((message, dict(graph)))
        return snapshots

    def recorded(self, recording, message, options):
        """The graph of the same slice."""
        is_tiled = message["metric"] == "sttc"
        how = ("--metric", "sttc") if is_tiled else ("--min-count", repr(message["threshold"]))
        found = self.document("graph", recording, *how, *options, "--quiet", "--from", exact_seconds(message["from_ns"]),
                              "--to", exact_seconds(message["to_ns"]))
        if is_tiled:
            self.assertEqual([message[key] for key in ("pairs_tested", "pairs_by_chance")],
                             [found[key] for key in ("pairs_tested", "pairs_by_chance")])
        return {key_of(edge): numbers_of(message["metric"], edge) for edge in found["edge_detail"]}

    def assert_same(self, recording, yaml, most, *options):
        """Of the windows of a run so many at most, the first and the last among them, have the same edges with the same numbers, to
        the last digit, as the command finds with these options."""
        write("run.yaml", yaml)
        self.synfire("run", "run.yaml", "--replay", recording, "--speed", "max", "--quiet")
        snapshots = self.snapshots()
        step = max(1, -(-(len(snapshots) - 1) // (most - 1)))
        edges = 0
        for message, graph in snapshots[::step] + snapshots[-1:]:
            expected = self.recorded(recording, message, options)
            differing = [(edge, graph.get(edge), expected.get(edge)) for edge in sorted(graph.keys() | expected.keys())
                         if graph.get(edge) != expected.get(edge)]
            self.assertEqual(differing[:3], [], f"{message['from_ns']}..{message['to_ns']}: edges published, and offline")
            edges += len(graph)
        self.assertGreater(edges, 0)

    def assert_followed(self, recording, window, hop, delays, mine, most, *options):
        self.assert_same(recording, YAML.format(window=window, hop=hop, delays=delays, mine=mine), most, "--delay", delays, *options)

    def assert_tiled(self, max_q, *options):
        self.assert_same("marked.h5", TILED.format(max_q=max_q), 8, "--delay", "0:6", "--surrogates", 40, "--blank", "ttl0,0,150",
                         *options)

    def assert_real(self, name, *how):
        self.assert_followed(command.DATA / "recordings" / name, *how)

    def test_between_discoveries(self):
        self.assert_followed("sim.h5", 4, 0.5, "0.5:5", "every: 5, min_rate_hz: 0.5", 16)

    def test_with_several_delays_and_hardly_an_episode_tracked(self):
        self.assert_followed("sim.h5", 4, 0.5, "4:6,8:12", "every: 5, min_count: 8, track_most: 1", 16)

    def test_without_discoveries_and_with_units_that_repeat(self):
        self.assert_followed("sim.h5", 3, 0.02, "0:8,20:30", "every: 0, min_fraction: 0.01, repeats: true", 12, "--repeats")

    def test_the_default_threshold_is_a_rate(self):
        self.assert_followed("sim.h5", 10, 1, "0.5:5", "every: 5", 8)
        slice_ = ("graph", "sim.h5", "--from", 5, "--to", 15, "--delay", "0.5:5")  # a full window
        by_rate, by_count = self.document(*slice_, "--min-rate", 0.5), self.document(*slice_, "--min-count", 5)
        self.assertEqual(command.without_times(by_rate), command.without_times(by_count))

    def test_by_spike_time_tiling_where_markers_blank_parts(self):
        self.assert_tiled(0)

    def test_by_the_limits_of_q(self):
        self.assert_tiled(0.6, "--max-q", 0.6)

    @command.needs_data("recordings/Demas2003_P9_CTRL_MY1_1A.h5")
    def test_of_demas_2003(self):
        name = "Demas2003_P9_CTRL_MY1_1A.h5"
        self.assert_real(name, 300, 60, "0.5:20", "every: 5, min_rate_hz: 0.05", 10)
        self.assert_real(name, 100, 5, "1:25,25:100", "every: 5, min_count: 5, track_most: 3, repeats: true", 10, "--repeats")

    @command.needs_data("recordings/Wong1993_P0.h5")
    def test_of_wong_1993(self):
        self.assert_real("Wong1993_P0.h5", 120, 10, "0.5:50", "every: 5, min_count: 5, track_most: 10", 10)

    @command.needs_data("recordings/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5")
    def test_of_stafford_2009(self):
        self.assert_real("Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5", 200, 20, "3:60", "every: 5, min_count: 20, track_most: 5", 8)

    @command.needs_data("recordings/Torborg2004_2001-10-22-0.h5")
    def test_of_torborg_2004(self):
        self.assert_real("Torborg2004_2001-10-22-0.h5", 60, 5, "0.5:100", "every: 5, min_count: 2", 10)

    @command.needs_data("recordings/Maccione2014_P9_m1r2_bursts_filtered.h5")
    def test_of_maccione_2014(self):
        self.assert_real("Maccione2014_P9_m1r2_bursts_filtered.h5", 60, 10, "0.5:5", "every: 20, min_count: 10, track_most: 20", 6)


if __name__ == "__main__":
    command.main()
