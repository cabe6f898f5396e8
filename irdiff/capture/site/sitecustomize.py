# ruff: noqa: PTH100, PTH118, PTH120
"""Python imports this at its start, where irdiff put its folder on PYTHONPATH: loads the recorder, then goes on.

Every process that the program starts with the same environment does so too: Inductor's compile workers among them.
A ``sitecustomize`` that was there before is imported after this one, as if this one were not.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load_recorder() -> None:
    """Import the folder ``inside`` as a package that no name of irdiff's stands before."""
    folder = os.path.join(os.path.dirname(_HERE), "inside")
    spec = importlib.util.spec_from_file_location(
        "_irdiff_inside", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["_irdiff_inside"] = module
    spec.loader.exec_module(module)
    module.start(os.environ["IRDIFF_CAPTURE"])


def _chain() -> None:
    """Import the ``sitecustomize`` that would have been found without this one."""
    before = list(sys.path)
    own = sys.modules.pop("sitecustomize", None)
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    without = list(sys.path)
    try:
        importlib.import_module("sitecustomize")  # the next one
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if own is not None:
            sys.modules["sitecustomize"] = own
    finally:
        # It may have changed the path itself. The folder stays on it: some programs hand sys.path to children.
        if sys.path == without:
            sys.path[:] = before
        else:
            sys.path.append(_HERE)


if os.environ.get("IRDIFF_CAPTURE"):
    try:
        _load_recorder()
    except Exception as problem:  # noqa: BLE001  # protects the user's program from irdiff's recorder
        sys.stderr.write(f"irdiff: the recorder did not start: {type(problem).__name__}: {problem}\n")
_chain()
