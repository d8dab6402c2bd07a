# SPDX-License-Identifier: Apache-2.0
"""What the command reads of a file, by way of the recording that it converts the file to."""
import os
import types

import command

command.need_modules()
import h5py


def read(path, *options):
    """Names of units with their trains, kinds and electrodes; markers with their texts, in order; intervals and span of what
    was recorded. Times are ns."""
    command.Test.synfire("convert", path, "read.h5", *options)
    with h5py.File("read.h5") as file:
        names = list(file["units/name"].asstr())
        times, units = file["spikes/time_ns"][:], file["spikes/unit"][:]
        found = types.SimpleNamespace(
            names=names, trains={name: times[units == unit].tolist() for unit, name in enumerate(names)},
            kinds=dict(zip(names, file["units/kind"][:].tolist())), electrodes=dict(zip(names, file["units/electrode"][:].tolist())),
            markers=sorted((int(ns), text.split(b"\0")[0].decode()) for ns, text in zip(file["markers/time_ns"], file["markers/text"])),
            observed=file["observed"][:].tolist() if "observed" in file else [],
            span=(int(file.attrs["start_ns"]), int(file.attrs["stop_ns"])))
    os.remove("read.h5")
    return found


def nearest_ns(ticks, rate_hz):
    """Rounded to nearest, half up, in whole numbers."""
    return (2 * int(ticks) * 10**9 + int(rate_hz)) // (2 * int(rate_hz))
