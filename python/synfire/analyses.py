# SPDX-License-Identifier: Apache-2.0
"""Bursts, responses, sequences and criticality of a recording: the tables that the commands of these names have."""
from __future__ import annotations

import ctypes
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._library import Progress, bytes_of, lib, work

if TYPE_CHECKING:
    import pandas

    from .episodes import EpisodeLike
    from .recording import Recording


class Tables:
    """What an analysis tells: numbers in `fields`, and tables, by the names that `--json` of its command has."""

    _first = ""  # the table that is meant where none is named

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {name: of for name, of in told.items() if isinstance(of, list)}
        self.fields: dict[str, Any] = {name: of for name, of in told.items() if name not in self.tables}

    def records(self, table: str | None = None) -> list[dict[str, Any]]:
        """One dictionary for each row of a table; None is what the command calls null."""
        return self.tables[table or self._first]

    def to_frame(self, table: str | None = None) -> pandas.DataFrame:
        """A table as a pandas frame."""
        import pandas
        return pandas.DataFrame(self.records(table))


class Bursts(Tables):
    """Bursts of units and of the network. Tables: summary, unit_detail, network_bursts, bursts."""

    _first = "unit_detail"

    @property
    def summary(self) -> dict[str, dict[str, Any]]:
        """Value and chance of each measure by its name: "burst_rate", "network_burst_s", ..."""
        return {row["measure"]: row for row in self.tables["summary"]}

    def __repr__(self) -> str:
        of_units = len(self.tables["bursts"]) - len(self.tables["network_bursts"])
        return f"<Bursts: {of_units} of units by {self.fields['burst_method']}, " \
               f"{len(self.tables['network_bursts'])} of the network by {self.fields['network_method']}>"


class Responses(Tables):
    """What units and chains do after a marker. Tables: responses, histogram, trials."""

    _first = "responses"

    def __repr__(self) -> str:
        told = self.fields
        return f"<Responses: {told['trial_count']} trials of '{told['marker']}', of {told['units']} units " \
               f"{told['units_more']} fire more and {told['units_fewer']} less>"


class Sequences(Tables):
    """The order of units within network bursts. Tables: unit_detail, burst_detail, latencies, similarity, chains."""

    _first = "unit_detail"

    @property
    def order(self) -> list[str]:
        """Names of the units of the sequence, by their places; empty where there is none."""
        members = [row for row in self.tables["unit_detail"] if row["member"]]
        return [row["name"] for row in sorted(members, key=lambda row: int(row["order"]))]

    def __repr__(self) -> str:
        told = self.fields
        what = f"a sequence of {told['members']} units" if told["sequence"] else "no sequence"
        return f"<Sequences: {told['bursts']} bursts, {what}>"


class Criticality(Tables):
    """How near a network is to criticality. Tables: criticality, avalanche_fits, avalanches, avalanche_shapes,
    autocorrelation, criticality_cautions."""

    _first = "criticality"

    @property
    def measures(self) -> dict[str, dict[str, Any]]:
        """Value, low, high and chance of each measure by its name: "branching_ratio", "size_exponent", ..."""
        return {row["measure"]: row for row in self.tables["criticality"]}

    @property
    def cautions(self) -> list[str]:
        """Why numbers may not be believed, a sentence each."""
        return [f"{row['of']}: {row['text']}" for row in self.tables["criticality_cautions"]]

    def __repr__(self) -> str:
        ratio = self.measures["branching_ratio"]["value"]
        return f"<Criticality: branching ratio {'unknown' if ratio is None else format(ratio, '.4g')}, {len(self.tables['avalanches'])} avalanches>"


def bursts(recording: Recording, *, burst_method: str | None = None, burst_begin: float | None = None,
           burst_within: float | None = None, burst_apart: float | None = None, burst_least: float | None = None,
           burst_spikes: int | None = None, burst_surprise: float | None = None, network_method: str | None = None,
           active: float | None = None, network_share: float | None = None, network_spikes: int | None = None,
           network_within: float | None = None, seed: int | None = None, progress: Progress = None) -> Bursts:
    """Bursts of units and of the network beside those of chance, as `synfire bursts` tells, by its options; times are ms.

    `burst_method` is "max-interval", "logisi", "cma" or "surprise", `network_method` "rate" or "isi-n".
    """
    given = dict(locals())
    return Bursts(analyse(given.pop("recording"), "bursts", given, given.pop("progress")))


def responses(recording: Recording, marker: str | None = None, *, response: tuple[float, float] | None = None, baseline: int | None = None,
              around: tuple[float, float] | None = None, bin: float | None = None, permutations: int | None = None,
              seed: int | None = None, episodes: EpisodeLike | Sequence[EpisodeLike] | None = None,
              progress: Progress = None) -> Responses:
    """What units and chains do after each marker, beside what they do before it, as `synfire responses` tells.

    `marker` is a text, or "ttl3" for a rising edge of line 3, by default the one that comes most often; `response` and `around` are in ms after it, `bin` in ms.
    Of `episodes` the occurrences are looked at, too. What `load(blank=...)` left out counts in no window.
    """
    given = dict(locals())
    return Responses(analyse(given.pop("recording"), "responses", given, given.pop("progress")))


def sequences(recording: Recording, *, order_by: str | None = None, backbone: float | None = None, least_spikes: int | None = None,
              window: float | None = None, least_similarity: float | None = None, network_method: str | None = None,
              active: float | None = None, network_share: float | None = None, network_spikes: int | None = None,
              network_within: float | None = None, surrogates: int | None = None, alpha: float | None = None,
              seed: int | None = None, episodes: EpisodeLike | Sequence[EpisodeLike] | None = None,
              progress: Progress = None) -> Sequences:
    """The order of units within network bursts, and which keep their place, as `synfire sequences` tells; times are ms.

    `order_by` is "first-last", "first-spike" or "rate-peak". Of `episodes` it is told whether they have a fixed place in the bursts.
    """
    given = dict(locals())
    return Sequences(analyse(given.pop("recording"), "sequences", given, given.pop("progress")))


def analyse(recording: Recording, analysis: str, given: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """The document of an analysis by its options as the command has them; those that are None are not given."""
    words = [bytes_of(word) for name, value in given.items() if value is not None for word in _words(name, value)]
    options = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    text = ctypes.c_char_p()
    work(lib.sf_recording_analyse, ctypes.byref(text), recording._handle.pointer, bytes_of(analysis), options, progress=progress)
    try:
        return dict(json.loads(text.value or b"null"))
    finally:
        lib.sf_release(text)


def _words(name: str, value: Any) -> Iterable[str]:
    option = name.replace("_", "-")
    if name == "episodes":
        return [f"episodes={episode}" for episode in (value if isinstance(value, (list, tuple)) or hasattr(value, "records") else [value])]
    return [f"{option}={value[0]}:{value[1]}" if isinstance(value, tuple) else f"{option}={value}"]
