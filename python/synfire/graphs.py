# SPDX-License-Identifier: Apache-2.0
"""Graphs: functional connectivity of a recording, graphs of files and of other programs; searches and patterns."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _declarations as c
from ._library import (Array, Column, Handle, Progress, Watch, bytes_of, call, columns_of, former, frame_of, frame_of_columns,
                       json_of, lib, options_of, path_of, pointer_to, table_of, text_of, text_or_none, view, word, work,
                       work_with)
from .episodes import Episodes, Significance, mine
from .errors import UsageError
from .recording import Delays, Recording, delays_of

if TYPE_CHECKING:
    import networkx
    import pandas

#: What a graph can be made of: a recording, episodes, a file of either, or a graph of networkx.
GraphLike = Any
#: Metrics of edges that have a sign, by the words of the command.
_DRIVES = {"regression": c.SF_DRIVE_REGRESSION, "excess": c.SF_DRIVE_EXCESS, "tspe": c.SF_DRIVE_TSPE,
           "transfer-entropy": c.SF_DRIVE_TRANSFER_ENTROPY, "directed-sttc": c.SF_DRIVE_DIRECTED_STTC}
_TESTED = {c.SF_EDGES_UNTESTED: "untested", c.SF_EDGES_TESTED: "tested", c.SF_EDGES_SIGNIFICANT: "significant"}


def graph(source: GraphLike, delays: Delays | None = None, *, metric: str = "episodes", min_count: float | None = None,
          min_rate: float | None = None, min_fraction: float | None = None, repeats: bool = False,
          min_distance: float = 0.0, significance: Significance | str | None = None, max_p: float | None = None,
          max_q: float | None = None, surrogates: int | None = None, max_false: float | None = None, percentile: float = 0.95, seed: int = 1,
          undirected: bool = False, directed: bool = False, engine: str | None = None, device: str | None = None,
          threads: int = 0, progress: Progress = None) -> Graph:
    """The functional connectivity graph of a recording; or the graph of episodes, of a file, of networkx.

    By the metric "episodes" an edge is a frequent episode of two units, found as `mine` does; `significance` tests
    them, and `max_q` leaves out what has a greater q. By "sttc" it is a spike-time tiling coefficient above 0 and above
    the `percentile` of `surrogates` shifts of the pair's own trains, each within its epoch; its half-width is the
    greatest delay (50 ms), its q is corrected for all pairs; `surrogates` are 200. By "regression", "excess", "tspe",
    "transfer-entropy" and "directed-sttc" an edge is a unit that excites (`sign` 1) or inhibits (-1) another within one
    interval of delays (1 to 15 ms): those that most pairs explain are at most a share of `max_false` (0.05) of the
    edges of a sign, 1 keeps all pairs; `surrogates` of segment-shift give p and q, by default none.
    `undirected` makes every edge go both ways; `directed` is of .graph files, which do not say.
    """
    how = options_of(c.sf_graph_options, undirected=undirected, directed=directed, threads=threads, max_p=max_p, max_q=max_q,
                     parallel=c.SF_PARALLEL_WITH_VALUES)
    if isinstance(source, (str, os.PathLike)):
        if lib.sf_graph_file_kind(path_of(source)) == c.SF_GRAPH_FILE_READ:
            handle = _new()
            work(lib.sf_graph_open, handle.out, path_of(source), ctypes.byref(how), progress=progress)
            return Graph(handle)
        source = Recording.load(source, progress=progress)
    if isinstance(source, Recording) and metric == "sttc":
        return _tiled(source, delays, 200 if surrogates is None else surrogates, percentile, min_distance, seed, how, progress)
    if isinstance(source, Recording) and metric in _DRIVES:
        return _driven(source, delays, _DRIVES[metric], surrogates, max_false, min_distance, seed, how, progress)
    if isinstance(source, Recording):
        if metric != "episodes":
            raise UsageError(f"found {metric!r}, expected episodes, sttc or one of {', '.join(_DRIVES)}", "metric")
        source = mine(source, delays, min_count=min_count, min_rate=min_rate, min_fraction=min_fraction, max_size=2,
                      repeats=repeats, details=False, min_distance=min_distance, significance=significance,
                      engine=engine, device=device, threads=threads, progress=progress)
    if isinstance(source, Episodes):
        handle = _new()
        call(lib.sf_graph_of_episodes, handle.out, source._handle.pointer, ctypes.byref(how))
        return Graph(handle)
    if hasattr(source, "is_directed") and hasattr(source, "edges"):
        return _of_networkx(source, how, progress)
    raise UsageError(f"found {type(source).__name__}, expected a recording, episodes, a path or a graph of networkx")


def _tiled(recording: Recording, delays: Delays | None, surrogates: int, percentile: float, min_distance: float,
           seed: int, how: Any, progress: Progress) -> Graph:
    bounds = delays_of(delays)
    tiling = options_of(c.sf_tiling_options, surrogates=surrogates, percentile=percentile,
                        min_distance_um=float(min_distance), seed=seed, threads=how.threads,
                        half_width_ns=None if bounds is None else max(delay.high_ns for delay in bounds))
    handle = _new()
    work(lib.sf_graph_of_tiling, handle.out, recording._handle.pointer, ctypes.byref(tiling), ctypes.byref(how),
         progress=progress)
    return Graph(handle)


def _driven(recording: Recording, delays: Delays | None, method: int, surrogates: int | None, max_false: float | None,
            min_distance: float, seed: int, how: Any, progress: Progress) -> Graph:
    bounds = delays_of(delays)
    if bounds is not None and len(bounds) != 1:
        raise UsageError(f"found {len(bounds)} intervals of delays, expected one", "delays")
    drive = options_of(c.sf_drive_options, method=method, surrogates=surrogates, max_false=max_false,
                       min_distance_um=float(min_distance), seed=seed, threads=how.threads,
                       low_ns=None if bounds is None else bounds[0].low_ns,
                       high_ns=None if bounds is None else bounds[0].high_ns)
    handle = _new()
    work(lib.sf_graph_of_drive, handle.out, recording._handle.pointer, ctypes.byref(drive), ctypes.byref(how),
         progress=progress)
    return Graph(handle)


def _of_networkx(source: Any, how: Any, progress: Progress) -> Graph:
    nodes = list(source.nodes)
    place = {node: i for i, node in enumerate(nodes)}
    ends = [(place[a], place[b], data.get("weight")) for a, b, data in source.edges(data=True)]
    weights = None if any(weight is None for _, _, weight in ends) or not ends else [weight for _, _, weight in ends]
    return Graph.from_edges([a for a, _, _ in ends], [b for _, b, _ in ends], weights=weights,
                            vertex_count=len(nodes), names=[str(node) for node in nodes],
                            directed=bool(source.is_directed()), _how=how, progress=progress)


def _new() -> Handle:
    return Handle(c.sf_graph, lib.sf_graph_free)


class Graph:
    """A graph, read-only. Vertices are numbered from 0; an undirected one holds every edge in both directions.

    >>> ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> ring.vertex_count, ring.edge_count, ring.search(0).levels
    (3, 3, array([0, 1, 2], dtype=uint32))
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._columns = columns_of(c.sf_graph_columns, lib.sf_graph_get_columns, handle)

    @classmethod
    def from_edges(cls, sources: Any, targets: Any, *, weights: Any = None, vertex_count: int | None = None,
                   names: Sequence[str] | None = None, labels: Any = None, directed: bool = True,
                   progress: Progress = None, _how: Any = None) -> Graph:
        """Makes a graph of arrays: where each edge begins and ends. `labels` of vertices are what patterns compare."""
        start = np.ascontiguousarray(sources, np.uint32)
        end = np.ascontiguousarray(targets, np.uint32)
        if start.shape != end.shape or start.ndim != 1:
            raise UsageError("expected as many sources as targets, each in one row", "targets")
        if vertex_count is None:
            vertex_count = len(names) if names is not None else int(max(start.max(), end.max())) + 1 if len(start) else 0
        if names is not None and len(names) != vertex_count:
            raise UsageError(f"found {len(names)} names for {vertex_count} vertices", "names")
        edges = options_of(c.sf_graph_edges, vertex_count=vertex_count, directed=directed, count=len(start))
        edges.from_, edges.to = pointer_to(start, ctypes.c_uint32), pointer_to(end, ctypes.c_uint32)
        if weights is not None:
            values = np.ascontiguousarray(weights, np.float64)
            if values.shape != start.shape:
                raise UsageError("expected a weight for each edge", "weights")
            edges.weights = pointer_to(values, ctypes.c_double)
        if labels is not None:
            marks = np.ascontiguousarray(labels, np.uint32)
            if marks.shape != (vertex_count,):
                raise UsageError(f"expected a label for each of {vertex_count} vertices", "labels")
            edges.labels = pointer_to(marks, ctypes.c_uint32)
        if names is not None:
            edges.names = (ctypes.c_char_p * len(names))(*(bytes_of(str(name)) for name in names))
        how = _how if _how is not None else options_of(c.sf_graph_options, parallel=c.SF_PARALLEL_WITH_VALUES)
        watch, handle = Watch(progress), _new()
        how.progress = watch.pointer
        work_with(watch, lib.sf_graph_new, handle.out, ctypes.byref(edges), ctypes.byref(how))
        return cls(handle)

    @classmethod
    def kronecker(cls, scale: int, edge_factor: int, seed: int = 1, *, progress: Progress = None) -> Graph:
        """Draws a graph with Graph500's parameters: 2^scale vertices, the same on every machine."""
        handle = _new()
        work(lib.sf_graph_kronecker, handle.out, b"%d:%d:%d" % (scale, edge_factor, seed), None, progress=progress)
        return cls(handle)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"<Graph: {self.vertex_count} vertices, {self.edge_count} {kind} edges>"

    # ---- what is in it ----

    @property
    def directed(self) -> bool:
        return bool(self._columns.directed)

    @property
    def vertex_count(self) -> int:
        return int(self._columns.vertex_count)

    @property
    def edge_count(self) -> int:
        """Edges; of an undirected graph those between two vertices count twice."""
        return int(self._columns.edge_count)

    @property
    def link_count(self) -> int:
        """Of a recording's graph its links, an undirected one once; of other graphs 0."""
        return int(self._columns.link_count)

    @property
    def offsets(self) -> Array:
        """Where the neighbours of each vertex begin in `targets`, and where the last ones end."""
        found: Array = view(self._columns.offsets, self.vertex_count + 1, self._handle)
        return found

    @property
    def targets(self) -> Array:
        """The neighbours of vertex v, ascending: targets[offsets[v]:offsets[v + 1]]."""
        return self._array("targets", int(self.offsets[-1]), np.uint32)

    @property
    def names(self) -> list[str] | None:
        if not self._columns.names:
            return None
        return [text_of(name) for name in self._columns.names[:self.vertex_count]]

    @property
    def positions(self) -> Array | None:
        """x and y in um of each vertex."""
        if not self._columns.x_um:
            return None
        return np.column_stack([view(axis, self.vertex_count, self._handle)
                                for axis in (self._columns.x_um, self._columns.y_um)])

    @property
    def rates_hz(self) -> Array | None:
        return view(self._columns.rates_hz, self.vertex_count, self._handle) if self._columns.rates_hz else None

    def _array(self, name: str, count: int, dtype: Any) -> Array:
        found = view(getattr(self._columns, name), count, self._handle, dtype)
        return np.empty(0, dtype) if found is None else found

    def _column(self, name: str, dtype: Any) -> Array:
        return self._array(name, self.link_count, dtype)

    from_units = Column[Array]("Of each link of a recording's graph, as all that follow.", np.uint32, name="from_")
    to_units = Column[Array](dtype=np.uint32, name="to")
    low_ns = Column[Array](dtype=np.int64)
    high_ns = Column[Array](dtype=np.int64)
    weights = Column[Array]("count - expected, or the tiling coefficient.", np.float64, name="weight")
    counts = Column[Array](dtype=np.uint64, name="count")
    expected = Column[Array]("By rates, tested or not; weights are counts less these.", np.float64)
    expected_given_rest = Column[Array]("The mean count in the surrogates of a test; NaN where there is no verdict.", np.float64)
    asymmetry = Column[Array](dtype=np.float64)
    p = Column[Array](dtype=np.float64)
    q = Column[Array](dtype=np.float64)
    ratio_low = Column[Array](dtype=np.float64)
    ratio_high = Column[Array](dtype=np.float64)
    one_electrode = Column[Array](dtype=np.bool_)

    @property
    def not_tested(self) -> list[str | None]:
        reasons = self._columns.not_tested
        return [text_or_none(reasons[i]) if reasons else None for i in range(self.link_count)]

    @property
    def not_testable(self) -> list[str | None]:
        """The former name of not_tested, for one release."""
        return former("not_testable", self, "not_tested")

    sign = Column[Array]("Of each link: 1 excites, -1 inhibits, 0 where edges have no sign.", np.int8)
    confidence = Column[Array](
        "Of each link with a sign: 1 less the share of edges of its sign, as far out, that most pairs explain.", np.float64)
    score = Column[Array]("Of each link with a sign: how far out it lies, in standard deviations of most pairs.", np.float64)

    @property
    def is_signed(self) -> bool:
        return bool(self._columns.is_signed)

    @property
    def pairs_compared(self) -> int:
        """Of edges with a sign: ordered pairs of units that both fire; else 0."""
        return int(self._columns.pairs_compared)

    @property
    def troughs_hidden(self) -> int:
        """Of these, pairs with so few coincidences expected that no trough could be seen."""
        return int(self._columns.troughs_hidden)

    @property
    def is_tiling(self) -> bool:
        return bool(self._columns.is_tiling)

    @property
    def tested(self) -> str | None:
        """What tests say of all edges: "untested", "tested", "significant"; None where there is nothing to test."""
        return _TESTED.get(self._columns.tested)

    @property
    def pairs_tested(self) -> int:
        """Of a tiling: pairs that were compared with surrogates; else 0."""
        return int(self._columns.pairs_tested)

    @property
    def pairs_by_chance(self) -> float:
        """How many of `pairs_tested` would be edges on average if none had anything to do with each other; NaN where that
        is not known: of episodes, without a test, with `max_q`, which bounds the chance of any."""
        return float(self._columns.pairs_by_chance)

    @property
    def links_found(self) -> int:
        """Before `max_p` and `max_q` left some out."""
        return int(self._columns.links_found)

    def edges(self) -> tuple[Array, Array]:
        """Where each directed edge begins and ends; the second array is `targets`."""
        starts = np.repeat(np.arange(self.vertex_count, dtype=np.uint32), np.diff(self.offsets).astype(np.int64))
        return starts, self.targets[int(self.offsets[0]):]

    def find(self, vertex: str | int) -> int:
        """The index of a vertex, by its name or as "#2"."""
        if isinstance(vertex, (int, np.integer)):
            return int(vertex)
        found = ctypes.c_uint32()
        call(lib.sf_graph_find, self._handle.pointer, bytes_of(vertex), ctypes.byref(found))
        return found.value

    # ---- what is in it, for others ----

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each link of a recording's graph, as `synfire graph --json` has them."""
        found: list[dict[str, Any]] = table_of(lib.sf_graph_get_table, self._handle)
        return found

    def to_frame(self) -> pandas.DataFrame:
        """Links of a recording's graph with the columns that `synfire graph --csv` has, or of another graph where each
        edge begins and ends."""
        if self.link_count > 0:
            return frame_of(lib.sf_graph_get_table, self._handle)
        import pandas
        start, end = self.edges()
        columns: dict[str, Any] = {"from": start, "to": end}
        if self.names is not None:
            columns["from_name"] = [self.names[vertex] for vertex in start]
            columns["to_name"] = [self.names[vertex] for vertex in end]
        return pandas.DataFrame(columns)

    def to_networkx(self, *, multigraph: bool = False) -> networkx.Graph:
        """A graph of networkx: nodes are names (else indices) with index, x_um, y_um, rate_hz; edges of a
        recording's graph have what `synfire graph --csv` tells of a link.

        `multigraph` is needed where two units are joined by several delays.
        """
        import networkx
        kind = {(True, False): networkx.DiGraph, (True, True): networkx.MultiDiGraph,
                (False, False): networkx.Graph, (False, True): networkx.MultiGraph}[self.directed, multigraph]
        made = kind()
        names: Sequence[Any] = self.names or range(self.vertex_count)
        if len(set(names)) < len(names):
            names = range(self.vertex_count)
        places, rates = self.positions, self.rates_hz
        for i, name in enumerate(names):
            about: dict[str, Any] = {"index": i}
            if places is not None:
                about.update(x_um=float(places[i, 0]), y_um=float(places[i, 1]))
            if rates is not None:
                about.update(rate_hz=float(rates[i]))
            made.add_node(name, **about)
        if self.link_count == 0:
            made.add_edges_from((names[a], names[b]) for a, b in zip(*self.edges()) if self.directed or a <= b)
            return made
        columns = table_of(lib.sf_graph_get_table, self._handle, by_column=True)
        links = {name: column["values"] for name, column in columns.items()}
        start, end, _, _ = (links.pop(name) for name in ("from", "to", "from_name", "to_name"))
        if not multigraph and len(set(zip(start, end))) < len(start):
            raise UsageError("two units are joined by several delays: ask for multigraph=True", "multigraph")
        for i in range(self.link_count):
            about = {name: column[i] for name, column in links.items() if column[i] is not None}
            made.add_edge(names[start[i]], names[end[i]], **about)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it with all values, by the ending: .graphml .dot .mtx .el .h5."""
        call(lib.sf_graph_save, self._handle.pointer, path_of(path), None)

    # ---- searching ----

    def search(self, sources: str | int | Sequence[str | int], *, direction: str = "auto", parents: bool = True,
               device: str | None = None, threads: int = 0, progress: Progress = None) -> Search:
        """Breadth-first search from a vertex, or from many at once: arrays then have a row for each."""
        several = not isinstance(sources, (str, int, np.integer))
        given: Sequence[str | int] = sources if several else [sources]  # type: ignore[assignment, list-item]
        start = np.array([self.find(source) for source in given], np.uint32)
        options = options_of(c.sf_search_options, direction=word("sf_bfs_direction", direction),
                             parents=parents, device=device, threads=threads)
        handle = Handle(c.sf_searches, lib.sf_searches_free, self._handle)
        work(lib.sf_graph_search, handle.out, self._handle.pointer, pointer_to(start, ctypes.c_uint32), len(start),
             ctypes.byref(options), progress=progress)
        return Search(handle, several)

    def reach_all(self, hops: int, *, threads: int = 0, progress: Progress = None) -> tuple[Array, Array]:
        """From every vertex: how many it reaches within so many hops, itself included, and how far the farthest is."""
        reached, depth = np.zeros(self.vertex_count, np.uint32), np.zeros(self.vertex_count, np.uint32)
        work(lib.sf_graph_reach_all, self._handle.pointer, hops, threads, pointer_to(reached, ctypes.c_uint32),
             pointer_to(depth, ctypes.c_uint32), progress=progress)
        return reached, depth

    def components(self) -> Array:
        """Of each vertex the smallest vertex that it is joined with, in whatever direction."""
        component = np.zeros(self.vertex_count, np.uint32)
        lib.sf_graph_components(self._handle.pointer, pointer_to(component, ctypes.c_uint32))
        return component

    def census(self, *, threads: int = 0, progress: Progress = None) -> dict[str, int]:
        """How many sets of three vertices are joined in each of the 16 ways, from "003" to "300"."""
        counts = (ctypes.c_uint64 * c.SF_TRIADS)()
        work(lib.sf_graph_census, counts, self._handle.pointer, threads, progress=progress)
        triads = lib.sf_triad_list()
        return {text_of(triads[i].name): counts[i] for i in range(c.SF_TRIADS)}

    def measures(self, *, threshold: float = 0, edge_density: float = 0, linked: bool = False, resolution: float = 1,
                 rewired: int = 0, seed: int = 1, threads: int = 0, progress: Progress = None) -> Measures:
        """What the network is like, as `synfire graph --measures` tells: edges of this weight or more, or the strongest
        up to this share of all pairs; `linked` leaves out vertices without an edge. `rewired` compares with so many
        graphs of the same degrees."""
        how = options_of(c.sf_network_options, threshold=threshold, edge_density=edge_density, linked=linked,
                         resolution=resolution, rewired=rewired, seed=seed, threads=threads)
        network, units = c.sf_table(), c.sf_table()
        work(lib.sf_graph_measure, self._handle.pointer, ctypes.byref(how), ctypes.byref(network), ctypes.byref(units),
             progress=progress)
        of, = json_of(network)
        return Measures(of, json_of(units), json_of(units, by_column=True))


class Measures:
    """What a network is like in all, and each of its vertices: the columns of `synfire describe network`."""

    def __init__(self, network: dict[str, Any], vertices: list[dict[str, Any]], columns: dict[str, Any]) -> None:
        self.network = network  #: one dictionary
        self._vertices = vertices
        self._columns = columns

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each vertex, as `synfire graph --measures --json` has them."""
        return self._vertices

    def to_frame(self) -> pandas.DataFrame:
        """A row for each vertex, with the columns that `synfire graph --measures --csv` has."""
        return frame_of_columns(self._columns)

    def __repr__(self) -> str:
        return f"<Measures of {len(self._vertices)} vertices>"


