#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds measures of networks against networkx, at 1e-9.

  networks.py draw FILE NODES EDGES SEED directed|undirected   a graph as GraphML
  networks.py hold FILE                                        what `synfire graph FILE --measures --json` prints, on stdin
"""
import itertools
import json
import math
import random
import sys

import networkx as nx


def draw(path, nodes, edges, seed, kind):
    drawn = random.Random(int(seed))
    graph = nx.DiGraph() if kind == "directed" else nx.Graph()
    graph.add_nodes_from(range(int(nodes)))
    while graph.number_of_edges() < int(edges):
        a, b = drawn.sample(range(int(nodes) - 2), 2)  # two have no edge
        graph.add_edge(a, b, weight=float(drawn.choice([0.5, 1, 2, 3, drawn.expovariate(1) + 0.1])))
    nx.write_graphml(graph, path)


def same(what, found, expected):
    if expected is None or isinstance(expected, float) and math.isnan(expected):
        assert found is None, (what, found, expected)
    else:
        assert found is not None and abs(found - expected) <= 1e-9 * max(1, abs(expected)), (what, found, expected)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def lengths(graph, weight):
    """The distance of every ordered pair that a path joins."""
    if weight is None:
        found = dict(nx.all_pairs_shortest_path_length(graph))
    else:
        found = dict(nx.all_pairs_dijkstra_path_length(graph, weight=weight))
    return {(a, b): d for a, of in found.items() for b, d in of.items() if a != b}


def efficiency(graph, weight):
    n = len(graph)
    return sum(1 / d for d in lengths(graph, weight).values()) / (n * (n - 1)) if n > 1 else math.nan


def hold_units(graph, units, both):
    order = list(graph)
    greatest = max(w for *_, w in graph.edges(data="weight"))
    for a, b, data in graph.edges(data=True):
        data["length"] = greatest / data["weight"]
    directed = graph.is_directed()
    clustering, plain = nx.clustering(graph), nx.clustering(both)
    weighted = nx.clustering(graph, weight="weight")
    for suffix, weight in (("", None), ("_weighted", "length")):
        between, distances = nx.betweenness_centrality(graph, weight=weight), lengths(graph, weight)
        for v, unit in zip(order, units):
            same("betweenness", unit["betweenness" + suffix], between[v])
            own = [d for (a, _), d in distances.items() if a == v]
            same("path_length", unit["path_length" + suffix], mean(own))
            near = graph.subgraph(set(both[v]))
            same("local_efficiency", unit["local_efficiency" + suffix], efficiency(near, weight) if len(near) > 1 else 0)
    for v, unit in zip(order, units):
        same("degree", unit["degree"], both.degree(v))
        same("strength", unit["strength"], graph.degree(v, weight="weight"))
        same("in_degree", unit["in_degree"], graph.in_degree(v) if directed else None)
        same("out_degree", unit["out_degree"], graph.out_degree(v) if directed else None)
        same("in_strength", unit["in_strength"], graph.in_degree(v, weight="weight") if directed else None)
        same("out_strength", unit["out_strength"], graph.out_degree(v, weight="weight") if directed else None)
        same("clustering", unit["clustering"], plain[v])
        same("clustering_directed", unit["clustering_directed"], clustering[v])
        same("clustering_weighted", unit["clustering_weighted"], weighted[v])


def hold_modules(graph, network, units, weight, suffix):
    of = {v: unit["module" + suffix] for v, unit in zip(graph, units)}
    modules = [{v for v in graph if of[v] == m} for m in range(network["modules" + suffix])]
    assert all(modules) and [len(m) for m in modules] == sorted(map(len, modules), reverse=True)
    alone = [{v} for v in graph if of[v] is None]
    assert all(graph.degree(v) == 0 for m in alone for v in m)
    same("modularity", network["modularity" + suffix], nx.community.modularity(graph, modules + alone, weight=weight))
    theirs = max(nx.community.modularity(graph, nx.community.louvain_communities(graph, weight=weight, seed=seed), weight=weight)
                 for seed in range(3))
    assert network["modularity" + suffix] > theirs - 0.02, (network["modularity" + suffix], theirs)


def hold_network(graph, network, units, both):
    n = len(graph)
    same("density", network["density"], nx.density(graph))
    same("reciprocity", network["reciprocity"], nx.overall_reciprocity(graph) if graph.is_directed() else None)
    parts = list(nx.connected_components(both))
    assert network["components"] == len(parts) and network["largest_component"] == max(map(len, parts))
    assert network["isolated"] == nx.number_of_isolates(graph) and network["edges"] == graph.number_of_edges()
    same("clustering", network["clustering"], nx.average_clustering(both))
    same("clustering", network["clustering_directed"], nx.average_clustering(graph))
    same("clustering", network["clustering_weighted"], nx.average_clustering(graph, weight="weight"))
    same("efficiency", network["efficiency"], efficiency(graph, None))
    same("efficiency", network["efficiency_weighted"], efficiency(graph, "length"))
    if not graph.is_directed():
        same("efficiency", network["efficiency"], nx.global_efficiency(graph))
        same("local_efficiency", network["local_efficiency"], nx.local_efficiency(graph))
        club = nx.rich_club_coefficient(graph, normalized=False)
        assert [c["degree"] for c in network["rich_club"]] == list(club)
        for c in network["rich_club"]:
            same("rich club", c["coefficient"], club[c["degree"]])
    hops = lengths(graph, None)
    same("reachable", network["reachable"], len(hops) / (n * (n - 1)))
    same("path_length", network["path_length"], mean(hops.values()))
    core = graph.subgraph(max(parts, key=len))
    if not graph.is_directed() and len(core) == n - network["isolated"]:
        same("path_length", network["path_length"], nx.average_shortest_path_length(core))
        same("path_length", network["path_length_weighted"], nx.average_shortest_path_length(core, weight="length"))
    for name in ("local_efficiency", "clustering", "participation", "strength", "degree"):
        same(name, network[name], mean(unit[name] for unit in units))
    hold_modules(graph, network, units, None, "")
    hold_modules(graph, network, units, "weight", "_weighted")


def hold(path):
    found = json.load(sys.stdin)
    graph = nx.read_graphml(path)
    both = nx.Graph(itertools.chain(graph.edges()))
    both.add_nodes_from(graph)
    assert [unit["unit"] for unit in found["network_units"]] == list(range(len(graph)))
    hold_units(graph, found["network_units"], both)
    hold_network(graph, found["network"], found["network_units"], both)
    print(f"{path}: {len(graph)} vertices as networkx {nx.__version__} has them")


{"draw": draw, "hold": hold}[sys.argv[1]](*sys.argv[2:])
