# SPDX-License-Identifier: Apache-2.0
"""What every command prints with --json is as docs/schema says, of a simulation and of files; so are every message of a run and
every refusal."""
import math
import pathlib
import shlex
import unittest

import command
import schema

CHAINS = "--delay 4:6 --min-count 60"
RECORDINGS = f"""
info sim.h5
info few.csv
info all.h5
info sim.h5 --units A,B --from 1 --to +30 --epochs epochs.csv --dedup 0.4,100 --blank ttl0,-1,5 --preset culture-60
mine sim.h5 {CHAINS}
mine sim.h5 {CHAINS} --epochs epochs.csv --max-size 3
mine sim.h5 {CHAINS} --significance segment-shift --surrogates 20 --quiet --max-size 2
mine sim.h5 {CHAINS} --significance shift --surrogates 20 --fdr --quiet --max-size 2
mine sim.h5 {CHAINS} --significance analytic --max-size 2
mine few.csv {CHAINS}
mine few.csv --from 0.2 --to 0.3 --quiet
count sim.h5 --episodes chains.txt
count sim.h5 --episodes chains.txt --window 20 --hop 7 --correlogram --epochs epochs.csv
recover sim.h5
criticality sim.h5 --rounds 5
criticality few.csv
bursts sim.h5
bursts sim.h5 --burst-method logisi --network-method isi-n --network-within 20
responses sim.h5 --marker ttl0 --response 5:50 --episodes chains.txt --blank ttl0,-1,5
plot raster sim.h5 -o raster.svg
plot correlograms sim.h5 -o pairs.svg --delay 4:6 --surrogates 20 --quiet
report sim.h5 -o sim.html --delay 4:6 --surrogates 20 --quiet
"""
GRAPHS = "\n".join([f"""
match sim.h5 census
match few.csv census
graph sim.h5 --metric sttc --surrogates 0
graph few.csv --metric sttc --surrogates 0
graph sim.h5 --metric sttc --surrogates 0 --epochs epochs.csv
graph sim.h5 {CHAINS} --epochs epochs.csv
graph sim.h5 {CHAINS} --significance segment-shift --surrogates 20 --quiet
bfs --kronecker 6:8:1 --source 3
bench bfs --kronecker 8:8:1
""", *(f"""
bfs {of} --source A
bfs {of} --source A --source B
match {of} 'A -> B; B -> C; A -> C'
match {of} chain-3 --count --rewired 5
match {of} census --rewired 5
""" for of in (f"sim.h5 {CHAINS}", "graph.graphml", "graph.mtx"))])
DENSITIES = """
bandwidth sim.h5 --quantity isi
bandwidth sim.h5 --quantity isi --units A --epochs epochs.csv
bandwidth sim.h5 --quantity rate --units A,B --epochs epochs.csv --method silverman
bandwidth sim.h5 --quantity delay --episode 'A -(4,6]-> B -(4,6]-> C' --method lscv --curve
bandwidth sim.h5 --quantity position --method scott
bandwidth numbers.txt --method plugin
bandwidth plane.txt --method lscv-paper
density numbers.txt
density plane.txt --grid -2:2:20,-2:2:20
density sim.h5 --quantity isi --units A --epochs epochs.csv --grid 500
aggregate numbers.txt --range 0.5:1 --op avg --exact
aggregate numbers.txt --range 0.5:1
aggregate numbers.txt --save numbers.h5
aggregate --from-state numbers.h5 numbers.h5 --range 0.5:1 --op var
"""
OTHERS = f"""
describe
simulate other.h5 --preset sym26 --seed 5 --marker-every 10
convert sim.h5 converted.nwb
plan {shlex.quote(str(command.SOURCE / "configs" / "plans" / "1r.yaml"))}
plan --virtual-clock
play sim.h5 --speed max --subscribers 0 --quiet --to tcp://127.0.0.1:{command.free_ports(1)[0]}
"""
ALL = """
sources:
  - {type: replay, recording: sim.h5, speed: max}
device: cpu
window: {length_s: 10, hop_s: 5}
mine: {delays_ms: "4:6", every: 1, max_size: 3}
watch: ["A -(4,6]-> B -(4,6]-> C"]
triggers: [{name: reward, episode: "A -(4,6]-> B", refractory_ms: 100}, {on: trigger, name: control, follows: reward}]
track: ["A -(4,6]-> B"]
bursts: {within_ms: 15}
responses: {marker: ttl0, to_ms: 50}
criticality: {every_s: 5, length_s: 8, lags: 100}
features: {bin_ms: 100, units: ["*"], episodes: ["*"], edges: ["B -(4,6]-> C"]}
graph:
  reach: [{from: A, hops: 3}]
  reach_all: 2
  components: true
  patterns: [{pattern: chain-3, limit: 3}]
  census: true
  rewired: 3
density:
  - {quantity: isi, unit: "*"}
  - {quantity: delay, episode: "A -(4,6]-> B"}
  - {quantity: rate, unit: A}
  - {quantity: position, method: scott, grid: 8}
sinks:
  - {type: jsonl, path: run.jsonl, policy: block}
  - {type: osc, endpoint: "127.0.0.1:7729"}
"""
TOPICS = {"burst", "criticality", "decision", "delivery", "density", "episodes", "features", "features_names", "graph", "response",
          "status", "trigger"}