class Search:
    """What breadth-first searches reached. Of many searches arrays have a row, and numbers an entry, for each."""

    UNREACHED = c.SF_UNREACHED  #: the level, and the parent, of what no path leads to

    def __init__(self, handle: Handle, several: bool) -> None:
        self._handle, self._several = handle, several
        self._columns = columns_of(c.sf_searches_columns, lib.sf_searches_get_columns, handle)

    def _rows(self, name: str) -> Any:
        shape = (int(self._columns.source_count), int(self._columns.vertex_count))
        found = view(getattr(self._columns, name), shape, self._handle)
        return found if found is None or self._several else found[0]

    @property
    def levels(self) -> Array:
        """Of each vertex; UNREACHED where no path leads."""
        found: Array = self._rows("levels")
        return found

    @property
    def parents(self) -> Array | None:
        """Of each vertex one a level up; of the source itself."""
        return self._rows("parents")

    @property
    def reached(self) -> Any:
        """Vertices, the source included."""
        found = view(self._columns.reached, int(self._columns.source_count), self._handle)
        return found if self._several else int(found[0])

    @property
    def depth(self) -> Any:
        found = view(self._columns.depth, int(self._columns.source_count), self._handle)
        return found if self._several else int(found[0])

    @property
    def level_sizes(self) -> Any:
        """Vertices at each level; a list of these of many searches."""
        first, depth = self._columns.first_size, self._columns.depth
        count = int(self._columns.source_count)
        whole = view(self._columns.level_sizes, first[count - 1] + depth[count - 1] + 1, self._handle) if count else None
        rows = [whole[first[i]:first[i] + depth[i] + 1] for i in range(count)]
        return rows if self._several else rows[0]

    @property
    def path_delays_ns(self) -> Array | None:
        """In a recording's graph the delay, low and high, of the path to each vertex that is through soonest."""
        if not self._columns.path_low_ns:
            return None
        return np.column_stack([view(pointer, int(self._columns.vertex_count), self._handle)
                                for pointer in (self._columns.path_low_ns, self._columns.path_high_ns)])

    @property
    def seconds(self) -> float:
        return float(self._columns.ran.contents.seconds)

    @property
    def device(self) -> str:
        return text_of(self._columns.ran.contents.device)


