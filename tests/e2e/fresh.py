# SPDX-License-Identifier: Apache-2.0
"""Run by the Python of a fresh environment: the package is that environment's own, its first examples hold, and it reads
FILE; without one, it finds episodes and reads no files."""
import doctest
import os
import sys

import synfire

assert synfire.__file__.startswith(sys.prefix + os.sep), synfire.__file__
told = doctest.testmod(synfire)
assert told.failed == 0 and told.attempted > 5, told
if len(sys.argv) > 1:
    assert synfire.load(sys.argv[1]).spike_count > 0
else:
    assert len(synfire.mine(synfire.Recording.from_arrays([0.0, 0.004], [0, 1]), min_count=1)) == 1
    assert not synfire.has_files()