PLAYED = {"spikes": 3, "markers": 0, "seconds": 0.5, "late_max_ms": None,
          "provenance": {"program": "synfire 1", "command": "synfire play x", "seed": None, "selection": None}}


def write(path, *lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines))


class Schemas(unittest.TestCase):
    def test_they_describe_every_field_by_keywords_that_are_held(self):
        schema.check_all()

    def test_what_is_not_as_they_say_is_told_by_its_place(self):
        schema.hold(PLAYED, schema.load("play.json"), "play.json")
        for words, document in (
                ("a field 'more'", {**PLAYED, "more": 1}), ("no field 'seconds'", {key: PLAYED[key] for key in PLAYED if key != "seconds"}),
                ("$.spikes: found '3'", {**PLAYED, "spikes": "3"}), ("$.spikes: found True", {**PLAYED, "spikes": True}),
                ("$.spikes: found 3.5", {**PLAYED, "spikes": 3.5}), ("$.spikes: found -1", {**PLAYED, "spikes": -1}),
                ("$.spikes: found None", {**PLAYED, "spikes": None}), ("found []", []),
                ("no field 'seed'", {**PLAYED, "provenance": {"program": "", "command": "", "selection": None}})):
            with self.subTest(words=words), self.assertRaises(schema.Mismatch) as raised:
                schema.hold(document, schema.load("play.json"), "play.json")
            self.assertIn(words, str(raised.exception))

    def test_what_is_no_json_is_not_read(self):
        for text in '{"a": NaN}', '{"a": Infinity}', '{"a": 1, "a": 2}', '{"a": 1', "{'a': 1}":
            with self.subTest(text=text), self.assertRaises((ValueError, AssertionError)):
                schema.parse(text)


