# SPDX-License-Identifier: Apache-2.0
"""Episodes: which firing chains recur, how often given ones occur, and what such counts are worth."""
from __future__ import annotations

import ctypes
import hashlib
import math
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np

from . import _declarations as c
from ._library import (Array, Column, Handle, Maybe, Progress, Watch, bytes_of, call, check, columns_of, dtype_of, former, frame_of, lib,
                       options_of, table_of, text_of, text_or_none, view, word, work, work_with)
from .errors import UsageError
from .recording import SPAN, Delays, Epoch, Recording, Seconds, delays_of, nanoseconds, spans_of

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

EPISODE = dtype_of(c.sf_episode)  #: size, units (of 16), delays (of 15: low_ns, high_ns)
_STOPPED = {c.SF_STOPPED_SEARCHING: "searching", c.SF_STOPPED_TESTING: "testing", c.SF_STOPPED_TELLING: "telling"}


# ---- one episode ----

@dataclass(frozen=True)
class Episode:
    """A chain of units with the delays that its links may have.

    >>> recording = Recording.from_arrays([0.0], [0], names=["A", "B", "C"])
    >>> chain = Episode.parse(recording, "A -(0,5]-> B -(5,10]-> #2")
    >>> chain.units, chain.names, chain.delays_ms
    ((0, 1, 2), ('A', 'B', 'C'), ((0.0, 5.0), (5.0, 10.0)))
    >>> print(chain)
    A -(0,5]-> B -(5,10]-> C
    """

    units: tuple[int, ...]
    delays_ns: tuple[tuple[int, int], ...]
    names: tuple[str, ...] = field(compare=False)
    id: str = field(compare=False, repr=False)  #: 16 digits, the same in every output and on every machine
    text: str = field(compare=False, repr=False)

    @classmethod
    def parse(cls, recording: Recording, text: str) -> Episode:
        """Reads an episode as people write it, bounds in ms."""
        return cls._of(recording, _parsed(recording, text))

    @classmethod
    def _of(cls, recording: Recording, raw: c.sf_episode) -> Episode:
        of, units = recording._handle.pointer, recording._columns.units
        identity = ctypes.create_string_buffer(c.SF_EPISODE_ID_SIZE)
        lib.sf_recording_episode_id(of, ctypes.byref(raw), identity)
        length = lib.sf_recording_print_episode(of, ctypes.byref(raw), None, 0)
        spelt = ctypes.create_string_buffer(length + 1)
        lib.sf_recording_print_episode(of, ctypes.byref(raw), spelt, length + 1)
        return cls(units=tuple(raw.units[:raw.size]),
                   delays_ns=tuple((raw.delays[i].low_ns, raw.delays[i].high_ns) for i in range(raw.size - 1)),
                   names=tuple(text_of(units[unit].name) for unit in raw.units[:raw.size]),
                   id=text_of(identity.value), text=text_of(spelt.value))

    @property
    def delays_ms(self) -> tuple[tuple[float, float], ...]:
        return tuple((low / 1e6, high / 1e6) for low, high in self.delays_ns)

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.units)


#: An episode, its text, or a mapping with units (indices or names) and delays_ms, as JSON output has it.
EpisodeLike = Union[Episode, str, Mapping[str, Any]]


def _parsed(recording: Recording, text: str) -> c.sf_episode:
    raw = c.sf_episode()
    call(lib.sf_recording_parse_episode, recording._handle.pointer, bytes_of(text), ctypes.byref(raw))
    return raw


