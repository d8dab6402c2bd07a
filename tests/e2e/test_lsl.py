# SPDX-License-Identifier: Apache-2.0
"""Lab Streaming Layer as a person meets it: what is said without liblsl, and, where there is one, a recording that is played into a
run by it."""
import contextlib
import ctypes
import os
import pathlib
import unittest

import command

HAS_MODULES = bool(os.environ.get("SYNFIRE_PYTHON"))
if HAS_MODULES:
    import h5py
    import numpy as np
    import rig


def has_library():
    with contextlib.suppress(OSError):
        return bool(ctypes.CDLL(os.environ.get("PYLSL_LIB") or "liblsl.so"))
    return False


HAS_LIBRARY = has_library()
PLAY = ("play", "sim.h5", "--protocol", "lsl")
SIMULATE = ("simulate", "sim.h5", "--unit-count", 20, "--rate", 40, "--duration", 4, "--marker-every", 1, "--seed", 3, "--quiet")


class Said(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire(*SIMULATE)

    def test_that_every_machine_of_the_network_hears_it(self):
        self.refuses(64, "every machine of the network can hear", *PLAY)

    def test_that_the_library_that_is_named_is_none(self):
        self.refuses(69, "PYLSL_LIB: cannot load liblsl", *PLAY, "--insecure", environment={"PYLSL_LIB": "/nowhere/liblsl.so"})

    @unittest.skipIf(HAS_LIBRARY, "there is a liblsl")
    def test_where_to_get_the_library(self):
        self.refuses(69, "needs liblsl: install its package from https://github.com/sccn/liblsl", *PLAY, "--insecure")


@unittest.skipUnless(HAS_LIBRARY, "no liblsl")
@unittest.skipUnless(HAS_MODULES, "no python3 with the modules h5py, msgpack and zmq")
class Played(rig.Test if HAS_MODULES else command.Test):
    def test_a_run_takes_what_a_player_sends(self):
        pathlib.Path("lsl_api.cfg").write_text("[multicast]\nResolveScope = machine\n[lab]\nKnownPeers = {127.0.0.1}\n")
        os.environ["LSLAPICFG"] = str(pathlib.Path("lsl_api.cfg").absolute())  # nobody else is asked
        self.synfire(*SIMULATE)
        name = f"lsl://name=synfire-test-{os.getpid()}"
        source = self.play("lsl", name, "sim.h5", f'markers: "{name} markers"', "--insecure")
        self.assertEqual([source[count] for count in ("malformed", "out_of_range", "restarts")], [0, 0, 0])
        with h5py.File("sim.h5") as sent, h5py.File("rig.h5") as came:
            units = [np.bincount(file["spikes/unit"][:], minlength=20).tolist() for file in (sent, came)]
            names = [list(file["units/name"]) for file in (sent, came)]
            was, got = (np.sort(file["spikes/time_ns"][:]) for file in (sent, came))
        self.assertEqual(units[0], units[1], source)
        self.assertEqual(names[0], names[1])
        self.assertLess(np.abs((got - got[0]) - (was - was[0])).max(), 1_000_000)  # what the estimate of a clock's offset wanders
        self.assertEqual(rig.edges("rig.h5"), rig.edges("sim.h5"))
        self.assertGreater(rig.edges("rig.h5"), 0)


if __name__ == "__main__":
    command.main()
