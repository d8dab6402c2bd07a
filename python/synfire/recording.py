# SPDX-License-Identifier: Apache-2.0
"""Recordings: spikes of units, from a file of any layout, from arrays, or from what other programs hold."""
from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _declarations as c
from ._library import (Array, Handle, Progress, bytes_of, call, columns_of, dtype_of, lib, options_of, path_of, pointer_to, text_of,
                       text_or_none, view, word, work)
from .analyses import Criticality, analyse
from .errors import UsageError

_log = logging.getLogger("synfire")

if TYPE_CHECKING:
    import pandas

    from .episodes import Episode

#: Seconds of the recording's clock, as a number or as text ("12.5"); "+12.5" counts from the first spike.
Seconds = Union[float, str]
#: A stretch of time in seconds, with or without a label: from <= time < to.
Epoch = Union["tuple[float, float]", "tuple[float, float, str]"]
#: Lower and upper bound of a delay in ms, open below and closed above; several; or text as "0.5:5,5:10", where "0.5:20/4"
#: is an interval with its halves and quarters.
Delays = Union[str, "tuple[float, float]", Sequence["tuple[float, float]"]]

SPIKE = dtype_of(c.sf_spike)  #: time_ns, unit, amplitude: what the library holds, ordered by time and unit
MARKER = dtype_of(c.sf_marker)  #: time_ns, kind (1: TTL, 2: text), state, line, reserved, text
SPAN = dtype_of(c.sf_span)  #: start_ns, stop_ns

_SECOND = 1_000_000_000
_KINDS = ("unknown", "sorted", "multi-unit", "noise")


# ---- times ----

def nanoseconds(value: float | str, digits: int = 9) -> int:
    """A time given in seconds (digits 9) or milliseconds (6), to the nearest nanosecond."""
    try:
        exact = Decimal(value if isinstance(value, str) else repr(float(value))).scaleb(digits)
        return int(exact.to_integral_value(ROUND_HALF_UP))
    except (InvalidOperation, ValueError, TypeError, OverflowError):
        raise UsageError(f"found {value!r}, expected {'seconds' if digits == 9 else 'milliseconds'}") from None


def delays_of(delays: Delays | None) -> Any:
    """An array of sf_delay, or None for the library's own default."""
    if delays is None:
        return None
    if isinstance(delays, str):
        found = (c.sf_delay * 64)()
        count = ctypes.c_size_t()
        call(lib.sf_delays_parse, found, 64, ctypes.byref(count), bytes_of(delays))
        return (c.sf_delay * count.value)(*found[:count.value])
    if isinstance(delays, (int, float)):
        raise UsageError(f"found {delays!r}, expected (low, high) in ms, several of these, or text as '0.5:5'", "delays")
    if len(delays) == 2 and not isinstance(delays[0], (tuple, list)):
        delays = [delays]  # type: ignore[list-item]
    return (c.sf_delay * len(delays))(
        *(c.sf_delay(nanoseconds(low, 6), nanoseconds(high, 6)) for low, high in delays))  # type: ignore[misc]


def span_of(start: float | str, stop: float | str) -> c.sf_span:
    return c.sf_span(nanoseconds(start), nanoseconds(stop))


def spans_of(epochs: Iterable[Epoch] | None) -> Any:
    """An array of sf_span, or None."""
    if epochs is None:
        return None
    spans = [span_of(epoch[0], epoch[1]) for epoch in epochs]
    return (c.sf_span * len(spans))(*spans)


def times_in_ns(times: Any, rate: float | None = None) -> Array:
    """Times as int64 nanoseconds: numbers with a fraction are seconds, whole ones nanoseconds, or samples at `rate`."""
    array = np.asarray(times)
    if array.dtype.kind == "m":
        return array.astype("timedelta64[ns]").astype(np.int64)
    if array.dtype.kind in "iu":
        if rate is None:
            return array.astype(np.int64, copy=False)
        return frames_in_ns(array.astype(np.int64, copy=False), rate)
    if array.size == 0:
        return np.empty(array.shape, np.int64)
    if array.dtype.kind != "f":
        raise UsageError(f"found times of {array.dtype}, expected numbers")
    if rate is not None:
        raise UsageError("a rate goes with whole numbers of samples, and these are seconds", "rate")
    scaled = np.rint(array.astype(np.float64, copy=False) * 1e9)
    if not np.all(np.abs(scaled) < 2.0**63):
        raise UsageError("found a time that is not finite or beyond 292 years, expected seconds", "times")
    return scaled.astype(np.int64)


