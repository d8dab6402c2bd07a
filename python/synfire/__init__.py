# SPDX-License-Identifier: Apache-2.0
"""synfire: firing chains in the spikes of multi-electrode arrays, counted exactly, offline and live.

A recording is read by `load`, or made of arrays. Here three units fire a chain every second, 5 ms apart, and the last
one fires at other times too:

>>> import numpy as np
>>> import synfire
>>> seconds = np.arange(100.0)
>>> recording = synfire.Recording.from_trains({
...     "A": seconds, "B": seconds + 0.005, "C": np.concatenate([seconds + 0.010, seconds * 0.7 + 0.3])})
>>> found = synfire.mine(recording, delays=(4, 6), min_count=50)
>>> for episode, count in zip(found, found.counts):
...     print(episode, count)
A -(4,6]-> B -(4,6]-> C 100
A -(4,6]-> B 100
B -(4,6]-> C 100

Arrays are NumPy's, over the library's own memory and read-only; `to_frame` makes pandas frames, `Graph.to_networkx`
graphs of networkx. Delays are milliseconds, other times seconds, and what ends in _ns whole nanoseconds. Whatever
takes long takes `progress`, and Ctrl-C ends it. What goes wrong is raised with the library's own sentence:

>>> recording.episode("A -(4,6]-> D")
Traceback (most recent call last):
synfire.errors.UsageError: A -(4,6]-> D: column 12: no unit is named 'D'; `synfire info` lists the 3 names
"""
from ._library import VERSION as __version__
from ._library import Progress, has_files
from .analyses import Bursts, Criticality, Responses, Sequences, bursts, responses, sequences
from .densities import Aggregate, Density, bandwidth, density
from .episodes import Correlogram, Episode, Episodes, Significance, count, mine, registered, test
from .errors import (Cancelled, CannotCreate, ConfigurationError, DataError, Error, InputOutputError, InternalError,
                     NoInput, NoMemory, Unavailable, UsageError)
from .graphs import Graph, Matches, Measures, Search, Spread, graph, match
from .recording import MARKER, SPAN, SPIKE, Overview, Recording, load
from .streams import Live, Message, live

NO_COUNT = 2**64 - 1  #: in arrays of counts: there is none, or it is not known

__all__ = [
    "Aggregate", "Bursts", "Cancelled", "CannotCreate", "ConfigurationError", "Correlogram", "Criticality", "DataError",
    "Density", "Episode", "Episodes", "Error", "Graph", "InputOutputError", "InternalError", "Live", "MARKER", "Matches",
    "Measures", "Message", "NO_COUNT", "NoInput", "NoMemory", "Overview", "Progress", "Recording", "Responses", "SPAN",
    "SPIKE", "Search", "Sequences", "Significance", "Spread", "Unavailable", "UsageError", "__version__", "bandwidth",
    "bursts", "count", "density", "graph", "has_files", "live", "load", "match", "mine", "registered", "responses",
    "sequences", "test",
]
