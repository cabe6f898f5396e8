# ruff: noqa: BLE001, PTH105, PTH118, PTH123, S110
"""Where what happens in a process is written down: one JSON file for each event, written whole."""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
import traceback
from typing import Any


class Recorder:
    """Where events go, and what is known of the thread that is compiling."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.numbers = itertools.count()
        self.here = threading.local()
        with open(os.path.join(folder, "capture.json"), encoding="utf-8") as file:
            self.settings = json.load(file)

    def tell(self, kind: str, name: str | None = None, **fields: Any) -> None:
        """Write one event. The same name written again replaces what it said before."""
        try:
            name = name or self.name()
            path = os.path.join(self.folder, f"{kind}-{name}.json")
            unfinished = f"{path}.{threading.get_ident()}.tmp"
            with open(unfinished, "w", encoding="utf-8") as file:
                json.dump(dict(fields, event=kind, process=os.getpid()), file)
            os.replace(unfinished, path)
        except (
            Exception
        ):  # a full disk is no fault of the program: the parent finds the entry without an event
            pass

    def name(self) -> str:
        """A name that no other process gives."""
        return f"{os.getpid()}-{time.time_ns()}-{next(self.numbers)}"

    def problem(self, where: str) -> None:
        """The exception being handled, as an event."""
        self.tell("problem", where=where, message=traceback.format_exc(limit=3))