class Documents(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5, "--marker-every", 10)
        write("epochs.csv", "0,20,before", "20,40,during", "40,60,before")
        write("chains.txt", "A -(4,6]-> B -(4,6]-> C", "D -(4,6]-> E", "Z")
        write("few.csv", "A,0.001", "B,0.006", "A,0.101", "B,0.105", "A,0.301")
        write("two.txt", "A;0.5", "B")
        write("numbers.txt", *(k / 1000 for k in range(1, 2000, 10)))
        write("plane.txt", *(f"{math.sin(k)} {math.cos(k * k)}" for k in range(1, 401)))
        cls.synfire("mine", "sim.h5", *CHAINS.split(), "--occurrences", "all.h5")
        for ending in "json", "graphml", "mtx":
            cls.synfire("graph", "sim.h5", *CHAINS.split(), "--out", f"graph.{ending}")

    def hold(self, commands):
        for line in commands.split("\n"):
            if line:
                with self.subTest(line):
                    self.assertIsNotNone(schema.schema_of(self.document(*shlex.split(line))))

    def told(self, code, *words):
        """Its document, where it exits with this code."""
        done = self.run_command(*words, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return schema.held(schema.parse(done.stdout))

    def test_of_recordings(self):
        self.hold(RECORDINGS)

    def test_of_graphs(self):
        self.hold(GRAPHS)
        self.assertEqual(schema.schema_of(schema.read("graph.json")), "graph")

    def test_of_densities(self):
        self.hold(DENSITIES)

    def test_of_what_is_none_of_these(self):
        self.hold(OTHERS)

    def test_of_a_run_and_every_message_of_it(self):
        pathlib.Path("all.yaml").write_text(ALL)
        self.hold("run all.yaml --quiet")
        self.assertLessEqual(TOPICS, set(schema.read_lines("run.jsonl")))
        self.hold("run all.yaml --quiet --max-q 0.5 --max-p 0.5 --set graph.metric=sttc --set graph.surrogates=0 --set sinks.0.overwrite=true")
        self.assertLessEqual(TOPICS, set(schema.read_lines("run.jsonl")))

    def test_of_doctor(self):
        done = self.run_command("doctor", "--json")  # as this machine is
        found = schema.held(schema.parse(done.stdout))
        self.assertEqual(schema.schema_of(found), "doctor")
        levels = [check["level"] for check in found["checks"]]
        self.assertEqual((found["ok"], done.returncode), ("bad" not in levels, int("bad" in levels)))
        self.assertGreaterEqual(len(levels), 14)
        self.assertEqual([check["advice"] is None for check in found["checks"]], [level == "good" for level in levels])

    def test_of_doctor_where_a_folder_is_not_there(self):
        found = self.told(1, "doctor", "--folder", "/no/such/folder")
        self.assertEqual((found["ok"], found["checks"][-1]["ok"]), (False, False))
        self.assertIn("No such file", found["checks"][-1]["detail"])

    def test_of_pulses_that_go_nowhere_and_do_not_come_back(self):
        endpoint = f"tcp://127.0.0.1:{command.free_ports(1)[0]}"
        self.begin("player", "play", "sim.h5", "--loop", "--quiet", "--to", endpoint)
        write("loop.yaml", f'sources: [{{type: zmq, endpoint: "{endpoint}", timeout_s: 60}}]', 'sinks: [{type: osc, endpoint: "127.0.0.1:9"}]')
        found = self.told(1, "doctor", "--loop", "loop.yaml", "--pulses", 2, "--apart", 1, "--wait", 5, "--answer", "ttl9")
        loop = found["loop"]
        self.assertEqual((found["ok"], found["checks"], loop["median_ms"], loop["marker"]), (False, [], None, "ttl9"))
        self.assertEqual((loop["pulses"], loop["lost"] + loop["failed"], loop["trips_ms"]), (2, 2, []))

    def test_of_refusals_which_say_what_a_person_reads(self):
        for code, place, sentence, *words in (
                (66, "absent.h5", "No such file", "info", "absent.h5"), (65, "two.txt", "line 2: expected", "info", "two.txt"),
                (64, "--delay", "is not a delay interval", "mine", "sim.h5", "--delay", "six"),
                (64, "--colour", "is no option of this command", "info", "sim.h5", "--colour"),
                (64, None, "an argument is missing", "graph"), (64, "--pulses", "is for --loop", "doctor", "--pulses", 3),
                (64, "--folder", "does not go with --loop", "doctor", "--loop", "--folder", "."),
                (64, "--csv", "does not go with --json", "mine", "sim.h5", "--csv"),
                (78, "--set mine.nothing", "there is no key", "run", "--replay", "sim.h5", "--set", "mine.nothing=1")):
            with self.subTest(words=words):
                done = self.run_command(*words, "--json")
                self.assertEqual(done.returncode, code)
                found = schema.held(schema.parse(done.stdout))
                self.assertEqual(schema.schema_of(found), "refusal")
                self.assertEqual((found["error"]["exit_code"], found["error"]["place"]), (code, place))
                self.assertIn(sentence, found["error"]["message"])
                self.assertRegex(done.stderr, r"^synfire: .*\n$")
                self.assertIn(found["error"]["message"], done.stderr)


if __name__ == "__main__":
    command.main()