def raw_episode(recording: Recording, given: EpisodeLike) -> c.sf_episode:
    """As the library has it, of units that the recording has."""
    if isinstance(given, str):
        return _parsed(recording, given)
    raw = c.sf_episode()
    if isinstance(given, Episode):
        units, delays = list(given.units), list(given.delays_ns)
    else:
        units = [recording.find_unit(unit) for unit in given["units"]]
        delays = [(nanoseconds(low, 6), nanoseconds(high, 6)) for low, high in given["delays_ms"]]
    raw.size = len(units)
    if len(units) <= c.SF_EPISODE_MAX_SIZE and len(delays) == len(units) - 1:
        raw.units[:len(units)] = units
        raw.delays[:len(delays)] = [c.sf_delay(*delay) for delay in delays]
    call(lib.sf_recording_check_episode, recording._handle.pointer, ctypes.byref(raw))
    return raw


# ---- tests ----

@dataclass(frozen=True)
class Significance:
    """How counts are tested; docs/episodes.md says what each kind assumes and when not to trust it.

    `kind` is "segment-shift" (advised), "jitter", "shift", "dither" (uniform, with dead time), "joint-isi", or "analytic",
    which only ranks. `width_ms` is how far
    surrogates move spikes, `segment_s` how long the parts are that segment-shift moves; without them the recording
    decides. `correction` is "maximum" (family-wise error) or "rate" (false discoveries).
    """

    kind: str = "segment-shift"
    surrogates: int = 1000
    seed: int = 1
    width_ms: float | None = None
    segment_s: float | None = None
    correction: str = "maximum"
    found_only: bool = False  #: q corrects for the frequent episodes alone
    always: bool = False  #: p and q also where the recording as a whole cannot be tested
    link: float = 0.2  #: of the analytic test
    splits: bool = False  #: given chains of 3 to 5 units by every split into two groups, one shifted as a whole

    def _options(self, device: str | None, threads: int) -> Any:
        kind = ctypes.c_int()
        call(lib.sf_significance_find, ctypes.byref(kind), bytes_of(self.kind))
        return options_of(
            c.sf_significance_options, kind=kind.value, surrogates=self.surrogates, seed=self.seed,
            width_ns=None if self.width_ms is None else nanoseconds(self.width_ms, 6),
            segment_ns=None if self.segment_s is None else nanoseconds(self.segment_s),
            correction=word("sf_correction", self.correction), found_only=self.found_only,
            always=self.always, link=self.link, splits=self.splits, device=device, threads=threads)


def _significance(asked: Significance | str | None) -> Significance | None:
    return Significance(asked) if isinstance(asked, str) else asked


# ---- mining and counting ----

@dataclass(frozen=True)
class _Search:
    """What was asked, so that the same can be asked again with a test."""

    kind: Any
    recording: Recording
    fields: dict[str, Any]
    episodes: Any = None  # those that were given
    significance: Significance | None = None
    keep_stopped: bool = False

    def run(self, progress: Progress) -> Episodes:
        options = options_of(self.kind, keep_stopped=self.keep_stopped, **self.fields)
        if self.significance is not None:
            test = self.significance._options(self.fields.get("device"), self.fields.get("threads") or 0)
            options.significance = ctypes.pointer(test)
        handle = Handle(c.sf_episodes, lib.sf_episodes_free, self.recording)
        of = self.recording._handle.pointer
        if self.episodes is None:
            status = work(lib.sf_mine, handle.out, of, ctypes.byref(options), progress=progress, stopped_is_fine=self.keep_stopped)
        else:
            status = work(lib.sf_count, handle.out, of, self.episodes, len(self.episodes), ctypes.byref(options),
                          progress=progress, stopped_is_fine=self.keep_stopped)
        if not handle:
            check(status, c.sf_error(status, b"", b"stopped before anything was found"))
        return Episodes(self, handle)


def _limits(max_p: float | None, max_q: float | None) -> dict[str, Any]:
    return {"max_p": max_p, "max_q": max_q}


def threshold(min_count: float | None, min_rate: float | None, min_fraction: float | None) -> dict[str, Any]:
    """The options that say what is frequent."""
    given = [(kind, value) for kind, value in ((c.SF_THRESHOLD_COUNT, min_count), (c.SF_THRESHOLD_RATE, min_rate),
                                               (c.SF_THRESHOLD_FRACTION, min_fraction)) if value is not None]
    if len(given) > 1:
        raise ValueError("give one of min_count, min_rate, min_fraction")
    return {"threshold_kind": given[0][0], "threshold": float(given[0][1])} if given else {}


