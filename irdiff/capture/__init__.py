"""Running a user's program unchanged and keeping everything that Triton compiles in it, with a GPU and without.

Four files run inside the user's processes, under any Python from 3.8 and any Triton from 3.0, and import nothing of
irdiff: ``site/sitecustomize.py`` (found by Python itself at its start), ``recorder.py``, ``stand_in.py`` (without a
GPU alone) and, after the program, ``driver_probe.py``. The others turn what these wrote down into an output tree.
"""

from __future__ import annotations
