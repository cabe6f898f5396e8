"""``python -m irdiff``."""

from __future__ import annotations

from irdiff.cli.start import run

if __name__ == "__main__":
    run()