# ---- patterns ----

@dataclass(frozen=True)
class Spread:
    """A count beside those in rewired graphs: how many standard deviations from their mean."""

    graphs: int
    mean: float
    sd: float
    z: float


def match(source: GraphLike, pattern: str | os.PathLike[str], *, semantics: str = "isomorphism", distinct: bool = False,
          limit: int | None = None, time_limit: float | None = None, keep: int = 1000, rewired: int = 0, seed: int = 1,
          directed: bool = False, engine: str | None = None, device: str | None = None, threads: int = 0,
          progress: Progress = None) -> Matches:
    """How often a pattern occurs in a graph, and where: as `synfire match` tells.

    `pattern` is a name (feed-forward-loop, reciprocal-pair, chain-N, diverging-N, converging-N, a triad as 030T), the
    motif language, or a file. `source` is a Graph or what `graph` takes. `semantics` is "isomorphism", "induced" or
    "homomorphism"; `distinct` counts embeddings that differ by a symmetry of the pattern once. `keep` embeddings are
    handed back; `limit` and `time_limit` (s) stop the search. `rewired` holds the count against so many graphs of the
    same degrees.
    """
    motif = Handle(c.sf_motif, lib.sf_motif_free)
    call(lib.sf_motif_new, motif.out, os.fsencode(pattern), directed)
    is_directed = bool(lib.sf_motif_is_directed(motif.pointer))
    of = source if isinstance(source, Graph) else graph(source, undirected=not is_directed, directed=directed and is_directed,
                                                        threads=threads, progress=progress)
    options = options_of(c.sf_match_options, semantics=_semantics(semantics), distinct=distinct, limit=limit,
                         time_limit_s=time_limit, keep=keep if limit is None else min(keep, limit), threads=threads,
                         engine=engine, device=device)
    handle = Handle(c.sf_matches, lib.sf_matches_free, of._handle, motif)
    work(lib.sf_graph_match, handle.out, of._handle.pointer, motif.pointer, ctypes.byref(options), progress=progress)
    found = Matches(of, handle)
    if rewired > 0:
        if limit is not None or time_limit is not None:
            raise UsageError("needs the whole count: leave limit and time_limit out", "rewired")
        drawn = options_of(c.sf_rewired_options, graphs=rewired, seed=seed, threads=threads, device=device)
        spread, count = c.sf_spread(), ctypes.c_uint64(found.count)
        work(lib.sf_graph_rewire, ctypes.byref(spread), ctypes.byref(count), of._handle.pointer,
             ctypes.pointer(motif.pointer), 1, ctypes.byref(options), ctypes.byref(drawn), None, progress=progress)
        found.spread = Spread(rewired, spread.mean, spread.sd, spread.z)
    return found


