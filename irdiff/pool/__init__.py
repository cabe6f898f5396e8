"""Executors beyond this process: workers on this machine, and on a Dask cluster."""

from __future__ import annotations