def _spans(epochs: Sequence[Epoch] | None) -> dict[str, Any]:
    spans = spans_of(epochs)
    return {} if spans is None else {"spans": spans, "span_count": len(spans)}


def _delays(delays: Delays | None) -> dict[str, Any]:
    found = delays_of(delays)
    return {} if found is None else {"delays": found, "delay_count": len(found)}


def mine(recording: Recording, delays: Delays | None = None, *, min_count: float | None = None,
         min_rate: float | None = None, min_fraction: float | None = None, max_size: int = 4,
         repeats: bool = False, closed: bool = False, details: bool = True, min_distance: float = 0.0,
         top: int | None = None, order: str = "standing", epochs: Sequence[Epoch] | None = None,
         significance: Significance | str | None = None, max_p: float | None = None, max_q: float | None = None,
         engine: str | None = None, device: str | None = None, threads: int = 0, progress: Progress = None,
         keep_stopped: bool = False) -> Episodes:
    """Every episode of two or more units that is frequent: as `synfire mine` finds them.

    `delays` are those that links may have, in ms: (0.5, 5), several of these, or text ("0.5:5,5:10"); without any
    (0.5, 5). Of intervals that overlap each pair keeps the one in which it stands out most; "0.5:20/4" makes such ones, the
    interval with its halves and quarters. Frequent is a count of `min_count` or more, of `min_rate` a second or `min_fraction` a spike; without any
    what `synfire mine` takes: more than chance gives, and at least 20. `repeats`: a unit may follow itself directly; `closed` leaves out what
    a longer episode contains with the same count; units closer than `min_distance` um do not follow each other. `top`
    tells of so many of each size. The `order` is "standing", what stands out most first (a q of 0.05 or less, folded under
    no other, the longest, most above chance), or of each size by "count", "q", "ratio" or "strength". `epochs` are counted each as if
    it were all there is (`span_counts`). `significance` tests; `max_q` then leaves out what has a greater q.

    A progress function that returns False stops: with `keep_stopped` what there is by then is handed over (its
    `stopped` says what is missing), else Cancelled is raised. Ctrl-C raises KeyboardInterrupt.
    """
    fields = dict(max_size=max_size, repeats=repeats, closed=closed, details=details, min_distance_um=float(min_distance),
                  top=top, order=word("sf_order", order), engine=engine, device=device, threads=threads,
                  **_delays(delays), **threshold(min_count, min_rate, min_fraction), **_spans(epochs),
                  **_limits(max_p, max_q))
    return _Search(c.sf_mining_options, recording, fields, None, _significance(significance), keep_stopped).run(progress)


def registered(path: str | os.PathLike[str]) -> tuple[list[str], str]:
    """Chains of a file that was written down before the recording was looked at, one a line as text, and the SHA-256 of
    the file: `count(recording, *registered(path), significance="segment-shift")`."""
    data = pathlib.Path(path).read_bytes()
    lines = (line.strip() for line in data.decode().splitlines())
    return [line for line in lines if line and not (line + " ").startswith(("# ", "#\t"))], hashlib.sha256(data).hexdigest()


