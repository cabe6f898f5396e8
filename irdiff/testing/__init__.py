"""The kit: the promises every stage keeps, as tests that a plugin's own suite runs by subclassing.

In a test module of the plugin::

    from irdiff.testing import StageContract

    class TestPtx(StageContract):
        stage = PTX
        samples = sorted(Path("samples").glob("*.ptx"))

Further contracts are added as further base classes, each with attributes of its own: ``TruncationContract``,
``EditContract`` (``edits``, ``respellings``), ``GoldenContract`` (``goldens``) and ``DeterminismContract``
(``plugin``). pytest collects the subclass; nothing here needs pytest itself. ``versionadded``: 0.1.
"""

from __future__ import annotations

from irdiff.testing.contract import StageContract
from irdiff.testing.determinism import DeterminismContract
from irdiff.testing.edits import Edit, EditContract, inserted, replaced, replaced_everywhere
from irdiff.testing.golden import GoldenContract, summary_text
from irdiff.testing.reading import NoTools, StageReading, local_tools
from irdiff.testing.truncation import TruncationContract

__all__ = [
    "DeterminismContract",
    "Edit",
    "EditContract",
    "GoldenContract",
    "NoTools",
    "StageContract",
    "StageReading",
    "TruncationContract",
    "inserted",
    "local_tools",
    "replaced",
    "replaced_everywhere",
    "summary_text",
]
