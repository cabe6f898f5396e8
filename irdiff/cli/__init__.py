"""The command line: reads the environment, opens files, prints, and maps results to exit codes."""

from __future__ import annotations