def count(recording: Recording, episodes: EpisodeLike | Sequence[EpisodeLike], registered: str | None = None, *,
          window: float | None = None,
          hop: float | None = None, start: Seconds | None = None, stop: Seconds | None = None, details: bool = True,
          correlograms: bool = False, epochs: Sequence[Epoch] | None = None,
          significance: Significance | str | None = None, max_p: float | None = None, max_q: float | None = None,
          engine: str | None = None, device: str | None = None, threads: int = 0, progress: Progress = None,
          keep_stopped: bool = False) -> Episodes:
    """Exact counts of given episodes: as `synfire count` gives them.

    `window` and `hop` (s) count in windows too, from `start` (else the first spike) to `stop` (else after the last);
    `correlograms` of the two units of every link. `registered` is the SHA-256 of the file that they were written down in
    before, which `methods` names (see the function of that name). The rest is as of `mine`; q corrects for these episodes
    alone.
    """
    given = [episodes] if isinstance(episodes, (str, Episode, Mapping)) else list(episodes)
    raw = (c.sf_episode * len(given))(*(raw_episode(recording, episode) for episode in given))
    fields = dict(details=details, correlograms=correlograms, engine=engine, device=device, threads=threads,
                  registered=registered,
                  window_ns=None if window is None else nanoseconds(window), hop_ns=None if hop is None else nanoseconds(hop),
                  from_ns=None if start is None else nanoseconds(start), to_ns=None if stop is None else nanoseconds(stop),
                  **_spans(epochs), **_limits(max_p, max_q))
    return _Search(c.sf_counting_options, recording, fields, raw, _significance(significance), keep_stopped).run(progress)


def test(episodes: Episodes, significance: Significance | str = "segment-shift", *, max_p: float | None = None,
         max_q: float | None = None, progress: Progress = None) -> Episodes:
    """Tests what `mine` found or `count` counted; q corrects for all that the search looked at, or for the given ones.

    The result is a new one, with p, q and the expected counts of the test; that of before stays as it is, and so what
    was found is found again. `mine(..., significance=...)` finds and tests in one.
    """
    asked = episodes._search
    limits = {name: value for name, value in _limits(max_p, max_q).items() if value is not None}
    return replace(asked, fields={**asked.fields, **limits}, significance=_significance(significance)).run(progress)


# ---- results ----