def frames_in_ns(frames: Array, rate: float) -> Array:
    """Numbers of samples as nanoseconds, without a sum that loses digits."""
    if not rate > 0:
        raise UsageError(f"found {rate}, expected samples a second", "rate")
    if float(rate).is_integer():
        whole, part = np.divmod(frames, int(rate))
        return whole * _SECOND + (part * _SECOND + int(rate) // 2) // int(rate)
    return np.rint(frames.astype(np.longdouble) * _SECOND / np.longdouble(rate)).astype(np.int64)


def _point(value: Seconds | None) -> c.sf_time_point:
    if value is None:
        return c.sf_time_point()
    return c.sf_time_point(True, isinstance(value, str) and value.startswith("+"), nanoseconds(value))


# ---- what is looked at ----

def _selection(units: str | Sequence[str | int] | None, start: Seconds | None, stop: Seconds | None,
               epochs: str | os.PathLike[str] | Sequence[Epoch] | None, blank: tuple[str, float, float] | None,
               dedup: tuple[float, float] | None, stream: str | None, rate: float | None = None,
               columns: str | None = None, positions: str | os.PathLike[str] | None = None,
               kind: str | Sequence[str] | None = None, recorded: tuple[float, float] | None = None) -> Any:
    """An sf_selection, which holds what it borrows."""
    if units is not None and not isinstance(units, str):
        units = ",".join(f"#{unit}" if isinstance(unit, (int, np.integer)) else '"%s"' % unit for unit in units)
    selection = options_of(c.sf_selection, units=units, stream=stream, rate_hz=rate, columns=columns,
                           positions=None if positions is None else path_of(positions))
    if kind is not None:
        selection.kind = bytes_of(kind if isinstance(kind, str) else ",".join(kind))
    if recorded is not None:
        selection.recorded = span_of(*recorded)
    selection.from_, selection.to = _point(start), _point(stop)
    if isinstance(epochs, (str, os.PathLike)):
        read, count = ctypes.POINTER(c.sf_epoch)(), ctypes.c_size_t()
        call(lib.sf_epochs_read, ctypes.byref(read), ctypes.byref(count), path_of(epochs))
        chosen = (c.sf_epoch * count.value)(*read[:count.value])
        lib.sf_release(read)
        selection.epochs_path = path_of(epochs)
        selection.epochs, selection.epoch_count = chosen, len(chosen)
    elif epochs is not None:
        chosen = (c.sf_epoch * len(epochs))(
            *(c.sf_epoch(span_of(epoch[0], epoch[1]), _label(epoch)) for epoch in epochs))
        selection.epochs, selection.epoch_count = chosen, len(chosen)
    if blank is not None:
        selection.blank = bytes_of(blank[0])
        selection.blank_from_ns, selection.blank_to_ns = nanoseconds(blank[1], 6), nanoseconds(blank[2], 6)
    if dedup is not None:
        selection.dedup_ns, selection.dedup_um = nanoseconds(dedup[0], 6), dedup[1]
    return selection


def _label(epoch: tuple[Any, ...]) -> bytes:
    return (bytes_of(str(epoch[2])) or b"")[:63] if len(epoch) > 2 else b""


class Recording:
    """Spikes of units, read-only. `load` and the methods `from_...` make one.

    >>> import numpy as np
    >>> recording = Recording.from_arrays(np.array([0.000, 0.005, 1.000, 1.005]), [0, 1, 0, 1], names=["A", "B"])
    >>> recording
    <Recording in memory: 2 units, 4 spikes, 1.005 s>
    >>> recording.spikes["time_ns"]
    array([         0,    5000000, 1000000000, 1005000000])
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._columns = columns_of(c.sf_recording_columns, lib.sf_recording_get_columns, handle)

    # ---- making ----

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, units: str | Sequence[str | int] | None = None,
             start: Seconds | None = None, stop: Seconds | None = None,
             epochs: str | os.PathLike[str] | Sequence[Epoch] | None = None,
             blank: tuple[str, float, float] | None = None, dedup: tuple[float, float] | None = None,
             stream: str | None = None, rate: float | None = None, columns: str | None = None,
             positions: str | os.PathLike[str] | None = None, kind: str | Sequence[str] | None = None,
             recorded: tuple[float, float] | None = None, progress: Progress = None) -> Recording:
        """Reads a recording, or a part of it; the layout is found by content.

        `units` are names and indices, as "a,b,#10-#20" or as a list; `start` <= time < `stop`; `epochs` a list or a
        file of them; `blank=("light", -1, 5)` drops what is 1 ms before to 5 ms after each of these markers;
        `dedup=(0.4, 100)` spikes within 0.4 ms after another at most 100 um away; `stream` is one of several in a file,
        or a session of a clock that steps back ("session2", or "joined" for all, one after the other);
        `rate` are samples in a second, where a file that counts samples does not say; `columns` what the columns of a
        text are, as a heading ("time_ms,unit"); `positions` a file of probeinterface, a routing of MaxLab Live or a map of Blackrock's;
        `kind` the kinds of units, as "good,mua" or "all", without which units labelled noise are left out;
        `recorded` from when to when it was recorded, in seconds, where the file does not say.
        """
        selection = _selection(units, start, stop, epochs, blank, dedup, stream, rate, columns, positions, kind,
                               recorded)
        handle = _new()
        work(lib.sf_recording_open, handle.out, path_of(path), ctypes.byref(selection), progress=progress)
        recording = cls(handle)
        about = recording.metadata
        for key, words in (("clock", "its clock runs back or began anew: "), ("recorded", "recorded "), ("observed", "")):
            if key in about and not (key == "recorded" and recorded is not None):
                choice = f": {about['sessions']}, or joined" if key == "clock" and "sessions" in about else ""
                _log.warning("%s: %s%s%s", path, words, about[key], choice)
        return recording

    @classmethod
    def from_arrays(cls, times: Any, units: Any = None, *, names: Sequence[str] | None = None, rate: float | None = None,
                    amplitudes: Any = None, positions: Any = None, kinds: str | Sequence[str] | None = None,
                    electrodes: Sequence[int] | None = None, wells: Sequence[str] | None = None,
                    recorded: tuple[float, float] | None = None, observed: Sequence[Epoch] | None = None,
                    markers: Sequence[tuple[Any, ...]] | Array | None = None,
                    metadata: Mapping[str, object] | None = None) -> Recording:
        """Makes a recording of one time and one unit, its index or its name, for each spike, in any order.

        Times with a fraction (float) are seconds; whole numbers are nanoseconds, or samples where `rate` (Hz) is
        given. `times` may be an array of the dtype SPIKE instead, which goes to the library as it is. Of each unit:
        `names` (e1, e2, ... without them; of units that are named the names in order), `positions` (x and y in um), `kinds` ("sorted", "multi-unit", "noise", "unknown"; one
        word is for all), `electrodes`, `wells`. `recorded` is from when to when, in seconds; without it from the first
        spike to just after the last. `markers` are (seconds, text) or (seconds, line, state), or an array of the dtype
        MARKER.
        """
        units, names = _numbered(units, names)
        spikes = _spikes(times, units, rate, amplitudes)
        count = _unit_count(spikes, names, positions, electrodes, wells, kinds)
        given = options_of(c.sf_recording_input, unit_count=count, spike_count=len(spikes))
        given.units = _units(count, names, positions, kinds, electrodes, wells)
        given.spikes = pointer_to(spikes, c.sf_spike)
        marked = _markers(markers)
        given.markers, given.marker_count = pointer_to(marked, c.sf_marker), len(marked)
        if recorded is not None:
            given.recorded = ctypes.pointer(span_of(*recorded))
        paused = spans_of(observed)
        if paused is not None:
            given.observed, given.observed_count = paused, len(paused)
        if metadata:
            entries = (c.sf_metadata_entry * len(metadata))(
                *(c.sf_metadata_entry(bytes_of(key), bytes_of(str(value))) for key, value in metadata.items()))
            given.metadata, given.metadata_count = entries, len(entries)
        handle = _new()
        call(lib.sf_recording_new, handle.out, ctypes.byref(given))
        return cls(handle)

    @classmethod
    def from_trains(cls, trains: Mapping[str, Any] | Sequence[Any], **about: Any) -> Recording:
        """Makes a recording of one array of times for each unit, by name or in order; the rest as from_arrays.

        >>> Recording.from_trains({"A": [0.0, 1.0], "B": [0.005]}).spike_count
        3
        """
        if isinstance(trains, Mapping):
            about.setdefault("names", [str(name) for name in trains])
            trains = list(trains.values())
        rate = about.pop("rate", None)
        times = [times_in_ns(np.asarray(train, None if len(train) else np.int64), rate) for train in trains]
        units = np.repeat(np.arange(len(times), dtype=np.uint32), [len(train) for train in times])
        about.setdefault("names", [f"e{unit + 1}" for unit in range(len(times))])
        return cls.from_arrays(np.concatenate(times) if times else np.empty(0, np.int64), units, **about)

    @classmethod
    def from_sorting(cls, sorting: Any, *, segment: int | None = None, start: float = 0.0, **about: Any) -> Recording:
        """Makes a recording of a sorting of SpikeInterface: its unit ids become names, its sampling frequency decides.

        `segment` is needed where there are several; `start` is the time of sample 0 in seconds. Positions are not
        part of a sorting: give `positions`, as of spikeinterface.postprocessing.compute_unit_locations.
        """
        if segment is None:
            if sorting.get_num_segments() != 1:
                raise UsageError(f"found {sorting.get_num_segments()} segments: choose one", "segment")
            segment = 0
        rate = float(sorting.get_sampling_frequency())
        ids = list(sorting.get_unit_ids())
        trains = [np.asarray(sorting.get_unit_spike_train(unit, segment_index=segment), np.int64) for unit in ids]
        first = nanoseconds(start)
        about.setdefault("kinds", "sorted")
        about.setdefault("metadata", {"sampling_rate": f"{rate:.12g}"})
        if "recorded" not in about and getattr(sorting, "has_recording", lambda: False)():
            samples = int(sorting.get_num_samples(segment_index=segment))
            about["recorded"] = (start, start + samples / rate)
        return cls.from_trains({str(unit): frames_in_ns(train, rate) + first for unit, train in zip(ids, trains)}, **about)

    @classmethod
    def from_neo(cls, segment: Any, **about: Any) -> Recording:
        """Makes a recording of a segment of Neo: its spike trains are units, its events are markers.

        Also of a list of spike trains. Recorded time is from the first t_start to the last t_stop.
        """
        trains = list(getattr(segment, "spiketrains", segment))
        names = [_neo_name(train, i) for i, train in enumerate(trains)]
        if len(set(names)) < len(names):
            names = [f"{name}_{i + 1}" for i, name in enumerate(names)]
        seconds = [_in_seconds(train) for train in trains]
        if trains and "recorded" not in about:
            about["recorded"] = (min(float(_in_seconds(train.t_start)) for train in trains),
                                 max(float(_in_seconds(train.t_stop)) for train in trains))
        if "markers" not in about:
            about["markers"] = [(float(at), str(label)) for event in getattr(segment, "events", ())
                                for at, label in zip(_in_seconds(event.times), event.labels)]
        return cls.from_trains(seconds, names=names, **about)

    def select(self, *, units: str | Sequence[str | int] | None = None, start: Seconds | None = None,
               stop: Seconds | None = None, epochs: str | os.PathLike[str] | Sequence[Epoch] | None = None,
               blank: tuple[str, float, float] | None = None, dedup: tuple[float, float] | None = None,
               kind: str | Sequence[str] | None = None, recorded: tuple[float, float] | None = None) -> Recording:
        """A copy of a part, as `load` takes it; units keep their numbers. Without `kind` those of all kinds stay."""
        selection = _selection(units, start, stop, epochs, blank, dedup, None, kind=kind, recorded=recorded)
        handle = _new()
        call(lib.sf_recording_select, handle.out, self._handle.pointer, ctypes.byref(selection))
        return Recording(handle)

    def part(self, start: Seconds, stop: Seconds) -> Recording:
        """What lies in start <= time < stop, without a copy."""
        handle = _new(self._handle)
        call(lib.sf_recording_part, handle.out, self._handle.pointer, span_of(start, stop))
        return Recording(handle)

    # ---- what is in it ----

    def __repr__(self) -> str:
        return (f"<Recording {self.path or 'in memory'}: {self.unit_count} units, {self.spike_count} spikes, "
                f"{self.duration_s:.6g} s>")

    @property
    def path(self) -> str | None:
        return text_or_none(self._columns.path)

    @property
    def format(self) -> str | None:
        """The layout of the file, as "CARMEN"; None in memory."""
        return text_or_none(self._columns.format)

    @property
    def unit_count(self) -> int:
        return int(self._columns.unit_count)

    @property
    def spike_count(self) -> int:
        return int(self._columns.spike_count)

    @property
    def spikes(self) -> Array:
        """All spikes in order, of the dtype SPIKE: the library's own memory."""
        return self._view(self._columns.spikes, self.spike_count, SPIKE)

    @property
    def times_ns(self) -> Array:
        """Of each spike, a view of `spikes`."""
        return self.spikes["time_ns"]

    @property
    def units(self) -> Array:
        """Of each spike the index of its unit, a view of `spikes`."""
        return self.spikes["unit"]

    @property
    def amplitudes(self) -> Array:
        """Of each spike, a view of `spikes`; NaN where there is none."""
        return self.spikes["amplitude"]

    def train(self, unit: str | int) -> Array:
        """The times of one unit in ns; a name, an index, or "#2" for index 2."""
        return self.times_ns[self.units == self.find_unit(unit)]

    @property
    def names(self) -> list[str]:
        return [text_of(self._columns.units[i].name) for i in range(self.unit_count)]

    @property
    def positions(self) -> Array:
        """x and y in um of each unit; NaN where they are not known."""
        return np.array([(self._columns.units[i].x_um, self._columns.units[i].y_um) for i in range(self.unit_count)],
                        np.float64).reshape(-1, 2)

    @property
    def kinds(self) -> list[str]:
        return [c.WORDS["sf_unit_kind"].get(self._columns.units[i].kind, "unknown") for i in range(self.unit_count)]

    @property
    def electrodes(self) -> list[int]:
        """Of each unit; -1 where it is not known."""
        return [int(self._columns.units[i].electrode) for i in range(self.unit_count)]

    @property
    def wells(self) -> list[Optional[str]]:
        return [text_or_none(self._columns.units[i].well) for i in range(self.unit_count)]

    @property
    def markers(self) -> Array:
        """In order, of the dtype MARKER."""
        return self._view(self._columns.markers, int(self._columns.marker_count), MARKER)

    @property
    def observed(self) -> Array:
        """When recording went on, of the dtype SPAN; empty where it never paused."""
        return self._view(self._columns.observed, int(self._columns.observed_count), SPAN)

    @property
    def recorded_ns(self) -> tuple[int, int]:
        return int(self._columns.recorded.start_ns), int(self._columns.recorded.stop_ns)

    @property
    def duration_s(self) -> float:
        """Recorded time, of the observed intervals where there are any."""
        return float(self._columns.duration_ns / 1e9)

    @property
    def tick_ns(self) -> int:
        """The step of its clock; 0: not known."""
        return int(self._columns.tick_ns)

    @property
    def metadata(self) -> dict[str, str]:
        entries = self._columns.metadata
        return {text_of(entries[i].key): text_of(entries[i].value) for i in range(self._columns.metadata_count)}

    @property
    def dropped(self) -> dict[str, int]:
        """Spikes that a reader or a selection left out, by cause."""
        return self._drops(False)

    @property
    def lost(self) -> dict[str, int]:
        """Spikes that are not in the file, as the run that recorded it tells, by cause."""
        return self._drops(True)

    def _drops(self, lost: bool) -> dict[str, int]:
        drops = [self._columns.dropped[i] for i in range(self._columns.dropped_count)]
        return {text_of(drop.cause): int(drop.count) for drop in drops if (drop.kind == 2) == lost}

    def find_unit(self, unit: str | int) -> int:
        """The index of a unit, by its name or as "#2"."""
        if isinstance(unit, (int, np.integer)):
            if not 0 <= unit < self.unit_count:
                raise UsageError(f"found unit {unit}, expected 0 to {self.unit_count - 1}")
            return int(unit)
        found = ctypes.c_uint32()
        call(lib.sf_recording_find_unit, self._handle.pointer, bytes_of(unit), ctypes.byref(found))
        return found.value

    def episode(self, text: str) -> Episode:
        """An episode as people write it: "A -(0,5]-> B -(5,10]-> #2", bounds in ms."""
        from .episodes import Episode
        return Episode.parse(self, text)

    def overview(self, *, progress: Progress = None) -> Overview:
        """Rates, intervals, repeats and positions: what may mislead an analysis."""
        handle = Handle(c.sf_overview, lib.sf_overview_free)
        work(lib.sf_recording_overview, handle.out, self._handle.pointer, progress=progress)
        return Overview(self, handle)

    def sharpness(self, delay: tuple[float, float] = (0.5, 5.0), *, progress: Progress = None) -> dict[str, Any]:
        """How sharp the bursts are that units share, at delays in ms: whether links can be told from bursts."""
        found = c.sf_sharpness()
        work(lib.sf_recording_sharpness, self._handle.pointer, delays_of(delay), 1, ctypes.byref(found), progress=progress)
        told = {name: getattr(found, name) for name, _ in found._fields_ if name != "delay"}
        told["delay_ms"] = (found.delay.low_ns / 1e6, found.delay.high_ns / 1e6)
        return told

    def criticality(self, *, avalanche_bin: float | None = None, branching_bin: float | None = None, lags: int | None = None,
                    rounds: int | None = None, seed: int | None = None, progress: Progress = None) -> Criticality:
        """Branching ratio and avalanches, as `synfire criticality` tells, with its options: bins are in ms."""
        given = {"avalanche-bin": avalanche_bin, "branching-bin": branching_bin, "lags": lags, "rounds": rounds, "seed": seed}
        return Criticality(analyse(self, "criticality", given, progress))

    # ---- frames ----

    def to_frame(self) -> pandas.DataFrame:
        """Spikes as a pandas frame: time_ns, unit, name, amplitude."""
        import pandas
        spikes = self.spikes
        return pandas.DataFrame({"time_ns": spikes["time_ns"], "unit": spikes["unit"],
                                 "name": pandas.Categorical.from_codes(spikes["unit"].astype(np.int64), self.names),
                                 "amplitude": spikes["amplitude"]})

    def units_to_frame(self) -> pandas.DataFrame:
        """Units as a pandas frame: name, spikes, rate_hz, x_um, y_um, kind, electrode, well."""
        import pandas
        counts = np.bincount(self.units, minlength=self.unit_count)
        places = self.positions
        return pandas.DataFrame({"name": self.names, "spikes": counts,
                                 "rate_hz": counts / self.duration_s if self.duration_s > 0 else np.nan,
                                 "x_um": places[:, 0], "y_um": places[:, 1], "kind": self.kinds,
                                 "electrode": self.electrodes, "well": self.wells})

    def _view(self, pointer: Any, count: int, dtype: np.dtype[Any]) -> Array:
        found = view(pointer, count, self._handle, dtype)
        return np.empty(0, dtype) if found is None else found


class Overview:
    """What a recording is like; arrays are by unit. `Recording.overview` makes one."""

    def __init__(self, recording: Recording, handle: Handle) -> None:
        self._handle = handle
        self._columns = columns_of(c.sf_overview_columns, lib.sf_overview_get_columns, handle)
        by_unit = view(self._columns.units, recording.unit_count, handle)
        self.spikes: Array = by_unit["spikes"] if by_unit is not None else np.empty(0, np.uint64)
        self.short_intervals: Array = (  #: inter-spike intervals under 2 ms
            by_unit["short_intervals"] if by_unit is not None else np.empty(0, np.uint64))
        self.first_ns: int = self._columns.first_ns
        self.last_ns: int = self._columns.last_ns
        self.duration_s: float = self._columns.duration_ns / 1e9
        self.tick_ns: int = self._columns.tick_ns
        self.repeats: int = self._columns.repeats
        self.neighbour_repeats: int = self._columns.neighbour_repeats
        self.array_events: int = self._columns.array_events
        self.active_units: int = self._columns.active_units
        self.electrodes: int = self._columns.electrodes
        self.pitch_um: float = self._columns.pitch_um
        self.x_um: tuple[float, float] = (self._columns.x_um[0], self._columns.x_um[1])
        self.y_um: tuple[float, float] = (self._columns.y_um[0], self._columns.y_um[1])
        self.kind: str = text_of(self._columns.kind)

    @property
    def bursts(self) -> Array:
        """Network bursts, each [start_ns, stop_ns)."""
        found = view(self._columns.bursts, int(self._columns.burst_count), self._handle, SPAN)
        return np.empty(0, SPAN) if found is None else found

    @property
    def rates_hz(self) -> Array:
        return self.spikes / self.duration_s if self.duration_s > 0 else np.full(len(self.spikes), np.nan)


# ---- what is given ----

def _new(*needs: object) -> Handle:
    return Handle(c.sf_recording, lib.sf_recording_free, *needs)


def _spikes(times: Any, units: Any, rate: float | None, amplitudes: Any) -> Array:
    """One array of the dtype SPIKE: the caller's own where it is one."""
    array = np.asarray(times)
    if array.dtype == SPIKE:
        if units is not None or amplitudes is not None or rate is not None:
            raise UsageError("an array of spikes has units and amplitudes, and times in ns", "units")
        return np.ascontiguousarray(array)
    if units is None:
        raise UsageError("expected the unit of each spike", "units")
    at, of = times_in_ns(array, rate), np.asarray(units)
    if at.ndim != 1 or of.shape != at.shape:
        raise UsageError(f"found times of shape {at.shape} and units of {of.shape}, expected one unit for each time", "units")
    if of.size and (of.dtype.kind not in "iu" or of.min() < 0 or of.max() >= 2**32):
        raise UsageError("expected indices of units, from 0", "units")
    spikes = np.empty(len(at), SPIKE)
    spikes["time_ns"], spikes["unit"] = at, of
    spikes["amplitude"] = np.nan if amplitudes is None else amplitudes
    return spikes


def _numbered(units: Any, names: Sequence[str] | None) -> tuple[Any, Sequence[str] | None]:
    """The indices of units that are named, among their names."""
    of = np.asarray(units)
    if units is None or not of.size or not all(isinstance(unit, str) for unit in of.reshape(-1)[:1]):
        return units, names
    told = list(names) if names is not None else sorted({str(unit) for unit in of.reshape(-1)})
    index = {name: i for i, name in enumerate(told)}
    unknown = {str(unit) for unit in of.reshape(-1)} - set(index)
    if unknown:
        raise UsageError(f"found a spike of {min(unknown)!r}, which is not among the names", "units")
    return np.array([index[str(unit)] for unit in of.reshape(-1)], np.uint32).reshape(of.shape), told


def _unit_count(spikes: Array, names: Sequence[str] | None, *others: Any) -> int:
    told = [len(other) for other in (names, *others) if other is not None and not isinstance(other, str)]
    if len(set(told)) > 1:
        raise UsageError(f"found lists of {', '.join(map(str, told))} units, expected one length", "names")
    return told[0] if told else int(spikes["unit"].max()) + 1 if len(spikes) else 0


def _units(count: int, names: Sequence[str] | None, positions: Any, kinds: str | Sequence[str] | None,
           electrodes: Sequence[int] | None, wells: Sequence[str] | None) -> Any:
    """An array of sf_unit."""
    places = np.full((count, 2), np.nan) if positions is None else np.asarray(positions, np.float64).reshape(count, -1)
    about = (c.sf_unit * count)()
    for i, unit in enumerate(about):
        unit.name = bytes_of(None if names is None else str(names[i]))
        unit.x_um, unit.y_um = places[i][:2]
        kind = kinds if kinds is None or isinstance(kinds, str) else kinds[i]
        unit.kind = c.SF_UNIT_UNKNOWN if kind is None else word("sf_unit_kind", kind)
        unit.electrode = -1 if electrodes is None else int(electrodes[i])
        unit.well = bytes_of(None if wells is None else str(wells[i]))
    return about


def _markers(markers: Sequence[tuple[Any, ...]] | Array | None) -> Array:
    if isinstance(markers, np.ndarray) and markers.dtype == MARKER:
        return np.ascontiguousarray(markers)
    made = np.zeros(0 if markers is None else len(markers), MARKER)
    given: Iterable[tuple[Any, ...]] = () if markers is None else markers
    for row, marker in zip(made, given):
        row["time_ns"] = nanoseconds(marker[0])
        if isinstance(marker[1], str):
            row["kind"] = c.SF_MARKER_TEXT
            row["text"] = marker[1].encode()[:c.SF_MARKER_TEXT_SIZE - 1].decode(errors="ignore").encode()  # whole characters
        else:
            row["kind"], row["line"] = c.SF_MARKER_TTL, marker[1]
            row["state"] = bool(marker[2]) if len(marker) > 2 else True
    return made


def _in_seconds(quantity: Any) -> Array:
    """Of numbers with a unit (quantities), or of plain seconds."""
    return np.asarray(quantity.rescale("s").magnitude if hasattr(quantity, "rescale") else quantity, np.float64)


def _neo_name(train: Any, index: int) -> str:
    annotations = getattr(train, "annotations", None) or {}
    for name in (getattr(train, "name", None), annotations.get("id"), annotations.get("unit_id")):
        if name not in (None, ""):
            return str(name)
    return f"e{index + 1}"


load = Recording.load  #: one name for whoever reads
