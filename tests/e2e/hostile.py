# SPDX-License-Identifier: Apache-2.0
"""Files that ask for more than they hold: each is refused in one sentence, in memory that its length bounds.

hostile.py SYNFIRE [FOLDER]: FOLDER holds the files that broke synfire once, where they are at hand."""

import os
import subprocess
import sys

import h5py
import numpy

MOST_MIB = float("inf") if os.environ.get("SYNFIRE_SANITIZE") else 256  # sanitizers take memory of their own
CROWDS = ("line", "grid", "two", "none")
synfire, known = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None


def measure(arguments):
    """Exit code, stdout, stderr and the most memory, in MiB, of a run."""
    with open("out", "wb") as out, open("err", "wb") as err:
        child = subprocess.Popen([synfire, *arguments], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
    read = lambda name: open(name, errors="replace").read()
    return os.waitstatus_to_exitcode(status), read("out"), read("err"), usage.ru_maxrss / 1024


def refused(code, words, command, *arguments):
    arguments = (command, *arguments, *(["--source", "#0"] if command == "bfs" else []))
    found, out, err, mib = measure(arguments)
    told = f"{' '.join(arguments)}: exit code {found}, {mib:.0f} MiB: {err}"
    assert found == code and words in err and err.count("\n") == 1 and not out and mib < MOST_MIB, told


def write(name, text):
    with open(name, "w") as file:
        file.write(text)
    return name


def column(file, name, length, chunk):
    """A compressed column of zeros: a few bytes a chunk."""
    values = file.create_dataset(name, (length,), "f8", chunks=(chunk,), compression="gzip", compression_opts=9)
    if length >= chunk:
        zeros = numpy.zeros(chunk)
        for start in range(0, length, chunk):
            values[start:start + chunk] = zeros


refused(65, "declares 4000000000 vertices, expected at most", "bfs", write("nodes.el", "# Nodes: 4000000000\n0 1\n"))
matrix = "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n"
refused(65, "matrix.mtx:2: declares 2000000000 vertices", "bfs", write("matrix.mtx", matrix))

# 10,000 keys for 40,000 nodes, which give none of them: 3 GB of nothing.
keys = "".join(f'<key id="k{i}" for="node" attr.type="double"/>' for i in range(10000))
nodes = "".join(f'<node id="{i}"/>' for i in range(40000))
graph = f'<graphml>{keys}<graph edgedefault="directed">{nodes}</graph></graphml>'
refused(65, "10000 keys of nodes", "bfs", write("keys.graphml", graph))
entity = '<!DOCTYPE g [<!ENTITY a "' + "a" * 60000 + '">]><graphml><key id="' + "&a;" * 50000 + '"/></graphml>'
refused(65, "declares the entity 'a'", "bfs", write("entity.graphml", entity))



def make_files():
    with h5py.File("bomb.h5", "w") as file:  # 400 MB of zeros in 400 kB
        column(file, "spikes", 50_000_000, 1_000_000)
        file["sCount"] = numpy.array([50_000_000], "i4")
    with h5py.File("chunk.h5", "w") as file:  # ten values in a chunk of 320 MB
        file.create_dataset("spikes", (10,), "f8", maxshape=(None,), chunks=(40_000_000,), compression="gzip")[:] = 1
        file["sCount"] = numpy.array([10], "i4")
    with h5py.File("vertices.h5", "w") as file:
        file.attrs.update({"synfire": numpy.bytes_("graph"), "layout": 1, "directed": 1})
        file.create_group("vertices").attrs["count"] = 4_000_000_000
    units = 200_000
    number = numpy.arange(units)
    places = {"line": (0 * number, number), "grid": (number % 600, number // 600), "two": (number % 2, 0 * number)}
    for name in CROWDS:
        with h5py.File(f"{name}.h5", "w") as file:
            file["spikes"] = numpy.ones(units)
            file["sCount"] = numpy.ones(units, "i4")
            if name in places:
                file["epos"] = 100.0 * numpy.vstack(places[name])


# In a process of its own: what a process once took counts for those that it starts.
maker = os.fork()
if maker == 0:
    make_files()
    os._exit(0)
assert os.waitpid(maker, 0)[1] == 0
refused(65, "/spikes is damaged: its shape says 50000000 values", "info", "bomb.h5")
refused(65, "/spikes is damaged: it is in chunks of 320000000 bytes", "info", "chunk.h5")
refused(65, "declares 4000000000 vertices", "bfs", "vertices.h5")

subprocess.run([synfire, "simulate", "attributes.h5", "--duration", "1"], check=True, stdout=subprocess.DEVNULL)
with h5py.File("attributes.h5", "a") as file:
    for i in range(3000):
        file["metadata"].attrs[f"k{i}"] = "v"
code, _, err, mib = measure(["info", "attributes.h5"])
assert code == 0 and mib < MOST_MIB, (code, err, mib)
with h5py.File("attributes.h5", "a") as file:
    for i in range(3000, 5000):
        file["metadata"].attrs[f"k{i}"] = "v"
refused(65, "more than 4096 entries of metadata", "info", "attributes.h5")

for start in "[", "{", "- ", "? ", "[{a: ":
    refused(78, "more than 32 levels deep", "run", write("deep.yaml", start * (200_000 // len(start))))
refused(78, "more than 32 anchors", "run", write("anchors.yaml", "".join(f"- &a{i} x\n" for i in range(20000))))

# An id that no file of this length can count up to is a name.
code, out, err, mib = measure(["bfs", write("ids.el", "0 4000000000\n"), "--source", "4000000000"])
assert code == 0 and mib < MOST_MIB, (code, err, mib)

# 200,000 units that fire at once, on a line, on a grid, in one place and nowhere: work in proportion to them (in the
# square of them, it would take this test's time limit many times over).
for name in CROWDS:
    code, out, err, mib = measure(["info", f"{name}.h5"])
    assert code == 0 and mib < MOST_MIB, (name, code, err, mib)

if known is not None:
    refused(65, "inside <data>", "bfs", f"{known}/element-in-data.graphml")
    refused(65, "not well-formed XML", "bfs", f"{known}/element-in-data-fuzzed.graphml")
    refused(65, "declares 2000000000 vertices", "bfs", f"{known}/declares-two-billion.mtx")