class Episodes(Sequence[Episode]):
    """Episodes of a recording and what is told of them: a sequence of `Episode`, and arrays by episode.

    Arrays are the library's own memory, read-only, and keep it. Numbers that are not known are NaN; arrays that were
    not asked for are None.
    """

    def __init__(self, search: _Search, handle: Handle) -> None:
        self._search = search
        self._handle = handle
        self._columns = columns_of(c.sf_episodes_columns, lib.sf_episodes_get_columns, handle)

    @property
    def recording(self) -> Recording:
        return self._search.recording

    def __len__(self) -> int:
        return int(self._columns.count)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> list[Episode]: ...

    def __getitem__(self, index: int | slice) -> Episode | list[Episode]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = int(index) + len(self) * (index < 0)
        if not 0 <= place < len(self):
            raise IndexError(f"found {index}, expected fewer than {len(self)}")
        return Episode._of(self.recording, self._columns.episodes[place])

    def __iter__(self) -> Iterator[Episode]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Episodes: {len(self)} of {self.recording!r}{', tested' if self._columns.significance else ''}>"

    def _by_episode(self, name: str, dtype: Any = None) -> Any:
        return view(getattr(self._columns, name), len(self), self._handle, dtype)

    def plot(self, axes: matplotlib.axes.Axes | None = None, most: int = 24) -> matplotlib.axes.Axes:
        """Draws count / expected of the first episodes that are folded under no other, with its 95 % interval, by
        matplotlib; the grey line is chance: units that fire independently at their rates."""
        import matplotlib.pyplot as plt
        shown = [i for i, parent in enumerate(self.parents) if parent is None and self.expected[i] > 0][:most]
        if not shown:
            raise UsageError("there is no episode to draw")
        axes = axes if axes is not None else plt.gca()
        ratio = self.counts[shown] / self.expected[shown]
        interval = [ratio - self.ratio_low[shown], self.ratio_high[shown] - ratio]
        axes.errorbar(ratio, range(len(shown)), xerr=interval, fmt="o", capsize=2)
        axes.axvline(1, color="0.6", linestyle="--", zorder=0)
        axes.set_yticks(range(len(shown)), [" > ".join(self[i].names) for i in shown])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("count / expected by rates")
        return axes

    # ---- by episode ----

    @property
    def raw(self) -> Array:
        """The episodes as the library has them, of the dtype EPISODE."""
        return self._by_episode("episodes", EPISODE) if len(self) else np.empty(0, EPISODE)

    @property
    def sizes(self) -> Array:
        return self.raw["size"]

    counts = Column[Array]("Occurrences of which no two overlap.", np.uint64)
    expected = Column[Array](
        "By rates, tested or not: of units that fire independently at their rates over the recorded time.", np.float64)
    expected_given_rest = Column[Maybe](
        "The mean count in the surrogates of a test, which keep bursts and the rest of the chain; NaN where "
        "there is no verdict, None before a test of given episodes.")
    strength = Column[Maybe]("The probability of a link at which the count would be expected; None of given episodes.")
    p = Column[Maybe]("The share of surrogates with as high a count, of this episode by itself; None before a test.")
    q = Column[Maybe]("p corrected for all that was looked at.")
    p_first = Column[Maybe]("p with only the first unit moved.")
    p_last = Column[Maybe]("p with only the last unit moved.")
    p_links = Column[Maybe]("Of chains the largest p of their links, each tested as a pair: p is the largest of all three.")

    @property
    def not_tested(self) -> list[str | None]:
        """Why a test can say nothing of an episode."""
        reasons = self._by_episode("not_tested", np.int32)
        return [None] * len(self) if reasons is None else [c.WORDS["sf_not_tested"].get(int(reason)) for reason in reasons]

    @property
    def not_testable(self) -> list[str | None]:
        """The former name of not_tested, for one release."""
        return former("not_testable", self, "not_tested")

    worth_showing = Column[Maybe]("A count of 20 or more, q below 0.05, all units over 0.1 Hz.")
    ratio_low = Column[Array]("Lower end of the 95 % interval of count / expected.", np.float64)
    ratio_high = Column[Array]("Its upper end.", np.float64)
    needed = Column[Maybe]("The least count that would have a q below 0.05; NO_COUNT where none has.")
    details = Column[Maybe](
        "Of each episode occurrences, bursts, in_bursts and of its links delays in ns; None of more than 5,000.")
    reverse = Column[Maybe]("The count of B -> A for A -> B; NO_COUNT where there is none.")
    asymmetry = Column[Maybe]("(count - reverse) / (count + reverse).")
    one_electrode = Column[Maybe]("Bit k: one electrode saw both units of link k.")

    @property
    def parents(self) -> list[int | None]:
        """The longer episode that accounts for this one, by its place."""
        places = self._by_episode("parents", np.uint64)
        if places is None:
            return [None] * len(self)
        return [None if place == c.SF_NO_PARENT else int(place) for place in places]

    stretches = Column[Maybe]("Bursts or epochs it occurs in, whichever are more; NO_COUNT where not known.")

    # ---- of stretches of time ----

    @property
    def bursts(self) -> Array:
        """Network bursts, of the dtype SPAN."""
        found = view(self._columns.bursts, int(self._columns.burst_count), self._handle, SPAN)
        return np.empty(0, SPAN) if found is None else found

    @property
    def span_counts(self) -> Array | None:
        """A row for each of `epochs`."""
        return view(self._columns.span_counts, (int(self._columns.span_count), len(self)), self._handle)

    @property
    def windows(self) -> Array:
        """Of the dtype SPAN."""
        found = view(self._columns.windows, int(self._columns.window_count), self._handle, SPAN)
        return np.empty(0, SPAN) if found is None else found

    @property
    def window_counts(self) -> Array | None:
        """A row for each window; 0 where nothing was recorded, too: `window_recorded_s` tells."""
        return view(self._columns.window_counts, (int(self._columns.window_count), len(self)), self._handle)

    @property
    def window_recorded_s(self) -> Array:
        """How much of each window was recorded, which rates are over."""
        found = view(self._columns.window_recorded_ns, int(self._columns.window_count), self._handle)
        return np.empty(0) if found is None else found / 1e9

    @property
    def last_is_partial(self) -> bool:
        return bool(self._columns.last_is_partial)

    @property
    def correlograms(self) -> list[list[Correlogram]] | None:
        """Of every link of every episode."""
        if not self._columns.correlograms:
            return None
        rest = iter(range(int(self._columns.correlogram_count)))
        return [[Correlogram(self._columns.correlograms[next(rest)], self._handle) for _ in range(int(size) - 1)]
                for size in self.sizes]

    def occurrences(self, *, progress: Progress = None) -> list[Array]:
        """The spike times (ns) of the occurrences that the counts count: of each episode a row for each occurrence."""
        handle = Handle(c.sf_occurrences, lib.sf_occurrences_free, self.recording)
        work(lib.sf_occurrences_list, handle.out, self.recording._handle.pointer, self._columns.episodes,
             self._columns.expected, len(self), progress=progress)
        told = columns_of(c.sf_occurrences_columns, lib.sf_occurrences_get_columns, handle)
        return [view(told.times_ns[i], (int(told.counts[i]), int(size)), handle, np.int64) if told.counts[i] else
                np.empty((0, int(size)), np.int64) for i, size in enumerate(self.sizes)]

    # ---- how it went ----

    @property
    def engine(self) -> str | None:
        return text_or_none(self._columns.ran.engine)

    @property
    def device(self) -> str:
        return text_of(self._columns.ran.device)

    @property
    def device_note(self) -> str | None:
        """Why a device did not do it."""
        return text_of(self._columns.ran.note) or None

    @property
    def seconds(self) -> float:
        """Of the mining or counting alone."""
        return float(self._columns.ran.seconds)

    @property
    def threshold(self) -> float:
        return float(self._columns.threshold)

    @property
    def levels(self) -> list[dict[str, Any]]:
        """By size: candidates, culled, frequent, seconds, complete."""
        return [{"size": level.size, "candidates": None if level.candidates == c.SF_NO_COUNT else level.candidates,
                 "culled": None if level.culled < 0 else level.culled, "frequent": level.frequent,
                 "seconds": level.seconds, "complete": level.complete}
                for level in self._columns.levels[:self._columns.level_count]]

    @property
    def found(self) -> int:
        """Frequent episodes, told of or not."""
        return int(self._columns.found)

    @property
    def worth(self) -> int:
        """How many are worth showing."""
        return int(self._columns.worth)

    @property
    def chains(self) -> int:
        """Of those found with a q of 0.05 or less, how many are part of no other one: those without `folded_under`."""
        return int(self._columns.chains)

    @property
    def significant_parts(self) -> int:
        """How many others with a q of 0.05 or less are folded under these."""
        return int(self._columns.parts)

    @property
    def stopped(self) -> str | None:
        """What was stopped before it was whole: "searching", "testing", "telling"."""
        return _STOPPED.get(self._columns.stopped)

    @property
    def methods(self) -> str:
        """What was done as a paper prints it."""
        words = ctypes.c_char_p()
        call(lib.sf_episodes_methods, self._handle.pointer, None, ctypes.byref(words))
        told = text_of(words.value)
        lib.sf_release(words)
        return told

    @property
    def significance(self) -> dict[str, Any] | None:
        """What the test did; None where none was made."""
        if not self._columns.significance:
            return None
        told = self._columns.significance.contents
        done, analytic = told.options, told.options.kind == c.SF_SIGNIFICANCE_ANALYTIC
        segments = done.kind == c.SF_SIGNIFICANCE_SEGMENT_SHIFT
        measured = not analytic and not math.isnan(told.sharpness.low_share)
        power = [{"expected_given_rest": at.expected_given_rest, "needed": None if at.needed == c.SF_NO_COUNT else at.needed}
                 for at in told.power]
        return {
            "kind": c.WORDS["sf_significance_kind"][done.kind],
            "link": done.link if analytic else None,
            "surrogates": None if analytic else done.surrogates,
            "seed": None if analytic else done.seed,
            "width_ms": None if analytic else done.width_ns / 1e6,
            "segment_s": done.segment_ns / 1e9 if segments else None,
            "correction": None if analytic else
            "false-discovery rate" if done.correction == c.SF_CORRECTION_RATE else "maximum",
            "splits": bool(done.splits),
            "not_tested": None if analytic else c.WORDS["sf_not_tested"].get(told.not_tested),
            "sharpness": _number(told.sharpness.sharpness) if measured else None,
            "low_share": _number(told.sharpness.low_share) if measured else None,
            "blur_divisor": None if analytic else _number(told.sharpness.divisor),
            "grouped_units": told.sharpness.grouped,
            "cautions": [words for caution, words in c.WORDS["sf_caution"].items() if told.cautions & caution],
            "power": [at for at in power if at["needed"] != 0],
            "power_pairs": told.power_pairs,
            "device": text_of(told.ran.device) or None,
            "device_note": text_of(told.ran.note) or None,
        }

    # ---- tables ----

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each episode, with the fields that `synfire mine --json` has."""
        found: list[dict[str, Any]] = table_of(lib.sf_episodes_get_table, self._handle)
        return found

    def to_frame(self) -> pandas.DataFrame:
        """A pandas frame with the columns that `synfire mine --csv` has, and the units as tuples."""
        return frame_of(lib.sf_episodes_get_table, self._handle, units=[tuple(units[:size].tolist()) for units, size in zip(self.raw["units"], self.sizes)])

    def windows_to_frame(self) -> pandas.DataFrame:
        """Counts in windows as a pandas frame: a row for each window and episode. NaN where nothing was recorded."""
        import pandas
        windows, counts = self.windows, self.window_counts
        episodes = list(self)
        if counts is None:
            counts = np.empty((0, len(episodes)), np.uint64)
        of = np.repeat(np.arange(len(windows)), len(episodes))
        spans = windows[of]
        partial = np.zeros(len(windows), bool)
        partial[-1:] = self.last_is_partial
        recorded = self.window_recorded_s[of]
        counted = np.where(recorded > 0, counts.reshape(-1), np.nan)
        rates = np.divide(counted, recorded, out=np.full(len(of), np.nan), where=recorded > 0)
        return pandas.DataFrame({
            "from_s": spans["start_ns"] / 1e9, "to_s": spans["stop_ns"] / 1e9, "partial": partial[of],
            "id": [episode.id for episode in episodes] * len(windows),
            "episode": [episode.text for episode in episodes] * len(windows),
            "count": counted, "rate_hz": rates, "recorded_s": recorded})

    def _column(self, name: str, dtype: Any) -> Any:
        """With a dtype NaN where the library has none, else None."""
        found = self._by_episode(name)
        return np.full(len(self), np.nan, dtype) if found is None and dtype is not None else found


class Correlogram:
    """The cross-correlogram of two units: bin k holds the lags k * bin < t(to) - t(from) <= (k + 1) * bin."""

    def __init__(self, told: c.sf_correlogram, handle: Handle) -> None:
        bins = 2 * told.half
        self.from_unit: int = told.from_
        self.to_unit: int = told.to
        self.bin_ms: float = told.bin_ns / 1e6
        self.lags_ms: Array = (np.arange(bins + 1) - told.half) * self.bin_ms  #: edges of the bins
        self.counts: Array = view(told.counts, bins, handle)
        self.expected: Array = view(told.expected, bins, handle)  #: by rates: of independent units at constant ones
        self.mean: float = told.mean


# ---- numbers as JSON has them ----

def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