def _semantics(name: str) -> int:
    known = {"isomorphism": c.SF_ISOMORPHISM, "induced": c.SF_INDUCED, "homomorphism": c.SF_HOMOMORPHISM}
    if name not in known:
        raise UsageError(f"found {name!r}, expected {', '.join(known)}", "semantics")
    return known[name]


class Matches:
    """Where a pattern occurs."""

    def __init__(self, of: Graph, handle: Handle) -> None:
        self.graph = of
        self._handle = handle
        self._columns = columns_of(c.sf_matches_columns, lib.sf_matches_get_columns, handle)
        self.spread: Spread | None = None  #: with `rewired`

    def __repr__(self) -> str:
        return f"<Matches: {'at least ' if self.truncated else ''}{self.count} embeddings of {len(self.order)} vertices>"

    @property
    def count(self) -> int:
        return int(self._columns.count)

    @property
    def truncated(self) -> bool:
        """A limit stopped the search: the count is a lower bound."""
        return bool(self._columns.truncated)

    @property
    def embeddings(self) -> Array:
        """A row for each that was kept: the vertex of the graph for every vertex of the pattern."""
        shape = (int(self._columns.kept), int(self._columns.vertex_count))
        found = view(self._columns.embeddings, shape, self._handle)
        return np.empty(shape, np.uint32) if found is None else found

    @property
    def names(self) -> list[list[str]] | None:
        """The same by name, where the graph has names."""
        names = self.graph.names
        return None if names is None else [[names[vertex] for vertex in row] for row in self.embeddings]

    @property
    def vertices(self) -> list[str | None]:
        """Names of the pattern's vertices."""
        return [text_or_none(self._columns.vertex_names[i]) for i in range(int(self._columns.vertex_count))]

    @property
    def order(self) -> Array:
        """In which the pattern's vertices were matched."""
        found: Array = view(self._columns.order, int(self._columns.vertex_count), self._handle)
        return found

    @property
    def blacklisted(self) -> int:
        """Vertices of the graph that can match nothing."""
        return int(self._columns.blacklisted)

    @property
    def engine(self) -> str | None:
        return text_or_none(self._columns.ran.contents.engine)

    @property
    def device(self) -> str:
        return text_of(self._columns.ran.contents.device)

    @property
    def seconds(self) -> float:
        return float(self._columns.ran.contents.seconds)


__all__ = ["Graph", "Matches", "Search", "Spread", "graph", "match"]
